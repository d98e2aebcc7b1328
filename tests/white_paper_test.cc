// The dot-product example of Whitehead and Fit-Florea, section 3.2. Its operands are printed to seven digits, and as
// fp32 numbers nearest to the print they do not give the printed results. This test searches every choice of fp32
// operands within half a unit of the last printed digit and finds the one that gives all of them.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "core/registry.h"
#include "oracles/families.h"

namespace mmafuzz {
namespace {

// Printed operands (section 3.2) and half a unit of their last digit.
constexpr double printed_a[] = {1.907607, -.7862027, 1.147311, .9604002},
                 printed_b[] = {-.9355000, -.6915108, 1.724470, -.7097529};
constexpr double half_digit_a[] = {.5e-6, .5e-7, .5e-6, .5e-7}, half_digit_b[] = {.5e-7, .5e-7, .5e-6, .5e-7};

std::vector<uint32_t> candidates(double printed, double half_digit) {
  std::vector<uint32_t> all;
  const uint32_t near = std::bit_cast<uint32_t>(static_cast<float>(printed));
  for (uint32_t e = near - 16; e <= near + 16; ++e)
    if (std::fabs(static_cast<double>(std::bit_cast<float>(e)) - printed) <= half_digit) all.push_back(e);
  return all;
}

TEST(WhitePaper, OneChoiceOfOperandsGivesThePrintedResults) {
  const Registry registry = oracle_registry();
  const Op op = dot_op("fp32", "fp32", "fp32", 4);
  std::vector<std::vector<uint32_t>> choice;
  for (int i = 0; i < 4; ++i) {
    choice.push_back(candidates(printed_a[i], half_digit_a[i]));
    choice.push_back(candidates(printed_b[i], half_digit_b[i]));
  }
  // All combinations, a0 b0 a1 b1 ... as digits of a mixed-radix number.
  size_t combinations = 1;
  for (const auto& c : choice) combinations *= c.size();
  ASSERT_EQ(combinations, 9216u);
  Batch batch(op);
  batch.resize(combinations);
  for (size_t n = 0; n < combinations; ++n) {
    size_t rest = n;
    for (size_t field = 0; field < 8; ++field) {
      batch.inputs()[field % 2].set(n, static_cast<int>(field / 2), choice[field][rest % choice[field].size()]);
      rest /= choice[field].size();
    }
    batch.inputs()[2].set(n, 0, 0);
  }
  Outcomes serial, fma, pairwise, exact;
  Op wide = op;  // the exact sum to 53 bits
  wide.d = format("fp64");
  Batch same(wide);
  same.resize(combinations);
  same.inputs() = batch.inputs();
  (*registry.bind("ieee:serial", op))->run(batch, serial);
  (*registry.bind("ieee:fma", op))->run(batch, fma);
  (*registry.bind("ieee:pairwise", op))->run(batch, pairwise);
  (*registry.bind("exact", wide))->run(same, exact);

  size_t three_results = 0, all_results = 0, found = 0;
  for (size_t n = 0; n < combinations; ++n) {
    if (serial.results.get(n) != 0x3d653510 || fma.results.get(n) != 0x3d653501 ||
        pairwise.results.get(n) != 0x3d653500)
      continue;
    ++three_results;
    const double sum = std::bit_cast<double>(exact.results.get(n));
    if (std::floor(sum * 1e13) != 559587528435) continue;  // .0559587528435...
    ++all_results;
    found = n;
  }
  EXPECT_EQ(three_results, 10u);
  ASSERT_EQ(all_results, 1u);
  const std::vector<uint64_t> a = {0x3ff42c76, 0xbf494494, 0x3f92db19, 0x3f75dcc9},
                              b = {0xbf6f7cee, 0xbf3106da, 0x3fdcbb70, 0xbf35b25d};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(batch.a().get(found, i), a[size_t(i)]);
    EXPECT_EQ(batch.b().get(found, i), b[size_t(i)]);
  }
}

/// One scalar operation of a unit on fp32 encodings.
uint64_t scalar_of(const char* unit, const char* operation, std::vector<uint64_t> operands,
                   const char* attributes = "") {
  const Op op = *parse_op(std::string("scalar ") + operation + " format=fp32 round=nearest_even nan=any" + attributes);
  Batch batch(op);
  batch.resize(1);
  for (size_t i = 0; i < operands.size(); ++i) batch.inputs()[0].set(0, static_cast<int>(i), operands[i]);
  Outcomes outcomes;
  (*oracle_registry().bind(unit, op))->run(batch, outcomes);
  return outcomes.results.get(0);
}

TEST(WhitePaper, TheFmaExampleAsX86RunsItAndAsAGpuDoes) {
  // Section 2.3: x = 1.00000012 (0x3f800001), x*x - 1.00000024 is 2^-46 = 1.4210855e-14; without FMA the product is
  // rounded first.
  const std::vector<std::pair<const char*, const char*>> both = {
      {"ieee", "ieee"}, {"exact:mpfr", "exact:mpfr"}, {"cpu:mul.f32", "cpu:add.f32"}};
  for (const auto& [multiplier, adder] : both) {
    const uint64_t product = scalar_of(multiplier, "mul", {0x3f800001, 0x3f800001});
    EXPECT_EQ(product, 0x3f800002u);
    EXPECT_EQ(scalar_of(adder, "add", {product, 0xbf800002}), 0u);
  }
  for (const char* fused : {"ieee", "exact:mpfr"})
    EXPECT_EQ(scalar_of(fused, "fma", {0x3f800001, 0x3f800001, 0xbf800002}), 0x28800000u);
  EXPECT_EQ(std::bit_cast<float>(uint32_t{0x28800000}), 0x1p-46f);
  const Op op = *parse_op("scalar fma format=fp32 round=nearest_even nan=any");
  if (oracle_registry().bind("cpu:fma.f32", op)) {
    EXPECT_EQ(scalar_of("cpu:fma.f32", "fma", {0x3f800001, 0x3f800001, 0xbf800002}), 0x28800000u);
  }
}

TEST(WhitePaper, FlushingToZeroLosesASubnormalDifference) {
  // Section 4.4, -ftz=true: x != y, and x - y is 0.
  EXPECT_EQ(scalar_of("ieee", "sub", {0x00800001, 0x00800000}), 1u);
  EXPECT_EQ(scalar_of("ieee", "sub", {0x00800001, 0x00800000}, " ftz=1"), 0u);
  EXPECT_EQ(scalar_of("exact:mpfr", "sub", {0x00800001, 0x00800000}, " ftz=1"), 0u);
  EXPECT_EQ(scalar_of("cpu:sub.f32", "sub", {0x00800001, 0x00800000}, " ftz=1"), 0u);
}

TEST(WhitePaper, WhatIsTinyIsFlushedThoughItWouldRoundToANormalNumber) {
  // (1 - 2^-24) * 2^-126 rounds to 2^-126, and stays below it with unbounded exponents, which is what the FTZ of x86
  // looks at, and .ftz of an H200.
  const std::vector<uint64_t> operands = {0x3f7fffff, 0x00800000};
  EXPECT_EQ(scalar_of("ieee", "mul", operands), 0x00800000u);
  EXPECT_EQ(scalar_of("ieee", "mul", operands, " ftz=1"), 0u);
  EXPECT_EQ(scalar_of("exact:mpfr", "mul", operands, " ftz=1"), 0u);
  // (1 - 2^-26) * 2^-126 is 2^-126 with unbounded exponents, too.
  const std::vector<uint64_t> not_tiny = {0x3f7ff800, 0x00800400};
  EXPECT_EQ(scalar_of("ieee", "mul", not_tiny, " ftz=1"), 0x00800000u);
  EXPECT_EQ(scalar_of("cpu:mul.f32", "mul", not_tiny, " ftz=1"), 0x00800000u);
  EXPECT_EQ(scalar_of("cpu:mul.f32", "mul", operands), 0x00800000u);
  EXPECT_EQ(scalar_of("cpu:mul.f32", "mul", operands, " ftz=1"), 0u);
}

}  // namespace
}  // namespace mmafuzz
