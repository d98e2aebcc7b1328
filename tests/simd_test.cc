// The vector kernel gives the scalar kernel's bits on every row that it supports, for full vectors and remainders.
#include "oracles/units/fused_sum_simd.h"

#include <gtest/gtest.h>

#include "arithmetic/evaluate_dot.h"
#include "core/case_text.h"
#include "oracles/units/function_unit.h"
#include "oracles/units/model_rows.h"
#include "oracles/units/parameters.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"

namespace mmafuzz {
namespace {

std::vector<std::string> supported_rows() {
  std::vector<std::string> names;
  for (const ModelRow& row : model_rows())
    if (FusedSumSimd::supports(row.model)) names.push_back(row.name());
  return names;
}

class VectorKernel : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Rows, VectorKernel, testing::ValuesIn(supported_rows()));

void expect_equal(const DotModel& model, const Batch& batch) {
  Column results(batch.op().d, 1);
  results.resize(batch.size());
  FusedSumSimd(model).run(batch, results);
  DotCase one(batch.op());
  for (size_t i = 0; i < batch.size(); ++i)
    ASSERT_EQ(to_hex(batch.op().d, results.get(i)), to_hex(batch.op().d, evaluate_dot(model, one.load(batch, i)))) << case_line(batch, i);
}

TEST_P(VectorKernel, EqualsTheScalarKernel) {
  const ModelRow& row = *find_model_row(GetParam());
  Batch batch;
  StructuredGenerator(row.op, 17).fill(0, case_count(20000, 1000000), batch);
  expect_equal(row.model, batch);
}

/// An overridden row takes the vector kernel only if that kernel knows the parameter.
TEST_P(VectorKernel, EqualsTheScalarKernelUnderEveryOverride) {
  const ModelRow& row = *find_model_row(GetParam());
  Batch batch;
  StructuredGenerator(row.op, 23).fill(0, case_count(6000, 200000), batch);
  for (const Parameter& p : parameters()) {
    const int64_t own = p.get(row.model);
    std::vector<int64_t> values = {own - 1, own + 1};
    for (size_t word = 0; word < p.words.size(); ++word) values.push_back(int64_t(word));
    for (const int64_t value : values) {
      if (value == own || value < p.least || (p.words.empty() ? value > p.greatest : value >= int64_t(p.words.size()))) continue;
      DotModel changed = row.model;
      p.set(changed, value);
      const std::string text = std::string(p.name) + "=" + parameter_text(p, changed);
      const Result<DotModel> model = with_overrides(row.model, text);
      if (!model || !FusedSumSimd::supports(*model) || model->k != row.op.k) continue;
      SCOPED_TRACE(text);
      expect_equal(*model, batch);
    }
  }
}

TEST_P(VectorKernel, EqualsTheScalarKernelForShortDotsAndAnyNumberOfThem) {
  const ModelRow& row = *find_model_row(GetParam());
  for (int k = 1; k <= row.op.k; ++k) {
    Op op = row.op;
    op.k = k;
    for (const size_t cases : {1, 3, 16, 17, 33}) {
      Batch batch;
      StructuredGenerator(op, 19).fill(0, cases, batch);
      expect_equal(row.model, batch);
    }
  }
}

TEST_P(VectorKernel, EqualsTheScalarKernelForOtherFractionBits) {
  const ModelRow& row = *find_model_row(GetParam());
  for (int f = 1; f <= 26; ++f) {
    DotModel model = row.model;
    model.fraction_bits = f;
    if (!FusedSumSimd::supports(model)) continue;
    Batch batch;
    StructuredGenerator(row.op, 23).fill(0, 500, batch);
    expect_equal(model, batch);
  }
}

TEST(VectorKernelRows, TheCommonInstructionsAreVectorized) {
  for (const char* name : {"volta/mma.m8n8k4.f32.f16.f16.f32", "ampere/mma.m16n8k16.f32.bf16.bf16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32",
                           "hopper/mma.m16n8k8.f32.tf32.tf32.f32", "ada/mma.m16n8k32.f32.e4m3.e5m2.f32", "hopper/wgmma.m64n8k32.f32.e5m2.e5m2.f32"})
    EXPECT_TRUE(FusedSumSimd::supports(find_model_row(name)->model)) << name;
}

}  // namespace
}  // namespace mmafuzz
