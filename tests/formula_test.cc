// Formulas are made by the texts of the kernels, with operations of their own. Their values are those of the kernels,
// on structured operands of every row, on every value of every parameter and on rows of any formats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "arithmetic/evaluate_dot.h"
#include "core/case_text.h"
#include "core/dot_case.h"
#include "core/format.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/parameters.h"
#include "oracles/models/slow_twin.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "prove/evaluate.h"
#include "prove/formula.h"
#include "search/structured_generator.h"
#include "tests/any_row.h"
#include "tests/case_count.h"
#include "tests/test_names.h"

namespace mmafuzz {
namespace {

/// `fill` makes the cases from one number on.
void expect_formula(const DotModel& model, const Op& op, size_t cases, const std::string& what,
                    const std::function<void(size_t first, size_t count, Batch&)>& fill) {
  prove::Expressions in;
  const prove::Operands variables = prove::dot_variables(in, op);
  const prove::Formula formula = prove::dot_formula(model, variables);
  const prove::Evaluator evaluator(prove::in_case_order(variables), {formula.result});
  DotCase one(op);
  std::vector<uint64_t> values, results;
  for (size_t done = 0; done < cases; done += 4096) {
    Batch batch;
    fill(done, std::min<size_t>(4096, cases - done), batch);
    for (size_t i = 0; i < batch.size(); ++i) {
      values.clear();
      for (const Column& column : batch.inputs())
        for (int j = 0; j < column.count(); ++j) values.push_back(column.get(i, j));
      evaluator.run(values, results);
      ASSERT_EQ(to_hex(op.d, results[0]), to_hex(op.d, evaluate_dot(model, one.load(batch, i)))) << what << "\n"
                                                                                                 << to_text(op) << "\n"
                                                                                                 << case_line(batch, i);
    }
  }
}

void expect_formula(const DotModel& model, const Op& op, uint64_t seed, size_t cases, const std::string& what) {
  const StructuredGenerator structured(op, seed);
  expect_formula(model, op, cases, what,
                 [&](size_t first, size_t count, Batch& batch) { structured.fill(first, count, batch); });
}

/// All by night, every third by day.
std::vector<std::string> formula_rows() {
  std::vector<std::string> names;
  for (size_t i = 0; i < model_rows().size(); i += case_count(3, 1)) names.push_back(model_rows()[i].name());
  return names;
}

class Formulas : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Rows, Formulas, testing::ValuesIn(formula_rows()), test_name);

TEST_P(Formulas, EqualTheKernel) {
  const ModelRow& row = *find_model_row(GetParam());
  expect_formula(row.model, row.op, 61, case_count(40, 1'000'000), row.name());
}

TEST_P(Formulas, EqualTheKernelOnShortAndLongDots) {
  const ModelRow& row = *find_model_row(GetParam());
  for (const int k : {1, row.op.k - 1, 2 * row.op.k + 1}) {
    if (k < 1) continue;
    Op op = row.op;
    op.k = k;
    expect_formula(row.model, op, 67, case_count(10, 5000), row.name());
  }
}

TEST_P(Formulas, EqualTheKernelOnEveryValueOfEveryParameter) {
  const ModelRow& row = *find_model_row(GetParam());
  for (const Parameter& p : parameters()) {
    if (!p.used_by(row.model.kernel) || std::string_view(p.name) == "kernel") continue;
    std::vector<std::string> values = p.words;
    if (values.empty() && p.is_nan) values = {"7fc0", "7fc00001"};
    if (values.empty())
      for (const int64_t step : {-7, -1, 1, 2})
        if (const int64_t v = p.get(row.model) + step; v >= p.least && v <= p.greatest)
          values.push_back(std::to_string(v));
    for (const std::string& value : values) {
      const std::string override_text = std::string(p.name) + "=" + value;
      const Result<DotModel> model = with_overrides(row.model, override_text);
      if (!model) continue;
      expect_formula(*model, row.op, 71, case_count(10, 3000), row.name() + "?" + override_text);
      if (HasFatalFailure()) return;
    }
  }
}

/// A subnormal scale of these formats has the exponent -7, which the floors -13 and -14 tell from the normal one's -6.
TEST(FormulasOfScales, EqualTheKernelWhereTheScalesSubnormalNumbersAreNotThoseOfIeee754) {
  const Op op = op_from_text("dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=1 sa=cfloat8_1_4_3:7 sb=cfloat8_1_4_3:7 sblock=1");
  DotModel higher = custom_model(op);
  higher.kernel = Kernel::grouped_sum;
  higher.k = higher.group = 1;
  higher.fraction_bits = 2;
  higher.zero_exponent = -13;
  DotModel lower = higher;
  lower.zero_exponent = -14;
  const uint64_t a = 2, b = 2, scale_a = 7, scale_b = 7;
  DotOperands in;
  in.k = 1;
  in.a = &a;
  in.b = &b;
  in.scale_a = &scale_a;
  in.scale_b = &scale_b;
  EXPECT_NE(evaluate_dot(higher, in), evaluate_dot(lower, in));
  for (const DotModel& model : {higher, lower}) expect_formula(model, op, 89, 1000, "scales with subnormal numbers");
}

TEST(FormulasOfAnyFormats, EqualTheKernel) {
  std::map<Kernel, size_t> compared, with_nan_scales;
  for (uint64_t n = 0; n < case_count(5'000, 1'000'000); ++n) {  // one of six makes a row
    const std::optional<AnyRow> row = any_row(2, n);
    if (!row) continue;
    ++compared[row->model.kernel];
    const std::string what = "row " + std::to_string(n) + ", " + custom_name(row->model, row->op);
    const auto fill = [&](size_t, size_t count, Batch& batch) {
      batch = cases_of(*row, n, count);
      DotCase one(row->op);
      for (size_t i = 0; i < count; ++i)
        if (nan_scales(row->op, one.load(batch, i)) > 0) ++with_nan_scales[row->model.kernel];
    };
    ASSERT_NO_THROW(expect_formula(row->model, row->op, 8, what, fill)) << what << "\n" << to_text(row->op);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(compared.size(), find_parameter("kernel")->words.size()) << "a kernel without a formula that is compared";
  EXPECT_EQ(with_nan_scales.size(), 2u) << "grouped_sum and fused_sum have scales";
}

/// What an overflow or an infinite operand gives is said of formats that have infinities.
TEST(RowsOfOnesOwn, AreDeclinedOrTheSameOfKernelTwinAndFormulaWhateverTheFormatOfD) {
  int declined = 0;
  for (const FormatForms& form : format_forms()) {
    const Format d = format(form.name + (form.takes_bias ? ":7" : ""));
    if (d.fields().integer) continue;
    for (const std::string& rest : {"c=fp16 d=" + d.name(), "c=" + d.name() + " d=" + d.name()})
      for (const char* kernel : {"fused_sum", "exact_sum", "ieee_tree", "fma_chain", "fma_then_add"})
        for (const char* rounding : {"nearest_even", "toward_zero"}) {
          const Op op = op_from_text("dot a=e5m2 b=e5m2 " + rest + " k=2");
          const std::string settings = std::string("kernel=") + kernel + ",k=2,output_rounding=" + rounding;
          const Result<DotModel> model = with_overrides(custom_model(op), settings);
          const auto unit = registry().bind("model:custom?" + settings, op),
                     twin = registry().bind("twin:custom?" + settings, op);
          ASSERT_EQ(bool(model), bool(unit)) << to_text(op);
          ASSERT_EQ(bool(model), bool(twin)) << to_text(op);
          if (!model) {
            if (d.fields().specials == Specials::ieee && d.fields().has_sign()) {
              EXPECT_EQ(d.name(), "fp64") << model.refusal().reason;
              EXPECT_THAT(kernel, testing::AnyOf(testing::StrEq("exact_sum"), testing::StrEq("fma_then_add")));
            } else {
              EXPECT_THAT(unit.refusal().reason, testing::HasSubstr("infinities, not " + d.name())) << to_text(op);
            }
            ++declined;
            continue;
          }
          Batch batch;
          StructuredGenerator(op, 73).fill(0, 300, batch);
          DotCase one(op);
          for (size_t i = 0; i < batch.size(); ++i)
            ASSERT_EQ(evaluate_dot(*model, one.load(batch, i)), slow_twin_dot(*model, one.load(batch, i)))
                << settings << "\n"
                << to_text(op) << "\n"
                << case_line(batch, i);
          expect_formula(*model, op, 79, 100, settings);
          if (HasFatalFailure()) return;
        }
  }
  EXPECT_GT(declined, 0);
}

}  // namespace
}  // namespace mmafuzz
