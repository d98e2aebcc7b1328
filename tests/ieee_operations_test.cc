// IEEE 754 operations of the unit `ieee` against MPFR, value and flags, in every IEEE format and rounding mode; and
// against the CPU's silicon where it has the operation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/case_text.h"
#include "core/property.h"
#include "core/registry.h"
#include "plan/registry.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"
#include "tests/run_one_dot.h"

namespace mmafuzz {
namespace {

/// Every divergence between two units on structured operands, values and flags; NaN payloads as the op says.
std::vector<std::string> compare(const Op& op, const std::string& first, const std::string& second, size_t cases) {
  std::vector<std::string> failures;
  auto x = registry().bind(first, op), y = registry().bind(second, op);
  if (!x || !y) return {(x ? y : x).refusal().reason};
  size_t compared = 0;
  for (size_t done = 0; done < cases && failures.size() < 3; done += 4096) {
    Batch batch;
    StructuredGenerator(op, 5).fill(done, std::min<size_t>(4096, cases - done), batch);
    Outcomes rx, ry;
    (*x)->run(batch, rx);
    (*y)->run(batch, ry);
    EXPECT_FALSE(rx.flags.empty());
    EXPECT_EQ(ry.flags.empty(), second == "cpu:cvt.f32.f16") << "only vcvtph2ps reports no flags";
    compared += compare_units(
        "equals_model", Severity::contract, batch, first, rx, second, ry, [&](const Divergence& d, uint64_t) {
          failures.push_back(to_text(op) + "\n" + case_line(d.cases, 0) + " " + to_hex(op.d, d.results[0]) +
                             " against " + to_hex(op.d, d.results[1]) + " " + d.key.value_class);
        });
  }
  EXPECT_EQ(compared, cases);
  return failures;
}

constexpr Rounding ieee_modes[] = {Rounding::nearest_even, Rounding::toward_zero,  Rounding::up,
                                   Rounding::down,         Rounding::nearest_away, Rounding::odd};

struct Operation {
  ScalarOperation scalar;
  const char* format;
  Rounding rounding;
};

std::vector<Operation> operations() {
  std::vector<Operation> all;
  for (int scalar = 0; scalar < scalar_operation_count; ++scalar)
    for (const char* name : {"fp16", "bf16", "fp32", "fp64"})
      for (const Rounding mode : ieee_modes) all.push_back({static_cast<ScalarOperation>(scalar), name, mode});
  return all;
}

class IeeeOperation : public testing::TestWithParam<Operation> {
 protected:
  static Op op() {
    Op op;
    op.kind = OpKind::scalar;
    op.scalar = GetParam().scalar;
    op.a = op.d = format(GetParam().format);
    op.rounding = GetParam().rounding;
    return op;
  }
};
INSTANTIATE_TEST_SUITE_P(All, IeeeOperation, testing::ValuesIn(operations()), [](const auto& info) {
  return std::string(name_of(info.param.scalar)) + "_" + info.param.format + "_" + name_of(info.param.rounding);
});

TEST_P(IeeeOperation, EqualsMpfrInValueAndFlags) {
  for (const Tininess tininess : {Tininess::after, Tininess::before}) {
    Op op = this->op();
    op.tininess = tininess;
    EXPECT_THAT(compare(op, "ieee", "exact:mpfr", case_count(3000, tininess == Tininess::after ? 10000000 : 1000000)),
                testing::IsEmpty());
  }
}

TEST(IeeeOperationOfBiasedFormats, EqualsMpfr) {
  // All numbers of these are below 1, or nearly all above; one has a single exponent bit.
  for (const char* name :
       {"cfloat8_1_4_3:63", "cfloat8_1_5_2:0", "shp:0", "shp:63", "binary8p7se", "cfloat8_1_4_3:63?denormal=gradual"})
    for (int scalar = 0; scalar < scalar_operation_count; ++scalar) {
      Op op;
      op.kind = OpKind::scalar;
      op.scalar = static_cast<ScalarOperation>(scalar);
      op.a = op.d = format(name);
      for (const Rounding mode : ieee_modes) {
        op.rounding = mode;
        EXPECT_THAT(compare(op, "ieee", "exact:mpfr", case_count(4096, 100000)), testing::IsEmpty());
      }
    }
}

TEST_P(IeeeOperation, FlushToZeroEqualsMpfr) {
  Op op = this->op();
  op.flush_to_zero = true;
  EXPECT_THAT(compare(op, "ieee", "exact:mpfr", case_count(300, 100000)), testing::IsEmpty());
}

/// What x86 has: fp32 and fp64, the four modes of MXCSR, no reciprocal.
std::vector<Operation> silicon_operations() {
  std::vector<Operation> all = operations();
  std::erase_if(all, [](const Operation& o) {
    return format(o.format).fields().width < 32 || o.rounding == Rounding::nearest_away ||
           o.rounding == Rounding::odd || o.scalar == ScalarOperation::rcp || o.scalar == ScalarOperation::rem;
  });
  return all;
}

class SiliconOperation : public IeeeOperation {};
INSTANTIATE_TEST_SUITE_P(All, SiliconOperation, testing::ValuesIn(silicon_operations()), [](const auto& info) {
  return std::string(name_of(info.param.scalar)) + "_" + info.param.format + "_" + name_of(info.param.rounding);
});

TEST_P(SiliconOperation, EqualsIeeeInValueAndFlags) {
  Op op = this->op();
  op.nan = NanPolicy::any;
  const std::string unit = std::string("cpu:") + name_of(op.scalar) + ".f" + op.a.name().substr(2);
  const auto bound = registry().bind(unit, op);
  if (!bound) GTEST_SKIP() << bound.refusal().reason;
  EXPECT_THAT(compare(op, "ieee", unit, case_count(50000, 10000000)), testing::IsEmpty());
}

// ---- integers ----

struct ToOrFromInteger {
  const char *from, *to;
  Rounding rounding;
};

std::vector<ToOrFromInteger> integer_conversions() {
  std::vector<ToOrFromInteger> all;
  for (const char* integer : {"s4", "u4", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"})
    for (const char* real : {"fp16", "bf16", "fp32", "fp64", "e4m3", "uhp"})
      for (const Rounding mode : ieee_modes) {
        all.push_back({real, integer, mode});
        all.push_back({integer, real, mode});
      }
  return all;
}

class IntegerConversion : public testing::TestWithParam<ToOrFromInteger> {
 protected:
  static Op op() {
    Op op;
    op.kind = OpKind::convert;
    op.a = format(GetParam().from);
    op.d = format(GetParam().to);
    op.rounding = GetParam().rounding;
    return op;
  }
};
INSTANTIATE_TEST_SUITE_P(All, IntegerConversion, testing::ValuesIn(integer_conversions()), [](const auto& info) {
  return std::string(info.param.from) + "_" + info.param.to + "_" + name_of(info.param.rounding);
});

TEST_P(IntegerConversion, EqualsMpfrInValueAndFlags) {
  Op op = this->op();
  EXPECT_THAT(compare(op, "ieee", "exact:mpfr", case_count(3000, 10000000)), testing::IsEmpty());
  op.saturate = true;
  op.signals_inexact = !op.rounds_to_integer();
  EXPECT_THAT(compare(op, "ieee", "exact:mpfr", case_count(1000, 1000000)), testing::IsEmpty());
}

TEST_P(IntegerConversion, EqualsTheSiliconInValueAndFlags) {
  Op op = this->op();
  const auto silicon = [](const Format& f) { return f.name().starts_with("fp") ? "f" + f.name().substr(2) : f.name(); };
  for (const char* instruction : {"cpu:cvt.", "cpu:cvtt."}) {
    const std::string unit = instruction + silicon(op.d) + "." + silicon(op.a);
    const auto bound = registry().bind(unit, op);
    if (!bound) continue;  // no such instruction, or not on this machine
    EXPECT_THAT(compare(op, "ieee", unit, case_count(20000, 10000000)), testing::IsEmpty());
  }
}

/// One conversion: the result, and the flags.
std::pair<uint64_t, int> converted(const std::string& text, uint64_t source) {
  const Op op = *parse_op(text);
  Batch one(op);
  one.resize(1);
  one.inputs()[0].set(0, 0, source);
  Outcomes outcomes;
  (*registry().bind("ieee", op))->run(one, outcomes);
  return {outcomes.results.get(0), outcomes.flags[0]};
}

TEST(Integers, WhatIeee754LeavesOpenIsTheDocumentedPolicy) {
  const uint64_t nan = 0x7fc00000, minus_one = 0xbf800000, two_to_31 = 0x4f000000, minus_infinity = 0xff800000;
  using Answer = std::pair<uint64_t, int>;
  for (const uint64_t source : {nan, two_to_31, minus_infinity})  // Intel SDM vol. 1, 4.8.3.7: the integer indefinite
    EXPECT_EQ(converted("convert from=fp32 to=s32", source), Answer(0x80000000, 0x10));
  for (const uint64_t source : {nan, minus_one, minus_infinity})  // Intel SDM, VCVTSS2USI: 2^w - 1
    EXPECT_EQ(converted("convert from=fp32 to=u32", source), Answer(0xffffffff, 0x10));
  EXPECT_EQ(converted("convert from=fp32 to=s32 saturate=1", nan), Answer(0, 0x10));
  EXPECT_EQ(converted("convert from=fp32 to=s32 saturate=1", two_to_31), Answer(0x7fffffff, 0x10));
  EXPECT_EQ(converted("convert from=fp32 to=s32 saturate=1", minus_infinity), Answer(0x80000000, 0x10));
  EXPECT_EQ(converted("convert from=fp32 to=u32 saturate=1", minus_one), Answer(0, 0x10));
  EXPECT_EQ(converted("convert from=fp32 to=s32", 0xcf000000), Answer(0x80000000, 0)) << "-2^31 fits";
  // What rounds into the range is valid: -0.5 and -0.75 toward zero, 2^8 - 0.5 down; not up.
  EXPECT_EQ(converted("convert from=fp32 to=u32 round=toward_zero", 0xbf400000), Answer(0, 1));
  EXPECT_EQ(converted("convert from=fp32 to=u8 round=down", 0x437f8000), Answer(0xff, 1));
  EXPECT_EQ(converted("convert from=fp32 to=u8 round=up", 0x437f8000), Answer(0xff, 0x10));
  EXPECT_EQ(converted("convert from=fp32 to=u8 round=down inexact=0", 0x437f8000), Answer(0xff, 0));
}

TEST(Integers, TheAnswerOfAnInvalidConversionIsNotComparedUnderNanAny) {
  for (const bool any : {false, true}) {
    const Op op = *parse_op(std::string("convert from=fp32 to=s32") + (any ? " nan=any" : ""));
    Batch cases(op);
    cases.resize(2);
    cases.inputs()[0].set(0, 0, 0x4f000000);  // 2^31: beyond
    cases.inputs()[0].set(1, 0, 0x4effffff);  // 2^31 - 128: in the range
    EXPECT_EQ(same_result(cases, 0, 0x80000000, 0x7fffffff), any);
    EXPECT_EQ(same_result(cases, 0, 0x7fffffff, 0x80000000), any);
    EXPECT_FALSE(same_result(cases, 1, 0x7fffff80, 0x7fffffff));
  }
}

TEST(Integers, AnAttributeOfIntegersIsRefusedElsewhere) {
  for (const char* text : {"convert from=fp32 to=fp16 inexact=0", "convert from=s32 to=fp32 inexact=0",
                           "scalar add format=fp32 inexact=0", "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4 inexact=0"})
    EXPECT_FALSE(parse_op(text)) << text;
  for (const char* text : {"convert from=s32 to=s8", "convert from=u64 to=s64", "scalar add format=s32"}) {
    for (const char* unit : {"ieee", "exact", "exact:mpfr"})
      EXPECT_FALSE(registry().bind(unit, *parse_op(text))) << text << " " << unit;
  }
}

TEST(Conversions, HalfEqualsF16cInValueAndFlagsInEveryMode) {
  for (const Rounding mode : {Rounding::nearest_even, Rounding::toward_zero, Rounding::up, Rounding::down}) {
    for (const bool widen : {false, true}) {
      Op op;
      op.kind = OpKind::convert;
      op.a = format(widen ? "fp16" : "fp32");
      op.d = format(widen ? "fp32" : "fp16");
      op.rounding = mode;
      op.nan = NanPolicy::any;
      const std::string unit = widen ? "cpu:cvt.f32.f16" : "cpu:cvt.f16.f32";
      const auto bound = registry().bind(unit, op);
      if (!bound) GTEST_SKIP() << bound.refusal().reason;
      EXPECT_THAT(compare(op, "ieee", unit, case_count(40000, 2000000)), testing::IsEmpty());
    }
  }
}

TEST(WhitePaper, TheFmaExampleKeepsWhatMultiplyThenAddLoses) {
  // Whitehead and Fit-Florea, 2.3: a*a + b with a = 0x3f800001, b = 0xbf800002 is 2^-46 fused and 0 in two steps.
  Op op = dot_op("fp32", "fp32", "fp32", 1);
  EXPECT_EQ(run_one_dot(**registry().bind("ieee:fma", op), op, {0x3f800001}, {0x3f800001}, 0xbf800002), 0x28800000u);
  EXPECT_EQ(run_one_dot(**registry().bind("ieee:serial", op), op, {0x3f800001}, {0x3f800001}, 0xbf800002), 0x00000000u);
}

TEST(WhitePaper, TheOrdersAreTheDocumentedOnes) {
  // 2^24 + 1 + 1 + ... in fp32: the serial sum loses every 1, the pairwise sum keeps pairs.
  Op op = dot_op("fp32", "fp32", "fp32", 4);
  const std::vector<uint64_t> ones(4, 0x3f800000);
  const uint64_t large = 0x4b800000;  // 2^24
  EXPECT_EQ(run_one_dot(**registry().bind("ieee:serial", op), op, ones, ones, large), 0x4b800000u);
  EXPECT_EQ(run_one_dot(**registry().bind("ieee:fma", op), op, ones, ones, large), 0x4b800000u);
  EXPECT_EQ(run_one_dot(**registry().bind("ieee:pairwise", op), op, ones, ones, large), 0x4b800002u);
}

}  // namespace
}  // namespace mmafuzz
