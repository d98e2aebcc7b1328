// Minimization and causes over divergences of many kinds: what comes out keeps its key, is no more complicated than
// what went in, and stays as it is when it is minimized again.
#include <gtest/gtest.h>

#include <climits>

#include "arithmetic/corner_encodings.h"
#include "core/case_text.h"
#include "plan/default_fields.h"
#include "plan/registry.h"
#include "oracles/properties/properties.h"
#include "search/comparison.h"
#include "search/mutator.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"
#include "triage/bucket.h"
#include "triage/minimize.h"
#include "triage/op_variants.h"
#include "triage/simplifications.h"
#include "tests/named_units.h"

namespace mmafuzz {
namespace {

SmallCases shared;

Judge judge_of(const std::string& property, const std::vector<std::string>& units, const Op& op) {
  Result<Judge> judge = Judge::bind(property, units, op, registry());
  if (!judge) throw std::runtime_error(judge.refusal().reason);
  return std::move(*judge);
}

/// Raw divergences of everything that a search compares, `most` at most, some of each key.
std::vector<Divergence> raw_divergences(size_t most, uint64_t seed) {
  std::vector<Op> ops;
  for (const OpKind kind : {OpKind::dot, OpKind::convert, OpKind::scalar})
    for (const Op& op : default_ops(kind)) ops.push_back(op);
  std::vector<Divergence> all;
  for (uint64_t round = 0; all.size() < most; ++round) {
    const size_t before = all.size();
    for (const Op& op : ops) {
      const Comparison comparison(op, registry().searched_by_default(op), registry(), all_properties());
      Batch batch(op);
      StructuredGenerator(op, seed + round).fill(0, 256, batch);
      const Mutator mutator(op, corner_hints(nullptr));
      for (size_t i = 0; i < batch.size(); i += 2) {
        CounterRng rng(seed + round, i);
        mutator.mutate(batch, i, rng);
      }
      for (auto& [key, finding] : comparison.examine(batch).buckets)
        if (all.size() < most) all.push_back(std::move(finding.first));
    }
    if (all.size() == before) break;
  }
  return all;
}

TEST(Minimize, KeepsTheKeyAndIsIdempotent) {
  const size_t count = static_cast<size_t>(case_count(400, 10000));
  const std::vector<Divergence> all = raw_divergences(count, 7);
  ASSERT_EQ(all.size(), count);
  size_t simplified = 0;
  for (const Divergence& d : all) {
    const std::string line = d.key.to_string();
    const Judge judge = judge_of(d.key.property, d.key.units, d.cases.op());
    Causes causes(judge, registry());
    Batch raw(d.cases.op());
    raw.append(d.cases, 0);
    const Verdict before = judge.judge(raw)[0];
    ASSERT_TRUE(before.fails) << line;
    EXPECT_EQ(name_of(before.cls), d.key.value_class) << line;
    const std::string cause = causes.find(raw, {before})[0];
    const Batch small = Minimizer(judge, causes, shared).minimize(raw, before.cls, cause);
    const Verdict after = judge.judge(small)[0];
    ASSERT_TRUE(after.fails) << line;
    EXPECT_EQ(after.cls, before.cls) << line;
    EXPECT_EQ(causes.find(small, {after})[0], cause) << line;
    const Operands from(judge.op(), raw, 0), to(judge.op(), small, 0);
    EXPECT_FALSE(is_simpler(from, from.cost(), to, to.cost())) << line;
    simplified += is_simpler(to, to.cost(), from, from.cost());
    // Found again by another hand: new judge, new causes.
    const Judge other = judge_of(d.key.property, d.key.units, d.cases.op());
    Causes other_causes(other, registry());
    EXPECT_TRUE(Operands(other.op(), Minimizer(other, other_causes, shared).minimize(small, after.cls, cause), 0) == to)
        << line;
  }
  EXPECT_GT(simplified, count / 2);
}

/// Addends of what a search for a property's failures of a unit minimizes to.
int fewest_addends(const std::string& property, const std::vector<std::string>& units, const Op& op,
                   const std::string& cause, uint64_t seed) {
  const Judge judge = judge_of(property, units, op);
  Causes causes(judge, registry());
  Batch batch(op);
  StructuredGenerator(op, seed).fill(0, 60000, batch);
  const std::vector<Verdict> verdicts = judge.judge(batch);
  int tried = 0;
  for (size_t i = 0; i < batch.size() && tried < 2000; ++i) {
    if (!verdicts[i].fails || verdicts[i].cls != ValueClass::normal) continue;
    ++tried;
    Batch one(op);
    one.append(batch, i);
    if (causes.find(one, {verdicts[i]})[0] != cause) continue;
    return Operands(op, Minimizer(judge, causes, shared).minimize(one, ValueClass::normal, cause), 0).cost().addends;
  }
  ADD_FAILURE() << "no failure of " << property << " with cause " << cause;
  return -1;
}

Op f16(int k) { return dot_op("fp16", "fp32", "fp32", k); }

// Why no fewer would do is said with each.
TEST(Witness, HasTheFewestAddends) {
  const auto overridden = [](const std::string& unit, const char* by) { return unit + "?" + by; };
  // Volta keeps 23 bits, as many as the result. c passes 2^n upward by one ulp; each product of half a last bit or more
  // is kept before and lost after. The one ulp gained must be lost and one more, by halves: three products and c.
  EXPECT_EQ(fewest_addends("monotone_in_c", {volta}, f16(4), "fraction_bits", 1), 4);
  // One addend alone is a product of 22 bits or c of 24. Of 24 bits, 23 below the greatest exponent keep all: two
  // addends.
  EXPECT_EQ(fewest_addends("equal", {volta, overridden(volta, "fraction_bits=24")}, f16(4), "fraction_bits", 2), 2);
  // 22 bits below the greatest exponent lose c's last one.
  EXPECT_EQ(fewest_addends("equal", {volta, overridden(volta, "fraction_bits=22")}, f16(4), "fraction_bits", 3), 1);
  // Rounding a result of fp32 needs more than 24 bits: two addends, whatever the mode.
  EXPECT_EQ(fewest_addends("equal", {hopper, overridden(hopper, "output_rounding=nearest_even")}, f16(16),
                           "output_rounding", 4),
            2);
  EXPECT_EQ(fewest_addends("equal", {hopper, overridden(hopper, "output_rounding=up")}, f16(16), "output_rounding", 5),
            2);
  EXPECT_EQ(
      fewest_addends("equal", {hopper, overridden(hopper, "output_rounding=down")}, f16(16), "output_rounding", 6), 2);
  EXPECT_EQ(fewest_addends("equal", {hopper, "exact"}, f16(16), "output_rounding", 7), 2);
  // Results with fewer fraction bits show on one product, or on c.
  EXPECT_EQ(fewest_addends("equal", {hopper, overridden(hopper, "output_fraction_bits=18")}, f16(16),
                           "output_fraction_bits", 8),
            1);
  EXPECT_EQ(fewest_addends("equal", {hopper, overridden(hopper, "output_fraction_bits=22")}, f16(16),
                           "output_fraction_bits", 9),
            1);
  // One addend alone gives itself in any block. Two: a product in [2, 4) in the first block is one exponent higher as
  // the next block's c than as a product beside the second, which loses one bit more: 2.25 - 2^-25.
  EXPECT_EQ(fewest_addends("equal", {hopper, overridden(hopper, "block=8")}, f16(16), "block", 10), 2);
}

/// Distance of the greatest exponent of the first `count` numbers from that of 1.
int distance_from_one(const Operands& c, size_t count) {
  int greatest = INT_MIN;
  for (size_t at = 0; at < count; ++at)
    if (decode(c.format(at), c[at]).cls == NumberClass::finite)
      greatest = std::max(greatest, leading_exponent(c.format(at), c[at]));
  return std::abs(greatest);
}

// Slices of a row begin at its greatest number, so that its numbers can only move together. One at a time, each by one
// binade, they took 3,000 steps to come near 1.
TEST(Minimize, MovesTheNumbersOfAMatrixTogether) {
  CaseReader reader("far", R"(mmafuzz-cases 1
property inner_permutation ozaki:dgemm.fp16?block=8
op gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=9
8180000000000000 0000000000000000 0000000000000000 015fffffffffffff 0000000000000000 0000000000000000 0000000000000000 0000000000000000 015fffffffffffff | c12fffffffffffff 0000000000000000 0000000000000000 412fffffffffffff 0000000000000000 0000000000000000 0000000000000000 0000000000000000 c12fffffffffffff | 0000000000000000
)");
  CaseBlock block;
  ASSERT_TRUE(reader.next(block, 1)) << reader.error()->message;
  const Judge judge = judge_of("inner_permutation", {"ozaki:dgemm.fp16?block=8"}, block.batch.op());
  ASSERT_TRUE(judge.judge(block.batch)[0].fails);
  const Operands far(judge.op(), block.batch, 0);
  ASSERT_GT(distance_from_one(far, 9), 900);
  int nearest = INT_MAX;
  for (const Simplification simplify : simplifications())
    for (const Operands& candidate : simplify(far)) {
      Batch moved(judge.op());
      moved.resize(1);
      candidate.store(moved, 0);
      if (is_simpler(candidate, candidate.cost(), far, far.cost()) && judge.judge(moved)[0].fails)
        nearest = std::min(nearest, distance_from_one(candidate, 9));
    }
  EXPECT_EQ(nearest, 0);
}

TEST(Causes, NameTheParameterThatWasChanged) {
  for (const char* overridden :
       {"fraction_bits=24", "block=8", "output_rounding=nearest_even", "output_fraction_bits=22", "nan=7fc00000"}) {
    const Op op = f16(16);
    const Judge judge = judge_of("equal", {hopper, std::string(hopper) + "?" + overridden}, op);
    Causes causes(judge, registry());
    Batch batch(op), failing(op);
    StructuredGenerator(op, 1).fill(0, 2000, batch);
    const std::vector<Verdict> verdicts = judge.judge(batch);
    std::vector<Verdict> said;
    for (size_t i = 0; i < batch.size(); ++i) {
      if (!verdicts[i].fails) continue;
      failing.append(batch, i);
      said.push_back(verdicts[i]);
    }
    ASSERT_GT(said.size(), 0u) << overridden;
    const std::string name = std::string(overridden).substr(0, std::string(overridden).find('='));
    for (const std::string& cause : causes.find(failing, said)) EXPECT_EQ(cause, name);
    EXPECT_NE(causes.detail(name).find(" against "), std::string::npos);
  }
}

TEST(Causes, OfScalarOperationsAreChangesOfTheOp) {
  struct Example {
    const char* op;
    const char* other;  ///< op whose result the deviating unit gives
    uint64_t operand;
    const char* cause;
  };
  for (const Example& e :
       {Example{"convert from=fp32 to=fp16", "convert from=fp32 to=fp16 round=toward_zero", 0x3f803fff, "rounding"},
        Example{"convert from=fp32 to=fp16", "convert from=fp32 to=fp16 ftz=1", 0x33800000, "subnormals"},
        Example{"convert from=fp32 to=fp16", "convert from=fp32 to=fp16 saturate=1", 0x7f7fffff, "saturation"}}) {
    const Result<Op> op = parse_op(e.op), other = parse_op(e.other);
    ASSERT_TRUE(op && other) << e.op << ", " << e.other;
    const OpVariants variants(*op, registry());
    Batch asked(*op), given(*other);
    for (Batch* batch : {&asked, &given}) {
      batch->resize(1);
      batch->inputs()[0].set(0, 0, e.operand);
    }
    Outcomes first, second;
    (*registry().bind("ieee", *op))->run(asked, first);
    (*registry().bind("ieee", *other))->run(given, second);
    EXPECT_EQ(variants.name(asked, 0, first, second), e.cause) << e.other;
    EXPECT_EQ(variants.name(asked, 0, second, first), e.cause) << e.other;
  }
}

}  // namespace
}  // namespace mmafuzz
