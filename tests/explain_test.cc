// Explanations: the walk-through that a paper prints, bits that add up, neighbours of a rounding. A failure means that
// a person would be shown arithmetic that did not happen.
#include <gmock/gmock.h>

#include <climits>
#include <cmath>

#include "core/case_text.h"
#include "oracles/families.h"
#include "search/structured_generator.h"
#include "triage/explain/explain.h"
#include "triage/explain/explanation_text.h"
#include "triage/explain/first_difference.h"
#include "triage/explain/number_text.h"
#include "tests/named_units.h"

namespace mmafuzz {
namespace {

using testing::HasSubstr;
using testing::Not;

Batch cases_of(const std::string& op, const std::string& lines) {
  CaseReader reader("test", "mmafuzz-cases 1\nop " + op + "\n" + lines + "\n");
  CaseBlock block;
  EXPECT_TRUE(reader.next(block, 100));
  EXPECT_FALSE(reader.error());
  return block.batch;
}

ExplainedCase explained(const std::string& op, const std::string& line, const std::vector<std::string>& names) {
  static const Registry registry = oracle_registry();
  const Batch batch = cases_of(op, line);
  std::vector<std::unique_ptr<Unit>> bound;
  std::vector<const Unit*> units;
  for (const std::string& name : names) {
    Result<std::unique_ptr<Unit>> unit = registry.bind(name, batch.op());
    EXPECT_TRUE(bool(unit)) << name;
    bound.push_back(std::move(*unit));
    units.push_back(bound.back().get());
  }
  return explain_case(batch, 0, units);
}

/// The value of a string of bits whose first digit has weight 2^top; exact up to 53 digits.
double value_of(const std::string& bits, int top) {
  double value = 0;
  for (size_t i = 0; i < bits.size(); ++i)
    if (bits[i] == '1') value += std::ldexp(1.0, top - static_cast<int>(i));
  return value;
}

double number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }
double power(int exponent) { return std::ldexp(1.0, exponent); }

constexpr const char* dot4 = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4";
/// The sources of all addends but c and partial sums.
std::vector<std::string> products_of(const ExplainedUnit& unit) {
  std::vector<std::string> sources;
  for (const ExplainedStep& step : unit.steps)
    for (const ExplainedAddend& addend : step.addends)
      if (addend.source.starts_with("a")) sources.push_back(addend.source);
  return sources;
}

// Valpey et al. 2025, table 5, with b1 at 2^7 (printed 2^-7, which does not give what the text states).
constexpr const char* table5 = "1c01 054e 0c00 0c00 | 5bfe 21c7 0c00 0c00 | 33800000";
constexpr const char* table5_without_c = "1c01 054e 0c00 0c00 | 5bfe 21c7 0c00 0c00 | 00000000";

TEST(Explain, TheInputIsTableFiveOfValpeyEtAl) {
  const double a[] = {1.0009765625 * power(-8), 1.326171875 * power(-14), power(-12), power(-12)};
  const double b[] = {1.998046875 * power(7), 1.4443359375 * power(-7), power(-12), power(-12)};
  const double c = power(-24);
  const char* encodings[] = {"1c01", "054e", "0c00", "0c00", "5bfe", "21c7", "0c00", "0c00"};
  for (int i = 0; i < 8; ++i) {
    const ExplainedCase one = explained("convert from=fp16 to=fp32", encodings[i], {"exact"});
    EXPECT_EQ(number(one.units[0].results[0].binary), i < 4 ? a[i] : b[i - 4]) << encodings[i];
  }
  EXPECT_EQ(number(explained("convert from=fp32 to=fp32", "33800000", {"exact"}).units[0].results[0].binary), c);
}

// Section 6, steps 1 to 5, which both methods share.
void expect_shared_steps(const ExplainedStep& step) {
  EXPECT_EQ(step.greatest_exponent, -1);
  ASSERT_EQ(step.addends.size(), 5u);
  EXPECT_EQ(step.addends[1].source, "a1*b1");
  EXPECT_EQ(number(step.addends[1].sum_so_far), 1 - power(-24));
  EXPECT_EQ(step.addends[2].source, "a2*b2");
  EXPECT_EQ(number(step.addends[2].sum_so_far), 1.0);
  EXPECT_EQ(step.addends[3].source, "a3*b3");
  EXPECT_EQ(number(step.addends[3].sum_so_far), 1 + power(-24));
  // Aligned to -1: the first product is not normalized and keeps its bits, 2^-24 stands 23 places behind the point.
  EXPECT_EQ(step.addends[0].shift, 0);
  EXPECT_EQ(step.addends[2].shift, 23);
  EXPECT_EQ(value_of(step.addends[2].kept, step.grid_integer_bits - 1), power(-23));
  EXPECT_TRUE(step.addends[1].loses_bits);
}

TEST(Explain, MarkidisColumnOfValpeyEtAlSectionSix) {
  const ExplainedCase one = explained(dot4, table5, {volta});
  const ExplainedStep& step = one.units[0].steps.at(0);
  expect_shared_steps(step);
  // Step 7: 1 + 2^-23, represented as 2^-1 for the exponent with 2^1 + 2^-22 in the significand; then normalized.
  EXPECT_EQ(number(step.addends[4].sum_so_far), 1 + power(-23));
  EXPECT_EQ(value_of(step.sum, step.grid_integer_bits - 1), 2 + power(-22));
  EXPECT_EQ(step.carries, 1);
  EXPECT_EQ(step.leading_exponent, 0);
  EXPECT_EQ(number(step.result.binary), 1 + power(-23));
  EXPECT_EQ(step.rounding, "this sum needs no rounding");
}

TEST(Explain, OotomoYokotaColumnOfValpeyEtAlSectionSix) {
  const ExplainedCase one = explained(dot4, table5_without_c, {volta});
  const ExplainedStep& step = one.units[0].steps.at(0);
  expect_shared_steps(step);
  // Step 6: 0.0 is added; 2^-1 * (2^1 + 2^-23) is normalized and its lowest bit is lost; 2^-24 joins outside in vain.
  EXPECT_EQ(step.addends[4].special, "+0");
  EXPECT_EQ(value_of(step.sum, step.grid_integer_bits - 1), 2 + power(-23));
  EXPECT_EQ(number(step.result.binary), 1.0);
  EXPECT_EQ(step.rounding, "rounded toward zero");
  EXPECT_TRUE(step.guard);
  EXPECT_FALSE(step.sticky);
  const ExplainedCase outside = explained("scalar add format=fp32", "3f800000 33800000", {"ieee"});
  EXPECT_EQ(number(outside.units[0].results[0].binary), 1.0);
  EXPECT_THAT(outside.rounding->decision, HasSubstr("on the midpoint, so the lower neighbour"));
}

TEST(Explain, BothColumnsStandSideBySideOnAWideTerminal) {
  Explanation both;
  both.cases = {explained(dot4, table5, {volta}), explained(dot4, table5_without_c, {volta})};
  const std::string wide = explanation_text(both, {false, 200}), narrow = explanation_text(both, {false, 159});
  EXPECT_THAT(wide, testing::ContainsRegex("= 3f800001 [^\n]* = 3f800000 "));
  EXPECT_THAT(narrow, testing::Not(testing::ContainsRegex("= 3f800001 [^\n]* = 3f800000 ")));
  EXPECT_THAT(narrow, HasSubstr("sum so far 0x1.fffffep-1"));  // 1 - 2^-24
  EXPECT_THAT(wide, testing::Not(HasSubstr("\x1b")));
  EXPECT_THAT(explanation_text(both, {true, 80}), HasSubstr("\x1b[31m|0101"));  // what falls off a1*b1 is red
}

TEST(Explain, KeptAndFallenBitsAreTheWholeAddend) {
  const Registry registry = oracle_registry();
  size_t lost = 0;
  for (const std::string& name : {volta, turing, hopper}) {
    const Op op = *parse_op("dot a=fp16 b=fp16 c=fp32 d=fp32 k=8");
    const std::unique_ptr<Unit> unit = std::move(*registry.bind(name, op));
    Batch batch(op);
    StructuredGenerator(op, 3).fill(0, 2000, batch);
    for (size_t i = 0; i < batch.size(); ++i) {
      const ExplainedCase one = explain_case(batch, i, {unit.get()});
      for (const ExplainedStep& step : one.units[0].steps) {
        if (!step.has_grid) continue;
        const int top = step.greatest_exponent + step.grid_integer_bits - 1;
        double sum = 0;
        for (const ExplainedAddend& t : step.addends) {
          const double kept = value_of(t.kept, top);
          sum += t.is_kept_negative ? -kept : kept;
          EXPECT_EQ(number(t.sum_so_far), sum);
          if (!t.is_nonzero) continue;
          const double whole =
              value_of(t.integer_bits + t.fraction_bits, t.exponent + static_cast<int>(t.integer_bits.size()) - 1);
          EXPECT_EQ(kept + value_of(t.fallen, t.fallen_top), whole) << one.fields << " " << t.source;
          EXPECT_EQ(t.loses_bits, kept != whole) << one.fields << " " << t.source;
          lost += t.loses_bits;
        }
        EXPECT_EQ(value_of(step.sum, top), std::fabs(sum)) << one.fields;
        EXPECT_EQ(step.leading_exponent.value_or(INT_MIN), sum == 0 ? INT_MIN : std::ilogb(sum));
      }
    }
  }
  EXPECT_GT(lost, 1000u);
}

TEST(Explain, HexFloatsAreTheSameWithEveryC) {
  const std::pair<uint64_t, const char*> numbers[] = {
      {0, "0x0p+0"},
      {0x8000000000000000, "-0x0p+0"},
      {1, "0x0.0000000000001p-1022"},
      {0x0008000000000000, "0x0.8p-1022"},
      {0x0010000000000000, "0x1p-1022"},
      {0xbff8000000000000, "-0x1.8p+0"},
      {0x7fefffffffffffff, "0x1.fffffffffffffp+1023"},
  };
  for (const auto& [encoding, text] : numbers) EXPECT_EQ(explained_number(format("fp64"), encoding).binary, text);
}

TEST(Explain, TheFirstDifferenceIsWhereOneKeepsABitThatTheOtherDrops) {
  const auto difference = [](const char* line, const char* other) {
    const ExplainedCase c = explained(dot4, line, {volta, other});
    return first_difference(c.units[0], c.units[1]);
  };
  const char* wider = "model:volta/mma.m8n8k4.f32.f16.f16.f32?fraction_bits=24";
  // 1 - 2^-24: the product a1*b1 falls off with 23 bits below 2^0.
  const auto found = difference("0000 0c00 0000 0000 | 0000 0c00 0000 0000 | bf800000", wider);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->step, 0u);
  EXPECT_EQ(found->row, (std::array<size_t, 2>{0, 0}));
  EXPECT_FALSE(difference("3c00 0000 0000 0000 | 3c00 0000 0000 0000 | bf800000", wider)) << "they agree";
  EXPECT_FALSE(difference("0000 0c00 0000 0000 | 0000 0c00 0000 0000 | bf800000", "exact")) << "no steps";
}

TEST(Explain, StepsThatAddZerosAreCounted) {
  // A chain of four fused operations: 1 * 1 + 0, then zeros are added thrice.
  const char* chain = "model:ampere/mma.m8n8k4.f64.f64.f64.f64";
  const char* op = "dot a=fp64 b=fp64 c=fp64 d=fp64 k=4";
  const std::string one = "3ff0000000000000", zero = "0000000000000000", minus_zero = "8000000000000000";
  const auto steps_of = [&](const std::string& a, const std::string& c) {
    return explained(op, a + " | " + one + " " + one + " " + one + " " + one + " | " + c, {chain}).units[0].steps;
  };
  const std::vector<ExplainedStep> sparse = steps_of(one + " " + zero + " " + zero + " " + zero, zero);
  ASSERT_EQ(sparse.size(), 2u);
  EXPECT_EQ(sparse[0].folded, 0);
  EXPECT_EQ(sparse[1].folded, 2);
  EXPECT_EQ(sparse[1].folded_text(), "and 2 more steps with zeros, which change nothing");
  const std::vector<ExplainedStep> full = steps_of(one + " " + one + " " + one + " " + one, zero);
  EXPECT_EQ(full.size(), 4u) << "each of them adds something";
  // -0 + -0 stays -0, then +0 changes the sign: what changes is shown.
  const std::vector<ExplainedStep> signs =
      steps_of(minus_zero + " " + minus_zero + " " + zero + " " + zero, minus_zero);
  ASSERT_EQ(signs.size(), 3u);
  EXPECT_EQ(signs[0].result.hex, minus_zero);
  EXPECT_EQ(signs[0].folded, 1);
  EXPECT_EQ(signs[1].result.hex, zero);
}

TEST(Explain, AFlushedResultIsNoRoundedOne) {
  const auto text_of = [](const std::string& line) {
    Explanation one;
    one.cases = {explained("dot a=bf16 b=bf16 c=fp32 d=fp32 k=2", line, {"model:x86/tdpbf16ps.k32.f32.bf16.bf16.f32"})};
    return explanation_text(one, {});
  };
  EXPECT_THAT(text_of("0080 0000 | 3f00 0000 | 00000000"), HasSubstr("0x0p+0 = 0, flushed to zero"))
      << "2^-126 * 2^-1 is subnormal in binary32";
  EXPECT_THAT(text_of("0080 0000 | 3f80 0000 | 80c00000"), HasSubstr("-0x0p+0 = -0, flushed to zero"))
      << "2^-126 - 1.5 * 2^-126 is subnormal";
  EXPECT_THAT(text_of("3f80 3f80 | 3f80 bf80 | 00000000"), Not(HasSubstr("flushed to zero"))) << "1 - 1 is zero";
  // A unit that keeps subnormals: the product of 2^-1000 and 2^-1000 is rounded to zero.
  Explanation tiny;
  tiny.cases = {explained("dot a=fp64 b=fp64 c=fp64 d=fp64 k=1",
                          "0170000000000000 | 0170000000000000 | 0000000000000000",
                          {"model:ampere/mma.m8n8k4.f64.f64.f64.f64"})};
  EXPECT_THAT(explanation_text(tiny, {}), Not(HasSubstr("flushed to zero")));
}

TEST(Explain, StepsWithInfinitiesAreNotFolded) {
  const std::string inf = "7ff0000000000000", one = "3ff0000000000000";
  const ExplainedCase all = explained(
      "dot a=fp64 b=fp64 c=fp64 d=fp64 k=4",
      inf + " " + inf + " " + inf + " " + inf + " | " + one + " " + one + " " + one + " " + one + " | 0000000000000000",
      {"model:ampere/mma.m8n8k4.f64.f64.f64.f64"});
  for (const ExplainedStep& step : all.units[0].steps) EXPECT_EQ(step.folded, 0);
}

TEST(Explain, ConversionsShowTheirNeighbours) {
  const ExplainedCase one = explained("convert from=fp32 to=fp16", "3f801000", {"ieee"});  // 1 + 2^-11: a tie
  EXPECT_EQ(one.rounding->lower.hex, "3c00");
  EXPECT_EQ(one.rounding->upper.hex, "3c01");
  EXPECT_EQ(one.rounding->position, 0.5);
  EXPECT_THAT(one.rounding->decision, HasSubstr("on the midpoint, so the lower neighbour"));
  EXPECT_EQ(one.units[0].neighbour, "the lower neighbour");
  EXPECT_EQ(one.units[0].flags, 0x01);
  EXPECT_THAT(
      explained("convert from=fp32 to=fp16", "477ff000", {"ieee"}).rounding->decision,  // 65520: ties to infinity
      HasSubstr("beyond the finite numbers"));
  EXPECT_EQ(explained("convert from=fp32 to=fp16", "3fc00000", {"ieee"}).rounding->decision, "exact");
  EXPECT_EQ(explained("convert from=fp32 to=fp16", "80000000", {"ieee"}).rounding->exact->hex, "8000");
  EXPECT_THAT(explained("convert from=fp32 to=fp16", "7fc00000", {"ieee"}).rounding->decision, HasSubstr("no number"));
}

TEST(Explain, AProductHasTheIndexOfItsOperandsInEveryOrder) {
  struct {
    std::string op, unit, one, zero;
    int k;
  } const rows[] = {
      {"dot a=e4m3 b=e4m3 c=fp32 d=fp32 k=64", "model:hopper/mma.m16n8k32.f32.e4m3.e4m3.f32", "38 ", "00 ", 64},
      {"dot a=fp16 b=fp16 c=fp32 d=fp32 k=8", std::string(volta) + "?block=2,order=descending", "3c00 ", "0000 ", 8},
      {"dot a=fp16 b=fp16 c=fp32 d=fp32 k=8", std::string(volta) + "?block=2,order=interleaved", "3c00 ", "0000 ", 8},
      {"dot a=fp16 b=fp16 c=fp32 d=fp32 k=8", std::string(volta) + "?block=2,order=swapped_pairs", "3c00 ", "0000 ", 8},
  };
  for (const auto& row : rows)
    for (int i = 0; i < row.k; ++i) {
      std::string a, b;
      for (int j = 0; j < row.k; ++j) a += row.one, b += i == j ? row.one : row.zero;
      const ExplainedUnit unit = explained(row.op, a + "| " + b + "| 00000000", {row.unit}).units[0];
      const std::string index = std::to_string(i);
      EXPECT_THAT(products_of(unit), testing::ElementsAre("a" + index + "*b" + index)) << row.unit;
    }
}

TEST(Explain, TheHalvesOfEmulatedFp8AndTheAdditionOfCAreBlocksInTurn) {
  std::string zeros;
  for (int i = 0; i < 32; ++i) zeros += "00 ";
  const ExplainedUnit unit = explained("dot a=e4m3 b=e4m3 c=fp32 d=fp32 k=32", zeros + "| " + zeros + "| 3f800000",
                                       {"model:hopper/mma.m16n8k32.f32.e4m3.e4m3.f32?block=8"})
                                 .units[0];
  std::vector<int> blocks;
  for (const ExplainedStep& step : unit.steps) {
    blocks.push_back(step.block);
    for (int i = 1; i <= step.folded; ++i) blocks.push_back(step.block + i);
  }
  EXPECT_THAT(blocks, testing::ElementsAre(0, 1, 2, 3, 4));
}

TEST(Explain, QuotientsAndRootsShowTheirNeighbours) {
  const ExplainedCase third = explained("scalar div format=fp32", "3f800000 40400000", {"ieee"});
  EXPECT_EQ(third.rounding->lower.hex, "3eaaaaaa");
  EXPECT_EQ(third.rounding->upper.hex, "3eaaaaab");
  EXPECT_EQ(third.exact_value, "0.3333333333333333333333333...");
  EXPECT_NEAR(third.rounding->position, 2.0 / 3, 1e-6);
  const ExplainedCase root =
      explained("scalar sqrt format=fp32", "40000000", {"ieee"});  // sqrt(2) = 0x1.6a09e667f3bcdp+0
  EXPECT_EQ(root.rounding->lower.hex, "3fb504f3");
  EXPECT_EQ(root.rounding->upper.hex, "3fb504f4");
}

TEST(Explain, AWitnessNamesItsUnitsAndItsChangedCase) {
  const Registry registry = oracle_registry();
  const std::string head = std::string("mmafuzz-cases 1\n# comment\nproperty ");
  const Explanation pair =
      explain_witness(head + "equal " + volta + " exact\nop " + dot4 + "\n" + table5 + "\n", registry);
  ASSERT_EQ(pair.cases.size(), 1u);
  ASSERT_EQ(pair.cases[0].units.size(), 2u);
  EXPECT_EQ(pair.cases[0].units[1].name, "exact");
  EXPECT_TRUE(pair.cases[0].units[1].steps.empty());
  EXPECT_EQ(pair.cases[0].units[1].results.size(), 1u);
  EXPECT_TRUE(pair.cases[0].units[1].ulps.has_value());
  const Explanation changed = explain_witness(
      head + "monotone_in_c " + volta + "\nop " + dot4 + "\n" + table5_without_c + "\n" + table5 + "\n", registry);
  ASSERT_EQ(changed.cases.size(), 2u);
  EXPECT_EQ(changed.cases[1].units[0].results[0].hex, "3f800001");
  const Explanation absent =
      explain_witness(head + "equal cuda:none exact\nop " + dot4 + "\n" + table5 + "\n", registry);
  EXPECT_THAT(absent.cases[0].units[0].no_answer, HasSubstr("cuda:none"));
  EXPECT_EQ(absent.cases[0].units[1].results.size(), 1u);
  EXPECT_THROW(explain_witness("mmafuzz-cases 1\n", registry), std::runtime_error);
  EXPECT_THROW(explain_witness("no witness", registry), std::runtime_error);
}

}  // namespace
}  // namespace mmafuzz
