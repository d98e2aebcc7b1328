// Searches of matrix products: moves reach the corners of slices, properties that cost a run take turns without leaving
// a case out for good, and the quick judgement of an element never accepts what MPFR refuses.
#include <array>
#include <bit>
#include <cmath>

#include "arithmetic/corner_encodings.h"
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

Op product_op(const std::string& format, int m, int n, int k, const std::string& more = "") {
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

TEST(Moves, ChangeTheirOwnCaseAlone) {
  for (const auto [m, n, k] : {std::array{4, 2, 6}, {1, 5, 3}, {5, 1, 3}, {2, 7, 1}}) {
    const Op op = product_op("fp64", m, n, k);
    const auto unit = bind_or_fail("ozaki:dgemm.fp16?slices=5", op);
    const Mutator mutator(op, corner_hints(nullptr, unit->slicing()));
    const Batch start = ones(op);
    Batch batch(op);
    batch.resize(3);
    for (size_t i = 0; i < 3; ++i) copy_case(start, 0, batch, i);
    for (uint64_t seed = 0; seed < 2000; ++seed) {
      CounterRng rng(seed, 0);
      mutator.mutate(batch, 1, rng);
      for (const size_t other : {size_t{0}, size_t{2}})
        ASSERT_EQ(case_line(batch, other), case_line(start, 0)) << to_text(op) << ", seed " << seed;
    }
  }
}

TEST(Moves, ReachTheCornersOfSlicesFromOnes) {
  const Op op = product_op("fp64", 2, 2, 16);
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

/// The bins of a product of fp64, a row of factors times a column of ones.
std::set<std::string> bins_of_row(const std::vector<double>& row, double c, const Slicing& slicing) {
  const Op op = product_op("fp64", 1, 1, static_cast<int>(row.size()));
  Batch batch = ones(op);
  for (size_t i = 0; i < row.size(); ++i)
    batch.inputs()[0].set(0, static_cast<int>(i), std::bit_cast<uint64_t>(row[i]));
  batch.inputs()[2].set(0, 0, std::bit_cast<uint64_t>(c));
  GemmCoverage coverage(op, slicing);
  std::set<std::string> names;
  for (const int bin : coverage.bins_of(batch, 0)) names.insert(bin_name(bin));
  return names;
}

// By hand. Sums begin at 1, so that a result ends at 2^-52 and half of its last unit is 2^-53; the bins see bits down
// to 2^-106, and whether there are more.
TEST(BinsOfProducts, SayWhatIsRoundedAway) {
  const auto round = [](const std::vector<double>& row, double c = 0) {
    for (const std::string& name : bins_of_row(row, c, reference_slicing(16)))
      if (name.starts_with("gemm_round.")) return name;
    return std::string();
  };
  const auto power = [](int exponent) { return std::ldexp(1.0, exponent); };
  EXPECT_EQ(round({1, power(-52)}), "gemm_round.positive.odd.exact");
  EXPECT_EQ(round({1, power(-106)}), "gemm_round.positive.even.lowest");
  EXPECT_EQ(round({1, power(-110)}), "gemm_round.positive.even.lowest");
  EXPECT_EQ(round({1, power(-54)}), "gemm_round.positive.even.below_half");
  EXPECT_EQ(round({-1, -power(-53), power(-106)}), "gemm_round.negative.even.half-1");
  EXPECT_EQ(round({1, power(-53)}), "gemm_round.positive.even.half");
  EXPECT_EQ(round({1}, power(-53)), "gemm_round.positive.even.half");
  EXPECT_EQ(round({1, power(-52), power(-53)}), "gemm_round.positive.odd.half");
  EXPECT_EQ(round({1, power(-53), power(-106)}), "gemm_round.positive.even.half+1");
  EXPECT_EQ(round({1, power(-53), power(-110)}), "gemm_round.positive.even.half+1");
  EXPECT_EQ(round({1, power(-53), power(-54)}), "gemm_round.positive.even.above_half");
  EXPECT_EQ(round({1, power(-52), -power(-106)}), "gemm_round.positive.even.all_ones");
}

// Digits of 4 bits: 8 is the greatest digit of the power of two, and the ones of the column are 8, too.
TEST(BinsOfProducts, SayWhatTheAccumulatorHasLeft) {
  const auto has = [](const std::vector<double>& row, int bits, int block, const char* name) {
    return bins_of_row(row, 0, {.widths = {4, 4}, .slices = 2, .bits = bits, .block = block}).count(name) == 1;
  };
  // One block: 2 * 64 = 2^7.
  EXPECT_TRUE(has({1, 1}, 7, 2, "gemm_slack.1*1.bits=0.positive.even"));
  EXPECT_TRUE(has({1, 1}, 6, 2, "gemm_slack.1*1.over.positive.even"));
  EXPECT_TRUE(has({-1, -1}, 9, 2, "gemm_slack.1*1.bits=2.negative.even"));
  // Two blocks of 64, which one accumulator takes.
  EXPECT_TRUE(has({1, 1}, 7, 1, "gemm_slack.1*1.bits=0.positive.even"));
  // Blocks of 64 and -64: each counts alone.
  EXPECT_TRUE(has({1, -1}, 7, 1, "gemm_slack.1*1.bits=1.positive.even"));
  // The second digit of 1 + 2^-7 is 1, that of the column 0.
  EXPECT_TRUE(has({1 + 1.0 / 128}, 7, 1, "gemm_slack.2*1.bits=3-4.positive.even"));
  EXPECT_TRUE(has({1 + 1.0 / 128}, 7, 1, "gemm_slack.1*2.zero.positive.even"));
}

// S is 8, two slices of 4 bits.
TEST(BinsOfProducts, SayHowFarALineReaches) {
  const auto span = [](const std::vector<double>& row) {
    for (const std::string& name : bins_of_row(row, 0, {.widths = {4, 4}, .slices = 2, .bits = 24, .block = 16}))
      if (name.starts_with("gemm_span.a.")) return name;
    return std::string();
  };
  const auto power = [](int exponent) { return std::ldexp(1.0, exponent); };
  EXPECT_EQ(span({0, 0}), "gemm_span.a.zeros.left=none.positive");
  EXPECT_EQ(span({1, power(-3)}), "gemm_span.a.one_slice.left=none.positive");
  EXPECT_EQ(span({-1, power(-4)}), "gemm_span.a.slices.left=none.negative");
  EXPECT_EQ(span({1, power(-6)}), "gemm_span.a.S-1.left=none.positive");
  EXPECT_EQ(span({1, power(-7)}), "gemm_span.a.S.left=none.positive");
  EXPECT_EQ(span({1, power(-8)}), "gemm_span.a.S+1.left=half.positive");
  EXPECT_EQ(span({1 + power(-9)}), "gemm_span.a.one_slice_more.left=below_half.positive");
  EXPECT_EQ(span({1 + power(-52)}), "gemm_span.a.more.left=lowest.positive");  // of the number itself
  EXPECT_EQ(span({1, power(-12), power(-8)}), "gemm_span.a.more.left=half.positive");
  EXPECT_EQ(span({1, 3 * power(-9)}), "gemm_span.a.one_slice_more.left=above_half.positive");
  EXPECT_EQ(span({1 + power(-7) - power(-52)}), "gemm_span.a.more.left=all_ones.positive");
  EXPECT_EQ(span({1, power(-80)}), "gemm_span.a.beyond.left=below_half.positive");
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
  const Op op = product_op("fp64", 2, 2, 8);
  const Comparison comparison(op, {"ozaki:dgemm.fp16?sum=exact"}, registry(), all_properties());
  Batch batch;
  StructuredGenerator(op, 3).fill(0, 15, batch);
  Outcomes base;
  comparison.units()[0]->run(batch, base);
  std::map<std::string, size_t> at_once = compared(comparison, batch, base, std::nullopt);
  EXPECT_GT(at_once["matrix_scaling"], 0u);  // where no product leaves the range
  at_once.erase("matrix_scaling");
  for (const auto& [name, cases] : at_once) EXPECT_EQ(cases, 15u) << name;
  std::map<std::string, size_t> all;
  for (uint64_t turn = 0; turn < 5; ++turn)
    for (const auto& [name, cases] : compared(comparison, batch, base, turn)) {
      all[name] += cases;
      if (name == "matrix_scaling") continue;
      const bool in_turn = name == "exact_slices" || name == "transposition" || name.ends_with("_permutation");
      EXPECT_EQ(cases, in_turn ? 3u : 15u) << name;
    }
  for (const char* name : {"exact_slices", "inner_permutation", "tile_permutation", "transposition"})
    EXPECT_EQ(all[name], 15u) << name;
}

TEST(QuickElements, AcceptNothingThatMpfrRefuses) {
  size_t asked = 0, accepted = 0, refused = 0, rounded = 0, rightly_rounded = 0;
  for (const auto& [name, op] :
       {std::pair{"ozaki:dgemm.fp16", product_op("fp64", 2, 2, 8)},
        {"ozaki:dgemm.fp16?slices=4", product_op("fp64", 1, 2, 16)},
        {"ozaki:dgemm.fp16?slices=5,fast=1",
         product_op("fp64", 2, 1, 20, " alpha=bfd5555555555555 beta=4008000000000000")},
        {"ozaki:dgemm.s8?slices=7,sum=exact", product_op("fp64", 1, 1, 4)},
        {"ozaki:sgemm.fp16?slices=2", product_op("fp32", 2, 2, 6)},
        {"ozaki:sgemm.fp16?sum=exact", product_op("fp32", 2, 2, 6, " alpha=beaaaaab beta=40400000")}}) {
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
      const auto d =
          scheme.describe({op.m, op.n, op.k}, one.a.data(), one.b.data(), gemm::OzakiGemm::PartialSums::computed);
      CounterRng rng(9, index);
      for (int e = 0; e < op.m * op.n; ++e) {
        const int i = e / op.n, j = e % op.n;
        for (int l = 0; l < op.k; ++l) {
          row[size_t(l)] = one.a[size_t(i * op.k + l)];
          column[size_t(l)] = one.b[size_t(l * op.n + j)];
        }
        const gemm::Element element{row, column, one.c[size_t(e)]};
        const gemm::ElementCuts cuts = gemm::element_cuts(d, size_t(e), size_t(op.n));
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

/// A scheme's bound on the elements of one case at a time, by MPFR and by the quick judgement.
class TwoJudges {
 public:
  TwoJudges(const std::string& name, const Op& op)
      : op_(op),
        unit_(bind_or_fail(name, op)),
        scheme_(dynamic_cast<const gemm::OzakiUnit&>(*unit_).engine()),
        quick_(op),
        one_(op),
        row_(size_t(op.k)),
        column_(size_t(op.k)) {}
  const Unit& unit() const { return *unit_; }
  void load(const Batch& batch, size_t index) {
    one_.load(batch, index);
    quick_.load(one_);
    cuts_ =
        scheme_.describe({op_.m, op_.n, op_.k}, one_.a.data(), one_.b.data(), gemm::OzakiGemm::PartialSums::computed);
  }
  void choose(int i, int j) {
    i_ = i;
    j_ = j;
    for (int l = 0; l < op_.k; ++l) {
      row_[size_t(l)] = one_.a[size_t(i * op_.k + l)];
      column_[size_t(l)] = one_.b[size_t(l * op_.n + j)];
    }
  }
  gemm::Element element() const { return {row_, column_, one_.c[size_t(i_ * op_.n + j_)]}; }
  uint64_t exact() const { return gemm::exact_element(gemm::ExactBy::mpfr, op_, element()); }
  bool within(uint64_t result) const {
    return gemm::within_ozaki_bound(scheme_, cuts_.record, cuts(), element(), result);
  }
  bool surely_within(uint64_t result) const {
    return quick_.surely_within(scheme_, cuts_.record, cuts(), i_, j_, result);
  }
  bool surely_rounded(uint64_t result) const { return quick_.surely_rounded(i_, j_, result); }

 private:
  gemm::ElementCuts cuts() const { return gemm::element_cuts(cuts_, size_t(i_ * op_.n + j_), size_t(op_.n)); }
  Op op_;
  std::unique_ptr<Unit> unit_;
  const gemm::OzakiGemm& scheme_;
  gemm::QuickElements quick_;
  gemm::GemmCase one_;
  gemm::OzakiGemm::Description cuts_;
  std::vector<uint64_t> row_, column_;
  int i_ = 0, j_ = 0;
};

/// Encodings in the order of their values, and back.
uint64_t ordered(const FormatFields& f, uint64_t x) {
  return x & f.sign_bit() ? f.container_mask() - x : x | f.sign_bit();
}
uint64_t unordered(const FormatFields& f, uint64_t place) {
  return place & f.sign_bit() ? place ^ f.sign_bit() : f.container_mask() - place;
}

/// A case whose greatest numbers meet zeros or tiny ones, so that an element is far below its row's and column's tops,
/// with a c beside it: where scaling by the tops loses bits.
void draw_far_below(const Op& op, CounterRng& rng, Batch& batch, size_t index) {
  const FormatFields& f = op.a.fields();
  const int reach = f.emax() - 2;
  const int tops = rng.one_in(4) ? rng.between(0, 2 * reach) : rng.between(900, 1080);  // fp64 ends 1074 below 1
  const int up_a = rng.between(std::max(0, tops - reach), std::min(tops, reach)), up_b = tops - up_a;
  const int element = rng.one_in(4)   ? rng.between(f.emax() - 3, f.emax() + 2)
                      : rng.one_in(4) ? f.emin() - rng.between(-60, 60)
                                      : rng.between(-60, 60);
  for (int l = 0; l < op.k; ++l) {
    const int a = l == 0 ? up_a : l == 1 ? element - up_b : element / 2 - rng.between(0, 80);
    const int b = l == 0 ? element - up_a : l == 1 ? up_b : element / 2 - rng.between(0, 80);
    const uint64_t x = draw_near(f, a, rng);
    const uint64_t y = draw_near(f, b, rng);
    for (int i = 0; i < op.m; ++i) batch.inputs()[0].set(index, i * op.k + l, x);
    for (int j = 0; j < op.n; ++j) batch.inputs()[1].set(index, l * op.n + j, y);
  }
  const int beta = op.beta ? leading_exponent(op.d.fields(), *op.beta) : 0;
  for (int e = 0; e < batch.c().count(); ++e) {
    const int c = element - beta - rng.between(-20, 60);
    batch.inputs()[2].set(index, e, draw_near(op.c.fields(), c, rng));
  }
}

constexpr const char* attacked_scalars[] = {
    "",
    " alpha=bfd5555555555555 beta=4008000000000000",
    " alpha=3ff0000000000000 beta=4620000000000000",  // beta 2^99
    " alpha=4628000000000000 beta=39e0000000000001",  // alpha 1.5 * 2^99, beta about 2^-97
    " alpha=0010000000000003 beta=3ff0000000000000",  // alpha near the end of the range
    " alpha=3ff0000000000000 beta=0000000000000003",
    " alpha=0000000000000000 beta=3ff0000000000001",
};

TEST(QuickElements, AcceptNothingBeyondTheEdgeOfTheBound) {
  size_t edges = 0, close = 0, overflows = 0;
  for (const char* name : {"ozaki:dgemm.fp16", "ozaki:dgemm.fp16?slices=3", "ozaki:dgemm.fp16?slices=5,fast=1",
                           "ozaki:dgemm.s8?sum=exact", "ozaki:dgemm.e4m3?slices=14,fast=1"})
    for (const char* scalars : attacked_scalars) {
      const Op op = product_op("fp64", 1, 1, 6, scalars);
      const FormatFields& f = op.d.fields();
      TwoJudges judges(name, op);
      Batch batch;
      StructuredGenerator(op, 11).fill(0, case_count(60, 1500), batch);
      const Mutator mutator(op, corner_hints(nullptr, judges.unit().slicing()));
      for (size_t i = 0; i < batch.size(); ++i) {
        CounterRng rng(12, i);
        if (i % 2) draw_far_below(op, rng, batch, i);
        else mutator.mutate(batch, i, rng);
        judges.load(batch, i);
        judges.choose(0, 0);
        const uint64_t exact = judges.exact();
        for (const uint64_t result : {f.encode_infinity(false), f.encode_infinity(true), f.encode_nan()}) {
          const bool surely = judges.surely_within(result);
          EXPECT_TRUE(!surely || judges.within(result)) << name << scalars << ": " << case_line(batch, i);
          EXPECT_TRUE(!judges.surely_rounded(result));
          overflows += surely && !is_special(f, exact);
        }
        if (is_special(f, exact)) continue;
        const uint64_t center = ordered(f, exact);
        for (const bool up : {false, true}) {
          // The last encoding in this direction that MPFR accepts; to the ends of the range if need be.
          const uint64_t end = ordered(f, f.encode_greatest(!up));
          uint64_t inside = 0, outside = up ? end - center : center - end;
          const auto at = [&](uint64_t distance) { return unordered(f, up ? center + distance : center - distance); };
          if (judges.within(at(outside))) continue;
          while (outside - inside > 1) {
            const uint64_t middle = inside + (outside - inside) / 2;
            (judges.within(at(middle)) ? inside : outside) = middle;
          }
          ++edges;
          const uint64_t greatest = up ? end - center : center - end;
          for (uint64_t probe = 0; probe < 64; ++probe) {  // at the edge, then in steps of a 16th of the bound
            const uint64_t beyond = probe < 8 ? probe : probe * (outside / 16 + 1);
            if (beyond > greatest - outside) break;
            EXPECT_FALSE(judges.surely_within(at(outside + beyond)))
                << name << scalars << " " << beyond << " beyond " << outside << ": " << case_line(batch, i);
          }
          for (uint64_t distance = 0; distance <= 4 && distance <= greatest; ++distance)
            EXPECT_TRUE(distance == 0 || !judges.surely_rounded(at(distance)))
                << name << scalars << " " << case_line(batch, i);
          close += judges.surely_within(at(inside - inside / 4));
        }
      }
    }
  EXPECT_GT(edges, case_count(60, 1500) * 20);
  EXPECT_GT(overflows, 10u) << "elements that may overflow took part";
  EXPECT_GT(close * 4, edges) << "many results near the edge are accepted without MPFR, so that it was attacked";
}

TEST(QuickElements, AcceptNoNeighbourOfAHalfwayCase) {
  const Op op = product_op("fp64", 1, 1, 3);
  const FormatFields& f = op.d.fields();
  TwoJudges judges("ozaki:dgemm.fp16?sum=exact", op);
  Batch batch(op);
  batch.resize(1);
  size_t sure = 0, all = 0;
  for (size_t n = 0; n < case_count(2000, 100000); ++n) {
    CounterRng rng(13, n);
    // x + half a unit of x +- a product from far below to none, the parts in any order; x at a power of two at times.
    const int exponent = rng.between(-900, 900);
    const uint64_t fraction = rng.one_in(4) ? 0 : rng.next() & f.fraction_mask();
    const bool negative = rng.one_in(2);
    const uint64_t x = encode_near(f, negative, exponent, fraction);
    const bool below = rng.one_in(2);
    const uint64_t half = encode_near(f, negative != below, exponent - 53 - (below && fraction == 0), 0);
    const int far = rng.between(54, 160);
    const uint64_t rest = rng.one_in(8) ? 0 : draw_near(f, exponent - far, rng);
    const uint64_t one = uint64_t(f.bias) << f.fraction_bits;
    const uint64_t parts[] = {x, half, rest};
    const uint32_t turn = rng.below(3);
    for (uint32_t l = 0; l < 3; ++l) {
      batch.inputs()[0].set(0, static_cast<int>(l), parts[(l + turn) % 3]);
      batch.inputs()[1].set(0, static_cast<int>(l), one);
    }
    batch.inputs()[2].set(0, 0, 0);
    judges.load(batch, 0);
    judges.choose(0, 0);
    const uint64_t exact = judges.exact(), center = ordered(f, exact);
    for (int step = -2; step <= 2; ++step) {
      const uint64_t result = unordered(f, center + static_cast<uint64_t>(static_cast<int64_t>(step)));
      if (step == 0) {
        sure += judges.surely_rounded(result);
      } else {
        EXPECT_FALSE(judges.surely_rounded(result)) << case_line(batch, 0);
      }
    }
    ++all;
  }
  EXPECT_GT(sure * 4, all) << "clear of the middle by a bit in 2^100, it is sure";
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
    const Op op = product_op("fp64", 1, 1, 3, more);
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
        ASSERT_EQ(verdicts[i].fails, expected_failure) << more << ": " << case_line(batch, i);
        ++(verdicts[i].fails ? fails : holds);
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
  const Op op = product_op("fp64", 1, 1, 16);
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
      const Op op = product_op("fp32", 2, 3, 20, more);
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
