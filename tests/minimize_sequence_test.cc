// A unit that remembers: the shortest sequence that shows it, each case in its normal form.
#include "triage/minimize_sequence.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/case_text.h"
#include "core/function_unit.h"
#include "plan/registry.h"
#include "oracles/properties/properties.h"
#include "search/structured_generator.h"
#include "triage/triage.h"
#include "tests/named_units.h"

namespace mmafuzz {
namespace {

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

Op op_of_four() { return *parse_op("dot a=fp16 b=fp16 c=fp32 d=fp32 k=4"); }

/// Gives what Hopper gives, but a bit is off in every so many cases that it sees.
class Counts final : public Unit {
 public:
  Counts(std::unique_ptr<Unit> hopper, size_t period) : hopper_(std::move(hopper)), period_(period) {}
  void run(const Batch& batch, Outcomes& outcomes) const override {
    hopper_->run(batch, outcomes);
    for (size_t i = 0; i < batch.size(); ++i)
      if (++count_ % period_ == 0) outcomes.results.set(i, 0, outcomes.results.get(i) ^ 1);
  }

 private:
  std::unique_ptr<Unit> hopper_;
  const size_t period_;
  mutable size_t count_ = 0;
};

/// Gives what Hopper gives, but a bit is off where a[0] is an infinity after three cases in a row where it is none.
class CountsPlain final : public Unit {
 public:
  CountsPlain(std::unique_ptr<Unit> hopper) : hopper_(std::move(hopper)) {}
  void run(const Batch& batch, Outcomes& outcomes) const override {
    hopper_->run(batch, outcomes);
    for (size_t i = 0; i < batch.size(); ++i) {
      const bool plain = (batch.inputs()[0].get(i) & 0x7fff) != infinity;
      if (!plain && plain_ >= 3) outcomes.results.set(i, 0, outcomes.results.get(i) ^ 1);
      plain_ = plain ? plain_ + 1 : 0;
    }
  }

 private:
  std::unique_ptr<Unit> hopper_;
  mutable size_t plain_ = 0;
};

/// Gives what Hopper gives, but while all a are zero c stays that of the first such case.
class HoldsC final : public Unit {
 public:
  HoldsC(std::unique_ptr<Unit> hopper) : hopper_(std::move(hopper)) {}
  void run(const Batch& batch, Outcomes& outcomes) const override {
    Batch held = batch;
    for (size_t i = 0; i < batch.size(); ++i) {
      bool zeros = true;
      for (int lane = 0; lane < batch.op().k; ++lane) zeros &= batch.a().get(i, lane) == 0;
      if (zeros && holds_) held.inputs()[2].set(i, 0, c_);
      else c_ = batch.c().get(i);
      holds_ = zeros;
    }
    hopper_->run(held, outcomes);
  }

 private:
  std::unique_ptr<Unit> hopper_;
  mutable bool holds_ = false;
  mutable uint64_t c_ = 0;
};

/// Gives what Hopper gives, but a bit is off where c is the result of the case before: the right one, or the given one.
class Forwards final : public Unit {
 public:
  Forwards(std::unique_ptr<Unit> hopper, bool given) : hopper_(std::move(hopper)), given_(given) {}
  void run(const Batch& batch, Outcomes& outcomes) const override {
    hopper_->run(batch, outcomes);
    for (size_t i = 0; i < batch.size(); ++i) {
      const uint64_t result = outcomes.results.get(i);
      if (batch.c().get(i) == before_) outcomes.results.set(i, 0, result ^ 1);
      before_ = given_ ? outcomes.results.get(i) : result;
    }
  }

 private:
  std::unique_ptr<Unit> hopper_;
  const bool given_;
  mutable uint64_t before_ = ~uint64_t{0};
};

class FlawedFamily final : public Family {
 public:
  Role role(const std::string&) const override { return Role::plugin; }
  bool owns(std::string_view name) const override {
    return name == "counts" || name == "counts24" || name == "counts_plain" || name == "remembers" ||
           name == "holds_c" || name == "forwards" || name == "forwards_given";
  }
  std::vector<UnitInfo> list() const override { return {}; }
  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    Result<std::unique_ptr<Unit>> row = mmafuzz::registry().bind(hopper, op);
    if (!row) return row.refusal();
    if (name == "counts") return named(std::make_unique<Counts>(std::move(*row), 5), name);
    if (name == "counts24") return named(std::make_unique<Counts>(std::move(*row), 24), name);
    if (name == "counts_plain") return named(std::make_unique<CountsPlain>(std::move(*row)), name);
    if (name.starts_with("forwards"))
      return named(std::make_unique<Forwards>(std::move(*row), name == "forwards_given"), name);
    if (name == "holds_c") return named(std::make_unique<HoldsC>(std::move(*row)), name);
    return named(std::make_unique<Remembers>(std::move(*row)), name);
  }
};

Registry flawed_units() {
  Registry units = make_registry();
  units.add(std::make_unique<FlawedFamily>());
  return units;
}

TEST(MinimizeSequence, LeavesTheShortestSequenceOfTheSimplestCases) {
  const Registry units = flawed_units();
  const Op op = op_of_four();
  const Result<Judge> judge = Judge::bind("equal", {"remembers", hopper}, op, units);
  ASSERT_TRUE(judge);
  Batch sequence(op);
  StructuredGenerator(op, 7).fill(0, 40, sequence);
  for (size_t i = 0; i < sequence.size(); ++i)  // no infinity by itself
    if ((sequence.inputs()[0].get(i) & 0x7fff) == infinity) sequence.inputs()[0].set(i, 0, 0x3c00);
  for (const size_t i : {37, 38}) sequence.inputs()[0].set(i, 0, 0xfc00);
  ASSERT_TRUE(fails_after_others(*judge, units, sequence));
  const Batch minimal = *minimize_sequence(*judge, units, sequence);
  std::string text;
  for (size_t i = 0; i < minimal.size(); ++i) text += case_line(minimal, i) + "\n";
  EXPECT_EQ(text,
            "7c00 0000 0000 0000 | 0000 0000 0000 0000 | 00000000\n"
            "7c00 0000 0000 0000 | 0000 0000 0000 0000 | 00000000\n"
            "0000 0000 0000 0000 | 0000 0000 0000 0000 | 00000000\n");
}

TEST(MinimizeSequence, WhatFailsByItselfRemembersNothing) {
  Registry units = make_registry();
  const Op op = *parse_op("dot a=fp16 b=fp16 c=fp32 d=fp32 k=4");
  const Result<Judge> judge = Judge::bind("equal", {"model:volta/mma.m8n8k4.f32.f16.f16.f32", hopper}, op, units);
  ASSERT_TRUE(judge);
  Batch sequence(op);
  sequence.resize(2);
  for (size_t i = 0; i < 2; ++i) {
    for (int lane = 0; lane < 4; ++lane) sequence.inputs()[0].set(i, lane, 0x3800);
    for (int lane = 0; lane < 4; ++lane) sequence.inputs()[1].set(i, lane, 0x0001);
    sequence.inputs()[2].set(i, 0, 0x3f800000);
  }
  EXPECT_FALSE(fails_after_others(*judge, units, sequence));
}

/// The buckets of records that say which cases came before.
std::vector<Bucket> buckets_of(const Registry& units, const std::string& unit, const std::vector<std::string>& before,
                               const std::vector<std::string>& lines) {
  Triage triage(units);
  for (const std::string& line : lines) {
    LoggedDivergence found;
    found.severity = Severity::contract;
    found.text = "property equals_model " + unit + " " + hopper + "\n";
    for (const std::string& other : before) found.text += std::string(before_word) + other + "\n";
    found.text += to_text(op_of_four()) + "\n" + line + "\n";
    triage.add(found);
  }
  triage.finish();
  return triage.finish();  // as after cases were added: it says the same
}

size_t cases_in(const std::string& witness) {
  return static_cast<size_t>(std::count(witness.begin(), witness.end(), '|')) / 2;
}

const std::string ones = "3c00 0000 0000 0000 | 3c00 0000 0000 0000 | 00000000";
const std::string with_infinity = "7c00 0000 0000 0000 | 3c00 0000 0000 0000 | 00000000";

TEST(MinimizeSequence, PlainCasesBeforeAreRemembered) {
  const Registry units = flawed_units();
  const std::vector<std::string> before(20, ones);
  const std::vector<Bucket> buckets = buckets_of(units, "counts_plain", before, {with_infinity});
  ASSERT_EQ(buckets.size(), 1u);
  EXPECT_EQ(buckets[0].cause, history);
  EXPECT_EQ(cases_in(buckets[0].witness), 3 + 1u) << buckets[0].witness;
}

/// Each of these cases leaves the unit so that the others fail by themselves, time and again.
TEST(MinimizeSequence, ACaseThatPassesAloneIsOneOfASequence) {
  const Registry units = flawed_units();
  const auto zeros = [](const std::string& c) { return "0000 0000 0000 0000 | 0000 0000 0000 0000 | " + c; };
  for (const Bucket& bucket :
       buckets_of(units, "holds_c", {zeros("3f800000")}, {zeros("40000000"), zeros("40400000"), zeros("40800000")}))
    EXPECT_EQ(bucket.cause, history) << bucket.detail;
}

TEST(MinimizeSequence, ACThatIsTheResultBeforeIsNamed) {
  const Registry units = flawed_units();
  const std::vector<Bucket> buckets =
      buckets_of(units, "forwards", {ones}, {"3c00 0000 0000 0000 | 3c00 0000 0000 0000 | 3f800000"});
  ASSERT_EQ(buckets.size(), 1u);
  EXPECT_NE(buckets[0].detail.find("where c is the result of the case before; as if"), std::string::npos)
      << buckets[0].detail;
}

TEST(MinimizeSequence, WhatMustStandInOneBatchMayGoByThePlace) {
  const Registry units = flawed_units();
  const auto detail_of = [&](const std::string& unit, const std::string& before, const std::string& line) {
    return buckets_of(units, unit, std::vector<std::string>(20, before), {line}).at(0).detail;
  };
  EXPECT_TRUE(detail_of("counts_plain", ones, with_infinity)
                  .starts_with("the case fails only after the cases before it: the unit remembers them"));
  EXPECT_TRUE(detail_of("remembers", with_infinity, ones)
                  .starts_with("the case fails only after the cases before it in the same batch: "));
}

TEST(MinimizeSequence, WhatIsKeptFailsWheneverItIsReplayed) {
  const Registry units = flawed_units();
  for (size_t before = 0; before < 64; ++before) {
    const std::vector<Bucket> buckets =
        buckets_of(units, "counts24", std::vector<std::string>(before, ones), {with_infinity});
    ASSERT_EQ(buckets.size(), 1u);
    EXPECT_EQ(buckets[0].cause, periodic);
    CaseReader reader("witness", buckets[0].witness);
    CaseBlock block;
    ASSERT_TRUE(reader.next(block, 64));
    EXPECT_EQ(block.batch.size(), 24u);
    const Result<Judge> judge = Judge::bind("equals_model", {"counts24", hopper}, op_of_four(), units);
    EXPECT_TRUE(judge->judge(block.batch).back().fails);
  }
}

TEST(PeriodOf, IsHowManyCasesAUnitCounts) {
  const Registry units = flawed_units();
  const Op op = op_of_four();
  const Result<Judge> counts = Judge::bind("equal", {"counts", hopper}, op, units);
  Batch one(op);
  one.resize(1);
  EXPECT_EQ(period_of(*counts, units, one).cases, 5u);
  const Result<Judge> same = Judge::bind("equal", {hopper, hopper}, op, units);
  EXPECT_EQ(period_of(*same, units, one).cases, 0u) << "nothing fails";
  const Result<Judge> other = Judge::bind("equal", {"model:volta/mma.m8n8k4.f32.f16.f16.f32", hopper}, op, units);
  StructuredGenerator(op, 1).fill(0, 1, one);
  EXPECT_EQ(period_of(*other, units, one).cases, 0u) << "a row counts nothing";
}

TEST(IsCount, IsNotACaseThatUndoesItself) {
  const Registry units = flawed_units();
  const Op op = op_of_four();
  Batch one(op);
  one.resize(1);
  for (const uint64_t c : {0x3f800000, 0}) {  // the result is c
    one.inputs()[2].set(0, 0, c);
    const Result<Judge> counts = Judge::bind("equal", {"counts", hopper}, op, units);
    EXPECT_TRUE(is_count(*counts, units, one, period_of(*counts, units, one)));
    const Result<Judge> forwards = Judge::bind("equal", {"forwards_given", hopper}, op, units);
    const Period period = period_of(*forwards, units, one);
    EXPECT_EQ(period.cases, 2u);
    EXPECT_EQ(is_count(*forwards, units, one, period), c == 0) << "nothing but zeros tells nothing";
  }
}

TEST(PeriodOf, IsSaidInABucketOfWhatComesAndGoes) {
  const Registry units = flawed_units();
  Triage triage(units);
  LoggedDivergence found;
  found.severity = Severity::contract;
  found.text = "property equals_model counts " + std::string(hopper) + "\nop " + op_words(op_of_four()) +
               "\n3c00 0000 0000 0000 | 3c00 0000 0000 0000 | 00000000\n";
  triage.add(found);
  const std::vector<Bucket> buckets = triage.finish();
  ASSERT_EQ(buckets.size(), 1u);
  EXPECT_EQ(buckets[0].cause, periodic);
  EXPECT_EQ(buckets[0].detail, "every 5th case fails, whatever the cases are: the unit counts them");
  EXPECT_EQ(std::count(buckets[0].witness.begin(), buckets[0].witness.end(), '|'), 2 * 5) << "as many cases";
}

TEST(Properties, OfAUnitWithoutARowKeepTheCasesBefore) {
  const Registry units = flawed_units();
  const Op op = op_of_four();
  const Result<std::unique_ptr<Unit>> unit = units.bind("counts", op);
  Batch cases(op);
  cases.resize(3);
  Outcomes base;
  (*unit)->run(cases, base);  // the fifth case is the second changed case
  const Result<BoundProperty> bound = BoundProperty::bind(*find_property("swap_operands"), **unit, op, units);
  std::vector<Divergence> found;
  bound->check(cases, base, [&](Divergence d, uint64_t) { found.push_back(std::move(d)); });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].before.size(), 1u);
  EXPECT_NE(divergence_record(found[0], true).find(std::string(before_word) + "0000"), std::string::npos);
}

}  // namespace
}  // namespace mmafuzz
