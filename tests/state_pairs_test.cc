// What the walk of states meets: counted again with arithmetic of this file's own, and against the rules of what may
// be.
#include "search/state_pairs.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "core/dot_case.h"
#include "oracles/families.h"
#include "oracles/models/model_rows.h"
#include "plan/request.h"
#include "search/comparison.h"
#include "search/datapath_walks.h"
#include "search/last_step.h"
#include "search/structured_generator.h"
#include "search/sum_solver.h"
#include "search/walked_states.h"
#include "tests/case_count.h"

namespace mmafuzz {
namespace {

constexpr uint64_t all_cases = UINT64_MAX;

StatePairs walked(const ModelRow& row, const Op& op, uint64_t cases = all_cases) {
  const DatapathWalks walks(op, corner_hints(&row.model), 1);
  return walked_states(op, row.model, {{&walks, cases}});
}

/// The exponent field's weight; nothing (a number beyond all) of zeros, infinities and NaNs. Subnormal numbers have the
/// least one.
int exponent(uint64_t code, int exponent_bits, int fraction_bits) {
  const int top = (1 << exponent_bits) - 1, bias = top >> 1;
  const int field = static_cast<int>(code >> fraction_bits) & top;
  const uint64_t fraction = code & ((uint64_t{1} << fraction_bits) - 1);
  if (field == top || (field == 0 && fraction == 0)) return -10000;
  return (field ? field : 1) - bias;
}

/// docs/search.md: 0, 1, 2, 3-4, 5-8, 9-16, 17 to F-2, F-1, F, F+1, F+2, beyond.
int place(int below, int f) {
  if (below > f + 2) return 12;
  if (below >= f - 1) return 8 + below - (f - 1);
  const int ends[] = {0, 1, 2, 4, 8, 16};
  for (int i = 0; i < 6; ++i)
    if (below <= ends[i]) return 1 + i;
  return 7;
}

TEST(StatePairs, PlacesAreThoseOfTheOperands) {
  const ModelRow& row = *find_model_row("hopper/mma.m16n8k16.f32.f16.f16.f32");
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=4");
  const DatapathWalks walks(op, corner_hints(&row.model), 1);
  std::set<std::tuple<int, int, int, int>> covered;
  Batch batch(op);
  batch.resize(1);
  for (const DatapathWalks::Part& part : walks.parts()) {
    if (part.name != "states") continue;
    for (uint64_t n = 0; n < part.length; ++n) {
      walks.make(part.first + n, batch, 0);
      int e[5], p[5], greatest = -10000;
      for (int i = 0; i < 5; ++i) {
        const int x =
            i < 4 ? exponent(batch.inputs()[0].get(0, i), 5, 10) : exponent(batch.inputs()[2].get(0, 0), 8, 23);
        const int y = i < 4 ? exponent(batch.inputs()[1].get(0, i), 5, 10) : 0;
        e[i] = x == -10000 || y == -10000 ? -10000 : x + y;
        greatest = std::max(greatest, e[i]);
      }
      for (int i = 0; i < 5; ++i) p[i] = e[i] == -10000 ? 0 : place(greatest - e[i], 25);
      for (int i = 0; i < 5; ++i)
        for (int j = i + 1; j < 5; ++j) covered.insert({i, p[i], j, p[j]});
    }
  }
  const StatePairs::Count counted = walked(row, op).pairs(DatapathState::Kind::place, DatapathState::Kind::place);
  EXPECT_EQ(counted.covered, covered.size());
  EXPECT_EQ(counted.covered, counted.possible);
}

TEST(StatePairs, OfTwoAddendsOneIsGreatest) {
  const ModelRow& row = *find_model_row("hopper/mma.m16n8k16.f32.f16.f16.f32");
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=1");
  const StatePairs::Count pairs = walked(row, op).pairs(DatapathState::Kind::place, DatapathState::Kind::place);
  // No product: c is greatest, or there is none. The greatest product: c at each of 12 places, or none. A lower one: c.
  EXPECT_EQ(pairs.possible, 2u + 13 + 11);
  EXPECT_EQ(pairs.covered, pairs.possible);
}

TEST(StatePairs, NothingIsMetThatIsRuledOut) {
  size_t rows = 0, number = 0;
  for (const ModelRow& row : model_rows()) {
    if (row.op.a.fields().integer || number++ % case_count(36, 6)) continue;
    StatePairs states = walked(row, row.op, 8000);
    const StructuredGenerator generator(row.op, 3);
    Batch batch(row.op);
    batch.resize(1);
    for (uint64_t n = 0; n < 4000; ++n) {
      generator.draw(n, batch, 0);
      states.add(batch, 0);
    }
    EXPECT_EQ(states.contradictions(), std::vector<std::string>()) << row.name();
    ++rows;
  }
  EXPECT_GT(rows, case_count(8, 40));
}

TEST(StatePairs, TheWalkMeetsAlmostAll) {
  for (const char* name : {"hopper/mma.m16n8k16.f32.f16.f16.f32", "cdna3/mfma.32x32x16.f32.e4m3fnuz.e4m3fnuz.f32",
                           "volta/mma.m8n8k4.f32.f16.f16.f32"}) {
    const ModelRow* row = find_model_row(name);
    ASSERT_TRUE(row) << name;
    const StatePairs states = walked(*row, row->op);
    const StatePairs::Count levels = states.levels(), pairs = states.pairs(), triples = states.triples();
    EXPECT_GE(levels.covered * 100, levels.possible * 98) << name;
    EXPECT_GE(pairs.covered * 100, pairs.possible * 98) << name;
    EXPECT_GE(triples.covered * 100, triples.possible * 85) << name;
    EXPECT_LT(walked(*row, row->op, 100).pairs().covered, pairs.covered) << name;
    EXPECT_EQ(states.uncovered(SIZE_MAX).size(), pairs.possible - pairs.covered) << name;
  }
}

TEST(StatePairs, ManyScalesAreOne) {
  const Op op = op_from_text("dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=16 sa=ue4m3 sb=ue4m3 sblock=16");
  const DatapathWalks walks(op, CornerHints{}, 1);
  Batch batch(op, 1);
  int ones = 0;
  for (const DatapathWalks::Part& part : walks.parts())
    for (uint64_t n = 0; part.name == "states" && n < 800; n += 4) {  // every fourth case: its sum is not solved for
      walks.make(part.first + n, batch, 0);
      ones += batch.scale_a().get(0) == 0x38;
    }
  EXPECT_GT(ones, 15);
}

Batch one_case(const Op& op, const std::vector<uint64_t>& a, const std::vector<uint64_t>& b, uint64_t c) {
  Batch batch(op, 1);
  for (int i = 0; i < op.k; ++i) {
    batch.inputs()[0].set(0, i, a[static_cast<size_t>(i)]);
    batch.inputs()[1].set(0, i, b[static_cast<size_t>(i)]);
  }
  batch.inputs()[2].set(0, 0, c);
  return batch;
}
LastStep last_step_of(const ModelRow& row, const Batch& batch) {
  DotCase dot(batch.op());
  return last_step(row.model, dot.load(batch, 0));
}

/// Worked by hand: 4 - 1 in units of 2^(2 - 25), 3 * 5 + 1 without units of its own, and on RDNA4 a first sum of zero,
/// 1 - 1, beside one of 2^-12, which all are aligned by the products of 1.
TEST(LastStep, SaysWhatIsAddedUp) {
  const Op fp16 = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=4");
  const std::vector<uint64_t> ones(4, 0x3c00);
  LastStep step = last_step_of(*find_model_row("hopper/mma.m16n8k16.f32.f16.f16.f32"),
                               one_case(fp16, {0x4400, 0xbc00, 0, 0}, ones, 0));
  EXPECT_TRUE(step.rounds && step.has_sum && !step.zero);
  EXPECT_EQ(step.greatest, 2);
  EXPECT_EQ(step.above, -1);
  EXPECT_EQ(step.unit, -23);
  EXPECT_EQ(step.sum, __int128{3} << 23);
  EXPECT_EQ(step.result, 0x40400000u);
  const Op fp32 = op_from_text("dot a=fp32 b=fp32 c=fp32 d=fp32 k=1");
  step = last_step_of(*find_model_row("x86/fma.k1.f32.f32.f32.f32"),
                      one_case(fp32, {0x40400000}, {0x40a00000}, 0x3f800000));
  EXPECT_EQ(step.greatest, 3);
  EXPECT_EQ(step.above, 1);
  ASSERT_TRUE(step.has_sum && step.unit <= 0);
  EXPECT_EQ(step.sum, __int128{16} << -step.unit);
  const ModelRow& rdna4 = *find_model_row("rdna4/wmma.16x16x16.f32.f16.f16.f32");
  std::vector<uint64_t> last_four(16);
  last_four[12] = 0x3c00, last_four[13] = 0xbc00, last_four[14] = 0x0c00;
  step = last_step_of(rdna4, one_case(rdna4.op, last_four, std::vector<uint64_t>(16, 0x3c00), 0));
  EXPECT_EQ(step.greatest, 0);
  EXPECT_EQ(step.above, -12);
}

/// Sums of drawn lanes are brought to what is wanted, on rows whose steps differ.
TEST(SumSolver, MakesTheLastStepTheWantedSum) {
  for (const char* name :
       {"hopper/mma.m16n8k16.f32.f16.f16.f32", "volta/mma.m8n8k4.f32.f16.f16.f32",
        "rdna4/wmma.16x16x16.f16.f16.f16.f16", "x86/fma.k1.f32.f32.f32.f32", "cdna3/mfma.16x16x16.f32.bf16.bf16.f32"}) {
    const ModelRow& row = *find_model_row(name);
    const CornerHints hints = corner_hints(&row.model);
    Batch batch(row.op, 1);
    int zeros = 0, halves = 0;
    constexpr int cases = 200;
    for (int n = 0; n < cases; ++n) {
      CounterRng rng(7, static_cast<uint64_t>(n));
      WalkCase s(row.op, hints, batch, 0, rng);
      for (int lane = 0; lane < row.op.k; ++lane) s.draw_product(lane, rng.between(-8, 2));
      s.zero_c();
      const auto any = [](int) { return SumSolver::Spare::first; };
      const bool half = n % 2;
      SumSolver(s, &row.model)
          .solve({.size = 0, .above = 0, .rest = 4, .as_it_is = half, .end = false, .negative = false, .draws = {}},
                 /*c_may_change=*/true, any);
      const LastStep step = last_step_of(row, batch);
      zeros += !half && step.zero;
      halves += half && step.rounds && step.remainder == 4;
    }
    EXPECT_GT(zeros, cases / 20) << name;
    EXPECT_GT(halves, cases / 20) << name;
  }
}

/// Two rows of different steps walk each for itself, and both are asked all cases.
TEST(StatePairs, EveryUnitSeesTheWalksOfAll) {
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=16");
  const std::string hopper = "model:hopper/mma.m16n8k16.f32.f16.f16.f32",
                    volta = "model:volta/mma.m8n8k4.f32.f16.f16.f32";
  const Comparison both(op, {hopper, volta}, oracle_registry(), {}), alone(op, {hopper}, oracle_registry(), {});
  constexpr uint64_t cases = 20480;
  const std::vector<WalkOfStates> walks = walks_of_states(both, cases);
  ASSERT_EQ(walks.size(), 2u);
  EXPECT_GT(walks[0].walked, 0u);
  EXPECT_EQ(walks[0].seen, walks[0].walked + walks[1].walked);
  const std::vector<StatesOfUnit> states = states_of_search(both, 1, cases, 2);
  ASSERT_EQ(states.size(), 2u);
  for (const StatesOfUnit& one : states) EXPECT_EQ(one.states.cases(), walks[0].seen) << one.unit;
  const std::vector<StatesOfUnit> one = states_of_search(alone, 1, cases, 1);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].states.cases(), walks_of_states(alone, cases)[0].walked);
}

/// Of a product that is zero in the last step of a chain nothing is rounded; a sum of fp16 products is not subnormal.
TEST(StatePairs, RulesSayWhatMayNotBe) {
  const auto possible = [](const char* name, const char* first, int x, const char* second, int y) {
    const ModelRow& row = *find_model_row(name);
    const DatapathState state(row.op, row.model);
    const DatapathState::Factor *f = nullptr, *g = nullptr;
    for (const DatapathState::Factor& factor : state.factors()) {
      if (state.name_of(factor) == first) f = &factor;
      if (state.name_of(factor) == second) g = &factor;
    }
    return state.possible(*f, x, *g, y);
  };
  const char *volta = "volta/mma.m8n8k4.f32.f16.f16.f32", *fma = "x86/fma.k1.f32.f32.f32.f32";
  EXPECT_FALSE(possible(volta, "place[0]", 1, "result", 3));  // greatest, and a subnormal result
  EXPECT_TRUE(possible(volta, "place[0]", 0, "result", 3));
  EXPECT_FALSE(possible(volta, "c", 2, "result", 3));  // a normal c
  EXPECT_TRUE(possible(volta, "c", 1, "result", 3));
  EXPECT_FALSE(possible(fma, "a[0]", 0, "rest", 5));
  EXPECT_TRUE(possible(fma, "a[0]", 2, "rest", 5));
  // A subnormal c lies far below every product's last bit: it is less than half a unit.
  const char* hopper = "hopper/mma.m16n8k16.f32.f16.f16.f32";
  EXPECT_FALSE(possible(hopper, "c", 1, "cut[c]", 3));
  EXPECT_TRUE(possible(hopper, "c", 1, "cut[c]", 2));
  EXPECT_TRUE(possible("power10/xvf32ger.k1.f32.f32.f32.f32", "c", 4, "result", 6));  // it does not read c
}

}  // namespace
}  // namespace mmafuzz
