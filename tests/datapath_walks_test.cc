// Walks reach what they state: counted here from the operands alone, with arithmetic of this file's own.
#include "search/datapath_walks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "arithmetic/corner_encodings.h"
#include "arithmetic/decode.h"
#include "plan/default_fields.h"
#include "plan/request.h"
#include "search/draw_block.h"
#include "search/guided_search.h"
#include "search/random_generators.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

/// Positions of a part within the whole walk.
std::pair<uint64_t, uint64_t> range_of(const DatapathWalks& walks, const std::string& name) {
  uint64_t first = 0;
  for (const DatapathWalks::Part& part : walks.parts()) {
    if (part.name == name) return {first, first + part.length};
    first += part.length;
  }
  ADD_FAILURE() << "no part " << name;
  return {0, 0};
}

/// Calls look(batch) with each case of a part as case 0.
template <class Look>
void walk(const DatapathWalks& walks, const Op& op, const std::string& name, Look look) {
  Batch batch(op);
  batch.resize(1);
  const auto [first, end] = range_of(walks, name);
  for (uint64_t n = first; n < end; ++n) {
    walks.make(n, batch, 0);
    look(batch);
  }
}

TEST(DatapathWalks, EveryPairOfSmallOperandsMeetsInEveryLane) {
  const Op op = op_from_text("dot a=e4m3 b=e4m3 c=fp32 d=fp32 k=32");
  const DatapathWalks walks(op, {.fraction_bits = 13, .block = 32, .floor = -133}, 1);
  std::vector<bool> met(size_t{1} << 21);
  walk(walks, op, "operand pairs", [&](const Batch& batch) {
    for (int lane = 0; lane < 32; ++lane)
      met[(static_cast<size_t>(lane) << 16) | batch.inputs()[0].get(0, lane) << 8 | batch.inputs()[1].get(0, lane)] =
          true;
  });
  EXPECT_EQ(std::count(met.begin(), met.end(), false), 0);
}

TEST(DatapathWalks, EveryPairOfFractionsMeetsInEveryLane) {
  const Op op = op_from_text("dot a=bf16 b=bf16 c=fp32 d=fp32 k=16");
  const DatapathWalks walks(op, {.fraction_bits = 25, .block = 16, .floor = -133}, 1);
  std::vector<bool> met(size_t{1} << 18);
  walk(walks, op, "fraction pairs", [&](const Batch& batch) {
    for (int lane = 0; lane < 16; ++lane)
      met[(static_cast<size_t>(lane) << 14) | (batch.inputs()[0].get(0, lane) & 127) << 7 |
          (batch.inputs()[1].get(0, lane) & 127)] = true;
  });
  EXPECT_EQ(std::count(met.begin(), met.end(), false), 0);
}

TEST(DatapathWalks, EveryPairOfExponentsMeetsInEveryLaneAmongEquals) {
  const Op op = op_from_text("dot a=bf16 b=bf16 c=fp32 d=fp32 k=16");
  const DatapathWalks walks(op, {.fraction_bits = 25, .block = 16, .floor = -133}, 1);
  std::vector<bool> met(size_t{1} << 20);
  walk(walks, op, "exponents", [&](const Batch& batch) {
    std::set<uint64_t> sums;  // of the fields: all live lanes weigh about the same
    for (int lane = 0; lane < 16; ++lane) {
      const uint64_t x = batch.inputs()[0].get(0, lane) >> 7 & 255, y = batch.inputs()[1].get(0, lane) >> 7 & 255;
      if (x < 255 && y < 255) met[(static_cast<size_t>(lane) << 16) | x << 8 | y] = true;
      if (x && y && x < 254 && y < 254) sums.insert(x + y);
    }
    EXPECT_LE(sums.size(), 1u);
  });
  size_t missing = 0;
  for (size_t lane = 0; lane < 16; ++lane)
    for (size_t x = 0; x < 255; ++x)
      for (size_t y = 0; y < 255; ++y) missing += !met[lane << 16 | x << 8 | y];
  EXPECT_EQ(missing, 0u);
}

TEST(DatapathWalks, EveryTripleOfAlignmentsOfThreeLanesIsMet) {
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=4");
  const DatapathWalks walks(op, {.fraction_bits = 23, .block = 4, .floor = -131}, 1);
  const auto exponent = [](uint64_t v) { return static_cast<int>(v >> 10 & 31) - 15; };
  std::set<std::array<int, 3>> met;
  walk(walks, op, "alignments of three", [&](const Batch& batch) {
    const uint64_t c = batch.inputs()[2].get(0, 0);
    std::array<int, 4> exponents;
    bool all_live = true;
    for (int lane = 0; lane < 4; ++lane) {
      const uint64_t x = batch.inputs()[0].get(0, lane), y = batch.inputs()[1].get(0, lane);
      const bool live = (x & 0x7fff) && (y & 0x7fff);
      exponents[static_cast<size_t>(lane)] = live ? exponent(x) + exponent(y) : -1000;
      all_live &= live || lane == 3;
    }
    if (!all_live) return;
    // Without c, lanes are shifted against the greatest one.
    const int top =
        c & 0x7fffffff ? static_cast<int>(c >> 23 & 255) - 127 : *std::max_element(exponents.begin(), exponents.end());
    met.insert({top - exponents[0], top - exponents[1], top - exponents[2]});
  });
  EXPECT_EQ(met.size(), size_t{27 * 27 * 27});  // shifts of 0 to 26
}

TEST(DatapathWalks, EveryPairOfProductsBelowTheAlignmentFloorIsMet) {
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp16 d=fp16 k=4");
  const DatapathWalks walks(op, {.fraction_bits = 23, .block = 4, .floor = -19}, 1);
  const auto exponent = [](uint64_t v) {  // of the leading bit, also of subnormals
    const int field = static_cast<int>(v >> 10 & 31), fraction = static_cast<int>(v & 1023);
    return field ? field - 15 : std::ilogb(fraction) - 24;
  };
  std::set<std::pair<int, int>> met;
  walk(walks, op, "small sums", [&](const Batch& batch) {
    EXPECT_EQ(batch.inputs()[2].get(0, 0), 0u) << "c";
    std::vector<int> live;
    for (int lane = 0; lane < 4; ++lane) {
      const uint64_t x = batch.inputs()[0].get(0, lane), y = batch.inputs()[1].get(0, lane);
      if ((x & 0x7fff) && (y & 0x7fff)) live.push_back(exponent(x) + exponent(y));
    }
    ASSERT_EQ(live.size(), 2u);
    met.insert({live[0], live[1]});
    met.insert({live[1], live[0]});  // lanes have no order where the second one wraps
  });
  for (int x = -48; x <= -18; ++x)
    for (int y = -48; y <= -18; ++y) EXPECT_TRUE(met.count({x, y})) << x << " " << y;
}

/// The sum of a case of fp16 products and an fp32 c as a fused sum keeps it, in units of its last bit.
int64_t aligned_sum(const Batch& batch, int kept) {
  std::vector<std::pair<double, int>> addends;  // value, exponent of the fields
  const auto add16 = [](uint64_t v, int& e) {
    const int field = static_cast<int>(v >> 10 & 31);
    e = std::max(field, 1) - 15;
    const double m = std::ldexp(static_cast<double>(v & 1023) + (field ? 1024 : 0), e - 10);
    return v >> 15 ? -m : m;
  };
  int greatest = -1000;
  for (int lane = 0; lane < 16; ++lane) {
    int ex = 0, ey = 0;
    const double x = add16(batch.inputs()[0].get(0, lane), ex);
    const double y = add16(batch.inputs()[1].get(0, lane), ey);
    if (x == 0 || y == 0) continue;
    addends.push_back({x * y, ex + ey});
    greatest = std::max(greatest, ex + ey);
  }
  const uint64_t c = batch.inputs()[2].get(0, 0);
  if (c & 0x7fffffff) {
    const int e = static_cast<int>(c >> 23 & 255) - 127;
    const double m = std::ldexp(static_cast<double>((c & 0x7fffff) | 0x800000), e - 23);
    addends.push_back({c >> 31 ? -m : m, e});
    greatest = std::max(greatest, e);
  }
  int64_t sum = 0;
  for (const auto& [value, e] : addends) sum += static_cast<int64_t>(std::trunc(std::ldexp(value, kept - greatest)));
  return sum;
}

TEST(DatapathWalks, EveryBitOfTheSumStandsAlone) {
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=16");
  const int kept = 25;
  const DatapathWalks walks(op, {.fraction_bits = kept, .block = 16, .floor = -133}, 1);
  std::set<int64_t> met;
  walk(walks, op, "sums", [&](const Batch& batch) { met.insert(aligned_sum(batch, kept)); });
  for (int bit = 0; bit <= kept + 5; ++bit) {
    EXPECT_TRUE(met.contains(int64_t{1} << bit)) << bit;
    EXPECT_TRUE(met.contains(-(int64_t{1} << bit))) << bit;
  }
  for (int bit = 2; bit <= kept; ++bit) EXPECT_TRUE(met.contains((int64_t{1} << bit) - 1)) << bit;
}

TEST(DatapathWalks, EveryPatternLeadsTheSumAtEveryLength) {
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=16");
  const int kept = 25;
  const DatapathWalks walks(op, {.fraction_bits = kept, .block = 16, .floor = -133}, 1);
  std::set<int64_t> met;
  walk(walks, op, "leading bits", [&](const Batch& batch) { met.insert(aligned_sum(batch, kept)); });
  for (int64_t pattern = 128; pattern < 256; ++pattern)
    for (int tail = 0; tail <= kept - 3; ++tail) {
      const int64_t sum = pattern << tail, ones = (int64_t{1} << tail) - 1;
      EXPECT_TRUE(met.contains(sum) && met.contains(-sum)) << pattern << " " << tail;
      EXPECT_TRUE(met.contains(sum + ones)) << pattern << " " << tail;
    }
}

TEST(DatapathWalks, EveryPowerOfTwoStandsBesideSmallerOnes) {
  const Op op = op_from_text("dot a=bf16 b=bf16 c=fp32 d=fp32 k=32");
  const DatapathWalks walks(op, {.fraction_bits = 25, .block = 32, .floor = -133}, 1);
  const FormatFields f = op.a.fields();
  std::set<std::pair<int, int>> met;  // greater exponent; how far below the other is, negative where it is taken away
  walk(walks, op, "two powers", [&](const Batch& batch) {
    std::vector<double> products;
    for (int lane = 0; lane < 32; ++lane) {
      const Number a = decode(f, batch.a().get(0, lane)), b = decode(f, batch.b().get(0, lane));
      const double value = std::ldexp(double(a.significand) * double(b.significand), a.exponent + b.exponent);
      if (value != 0) products.push_back(a.negative != b.negative ? -value : value);
    }
    ASSERT_EQ(products.size(), 2u);
    std::sort(products.begin(), products.end(), [](double x, double y) { return std::fabs(x) > std::fabs(y); });
    const int below = std::ilogb(products[0]) - std::ilogb(products[1]);
    met.insert({std::ilogb(products[0]), products[0] * products[1] < 0 ? -below : below});
  });
  for (int e = -128; e <= 127; ++e)
    for (int below = 1; below <= 28; ++below)
      EXPECT_TRUE(met.contains({e, below}) && met.contains({e, -below})) << e << ' ' << below;
}

TEST(DatapathWalks, EveryInputOfANarrowConversionIsMet) {
  const Op op = op_from_text("convert from=fp16 to=e4m3 nan=any");
  const DatapathWalks walks(op, {}, 1);
  std::vector<bool> met(size_t{1} << 16);
  walk(walks, op, "every input", [&](const Batch& batch) { met[batch.inputs()[0].get(0, 0)] = true; });
  EXPECT_EQ(std::count(met.begin(), met.end(), false), 0);
}

TEST(DatapathWalks, ACaseIsAFunctionOfItsPosition) {
  std::vector<Op> ops = default_ops(OpKind::dot);
  for (const OpKind kind : {OpKind::convert, OpKind::scalar})
    for (const Op& op : default_ops(kind))
      if (DatapathWalks(op, {}, 7).length()) ops.push_back(op);
  for (const Op& op : ops) {
    const DatapathWalks walks(op, {}, 7);
    ASSERT_GT(walks.length(), 0u) << to_text(op);
    const RandomGenerator random(op, RandomKind::uniform, 7);
    Batch one(op), three(op);
    one.resize(1);
    for (uint64_t n = 0; n < 400; ++n) {
      const uint64_t position = n * (walks.length() / 200 + 1);  // also beyond the end
      walks.make(position, one, 0);
      random.fill(n, 3, three);  // what stands there before is nothing that a case depends on
      walks.make(position, three, 2);
      for (size_t column = 0; column < one.inputs().size(); ++column) {
        const FieldShape field = op.inputs()[column];
        for (int i = 0; i < field.count; ++i) {
          ASSERT_EQ(one.inputs()[column].get(0, i), three.inputs()[column].get(2, i)) << to_text(op) << " " << position;
          ASSERT_EQ(one.inputs()[column].get(0, i) & ~field.format.fields().container_mask(), 0u);
        }
      }
    }
  }
}

int64_t integer_of(uint64_t byte, bool has_sign) {
  return has_sign && byte > 127 ? static_cast<int64_t>(byte) - 256 : static_cast<int64_t>(byte);
}

TEST(DatapathWalks, EveryPairOfIntegersMeetsInEveryLane) {
  const Op op = op_from_text("dot a=u8 b=s8 c=s32 d=s32 k=8");
  const DatapathWalks walks(op, {}, 1);
  std::vector<bool> met(size_t{1} << 19);
  walk(walks, op, "integer pairs", [&](const Batch& batch) {
    for (int lane = 0; lane < 8; ++lane)
      met[(static_cast<size_t>(lane) << 16) | batch.inputs()[0].get(0, lane) << 8 | batch.inputs()[1].get(0, lane)] =
          true;
  });
  EXPECT_EQ(std::count(met.begin(), met.end(), false), 0);
}

/// A multiplier of pairs that saturates at 16 bits fails on these alone: -128 * -128 + -128 * -128 = 2^15.
TEST(DatapathWalks, CornersOfIntegersMeetInNeighbours) {
  const Op op = op_from_text("dot a=s8 b=s8 c=s32 d=s32 k=16");
  const DatapathWalks walks(op, {}, 1);
  std::set<int> places;
  walk(walks, op, "corners of two", [&](const Batch& batch) {
    const auto is_least = [&](int lane) {
      return batch.inputs()[0].get(0, lane) == 0x80 && batch.inputs()[1].get(0, lane) == 0x80;
    };
    for (int lane = 0; lane + 1 < 16; ++lane)
      if (is_least(lane) && is_least(lane + 1)) places.insert(lane);
  });
  EXPECT_EQ(places.size(), 15u);
}

TEST(DatapathWalks, SumsOfIntegersStandBesideEveryPowerOfTwo) {
  const Op op = op_from_text("dot a=s8 b=s8 c=s32 d=s32 k=4");
  const DatapathWalks walks(op, {}, 1);
  std::set<int64_t> whole;
  walk(walks, op, "integer sums", [&](const Batch& batch) {
    int64_t sum = static_cast<int32_t>(batch.inputs()[2].get(0, 0));
    for (int lane = 0; lane < 4; ++lane)
      sum += integer_of(batch.inputs()[0].get(0, lane), true) * integer_of(batch.inputs()[1].get(0, lane), true);
    whole.insert(sum);
  });
  for (int bit = 0; bit < 31; ++bit)
    for (int beside = -2; beside <= 2; ++beside)
      for (const int sign : {-1, 1})
        EXPECT_TRUE(whole.contains(sign * (int64_t{1} << bit) + beside)) << sign << " 2^" << bit << " + " << beside;
}

/// Each code of an operand has at least a quarter of its even share, and none more than a quarter of all.
TEST(StructuredGenerator, DrawsIntegersAsIntegers) {
  for (const char* text : {"dot a=s8 b=s8 c=s32 d=s32 k=16", "dot a=u8 b=u8 c=s32 d=s32 k=16"}) {
    const Op op = op_from_text(text);
    Batch batch;
    StructuredGenerator(op, 5).fill(0, 20'000, batch);
    std::vector<size_t> seen(256);
    size_t pairs_at_end = 0;
    const uint64_t end = op.a.fields().has_sign() ? 0x80 : 0xff;  // the greatest product
    for (size_t i = 0; i < batch.size(); ++i)
      for (int lane = 0; lane < 16; ++lane) {
        ++seen[batch.a().get(i, lane)];
        const auto at_end = [&](int at) { return batch.a().get(i, at) == end && batch.b().get(i, at) == end; };
        pairs_at_end += lane > 0 && at_end(lane) && at_end(lane - 1);
      }
    const size_t all = batch.size() * 16;
    EXPECT_GT(*std::min_element(seen.begin(), seen.end()) * 4 * 256, all) << text;
    EXPECT_LT(*std::max_element(seen.begin(), seen.end()) * 4, all) << text;
    EXPECT_GT(pairs_at_end, 100u) << text;
  }
}

TEST(DatapathWalks, WhatHasNoFloatingPointDatapathHasNoParts) {
  EXPECT_EQ(DatapathWalks(op_from_text("gemm a=fp64 b=fp64 c=fp64 d=fp64 m=2 n=2 k=4"), {}, 1).length(), 0u);
}

TEST(DatapathWalks, FocusUnitsOfTheSameHintsShareOneWalk) {
  const Op op = op_from_text("convert from=fp16 to=e4m3 nan=any");
  std::vector<GuidedSearch::Focus> focuses;
  for (const char* unit : {"one", "two", "three"}) focuses.push_back({unit, CornerHints{}, make_no_feedback()});
  const GuidedSearch search(op, std::move(focuses), 1);
  const uint64_t length = DatapathWalks(op, {}, 1).length();
  std::vector<bool> met(size_t{1} << 16);
  Batch batch;
  // One case in two; of 16 rounds one is quiet and one holds sequences.
  for (uint64_t chunk = 0; chunk * 1024 < 2 * length * 16 / 14 + 6 * 1024; ++chunk) {
    search.propose(chunk, chunk * 1024, 1024, batch);
    for (size_t i = 0; i < batch.size(); i += 2) met[batch.inputs()[0].get(i, 0)] = true;
  }
  EXPECT_EQ(std::count(met.begin(), met.end(), false), 0);
}

/// The greatest magnitude of a block has each exponent of fp16, from its least subnormal number on: 2^-24 to 2^15.
TEST(BlockSteps, ReachEveryExponent) {
  const Op op = op_from_text("quantize from=fp16 to=e2m1 block=4 scale=e8m0 rule=even special=elements");
  const BlockSteps steps(op);
  std::set<int> exponents;
  for (uint64_t n = 0; n < steps.count(); ++n) exponents.insert(leading_exponent(fp16_fields, steps.at(n, 0)));
  EXPECT_EQ(exponents.size(), 40u);
}

}  // namespace
}  // namespace mmafuzz
