// Every row's kernel and its slow twin, which is other code, give the same bits on structured operands; so do
// they on every value of every parameter that the published sources disagree about.
#include <gtest/gtest.h>

#include <map>

#include "arithmetic/evaluate_dot.h"
#include "core/case_text.h"
#include "core/function_unit.h"
#include "identify/space.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/parameters.h"
#include "oracles/models/slow_twin.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "search/mutator.h"
#include "search/structured_generator.h"
#include "tests/any_row.h"
#include "tests/case_count.h"
#include "tests/test_names.h"

namespace mmafuzz {
namespace {

void expect_twins(const DotModel& model, const Op& op, uint64_t seed, size_t cases, const std::string& what) {
  DotCase one(op);
  for (size_t done = 0; done < cases; done += 4096) {
    Batch batch;
    StructuredGenerator(op, seed).fill(done, std::min<size_t>(4096, cases - done), batch);
    for (size_t i = 0; i < batch.size(); ++i) {
      const DotOperands& in = one.load(batch, i);
      ASSERT_EQ(to_hex(op.d, evaluate_dot(model, in)), to_hex(op.d, slow_twin_dot(model, in))) << what << "\n"
                                                                                               << to_text(op) << "\n"
                                                                                               << case_line(batch, i);
    }
  }
}

/// Rows with the same kernel and operand formats share the nightly budget of 10^7 cases per family.
const std::map<Kernel, size_t>& rows_per_kernel() {
  static const std::map<Kernel, size_t> counts = [] {
    std::map<Kernel, size_t> c;
    for (const ModelRow& row : model_rows()) ++c[row.model.kernel];
    return c;
  }();
  return counts;
}

std::vector<std::string> row_names() {
  std::vector<std::string> names;
  for (const ModelRow& row : model_rows()) names.push_back(row.name());
  return names;
}

class Twins : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Rows, Twins, testing::ValuesIn(row_names()), test_name);

TEST_P(Twins, KernelAndSlowTwinAgree) {
  const ModelRow& row = *find_model_row(GetParam());
  const size_t by_night = 10'000'000 / rows_per_kernel().at(row.model.kernel) + 1;
  expect_twins(row.model, row.op, 29, case_count(120, by_night), row.name());
}

TEST_P(Twins, AgreeOnShortAndLongDots) {
  const ModelRow& row = *find_model_row(GetParam());
  for (const int k : {1, 2, row.op.k - 1, row.op.k + 1, 2 * row.op.k, 3 * row.op.k + 5}) {
    if (k < 1) continue;
    Op op = row.op;
    op.k = k;
    expect_twins(row.model, op, 31, case_count(20, 5000), row.name());
  }
}

/// Not the catalogue's rows alone: any parameters that a unit can have together.
TEST(TwinsOfRandomPoints, Agree) {
  for (uint64_t n = 0; n < case_count(500, 20'000); ++n) {
    const auto [op, model] = random_point(1, n);
    expect_twins(model, op, n, 200, custom_name(model, op));
    if (HasFatalFailure()) return;
  }
}

/// What `model:custom` takes is honoured in every format: the unit, vectorized where it is, its kernel and its twin.
TEST(TwinsOfAnyFormats, Agree) {
  std::map<Kernel, size_t> rows, with_nan_scales;
  for (uint64_t n = 0; n < case_count(3'000, 6'000'000); ++n) {  // one of six makes a row
    const std::optional<AnyRow> row = any_row(1, n);
    if (!row) continue;
    ++rows[row->model.kernel];
    const Batch batch = cases_of(*row, n, 64);
    const std::string name = custom_name(row->model, row->op);
    const Result<std::unique_ptr<Unit>> unit = registry().bind(name, row->op);
    ASSERT_TRUE(unit) << name << ": " << unit.refusal().reason;
    Outcomes outcomes;
    (*unit)->run(batch, outcomes);
    DotCase one(row->op);
    for (size_t i = 0; i < batch.size(); ++i) {
      const DotOperands& in = one.load(batch, i);
      const std::string what =
          "row " + std::to_string(n) + ", " + name + "\n" + to_text(row->op) + "\n" + case_line(batch, i);
      if (nan_scales(row->op, in) > 0) ++with_nan_scales[row->model.kernel];
      const std::string twin = to_hex(row->op.d, slow_twin_dot(row->model, in));
      ASSERT_EQ(to_hex(row->op.d, evaluate_dot(row->model, in)), twin) << "the kernel; " << what;
      ASSERT_EQ(to_hex(row->op.d, outcomes.results.get(i)), twin) << "the unit; " << what;
    }
  }
  EXPECT_EQ(rows.size(), find_parameter("kernel")->words.size()) << "a kernel without a row";
  EXPECT_EQ(with_nan_scales.size(), 2u) << "grouped_sum and fused_sum have scales";
}

/// A zero has no exponent that a shift could take: the products of a group are units of 2^-132 here.
TEST(TwinsOfAnyFormats, AgreeOnZerosOfGroupedNumbersThatAreFarBelowOne) {
  const Op op = op_from_text("dot a=cfloat8_1_4_3:63 b=cfloat8_1_4_3:63 c=fp32 d=fp32 k=4 sa=e8m0 sb=e8m0 sblock=4");
  const Result<DotModel> model =
      with_overrides(custom_model(op), "kernel=grouped_sum,k=4,group=4,fraction_bits=20,zero_exponent=-139");
  ASSERT_TRUE(model) << model.refusal().reason;
  expect_twins(*model, op, 5, 2000, "far below one");
}

/// No source says what a unit makes of a scale's sign or of an infinite scale: its kernel and its twin would guess.
TEST(RowsOfOnesOwn, TakeScalesWithoutASignAndWithoutInfinities) {
  for (const FormatForms& form : format_forms()) {
    const Format scale = format(form.name + (form.takes_bias ? ":7" : ""));
    if (scale.fields().integer) continue;
    const Op op = op_from_text("dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=4 sa=" + scale.name() + " sb=e8m0 sblock=4");
    const auto unit = registry().bind("model:custom?kernel=grouped_sum,k=4,group=4,fraction_bits=2", op);
    const bool taken = scale.name() == "e8m0" || scale.name() == "ue4m3";
    ASSERT_EQ(bool(unit), taken) << scale.name();
    if (taken) continue;
    EXPECT_NE(unit.refusal().reason.find("without a sign"), std::string::npos) << unit.refusal().reason;
  }
}

TEST_P(Twins, HaveNoContradiction) {
  const ModelRow& row = *find_model_row(GetParam());
  EXPECT_EQ(contradiction_in(row.model), "");
  for (const char* prefix : {"model:", "twin:"}) EXPECT_TRUE(registry().bind(prefix + row.name(), row.op));
}

/// A NaN with bits above d's would be another result than the one that it is compared with.
TEST(RowsOfOnesOwn, TakeANanOfNoMoreBitsThanDHas) {
  const DotModel row = custom_model(dot_op("fp16", "fp32", "fp32", 4));
  EXPECT_TRUE(with_overrides(row, "nan=ffc00001"));
  EXPECT_FALSE(with_overrides(row, "nan=123400007fc00001"));
  EXPECT_FALSE(with_overrides(row, "nan=17fc00001"));
  EXPECT_TRUE(with_overrides(custom_model(dot_op("fp64", "fp64", "fp64", 4)), "nan=fff8000000000001"));
}

struct Switch {
  const char* row;
  const char* overrides;
};

class OpenPoints : public testing::TestWithParam<Switch> {};
INSTANTIATE_TEST_SUITE_P(
    Switches, OpenPoints,
    testing::Values(
        Switch{"ampere/mma.m16n8k16.f32.bf16.bf16.f32", "zero_rule=operand"},
        Switch{"ampere/mma.m16n8k16.f32.bf16.bf16.f32", "underflow_sign=kept"},
        Switch{"ampere/mma.m16n8k16.f32.bf16.bf16.f32", "special_scope=whole_k"},
        Switch{"ampere/mma.m16n8k16.f16.f16.f16.f16", "zero_rule=clamp,zero_exponent=-20,c_exponent=fp32"},
        Switch{"ampere/mma.m16n8k16.f16.f16.f16.f16", "c_exponent=fp32"},
        Switch{"hopper/mma.m16n8k16.f32.bf16.bf16.f32", "zero_exponent=-132"},
        Switch{"hopper/mma.m16n8k16.f32.bf16.bf16.f32", "zero_exponent=-134"},
        Switch{"hopper/mma.m16n8k8.f32.tf32.tf32.f32", "zero_exponent=-132"},
        Switch{"ampere/mma.m16n8k8.f16.f16.f16.f16", "zero_exponent=-21"},
        Switch{"ampere/mma.m16n8k8.f16.f16.f16.f16", "zero_exponent=-22"},
        Switch{"hopper/wgmma.m64n8k16.f16.f16.f16.f16", "zero_exponent=-133"},
        Switch{"turing/mma.m8n8k4.f32.f16.f16.f32", "fraction_bits=24,zero_exponent=-132"},
        Switch{"cdna1/mfma.16x16x8.f32.bf16.bf16.f32", "zero_sign=positive"},
        Switch{"cdna2/mfma.16x16x8.f32.bf16.bf16.f32", "zero_operands=kept"},
        Switch{"hopper/mma.m8n8k4.f16.f16.f16.f16", "chain_start=positive_zero"},
        Switch{"hopper/mma.m8n8k4.f32.f16.f16.f32", "block=2"},
        Switch{"hopper/mma.m8n8k4.f32.f16.f16.f32", "block=2,chain_join=summed_first"},
        Switch{"x86/tdpbf16ps.k32.f32.bf16.bf16.f32", "subnormals=flushed"},
        Switch{"x86/tdpfp16ps.k32.f32.f16.f16.f32", "chain_join=in_turn"},
        Switch{"volta/mma.m8n8k4.f32.f16.f16.f16", "c_exponent=c_format"},
        Switch{"volta/mma.m8n8k4.f32.f16.f16.f32", "zero_sign=any_negative,product=normalized"},
        Switch{"volta/mma.m8n8k4.f32.f16.f16.f32", "integer_bits=3"},
        Switch{"volta/mma.m8n8k4.f32.f16.f16.f32", "integer_bits=4,nan=7fc00000"},
        Switch{"volta/mma.m8n8k4.f16.f16.f16.f16", "output_via=fp32_truncated"},
        Switch{"hopper/mma.m16n8k8.f32.tf32.tf32.f32", "low_bits=nan_payload"},
        Switch{"hopper/mma.m16n8k8.f32.tf32.tf32.f32", "low_bits=rounded"},
        Switch{"hopper/mma.m16n8k16.f32.f16.f16.f32", "output_rounding=nearest_even"},
        Switch{"hopper/mma.m16n8k16.f32.f16.f16.f32", "output_rounding=up,overflow=by_rounding"},
        Switch{"hopper/mma.m16n8k16.f32.f16.f16.f32", "overflow=saturate,fraction_bits=20"},
        Switch{"hopper/mma.m16n8k16.f32.bf16.bf16.f32", "subnormals=flushed"},
        Switch{"ada/mma.m16n8k32.f16.e4m3.e4m3.f16", "output_fraction_bits=0"},
        Switch{"blackwell/tcgen05.kind::mxf8f6f4.block32.m128n8k32.f32.e4m3.e2m1.f32.ue8m0", "zero_rule=operand"},
        Switch{"blackwell/tcgen05.kind::mxf8f6f4.block32.m128n8k32.f32.e5m2.e5m2.f32.ue8m0", "product=normalized"},
        Switch{"blackwell/tcgen05.kind::mxf4nvf4.block32.m128n8k64.f32.e2m1.e2m1.f32.ue8m0", "zero_rule=operand"},
        Switch{"blackwell/tcgen05.kind::mxf4nvf4.block16.m128n8k64.f32.e2m1.e2m1.f32.ue4m3", "zero_group=sum_zero"},
        Switch{"hopper/mma.m16n8k32.f16.e4m3.e4m3.f16", "fraction_bits=22"},
        Switch{"cdna1/mfma.32x32x8.f32.f16.f16.f32", "kernel=ieee_tree"},
        Switch{"cdna2/mfma.32x32x4.f32.bf16.bf16.f32", "block=4"},
        Switch{"cdna2/mfma_1k.32x32x8.f32.bf16.bf16.f32", "product_overflow=positive_infinity"},
        Switch{"cdna2/mfma_1k.32x32x8.f32.bf16.bf16.f32", "overflow_rank=below_operands"},
        Switch{"cdna3/mfma.16x16x16.f32.bf16.bf16.f32", "second_stage=floor31"},
        Switch{"cdna3/mfma.16x16x16.f32.bf16.bf16.f32", "product_overflow=positive_infinity"},
        Switch{"cdna3/mfma.16x16x16.f32.bf16.bf16.f32", "overflow_rank=below_operands"},
        Switch{"cdna3/mfma.16x16x16.f32.bf16.bf16.f32", "zero_rule=operand"},
        Switch{"cdna3/mfma.16x16x16.f32.bf16.bf16.f32", "nan=7fc00000"},
        Switch{"cdna3/mfma.16x16x32.f32.e5m2fnuz.e5m2fnuz.f32", "c_special=reads_minus_one"},
        Switch{"cdna3/mfma.16x16x32.f32.e4m3fnuz.e5m2fnuz.f32", "second_stage=floor31"}));

TEST_P(OpenPoints, KernelAndSlowTwinAgreeOnTheSwitch) {
  const ModelRow& row = *find_model_row(GetParam().row);
  const Result<DotModel> model = with_overrides(row.model, GetParam().overrides);
  ASSERT_TRUE(model) << model.refusal().reason;
  expect_twins(*model, row.op, 37, case_count(800, 300000), row.name() + "?" + GetParam().overrides);
}

TEST_P(Twins, AgreeOnEveryValueOfEveryParameterOfTheirKernel) {
  const ModelRow& row = *find_model_row(GetParam());
  for (const Parameter& p : parameters()) {
    if (!p.used_by(row.model.kernel) || std::string_view(p.name) == "kernel") continue;
    std::vector<std::string> values = p.words;
    if (values.empty() && p.is_nan)
      values = {"7fc0", "7fc00001", "7ff4000000000000"};  // of which a row takes the NaNs of its d
    if (values.empty())
      for (const int64_t step : {-7, -1, 1, 2})
        if (const int64_t v = p.get(row.model) + step; v >= p.least && v <= p.greatest)
          values.push_back(std::to_string(v));
    for (const std::string& value : values) {
      const std::string override_text = std::string(p.name) + "=" + value;
      const Result<DotModel> model = with_overrides(row.model, override_text);
      if (!model) continue;  // refused for this row with its reason, as more fraction bits than the result has
      expect_twins(*model, row.op, 47, case_count(24, 3000), row.name() + "?" + override_text);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(OpenPoint, ClampAndConstantFloorAreEquivalentWhereCIsFp32) {
  // A nonzero fp32 c reads at least -126 and a zero c reads the floor, so the maximum is never below the floor of -132.
  const ModelRow& row = *find_model_row("ampere/mma.m16n8k16.f32.bf16.bf16.f32");
  expect_twins(*with_overrides(row.model, "zero_rule=clamp,zero_exponent=-132"), row.op, 38, 20000, row.name());
}

TEST_P(OpenPoints, TheSwitchChangesSomeResult) {
  const ModelRow& row = *find_model_row(GetParam().row);
  const DotModel model = *with_overrides(row.model, GetParam().overrides);
  DotCase one(row.op);
  Batch batch;
  StructuredGenerator(row.op, 41).fill(0, 200000, batch);
  const auto differ = [&](size_t i) {
    const DotOperands& in = one.load(batch, i);
    return evaluate_dot(model, in) != evaluate_dot(row.model, in);
  };
  const Mutator mutator(row.op, corner_hints(&row.model));
  for (size_t i = 0; i < batch.size(); ++i) {
    if (differ(i)) return;
    CounterRng rng(41, i);
    mutator.mutate(batch, i, rng);
    if (differ(i)) return;
  }
  FAIL() << "200000 structured cases and their neighbours do not show a difference";
}

}  // namespace
}  // namespace mmafuzz
