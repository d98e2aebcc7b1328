// What a running campaign says of its findings.
#include "campaign/live_facts.h"

#include <gtest/gtest.h>

#include "core/divergence_log.h"
#include "plan/registry.h"
#include "tests/named_units.h"

namespace mmafuzz {
namespace {

/// A record as searches write it: four products of 2^-25 and c = 1 (Fasi et al. 2021, test B3).
LoggedDivergence recorded(const std::string& statement, Severity severity = Severity::semantic) {
  return {"mmafuzz: divergence " + statement, severity,
          "# severity semantic\nproperty " + statement + "\nop dot a=fp16 b=fp16 c=fp32 d=fp32 k=4\n" +
              "3800 3800 3800 3800 | 0001 0001 0001 0001 | 3f800000\n"};
}

TEST(LiveFacts, ANewFactIsKnownOnceItIsSeen) {
  // Hopper keeps the four products, steps of IEEE arithmetic lose each of them.
  LiveFacts nothing_known(registry(), {}, {});
  nothing_known.take(recorded("equal " + hopper + " ieee:serial"));
  EXPECT_EQ(nothing_known.counts().waiting, 1u);
  nothing_known.seek_causes(1);
  EXPECT_EQ(nothing_known.counts().waiting, 0u);
  EXPECT_EQ(nothing_known.counts().fresh, 1u);
  EXPECT_EQ(nothing_known.counts().known, 0u);
  EXPECT_EQ(nothing_known.counts().contradictions, 0u);
  LiveFacts other_night(registry(), {}, {"kernel=fused_sum~ieee"});
  other_night.take(recorded("equal " + hopper + " ieee:serial"));
  other_night.take(recorded("equal ieee:serial " + hopper));
  other_night.seek_causes(1);
  EXPECT_EQ(other_night.counts().fresh, 0u);
  EXPECT_EQ(other_night.counts().known, 1u) << "two findings, one fact";
}

TEST(LiveFacts, WhatTwoRowsSayIsNoNews) {
  LiveFacts facts(registry(), {}, {});
  facts.take(recorded("equal " + volta + " " + hopper));
  facts.seek_causes(1);
  EXPECT_EQ(facts.counts().fresh, 0u);
  EXPECT_EQ(facts.counts().known, 1u);
}

TEST(LiveFacts, ABrokenClaimIsAContradictionWithoutALook) {
  LiveFacts facts(registry(), {}, {});
  for (int i = 0; i < 3; ++i) facts.take(recorded("equals_model plugin:/no/such.so " + volta, Severity::contract));
  facts.seek_causes(0);
  EXPECT_EQ(facts.counts().contradictions, 1u) << "of one unit";
  EXPECT_EQ(facts.counts().waiting, 0u);
}

TEST(LiveFacts, NothingForeignRunsInTheCampaignsProcess) {
  LiveFacts facts(registry(), {}, {});
  for (const char* unit :
       {"plugin:/no/such.so", "process:/no/such", "python:/no/such.py:f", "cuda:mma.m16n8k16.f32.f16.f16.f32"})
    facts.take(recorded(std::string("equal ") + unit + " " + volta));
  facts.seek_causes(1);
  EXPECT_EQ(facts.counts().waiting, 4u) << "for triage";
  EXPECT_EQ(facts.counts().fresh + facts.counts().known + facts.counts().contradictions, 0u);
}

}  // namespace
}  // namespace mmafuzz
