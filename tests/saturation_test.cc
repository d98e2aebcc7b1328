// What saturation makes of infinite operands, in every evaluation: IEEE 754-2019, 6.1, inside an operation, and OCP
// OFP8, 5.2.1, where its result is written (docs/case-text.md). A failure means that an oracle has a rule of its own.
#include <gtest/gtest.h>

#include "core/case_text.h"
#include "plan/registry.h"
#include "plan/request.h"

namespace mmafuzz {
namespace {

std::string result_of(const std::string& unit_name, const Op& op, const std::string& operands) {
  const std::string text = case_text_start + to_text(op) + "\n" + operands + "\n";
  CaseReader reader("hand", text);
  CaseBlock block;
  reader.next(block, 1);
  if (block.batch.size() != 1) return reader.error() ? reader.error()->to_string() : "no case";
  Outcomes outcomes;
  bind_or_fail(unit_name, op)->run(block.batch, outcomes);
  return to_hex(op.d, outcomes.results.get(0));
}

/// The greatest number, its negative and NaN of a destination.
struct Destination {
  const char *format, *greatest, *least, *nan, *zero;
};
constexpr Destination destinations[] = {{"e4m3", "7e", "fe", "7f", "00"},
                                        {"e5m2", "7b", "fb", "7e", "00"},
                                        {"fp16", "7bff", "fbff", "7e00", "0000"},
                                        {"bf16", "7f7f", "ff7f", "7fc0", "0000"}};

TEST(Saturation, OfAConversionTakesInfinityToTheGreatestAndKeepsNaN) {
  for (const Destination& d : destinations)
    for (const char* unit : {"exact", "exact:mpfr", "ieee", "bulk"}) {
      const Op op = op_from_text(std::string("convert from=fp32 to=") + d.format + " saturate=1");
      EXPECT_EQ(result_of(unit, op, "7f800000"), d.greatest) << unit << d.format;
      EXPECT_EQ(result_of(unit, op, "ff800000"), d.least) << unit << d.format;
      EXPECT_EQ(result_of(unit, op, "7fc00000"), d.nan) << unit << d.format;
      EXPECT_EQ(result_of(unit, op, "7f7fffff"), d.greatest) << unit << d.format;
    }
}

TEST(Saturation, OfAScalarOperationIsOfItsResult) {
  for (const char* unit : {"exact", "exact:mpfr", "ieee"}) {
    EXPECT_EQ(result_of(unit, op_from_text("scalar add format=fp16 saturate=1"), "7c00 3c00"), "7bff") << unit;
    EXPECT_EQ(result_of(unit, op_from_text("scalar add format=fp16 saturate=1"), "7c00 fc00"), "7e00") << unit;
    EXPECT_EQ(result_of(unit, op_from_text("scalar mul format=fp16 saturate=1"), "7c00 bc00"), "fbff") << unit;
    EXPECT_EQ(result_of(unit, op_from_text("scalar fma format=fp16 saturate=1"), "7c00 3c00 fc00"), "7e00") << unit;
    EXPECT_EQ(result_of(unit, op_from_text("scalar sqrt format=fp16 saturate=1"), "7c00"), "7bff") << unit;
  }
}

TEST(Saturation, OfADotIsWhereItsResultsAreWritten) {
  for (const Destination& d : destinations) {
    const Op op = op_from_text(std::string("dot a=fp16 b=fp16 c=fp16 d=") + d.format + " k=2 saturate=1");
    const auto expect = [&](const char* operands, const char* once, const char* serial, const char* fma) {
      for (const char* unit : {"exact", "exact:mpfr", "exact:bigint"})
        EXPECT_EQ(result_of(unit, op, operands), once) << unit << " " << d.format << " " << operands;
      for (const char* unit : {"ieee:serial", "ieee:pairwise", "ieee:serial.mpfr", "ieee:pairwise.mpfr"})
        EXPECT_EQ(result_of(unit, op, operands), serial) << unit << " " << d.format << " " << operands;
      for (const char* unit : {"ieee:fma", "ieee:fma.mpfr"})
        EXPECT_EQ(result_of(unit, op, operands), fma) << unit << " " << d.format << " " << operands;
    };
    expect("7c00 0000 | 3c00 0000 | 0000", d.greatest, d.greatest, d.greatest);
    expect("0000 0000 | 3c00 0000 | fc00", d.least, d.least, d.least);
    expect("7c00 0000 | 0000 0000 | 0000", d.nan, d.nan, d.nan);  // infinity times zero
    // Products of both signs: an order writes the first before it meets the second.
    expect("7c00 7c00 | 3c00 bc00 | 0000", d.nan, d.zero, d.least);
    // An infinite product and c: the product alone is written first, or is not.
    expect("7c00 0000 | 3c00 0000 | fc00", d.nan, d.least, d.nan);
  }
}

TEST(Saturation, OfARowIsOfFiniteSums) {
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp16 d=fp16 k=2");
  for (const char* kernel : {"fused_sum,fraction_bits=24", "exact_sum", "two_stage_sum,fraction_bits=24"})
    for (const char* prefix : {"model:", "twin:"}) {
      const std::string unit = std::string(prefix) + "custom?overflow=saturate,kernel=" + kernel;
      EXPECT_EQ(result_of(unit, op, "7bff 7bff | 7bff 7bff | 0000"), "7bff") << unit;
      EXPECT_EQ(result_of(unit, op, "7c00 0000 | 3c00 0000 | 0000"), "7c00") << unit;
      EXPECT_EQ(result_of(unit, op, "7c00 7c00 | 3c00 bc00 | 0000"), "7e00") << unit;
      EXPECT_FALSE(registry().bind(unit, op_from_text(op_words(op) + " saturate=1"))) << unit;
    }
}

}  // namespace
}  // namespace mmafuzz
