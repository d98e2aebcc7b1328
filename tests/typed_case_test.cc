// Cases as people type them, and TestFloat's lines. A failure means that a number is read as another one, in silence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/case_text.h"
#include "core/property.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "plan/testfloat.h"
#include "plan/typed_case.h"

namespace mmafuzz {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Op dot2 = dot_op("fp16", "fp32", "fp32", 2);

std::string refusal(const std::string& text, const Op& op = dot2) {
  try {
    return "it is read as " + typed_case(op, text).line;
  } catch (const BadInput& e) {
    return e.what();
  }
}

TEST(TypedCase, OfEncodingsIsLeftAsItIs) {
  for (const char* text : {"3c00 1000 | 7e00 0000|00000000", "3800 3800 | 0001 0001 | 3f800000 | 3f800000"}) {
    EXPECT_EQ(typed_case(dot2, text).line, text);
    EXPECT_THAT(typed_case(dot2, text).notes, IsEmpty());
  }
}

TEST(TypedCase, TakesDecimalsHexFloatsAndWords) {
  EXPECT_EQ(typed_case(dot2, "1.5 0.5 | 2 3 | 0").line, "3e00 3800 | 4000 4200 | 00000000");
  EXPECT_EQ(typed_case(dot2, "0x1.8p+3 -0x1p-24 | +1e1 .5 | -0").line, "4a00 8001 | 4900 3800 | 80000000");
  EXPECT_EQ(typed_case(dot2, "inf -inf | nan 65504. | 0x1p-149 | 1").line,
            "7c00 fc00 | 7e00 7bff | 00000001 | 3f800000");
  EXPECT_EQ(typed_case(dot2, "100 20 | 3 4 | 5").line, "5640 4d00 | 4200 4400 | 40a00000");
  const Op blocks = op_from_text("quantize from=fp32 to=e2m1 block=2 scale=e8m0 special=nan_scale");
  EXPECT_EQ(typed_case(blocks, "1. -6. | 1. 1. -6.").line, "3f800000 c0c00000 | 7f 2 f");
}

TEST(TypedCase, MayHoldEncodingsThatAreNoNumbers) {
  EXPECT_EQ(typed_case(dot2, "3c00 1.0 | 3C01 2. | 0").line, "3c00 3c00 | 3c01 4000 | 00000000");
}

TEST(TypedCase, SaysWhatWasRounded) {
  EXPECT_THAT(
      typed_case(dot2, "0.1 0.5 | 1. 1. | 0.1").notes,
      ElementsAre("a: 0.1 is rounded to fp16 2e66 = 0.0999755859", "c: 0.1 is rounded to fp32 3dcccccd = 0.100000001"));
}

/// Ties and their neighbours, further out than any binary format: 1 + 2^-11 is a tie of fp16.
TEST(TypedCase, RoundsOnceToNearestEven) {
  bool inexact = false;
  const auto code = [&](const std::string& word) { return encoding_of(format("fp16"), word, inexact); };
  EXPECT_EQ(code("1.00048828125"), 0x3c00u);
  EXPECT_TRUE(inexact);
  EXPECT_EQ(code("1.00048828125" + std::string(2000, '0') + "1"), 0x3c01u);
  EXPECT_EQ(code("1.00048828124" + std::string(2000, '9')), 0x3c00u);
  EXPECT_EQ(code("1.00146484375"), 0x3c02u);
  EXPECT_EQ(code("65519.99"), 0x7bffu);
  EXPECT_EQ(code("0x1p-25"), 0u);
  EXPECT_TRUE(inexact);
  EXPECT_EQ(code("0x1.000001p-25"), 1u);
  EXPECT_EQ(code("0x1p-24"), 1u);
  EXPECT_FALSE(inexact);
}

/// Beyond every format and beyond MPFR's exponents: too small is a zero of its sign, too great is refused.
TEST(TypedCase, ReadsOrRefusesWhatIsBeyondAllFormats) {
  for (const char* format_name : {"fp16", "fp32", "fp64", "e4m3", "e2m1", "tf32"})
    for (const char* exponent : {"999999999", "323228496", "99999", "5000"}) {
      bool inexact = false;
      const Format f = format(format_name);
      for (const std::string& plain : {std::string("1e"), std::string("0x1p")}) {
        EXPECT_EQ(encoding_of(f, plain + "-" + exponent, inexact), 0u) << plain << exponent;
        EXPECT_TRUE(inexact);
        EXPECT_EQ(encoding_of(f, "-" + plain + "-" + exponent, inexact), f.fields().encode_zero(true));
        EXPECT_THROW(encoding_of(f, plain + exponent, inexact), BadInput) << plain << exponent;
        EXPECT_THROW(encoding_of(f, "-" + plain + exponent, inexact), BadInput) << plain << exponent;
      }
    }
  EXPECT_THAT(refusal("1e999999999 1. | 2. 1. | 0."), HasSubstr("it is too large, the greatest is 65504"));
  EXPECT_THAT(refusal("1. 1. | 2. 1. | -1e+0099999999999"),
              HasSubstr("it is too large, the greatest is 3.40282347e+38; for infinity write -inf"));
  EXPECT_EQ(typed_case(dot2, "1e-9999999999 0e9999999999 | 2. 1. | 0x0.1p-12345678901").line,
            "0000 0000 | 4000 3c00 | 00000000");
}

TEST(TypedCase, RefusesWhatCouldBeTwoThings) {
  EXPECT_THAT(refusal("1.5 1000 | 2 3 | 0"), HasSubstr("'1000' could be a number or an encoding of fp16"));
  EXPECT_THAT(refusal("1.5 7e00 | 2 3 | 0"), HasSubstr("'7e00' could be a number or an encoding of fp16"));
  EXPECT_THAT(refusal("3c00 2 | 2. 3. | 0"), HasSubstr("write a point or a sign (2.)"));
  EXPECT_THAT(refusal("10 1. | 0. 0. | 0", dot_op("e4m3", "fp32", "fp32", 2)), HasSubstr("'10' could be"));
  // Both readings are zero.
  EXPECT_EQ(typed_case(dot2, "1.5 0000 | 2 3 | 0").line, "3e00 0000 | 4000 4200 | 00000000");
}

TEST(TypedCase, RefusesWhatIsNoNumberOfTheFormat) {
  for (const char* word : {"1_0", "--1", ".", "1e", "1e+", "0x", "0x1p", "1.2.3", "3c0", "3c001", "infinite"})
    EXPECT_THAT(refusal(std::string(word) + " 1. | 1. 1. | 0"), HasSubstr("is no number of fp16: expected")) << word;
  EXPECT_THAT(refusal("65520 1. | 1. 1. | 0"),
              HasSubstr("it is too large, the greatest is 65504; for infinity write inf"));
  EXPECT_THAT(refusal("1e400 1. | 1. 1. | 0"), HasSubstr("it is too large, the greatest is 65504"));
  bool inexact;
  const auto why = [&](const char* name, const std::string& word) {
    try {
      return to_hex(format(name), encoding_of(format(name), word, inexact));
    } catch (const BadInput& e) {
      return std::string(e.what());
    }
  };
  EXPECT_THAT(why("e4m3", "inf"), HasSubstr("it has no infinity"));
  EXPECT_THAT(why("e2m1", "nan"), HasSubstr("it has no NaN"));
  EXPECT_THAT(why("e8m0", "0"), HasSubstr("it has no zero"));
  EXPECT_THAT(why("e8m0", "-1"), HasSubstr("it has no negative numbers"));
  EXPECT_THAT(why("u8", "-1"), HasSubstr("it has no negative numbers"));
  EXPECT_THAT(why("s8", "1.5"), HasSubstr("it holds whole numbers"));
  EXPECT_THAT(why("s8", "128"), HasSubstr("it is too large, s8 holds -128 to 127"));
  EXPECT_EQ(why("s8", "-128"), "80");
  EXPECT_EQ(why("s8", "127"), "7f");
  EXPECT_EQ(why("u8", "255"), "ff");
  EXPECT_EQ(why("s32", "-2147483648"), "80000000");
  EXPECT_EQ(why("e8m0", "1"), "7f");
  EXPECT_EQ(why("fp64", "0.1"), "3fb999999999999a");
}

/// What is printed of any encoding is read as that encoding again.
TEST(TypedCase, ReadsWhatIsPrinted) {
  for (const char* name : {"fp16", "bf16", "e5m2", "e4m3"}) {
    const Format f = format(name);
    const Op op = [&] { return *parse_op("convert from=" + std::string(name) + " to=fp64"); }();
    const auto unit = registry().bind("ieee", op);
    ASSERT_TRUE(unit);
    for (uint64_t code = 0; code<uint64_t{1} << f.fields().width; code += f.fields().width> 8 ? 7 : 1) {
      Batch one(op);
      one.resize(1);
      one.inputs()[0].set(0, 0, code);
      Outcomes outcomes;
      (*unit)->run(one, outcomes);
      double value;
      const uint64_t bits = outcomes.results.get(0);
      std::memcpy(&value, &bits, sizeof value);
      if (!(value - value == 0)) continue;  // an infinity or NaN
      char text[64];
      std::snprintf(text, sizeof text, code % 2 ? "%a" : "%.17g", value);
      bool inexact;
      ASSERT_EQ(encoding_of(f, text, inexact), code) << name << " " << text;
      if (code % 2 == 0) continue;  // 17 digits are close, and need not be the number itself
      ASSERT_FALSE(inexact) << name << " " << text;
    }
  }
}

// ---- TestFloat ----

/// Lines in the format that testfloat_gen documents: operands, result and flags (01 inexact, 02 underflow, 04 overflow,
/// 08 infinite, 10 invalid) in hexadecimal. The first four are the example of its manual (doc/testfloat_gen.html,
/// release 3d); the values of the others are IEEE 754's, by hand.
struct Line {
  const char *function, *words, *line;
};
const Line testfloat_lines[] = {
    {"f64_add", "", "3F90EB5825D6851E C3E0080080000000 C3E0080080000000 01"},
    {"f64_add", "", "41E3C00000000000 C182024F8AE474A8 41E377F6C1D46E2D 01"},
    {"f64_add", "", "7FD80FFFFFFFFFFF 7FEFFFFFFFFFFF80 7FF0000000000000 05"},
    {"f64_add", "", "3FFFED6A25C534BE 3CA1000000020000 3FFFED6A25C534BF 01"},
    {"f16_add", "", "3C00 3C00 4000 00"},
    {"f16_add", "", "7BFF 7BFF 7C00 05"},
    {"f16_add", "round=toward_zero", "7BFF 7BFF 7BFF 05"},
    {"f16_sub", "", "7C00 7C00 FE00 10"},
    {"f16_sub", "round=down", "3C00 3C00 8000 00"},
    {"f32_mul", "", "7FA00000 3F800000 7FE00000 10"},
    {"f32_mul", "", "00800000 3F000000 00400000 00"},
    {"f32_mul", "tiny=before", "00800001 3F000000 00400000 03"},
    {"f32_mulAdd", "", "3F800001 3F800001 BF800002 28800000 00"},
    {"f64_div", "", "3FF0000000000000 0000000000000000 7FF0000000000000 08"},
    {"f64_div", "", "3FF0000000000000 4008000000000000 3FD5555555555555 01"},
    {"f64_sqrt", "", "4010000000000000 4000000000000000 00"},
    {"f32_rem", "", "40A00000 40000000 3F800000 00"},
    {"f16_eq", "", "0000 8000 1 00"},
    {"f16_eq", "", "7E00 7E00 0 00"},
    {"f16_lt", "", "3C00 4000 1 00"},
    {"f16_lt", "", "7E00 4000 0 10"},
    {"f16_le", "", "4000 4000 1 00"},
    {"f32_to_f16", "", "3F801000 3C00 01"},
    {"f32_to_f16", "round=up", "3F801000 3C01 01"},
    {"f64_to_f32", "", "7FF0000000000001 7FC00000 10"},
    {"f16_to_f32", "", "0001 33800000 00"},
    // Ties, signs and ends of the range, from 5.3.1, 5.8, 5.11 and 7.2 of the standard; testfloat_gen's default is
    // -notexact, and its answers to invalid conversions are those of one CPU.
    {"f32_to_i32", "", "40200000 00000002 00"},
    {"f32_to_i32", "inexact=1", "40200000 00000002 01"},
    {"f32_to_i32", "round=up inexact=1", "C0200000 FFFFFFFE 01"},
    {"f32_to_i32", "", "4F000000 7FFFFFFF 10"},
    {"f32_to_i32", "", "7FC00000 7FFFFFFF 10"},
    {"f64_to_ui64", "", "43EFFFFFFFFFFFFF FFFFFFFFFFFFF800 00"},
    {"f64_to_ui64_rx_near_even", "", "BFE0000000000000 0000000000000000 01"},
    {"f16_to_i64_r_minMag", "", "BE00 FFFFFFFFFFFFFFFF 00"},
    {"i32_to_f32", "", "7FFFFFFF 4F000000 01"},
    {"ui64_to_f64", "round=down", "FFFFFFFFFFFFFFFF 43EFFFFFFFFFFFFF 01"},
    {"i64_to_f16", "", "FFFFFFFFFFFEFFFF FC00 05"},
    {"f32_roundToInt", "", "3F000000 00000000 00"},
    {"f32_roundToInt", "inexact=1", "BF000000 80000000 01"},
    {"f16_roundToInt_r_near_maxMag", "", "B800 BC00 00"},
    {"f64_roundToInt_x", "round=down", "BFE0000000000000 BFF0000000000000 01"},
    {"f16_lt_quiet", "", "7E00 4000 0 00"},
    {"f16_lt_quiet", "", "7C01 4000 0 10"},
    {"f32_le_quiet", "", "80000000 00000000 1 00"},
    {"f64_eq_signaling", "", "7FF8000000000000 7FF8000000000000 0 10"},
};

TEST(TestFloat, LinesBecomeCasesThatCheckClean) {
  for (const Line& one : testfloat_lines) {
    const std::string op = op_of_testfloat(one.function, one.words);
    const std::string text = "mmafuzz-cases 1\nop " + op + "\n" + case_of_testfloat(one.function, one.line) + "\n";
    CaseReader reader("testfloat", text);
    CaseBlock block;
    ASSERT_TRUE(reader.next(block, 1)) << text << reader.error()->to_string();
    for (const char* name : {"ieee", "exact"}) {
      const auto unit = registry().bind(name, block.batch.op());
      ASSERT_TRUE(unit) << unit.refusal().reason;
      Outcomes outcomes;
      (*unit)->run(block.batch, outcomes);
      EXPECT_TRUE(same_result(block.batch, 0, block.expected.get(0), outcomes.results.get(0))) << text;
      ASSERT_TRUE(block.has_flags[0]);
      if (outcomes.flags.empty()) continue;
      EXPECT_TRUE(same_flags(block.batch, 0, outcomes.flags[0], block.expected_flags[0])) << text;
    }
  }
}

TEST(TestFloat, WhatIsNoLineOrFunctionIsRefused) {
  for (const char* function :
       {"", "f16", "f80_add", "f16_", "f16_to_", "f16_to_i16", "i32_to_i64", "i32_add", "extF80_add", "f128_to_i32",
        "f16_to_extF80", "f16_add_x", "f16_eq_r_min", "f16_roundToInt_r_odd"})
    EXPECT_THROW(op_of_testfloat(function, ""), BadInput) << function;
  for (const char* line : {"", "3C00", "3C00 3C00 4000", "3C00 3C00 4000 00 00"})
    EXPECT_THROW(case_of_testfloat("f16_add", line), BadInput) << line;
  EXPECT_THROW(case_of_testfloat("f16_eq", "3C00 3C00 2 00"), BadInput);
}

}  // namespace
}  // namespace mmafuzz
