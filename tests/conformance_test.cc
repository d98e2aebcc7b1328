// What every unit of the registry must do, whatever its family: be deterministic, give a batch's results one by one,
// keep what it claims, decline with a reason, survive case text.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "arithmetic/round.h"
#include "core/case_text.h"
#include "core/property.h"
#include "plan/registry.h"
#include "oracles/properties/properties.h"
#include "oracles/models/model_rows.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"
#include "tests/test_names.h"

namespace mmafuzz {
namespace {

/// Ops that between them every listed unit evaluates at least one of.
const std::vector<Op>& ops() {
  static const std::vector<Op> all = [] {
    std::map<std::string, Op> by_text, of_rows;
    for (const char* text : {"dot a=fp32 b=fp32 c=fp32 d=fp32 k=4 nan=any",
                             "dot a=fp64 b=fp64 c=fp64 d=fp64 k=4 nan=any",
                             "dot a=bf16 b=bf16 c=fp32 d=fp32 k=8 nan=any",
                             "dot a=bf16 b=bf16 c=fp32 d=fp32 k=40 nan=any",
                             "dot a=fp16 b=fp16 c=fp32 d=fp32 k=40 nan=any",
                             "convert from=fp32 to=fp16 nan=any",
                             "convert from=fp16 to=fp32 nan=any",
                             "convert from=fp32 to=bf16 nan=any",
                             "convert from=fp32 to=cfloat8_1_4_3:7",
                             "dot a=s8 b=s8 c=s32 d=s32 k=16",
                             "dot a=u8 b=s8 c=s32 d=s32 k=16",
                             "dot a=s8 b=u8 c=s32 d=s32 k=80",
                             "dot a=u8 b=u8 c=s32 d=s32 k=80",
                             "dot a=s8 b=u8 c=s32 d=s32 k=4 saturate=1",
                             "dot a=s4 b=s4 c=s32 d=s32 k=8",
                             "dot a=s16 b=s16 c=s32 d=s32 k=6",
                             "dot a=s16 b=s16 c=s32 d=s32 k=2 saturate=1",
                             "gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=2 k=4",
                             "gemm a=fp32 b=fp32 c=fp32 d=fp32 m=2 n=1 k=4",
                             "quantize from=fp32 to=e2m1 block=8 scale=e8m0 rule=even special=nan_scale",
                             "quantize from=bf16 to=e4m3 block=4 scale=e4m3 tensor=fp32 rule=nearest special=elements",
                             "dequantize from=s8 to=fp32 block=8 scale=e8m0"}) {
      const Op op = *parse_op(text);
      by_text[to_text(op)] = op;
    }
    for (int scalar = 0; scalar < scalar_operation_count; ++scalar)
      for (const char* f : {"fp32", "fp64"}) {
        const std::string name = name_of(static_cast<ScalarOperation>(scalar));
        const Op op = *parse_op("scalar " + name + " format=" + f + " round=up nan=any");
        by_text[to_text(op)] = op;
      }
    for (const std::string integer : {"s32", "u32", "s64", "u64"})
      for (const std::string f : {"fp32", "fp64"})
        for (const std::string& text :
             {"convert from=" + f + " to=" + integer + " round=toward_zero", "convert from=" + integer + " to=" + f}) {
          const Op op = *parse_op(text);
          by_text[to_text(op)] = op;
        }
    std::vector<Op> list;
    for (auto& [text, op] : by_text) list.push_back(op);
    // Those of the rows come last: x86's instructions claim nothing where NaNs count.
    for (const ModelRow& row : model_rows())
      if (!by_text.contains(to_text(row.op))) of_rows[to_text(row.op)] = row.op;
    for (auto& [text, op] : of_rows) list.push_back(op);
    return list;
  }();
  return all;
}

class EveryUnit : public testing::TestWithParam<std::string> {
 protected:
  /// Calls visit(unit, batch of structured cases) for the first few ops that the unit evaluates.
  template <class Visit>
  void for_its_ops(size_t cases, Visit visit) {
    size_t bound = 0;
    for (const Op& op : ops()) {
      const auto unit = registry().bind(GetParam(), op);
      if (!unit) continue;
      Batch batch;
      StructuredGenerator(op, 43).fill(0, cases, batch);
      visit(**unit, batch);
      if (HasFatalFailure() || ++bound == 4) break;
    }
    EXPECT_GT(bound, 0u) << "no op of this test is evaluated by " << GetParam();
  }
};

std::vector<std::string> available_units() {
  std::vector<std::string> names;
  for (const UnitInfo& info : registry().list())
    if (info.unavailable.empty() && info.name.find('<') == std::string::npos) names.push_back(info.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Registry, EveryUnit, testing::ValuesIn(available_units()), test_name);

TEST_P(EveryUnit, IsDeterministicAndABatchEqualsOneByOne) {
  for_its_ops(64, [](const Unit& unit, const Batch& batch) {
    Outcomes first, second, one;
    unit.run(batch, first);
    unit.run(batch, second);
    for (size_t i = 0; i < batch.size(); ++i) {
      ASSERT_EQ(first.results.get(i), second.results.get(i)) << case_line(batch, i);
      Batch single(batch.op());
      single.append(batch, i);
      unit.run(single, one);
      ASSERT_EQ(first.results.get(i), one.results.get(0)) << case_line(batch, i);
      if (!first.flags.empty()) {
        ASSERT_EQ(first.flags[i], one.flags[0]) << case_line(batch, i);
      }
    }
  });
}

TEST_P(EveryUnit, KeepsTheClaimsOfItsRow) {
  for_its_ops(case_count(500, 100000), [](const Unit& unit, const Batch& batch) {
    Outcomes base;
    unit.run(batch, base);
    const auto fail = [&](const Divergence& d, uint64_t) {
      std::string text = d.key.to_string() + "\n" + to_text(batch.op());
      for (size_t i = 0; i < d.cases.size(); ++i) text += "\n" + case_line(d.cases, i);
      for (const uint64_t r : d.results) text += " " + to_hex(batch.op().d, r);
      FAIL() << text;
    };
    for (const Claim& claim : unit.claims()) {
      if (claim.property == "equals_model") {
        const auto model = registry().bind(claim.detail, batch.op());
        ASSERT_TRUE(model) << model.refusal().reason;
        Outcomes expected;
        (*model)->run(batch, expected);
        EXPECT_EQ(
            compare_units("equals_model", Severity::contract, batch, unit.name(), base, claim.detail, expected, fail),
            batch.size());
      } else {
        const Property* property = find_property(claim.property);
        ASSERT_NE(property, nullptr) << claim.property;
        const auto bound = BoundProperty::bind(*property, unit, batch.op(), registry());
        if (bound) {
          EXPECT_GT(bound->check(batch, base, fail), 0u)
              << unit.name() << " is never seen to keep or break " << claim.property;
        }
      }
    }
  });
}

/// Encodings at which attributes decide: both signs of zero, the ends of the subnormal and the normal numbers, 1 and
/// its upper neighbour, infinity, NaN.
std::vector<uint64_t> corners(const FormatFields& f) {
  if (f.integer) return {0, 1, f.container_mask() >> 1, f.container_mask()};
  std::vector<uint64_t> all = {f.encode_nan()};
  const uint64_t least_normal = uint64_t{1} << f.fraction_bits;
  const uint64_t one = round_once(f, false, 1, 0).encoding >> f.ignored_low_bits;
  for (const uint64_t code :
       {uint64_t{0}, uint64_t{1}, f.fraction_mask(), least_normal, one, one + 1, f.greatest_magnitude()})
    for (const uint64_t sign : {uint64_t{0}, f.sign_bit()}) all.push_back(f.in_container(code | sign));
  if (f.has_infinity()) all.push_back(f.encode_infinity(false));
  return all;
}

/// Every tuple of corners in the op's first operands (of one field where it has one, else the first of up to three
/// fields), with scales of 1; then structured cases.
Batch deciding_cases(const Op& op) {
  std::vector<Batch> parts(2, Batch(op));
  StructuredGenerator(op, 5).fill(0, 4000, parts[1]);
  Batch& all = parts[0];
  const std::vector<FieldShape> fields = op.inputs();
  struct Spot {
    size_t field;
    int lane;
  };
  std::vector<Spot> spots;
  const bool one_field = op.kind != OpKind::dot;
  for (int i = 0; i < 3; ++i) {
    if (one_field && i < fields[0].count) spots.push_back({0, i});
    if (!one_field) spots.push_back({size_t(i), 0});
  }
  std::vector<std::vector<uint64_t>> values;
  size_t tuples = 1;
  for (const Spot& spot : spots) {
    values.push_back(corners(op.input_format(spot.field).fields()));
    tuples *= values.back().size();
  }
  all.resize(tuples);
  for (size_t at = 0; at < tuples; ++at) {
    for (size_t f = one_field ? 1 : 3; f < fields.size(); ++f)
      for (int i = 0; i < fields[f].count; ++i)
        all.inputs()[f].set(at, i, round_once(op.input_format(f).fields(), false, 1, 0).encoding);
    size_t rest = at;
    for (size_t s = 0; s < spots.size(); rest /= values[s++].size())
      all.inputs()[spots[s].field].set(at, spots[s].lane, values[s][rest % values[s].size()]);
  }
  for (size_t i = 0; i < parts[1].size(); ++i) all.append(parts[1], i);
  if (op.kind ==
      OpKind::convert) {  // just below the least normal number, to which it rounds: tiny before rounding alone
    const FormatFields& d = op.d.fields();
    all.resize(all.size() + 1);
    all.inputs()[0].set(all.size() - 1, 0, round_once(op.a.fields(), false, (1u << 24) - 1, d.emin() - 24).encoding);
  }
  return all;
}

/// Attributes whose promise such an op keeps whatever its operands: nothing is rounded, can overflow, or rounds across
/// the least normal number.
bool decides_nothing(const Op& op, std::string_view attribute) {
  const bool compares = op.kind == OpKind::scalar && mmafuzz::compares(op.scalar);
  if (op.kind == OpKind::convert && op.a.fields().integer) {  // an integer is 0 or at least 1
    if (attribute == "ftz=1" || attribute == "tiny=before") return true;
    if (attribute == "saturate=1" && op.d.fields().emax() >= op.a.fields().width) return true;
    if (attribute.starts_with("round=")) return op.d.fields().precision() >= op.a.fields().width;
  }
  if (op.rounds_to_integer()) {
    if (attribute == "tiny=before") return true;
    if (attribute == "saturate=1") return op.kind == OpKind::scalar;
  }
  // Codes of eight bits times a power of two are numbers of fp32; s8's are none beyond its range either.
  if (op.kind == OpKind::dequantize && attribute.starts_with("round=") && !op.has_tensor_scale() &&
      op.scale_a.fields().precision() == 1 && op.d.fields().precision() >= 24)
    return op.a.fields().integer || op.rounding == Rounding::nearest_away;
  const bool exact = compares || (op.kind == OpKind::scalar && op.scalar == ScalarOperation::rem) ||
                     (op.kind == OpKind::convert && op.a.fields().precision() < op.d.fields().precision());
  if (attribute.starts_with("round=")) return exact;
  if (attribute == "saturate=1") return compares || op.d.fields().specials == Specials::none;  // which saturates always
  // Tiny sums are exact; a quotient or root of two numbers of a format is never so close below a power of two.
  if (attribute == "tiny=before")
    return exact ||
           (op.kind == OpKind::scalar && op.scalar != ScalarOperation::mul && op.scalar != ScalarOperation::fma);
  return false;
}

/// An attribute is honoured or declined with a reason, never ignored.
TEST_P(EveryUnit, HonoursOrDeclinesEachAttribute) {
  size_t decided = 0;
  for (const Op& op : ops()) {
    if (!registry().bind(GetParam(), op)) continue;
    Op up = op, away = op, before = op, flushed = op, saturated = op, silent = op;
    silent.signals_inexact = !op.rounds_to_integer();
    up.rounding = op.rounding == Rounding::up ? Rounding::down : Rounding::up;
    away.rounding = Rounding::nearest_away;
    before.tininess = Tininess::before;
    flushed.flush_to_zero = true;
    saturated.saturate = true;
    for (const Op& asked : {up, away, before, flushed, saturated, silent}) {
      if (asked == op) continue;
      if (asked.tininess == Tininess::before && !asked.has_flags()) continue;  // no such op can be written
      const std::string words = not_honoured(asked, {});
      const auto unit = registry().bind(GetParam(), asked);
      ++decided;
      if (!unit) {
        EXPECT_EQ(unit.refusal().kind, Refusal::Kind::declined) << words;
        EXPECT_FALSE(unit.refusal().reason.empty());
        continue;
      }
      ASSERT_EQ(not_honoured(asked, every_attribute), "");
      const auto plain = registry().bind(GetParam(), op);
      if (decides_nothing(asked, words)) continue;
      const Batch with = deciding_cases(asked), without = deciding_cases(op);
      Outcomes first, second;
      (*unit)->run(with, first);
      (*plain)->run(without, second);
      bool differs = false;
      for (size_t i = 0; i < with.size() && !differs; ++i) {
        differs = first_difference(with, first.results, second.results, i) >= 0;
        if (!first.flags.empty() && !second.flags.empty()) differs |= first.flags[i] != second.flags[i];
      }
      // These two x86 instructions flush whether asked to or not.
      const bool always =
          asked.flush_to_zero && (GetParam() == "cpu:cvt.bf16.f32" || GetParam() == "cpu:dpbf16.f32.bf16.bf16.f32");
      EXPECT_NE(differs, always) << GetParam() << " takes '" << to_text(asked) << "' and gives what it gives without "
                                 << words;
    }
    if (decided >= 20) break;
  }
  EXPECT_GT(decided, 0u);
}

TEST_P(EveryUnit, ResultsSurviveCaseText) {
  for_its_ops(40, [this](const Unit& unit, const Batch& batch) {
    Outcomes outcomes;
    unit.run(batch, outcomes);
    const std::string path = testing::TempDir() + "conformance-" + std::to_string(getpid()) + ".cases";
    {
      CaseWriter writer(path);
      writer.unit(unit.name());
      writer.op(batch.op());
      for (size_t i = 0; i < batch.size(); ++i) writer.one_case(batch, i, &outcomes);
      writer.finish();
    }
    CaseReader reader(path);
    CaseBlock block;
    ASSERT_TRUE(reader.next(block, 1000)) << (reader.error() ? reader.error()->to_string() : "");
    EXPECT_EQ(block.unit, GetParam());
    ASSERT_EQ(block.batch.op(), batch.op());
    ASSERT_EQ(block.batch.size(), batch.size());
    for (size_t i = 0; i < batch.size(); ++i) {
      ASSERT_EQ(block.expected.get(i), outcomes.results.get(i));
      if (!outcomes.flags.empty()) {
        ASSERT_EQ(block.expected_flags[i], outcomes.flags[i]);
      }
      ASSERT_EQ(case_line(block.batch, i), case_line(batch, i));
    }
    EXPECT_FALSE(reader.next(block, 1000));
    EXPECT_FALSE(reader.error().has_value());
    unlink(path.c_str());
  });
}

TEST(Registry, UnavailableUnitsDeclineWithTheirReason) {
  for (const UnitInfo& info : registry().list()) {
    if (info.unavailable.empty() || info.name.find('<') != std::string::npos) continue;
    const auto unit = registry().bind(info.name, dot_op("fp32", "fp32", "fp32", 4));
    ASSERT_FALSE(unit);
    EXPECT_EQ(unit.refusal().kind, Refusal::Kind::declined);
    EXPECT_FALSE(unit.refusal().reason.empty());
  }
  const auto cuda = registry().bind("cuda:mma.m16n8k16.f32.f16.f16.f32", dot_op("fp16", "fp32", "fp32", 16));
  ASSERT_FALSE(cuda);
  EXPECT_EQ(cuda.refusal().kind, Refusal::Kind::declined);
}

TEST(Registry, AnUnknownUnitListsTheNearestOnes) {
  const auto unit = registry().bind("model:hoper/mma.m16n8k16.f32.f16.f16.f32", dot_op("fp16", "fp32", "fp32", 16));
  ASSERT_FALSE(unit);
  EXPECT_EQ(unit.refusal().kind, Refusal::Kind::unknown);
  EXPECT_NE(unit.refusal().reason.find("model:hopper/mma.m16n8k16.f32.f16.f16.f32"), std::string::npos);
}

TEST(Registry, UnitsDeclineOpsOfOtherFormats) {
  const auto unit = registry().bind("model:hopper/mma.m16n8k16.f32.f16.f16.f32", dot_op("bf16", "fp32", "fp32", 16));
  ASSERT_FALSE(unit);
  EXPECT_EQ(unit.refusal().kind, Refusal::Kind::declined);
}

TEST(Comparison, AOneSidedNanNeverPasses) {
  Op op = dot_op("fp16", "fp32", "fp32", 1);
  for (const NanPolicy policy : {NanPolicy::exact, NanPolicy::any}) {
    op.nan = policy;
    EXPECT_FALSE(same_result(op, 0x7fc00000, 0x3f800000));
    EXPECT_FALSE(same_result(op, 0x3f800000, 0x7fc00000));
    EXPECT_FALSE(same_result(op, 0x00000000, 0x80000000));
    EXPECT_FALSE(same_result(op, 0x7f800000, 0x7fc00000));
  }
  EXPECT_TRUE(same_result(op, 0x7fc00000, 0xffffffff));
  op.nan = NanPolicy::exact;
  EXPECT_FALSE(same_result(op, 0x7fc00000, 0xffffffff));
}

}  // namespace
}  // namespace mmafuzz
