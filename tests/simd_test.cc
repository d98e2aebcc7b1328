// The vector kernels give the scalar kernels' bits on every row that they support, for full vectors and remainders.
#include "oracles/models/aligned_sum_simd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

#include "arithmetic/evaluate_dot.h"
#include "core/case_text.h"
#include "core/registry.h"
#include "oracles/families.h"
#include "oracles/models/host_float_simd.h"
#include "core/function_unit.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/parameters.h"
#include "search/structured_generator.h"
#include "tests/any_row.h"
#include "tests/case_count.h"
#include "tests/each_vector_target.h"
#include "tests/run_one_dot.h"
#include "tests/uniform_bits.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif
#include "tests/test_names.h"

namespace mmafuzz {
namespace {

bool is_aligned(const DotModel& model) { return AlignedSumSimd(model).supported(); }
bool supports(const DotModel& model) { return is_aligned(model) || HostFloatSimd(model).supported(); }

/// False: this processor cannot run the row's vector kernel.
bool run(const DotModel& model, const Batch& batch, Column& results) {
  return is_aligned(model) ? AlignedSumSimd(model).run(batch, results) : HostFloatSimd(model).run(batch, results);
}

/// Of rows that compute the same, the first.
std::vector<std::string> supported_rows() {
  std::vector<std::string> names;
  std::vector<const ModelRow*> kept;
  for (const ModelRow& row : model_rows()) {
    const auto is_known = [&](const ModelRow* other) {
      const DotModel &x = row.model, &y = other->model;
      return x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d && x.scale_a == y.scale_a && x.scale_b == y.scale_b &&
             x.scale_block == y.scale_block && row.op.k == other->op.k && same_arithmetic(x, y);
    };
    if (!supports(row.model) || std::any_of(kept.begin(), kept.end(), is_known)) continue;
    kept.push_back(&row);
    names.push_back(row.name());
  }
  return names;
}

void expect_equal(const DotModel& model, const Batch& batch) {
  Column results(batch.op().d, 1);
  results.resize(batch.size());
  ASSERT_TRUE(supports(model));
  ASSERT_TRUE(run(model, batch, results));
  DotCase one(batch.op());
  for (size_t i = 0; i < batch.size(); ++i)
    ASSERT_EQ(to_hex(batch.op().d, results.get(i)), to_hex(batch.op().d, evaluate_dot(model, one.load(batch, i))))
        << case_line(batch, i);
}

class VectorKernel : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const ModelRow& row = *find_model_row(GetParam());
    Column results(row.op.d, 1);
    if (!run(row.model, Batch(row.op), results)) GTEST_SKIP() << "no fused multiply-add here";
  }
};
INSTANTIATE_TEST_SUITE_P(Rows, VectorKernel, testing::ValuesIn(supported_rows()), test_name);

TEST_P(VectorKernel, EqualsTheScalarKernel) {
  const ModelRow& row = *find_model_row(GetParam());
  const size_t cases = case_count(800, 1000000);
  Batch batch;
  StructuredGenerator(row.op, 17).fill(0, cases, batch);
  expect_equal(row.model, batch);
  expect_equal(row.model, uniform_bits(row.op, 41, cases / 4));
}

/// An overridden row takes the vector kernel only if that kernel knows the parameter.
TEST_P(VectorKernel, EqualsTheScalarKernelUnderEveryOverride) {
  const ModelRow& row = *find_model_row(GetParam());
  Batch batch;
  StructuredGenerator(row.op, 23).fill(0, case_count(200, 200000), batch);
  for (const Parameter& p : parameters()) {
    const int64_t own = p.get(row.model);
    std::vector<int64_t> values = {own - 1, own + 1};
    for (size_t word = 0; word < p.words.size(); ++word) values.push_back(int64_t(word));
    for (const int64_t value : values) {
      if (value == own || value < p.least || (p.words.empty() ? value > p.greatest : value >= int64_t(p.words.size())))
        continue;
      DotModel changed = row.model;
      p.set(changed, value);
      const std::string text = std::string(p.name) + "=" + parameter_text(p, changed);
      const Result<DotModel> model = with_overrides(row.model, text);
      if (!model || !supports(*model) || model->k != row.op.k) continue;
      SCOPED_TRACE(text);
      expect_equal(*model, batch);
    }
  }
}

TEST_P(VectorKernel, EqualsTheScalarKernelForAnyLengthAndNumberOfDots) {
  const ModelRow& row = *find_model_row(GetParam());
  Op op = row.op;
  const int scale_block = std::max(1, op.scale_block);
  for (op.k = scale_block; op.k <= max_instruction_k + 2 * scale_block; op.k += scale_block) {
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
    if (!supports(model)) continue;
    Batch batch;
    StructuredGenerator(row.op, 23).fill(0, 500, batch);
    expect_equal(model, batch);
  }
}

TEST_P(VectorKernel, EqualsTheScalarKernelUnderOverrides) {
  const ModelRow& row = *find_model_row(GetParam());
  for (const char* overrides :
       {"subnormals=kept", "subnormals=flushed", "nan=7fc00000", "block=1", "block=2", "block=4", "odd_even=0",
        "odd_even=1", "zero_rule=clamp", "c_exponent=c_format", "product_overflow=none", "overflow=by_rounding"}) {
    const Result<DotModel> model = with_overrides(row.model, overrides);
    if (!model || !supports(*model)) continue;
    Batch batch;
    StructuredGenerator(row.op, 43).fill(0, 1000, batch);
    SCOPED_TRACE(overrides);
    expect_equal(*model, batch);
  }
}

/// A grid of operands drawn for dots, so that their shifts and specials are those that dots meet; each result against
/// the scalar kernel.
void expect_grid_equal(const DotModel& model, const Op& op, size_t rows, size_t columns) {
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + ", k=" + std::to_string(op.k));
  Batch drawn;
  StructuredGenerator(op, 59).fill(0, rows * columns, drawn);
  Column results(op.d, 1);
  results.resize(rows * columns);
  std::memcpy(results.data(), drawn.c().data(), rows * columns * results.stride());
  ASSERT_TRUE(
      AlignedSumSimd(model).run_grid(op.k, {drawn.a().data(), drawn.b().data(), rows, columns, results.data()}));
  Batch dots(op);
  dots.resize(rows * columns);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) {
      const size_t at = i * columns + j;
      std::memcpy(dots.inputs()[0].data() + at * dots.a().stride(), drawn.a().data() + i * dots.a().stride(),
                  dots.a().stride());
      std::memcpy(dots.inputs()[1].data() + at * dots.b().stride(), drawn.b().data() + j * dots.b().stride(),
                  dots.b().stride());
      dots.inputs()[2].set(at, 0, drawn.c().get(at));
    }
  DotCase one(op);
  for (size_t i = 0; i < dots.size(); ++i)
    ASSERT_EQ(to_hex(op.d, results.get(i)), to_hex(op.d, evaluate_dot(model, one.load(dots, i)))) << case_line(dots, i);
}

/// Rows whose products of matrices decode an operand once.
std::vector<std::string> grid_rows() {
  std::vector<std::string> names = supported_rows();
  std::erase_if(names, [](const std::string& name) {
    const ModelRow& row = *find_model_row(name);
    return !is_aligned(row.model) || row.model.scale_block || row.op.c != row.op.d;
  });
  return names;
}

class Grids : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Rows, Grids, testing::ValuesIn(grid_rows()), test_name);

TEST_P(Grids, EqualTheirDots) {
  const ModelRow& row = *find_model_row(GetParam());
  Op op = row.op;
  Column results(row.op.d, 1);
  int targets = 0;
  for (const int k : {3, row.op.k, max_instruction_k + 5}) {
    op.k = k;
    for_each_vector_target([&](const char* target) {
      SCOPED_TRACE(target);
      if (!run(row.model, Batch(row.op), results)) return;  // no vectors, or no FMA that the row needs
      ++targets;
      for (const auto& [rows, columns] : {std::pair<size_t, size_t>{1, 1}, {19, 17}, {case_count(1, 35), 35}})
        expect_grid_equal(row.model, op, rows, columns);
    });
  }
  EXPECT_GT(targets, 0);
}

TEST_P(VectorKernel, EqualsTheScalarKernelOnEveryInstructionSet) {
  const ModelRow& row = *find_model_row(GetParam());
  Batch batch;
  StructuredGenerator(row.op, 53).fill(0, 500, batch);
  Column results(row.op.d, 1);
  for_each_vector_target([&](const char* target) {
    SCOPED_TRACE(target);
    EXPECT_STREQ(simd_target_name(), target);
    if (run(row.model, Batch(row.op), results)) expect_equal(row.model, batch);
  });
}

#if defined(__x86_64__)
TEST_P(VectorKernel, EqualsTheScalarKernelInAnyFloatingPointEnvironment) {
  const ModelRow& row = *find_model_row(GetParam());
  Batch batch;
  StructuredGenerator(row.op, 47).fill(0, 200, batch);
  Outcomes expected, outcomes;
  const Registry registry = oracle_registry();
  const auto unit = registry.bind("model:" + row.name(), row.op);
  (*unit)->run(batch, expected);
  const unsigned before = _mm_getcsr();
  for (const unsigned changed :
       {0x2000u, 0x4000u, 0x6000u, 0x8040u}) {  // rounding modes; flush to zero and denormals are zero
    _mm_setcsr(before | changed);
    (*unit)->run(batch, outcomes);
    _mm_setcsr(before);
    for (size_t i = 0; i < batch.size(); ++i)
      ASSERT_EQ(to_hex(row.op.d, outcomes.results.get(i)), to_hex(row.op.d, expected.results.get(i)))
          << std::hex << changed << "\n"
          << case_line(batch, i);
  }
}
#endif

/// Any formats, parameters, scales and lengths that a row of one's own may have.
TEST(VectorKernel, EqualsTheScalarKernelOnAnyRow) {
  size_t in_lanes = 0;
  for (uint64_t number = 0; number < case_count(20000, 3000000); ++number) {
    const std::optional<AnyRow> row = any_row(7, number);
    if (!row || !supports(row->model)) continue;
    ++in_lanes;
    std::string settings;
    for (const Parameter& p : parameters())
      if (p.used_by(row->model.kernel)) settings += std::string(" ") + p.name + "=" + parameter_text(p, row->model);
    SCOPED_TRACE("row " + std::to_string(number) + ": " + to_text(row->op) + settings);
    Batch batch;
    StructuredGenerator(row->op, number).fill(0, 40, batch);
    expect_equal(row->model, batch);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(in_lanes, 300u);
}

TEST(VectorKernelByHand, Cdna1LosesNothingBetweenDistantCancellations) {
  // 2^120 + 1 + 2^-60 - 2^120 - 1 in one block: two fp64 numbers cannot hold the third partial sum.
  const Op op = dot_op("bf16", "fp32", "fp32", 8);
  const auto unit = oracle_registry().bind("model:cdna1/mfma.16x16x8.f32.bf16.bf16.f32?block=8", op);
  EXPECT_EQ(run_one_dot(**unit, op, {0x5d80, 0x3f80, 0x3080, 0xdd80, 0xbf80, 0, 0, 0},
                        {0x5d80, 0x3f80, 0x3080, 0x5d80, 0x3f80, 0, 0, 0}, 0),
            0x21800000u);
}

/// Keeps the first step.
struct FirstStep {
  static constexpr bool enabled = true;
  std::optional<Step> step;
  void operator()(const Step& s) {
    if (!step) step = s;
  }
};

/// The greatest number below two.
uint64_t below_two(const FormatFields& f) {
  return f.in_container(uint64_t(f.bias) << f.fraction_bits | f.fraction_mask());
}

/// Where the scalar kernel's greatest sum of a block fits.
AlignedRow::Sums needed_sums(const DotModel& m) {
  const std::vector<uint64_t> a(size_t(m.k), below_two(m.a)), b(size_t(m.k), below_two(m.b));
  const std::vector<uint64_t> scales(size_t(m.k), uint64_t(m.scale_a.bias) << m.scale_a.fraction_bits);
  FirstStep first;
  evaluate_dot(m, {a.data(), b.data(), below_two(m.c), scales.data(), scales.data(), m.k}, first);
  const Step& step = *first.step;
  for (const int parts : {2, 4}) {
    std::vector<int64_t> part(static_cast<size_t>(parts));
    part[0] = step.addend[step.count - 1].kept;  // c
    bool fits = true;
    for (int i = 0; i < step.count; ++i) {
      const Addend& term = step.addend[i];
      if (i < step.count - 1) part[size_t(i % parts)] += term.kept;
      // Before it is cut a term stands on the finer of two grids.
      fits &= bit_length(term.significand) + std::max(0, term.exponent - step.unit_exponent) <= 31;
    }
    fits &= *std::max_element(part.begin(), part.end()) < int64_t{1} << 31;
    if (fits) return parts == 2 ? AlignedRow::Sums::two : AlignedRow::Sums::four;
  }
  return AlignedRow::Sums::wide;
}

/// Products and c of exponent 0 are all aligned there, so that a sum of theirs is the greatest.
TEST(VectorKernelRows, SumsAreAsWideAsTheGreatestNeeds) {
  std::array<size_t, 3> looked_at = {};
  for (const ModelRow& row : model_rows()) {
    if (!traits_of(row.model).is_fused_sum()) continue;
    for (int f = 0; f <= 45; ++f)
      for (const int block : {1, 2, 4, 8, 16, 32, row.model.k}) {
        DotModel m = row.model;
        m.fraction_bits = f;
        m.block = std::min(block, m.k);
        m.zero_exponent = std::min(m.zero_exponent, 0);
        const std::optional<AlignedRow> aligned = aligned_row(m);
        ASSERT_TRUE(aligned) << row.name();
        EXPECT_EQ(aligned->sums, needed_sums(m)) << row.name() << "?fraction_bits=" << f << ",block=" << block;
        ++looked_at[size_t(aligned->sums)];
      }
  }
  for (const size_t count : looked_at) EXPECT_GT(count, 1000u);
}

TEST(VectorKernelRows, EveryRowIsVectorized) {
  for (const ModelRow& row : model_rows()) EXPECT_TRUE(supports(row.model)) << row.name();
}

}  // namespace
}  // namespace mmafuzz
