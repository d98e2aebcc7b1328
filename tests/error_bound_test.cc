// The proven error bounds (docs/bounds.md): they hold for the models and the slow twins of every row and for the
// reference orders, they are what a person works out by hand, they catch units that are planted wrong, and witnesses
// show how tight they are.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "arithmetic/evaluate_dot.h"
#include "core/case_text.h"
#include "plan/request.h"
#include "oracles/bounds/error_bound.h"
#include "oracles/families.h"
#include "plan/registry.h"
#include "oracles/properties/properties.h"
#include "core/function_unit.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/slow_twin.h"
#include "search/mutator.h"
#include "search/structured_generator.h"
#include "tests/any_row.h"
#include "tests/case_count.h"
#include "tests/run_one_dot.h"
#include "tests/test_names.h"

namespace mmafuzz {
namespace {

/// Structured cases, every other one moved to a corner of the model.
Batch cases_of(const Op& op, const DotModel* model, uint64_t first, size_t count) {
  Batch batch;
  StructuredGenerator(op, 41).fill(first, count, batch);
  const Mutator mutator(op, corner_hints(model));
  for (size_t i = 0; i < count; i += 2) {
    CounterRng rng(43, first + i);
    mutator.mutate(batch, i, rng);
  }
  return batch;
}

/// What a row's form sums: c and the products, of which some change their sign and some are left out.
struct SumOfForm {
  SumOfForm(const Op& op, const DotModel* m, const DotOperands& in)
      : a(in.a, in.a + op.k), b(in.b, in.b + op.k), operands(in) {
    operands.a = a.data();
    operands.b = b.data();
    if (!m || m->form == Form::s_plus_c) return;
    const int of_result = negates_result(*m) ? -1 : 1, of_s = of_result * (negates_sum(*m) ? -1 : 1),
              of_c = m->form == Form::s_alone ? 0 : of_result * (negates_c(*m) ? -1 : 1);
    const int step = products_per_step(*m), steps = (m->k + step - 1) / step, calls = (op.k + m->k - 1) / m->k;
    const auto after = [&](int later) { return of_c == 0 && later > 0 ? 0 : of_c < 0 && later % 2 ? -1 : 1; };
    for (int call = 0; call < calls; ++call)
      for (int position = 0; position < m->k; ++position) {
        const int i = call * m->k + product_at(*m, position),
                  later = calls * steps - 1 - call * steps - position / step;
        if (i >= op.k) continue;
        const bool by_a = op.a.fields().has_sign();
        multiply((by_a ? op.a : op.b).fields(), (by_a ? a : b)[size_t(i)], of_s * after(later));
      }
    multiply(op.c.fields(), operands.c, after(calls * steps));
  }
  void multiply(const FormatFields& f, uint64_t& code, int by) {
    if (by == 0) code = 0;
    if (by == 0) in_these_formats &= decode(f, 0).cls == NumberClass::zero;
    if (by >= 0 || decode(f, code).cls == NumberClass::zero) return;
    code ^= f.in_container(f.sign_bit());
    in_these_formats &= f.has_sign();
  }

  std::vector<uint64_t> a, b;
  DotOperands operands;
  bool in_these_formats = true;  ///< else one would have a sign, or be a zero, that its format does not have
};

struct Tally {
  size_t finite = 0, beyond = 0, infinite = 0;
};

/// Looks at `count` cases through a bound; the unit, and a twin if one is given, must obey it.
Tally look(const Op& op, const ErrorBounds& bounds, const Unit& tested, size_t count, const DotModel* twin = nullptr) {
  Tally tally;
  ErrorBound bound(op);
  exact::Mpfr referee(exact::sum_precision_of(op));
  DotCase one(op);
  Outcomes outcomes;
  for (size_t done = 0; done < count; done += 1000) {
    const Batch batch = cases_of(op, tested.model(), done, std::min<size_t>(1000, count - done));
    tested.run(batch, outcomes);
    for (size_t i = 0; i < batch.size(); ++i) {
      const DotOperands& in = one.load(batch, i);
      if (!ErrorBounds::has_bound_for(op, in)) continue;
      bounds.evaluate(in, bound);
      if (i % 16 == 0) {
        const SumOfForm form(op, tested.model(), in);
        exact::mpfr_dot_value(op, form.operands, referee.get());
        EXPECT_TRUE(!form.in_these_formats || mpfr_equal_p(referee.get(), bound.exact.get())) << case_line(batch, i);
      }
      ++tally.finite;
      tally.infinite += bound.may_overflow;
      uint64_t result = outcomes.results.get(i);
      bool beyond = !bound.admits(op.d, result);
      if (twin && i % 8 == 0) beyond |= !bound.admits(op.d, result = slow_twin_dot(*twin, in));
      if (beyond && tally.beyond++ == 0 && twin) {
        ADD_FAILURE() << tested.name() << "\n"
                      << to_text(op) << "\n"
                      << case_line(batch, i) << "\nresult " << to_hex(op.d, result) << ", exact "
                      << mpfr_get_d(bound.exact.get(), MPFR_RNDN) << ", bound "
                      << mpfr_get_d(bound.bound.get(), MPFR_RNDN) << ", ratio " << bound.ratio(op.d, result);
      }
    }
  }
  return tally;
}

std::vector<std::string> row_names() {
  std::vector<std::string> names;
  for (const ModelRow& row : model_rows()) names.push_back(row.name());
  return names;
}

class Rows : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Rows, testing::ValuesIn(row_names()), test_name);

TEST_P(Rows, ObeyTheirBounds) {
  const ModelRow& row = *find_model_row(GetParam());
  for (const int k : {row.op.k, 2 * row.op.k + 3}) {
    Op op = row.op;
    op.k = k;
    const Result<ErrorBounds> bounds = ErrorBounds::of_model(op, row.model);
    ASSERT_TRUE(bounds) << bounds.refusal().reason;
    const size_t count = case_count(1'500, 1'000'000) / (k == row.op.k ? 1 : 20);
    const Tally tally = look(op, *bounds, *bind_or_fail("model:" + row.name(), op), count, &row.model);
    EXPECT_EQ(tally.beyond, 0u);
    EXPECT_GT(tally.finite, count / 4);  // many cases hold an infinity or a NaN
    EXPECT_LT(tally.infinite, tally.finite / 2);
  }
}

TEST(References, ObeyTheirBounds) {
  for (Op op : {dot_op("fp16", "fp32", "fp32", 16), dot_op("bf16", "bf16", "bf16", 7),
                dot_op("e4m3", "fp16", "e5m2", 5), dot_op("fp64", "fp64", "fp64", 4)}) {
    for (const Rounding rounding : {Rounding::nearest_even, Rounding::toward_zero, Rounding::up, Rounding::down,
                                    Rounding::nearest_away, Rounding::odd}) {
      op.rounding = rounding;
      for (const char* name : {"exact", "exact:bigint", "ieee:fma", "ieee:serial", "ieee:pairwise"}) {
        SCOPED_TRACE(name + (" " + to_text(op)));
        const Tally tally =
            look(op, *ErrorBounds::of_reference(op, name), *bind_or_fail(name, op), case_count(1000, 100'000));
        EXPECT_EQ(tally.beyond, 0u);
        EXPECT_GT(tally.finite, 0u);
      }
    }
  }
}

/// Other values of the parameters keep their own bounds: the derivation is of the kernels, not of the rows.
TEST(Overrides, ObeyTheirOwnBounds) {
  for (const auto& [row, overrides] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"hopper/mma.m16n8k16.f32.f16.f16.f32",
            {"fraction_bits=20", "fraction_bits=40", "zero_rule=operand", "zero_rule=clamp", "zero_exponent=0",
             "product=normalized", "block=5", "output_rounding=nearest_even", "output_rounding=up",
             "output_fraction_bits=9", "overflow=saturate", "subnormals=flushed", "kernel=exact_sum",
             "kernel=fma_chain", "kernel=ieee_tree", "kernel=two_stage_sum", "special_scope=whole_k", "k=12"}},
           {"ampere/mma.m16n8k16.f32.bf16.bf16.f32",
            {"zero_rule=operand", "zero_rule=clamp", "subnormals=flushed", "overflow=saturate", "c_exponent=fp32"}},
           {"ampere/mma.m16n8k16.f16.f16.f16.f16",
            {"output_via=fp32_truncated", "c_exponent=fp32", "output_rounding=toward_zero", "zero_rule=operand"}},
           {"volta/mma.m8n8k4.f32.f16.f16.f16", {"c_exponent=c_format", "fraction_bits=12"}},
           {"ada/mma.m16n8k32.f32.e4m3.e4m3.f32",
            {"kernel=two_stage_sum,block=8,fraction_bits=24", "kernel=emulated_fp8,fraction_bits=25"}},
           {"hopper/mma.m16n8k32.f16.e4m3.e5m2.f16", {"block=7", "fraction_bits=11", "zero_rule=operand"}},
           {"blackwell/tcgen05.kind::mxf4nvf4.block16.m128n8k64.f32.e2m1.e2m1.f32.ue4m3",
            {"fraction_bits=20", "zero_group=sum_zero", "zero_rule=operand", "group=8"}},
           {"cdna1/mfma.16x16x16.f32.f16.f16.f32", {"subnormals=flushed", "output_rounding=down", "block=3"}},
           {"cdna2/mfma.16x16x8.f32.bf16.bf16.f32",
            {"subnormals=kept", "output_rounding=toward_zero", "block=3", "product_overflow=positive_infinity"}},
           {"cdna3/mfma.16x16x16.f32.bf16.bf16.f32",
            {"second_stage=floor31", "subnormals=flushed", "zero_rule=operand", "fraction_bits=20", "odd_even=1"}},
           {"hopper/mma.m8n8k4.f16.f16.f16.f16",
            {"block=3", "block=4", "chain_start=positive_zero", "output_rounding=down"}},
           {"cdna3/mfma.16x16x32.f32.e4m3fnuz.e5m2fnuz.f32",
            {"second_stage=floor31", "odd_even=0", "block=9", "fraction_bits=15", "c_special=reads_minus_one"}}}) {
    const Op& op = find_model_row(row)->op;
    for (const std::string& change : overrides) {
      SCOPED_TRACE(row + "?" + change);
      const auto changed = bind_or_fail("model:" + row + "?" + change, op);
      const Result<ErrorBounds> bounds = ErrorBounds::of_unit(op, *changed);
      ASSERT_TRUE(bounds) << bounds.refusal().reason;
      EXPECT_EQ(look(op, *bounds, *changed, case_count(4000, 400'000), changed->model()).beyond, 0u);
    }
  }
}

TEST(AnyRows, ObeyTheirBounds) {
  size_t rows = 0;
  for (uint64_t number = 0; number < case_count(4000, 200'000); ++number) {
    const std::optional<AnyRow> row = any_row(31, number);
    if (!row) continue;
    const Result<ErrorBounds> bounds = ErrorBounds::of_model(row->op, row->model);
    if (!bounds) continue;
    const auto unit = bind_or_fail(custom_name(row->model, row->op), row->op);
    SCOPED_TRACE(custom_name(row->model, row->op) + "\n" + to_text(row->op));
    EXPECT_EQ(look(row->op, *bounds, *unit, 40, &row->model).beyond, 0u);
    ++rows;
  }
  EXPECT_GT(rows, 300u);
}

/// A subnormal number of Tesla's text is aligned one below the least normal exponent.
TEST(ALiteralC, ObeysTheBoundOfItsRow) {
  const Op op = op_from_text("dot a=fp16 b=fp16 c=cfloat8_1_4_3:15 d=fp16 k=1");
  for (const char* bounded_by : {"d_format", "c_format", "fp32"})
    for (const char* fraction_bits : {"2", "3", "4"}) {
      const std::string name = std::string("model:custom?kernel=fused_sum,k=1,block=1,zero_exponent=-100,") +
                               "output_fraction_bits=10,fraction_bits=" + fraction_bits + ",c_exponent=" + bounded_by;
      SCOPED_TRACE(name);
      const auto unit = bind_or_fail(name, op);
      const Tally tally = look(op, *ErrorBounds::of_unit(op, *unit), *unit, 4000, unit->model());
      EXPECT_EQ(tally.beyond, 0u);
      EXPECT_GT(tally.finite, 1000u);
    }
}

using Encodings = std::vector<uint64_t>;

/// A case written by hand: products that are not given are zero.
struct ByHand {
  ByHand(const std::string& row_name, Encodings x, Encodings y, uint64_t z)
      : row(find_model_row(row_name)), a(x), b(y), bound(row->op) {
    op = row->op;
    op.k = std::max(op.k, static_cast<int>(a.size()));
    a.resize(size_t(op.k));
    b.resize(size_t(op.k));
    c = z;
    DotOperands in;
    in.a = a.data();
    in.b = b.data();
    in.c = c;
    in.k = op.k;
    ErrorBounds::of_model(op, row->model)->evaluate(in, bound);
  }
  /// Whether the bound is the sum of these signed powers of two.
  testing::AssertionResult is(const std::vector<std::pair<int, int>>& powers) const {
    exact::Mpfr sum(2000), power(2000);
    mpfr_set_zero(sum.get(), 1);
    for (const auto& [sign, exponent] : powers) {
      mpfr_set_si_2exp(power.get(), sign, exponent, MPFR_RNDN);
      mpfr_add(sum.get(), sum.get(), power.get(), MPFR_RNDN);
    }
    if (mpfr_equal_p(sum.get(), bound.bound.get())) return testing::AssertionSuccess();
    return testing::AssertionFailure() << mpfr_get_d(bound.bound.get(), MPFR_RNDN) << " is not "
                                       << mpfr_get_d(sum.get(), MPFR_RNDN);
  }
  double ratio() const {
    return bound.ratio(op.d, run_one_dot(*bind_or_fail("model:" + row->name(), op), op, a, b, c));
  }

  const ModelRow* row;
  Op op;
  Encodings a, b;
  uint64_t c;
  ErrorBound bound;
};

TEST(ByHand, OneProductBelowOne) {
  // (1 + 2^-10)^2 2^-24 = 2^-24 + 2^-33 + 2^-44 beside c = 1: cut at 2^-25 it loses at most 2^-25 - 2^-44; the sum, a
  // multiple of 2^-25 below 2, loses at most 2^-23 - 2^-25 toward zero.
  const ByHand hopper("hopper/mma.m16n8k16.f32.f16.f16.f32", {0x0c01}, {0x0c01}, 0x3f800000);
  EXPECT_TRUE(hopper.is({{1, -23}, {-1, -44}}));
  // CDNA3: nothing falls below 24 bits under the product itself. The product sum is floored at 2^-32 (2^-32 - 2^-44),
  // the sum of both, below 2, at 2^-31 (2^-31 - 2^-32); nearest: 2^-24.
  const ByHand cdna3("cdna3/mfma.32x32x8.f32.f16.f16.f32", {0x0c01}, {0x0c01}, 0x3f800000);
  EXPECT_TRUE(cdna3.is({{1, -24}, {1, -31}, {-1, -44}}));
  // CDNA1 sums exactly: half an ulp of a sum below 2.
  const ByHand cdna1("cdna1/mfma.4x4x4.f32.f16.f16.f32", {0x0c01}, {0x0c01}, 0x3f800000);
  EXPECT_TRUE(cdna1.is({{1, -24}}));
}

TEST(ByHand, FasisFourProductsInTwoBlocks) {
  // Volta, k = 8: 1 + 4 * 2^-24 + 4 * 2^-24. A block loses all of its products (2^-24 each, below the 2^-23 it keeps)
  // and rounds nothing: its sum is a multiple of 2^-23 below 2. Both lose 8 * 2^-24, and so does the unit.
  const ByHand volta("volta/mma.m8n8k4.f32.f16.f16.f32", Encodings(8, 0x0c00), Encodings(8, 0x0c00), 0x3f800000);
  EXPECT_TRUE(volta.is({{1, -21}}));
  EXPECT_EQ(volta.ratio(), 1);
}

TEST(ByHand, AChainOfTies) {
  // 2^53 + 1 + 1 + 1 + 1 in fp64: every sum lies in [2^53, 2^54), half an ulp is 1, and each tie goes back to 2^53.
  const uint64_t one = 0x3ff0000000000000;
  const ByHand chain("ampere/mma.m8n8k4.f64.f64.f64.f64", Encodings(4, one), Encodings(4, one), 0x4340000000000000);
  EXPECT_TRUE(chain.is({{1, 2}}));
  EXPECT_EQ(chain.ratio(), 1);
}

TEST(ByHand, AFlushedProduct) {
  // CDNA2: 2^-63 * 2^-64 is subnormal and becomes zero; adding zeros loses nothing.
  const ByHand cdna2("cdna2/mfma.16x16x8.f32.bf16.bf16.f32", {0x2000}, {0x1f80}, 0);
  EXPECT_TRUE(cdna2.is({{1, -127}}));
  EXPECT_EQ(cdna2.ratio(), 1);
}

TEST(ByHand, OverflowIsFromHalfAnUlpAboveTheGreatest) {
  const std::string row = "hopper/mma.m16n8k16.f16.f16.f16.f16";
  EXPECT_FALSE(ByHand(row, {0x4800}, {0x3c00}, 0x7bff).bound.may_overflow);  // 65504 + 8
  EXPECT_TRUE(ByHand(row, {0x4c00}, {0x3c00}, 0x7bff).bound.may_overflow);   // 65504 + 16
  EXPECT_FALSE(ByHand(row, {0x4800}, {0x3c00}, 0x7bff).bound.admits(format("fp16"), 0x7c00));
  EXPECT_TRUE(ByHand(row, {0x4c00}, {0x3c00}, 0x7bff).bound.admits(format("fp16"), 0x7c00));
}

TEST(ByHand, AnFp32CLosesItsLowBitsBesideThirteenFractionBits) {
  // Hopper's FP8 wgmma, F = 13: c in [2^-18, 2^-17) with last bit 2^-40 is the greatest and is cut at 2^-31 all the
  // same; the result, a multiple of 2^-31, is not rounded. As c of the next instruction it has 13 bits and loses none.
  const std::string row = "hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32";
  for (const size_t k : {size_t{32}, size_t{64}}) {
    const ByHand wgmma(row, Encodings(k, 0), Encodings(k, 0), 0x36dd7a7a);
    EXPECT_TRUE(wgmma.is({{1, -31}, {-1, -40}}));
    // It loses the low ten bits, 0x27a * 2^-41.
    EXPECT_DOUBLE_EQ(wgmma.ratio(), 0x27ap-41 / (0x1p-31 - 0x1p-40));
  }
}

const std::string hopper_row = "hopper/mma.m16n8k16.f32.f16.f16.f32";

TEST(Planted, WrongUnitsBreakTheBoundOfTheRightOne) {
  const ModelRow& row = *find_model_row(hopper_row);
  const ErrorBounds bounds = *ErrorBounds::of_model(row.op, row.model);
  for (const char* change :
       {"fraction_bits=22", "zero_exponent=0", "output_fraction_bits=22", "block=17,k=17,fraction_bits=21"})
    EXPECT_GT(look(row.op, bounds, *bind_or_fail("model:" + hopper_row + "?" + change, row.op), 4000).beyond, 0u)
        << change;
  const auto dropped_lane = make_dot_unit([&](const DotOperands& in) {
    Encodings a(in.a, in.a + in.k);
    a[3] = 0;
    DotOperands fewer = in;
    fewer.a = a.data();
    return slow_twin_dot(row.model, fewer);
  });
  const auto infinite = make_dot_unit([](const DotOperands&) { return uint64_t{0x7f800000}; });
  EXPECT_GT(look(row.op, bounds, *dropped_lane, 4000).beyond, 0u);
  EXPECT_GT(look(row.op, bounds, *infinite, 100).beyond, 0u);
}

TEST(TheProperty, JudgesABlackBoxByTheRowThatItClaims) {
  const ModelRow& row = *find_model_row(hopper_row);
  DotModel coarse = row.model;
  coarse.fraction_bits = 20;
  const Batch cases = cases_of(row.op, nullptr, 0, 4000);
  for (const DotModel& model : {row.model, coarse}) {
    const auto device = make_dot_unit([model](const DotOperands& in) { return slow_twin_dot(model, in); });
    device->describe("device", {});
    const Property& property = *find_property("error_bound");
    EXPECT_FALSE(BoundProperty::bind(property, *device, row.op, registry()));
    device->describe("device", {{"equals_model", "model:" + row.name()}});
    const Result<BoundProperty> bound = BoundProperty::bind(property, *device, row.op, registry());
    ASSERT_TRUE(bound);
    Outcomes base;
    device->run(cases, base);
    size_t failures = 0;
    const size_t compared = bound->check(cases, base, [&](Divergence d, uint64_t count) {
      failures += count;
      EXPECT_EQ(d.severity, Severity::accuracy);
      EXPECT_EQ(d.cases.size(), 2u);
    });
    EXPECT_GT(compared, cases.size() / 32);
    EXPECT_LT(compared, cases.size() / 4);
    EXPECT_EQ(failures > 0, model.fraction_bits == 20);
  }
}

TEST(Unproven, IsDeclined) {
  const ModelRow& row = *find_model_row(hopper_row);
  for (const char* change : {"integer_bits=3", "integer_bits=5"})
    EXPECT_FALSE(ErrorBounds::of_unit(row.op, *bind_or_fail("model:" + hopper_row + "?" + change, row.op))) << change;
  const ModelRow& tf32 = *find_model_row("hopper/mma.m16n8k8.f32.tf32.tf32.f32");
  EXPECT_FALSE(ErrorBounds::of_unit(tf32.op, *bind_or_fail("model:" + tf32.name() + "?low_bits=rounded", tf32.op)));
  EXPECT_FALSE(ErrorBounds::of_reference(row.op, "hypothesis:fma"));
}

/// The file is case text; a comment before each case has the ratio.
TEST(Witnesses, AreAsTightAsTheFileSays) {
  std::ifstream file(MMAFUZZ_SOURCE_DIR "/corpus/bounds/tightest.cases");
  ASSERT_TRUE(file);
  std::string line, header, text;
  std::getline(file, header);
  double stated = 0;
  std::string unit_line, op_line;
  std::set<Kernel> kernels;
  size_t seen = 0;
  while (std::getline(file, line)) {
    if (line.starts_with("# ratio ")) stated = std::stod(line.substr(8));
    if (line.starts_with("unit ")) unit_line = line;
    if (line.starts_with("op ")) op_line = line;
    if (line.find('|') == std::string::npos) continue;
    CaseReader reader("tightest.cases", header + "\n" + unit_line + "\n" + op_line + "\n" + line + "\n");
    CaseBlock block;
    ASSERT_TRUE(reader.next(block, 1)) << line;
    const Op& op = block.batch.op();
    const auto tested = bind_or_fail(block.unit, op);
    DotCase one(op);
    ErrorBound bound(op);
    ErrorBounds::of_unit(op, *tested)->evaluate(one.load(block.batch, 0), bound);
    Outcomes outcomes;
    tested->run(block.batch, outcomes);
    const double ratio = bound.ratio(op.d, outcomes.results.get(0));
    EXPECT_GE(ratio, 0.9 * stated) << block.unit;
    EXPECT_LE(ratio, 1) << block.unit;
    if (tested->model()) kernels.insert(tested->model()->kernel);
    ++seen;
  }
  EXPECT_GT(seen, 60u);
  EXPECT_EQ(kernels.size(), 7u);
}

}  // namespace
}  // namespace mmafuzz
