// The properties of conversions and scalar operations hold for the units that claim them, and each catches a unit that
// breaks it.
#include <gtest/gtest.h>

#include "oracles/families.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "oracles/properties/properties.h"
#include "core/function_unit.h"
#include "search/structured_generator.h"
#include "arithmetic/ieee_operations.h"
#include "tests/case_count.h"

namespace mmafuzz {
namespace {

struct Tally {
  size_t compared = 0, failed = 0;
  std::string first;
};

Tally check(const char* property, const Unit& unit, const Op& op) {
  Tally tally;
  const Result<BoundProperty> bound = BoundProperty::bind(*find_property(property), unit, op, registry());
  if (!bound) return tally;
  Batch batch;
  StructuredGenerator(op, 3).fill(0, case_count(4096, 200000), batch);
  Outcomes outcomes;
  unit.run(batch, outcomes);
  tally.compared = bound->check(batch, outcomes, [&](const Divergence& d, uint64_t count) {
    if (tally.failed == 0)
      tally.first =
          to_text(op) + " source " + to_hex(op.a, d.cases.inputs()[0].get(0)) + " gives " + to_hex(op.d, d.results[0]);
    tally.failed += count;
  });
  return tally;
}

constexpr const char* claimed[] = {"faithful",     "idempotent",     "monotone_in_operand", "nearest",
                                   "not_above_up", "not_below_down", "round_trip",          "sign_symmetry"};

TEST(ConversionProperties, HoldForTheUnitsThatClaimThem) {
  std::map<std::string, size_t> compared;
  for (const char* pair : {"from=fp32 to=fp16", "from=fp32 to=e4m3", "from=fp32 to=e5m2fnuz", "from=fp32 to=e8m0",
                           "from=fp32 to=ue4m3", "from=fp32 to=cfloat8_1_4_3:7", "from=fp32 to=cfloat8_1_5_2:63",
                           "from=fp32 to=shp:15?denormal=gradual", "from=fp32 to=uhp", "from=bf16 to=e5m2",
                           "from=fp64 to=fp16", "from=fp64 to=fp32", "from=fp16 to=fp32", "from=e4m3 to=fp32",
                           "from=cfloat8_1_4_3:7 to=fp32", "from=fp32 to=cfloat8_1_4_3:7?hole=tie_down,zero=positive"})
    for (const char* round : {"nearest_even", "nearest_away", "toward_zero", "up", "down", "stochastic seed=3"}) {
      const Op op = op_from_text(std::string("convert ") + pair + " round=" + round);
      for (const char* name : {"ieee", "bulk"}) {
        const auto unit = registry().bind(name, op);
        if (!unit) continue;
        for (const char* property : claimed) {
          const Tally tally = check(property, **unit, op);
          EXPECT_EQ(tally.failed, 0u) << property << " of " << name << ": " << tally.first;
          compared[property] += tally.compared;
        }
      }
    }
  for (const char* property : claimed) EXPECT_GT(compared[property], 1000u) << property;
}

TEST(ScalarProperties, HoldForIeee) {
  for (const char* format : {"fp16", "fp32", "fp64"})
    for (const char* operation : {"add", "sub", "mul", "div", "sqrt", "fma", "rcp"})
      for (const char* round : {"nearest_even", "toward_zero", "up", "down"}) {
        const Op op = op_from_text(std::string("scalar ") + operation + " format=" + format + " round=" + round);
        const auto unit = registry().bind("ieee", op);
        for (const char* property : {"monotone_in_operand", "not_above_up", "not_below_down", "sign_symmetry"}) {
          const Tally tally = check(property, **unit, op);
          EXPECT_EQ(tally.failed, 0u) << property << ": " << tally.first;
        }
      }
}

/// A unit named ieee (other ops are then bound to the real one) that converts wrongly.
std::unique_ptr<Unit> wrong_unit(const Op& op, uint64_t (*convert)(const Op& op, uint64_t source)) {
  return named(make_scalar_unit<false>([op, convert](const uint64_t* x) {
                 return Rounded{convert(op, x[0]), 0};
               }),
               "ieee");
}

uint64_t rounded(const Op& op, uint64_t source, Rounding rounding) {
  RoundingRule rule = op.rounding_rule();
  rule.rounding = rounding;
  return convert_number(op.d.fields(), decode(op.a.fields(), source), rule).encoding;
}

struct Flaw {
  const char* property;
  const char* op;
  uint64_t (*convert)(const Op& op, uint64_t source);
};

const Flaw flaws[] = {
    {"nearest", "convert from=fp32 to=e4m3 round=nearest_even",
     [](const Op& op, uint64_t x) { return rounded(op, x, Rounding::toward_zero); }},
    {"faithful", "convert from=fp32 to=cfloat8_1_4_3:7 round=nearest_even",  // subnormals halved
     [](const Op& op, uint64_t x) {
       const uint64_t r = rounded(op, x, Rounding::nearest_even);
       return (r & 0x78) == 0 ? (r & 0x80) | (r & 7) >> 1 : r;
     }},
    {"idempotent", "convert from=fp32 to=fp16 round=nearest_even",  // exact numbers move on
     [](const Op& op, uint64_t x) {
       const uint64_t r = rounded(op, x, Rounding::toward_zero);
       return (r & 0x7c00) && (r & 0x7c00) < 0x7800 ? r + 1 : r;
     }},
    {"monotone_in_operand", "convert from=bf16 to=e5m2 round=toward_zero",
     [](const Op& op, uint64_t x) { return rounded(op, x, Rounding::toward_zero) ^ ((x & 0x7f) == 0x40 ? 1 : 0); }},
    {"not_above_up", "convert from=fp32 to=fp16 round=nearest_even",
     [](const Op& op, uint64_t x) {
       const uint64_t r = rounded(op, x, Rounding::up);
       return r < 0x7000 ? r + 1 : r;
     }},
    {"not_below_down", "convert from=fp32 to=fp16 round=nearest_even",
     [](const Op& op, uint64_t x) {
       const uint64_t r = rounded(op, x, Rounding::down);
       return r > 0 && r < 0x7000 ? r - 1 : r;
     }},
    {"round_trip", "convert from=fp16 to=fp32 round=nearest_even",  // subnormals are lost
     [](const Op& op, uint64_t x) { return (x & 0x7c00) == 0 ? uint64_t{0} : rounded(op, x, Rounding::nearest_even); }},
    {"sign_symmetry", "convert from=fp32 to=fp16 round=nearest_even",
     [](const Op& op, uint64_t x) { return rounded(op, x, Rounding::up); }},
};

class ConversionFlaw : public testing::TestWithParam<Flaw> {};
INSTANTIATE_TEST_SUITE_P(All, ConversionFlaw, testing::ValuesIn(flaws),
                         [](const auto& info) { return std::string(info.param.property); });

TEST_P(ConversionFlaw, IsCaughtByItsProperty) {
  const Op op = op_from_text(GetParam().op);
  const Tally tally = check(GetParam().property, *wrong_unit(op, GetParam().convert), op);
  EXPECT_GT(tally.compared, 100u);
  EXPECT_GT(tally.failed, 0u);
}

TEST(Hole, OfTheLiteralReadingIsFoundAndTheGradualOneHasNone) {
  const Op literal = op_from_text("convert from=fp32 to=cfloat8_1_4_3:7 round=nearest_even");
  const auto unit = registry().bind("ieee", literal);
  const Result<BoundProperty> bound = BoundProperty::bind(*find_property("half_ulp"), **unit, literal, registry());
  ASSERT_TRUE(bound);
  Batch batch;
  StructuredGenerator(literal, 3).fill(0, 65536, batch);
  Outcomes outcomes;
  (*unit)->run(batch, outcomes);
  std::vector<BoundProperty::Verdict> verdicts;
  bound->judge(batch, outcomes, verdicts);
  size_t failed = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!verdicts[i].fails) continue;
    ++failed;
    const uint64_t magnitude = batch.inputs()[0].get(i) & 0x7fffffff;
    EXPECT_GT(magnitude, 0x3be00000u);  // 0.875 * 2^-7
    EXPECT_LT(magnitude, 0x3c800000u);  // 2 * 2^-7
  }
  EXPECT_GT(failed, 5u);
  for (const char* other : {"cfloat8_1_4_3:7?denormal=gradual", "fp16", "e4m3", "e8m0"}) {
    const Op op = op_from_text(std::string("convert from=fp32 to=") + other + " round=nearest_even");
    const Tally tally = check("half_ulp", **registry().bind("ieee", op), op);
    EXPECT_GT(tally.compared, 100u);
    EXPECT_EQ(tally.failed, 0u) << tally.first;
  }
}

TEST(DoubleRounding, IsFoundOnTheWayFromFp64ThroughFp32ToFp16) {
  const Op op = op_from_text("convert from=fp64 to=fp16 round=nearest_even");
  const Tally direct = check("survives_detour", **registry().bind("ieee", op), op);
  EXPECT_GT(direct.failed, 0u);
  // A unit that makes the detour itself never fails it.
  const auto detour = wrong_unit(op, [](const Op& o, uint64_t x) {
    const Rounded first = convert_number(fp32_fields, decode(o.a.fields(), x), {});
    return convert_number(o.d.fields(), decode(fp32_fields, first.encoding), {}).encoding;
  });
  const Tally twice = check("survives_detour", *detour, op);
  EXPECT_GT(twice.compared, 100u);
  EXPECT_EQ(twice.failed, 0u) << twice.first;
  EXPECT_GT(check("nearest", *detour, op).failed, 0u);
}

}  // namespace
}  // namespace mmafuzz
