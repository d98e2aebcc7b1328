// What a search reports of units that are compared: each difference once.
#include <gtest/gtest.h>

#include <map>

#include "core/case_text.h"
#include "core/function_unit.h"
#include "oracles/families.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "search/comparison.h"
#include "search/structured_generator.h"
#include "tests/named_units.h"

namespace mmafuzz {
namespace {

const std::string row = "model:hopper/mma.m16n8k16.f32.f16.f16.f32",
                  plugin = "plugin:" MMAFUZZ_BINARY_DIR "/tests/planted_plugin.so";

/// The first is where the plugin does not equal its row (planted_plugin_test.cc): -1 + 1 - 1.5 * 2^-25.
Batch cases_with_the_planted_one(const Op& op) {
  Batch batch(op), structured(op);
  std::string zeros;
  for (int i = 2; i < op.k; ++i) zeros += " 0000";
  CaseReader reader(
      "cases", "mmafuzz-cases 1\n" + to_text(op) + "\n3c00 8003" + zeros + " | 3c00 3400" + zeros + " | bf800000\n");
  CaseBlock block;
  EXPECT_TRUE(reader.next(block, 1));
  batch.append(block.batch, 0);
  StructuredGenerator(op, 1).fill(0, 255, structured);
  for (size_t i = 0; i < structured.size(); ++i) batch.append(structured, i);
  return batch;
}

/// Reported cases by property and units.
std::map<std::string, uint64_t> reported(const Comparison& comparison, const Batch& batch, size_t focus) {
  std::vector<Outcomes> outcomes;
  comparison.run(batch, outcomes);
  SeenClasses seen;
  std::map<std::string, uint64_t> counts;
  comparison.examine_focus(batch, outcomes, focus, 0, seen, [&](const Divergence& d, uint64_t count) {
    counts[d.key.property + " " + d.key.units[0] + " " + d.key.units[1]] += count;
  });
  return counts;
}

TEST(Comparison, AUnitThatClaimsARowIsHeldToThatAlone) {
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=16");
  const Comparison comparison(op, {"exact", row, plugin}, registry(), {});
  const Batch batch = cases_with_the_planted_one(op);
  const auto of_row = reported(comparison, batch, 1);
  EXPECT_GT(of_row.at("equal exact " + row), 20u);
  EXPECT_EQ(of_row.at("equals_model " + plugin + " " + row), 1u) << "the planted case";
  EXPECT_EQ(of_row.size(), 2u) << "the contract tells how the plugin differs";
  EXPECT_EQ(reported(comparison, batch, 2), of_row) << "as the focus it brings its row along";
}

TEST(Comparison, ARowThatComputesTheSameStandsForTheClaimedOne) {
  const std::string box = "plugin:" MMAFUZZ_BINARY_DIR "/tests/flawed_plugin_14.so";  // claims to equal ampere
  const Op op = dot_op("fp16", "fp32", "fp32", 16);
  const Comparison comparison(op, {"exact", turing, box}, registry(), {});
  Batch batch(op);
  StructuredGenerator(op, 1).fill(0, 1024, batch);
  for (const size_t focus : {1, 2})
    for (const auto& [what, count] : reported(comparison, batch, focus))
      EXPECT_TRUE(what == "equal exact " + turing || what == "equals_model " + box + " " + ampere) << what;
}

TEST(Comparison, AProcessorThatClaimsNothingIsComparedWhereItIsNotItsRow) {
  // Its NaNs have payloads where the bits of a NaN count, and no order (SDM vol. 2, DPPS): it claims nothing there.
  const Op op = op_from_text("dot a=fp32 b=fp32 c=fp32 d=fp32 k=4");
  const std::string cpu = "cpu:dpps.f32", its_row = "model:x86/dpps.k4.f32.f32.f32.f32";
  if (!registry().bind(cpu, op)) GTEST_SKIP() << cpu << " is not here";
  const std::string zeros = " 00000000 00000000 00000000";
  CaseReader reader("cases", "mmafuzz-cases 1\n" + to_text(op) + "\n7fc00001" + zeros + " | 3f800000" + zeros +
                                 " | 00000000\n3f800001" + zeros + " | 3f800001" + zeros + " | 33800000\n");
  CaseBlock block;
  ASSERT_TRUE(reader.next(block, 2));
  const Comparison comparison(op, {"exact", cpu, its_row}, registry(), {});
  const auto of_cpu = reported(comparison, block.batch, 1);
  Batch product(op);
  product.append(block.batch, 1);
  EXPECT_EQ(reported(comparison, product, 2).at("equal exact " + its_row), 1u) << "a product is rounded";
  EXPECT_EQ(reported(comparison, product, 1).count("equal exact " + cpu), 0u);
  EXPECT_EQ(of_cpu.at("equal exact " + cpu), 1u) << "the NaN";
  EXPECT_EQ(of_cpu.at("equal " + cpu + " " + its_row), 1u);
}

TEST(Comparison, ARowIsComparedUnderAnotherNameToo) {
  const std::string turing = "model:turing/mma.m16n8k8.f32.f16.f16.f32",
                    volta = "model:volta/mma.m8n8k4.f32.f16.f16.f32",
                    ampere = "model:ampere/mma.m16n8k16.f32.f16.f16.f32";
  const auto are_one = [](const std::string& x, const std::string& y, int k) {
    return registry().are_one(x, y, dot_op("fp16", "fp32", "fp32", k));
  };
  EXPECT_TRUE(are_one(turing, ampere, 16)) << "two blocks of 8, in one instruction or two";
  EXPECT_FALSE(are_one(turing, ampere, 24)) << "one of them would be padded";
  EXPECT_FALSE(are_one(turing, volta, 16));
  EXPECT_FALSE(are_one(turing, "exact", 16));
  EXPECT_FALSE(are_one(turing, "", 16));
}

/// A unit that gives zeros and counts its batches.
class Counted final : public Unit {
 public:
  explicit Counted(size_t& batches) : batches_(batches) {}
  void run(const Batch& batch, Outcomes& outcomes) const override {
    ++batches_;
    prepare(batch, outcomes);
  }

 private:
  size_t& batches_;
};

class CountedFamily final : public Family {
 public:
  explicit CountedFamily(size_t& batches) : batches_(batches) {}
  bool owns(std::string_view name) const override { return name == "counted"; }
  std::vector<UnitInfo> list() const override { return {}; }
  Role role(const std::string&) const override { return Role::plugin; }
  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op&) const override {
    auto unit = std::make_unique<Counted>(batches_);
    unit->set_every_nth_batch(3);
    unit->describe(name, {{"equals_model", row}});
    return std::unique_ptr<Unit>(std::move(unit));
  }

 private:
  size_t& batches_;
};

/// `exact` that is wrong in the last size % 8 cases of a batch, as a loop of vectors with a bad end is.
class BadEnd final : public Unit {
 public:
  explicit BadEnd(std::unique_ptr<Unit> exact) : exact_(std::move(exact)) {}
  void run(const Batch& batch, Outcomes& outcomes) const override {
    exact_->run(batch, outcomes);
    for (size_t i = batch.size() / 8 * 8; i < batch.size(); ++i) outcomes.results.set(i, 0, 0x7fc00001);
    if (batch.size() == 1) outcomes.answered = {0};
    if (batch.size() == 2) outcomes.failed = {0, 1};
  }

 private:
  std::unique_ptr<Unit> exact_;
};

class BadEndFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return name == "bad_end"; }
  std::vector<UnitInfo> list() const override { return {}; }
  Role role(const std::string&) const override { return Role::plugin; }
  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    auto unit = std::make_unique<BadEnd>(std::move(*registry().bind("exact", op)));
    unit->describe(name, {{"equals_model", "exact"}});
    return std::unique_ptr<Unit>(std::move(unit));
  }
};

TEST(Comparison, BatchesOfSeveralSizesShowAUnitThatIsWrongAtTheirEnd) {
  Registry with_bad_end = oracle_registry();
  with_bad_end.add(std::make_unique<BadEndFamily>());
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=4");
  const Comparison comparison(op, {"bad_end"}, with_bad_end, {});
  const auto exact = bind_or_fail("exact", op);
  Batch batch(op);
  StructuredGenerator(op, 1).fill(0, 1024, batch);
  Outcomes expected;
  exact->run(batch, expected);
  for (uint64_t round = 0; round < 20; ++round) {
    const size_t first = 1 + round / 2;
    std::vector<Outcomes> outcomes;
    comparison.run(batch, outcomes, round);
    EXPECT_EQ(outcomes[0].results.cases(), 1024u);
    for (size_t i = 0; i < 1024; ++i) {
      const bool bad = round % 2 == 0 && (i < first ? i >= first / 8 * 8 : i >= first + (1024 - first) / 8 * 8);
      EXPECT_EQ(outcomes[0].results.get(i), bad ? 0x7fc00001 : expected.results.get(i)) << round << " " << i;
      EXPECT_EQ(outcomes[0].has_answer(i), round != 0 || i > 0) << round << " " << i;
      EXPECT_EQ(outcomes[0].has_failed(i), round == 2 && i == 1) << round << " " << i;
    }
    Findings found = comparison.examine(batch, round * 1024);
    EXPECT_EQ(found.buckets.empty(), round % 2 == 1 || first % 8 == 0) << round;
  }
}

TEST(Comparison, AUnitOfAShareIsAskedInOneRoundOfSoMany) {
  size_t batches = 0;
  Registry with_counted = oracle_registry();
  with_counted.add(std::make_unique<CountedFamily>(batches));
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=16");
  const Comparison comparison(op, {"exact", row, "counted"}, with_counted, {});
  Batch batch(op);
  StructuredGenerator(op, 1).fill(0, 64, batch);
  std::vector<Outcomes> outcomes;
  for (uint64_t round = 0; round < 7; ++round) {
    comparison.run(batch, outcomes, round);
    SeenClasses seen;
    uint64_t reported = 0;
    comparison.examine_focus(batch, outcomes, 0, round, seen, [&](const Divergence& d, uint64_t count) {
      if (d.key.units[0] == "counted" || d.key.units[1] == "counted") reported += count;
    });
    const bool is_asked = round % 3 == 0;
    EXPECT_EQ(batches, round / 3 + 1);
    EXPECT_EQ(outcomes[2].has_answer(0), is_asked);
    EXPECT_EQ(seen.answers["counted"].asked, is_asked ? 64u : 0u);
    EXPECT_EQ(reported > 0, is_asked) << "zeros are not what the row gives";
  }
}

TEST(Comparison, ARowThatIsNotComparedTellsNothing) {
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=16");
  const Batch batch = cases_with_the_planted_one(op);
  const auto alone = reported(Comparison(op, {"exact", plugin}, registry(), {}), batch, 1);
  EXPECT_GT(alone.at("equal exact " + plugin), 20u);
  EXPECT_EQ(alone.at("equals_model " + plugin + " " + row), 1u);
}

}  // namespace
}  // namespace mmafuzz
