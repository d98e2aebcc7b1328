// The properties that relate one unit's results. A failure means that a property calls a good unit bad, or cannot see
// the bad one that it is there for. The cases are worked out by hand from the papers and docs/semantics.md.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "arithmetic/ieee_operations.h"
#include "oracles/families.h"
#include "oracles/properties/properties.h"
#include "core/function_unit.h"
#include "search/structured_generator.h"
#include "tests/run_one_dot.h"

namespace mmafuzz {
namespace {

using Encodings = std::vector<uint64_t>;

Batch one_case(const Op& op, const Encodings& a, const Encodings& b, uint64_t c) {
  Batch batch(op);
  batch.resize(1);
  for (size_t i = 0; i < a.size(); ++i) batch.inputs()[0].set(0, static_cast<int>(i), a[i]);
  for (size_t i = 0; i < b.size(); ++i) batch.inputs()[1].set(0, static_cast<int>(i), b[i]);
  batch.inputs()[2].set(0, 0, c);
  return batch;
}

/// A unit that is as wrong as can be: its result is the number a[0], whatever the rest.
class FirstOperand final : public Family {
 public:
  Role role(const std::string&) const override { return Role::other; }
  bool owns(std::string_view name) const override { return name == "first"; }
  std::vector<UnitInfo> list() const override { return {}; }
  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    return named(make_dot_unit([op](const DotOperands& in) {
                   return convert_number(op.d.fields(), decode(op.a.fields(), in.a[0]), {}).encoding;
                 }),
                 name);
  }
};

const Registry& with_broken_units() {
  static const Registry all = [] {
    Registry r = oracle_registry();
    r.add(std::make_unique<FirstOperand>());
    return r;
  }();
  return all;
}

struct Checked {
  size_t compared = 0;
  std::vector<Divergence> found;
};

Checked check(const char* property, const Unit& unit, const Batch& cases, const Registry& units = with_broken_units()) {
  const Result<BoundProperty> bound = BoundProperty::bind(*find_property(property), unit, cases.op(), units);
  if (!bound) throw std::runtime_error(bound.refusal().reason);
  Outcomes base;
  unit.run(cases, base);
  Checked checked;
  checked.compared = bound->check(cases, base, [&](Divergence d, uint64_t) { checked.found.push_back(std::move(d)); });
  return checked;
}

/// A case on which one unit breaks a property, with the results of the case and the changed case, and another keeps it.
struct Example {
  const char* property;
  const char* breaks;
  const char* keeps;
  Batch cases;
  uint64_t before, after;
};

std::vector<Example> examples() {
  std::vector<Example> all;
  const Op f16_k4 = dot_op("fp16", "fp32", "fp32", 4), f16_k16 = dot_op("fp16", "fp32", "fp32", 16);
  const char* volta = "model:volta/mma.m8n8k4.f32.f16.f16.f32";
  const char* hopper = "model:hopper/mma.m16n8k16.f32.f16.f16.f32";
  const char* cdna1 = "model:cdna1/mfma.4x4x4.f32.f16.f16.f32";

  // In order 2^53 + 1 + 1 - 2^53 gives 0, each 1 lost to a tie; backwards -2^53 + 1 + 1 + 2^53 gives 2.
  const uint64_t two_53 = 0x4340000000000000, one_64 = 0x3ff0000000000000;
  all.push_back({"block_permutation", "model:ampere/mma.m8n8k4.f64.f64.f64.f64", nullptr,
                 one_case(dot_op("fp64", "fp64", "fp64", 4), {two_53, one_64, one_64, two_53 | uint64_t{1} << 63},
                          {one_64, one_64, one_64, one_64}, 0),
                 0, 0x4000000000000000});

  // Fasi et al. 2021: four products 2^-24. c = 1 - 2^-24 keeps them all, c = 1 loses them.
  const Encodings two_m12(4, 0x0c00);
  const Batch fasi = one_case(f16_k4, two_m12, two_m12, 0x3f7fffff);
  all.push_back({"monotone_in_c", volta, cdna1, fasi, 0x3f800001, 0x3f800000});

  // The same four products as 2^(-12+i) * 2^(-12-i): in one of so many the changed case raises c to 1, be it by an ulp
  // or to the next power of two.
  Batch factored(f16_k4);
  for (int n = 0; n < 625; ++n) {
    Encodings a, b;
    for (int i = 0, rest = n; i < 4; ++i, rest /= 5) {
      a.push_back(0x0c00 + uint64_t(rest % 5) * 0x400 - 0x800);
      b.push_back(0x0c00 - uint64_t(rest % 5) * 0x400 + 0x800);
    }
    factored.append(one_case(f16_k4, a, b, 0x3f7fffff), 0);
  }
  all.push_back({"monotone_in_addend", volta, cdna1, factored, 0x3f800001, 0x3f800000});

  // 12 * 24 + 8 * 2^-18: 12 * 24 = 2.25 * 2^7, so that F = 25 keeps the eight; the changed case 8 * 36 = 1.125 * 2^8
  // (as 18 * 16) loses them.
  Encodings a(16), b(16);
  a[0] = 0x4a00, b[0] = 0x4e00;
  for (int i = 1; i <= 8; ++i) a[size_t(i)] = b[size_t(i)] = 0x1800;
  all.push_back({"product_value", hopper, "model:cdna1/mfma.16x16x16.f32.f16.f16.f32", one_case(f16_k16, a, b, 0),
                 0x43900001, 0x43900000});

  // 5 * 7 and 7 * 5.
  all.push_back({"product_value_and_exponent", "first", hopper, one_case(f16_k16, {0x4500}, {0x4700}, 0), 0x40a00000,
                 0x40e00000});
  all.push_back({"swap_operands", "first", hopper, one_case(f16_k16, {0x3c00}, {0x4000}, 0), 0x3f800000, 0x40000000});

  // CDNA3 floors: 1 + 2^-24 + 2^-40 loses the last term to a tie, its negative gains 2^-32 and rounds away.
  all.push_back({"sign_symmetry", "model:cdna3/mfma.4x4x4_16b.f32.f16.f16.f32", volta,
                 one_case(f16_k4, {0x0c00, 0x0010}, {0x0c00, 0x0010}, 0x3f800000), 0x3f800000, 0xbf800001});

  // 1 + 2^-24 + 2^-24; apart, each of the two is lost to a tie. Two roundings are not one.
  const Encodings ties = {0x3c00, 0x0c00, 0x0c00};
  all.push_back({"split_k", "exact", "ieee:serial", one_case(f16_k4, ties, ties, 0), 0x3f800001, 0x3f800000});

  // MMA-Sim 2025: 0 * (2 - 2^-7) * 2^127 reads exponent -126 + 127 = 1, and F = 25 leaves nothing of c = 2^-60.
  all.push_back({"zero_padding", "model:hopper/mma.m16n8k16.f32.bf16.bf16.f32?zero_rule=operand",
                 "model:hopper/mma.m16n8k16.f32.bf16.bf16.f32",
                 one_case(dot_op("bf16", "fp32", "fp32", 16), {}, {}, 0x21800000), 0x21800000, 0});
  return all;
}

TEST(EveryExample, BreaksAndKeeps) {
  std::set<std::string> seen;
  for (const Example& e : examples()) {
    SCOPED_TRACE(e.property);
    seen.insert(e.property);
    const auto unit = with_broken_units().bind(e.breaks, e.cases.op());
    ASSERT_TRUE(unit) << unit.refusal().reason;
    for (const Severity severity : {Severity::semantic, Severity::contract}) {
      (*unit)->describe(e.breaks, severity == Severity::contract ? claims_of({e.property}) : std::vector<Claim>{});
      const Checked checked = check(e.property, **unit, e.cases);
      ASSERT_EQ(checked.found.size(), 1u);
      EXPECT_EQ(checked.found[0].severity, severity);
      EXPECT_EQ(checked.found[0].results, (std::vector<uint64_t>{e.before, e.after}));
      EXPECT_EQ(checked.found[0].key.property, e.property);
    }
    if (!e.keeps) continue;
    const auto other = with_broken_units().bind(e.keeps, e.cases.op());
    ASSERT_TRUE(other) << other.refusal().reason;
    const Checked kept = check(e.property, **other, e.cases);
    EXPECT_GT(kept.compared, 0u);
    EXPECT_TRUE(kept.found.empty());
  }
  // Below, since its s is drawn; in process_unit_test.cc, error_bound_test.cc, conversion_property_test.cc,
  // ozaki_test.cc, residues_test.cc and quantizer_test.cc.
  const std::set<std::string> elsewhere = {
      "power_of_two_scaling", "error_bound",       "faithful",         "half_ulp",         "idempotent",
      "monotone_in_operand",  "nearest",           "not_above_up",     "not_below_down",   "round_trip",
      "survives_detour",      "correctly_rounded", "exact_slices",     "gemm_error_bound", "gemm_specials",
      "inner_permutation",    "matrix_scaling",    "tile_permutation", "transposition",    "answers",
      "scale_of_rule",        "no_saturation",     "half_step",        "monotone_codes",   "zero_block",
      "power_of_two_shift",   "permuted_codes",    "requantized",      "tensor_shift"};
  for (const auto& property : all_properties())
    EXPECT_NE(seen.contains(property->name()), elsewhere.contains(property->name())) << property->name();
  EXPECT_EQ(seen.size() + elsewhere.size(), all_properties().size()) << "a name of no property";
}

TEST(ProductValue, TwelveTimesTwentyFourIsNotEighteenTimesSixteen) {
  const Op op = dot_op("fp16", "fp32", "fp32", 16);
  const Encodings eight(8, 0x1800);  // 2^-9
  Encodings a = {0x4a00}, b = {0x4e00}, x = {0x4c80}, y = {0x4c00};
  for (Encodings* v : {&a, &b, &x, &y}) v->insert(v->end(), eight.begin(), eight.end());
  for (const auto& [name, first, second] :
       {std::tuple{"model:hopper/mma.m16n8k16.f32.f16.f16.f32", 0x43900001u, 0x43900000u},
        std::tuple{"model:hopper/mma.m16n8k16.f32.f16.f16.f32?product=normalized", 0x43900000u, 0x43900000u},
        std::tuple{"exact", 0x43900001u, 0x43900001u}}) {
    const auto unit = with_broken_units().bind(name, op);
    EXPECT_EQ(run_one_dot(**unit, op, a, b, 0), first) << name;
    EXPECT_EQ(run_one_dot(**unit, op, x, y, 0), second) << name;
  }
}

TEST(Scaling, AFloorThatIsTooHighIsSeen) {
  // c = 0 reads exponent 0 here: 2^-26 and what is below it is lost, unless it is scaled up.
  const Op op = dot_op("fp16", "fp32", "fp32", 16);
  Batch cases(op);
  for (uint64_t n = 0; n < 64; ++n) cases.append(one_case(op, {0x0c00 + n}, {0x0c00}, 0), 0);  // (1 + n 2^-10) 2^-24
  const std::string hopper = "model:hopper/mma.m16n8k16.f32.f16.f16.f32";
  const auto floored = with_broken_units().bind(hopper + "?zero_exponent=0", op),
             good = with_broken_units().bind(hopper, op);
  EXPECT_FALSE(check("power_of_two_scaling", **floored, cases).found.empty());
  const Checked kept = check("power_of_two_scaling", **good, cases);
  EXPECT_GT(kept.compared, 32u);
  EXPECT_TRUE(kept.found.empty());
}

/// Remembers the batches that it was given; answers the case's number.
class Spy final : public Family {
 public:
  Role role(const std::string&) const override { return Role::other; }
  explicit Spy(std::vector<Batch>& seen) : seen_(seen) {}
  bool owns(std::string_view name) const override { return name == "spy"; }
  std::vector<UnitInfo> list() const override { return {}; }
  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op&) const override {
    class Watching final : public Unit {
     public:
      explicit Watching(std::vector<Batch>& seen) : seen_(seen) {}
      void run(const Batch& batch, Outcomes& outcomes) const override {
        prepare(batch, outcomes);
        for (size_t i = 0; i < batch.size(); ++i) outcomes.results.set(i, 0, i);
        seen_.push_back(batch);
      }

     private:
      std::vector<Batch>& seen_;
    };
    return named(std::make_unique<Watching>(seen_), name);
  }

 private:
  std::vector<Batch>& seen_;
};

double value(const Format& format, uint64_t encoding) {
  const Number n = decode(format.fields(), encoding);
  if (n.cls == NumberClass::nan) return NAN;
  const double magnitude =
      n.cls == NumberClass::infinity ? INFINITY : std::ldexp(static_cast<double>(n.significand), n.exponent);
  return n.negative ? -magnitude : magnitude;
}

bool same(double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); }

/// What the changed cases of structured fp16 cases look like; products of fp16 numbers are exact in double.
class PropertyChangedCases : public testing::Test {
 protected:
  const Op op_ = dot_op("fp16", "fp32", "fp32", 8);
  Batch cases_;
  std::vector<Batch> seen_;
  Registry registry_;
  size_t compared_ = 0;

  void SetUp() override { registry_.add(std::make_unique<Spy>(seen_)); }

  void look(const char* property) {
    StructuredGenerator(op_, 5).fill(0, 4000, cases_);
    const auto unit = registry_.bind("spy", op_);
    compared_ = check(property, **unit, cases_, registry_).compared;
    seen_.erase(seen_.begin());  // the base
  }
  static double a(const Batch& batch, size_t n, int i) { return value(batch.op().a, batch.a().get(n, i)); }
  static double b(const Batch& batch, size_t n, int i) { return value(batch.op().b, batch.b().get(n, i)); }
  static double c(const Batch& batch, size_t n) { return value(batch.op().c, batch.c().get(n)); }
  /// A product or, at k, c.
  static double addend(const Batch& batch, size_t n, int i) {
    return i == batch.op().k ? c(batch, n) : a(batch, n, i) * b(batch, n, i);
  }
};

TEST_F(PropertyChangedCases, OneAddendIsRaisedByAnUlpOrPastAPowerOfTwo) {
  look("monotone_in_addend");
  std::set<int> positions;
  size_t raised = 0, by_an_ulp = 0, past_a_power = 0;
  for (size_t n = 0; n < cases_.size(); ++n) {
    int moved = -1, count = 0;
    for (int i = 0; i <= op_.k; ++i) {
      if (same(addend(cases_, n, i), addend(seen_[0], n, i))) continue;
      EXPECT_LT(addend(cases_, n, i), addend(seen_[0], n, i));
      moved = i;
      ++count;
    }
    EXPECT_LE(count, 1);
    if (count == 0) continue;
    ++raised;
    positions.insert(moved);
    const double from = addend(cases_, n, moved), to = addend(seen_[0], n, moved);
    by_an_ulp += std::fabs(to - from) <= std::ldexp(std::fabs(from), -9);
    past_a_power += from != 0 && to != 0 && std::ilogb(from) != std::ilogb(to);
  }
  EXPECT_EQ(positions.size(), size_t(op_.k + 1));
  EXPECT_GE(raised, compared_);
  EXPECT_GT(compared_, 3000u);
  EXPECT_GT(by_an_ulp, 1000u);
  EXPECT_GT(past_a_power, 1000u);
}

TEST_F(PropertyChangedCases, AllAddendsAreScaledByOnePowerOfTwo) {
  look("power_of_two_scaling");
  size_t scaled = 0;
  std::set<int> shifts;
  for (size_t n = 0; n < cases_.size(); ++n) {
    std::set<double> ratios;
    for (int i = 0; i <= op_.k; ++i) {
      const double before = addend(cases_, n, i), after = addend(seen_[0], n, i);
      if (std::isfinite(before) && before != 0) ratios.insert(after / before);
      else EXPECT_TRUE(same(before, after));
    }
    EXPECT_LE(ratios.size(), 1u);
    if (ratios.empty() || *ratios.begin() == 1) continue;
    ++scaled;
    EXPECT_EQ(std::exp2(std::ilogb(*ratios.begin())), *ratios.begin());
    shifts.insert(std::ilogb(*ratios.begin()));
  }
  EXPECT_GT(scaled, 1000u);
  EXPECT_GE(compared_, scaled);  // all addends may be zero
  EXPECT_GT(shifts.size(), 20u);
}

TEST_F(PropertyChangedCases, FactorsChangeAndProductsDoNot) {
  for (const bool same_exponents : {false, true}) {
    seen_.clear();
    look(same_exponents ? "product_value_and_exponent" : "product_value");
    size_t changed = 0;
    for (size_t n = 0; n < cases_.size(); ++n) {
      EXPECT_EQ(cases_.c().get(n), seen_[0].c().get(n));
      for (int i = 0; i < op_.k; ++i) {
        EXPECT_TRUE(same(addend(cases_, n, i), addend(seen_[0], n, i)));
        if (cases_.a().get(n, i) == seen_[0].a().get(n, i)) continue;
        ++changed;
        const auto exponents = [&](const Batch& batch) {
          return std::max(std::ilogb(a(batch, n, i)), -14) + std::max(std::ilogb(b(batch, n, i)), -14);
        };
        EXPECT_EQ(exponents(cases_) == exponents(seen_[0]), same_exponents);
      }
    }
    EXPECT_GT(changed, 2000u);
    EXPECT_GT(compared_, 1000u);
  }
}

TEST_F(PropertyChangedCases, TwoPartsMakeTheCase) {
  look("split_k");
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_EQ(compared_, cases_.size());
  const int cut = seen_[0].op().k;
  EXPECT_EQ(cut + seen_[1].op().k, op_.k);
  for (size_t n = 0; n < cases_.size(); ++n) {
    for (int i = 0; i < op_.k; ++i) {
      const Batch& part = seen_[i < cut ? 0 : 1];
      EXPECT_EQ(part.a().get(n, i < cut ? i : i - cut), cases_.a().get(n, i));
      EXPECT_EQ(part.b().get(n, i < cut ? i : i - cut), cases_.b().get(n, i));
    }
    EXPECT_EQ(seen_[0].c().get(n), cases_.c().get(n));
    EXPECT_EQ(seen_[1].c().get(n), n);  // what the spy answered to the first part
  }
}

TEST_F(PropertyChangedCases, OnlyZeroProductsAreAddedAndChanged) {
  look("zero_padding");
  EXPECT_EQ(compared_, cases_.size());
  ASSERT_EQ(seen_[0].op().k, 2 * op_.k);
  for (size_t n = 0; n < cases_.size(); ++n) {
    EXPECT_EQ(cases_.c().get(n), seen_[0].c().get(n));
    for (int i = 0; i < op_.k; ++i) {
      if (addend(cases_, n, i) == 0) {
        EXPECT_EQ(seen_[0].a().get(n, i) | seen_[0].b().get(n, i), 0u);
      } else {
        EXPECT_EQ(seen_[0].a().get(n, i), cases_.a().get(n, i));
        EXPECT_EQ(seen_[0].b().get(n, i), cases_.b().get(n, i));
      }
      const double x = a(seen_[0], n, op_.k + i), y = b(seen_[0], n, op_.k + i);
      EXPECT_EQ(x * y, 0);
      EXPECT_EQ(x + y, 65504);
    }
  }
}

TEST(Binding, APropertyThatNeedsAnotherOpDeclinesWhereTheUnitDoes) {
  const Op op = dot_op("fp16", "fp32", "fp32", 4);
  const auto unit = with_broken_units().bind("first", op);
  const Registry nobody;
  for (const char* property : {"split_k", "zero_padding"}) {
    EXPECT_TRUE(BoundProperty::bind(*find_property(property), **unit, op, with_broken_units()));
    EXPECT_FALSE(BoundProperty::bind(*find_property(property), **unit, op, nobody));
  }
  EXPECT_TRUE(BoundProperty::bind(*find_property("swap_operands"), **unit, op, nobody));
  EXPECT_FALSE(
      BoundProperty::bind(*find_property("split_k"), **unit, dot_op("fp16", "fp32", "fp32", 1), with_broken_units()));
}

TEST(Binding, AUnitIsCutBetweenTheStepsOfTheRowThatItClaimsToEqual) {
  const Op op = dot_op("fp16", "fp32", "fp32", 4);
  const auto unit = with_broken_units().bind("first", op);
  ASSERT_TRUE(find_property("split_k")->applies(op, **unit)) << "a black box may be cut anywhere";
  (*unit)->describe("first", {{"equals_model", "model:volta/mma.m8n8k4.f32.f16.f16.f32"}});
  EXPECT_FALSE(find_property("split_k")->applies(op, **unit)) << "Volta takes four products at once";
  (*unit)->describe("first", {{"equals_model", "model:volta/mma.m8n8k4.f32.f16.f16.f32?block=2"}});
  EXPECT_TRUE(find_property("split_k")->applies(op, **unit));
}

}  // namespace
}  // namespace mmafuzz
