// Rounding once, against MPFR: conversions from fp64 and fp32 to every format in every mode, value and flags.
#include <gtest/gtest.h>

#include "arithmetic/counter_rng.h"
#include "arithmetic/evaluate_dot.h"
#include "arithmetic/ieee_operations.h"
#include "core/op.h"
#include "oracles/exact/mpfr_reference.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"
#include "tests/test_names.h"

namespace mmafuzz {
namespace {

constexpr Rounding modes[] = {Rounding::nearest_even, Rounding::toward_zero, Rounding::up,        Rounding::down,
                              Rounding::nearest_away, Rounding::odd,         Rounding::stochastic};

class RoundTo : public testing::TestWithParam<std::string> {};

std::vector<std::string> floating_formats() {
  std::vector<std::string> names = format_names();
  std::erase_if(names, [](const std::string& name) { return format(name).fields().integer; });
  for (const char* more :
       {"cfloat8_1_4_3:7", "cfloat8_1_5_2:31?denormal=gradual", "shp:63", "cfloat8_1_4_3:63?denormal=gradual",
        "cfloat8_1_4_3:7?hole=tie_down,overflow=before,underflow=tiny,inexact=raised",
        "cfloat8_1_5_2:15?clamp=positive,nan=signed,zero=positive,infinity=invalid",
        "shp:15?stochastic_hole=nearest,infinity=invalid",
        "shp:15?denormal=gradual,overflow=before,underflow=tiny,zero=positive", "uhp?negative=zero,flush=before",
        "uhp?tiny_negative=flushed", "uhp?negative=absolute,invalid=signaling_nan,overflow=before,conversions=silent"})
    names.push_back(more);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Formats, RoundTo, testing::ValuesIn(floating_formats()), test_name);

TEST_P(RoundTo, EqualsMpfrInValueAndFlagsInEveryModeAndTininess) {
  Op op;
  op.kind = OpKind::convert;
  op.d = format(GetParam());
  for (const char* from : {"fp64", "fp32", "fp16"}) {
    op.a = format(from);
    for (const Rounding mode : modes) {
      for (const Tininess tininess : {Tininess::after, Tininess::before}) {
        for (const bool saturate : {false, true}) {
          op.rounding = mode;
          op.tininess = tininess;
          op.saturate = saturate;
          op.seed = 5;
          op.random_bits = tininess == Tininess::after ? 24 : 3;
          op.threshold = saturate                      ? Threshold::nearest
                         : tininess == Tininess::after ? Threshold::floor
                                                       : Threshold::ceiling;
          Batch batch;
          StructuredGenerator(op, 11).fill(0, case_count(1000, 100000), batch);
          for (size_t i = 0; i < batch.size(); ++i) {
            const uint64_t source = batch.inputs()[0].get(i);
            Rounded ours = convert_number(op.d.fields(), decode(op.a.fields(), source), op.rounding_rule_of(source));
            if (op.d.fields().has(policy::conversions_silent)) ours.flags = 0;
            const exact::MpfrRounded theirs = exact::mpfr_convert(op, source);
            ASSERT_EQ(ours.encoding, theirs.encoding) << to_text(op) << " " << to_hex(op.a, source);
            ASSERT_EQ(int(ours.flags), int(theirs.flags)) << to_text(op) << " " << to_hex(op.a, source);
          }
        }
      }
    }
  }
}

TEST(Round, AnExactIntegerValueWithAStickyBitIsRoundedOnce) {
  // 2^63 + 1 units of 2^-40 and a sticky part: far above fp16's precision, a hair above the tie of the last bit.
  const FormatFields f = fp16_fields;
  const uint64_t tie = (uint64_t{0x400} << 53) | (uint64_t{1} << 52);
  EXPECT_EQ(round_once(f, false, tie, -63).encoding, 0x3c00u);            // a tie to even
  EXPECT_EQ(round_once(f, false, tie, -63, {}, true).encoding, 0x3c01u);  // sticky decides
  EXPECT_EQ(round_once(f, false, tie | 1, -63).encoding, 0x3c01u);
}

TEST(Round, OverflowTowardZeroIsInfinityOnlyForMatrixUnits) {
  RoundingRule rule;
  rule.rounding = Rounding::toward_zero;
  EXPECT_EQ(round_once(fp32_fields, false, 1, 128, rule).encoding, 0x7f7fffffu);
  rule.overflow = Overflow::infinity;
  EXPECT_EQ(round_once(fp32_fields, false, 1, 128, rule).encoding, 0x7f800000u);
  rule.overflow = Overflow::saturate;
  rule.rounding = Rounding::nearest_even;
  EXPECT_EQ(round_once(fp32_fields, true, 1, 500, rule).encoding, 0xff7fffffu);
}

TEST(Round, E4m3OverflowsAbove464AndTheTieStays) {
  const FormatFields f = format("e4m3").fields();
  EXPECT_EQ(round_once(f, false, 464, 0).encoding, 0x7eu);  // the tie goes to 448 (OCP OFP8 1.0)
  EXPECT_EQ(round_once(f, false, 465, 0).encoding, 0x7fu);  // NaN: no infinity
}

TEST(Round, TheHoleOfLiteralSubnormalsGoesToTheNearerEndAndItsTieUp) {
  // cfloat8_1_4_3:0, literal: greatest subnormal 0.875 (code 7), least normal 2 (code 8); the midpoint is 1.4375.
  const FormatFields f = format("cfloat8_1_4_3:0").fields();
  EXPECT_EQ(round_once(f, false, 23, -4).encoding, 8u);  // 1.4375
  EXPECT_EQ(round_once(f, false, 22, -4).encoding, 7u);  // 1.375
  EXPECT_EQ(round_once(f, false, 22, -4, {}, true).encoding, 7u);
  EXPECT_EQ(round_once(f, true, 3, -1).encoding, 0x88u);  // -1.5
  EXPECT_EQ(round_once(f, false, 7, -3).encoding, 7u);    // 0.875 itself
}

TEST(Round, ANegativeValueWithoutASignIsNanOrZeroAndInvalid) {
  for (const char* name : {"uhp", "e8m0", "ue4m3"}) {
    const FormatFields f = format(name).fields();
    for (const uint64_t source :
         {0xff800000u, 0xff7fffffu, 0xbf800000u, 0x80000001u}) {  // -infinity, finite, subnormal
      const Rounded r = convert_number(f, decode(fp32_fields, source), {});
      EXPECT_EQ(decode(f, r.encoding).cls, NumberClass::nan) << name << std::hex << source;
      EXPECT_TRUE(r.flags & flag::invalid);
      RoundingRule saturate;
      saturate.overflow = Overflow::saturate;
      EXPECT_EQ(convert_number(f, decode(fp32_fields, source), saturate).encoding, 0u) << name << std::hex << source;
    }
  }
}

TEST(Round, AnInexactResultFromTheHoleIsAnUnderflowEvenWhereItBecomesNormal) {
  // 1.9 in cfloat8_1_4_3:0 goes up to the least normal number 2; it is tiny before rounding, and after it to four bits
  // too.
  const FormatFields f = format("cfloat8_1_4_3:0").fields();
  const Rounded r = round_once(f, false, 243, -7);  // 1.8984375 rounds to 1.875 with unbounded exponents
  EXPECT_EQ(r.encoding, 8u);
  EXPECT_EQ(int(r.flags), flag::inexact | flag::underflow);
  EXPECT_EQ(int(round_once(f, false, 255, -7).flags), flag::inexact);  // 1.9921875 rounds to 2: not tiny after
}

TEST(WideInt, AdditionsCarryAndBorrowAcrossWords) {
  WideInt<4> x;
  x.add_shifted(false, 1, 200);
  x.add_shifted(true, 1, 0);
  EXPECT_EQ(x.word[0], ~uint64_t{0});
  EXPECT_EQ(x.word[3], 0xffu);
  EXPECT_FALSE(x.is_negative());
  x.add_shifted(false, 1, 0);
  EXPECT_EQ(x.length(), 201);
  x.add_shifted(true, (uint128{1} << 127) | 1, 100);
  x.add_shifted(true, 1, 200);
  EXPECT_TRUE(x.is_negative());
  x.negate();
  EXPECT_EQ(x.length(), 228);
  EXPECT_TRUE(x.any_below(101));
  EXPECT_FALSE(x.any_below(100));
}

/// BFDOT of Arm, answered by QEMU 7.2 (-cpu max): products, their sum and its sum with c, each rounded to odd. None of
/// these is the exact sum rounded to nearest or toward zero.
TEST(RoundToOdd, GivesWhatBfdotGives) {
  struct Case {
    uint64_t a[2], b[2], c, d;
  };
  constexpr Case cases[] = {{{0xc101, 0x0ae2}, {0xc164, 0x447b}, 0x3891676d, 0x42e5c80b},
                            {{0x3ccd, 0xd4f0}, {0xbe80, 0x8819}, 0x3dd8492c, 0x3dcb792d},
                            {{0x56ae, 0x413a}, {0x43cf, 0x3f51}, 0x3f7d2876, 0x5b0cb201},
                            {{0xbfa1, 0x4030}, {0xbb80, 0xc09a}, 0x8fd687d5, 0xc153abe1},
                            {{0x4466, 0xbc00}, {0xc32c, 0x3fc0}, 0x3bbd19e3, 0xc81a8801},
                            {{0x4347, 0x3ec0}, {0xc324, 0xbc4b}, 0x3e847f9d, 0xc6fef77f}};
  DotModel bfdot;
  bfdot.kernel = Kernel::ieee_tree;
  bfdot.a = bfdot.b = ieee_fields(8, 7);
  bfdot.c = bfdot.d = fp32_fields;
  bfdot.k = bfdot.block = 2;
  bfdot.output_rounding = Rounding::odd;
  bfdot.subnormals = Subnormals::flushed_signed;
  for (const Case& x : cases) {
    DotOperands in;
    in.a = x.a;
    in.b = x.b;
    in.c = x.c;
    in.k = 2;
    EXPECT_EQ(evaluate_dot(bfdot, in), x.d);
  }
}

TEST(DecimalText, IsThatOfMpfrsOwnPrintf) {
  CounterRng rng(11, 0);
  std::vector<double> values = {0.0,  -0.0, INFINITY,   -INFINITY, NAN, 1,           -1,     10,
                                1e-4, 1e-5, 0.00012345, 999999999, 1e9, 99999999.95, 5e-324, -1e300};
  for (int i = 0; i < 20000; ++i) {
    values.push_back(std::ldexp(double(int64_t(rng.next())), int(rng.below(180)) - 150));
    values.push_back(double(int64_t(rng.next() >> rng.below(60))) / 1000);
  }
  for (const double value : values)
    for (const int digits : {1, 2, 9, 17, 25}) {
      exact::Mpfr x(64);
      mpfr_set_d(x.get(), value, MPFR_RNDN);
      char wanted[96];
      mpfr_snprintf(wanted, sizeof wanted, "%.*Rg", digits, x.get());
      ASSERT_EQ(exact::decimal_text(x.get(), digits), wanted);
    }
}

}  // namespace
}  // namespace mmafuzz
