// Facts: what buckets have in common, what rows imply, and what is known.
#include "triage/facts/facts.h"
#include "triage/store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/case_text.h"
#include "core/text.h"
#include "oracles/families.h"
#include "oracles/models/gpu_names.h"
#include "oracles/models/model_rows.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "plan/unit_alias.h"
#include "triage/causes.h"
#include "triage/facts/conclusions.h"
#include "triage/facts/conclusions_text.h"
#include "triage/facts/fact_name.h"
#include "triage/facts/smallest_case.h"
#include "triage/kernel_steps.h"
#include "tests/named_units.h"

namespace mmafuzz {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string mxfp4 = "model:blackwell/tcgen05.kind::";
const char half_dot[] = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16";

Bucket bucket(const std::string& first, const std::string& second, std::vector<std::string> facts,
              uint64_t addends = 2) {
  Bucket b;
  b.key = {"equal", "dot.f32.f16.f16.f32", {first, second}, "normal"};
  for (const std::string& fact : facts) b.cause += (b.cause.empty() ? "" : ",") + parts_of_fact(fact).subject;
  b.facts = std::move(facts);
  b.count = 1;
  b.addends = addends;
  b.witness =
      "mmafuzz-cases 1\nproperty equal " + first + " " + second + "\nop " + half_dot + "\n0000 | 0000 | 3f800000\n";
  return b;
}

std::vector<std::string> names(const std::vector<Fact>& facts) {
  std::vector<std::string> list;
  for (const Fact& fact : facts) list.push_back(fact.name);
  return list;
}

Bucket shown_by(const std::string& results, const std::string& op, const std::string& line) {
  Bucket b = bucket("one", "other", {"block=4~8"});
  b.witness = "mmafuzz-cases 1\n# results " + results + "\nproperty equal one other\nop " + op + "\n" + line + "\n";
  return b;
}

TEST(SmallestCase, IsASumInNumbersWithBothResults) {
  EXPECT_EQ(smallest_case(shown_by("bf800000 bf7fffff", "dot a=fp16 b=fp16 c=fp32 d=fp32 k=2",
                                   "0400 0000 | 1400 0000 | bf800000")),
            "2^-14 * 2^-10 - 1 is -1 on one and -0.99999994 on other");
  Bucket of_gpus =
      shown_by("bf800000 bf7fffff", "dot a=fp16 b=fp16 c=fp32 d=fp32 k=2", "0400 0000 | 1400 0000 | bf800000");
  of_gpus.key.units = {ampere, volta};
  EXPECT_THAT(smallest_case(of_gpus),
              HasSubstr("is -1 on a100 (mma.m16n8k16.f32.f16.f16.f32) and -0.99999994 on v100 ("));
  // 1.5 times 2^1, and a scale of 1, which is left out
  EXPECT_EQ(smallest_case(shown_by("40400000 00000000", "dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=4 sa=e8m0 sb=e8m0 sblock=2",
                                   "0 0 3 0 | 0 0 2 0 | 00000000 | 7f 80 | 7f 7f")),
            "1.5 * 1 * 2 is 3 on one and 0 on other");
  EXPECT_EQ(
      smallest_case(shown_by("7fc00000 7fffffff", "dot a=fp16 b=fp16 c=fp32 d=fp32 k=1", "7c00 | bc00 | 7f800000")),
      "+inf * -1 + +inf is 7fc00000 on one and 7fffffff on other");
  EXPECT_EQ(smallest_case(shown_by("0 1", "dot a=fp16 b=fp16 c=fp32 d=fp32 k=5",
                                   "3c00 3c00 3c00 3c00 3c00 | 3c00 3c00 3c00 3c00 3c00 | 00000000")),
            "")
      << "too long for a line";
}

TEST(FactName, DoesNotDependOnWhichUnitIsFirst) {
  EXPECT_EQ(difference_fact("fraction_bits", "25", "24"), "fraction_bits=24~25");
  EXPECT_EQ(difference_fact("fraction_bits", "24", "25"), "fraction_bits=24~25");
  EXPECT_EQ(difference_fact("zero_exponent", "-132", "-133"), "zero_exponent=-133~-132") << "as numbers";
  EXPECT_EQ(difference_fact("block", "16", "8"), "block=8~16");
  EXPECT_EQ(difference_fact("fraction_bits", "all", "9"), "fraction_bits=9~all") << "numbers before words";
  EXPECT_EQ(kernel_fact("ieee:serial", "fused_sum"), "kernel=fused_sum~ieee")
      << "the orders of IEEE steps are one kind";
  EXPECT_EQ(kernel_fact("ieee:serial", "ieee:fma"), "kernel=ieee:fma~ieee:serial") << "but not against each other";
  EXPECT_EQ(kernel_fact("ieee_tree", "ieee"), "kernel=ieee~ieee_tree") << "a kernel of rows is no reference";
  EXPECT_EQ(kernel_fact("exact", "fused_sum"), kernel_fact("fused_sum", "exact_sum")) << "an exact sum is one";
  EXPECT_EQ(kernel_fact("exact", "fused_sum"), "kernel=exact_sum~fused_sum");
  EXPECT_EQ(kernel_fact("exact", "exact_sum"), "kernel=exact~exact_sum") << "but not against each other";
  EXPECT_EQ(property_fact("split_k", "ieee:pairwise"), "split_k/ieee");
}

TEST(FactName, ComesApartAgain) {
  const FactParts difference = parts_of_fact("nan=7fc00000~7fffffff"),
                  property = parts_of_fact("monotone_in_c/fused_sum"), claim = parts_of_fact("claim/plugin:./a=b.so");
  EXPECT_EQ(difference.subject, "nan");
  EXPECT_EQ(difference.first, "7fc00000");
  EXPECT_EQ(difference.second, "7fffffff");
  EXPECT_EQ(property.kind, FactParts::Kind::property);
  EXPECT_EQ(property.subject, "monotone_in_c");
  EXPECT_EQ(property.first, "fused_sum");
  EXPECT_EQ(claim.kind, FactParts::Kind::claim);
  EXPECT_EQ(claim.first, "plugin:./a=b.so");
}

TEST(Facts, JoinPairsFormatsAndClasses) {
  Bucket other = bucket(ampere, volta, {"fraction_bits=23~24"}, 3);
  other.key.op = "dot.f16.f16.f16.f16";
  other.key.value_class = "subnormal";
  const std::vector<Fact> facts = facts_of({bucket(volta, ampere, {"fraction_bits=23~24"}), other});
  ASSERT_THAT(names(facts), ElementsAre("fraction_bits=23~24"));
  EXPECT_EQ(facts[0].buckets.size(), 2u);
  EXPECT_EQ(facts[0].ops.size(), 2u);
  EXPECT_EQ(facts[0].best.addends, 2u) << "the simplest witness stands for all";
  EXPECT_THAT(sentence(facts[0]), HasSubstr("23 (volta) against 24 (ampere)"));
}

TEST(Facts, AreAsOldAsTheirEarliestBucketAndAsGraveAsTheGravest) {
  std::vector<Bucket> buckets = {bucket("one", "other", {"block=4~8"}), bucket("one", "third", {"block=4~8"}),
                                 bucket("other", "third", {"block=4~8"})};
  const int64_t seen[] = {30, 10, 20};
  const Severity severities[] = {Severity::semantic, Severity::accuracy, Severity::semantic};
  for (size_t i = 0; i < buckets.size(); ++i) {
    buckets[i].first_seen = seen[i];
    buckets[i].severity = severities[i];
  }
  const std::vector<Fact> facts = facts_of(buckets);
  ASSERT_THAT(names(facts), ElementsAre("block=4~8"));
  EXPECT_EQ(facts[0].first_seen, 10);
  EXPECT_EQ(facts[0].severity, Severity::accuracy);
  EXPECT_EQ(facts[0].divergences, 3u);
}

TEST(Facts, WitnessesAreMadeMinimalOnTwoOpsOfAFactAndOnEachOpOfABrokenClaim) {
  const auto on_ops = [](const std::string& fact, std::initializer_list<uint64_t> addends) {
    std::vector<Bucket> list;
    for (const uint64_t n : addends) {
      list.push_back(bucket(volta, ampere, {fact}, n));
      list.back().key.op = "op" + std::to_string(n);
    }
    return list;
  };
  const std::vector<Bucket> known = on_ops("fraction_bits=23~24", {5, 3, 4, 2});
  EXPECT_EQ(simplest_of_each_fact(known), (std::set<std::string>{known[1].id(), known[3].id()}));
  EXPECT_EQ(simplest_of_each_fact(on_ops("claim/" + volta, {5, 3, 4, 2})).size(), 4u);
  std::vector<Bucket> without = known;
  without[3].witness.clear();
  EXPECT_EQ(simplest_of_each_fact(without), (std::set<std::string>{known[1].id(), known[2].id()}));
}

TEST(Facts, ACombinationOfWhatOccursAloneIsNoFactOfItsOwn) {
  const std::vector<Fact> facts =
      facts_of({bucket(volta, ampere, {"fraction_bits=23~24"}), bucket(volta, ampere, {"block=4~8"}),
                bucket(volta, ampere, {"block=4~8", "fraction_bits=23~24"})});
  ASSERT_THAT(names(facts), ElementsAre("block=4~8", "fraction_bits=23~24"));
  for (const Fact& fact : facts) EXPECT_EQ(fact.buckets.size(), 2u) << fact.name << ": the combination counts for both";
}

TEST(Facts, ACombinationWithAPartThatNothingShowsAloneIsOne) {
  const std::string kernels = "kernel=ieee~two_stage_sum";
  const std::vector<Fact> facts =
      facts_of({bucket(volta, ampere, {"block=4~8"}), bucket(volta, ampere, {"block=4~8", kernels})});
  EXPECT_THAT(names(facts), ElementsAre("block=4~8", "block=4~8+" + kernels));
}

TEST(Facts, WhatTwoRowsSayOfThemselvesIsAFactThoughItNeverShowsAlone) {
  EXPECT_THAT(names(facts_of({bucket(volta, ampere, {"block=4~8", "fraction_bits=23~24"})})),
              ElementsAre("block=4~8", "fraction_bits=23~24"));
  EXPECT_THAT(names(facts_of({bucket(volta, ampere, {"block=4~8", "kernel=fused_sum~two_stage_sum"})})),
              ElementsAre("block=4~8", "kernel=fused_sum~two_stage_sum"));
  EXPECT_THAT(names(facts_of({bucket("split:ootomo.fp16", "split:markidis.fp16",
                                     {"split.scale=0~11", "split.accumulate=inside~outside"})})),
              ElementsAre("split.accumulate=inside~outside", "split.scale=0~11"));
}

TEST(Facts, ACombinationOfWhatIsKnownToOccurAloneIsNoneEither) {
  const std::string kernels = "kernel=ieee~two_stage_sum";
  const std::vector<Bucket> both = {bucket(volta, ampere, {"block=4~8", kernels})};
  EXPECT_THAT(names(facts_of(both, {kernels})), ElementsAre("block=4~8", kernels));
}

TEST(Facts, OfABrokenClaimStandFirst) {
  Bucket broken = bucket("plugin:a.so", hopper, {claim_fact("plugin:a.so", "equals_model")});
  broken.key.property = "equals_model";
  broken.severity = Severity::contract;
  const std::vector<Fact> facts = facts_of({bucket(volta, ampere, {"block=4~8"}), broken});
  EXPECT_THAT(names(facts), ElementsAre("claim/plugin:a.so", "block=4~8"));
  EXPECT_TRUE(facts[0].is_contradiction);
  EXPECT_FALSE(facts[1].is_contradiction);
}

TEST(Facts, NoBucketIsLost) {
  const std::vector<Bucket> all = {bucket(volta, ampere, {"block=4~8"}),
                                   bucket(volta, hopper, {"nan=7fc00000~7fffffff", "k=4~8"}),
                                   bucket(volta, hopper, {})};
  std::set<std::string> found;
  for (const Fact& fact : facts_of(all)) found.insert(fact.buckets.begin(), fact.buckets.end());
  EXPECT_EQ(found.size(), all.size());
}

/// Khattak and Mikaitis (2025), table 1: V100 keeps 23 bits and has blocks of 4, A100 24 and 8, H100 25 and 16.
TEST(Expectations, FollowFromRows) {
  const auto expected = expected_facts(registry(), {{op_from_text(half_dot), {volta, ampere, hopper, "exact"}}});
  for (const char* name :
       {"fraction_bits=23~24", "fraction_bits=24~25", "fraction_bits=23~25", "block=4~8", "block=8~16", "block=4~16",
        "fraction_bits=23~all", "output_rounding=nearest_even~toward_zero"})
    EXPECT_TRUE(expected.count(name)) << name;
  EXPECT_TRUE(expected.at("block=4~8").is_required);
  EXPECT_FALSE(expected.at("fraction_bits=23~all").is_required) << "against a reference, others may hide it";
  EXPECT_FALSE(expected.count("fraction_bits=24~24"));
  EXPECT_TRUE(expected_facts(registry(), {{op_from_text(half_dot), {hopper}}}).empty()) << "one unit has no difference";
}

TEST(Expectations, KnowThatProductsPerInstructionAreOnlyAName) {
  const std::string chain_of_4 = "model:cdna1/mfma.16x16x4.f32.f32.f32.f32",
                    chain_of_1 = "model:x86/fma.k1.f32.f32.f32.f32";
  const auto expected = expected_facts(
      registry(), {{op_from_text("dot a=fp32 b=fp32 c=fp32 d=fp32 k=4 nan=any"), {chain_of_4, chain_of_1}}});
  ASSERT_TRUE(expected.count("k=1~4"));
  EXPECT_FALSE(expected.at("k=1~4").is_required) << "a chain goes on from instruction to instruction";
}

/// About one structured case in a million shows whether an instruction's own c of -0 reads +0 (docs/semantics.md, N6).
TEST(Expectations, DoNotAskForTheSignOfAZeroBetweenInstructions) {
  const std::string of_2 = "model:cdna2/mfma.32x32x2.f32.bf16.bf16.f32",
                    of_8 = "model:cdna2/mfma.16x16x8.f32.bf16.bf16.f32";
  const auto expected =
      expected_facts(registry(), {{op_from_text("dot a=bf16 b=bf16 c=fp32 d=fp32 k=16"), {of_2, of_8}}});
  ASSERT_TRUE(expected.count("k=2~8"));
  EXPECT_FALSE(expected.at("k=2~8").is_required);
  EXPECT_FALSE(expected.at("k=2~8").is_hidden);
}

/// A product of fp16 numbers weighs 2^-28 or more before normalization, a c in fp32 2^-126: no floor of -131 is seen.
TEST(Expectations, KnowThatNothingLiesBelowTheAlignmentFloor) {
  const auto half = expected_facts(registry(), {{op_from_text(half_dot), {volta, ampere}}});
  ASSERT_TRUE(half.count("zero_exponent=-132~-131"));
  EXPECT_FALSE(half.at("zero_exponent=-132~-131").is_required);
  EXPECT_TRUE(half.at("zero_exponent=-132~-131").is_hidden);
  const auto wide = expected_facts(
      registry(), {{op_from_text("dot a=tf32 b=tf32 c=fp32 d=fp32 k=8"),
                    {"model:ampere/mma.m16n8k8.f32.tf32.tf32.f32", "model:hopper/mma.m16n8k8.f32.tf32.tf32.f32"}}});
  EXPECT_TRUE(wide.at("zero_exponent=-133~-132").is_required);
}

/// The facts of one case; empty where this CPU does not have the instruction.
std::vector<std::string> facts_between(const std::string& x, const std::string& y, const std::string& op,
                                       const std::string& line) {
  const std::string text = "mmafuzz-cases 1\nop " + op + "\n" + line + "\n";
  CaseReader reader("here", text);
  CaseBlock block;
  EXPECT_TRUE(reader.next(block, 1)) << text;
  const Result<Judge> judge = Judge::bind("equal", {x, y}, block.batch.op(), registry());
  if (!judge) return {};
  Causes causes(*judge, registry());
  return causes.facts(causes.find(block.batch, judge->judge(block.batch))[0]);
}

TEST(Facts, OfAProcessorsInstructionAreThoseOfItsRow) {
  // (1 + 2^-23)(1 + 2^-22) - 1: dpps rounds the product first.
  const auto facts =
      facts_between("cpu:dpps.f32", "cpu:fma.f32", "dot a=fp32 b=fp32 c=fp32 d=fp32 k=4 nan=any",
                    "3f800001 00000000 00000000 00000000 | 3f800002 00000000 00000000 00000000 | bf800000");
  if (facts.empty()) GTEST_SKIP() << "this CPU has no dpps or no fma";
  EXPECT_THAT(facts, ElementsAre("kernel=fma_chain~ieee_tree"));
}

TEST(Facts, OfACorrectConversionAreNotThoseOfWhoeverComputesIt) {
  const Op op = op_from_text("convert from=fp32 to=e4m3 round=nearest_even nan=any");
  for (const char* unit : {"exact", "ieee", "bulk"})
    EXPECT_EQ(operation_of(**registry().bind(unit, op)), "exact") << unit;
}

TEST(Facts, OfANanThatAProcessorHandsOnAreNotOfItsArithmetic) {
  const auto facts =
      facts_between("cpu:dpps.f32", "exact", "dot a=fp32 b=fp32 c=fp32 d=fp32 k=4",
                    "3f800000 00000000 00000000 00000000 | 7fc12345 00000000 00000000 00000000 | 00000000");
  if (facts.empty()) GTEST_SKIP() << "this CPU has no dpps";
  EXPECT_THAT(facts, ElementsAre("nan_payload=dropped~kept"));
}

TEST(Conclusions, SortFactsByWhatIsKnown) {
  const auto expected = expected_facts(registry(), {{op_from_text(half_dot), {volta, ampere}}});
  Knowledge knowledge;
  Fact known;
  known.name = "block=4~8";
  known.best = bucket(volta, ampere, {"block=4~8"});
  knowledge.accept(known, "published");
  const Conclusions all = conclude({bucket(volta, ampere, {"block=4~8"}), bucket(volta, ampere, {"block=4~9"}),
                                    bucket(volta, ampere, {"nan=7fc00000~7fffffff"})},
                                   knowledge, expected);
  EXPECT_THAT(names(all.confirmed), ElementsAre("block=4~8"));
  EXPECT_THAT(names(all.contradictions), Contains("block=4~9")) << "no row has such a block";
  EXPECT_THAT(names(all.contradictions), Contains("nan=7fc00000~7fffffff")) << "both rows have one NaN";
  std::vector<std::string> unseen;
  for (const auto& [name, example] : all.unseen) unseen.push_back(name);
  EXPECT_THAT(unseen, ElementsAre("fraction_bits=23~24")) << "volta against ampere, units.md";
  EXPECT_THAT(conclusions_text(all, {}), HasSubstr("2 contradictions; no fact is new; 1 known fact was seen."));
}

TEST(Conclusions, TellDifferencesOfGpusInNumbersFirst) {
  const auto shown = [](const std::string& fact, const std::string& unit, const std::string& value_class) {
    Bucket b = shown_by("bf800000 bf7fffff", "dot a=fp16 b=fp16 c=fp32 d=fp32 k=2", "0400 0000 | 1400 0000 | bf800000");
    b.key.units = {volta, unit};
    b.key.value_class = value_class;
    b.facts = {fact};
    return b;
  };
  // Of the first fact a simpler witness shows a NaN; the second one shows no numbers of two GPUs, the third one no
  // numbers.
  std::vector<Bucket> buckets = {
      shown("fraction_bits=23~24", volta, "special"), shown("fraction_bits=23~24", ampere, "normal"),
      shown("block=4~all", "exact", "normal"), shown("zero_sign=ieee~positive", ampere, "zero_sign")};
  buckets[0].addends = 0;
  Conclusions all;
  all.confirmed = facts_of(buckets);
  const auto told = [&](size_t most, uint64_t seed) {
    return conclusions_text(all, {.width = 200, .max_known = most, .seed = seed, .store = "none.sqlite"});
  };
  std::set<std::string> drawn;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_THAT(told(1, seed), AllOf(HasSubstr("23 (volta) against 24 (ampere)"), HasSubstr("-0.99999994 on a100 ("),
                                     Not(HasSubstr("exact"))));
    EXPECT_THAT(told(2, seed), AllOf(HasSubstr(" on exact"), Not(HasSubstr("zero"))));
  }
  all.confirmed = facts_of(
      {buckets[1], shown("block=4~8", ampere, "normal"), shown("special_scope=block~whole_k", ampere, "normal")});
  for (uint64_t seed = 0; seed < 20; ++seed) drawn.insert(told(1, seed));
  EXPECT_GT(drawn.size(), 1u) << "the seed chooses among equals";
}

TEST(Knowledge, IsReadAsItWasWritten) {
  const std::string folder = testing::TempDir() + "knowledge_is_read";
  std::filesystem::remove_all(folder);
  Knowledge written;
  for (const char* name : {"block=4~8", "monotone_in_c/fused_sum", "claim/plugin:x.so"}) {
    Fact fact;
    fact.name = name;
    fact.best = bucket(volta, ampere, {name});
    written.accept(fact, "seen on " + std::string(name));
  }
  written.save(folder);
  const Knowledge read(folder);
  ASSERT_EQ(read.facts().size(), 3u);
  const KnownFact* fact = read.find("block=4~8");
  ASSERT_NE(fact, nullptr);
  EXPECT_EQ(fact->reason, "seen on block=4~8");
  EXPECT_EQ(fact->statement, "equal " + volta + " " + ampere);
  EXPECT_EQ(fact->op, std::string("op ") + half_dot);
  EXPECT_EQ(fact->one_case, "0000 | 0000 | 3f800000");
  std::ofstream(folder + "/more.facts") << "mmafuzz-facts 1\nblock=4~8\tunseen\ttwice\n";
  EXPECT_THROW(Knowledge{folder}, std::runtime_error) << "a fact stands once";
  std::ofstream(folder + "/more.facts") << "mmafuzz-facts 1\nblock=4~9\tseen\tno witness\n";
  EXPECT_THROW(Knowledge{folder}, std::runtime_error);
  EXPECT_THROW(written.accept({}, ""), std::runtime_error) << "a reason is part of knowing";
}

/// The repository's knowledge: every witness shows its fact today.
TEST(Knowledge, OfTheRepositoryStillHolds) {
  const Knowledge knowledge(MMAFUZZ_SOURCE_DIR "/corpus/knowledge");
  ASSERT_GT(knowledge.facts().size(), 20u);
  for (const auto& [name, fact] : knowledge.facts()) {
    if (!fact.is_seen) continue;
    CaseReader reader(name, "mmafuzz-cases 1\n" + fact.op + "\n" + fact.one_case + "\n");
    CaseBlock block;
    ASSERT_TRUE(reader.next(block, 1)) << name;
    const std::vector<std::string> statement = words_of(fact.statement);
    Result<Judge> judge =
        Judge::bind(statement[0], {statement.begin() + 1, statement.end()}, block.batch.op(), registry());
    if (!judge && judge.refusal().kind == Refusal::Kind::declined) continue;  // a CPU without the instruction
    ASSERT_TRUE(judge) << name << ": " << judge.refusal().reason;
    const std::vector<Verdict> verdicts = judge->judge(block.batch);
    ASSERT_TRUE(verdicts[0].fails) << name;
    Causes causes(*judge, registry());
    const std::string cause = causes.find(block.batch, verdicts)[0];
    const std::vector<std::string> parts = causes.facts(cause);
    std::string all;
    for (const std::string& part : parts) all += (all.empty() ? "" : "+") + part;
    if (is_about_rows(name)) {
      EXPECT_THAT(parts, Contains(name)) << "the witness shows " << cause;
    } else EXPECT_EQ(all, name) << "the witness shows " << cause;
  }
}

/// What matters between two units on a case, by the arithmetic of a pencil: 1 = 3f800000, 2^-24 = 33800000.
std::string steps_between(const std::string& x, const std::string& y, const std::string& op, const std::string& line) {
  const std::string text = "mmafuzz-cases 1\nop " + op + "\n" + line + "\n";
  CaseReader reader("here", text);
  CaseBlock block;
  EXPECT_TRUE(reader.next(block, 1)) << text;
  Result<Judge> judge = Judge::bind("equal", {x, y}, block.batch.op(), registry());
  EXPECT_TRUE(judge) << x << " " << y;
  return steps_that_matter(*judge, block.batch, registry());
}

TEST(KernelSteps, NameTheStepThatMakesTheDifference) {
  const std::string one = "dot a=fp32 b=fp32 c=fp32 d=fp32 k=1", two = "dot a=fp32 b=fp32 c=fp32 d=fp32 k=2";
  // (1 + 3 * 2^-23)^2 - 1: a rounded product loses 9 * 2^-46.
  EXPECT_EQ(steps_between("exact", "ieee:serial", one, "3f800003 | 3f800003 | bf800000"),
            "products exact against rounded");
  // 1 + 2^-24 + 2^-24: each addition rounds to 1, the whole sum is 1 + 2^-23.
  const std::string ties = "33800000 33800000 | 3f800000 3f800000 | 3f800000";
  EXPECT_EQ(steps_between("exact", "ieee:fma", two, ties), "additions rounded once against each, in order");
  EXPECT_EQ(steps_between("ieee:fma", "exact", two, ties), "additions rounded each, in order against once");
  EXPECT_EQ(steps_between("ieee:serial", "ieee:pairwise", two, ties),
            "additions rounded each, in order against each, in pairs");
  // 2^24 + 1 + 1 and c: in CDNA1's step everything is exact, in CDNA2's 2^24 + 1 is rounded.
  EXPECT_EQ(
      steps_between("model:cdna1/mfma.16x16x16.f32.f16.f16.f32", "model:cdna2/mfma.16x16x16.f32.f16.f16.f32",
                    "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4", "6c00 3c00 3c00 0000 | 6c00 3c00 3c00 0000 | 00000000"),
      "additions rounded once against each, in pairs");
  // Hopper drops 2^-25 below 1, where everything else is equal: there is one step of 16, and nothing to round.
  EXPECT_EQ(steps_between(hopper, "exact", half_dot,
                          "3c00 0001 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 | "
                          "3c00 0400 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 | bf800000"),
            "bits kept below the greatest exponent 25 against all");
}

TEST(KernelSteps, ReplaceTheBlockOfARowThatDropsBits) {
  // Ampere's first step is 1 + 2^-24, of which 24 bits are left; the second one adds -1. One step would keep 2^-24.
  EXPECT_EQ(steps_between(ampere, "exact", half_dot,
                          "3c00 0001 0000 0000 0000 0000 0000 0000 bc00 0000 0000 0000 0000 0000 0000 0000 | "
                          "3c00 3c00 0000 0000 0000 0000 0000 0000 3c00 0000 0000 0000 0000 0000 0000 0000 | 00000000"),
            "products per step 8 against all");
}

TEST(KernelSteps, SpeakOfASecondStage) {
  // 1 - 2^-40: Ampere cuts c toward zero and gives 1. CDNA3 cuts it downwards, to -2^-24, after the products.
  EXPECT_EQ(
      steps_between("model:ampere/mma.m16n8k8.f32.f16.f16.f32", "model:cdna3/mfma.32x32x8.f32.f16.f16.f32",
                    "dot a=fp16 b=fp16 c=fp32 d=fp32 k=2", "3c00 0000 | 3c00 0000 | ab800000"),
      "c added with the products against in a second stage, where both are cut anew; the second stage cuts nothing "
      "against downwards, their sum too");
}

TEST(KernelSteps, SpeakOfFloorsAndComplements) {
  const std::string half = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=2";
  // 4 - 1: of RDNA3's units, 2^-22, the complement of 2^22 is -2^22 - 1. Without it the sum is exact.
  EXPECT_EQ(
      steps_between("model:rdna3/v_dot2.1x1x2.f32.f16.f16.f32", "exact", half, "4400 bc00 | 3c00 3c00 | 00000000"),
      "addends cut to one's complements where c's sign is another against toward zero");
  // 1 - 2^-28: RDNA4 cuts the lesser product downwards, to -2^-24.
  EXPECT_EQ(
      steps_between("model:rdna4/v_dot2.1x1x2.f32.f16.f16.f32", "exact", half, "3c00 0400 | 3c00 8400 | 00000000"),
      "addends cut downwards against toward zero");
  // 1 + 2^-24 + 2^-25: 2^-25 makes it more than a tie, and is kept by the two bits that c has below 2^-24.
  EXPECT_EQ(steps_between("model:rdna4/v_dot2.1x1x2.f32.f16.f16.f32",
                          "model:rdna4/v_dot2.1x1x2.f32.f16.f16.f32?c_guard_bits=0", half,
                          "0c00 0c00 | 0c00 0800 | 3f800000"),
            "bits kept below c beyond these 2 against 0");
}

TEST(KernelSteps, SpeakOfForms) {
  const std::string single = "dot a=fp32 b=fp32 c=fp32 d=fp32 k=1", pair = "dot a=bf16 b=bf16 c=fp32 d=fp32 k=2";
  const auto of_fma = [&](const char* form, const char* other) {
    const auto name = [](const char* of) { return std::string("model:power10/xvf32ger") + of + ".k1.f32.f32.f32.f32"; };
    return steps_between(name(form), name(other), single, "40000000 | 40400000 | 3f800000");  // 2 * 3 and 1
  };
  EXPECT_EQ(of_fma("pp", "nn"), "of a sum s and c s + c against -(s + c)");
  EXPECT_EQ(of_fma("np", "pn"), "of a sum s and c -(s - c) against s - c");
  EXPECT_EQ(of_fma("", "pp"), "of a sum s and c s alone against s + c");
  const auto of_pairs = [&](const char* form, const char* other) {
    const auto name = [](const char* of) {
      return std::string("model:power10/xvbf16ger2") + of + ".k2.f32.bf16.bf16.f32";
    };
    return steps_between(name(form), name(other), pair, "4000 0000 | 4040 0000 | 3f800000");
  };
  EXPECT_EQ(of_pairs("np", "nn"), "of a sum s and c c - s against -s - c");
  EXPECT_EQ(of_pairs("pn", ""), "of a sum s and c s - c against s alone");
}

TEST(KernelSteps, SpeakOfEvenAndOddProducts) {
  // 2^14 - 2^-20: the odd product by itself is cut downwards, to -2^-10.
  EXPECT_EQ(steps_between("model:cdna3/mfma.16x16x32.f32.e4m3fnuz.e4m3fnuz.f32", "exact",
                          "dot a=e4m3fnuz b=e4m3fnuz c=fp32 d=fp32 k=2", "78 01 | 78 81 | 00000000"),
            "products cut even and odd ones apart against all together");
}

TEST(KernelSteps, SpeakOfACThatJoinsLast) {
  // 2^6 + 2^-18 - 2^6: Hopper's emulated FP8 rounds the products' sum to 24 bits before it adds c.
  EXPECT_EQ(steps_between("model:hopper/mma.m16n8k32.f32.e4m3.e4m3.f32", "exact", "dot a=e4m3 b=e4m3 c=fp32 d=fp32 k=2",
                          "50 01 | 50 01 | c2800000"),
            "c added last against with the products");
}

TEST(KernelSteps, SpeakOfGroups) {
  std::string zeros;
  for (int i = 2; i < 64; ++i) zeros += " 0";
  const auto steps = [&](const char* c) {
    return steps_between(mxfp4 + "mxf8f6f4.block32.m128n8k32.f32.e2m1.e2m1.f32.ue8m0",
                         mxfp4 + "mxf4.block32.m128n8k64.f32.e2m1.e2m1.f32.ue8m0",
                         "dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=64 sa=e8m0 sb=e8m0 sblock=32",
                         "7 f" + zeros + " | 7 7" + zeros + " | " + c + " | 7f 7f | 7f 7f");
  };
  // 6 * 6 - 6 * 6 + c: a product has the exponent 4, a group that of its scales, 0. 2^-24 is more than 25 bits below
  // 2^4,
  EXPECT_EQ(steps("33800000"), "products cut all together against as exact sums of 16");
  // and 2^-33 more than 25 below 2^0 and than 35 below 2^4.
  EXPECT_EQ(steps("2f000000"),
            "products cut all together against as exact sums of 16; "
            "bits kept below the greatest exponent 25 against 35");
}

TEST(KernelSteps, AreSilentWhereTheyCannotSay) {
  const std::string one = "dot a=fp32 b=fp32 c=fp32 d=fp32 k=1";
  EXPECT_EQ(steps_between("exact", "ieee:serial", one, "7f800000 | 00000000 | 00000000"), "") << "an infinity";
  EXPECT_EQ(steps_between("exact", "ieee:serial", one, "3f800000 | 3f800000 | 00000000"), "") << "they agree";
}

TEST(Aliases, TakeTheRowThatTheOpAsksFor) {
  const Op half = op_from_text(half_dot), e4m3 = op_from_text("dot a=e4m3 b=e4m3 c=fp32 d=fp32 k=32");
  EXPECT_EQ(unit_of_alias("h100", half), hopper);
  EXPECT_EQ(unit_of_alias("H100", half), hopper);
  EXPECT_EQ(unit_of_alias("hopper", half), hopper);
  EXPECT_EQ(unit_of_alias("a100?block=16", half), ampere + "?block=16");
  EXPECT_EQ(unit_of_alias("h100/wgmma", e4m3), "model:hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32");
  EXPECT_EQ(unit_of_alias("v100", e4m3), "v100") << "no row takes the op: binding says so";
  EXPECT_EQ(unit_of_alias(hopper, half), hopper);
  EXPECT_EQ(unit_of_alias("exact", half), "exact");
  EXPECT_THROW(bind_or_fail("v100", e4m3), BadInput);
  EXPECT_TRUE(is_alias("mi300x"));
  EXPECT_FALSE(is_alias("mi301x"));
  EXPECT_EQ(unit_of_alias("rule=rceil?scale_by=product", half), "quantizer:rceil?scale_by=product");
  EXPECT_TRUE(is_alias("rule=floor"));
  EXPECT_FALSE(is_alias("rule=flour"));
}

// The units on CUDA cores stand back: a GPU's name means its matrix unit.
TEST(Aliases, TakeTheRowWhoseOwnOpItIs) {
  const auto on_cores = [](const ModelRow& row) { return row.model.kernel == Kernel::fma_then_add; };
  size_t asked = 0;
  for (const ModelRow& row : model_rows()) {
    if (row.arch == "x86" || on_cores(row)) continue;
    std::vector<std::string> names = {row.arch};
    for (const GpuName& gpu : gpu_names())
      if (gpu.arch == row.arch) names.push_back(gpu.name);
    const auto first = std::find_if(model_rows().begin(), model_rows().end(), [&](const ModelRow& other) {
      return other.arch == row.arch && other.op == row.op && !on_cores(other);
    });
    for (const std::string& name : names) EXPECT_EQ(unit_of_alias(name, row.op), "model:" + first->name()) << name;
    const std::string instruction = row.arch + "/" + row.instruction;
    EXPECT_THAT(unit_of_alias(instruction, row.op), StartsWith("model:" + instruction + "."));
    asked += names.size();
  }
  EXPECT_GT(asked, 500u);
  const Op fp4 = op_from_text("dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=64 sa=e8m0 sb=e8m0 sblock=32");
  const std::string mxf4 = "model:blackwell/tcgen05.kind::mxf4.block32.m128n8k64.f32.e2m1.e2m1.f32.ue8m0";
  EXPECT_EQ(unit_of_alias("b200", fp4), mxf4);
  Op longer = fp4;
  longer.k = 256;
  EXPECT_EQ(unit_of_alias("b200/tcgen05", longer), mxf4) << "of four steps of its own k, not eight of a narrower";
}

// As in the claim of a plugin (plugin_test): wherever a unit is named.
TEST(Aliases, StandInTheNamesOfOtherUnits) {
  const Op half = op_from_text(half_dot), dgemm = op_from_text("gemm a=fp64 b=fp64 c=fp64 d=fp64 m=2 n=2 k=16"),
           sgemm = op_from_text("gemm a=fp32 b=fp32 c=fp32 d=fp32 m=2 n=2 k=16");
  const auto name = [](const std::string& text, const Op& op) { return bind_or_fail(text, op)->name(); };
  EXPECT_EQ(name("ozaki:dgemm.fp16?slices=3,on=h100", dgemm), "ozaki:dgemm.fp16?slices=3,on=" + hopper);
  EXPECT_EQ(name("ozaki:sgemm.fp16?on=H100?block=8", sgemm), "ozaki:sgemm.fp16?on=" + hopper + "?block=8");
  EXPECT_EQ(name("ozaki:dgemm.s8?on=integer", dgemm), "ozaki:dgemm.s8?on=integer");
  EXPECT_EQ(name("split:ootomo.fp16?on=a100", sgemm), "split:ootomo.fp16?on=" + ampere);
  EXPECT_EQ(name("split:ootomo.fp16?scale=8", sgemm), "split:ootomo.fp16?scale=8");
  EXPECT_EQ(name("relu:h100", half), "relu:" + hopper);
  EXPECT_EQ(name("except_nan:relu:h100", half), "except_nan:relu:" + hopper);
  EXPECT_EQ(bind_or_fail("relu:h100", half)->role(), Role::model);
  const auto refusal = [](const std::string& text, const Op& op) { return registry().bind(text, op).refusal().reason; };
  EXPECT_THAT(refusal("ozaki:dgemm.e4m3?on=v100", dgemm), StartsWith("no unit of v100 takes 'op dot a=e4m3"));
  EXPECT_EQ(refusal("split:ootomo.fp16?on=h10", sgemm), refusal("h10", half));
  EXPECT_EQ(refusal("model:h100", half), "unknown unit 'model:h100': a GPU's name stands alone, h100");
  EXPECT_THAT(refusal("h10", half), AllOf(HasSubstr("unknown unit 'h10'"), HasSubstr("h100")));
}

TEST(Facts, HowOftenOneShowsIsSaidOfItAlone) {
  Bucket best = bucket("a", "b", {"fraction_bits=23~25"}, 2);
  best.detail = "in words" + extent_mark("fraction_bits=23~25") + "it changes 0.4 % alone, by up to 1 ulp" +
                extent_mark("zero_exponent=-133~-132") + "it changes 2 % alone";
  EXPECT_EQ(without_extents(best.detail), "in words");
  EXPECT_EQ(extent_of("zero_exponent=-133~-132", best.detail), "it changes 2 % alone");
  EXPECT_EQ(extent_of("block=4~8", best.detail), "");
  EXPECT_EQ(without_extents("in words"), "in words");
  const std::vector<Fact> facts = facts_of({best});
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_THAT(evidence(facts[0]),
              testing::EndsWith("smallest witness; in structured cases it changes 0.4 % alone, by up to 1 ulp"));
}

// Which bucket shows a fact best, and which detail a merge keeps, must not hang on who measured it.
TEST(Facts, HowOftenOneShowsDoesNotMakeAWitnessLonger) {
  const Bucket plain = bucket("a", "b", {"fraction_bits=23~25"}, 2);
  Bucket measured = plain;
  measured.detail += extent_mark("fraction_bits=23~25") + "it changes 0.4 % alone";
  measured.witness += extent_mark("fraction_bits=23~25") + "it changes 0.4 % alone";
  EXPECT_EQ(joined(plain, measured).detail, measured.detail);
  EXPECT_EQ(joined(measured, plain).detail, measured.detail);
}

}  // namespace
}  // namespace mmafuzz
