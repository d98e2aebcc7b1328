// What a campaign did not show by chance is searched on purpose.
#include "campaign/expectations.h"
#include "campaign/fill_holes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/registry.h"
#include "plan/request.h"
#include "triage/facts/facts.h"

namespace mmafuzz {
namespace {

using testing::IsSupersetOf;

const std::string half_dot = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16",
                  half_result = "dot a=fp16 b=fp16 c=fp16 d=fp16 k=16";

struct Filled {
  size_t count = 0;
  std::vector<std::string> facts;
};

/// Of a campaign that found nothing yet.
Filled filled(const std::string& target, const std::string& op, const std::vector<std::string>& units,
              unsigned jobs = 1) {
  const Plan plan = make_plan({{target}, {op}, units, {"batch"}, {}, 0, 0, 1});
  Triage triage(registry());
  Filled all;
  all.count = fill_holes(triage, {}, plan, units, expectations_of(plan, units), jobs, [] { return true; });
  for (const Fact& fact : facts_of(triage.finish())) all.facts.push_back(fact.name);
  return all;
}

/// Khattak and Mikaitis (2025), table 1.
TEST(FillHoles, ShowsTheParametersInWhichRowsDiffer) {
  EXPECT_THAT(filled("dot_models", half_dot, {"model:volta/*", "model:ampere/mma.m16n8k16*"}).facts,
              IsSupersetOf({"block=4~8", "fraction_bits=23~24"}));
}

/// A floor of -19 against -21 (docs/units.md) shows in products of subnormals alone, and 23 against 25 bits hide it.
TEST(FillHoles, SetsOtherDifferencesAside) {
  const Filled found = filled("dot_models", half_result, {"model:volta/mma.m8n8k4*", "model:hopper/mma.m16n8k16*"});
  EXPECT_THAT(found.facts, IsSupersetOf({"zero_exponent=-21~-19"}));
}

/// Mikaitis (2023), "Monotonicity of multi-term floating-point adders": where what falls off below the greatest addend
/// is cut, the sum may fall when an addend grows.
TEST(FillHoles, BreaksPropertiesThatNobodyClaims) {
  EXPECT_THAT(filled("dot_monotone", half_dot, {"model:hopper/mma.m16n8k16*"}).facts,
              IsSupersetOf({"monotone_in_c/fused_sum"}));
}

/// What it finds on an op for which the search had no time is what the rows say, and no contradiction.
TEST(FillHoles, WhatItFindsMayBe) {
  const std::vector<std::string> units = {"model:volta/*", "model:hopper/mma.m16n8k16*"};
  const Plan plan = make_plan({{"dot_models"}, {half_dot, half_result}, units, {"batch"}, {}, 0, 0, 1});
  ASSERT_EQ(plan.assignments.size(), 2u);
  CampaignProgress progress;
  progress.shares[plan.assignments[0].name()].cases = 1;
  const std::map<std::string, Expectation> expected = expectations_of(plan, units, progress);
  for (const auto& [name, expectation] : expectations_of(plan, units)) EXPECT_TRUE(expected.count(name)) << name;
  EXPECT_TRUE(expected.at("fraction_bits=23~25").is_required) << "of both ops";
  EXPECT_FALSE(expected.at("zero_exponent=-21~-19").is_required) << "of the op that was not searched";
}

TEST(FillHoles, DoesNotDependOnThreads) {
  const std::vector<std::string> units = {"exact", "ieee:fma", "model:turing/*"};
  EXPECT_EQ(filled("dot_metamorphic", half_dot, units, 1).facts, filled("dot_metamorphic", half_dot, units, 3).facts);
}

TEST(FillHoles, LeavesOtherPeoplesCodeToWorkers) {
  const std::string plugin = "plugin:" MMAFUZZ_BINARY_DIR "/tests/truncating_dot.so",
                    op = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4";
  ASSERT_TRUE(registry().bind(plugin, op_from_text(op)));
  EXPECT_GT(filled("dot_metamorphic", op, {"model:volta/mma.m8n8k4*"}).count, 0u);
  EXPECT_EQ(filled("dot_metamorphic", op, {plugin}).count, 0u);
}

}  // namespace
}  // namespace mmafuzz
