// What is said of a unit that differs from the model which it claims to equal. A failure means that the sentence is
// wrong about a flaw that is known here.
#include "triage/own_unit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "arithmetic/evaluate_dot.h"
#include "core/case_text.h"
#include "core/function_unit.h"
#include "oracles/families.h"
#include "oracles/models/model_rows.h"

namespace mmafuzz {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char claimed[] = "hopper/mma.m16n8k16.f32.f16.f16.f32";

DotModel hopper(int block) {
  DotModel model = find_model_row(claimed)->model;
  model.block = block;
  return model;
}

/// Whether each product is greater than the one before it.
bool rises(const DotOperands& in) {
  const auto exponent = [&](int i) { return static_cast<int>((in.a[i] >> 10 & 31) + (in.b[i] >> 10 & 31)); };
  for (int i = 1; i < in.k; ++i)
    if (exponent(i) <= exponent(i - 1)) return false;
  return true;
}

uint64_t blocks_of_4(const DotOperands& in) { return evaluate_dot(hopper(4), in); }
/// As if the last product came later, but only where the products rise.
uint64_t late_maximum(const DotOperands& in) { return evaluate_dot(hopper(rises(in) ? 15 : 16), in); }
uint64_t bit_4_of_b12_is_stuck(const DotOperands& in) {
  std::vector<uint64_t> b(in.b, in.b + in.k);
  b[12] |= 0x10;
  DotOperands changed = in;
  changed.b = b.data();
  return evaluate_dot(hopper(16), changed);
}
uint64_t bit_13_of_the_result_flips(const DotOperands& in) { return evaluate_dot(hopper(16), in) ^ 0x2000; }
uint64_t lane_3_is_dropped_after_equal_factors(const DotOperands& in) {
  std::vector<uint64_t> a(in.a, in.a + in.k);
  if (in.a[0] == in.b[0] && in.a[0]) a[3] = 0;
  DotOperands changed = in;
  changed.a = a.data();
  return evaluate_dot(hopper(16), changed);
}
uint64_t lane_2_is_dropped(const DotOperands& in) {
  std::vector<uint64_t> a(in.a, in.a + in.k);
  a[2] = 0;
  DotOperands changed = in;
  changed.a = a.data();
  return evaluate_dot(hopper(16), changed);
}

/// Units `own:...` with a flaw each, all of which claim to equal Hopper.
class FlawedUnits final : public Family {
 public:
  Role role(const std::string&) const override { return Role::plugin; }
  bool owns(std::string_view name) const override { return name.starts_with("own:"); }
  std::vector<UnitInfo> list() const override { return {}; }
  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op&) const override {
    static const std::map<std::string, uint64_t (*)(const DotOperands&)> flaws = {
        {"own:blocks", blocks_of_4},
        {"own:rises", late_maximum},
        {"own:lane", lane_2_is_dropped},
        {"own:stuck", bit_4_of_b12_is_stuck},
        {"own:flip", bit_13_of_the_result_flips},
        {"own:condition", lane_3_is_dropped_after_equal_factors}};
    return named(make_dot_unit(flaws.at(name)), name, {{"equals_model", std::string("model:") + claimed}});
  }
};

std::string said_of(const std::string& unit, const std::string& a, const std::string& b, const std::string& c) {
  static const Registry registry = [] {
    Registry all = oracle_registry();
    all.add(std::make_unique<FlawedUnits>());
    return all;
  }();
  const std::string text =
      "mmafuzz-cases 1\nop dot a=fp16 b=fp16 c=fp32 d=fp32 k=16\n" + a + " | " + b + " | " + c + "\n";
  CaseReader reader("here", text);
  CaseBlock block;
  EXPECT_TRUE(reader.next(block, 1));
  const Result<Judge> judge =
      Judge::bind("equals_model", {unit, std::string("model:") + claimed}, block.batch.op(), registry);
  EXPECT_TRUE(judge->judge(block.batch)[0].fails);
  return OwnUnit(*judge, registry).describe(block.batch);
}

const std::string zeros_12 = " 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000";

TEST(OwnUnit, NamesAParameterThatFits) {
  // 1 - 1 + 2^-26: one step of sixteen drops what is below 2^-25, two steps keep it.
  EXPECT_THAT(said_of("own:blocks", "3c00 0000 0000 bc00 0c00" + zeros_12.substr(5),
                      "3c00 0000 0000 3c00 0400" + zeros_12.substr(5), "00000000"),
              HasSubstr("16 is claimed, 4 fits"));
}

TEST(OwnUnit, NamesNoParameterThatOnlyFitsNearTheWitness) {
  const std::string rising = "0800 0c00 1000 2800 2c00 3000 3400 3800 3c00 3c00 3c01 3c00 3c00 3c00 3c00 3c00";
  EXPECT_THAT(said_of("own:rises", rising,
                      "3c00 3c00 3c80 3c00 3c00 3c00 3c00 3c00 3c00 4000 5002 5400 5800 5c00 6000 6c00", "00000000"),
              HasSubstr("no other value of one parameter fits; the difference stays"));
}

TEST(OwnUnit, NamesTheLane) {
  EXPECT_THAT(said_of("own:lane", "0000 0000 3c00 0000" + zeros_12, "0000 0000 3c00 0000" + zeros_12, "00000000"),
              AllOf(HasSubstr("stays in lane 2 only"), HasSubstr("as if a2*b2 were left out"),
                    HasSubstr("would show on none of 32 cases near it that agree")));
}

TEST(OwnUnit, NamesAStuckBitOfAnOperand) {
  EXPECT_THAT(
      said_of("own:stuck", zeros_12.substr(1) + " 3c00 0000 0000 0000", zeros_12.substr(1) + " 3c00 0000 0000 0000",
              "00000000"),
      AllOf(HasSubstr("as if bit 4 of b12 were 1"), HasSubstr("would show on none of 32 cases near it that agree")));
}

TEST(OwnUnit, NamesABitOfTheResult) {
  EXPECT_THAT(said_of("own:flip", "3c00 0000 0000 0000" + zeros_12, "3c00 0000 0000 0000" + zeros_12, "00000000"),
              HasSubstr("the result were wrong in bit 13"));
}

TEST(OwnUnit, SaysThatAConditionSetsItOff) {
  EXPECT_THAT(said_of("own:condition", "3c00 0000 0000 3c00" + zeros_12, "3c00 0000 0000 4200" + zeros_12, "00000000"),
              AllOf(HasSubstr("as if a3*b3 were left out"), HasSubstr("a condition sets it off")));
}

}  // namespace
}  // namespace mmafuzz
