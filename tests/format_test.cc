// Formats against the tables of their standards: greatest, least normal and least subnormal numbers, special encodings.
#include "core/format.h"

#include <gtest/gtest.h>

#include <cmath>

#include "arithmetic/corner_encodings.h"
#include "arithmetic/counter_rng.h"
#include "arithmetic/ieee_operations.h"
#include "core/property.h"
#include "tests/test_names.h"

namespace mmafuzz {
namespace {

/// The value of an encoding of at most 24 significand bits, as a double (exact).
double value(const Format& f, uint64_t encoding) {
  const Number n = decode(f.fields(), encoding);
  if (n.cls == NumberClass::nan) return NAN;
  if (n.cls == NumberClass::infinity) return n.negative ? -INFINITY : INFINITY;
  const double magnitude = std::ldexp(static_cast<double>(n.significand), n.exponent);
  return n.negative ? -magnitude : magnitude;
}

struct Golden {
  const char* name;
  uint64_t greatest;
  double greatest_value, least_normal, least_subnormal;
};

class FormatTable : public testing::TestWithParam<Golden> {};

// IEEE 754-2019 table 3.5; OCP OFP8 1.0 table 1; OCP MX 1.0 tables 1 to 3; AMD CDNA3 ISA (fnuz); PTX ISA (tf32);
// IEEE P3109 interim report (binary8pP: bias 2^(7-P), the code below +infinity, or the highest one, is the greatest);
// Tesla Dojo configurable formats (the literal reading of subnormals).
INSTANTIATE_TEST_SUITE_P(
    Standards, FormatTable,
    testing::Values(
        Golden{"fp16", 0x7bff, 65504, 0x1p-14, 0x1p-24}, Golden{"bf16", 0x7f7f, 0x1.fep127, 0x1p-126, 0x1p-133},
        Golden{"fp32", 0x7f7fffff, 0x1.fffffep127, 0x1p-126, 0x1p-149},
        Golden{"fp64", 0x7fefffffffffffff, 0x1.fffffffffffffp1023, 0x1p-1022, 0x1p-1074},
        Golden{"tf32", 0x7f7fe000, 0x1.ffcp127, 0x1p-126, 0x1p-136}, Golden{"e4m3", 0x7e, 448, 0x1p-6, 0x1p-9},
        Golden{"e5m2", 0x7b, 57344, 0x1p-14, 0x1p-16}, Golden{"e4m3fnuz", 0x7f, 240, 0x1p-7, 0x1p-10},
        Golden{"binary8p2se", 0x7e, 0x1p31, 0x1p-31, 0x1p-32}, Golden{"binary8p3se", 0x7e, 49152, 0x1p-15, 0x1p-17},
        Golden{"binary8p4se", 0x7e, 224, 0x1p-7, 0x1p-10}, Golden{"binary8p5se", 0x7e, 15, 0x1p-3, 0x1p-7},
        Golden{"binary8p6se", 0x7e, 3.875, 0x1p-1, 0x1p-6}, Golden{"binary8p7se", 0x7e, 1.96875, 1, 0x1p-6},
        Golden{"binary8p2sf", 0x7f, 0x1.8p31, 0x1p-31, 0x1p-32}, Golden{"binary8p3sf", 0x7f, 57344, 0x1p-15, 0x1p-17},
        Golden{"binary8p4sf", 0x7f, 240, 0x1p-7, 0x1p-10}, Golden{"binary8p5sf", 0x7f, 15.5, 0x1p-3, 0x1p-7},
        Golden{"binary8p6sf", 0x7f, 3.9375, 0x1p-1, 0x1p-6}, Golden{"binary8p7sf", 0x7f, 1.984375, 1, 0x1p-6},
        Golden{"e5m2fnuz", 0x7f, 57344, 0x1p-15, 0x1p-17}, Golden{"e3m2", 0x1f, 28, 0x1p-2, 0x1p-4},
        Golden{"e2m3", 0x1f, 7.5, 1, 0x1p-3}, Golden{"e2m1", 0x7, 6, 1, 0.5},
        Golden{"ue4m3", 0x7e, 448, 0x1p-6, 0x1p-9}, Golden{"cfloat8_1_4_3:0", 0x7f, 0x1.ep15, 2, 0x1p-3},
        Golden{"cfloat8_1_4_3:63", 0x7f, 0x1.ep-48, 0x1p-62, 0x1p-66},
        Golden{"cfloat8_1_5_2:0", 0x7f, 0x1.cp31, 2, 0x1p-2},
        Golden{"cfloat8_1_5_2:63", 0x7f, 0x1.cp-32, 0x1p-62, 0x1p-65},
        Golden{"cfloat8_1_4_3:7?denormal=gradual", 0x7f, 0x1.ep8, 0x1p-6, 0x1p-9},
        Golden{"shp:15", 0x7fff, 0x1.ffcp16, 0x1p-14, 0x1p-25}, Golden{"uhp", 0xfbff, 0x1.ffcp31, 0x1p-30, 0}));

TEST_P(FormatTable, HasTheNumbersOfItsStandard) {
  const Format f = format(GetParam().name);
  const FormatFields& fields = f.fields();
  EXPECT_EQ(fields.encode_greatest(false), GetParam().greatest);
  EXPECT_EQ(value(f, GetParam().greatest), GetParam().greatest_value);
  EXPECT_EQ(value(f, fields.in_container(uint64_t{1} << fields.fraction_bits)), GetParam().least_normal);
  EXPECT_EQ(value(f, fields.in_container(1)), GetParam().least_subnormal);
}

TEST(Formats, E8m0IsAPowerOfTwoWithOneNan) {
  const Format f = format("e8m0");
  EXPECT_EQ(value(f, 0x00), 0x1p-127);
  EXPECT_EQ(value(f, 0x7f), 1.0);
  EXPECT_EQ(value(f, 0xfe), 0x1p127);
  EXPECT_TRUE(std::isnan(value(f, 0xff)));
}

TEST(Formats, SpecialEncodingsAreThoseOfTheStandards) {
  struct Special {
    const char* name;
    uint64_t encoding;
    NumberClass cls;
  };
  for (const Special& s : {Special{"e4m3", 0x7f, NumberClass::nan},
                           Special{"e4m3", 0xff, NumberClass::nan},
                           Special{"e4m3", 0x78, NumberClass::finite},
                           Special{"e5m2", 0x7c, NumberClass::infinity},
                           Special{"e5m2", 0x7d, NumberClass::nan},
                           Special{"e4m3fnuz", 0x80, NumberClass::nan},
                           Special{"binary8p3se", 0x7f, NumberClass::infinity},
                           Special{"binary8p3se", 0xff, NumberClass::infinity},
                           Special{"binary8p7se", 0xff, NumberClass::infinity},
                           Special{"binary8p3se", 0x80, NumberClass::nan},
                           Special{"binary8p3se", 0x81, NumberClass::finite},
                           Special{"binary8p3sf", 0x80, NumberClass::nan},
                           Special{"binary8p3sf", 0xff, NumberClass::finite},
                           Special{"e5m2fnuz", 0x80, NumberClass::nan},
                           Special{"e4m3fnuz", 0xff, NumberClass::finite},
                           Special{"fp16", 0x7c00, NumberClass::infinity},
                           Special{"fp16", 0xfc01, NumberClass::nan},
                           Special{"bf16", 0x7f80, NumberClass::infinity},
                           Special{"tf32", 0x7f800000, NumberClass::infinity},
                           Special{"tf32", 0x7f801fff, NumberClass::infinity},
                           Special{"tf32", 0x7f802000, NumberClass::nan},
                           Special{"ue4m3", 0x7f, NumberClass::nan},
                           Special{"ue4m3", 0xff, NumberClass::nan},
                           Special{"uhp", 0xfc00, NumberClass::infinity},
                           Special{"uhp", 0xfe00, NumberClass::nan},
                           Special{"uhp", 0x0001, NumberClass::zero},
                           Special{"e2m1", 0xf, NumberClass::finite},
                           Special{"e3m2", 0x3f, NumberClass::finite},
                           Special{"cfloat8_1_4_3:7", 0xff, NumberClass::finite}})
    EXPECT_EQ(decode(format(s.name).fields(), s.encoding).cls, s.cls) << s.name << " " << std::hex << s.encoding;
}

TEST(Formats, Ue4m3IgnoresItsSignBit) { EXPECT_EQ(value(format("ue4m3"), 0xb8), 1.0); }

TEST(Formats, BadNamesAreRefusedWithTheReason) {
  EXPECT_EQ(parse_format("fp17").refusal().kind, Refusal::Kind::unknown);
  EXPECT_FALSE(parse_format("cfloat8_1_4_3"));
  EXPECT_FALSE(parse_format("cfloat8_1_4_3:64"));
  EXPECT_FALSE(parse_format("cfloat8_1_4_3:-1"));
  EXPECT_FALSE(parse_format("cfloat8_1_4_3:7x"));
  EXPECT_FALSE(parse_format("fp16:3"));
  EXPECT_FALSE(parse_format("fp16?denormal=gradual"));
  EXPECT_NE(parse_format("shp:64").refusal().reason.find("0 to 63"), std::string::npos);
}

class EveryFormat : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Registry, EveryFormat, testing::ValuesIn(format_names()), test_name);

TEST(Formats, NumPysNamesAreAnsweredWithOurs) {
  for (const auto& [dtype, name] :
       {std::pair{"float16", "fp16"}, {"bfloat16", "bf16"}, {"float8_e4m3fn", "e4m3"}, {"int8", "s8"}}) {
    const std::string expected = std::string("unknown format '") + dtype + "'; NumPy's " + dtype + " is " + name;
    EXPECT_TRUE(parse_format(dtype).refusal().reason.starts_with(expected)) << parse_format(dtype).refusal().reason;
  }
}

TEST_P(EveryFormat, SpecialsAndZerosAreToldWithoutDecoding) {
  const Format f = format(GetParam());
  const FormatFields& fields = f.fields();
  if (fields.integer) GTEST_SKIP() << "integers";
  Op op;
  op.kind = OpKind::convert;
  op.a = op.d = f;
  Batch batch(op);
  // All encodings where they are few; else the ends of every exponent, with noise.
  const size_t count = fields.width <= 16 ? size_t{1} << fields.width : 1 << 16;
  batch.resize(count);
  CounterRng rng(1, 0);
  for (size_t i = 0; i < count; ++i) {
    uint64_t encoding = i;
    if (fields.width > 16)
      encoding = (rng.next() & fields.container_mask()) | (i % 3 ? 0 : fields.encode_infinity(false));
    if (fields.width > 16 && i % 5 == 0) encoding &= ~fields.in_container(fields.fraction_mask());
    batch.inputs()[0].set(i, 0, encoding);
  }
  SpecialOperands special(batch);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t encoding = batch.inputs()[0].get(i);
    const Number n = decode(fields, encoding);
    const bool expected = n.cls == NumberClass::infinity || n.cls == NumberClass::nan;
    ASSERT_EQ(is_special(fields, encoding), expected) << std::hex << encoding;
    ASSERT_EQ(special[i], expected) << std::hex << encoding;
    ASSERT_EQ(is_zero(fields, encoding), n.cls == NumberClass::zero && !n.subnormal) << std::hex << encoding;
  }
}

TEST_P(EveryFormat, EveryEncodingUpTo16BitsRoundTripsThroughItsValue) {
  const Format f = format(GetParam());
  const FormatFields& fields = f.fields();
  if (fields.width > 16 || fields.integer) GTEST_SKIP() << "wider than 16 bits, or integers";
  for (uint64_t e = 0; e <= fields.container_mask(); ++e) {
    const Number n = decode(fields, e);
    const Rounded r = convert_number(fields, n, {});
    if (n.cls == NumberClass::nan) {
      EXPECT_EQ(decode(fields, r.encoding).cls, NumberClass::nan);
    } else if (fields.sign == SignField::ignored) {
      EXPECT_EQ(r.encoding, e & 0x7f);
    } else if (fields.subnormals == SubnormalRule::flushed && n.cls == NumberClass::zero) {
      EXPECT_EQ(r.encoding, 0u);
    } else {
      EXPECT_EQ(r.encoding, e) << std::hex << e;
      EXPECT_EQ(r.flags & ~flag::denormal_operand, 0) << std::hex << e;
    }
  }
}

TEST(CornerEncodings, ANumberThatIsMovedKeepsSignAndFraction) {
  EXPECT_EQ(with_exponent(fp16_fields, 0x3e00, 3), 0x4a00u);  // 1.5
  EXPECT_EQ(with_exponent(fp16_fields, 0x0003, 0), 0x3e00u);  // subnormal: 1.5 * 2^-23
  EXPECT_EQ(with_exponent(fp16_fields, 0x8005, 1), 0xc100u);  // -1.25 * 2^-22
  EXPECT_EQ(with_exponent(fp16_fields, 0x0001, 0), 0x3c00u);
}

}  // namespace
}  // namespace mmafuzz
