// A unit that remembers: the shortest sequence that shows it, each case in its normal form.
#include "triage/minimize_sequence.h"

#include <gtest/gtest.h>

#include "core/case_text.h"
#include "core/function_unit.h"
#include "plan/registry.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

constexpr char hopper[] = "model:hopper/mma.m16n8k16.f32.f16.f16.f32";
constexpr uint64_t infinity = 0x7c00;

/// Gives what Hopper gives; after two cases in a row whose a[0] is an infinity, a bit is off.
class Remembers final : public Unit {
 public:
  Remembers(std::unique_ptr<Unit> hopper) : hopper_(std::move(hopper)) {}
  void run(const Batch& batch, Outcomes& outcomes) const override {
    hopper_->run(batch, outcomes);
    int infinities = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
      if (infinities >= 2) outcomes.results.set(i, 0, outcomes.results.get(i) ^ 1);
      infinities = (batch.inputs()[0].get(i) & 0x7fff) == infinity ? infinities + 1 : 0;
    }
  }

 private:
  std::unique_ptr<Unit> hopper_;
};

class RemembersFamily final : public Family {
 public:
  Role role(const std::string&) const override { return Role::plugin; }
  bool owns(std::string_view name) const override { return name == "remembers"; }
  std::vector<UnitInfo> list() const override { return {}; }
  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    Result<std::unique_ptr<Unit>> row = mmafuzz::registry().bind(hopper, op);
    if (!row) return row.refusal();
    return named(std::make_unique<Remembers>(std::move(*row)), name);
  }
};

TEST(MinimizeSequence, LeavesTheShortestSequenceOfTheSimplestCases) {
  Registry units = make_registry();
  units.add(std::make_unique<RemembersFamily>());
  size_t column = 0;
  const Op op = *parse_op("dot a=fp16 b=fp16 c=fp32 d=fp32 k=4", column);
  const Result<Judge> judge = Judge::bind("equal", {"remembers", hopper}, op, units);
  ASSERT_TRUE(judge);
  Batch sequence(op);
  StructuredGenerator(op, 7).fill(0, 40, sequence);
  for (size_t i = 0; i < sequence.size(); ++i)  // no infinity by itself
    if ((sequence.inputs()[0].get(i) & 0x7fff) == infinity) sequence.inputs()[0].set(i, 0, 0x3c00);
  for (const size_t i : {37, 38}) sequence.inputs()[0].set(i, 0, 0xfc00);
  ASSERT_TRUE(fails_after_others(*judge, sequence));
  const Batch minimal = minimize_sequence(*judge, sequence);
  std::string text;
  for (size_t i = 0; i < minimal.size(); ++i) text += case_line(minimal, i) + "\n";
  EXPECT_EQ(text,
            "7c00 0000 0000 0000 | 0000 0000 0000 0000 | 00000000\n"
            "7c00 0000 0000 0000 | 0000 0000 0000 0000 | 00000000\n"
            "0000 0000 0000 0000 | 0000 0000 0000 0000 | 00000000\n");
}

TEST(MinimizeSequence, WhatFailsByItselfRemembersNothing) {
  Registry units = make_registry();
  size_t column = 0;
  const Op op = *parse_op("dot a=fp16 b=fp16 c=fp32 d=fp32 k=4", column);
  const Result<Judge> judge = Judge::bind("equal", {"model:volta/mma.m8n8k4.f32.f16.f16.f32", hopper}, op, units);
  ASSERT_TRUE(judge);
  Batch sequence(op);
  sequence.resize(2);
  for (size_t i = 0; i < 2; ++i) {
    for (int lane = 0; lane < 4; ++lane) sequence.inputs()[0].set(i, lane, 0x3800);
    for (int lane = 0; lane < 4; ++lane) sequence.inputs()[1].set(i, lane, 0x0001);
    sequence.inputs()[2].set(i, 0, 0x3f800000);
  }
  EXPECT_FALSE(fails_after_others(*judge, sequence));
}

}  // namespace
}  // namespace mmafuzz
