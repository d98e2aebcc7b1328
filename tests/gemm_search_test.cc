// Searches of matrix products: moves reach the corners of slices, properties that cost a run take turns without leaving
// a case out for good, and the quick judgement of an element never accepts what MPFR refuses.
#include <cmath>

#include "core/case_text.h"
#include "oracles/exact/exact_gemm.h"
#include "oracles/gemm/ozaki_unit.h"
#include "oracles/gemm/quick_element.h"
#include "oracles/properties/properties.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "search/comparison.h"
#include "search/coverage.h"
#include "search/mutator.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace mmafuzz {
namespace {

Op product(const std::string& format, int m, int n, int k, const std::string& more = "") {
  return op_from_text("gemm a=" + format + " b=" + format + " c=" + format + " d=" + format +
                      " m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=" + std::to_string(k) + more);
}

/// Ones everywhere, c zero.
Batch ones(const Op& op) {
  Batch batch(op);
  batch.resize(1);
  const uint64_t one = uint64_t(op.a.fields().bias) << op.a.fields().fraction_bits;
  for (const size_t side : {size_t{0}, size_t{1}})
    for (int e = 0; e < batch.inputs()[side].count(); ++e) batch.inputs()[side].set(0, e, one);
  for (int e = 0; e < batch.c().count(); ++e) batch.inputs()[2].set(0, e, 0);
  return batch;
}

TEST(Moves, ReachTheCornersOfSlicesFromOnes) {
  const Op op = product("fp64", 2, 2, 16);
  const auto unit = bind_or_fail("ozaki:dgemm.fp16?slices=5", op);
  const Mutator mutator(op, corner_hints(nullptr, unit->slicing()));
  Coverage coverage(op, nullptr, unit->slicing());
  struct Names {
    std::set<std::string> seen;
    void hit(int bin) { seen.insert(bin_name(bin)); }
    void impossible(const char* what) { ADD_FAILURE() << what; }
  } names;
  const Batch start = ones(op);
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Batch batch = start;
    CounterRng rng(seed, 0);
    for (int moves = 0; moves < 3; ++moves) mutator.move(batch, 0, rng);
    coverage.observe(batch, 0, names);
  }
  const auto any = [&](const std::vector<std::string>& parts) {
    return std::any_of(names.seen.begin(), names.seen.end(), [&](const std::string& name) {
      return std::all_of(parts.begin(), parts.end(),
                         [&](const std::string& part) { return name.find(part) != std::string::npos; });
    });
  };
  for (const char* span : {".S-1.", ".S.", ".S+1.", ".one_slice_more.", ".beyond."})
    for (const char* side : {"gemm_span.a", "gemm_span.b"}) EXPECT_TRUE(any({side, span})) << side << span;
  for (const char* left : {"left=lowest", "left=below_half", "left=half", "left=above_half", "left=all_ones"})
    EXPECT_TRUE(any({"gemm_span.", left})) << left;
  for (const char* cut : {"row_cut", "column_cut", "both_cut"}) EXPECT_TRUE(any({"gemm_slices.", cut})) << cut;
  EXPECT_TRUE(any({"gemm_cancel.to_zero.first_zero"}));
  EXPECT_TRUE(any({"gemm_cancel.depth=27-52.first_zero"}));
  EXPECT_TRUE(any({"gemm_slack.1*1.bits=0"})) << "full digits everywhere";
  EXPECT_TRUE(any({"gemm_special.row=infinity", "c=zero"}));
  EXPECT_TRUE(any({"gemm_scale.rows=201+"}) || any({"gemm_scale.rows=54-200"})) << "a row scaled";
}

/// How many cases each property of a unit was put to, by name.
std::map<std::string, size_t> compared(const Comparison& comparison, const Batch& batch, const Outcomes& base,
                                       std::optional<uint64_t> turn) {
  std::map<std::string, size_t> cases;
  comparison.examine_properties(
      batch, base, 0, turn, [](const Divergence& d, uint64_t) { ADD_FAILURE() << d.key.to_string(); },
      [&](const Property& property, size_t count, bool) { cases[property.name()] += count; });
  return cases;
}

TEST(Turns, CoverEveryCaseForEveryProperty) {
  const Op op = product("fp64", 2, 2, 8);
  const Comparison comparison(op, {"ozaki:dgemm.fp16?sum=exact"}, registry(), all_properties());
  Batch batch;
  StructuredGenerator(op, 3).fill(0, 12, batch);
  Outcomes base;
  comparison.units()[0]->run(batch, base);
  for (const auto& [name, cases] : compared(comparison, batch, base, std::nullopt)) EXPECT_EQ(cases, 12u) << name;
  std::map<std::string, size_t> all;
  for (uint64_t turn = 0; turn < 3; ++turn)
    for (const auto& [name, cases] : compared(comparison, batch, base, turn)) {
      all[name] += cases;
      const bool in_turn = name == "exact_slices" || name.ends_with("_permutation");
      EXPECT_EQ(cases, in_turn ? 4u : 12u) << name;
    }
  for (const char* name : {"exact_slices", "inner_permutation", "tile_permutation"}) EXPECT_EQ(all[name], 12u) << name;
}

TEST(QuickElements, AcceptNothingThatMpfrRefuses) {
  size_t asked = 0, accepted = 0, refused = 0, rounded = 0, rightly_rounded = 0;
  for (const auto& [name, op] :
       {std::pair{"ozaki:dgemm.fp16", product("fp64", 2, 2, 8)},
        {"ozaki:dgemm.fp16?slices=4", product("fp64", 1, 2, 16)},
        {"ozaki:dgemm.fp16?slices=5,fast=1",
         product("fp64", 2, 1, 20, " alpha=bfd5555555555555 beta=4008000000000000")},
        {"ozaki:dgemm.s8?slices=7,sum=exact", product("fp64", 1, 1, 4)},
        {"ozaki:sgemm.fp16?slices=2", product("fp32", 2, 2, 6)},
        {"ozaki:sgemm.fp16?sum=exact", product("fp32", 2, 2, 6, " alpha=beaaaaab beta=40400000")}}) {
    const auto unit = bind_or_fail(name, op);
    const gemm::OzakiGemm& scheme = dynamic_cast<const gemm::OzakiUnit&>(*unit).engine();
    Batch batch;
    StructuredGenerator(op, 5).fill(0, case_count(400, 20000), batch);
    Outcomes outcomes;
    unit->run(batch, outcomes);
    gemm::QuickElements quick(op);
    gemm::GemmCase one(op);
    std::vector<uint64_t> row(size_t(op.k)), column(size_t(op.k));
    for (size_t index = 0; index < batch.size(); ++index) {
      one.load(batch, index);
      quick.load(one);
      const auto d = scheme.describe({op.m, op.n, op.k}, one.a.data(), one.b.data());
      CounterRng rng(9, index);
      for (int e = 0; e < op.m * op.n; ++e) {
        const int i = e / op.n, j = e % op.n;
        for (int l = 0; l < op.k; ++l) {
          row[size_t(l)] = one.a[size_t(i * op.k + l)];
          column[size_t(l)] = one.b[size_t(l * op.n + j)];
        }
        const gemm::Element element{row, column, one.c[size_t(e)]};
        const gemm::ElementCuts cuts{d.top_a[size_t(i)], d.top_b[size_t(j)], d.needed_a[size_t(i)],
                                     d.needed_b[size_t(j)]};
        const uint64_t exact = gemm::exact_element(gemm::ExactBy::mpfr, op, element);
        // The unit's result, its neighbours, and numbers farther and farther away, across the bound.
        for (int step = 0; step < 40; ++step) {
          const uint64_t away = step < 2 ? 0 : uint64_t{1} << (step - 2);
          const uint64_t result =
              (step % 2 ? outcomes.results.get(index, e) + away : exact - away) & op.d.fields().container_mask();
          const bool within = gemm::within_ozaki_bound(scheme, d.record, cuts, element, result);
          const bool surely = quick.surely_within(scheme, d.record, cuts, i, j, result);
          EXPECT_TRUE(within || !surely) << name << ": " << case_line(batch, index) << " result "
                                         << to_hex(op.d, result);
          const bool right = result == exact, surely_right = quick.surely_rounded(i, j, result);
          EXPECT_TRUE(right || !surely_right)
              << name << ": " << case_line(batch, index) << " result " << to_hex(op.d, result);
          refused += !within;
          rounded += surely_right;
          rightly_rounded += right && step == 0;
          if (step != 1) continue;
          ++asked;
          accepted += surely;
        }
      }
    }
  }
  EXPECT_GT(accepted * 10, asked * 7) << "most results need no MPFR: " << accepted << " of " << asked;
  EXPECT_GT(rounded * 10, rightly_rounded * 5);
  EXPECT_GT(refused, asked) << "results beyond the bound took part";
}

/// Specials and zeros at random, the unit's result replaced by each of a few values: the property fails exactly where
/// the value is not what MPFR says.
class Answers final : public Unit {
 public:
  explicit Answers(uint64_t value) : value_(value) {}
  void run(const Batch& batch, Outcomes& outcomes) const override {
    const FieldShape result = batch.op().result();
    outcomes = {};
    outcomes.results = Column(result.format, result.count);
    outcomes.results.resize(batch.size());
    for (size_t i = 0; i < batch.size(); ++i)
      for (int e = 0; e < result.count; ++e) outcomes.results.set(i, e, value_);
  }

 private:
  uint64_t value_;
};

TEST(GemmSpecials, FailExactlyWhereMpfrDiffers) {
  size_t holds = 0, fails = 0;
  for (const char* more : {"", " round=down", " alpha=bfd5555555555555 beta=4008000000000000"}) {
    const Op op = product("fp64", 1, 1, 3, more);
    const FormatFields& f = op.a.fields();
    const uint64_t values[] = {0,
                               f.encode_zero(true),
                               f.encode_infinity(false),
                               f.encode_infinity(true),
                               f.encode_nan(),
                               0x3ff0000000000000,
                               0xbff0000000000000};
    Batch batch(op);
    batch.resize(case_count(2000, 50000));
    for (size_t i = 0; i < batch.size(); ++i) {
      CounterRng rng(4, i);
      for (Column& column : batch.inputs())
        for (int e = 0; e < column.count(); ++e) {
          const uint32_t choices = rng.one_in(2) ? 2 : 7;
          column.set(i, e, values[rng.below(choices)]);
        }
    }
    const auto exact = bind_or_fail("exact:mpfr", op);
    Outcomes right;
    exact->run(batch, right);
    for (const uint64_t value : values) {
      const Answers unit(value);
      Outcomes outcomes;
      unit.run(batch, outcomes);
      const Result<BoundProperty> property = BoundProperty::bind(*find_property("gemm_specials"), unit, op, registry());
      ASSERT_TRUE(property);
      std::vector<BoundProperty::Verdict> verdicts;
      property->judge(batch, outcomes, verdicts);
      for (size_t i = 0; i < batch.size(); ++i) {
        bool special = is_special(f, batch.c().get(i)), number = batch.c().get(i) << 1 != 0;
        for (int l = 0; l < op.k; ++l) {
          const uint64_t x = batch.a().get(i, l), y = batch.b().get(i, l);
          special |= is_special(f, x) || is_special(f, y);
          number |= x << 1 != 0 && y << 1 != 0;
        }
        const bool says_something = special ? is_special(f, right.results.get(i)) : !number;
        const bool expected_failure = says_something && !same_result(op, value, right.results.get(i));
        ASSERT_EQ(verdicts[i].failed, expected_failure) << more << ": " << case_line(batch, i);
        ++(verdicts[i].failed ? fails : holds);
      }
    }
  }
  EXPECT_GT(holds, 1000u);
  EXPECT_GT(fails, 1000u);
}

/// Right but where all products are zero: then 1.
class WrongAboutZeros final : public Unit {
 public:
  explicit WrongAboutZeros(std::unique_ptr<Unit> right) : right_(std::move(right)) {}
  void run(const Batch& batch, Outcomes& outcomes) const override {
    right_->run(batch, outcomes);
    for (size_t i = 0; i < batch.size(); ++i) {
      bool any = false;
      for (int l = 0; l < batch.op().k; ++l) any |= batch.a().get(i, l) && batch.b().get(i, l);
      if (!any) outcomes.results.set(i, 0, 0x3f800000);
    }
  }
  const DotModel* model() const override { return right_->model(); }

 private:
  std::unique_ptr<Unit> right_;
};

TEST(SliceDots, OfZerosAreSampled) {
  const Op op = product("fp64", 1, 1, 16);
  const gemm::OzakiPlan plan = gemm::parse_ozaki_plan("fp16", "")->plan;
  const Op dot = gemm::OzakiGemm::dot_op(plan, 16);
  const gemm::OzakiGemm wrong(
      plan, op, std::make_unique<WrongAboutZeros>(bind_or_fail("model:hopper/mma.m16n8k16.f32.f16.f16.f32", dot)), 16);
  // 2^0 beside 2^-200 in a, one place each: slice 1 of a meets slice 1 of b only, and so on.
  gemm::OzakiGemm::Factors factors;
  for (int l = 0; l < 16; ++l) {
    factors.a.push_back(l == 0 ? 0x3ff0000000000000 : l == 1 ? uint64_t{1023 - 200} << 52 : 0);
    factors.b.push_back(l == 0 ? 0x3ff0000000000000 : l == 1 ? uint64_t{1023 - 300} << 52 : 0);
  }
  EXPECT_GT(wrong.inexact_slice_products({1, 1, 16}, {factors})[0], 0);
}

#if defined(__x86_64__)
TEST(CorrectedSgemm, IsTheSameByHostAndInIntegers) {
  constexpr unsigned denormals_are_zero = 0x40;  // then the host's arithmetic is not IEEE 754's
  for (const char* name : {"split:markidis.fp16", "split:ootomo.fp16", "split:ootomo.fp16?residual_product=0",
                           "split:ootomo.tf32", "split:markidis.fp16?scale=5"})
    for (const char* more : {"", " alpha=beaaaaab beta=40400000", " alpha=00000000", " beta=00000000"}) {
      const Op op = product("fp32", 2, 3, 20, more);
      const auto unit = bind_or_fail(name, op);
      Batch batch;
      StructuredGenerator(op, 8).fill(0, case_count(300, 20000), batch);
      Outcomes by_host, in_integers;
      unit->run(batch, by_host);
      const unsigned state = _mm_getcsr();
      _mm_setcsr(state | denormals_are_zero);
      unit->run(batch, in_integers);
      _mm_setcsr(state);
      for (size_t i = 0; i < batch.size(); ++i)
        ASSERT_EQ(first_difference(batch, by_host.results, in_integers.results, i), -1) << name << more << "\n"
                                                                                        << case_line(batch, i);
    }
}
#endif

}  // namespace
}  // namespace mmafuzz
