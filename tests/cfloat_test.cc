// Both readings of every question that Tesla's text leaves open (docs/cfloat.md): results worked out by hand from the
// readings, evaluated by our kernel and by MPFR.
#include <gtest/gtest.h>

#include <fstream>

#include "core/registry.h"
#include "oracles/exact/mpfr_reference.h"
#include "arithmetic/ieee_operations.h"
#include "oracles/families.h"

namespace mmafuzz {
namespace {

struct Reading {
  int number;
  const char* op;  ///< after "convert "
  uint64_t source, result;
  int flags;
};

constexpr Reading readings[] = {
    {1, "from=fp32 to=cfloat8_1_4_3:7 round=nearest_even", 0x3b800000, 0x04, 0},
    {1, "from=fp32 to=cfloat8_1_4_3:7?denormal=gradual round=nearest_even", 0x3b800000, 0x02, 0},
    {2, "from=fp32 to=cfloat8_1_4_3:7 round=nearest_even", 0x3c380000, 0x08, 0x02},
    {2, "from=fp32 to=cfloat8_1_4_3:7?hole=tie_down round=nearest_even", 0x3c380000, 0x07, 0x02},
    {3, "from=fp32 to=cfloat8_1_4_3:7 round=nearest_even", 0xc4000000, 0xff, 0x04},
    {3, "from=fp32 to=cfloat8_1_4_3:7?clamp=positive round=nearest_even", 0xc4000000, 0x7f, 0x04},
    {3, "from=fp32 to=cfloat8_1_4_3:7 round=nearest_even", 0xff800000, 0xff, 0x04},
    {3, "from=fp32 to=cfloat8_1_4_3:7?clamp=positive round=nearest_even", 0xff800000, 0x7f, 0x04},
    {4, "from=fp32 to=cfloat8_1_4_3:7 round=nearest_even", 0xffc00000, 0x7f, 0x10},
    {4, "from=fp32 to=cfloat8_1_4_3:7?nan=signed round=nearest_even", 0xffc00000, 0xff, 0x10},
    {4, "from=e4m3fnuz to=cfloat8_1_4_3:7?nan=signed round=nearest_even", 0x80, 0x7f,
     0x10},  // the one NaN, without a sign
    {4, "from=e4m3 to=cfloat8_1_4_3:7?nan=signed round=nearest_even", 0xff, 0xff, 0x10},
    {5, "from=fp32 to=cfloat8_1_4_3:7 round=nearest_even", 0xb5800000, 0x80, 0x02},
    {5, "from=fp32 to=cfloat8_1_4_3:7?zero=positive round=nearest_even", 0xb5800000, 0x00, 0x02},
    {5, "from=cfloat8_1_4_3:7 to=fp32 round=nearest_even", 0x80, 0x80000000, 0},
    {5, "from=cfloat8_1_4_3:7?zero=positive to=fp32 round=nearest_even", 0x80, 0, 0},
    {6, "from=fp32 to=uhp round=nearest_even", 0xbf800000, 0xfe00, 0x10},
    {6, "from=fp32 to=uhp?negative=zero round=nearest_even", 0xbf800000, 0x0000, 0x10},
    {6, "from=fp32 to=uhp?negative=absolute round=nearest_even", 0xbf800000, 0x7c00, 0},
    {6, "from=fp32 to=uhp round=nearest_even", 0x80000000, 0x0000, 0},
    {6, "from=fp32 to=uhp?negative=absolute round=nearest_even", 0xff800000, 0xfc00, 0},
    {7, "from=fp32 to=cfloat8_1_4_3:7 round=nearest_even", 0x3f880000, 0x38, 0},
    {7, "from=fp32 to=cfloat8_1_4_3:7 round=nearest_away", 0x3f880000, 0x39, 0},
    {10, "from=fp32 to=cfloat8_1_4_3:7 round=nearest_even", 0x43f08000, 0x7f, 0},
    {10, "from=fp32 to=cfloat8_1_4_3:7?overflow=before round=nearest_even", 0x43f08000, 0x7f, 0x04},
    {11, "from=fp32 to=cfloat8_1_4_3:7 round=nearest_even", 0x3a800000, 0x01, 0},
    {11, "from=fp32 to=cfloat8_1_4_3:7?underflow=tiny round=nearest_even", 0x3a800000, 0x01, 0x02},
    {11, "from=fp32 to=cfloat8_1_4_3:7 round=nearest_even", 0x3c7f0000, 0x08, 0},
    {11, "from=fp32 to=cfloat8_1_4_3:7 round=nearest_even tiny=before", 0x3c7f0000, 0x08, 0x02},
    {11, "from=fp32 to=cfloat8_1_4_3:7?inexact=raised round=nearest_even", 0x3f880000, 0x38, 0x01},
    {12, "from=fp32 to=uhp round=nearest_even", 0x307ff800, 0x0400, 0},
    {12, "from=fp32 to=uhp?flush=before round=nearest_even", 0x307ff800, 0x0000, 0x02},
    {13, "from=fp32 to=cfloat8_1_4_3:7 round=nearest_even", 0x44000000, 0x7f, 0x04},
    {13, "from=fp32 to=cfloat8_1_4_3:7?conversions=silent round=nearest_even", 0x44000000, 0x7f, 0},
    {14, "from=cfloat8_1_4_3:7 to=cfloat8_1_4_3:8 round=nearest_even", 0x01, 0x02, 0x20},
    {14, "from=cfloat8_1_4_3:7 to=cfloat8_1_4_3:6 round=nearest_even", 0x01, 0x00, 0x22},
    {14, "from=cfloat8_1_4_3:6 to=cfloat8_1_4_3:7 round=nearest_even", 0x7f, 0x7f, 0x04},
    {16, "from=fp32 to=cfloat8_1_4_3:7 round=nearest_even", 0x7f800000, 0x7f, 0x04},
    {16, "from=fp32 to=cfloat8_1_4_3:7?infinity=invalid round=nearest_even", 0x7f800000, 0x7f, 0x10},
    {16, "from=uhp to=shp:15 round=nearest_even", 0xfc00, 0x7fff, 0x04},
    {16, "from=uhp to=shp:15 round=nearest_even", 0xfe00, 0x7fff, 0x10},
    {17, "from=fp32 to=uhp round=nearest_even", 0x7fc00000, 0xfe00, 0x10},
    {17, "from=fp32 to=uhp?invalid=signaling_nan round=nearest_even", 0x7fc00000, 0xfe00, 0},
    {17, "from=uhp?invalid=signaling_nan to=fp32 round=nearest_even", 0xfc01, 0x7fc00000, 0x10},
    {17, "from=uhp?invalid=signaling_nan to=fp32 round=nearest_even", 0xfe00, 0x7fc00000, 0},
    {18, "from=fp32 to=shp:15 round=nearest_even", 0x37800000, 0x0200, 0},
    {18, "from=fp32 to=shp:15?denormal=gradual round=nearest_even", 0x37800000, 0x0100, 0},
    {19, "from=fp32 to=uhp round=nearest_even", 0xb0000000, 0xfe00, 0x10},
    {19, "from=fp32 to=uhp?tiny_negative=flushed round=nearest_even", 0xb0000000, 0x0000, 0x02},
    {19, "from=fp32 to=uhp?tiny_negative=flushed round=nearest_even", 0x80000001, 0x0000, 0x22},  // a denormal operand
    {19, "from=fp32 to=uhp?tiny_negative=flushed round=nearest_even", 0xb0800000, 0xfe00,
     0x10},  // minus the least normal number
    {19, "from=fp32 to=uhp?tiny_negative=flushed round=nearest_even", 0xb07ff800, 0xfe00, 0x10},  // rounds to it
    {19, "from=fp32 to=uhp?tiny_negative=flushed round=toward_zero", 0xb07ff800, 0x0000, 0x02},
    {19, "from=fp32 to=uhp?tiny_negative=flushed round=up", 0xb07ff800, 0x0000, 0x02},
    {19, "from=fp32 to=uhp?tiny_negative=flushed round=down", 0xb07ff800, 0xfe00, 0x10},
    {19, "from=fp32 to=uhp?tiny_negative=flushed,flush=before round=nearest_even", 0xb07ff800, 0x0000, 0x02},
    {19, "from=fp32 to=uhp?tiny_negative=flushed,negative=zero round=nearest_even", 0xb0000000, 0x0000, 0x02},
    {19, "from=fp32 to=uhp?tiny_negative=flushed,negative=zero round=nearest_even", 0xbf800000, 0x0000, 0x10},
    {19, "from=fp32 to=uhp?tiny_negative=flushed,negative=absolute round=nearest_even", 0xb0000000, 0x0000, 0x02},
    {19, "from=fp32 to=uhp?tiny_negative=flushed,negative=absolute round=nearest_even", 0xbf800000, 0x7c00, 0},
    {19, "from=fp32 to=uhp?tiny_negative=flushed round=nearest_even", 0xff800000, 0xfe00, 0x10},
    {19, "from=fp32 to=uhp?tiny_negative=flushed round=nearest_even", 0x80000000, 0x0000, 0},
};

Op conversion(const std::string& text) {
  const Result<Op> op = parse_op("convert " + text);
  EXPECT_TRUE(op) << text << (op ? "" : op.refusal().reason);
  return op ? *op : Op();
}

class CfloatReading : public testing::TestWithParam<Reading> {};
INSTANTIATE_TEST_SUITE_P(Text, CfloatReading, testing::ValuesIn(readings));

TEST_P(CfloatReading, GivesTheResultOfItsWording) {
  const Op op = conversion(GetParam().op);
  const Registry registry = oracle_registry();
  Batch batch(op);
  batch.resize(1);
  batch.inputs()[0].set(0, 0, GetParam().source);
  for (const char* name : {"ieee", "exact:mpfr"}) {
    Outcomes outcomes;
    (*registry.bind(name, op))->run(batch, outcomes);
    EXPECT_EQ(outcomes.results.get(0), GetParam().result)
        << name << ", question " << GetParam().number << ": " << GetParam().op;
    EXPECT_EQ(int(outcomes.flags[0]), GetParam().flags)
        << name << ", question " << GetParam().number << ": " << GetParam().op;
  }
}

/// One stochastic conversion with the random bits given; MPFR must agree.
uint64_t drawn(const char* format_name, uint64_t source, int random_bits, uint32_t random, Threshold threshold,
               int& flags) {
  const Format to = format(format_name);
  RoundingRule rule;
  rule.rounding = Rounding::stochastic;
  rule.random_bits = static_cast<uint8_t>(random_bits);
  rule.random = random;
  rule.threshold = threshold;
  const Rounded ours = convert_number(to.fields(), decode(fp32_fields, source), rule);
  exact::Mpfr x(64);
  exact::set_from_encoding(x.get(), format("fp32"), source);
  EXPECT_EQ(exact::round_mpfr(to, x.get(), rule).encoding, ours.encoding);
  flags = ours.flags;
  return ours.encoding;
}

TEST(CfloatStochastic,
     TheComparisonAndTheNumberOfBitsAreParameters) {  // question 8: 1 + 1/32 lies a quarter of the way up
  int flags;
  EXPECT_EQ(drawn("cfloat8_1_4_3:7", 0x3f840000, 1, 0, Threshold::floor, flags), 0x38u);
  EXPECT_EQ(drawn("cfloat8_1_4_3:7", 0x3f840000, 1, 0, Threshold::ceiling, flags), 0x39u);
  EXPECT_EQ(drawn("cfloat8_1_4_3:7", 0x3f840000, 1, 0, Threshold::nearest, flags), 0x39u);
  EXPECT_EQ(drawn("cfloat8_1_4_3:7", 0x3f840000, 2, 0, Threshold::floor, flags), 0x39u);
  EXPECT_EQ(drawn("cfloat8_1_4_3:7", 0x3f840000, 2, 1, Threshold::ceiling, flags), 0x38u);
}

TEST(CfloatStochastic, TheHoleIsAGapOfItsOwnWidth) {  // question 9: 2^-7 lies one ninth of the way from 7 to 16 units
  int flags;
  size_t up = 0;
  for (uint32_t r = 0; r < 512; ++r) up += drawn("cfloat8_1_4_3:7", 0x3c000000, 9, r, Threshold::floor, flags) == 8;
  EXPECT_EQ(up, 512u / 9);
  EXPECT_EQ(drawn("cfloat8_1_4_3:7?stochastic_hole=nearest", 0x3c000000, 9, 0, Threshold::floor, flags), 7u);
}

TEST(CfloatStochastic, AboveTheGreatestNumberBothWaysClampAndOneOverflows) {  // question 9, second half: 481
  int flags;
  EXPECT_EQ(drawn("cfloat8_1_4_3:7", 0x43f08000, 24, 0, Threshold::floor, flags), 0x7fu);
  EXPECT_EQ(flags, flag::overflow);
  EXPECT_EQ(drawn("cfloat8_1_4_3:7", 0x43f08000, 24, (1u << 24) - 1, Threshold::floor, flags), 0x7fu);
  EXPECT_EQ(flags, 0);
}

TEST(Cfloat, Bf16ConvertsTheSameThroughFp32) {  // question 15: no input tells the readings apart
  const FormatFields bf16 = format("bf16").fields();
  for (const char* name : {"shp:0", "shp:15", "shp:63", "uhp", "cfloat8_1_4_3:7", "cfloat8_1_5_2:63"}) {
    const FormatFields to = format(name).fields();
    for (uint64_t source = 0; source < 65536; ++source) {
      const Rounded direct = convert_number(to, decode(bf16, source), {});
      const Rounded through =
          convert_number(to, decode(fp32_fields, convert_number(fp32_fields, decode(bf16, source), {}).encoding), {});
      if (decode(bf16, source).cls == NumberClass::nan) continue;  // the first of two steps quiets it
      ASSERT_EQ(direct.encoding, through.encoding) << name << std::hex << source;
      ASSERT_EQ(int(direct.flags), int(through.flags)) << name << std::hex << source;
    }
  }
}

/// In every mode, on every bf16 and every fp16 number: bf16 reaches far below UHP's least normal number, fp16 has its
/// ulps.
TEST(Cfloat, TinyNegativesAreFlushedAlikeByMpfr) {
  for (const char* to :
       {"uhp?tiny_negative=flushed", "uhp?tiny_negative=flushed,flush=before",
        "uhp?tiny_negative=flushed,negative=zero,inexact=raised", "uhp?tiny_negative=flushed,negative=absolute"}) {
    for (const char* from : {"bf16", "fp16"}) {
      Op op = conversion(std::string("from=") + from + " to=" + to + " round=nearest_even");
      size_t flushed = 0;
      for (const Rounding mode : {Rounding::nearest_even, Rounding::toward_zero, Rounding::up, Rounding::down,
                                  Rounding::nearest_away, Rounding::stochastic}) {
        op.rounding = mode;
        op.random_bits = 3;
        for (const bool saturate : {false, true}) {
          op.saturate = saturate;
          for (uint64_t source = 0; source < 65536; ++source) {
            const Rounded ours =
                convert_number(op.d.fields(), decode(op.a.fields(), source), op.rounding_rule_of(source));
            const exact::MpfrRounded theirs = exact::mpfr_convert(op, source);
            ASSERT_EQ(ours.encoding, theirs.encoding) << to_text(op) << " " << std::hex << source;
            ASSERT_EQ(int(ours.flags), int(theirs.flags)) << to_text(op) << " " << std::hex << source;
            flushed += source > 0x8000 && ours.encoding == 0 && (ours.flags & flag::underflow);
          }
        }
      }
      EXPECT_EQ(flushed > 0, from == std::string("bf16")) << to;  // fp16's least number, 2^-24, is a normal one of UHP
    }
  }
}

TEST(Cfloat, BadSwitchesAndBiasesNameWhatIsKnown) {
  for (const auto& [name, part] :
       {std::pair{"cfloat8_1_4_3:64", "0 to 63"}, std::pair{"cfloat8_1_4_3:7?denormal=flat", "denormal=gradual"},
        std::pair{"uhp?denormal=gradual", "negative=absolute"}, std::pair{"cfloat8_1_4_3:7?negative=zero", "no switch"},
        std::pair{"shp:7?clamp=signed,", "no switch"}, std::pair{"shp:7?zero=signed,zero=positive", "'zero' twice"},
        std::pair{"fp16?clamp=positive", "has none"}, std::pair{"cfloat9:3", "unknown format"}}) {
    const Result<Format> parsed = parse_format(name);
    ASSERT_FALSE(parsed) << name;
    EXPECT_NE(parsed.refusal().reason.find(part), std::string::npos) << parsed.refusal().reason;
  }
}

TEST(Cfloat, ThePageNamesEverySwitch) {
  std::ifstream page(MMAFUZZ_SOURCE_DIR "/docs/cfloat.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  for (const char* name :
       {"denormal=literal", "hole=tie_up", "clamp=signed", "nan=positive", "zero=signed", "negative=nan",
        "stochastic_hole=gap", "tiny_negative=invalid", "overflow=after", "underflow=inexact", "inexact=none",
        "flush=after", "conversions=flagged", "infinity=overflow", "invalid=any_nan"})
    EXPECT_NE(text.find(name), std::string::npos) << name;
}

}  // namespace
}  // namespace mmafuzz
