// mmafuzz bench gemm: inputs and cases a second of the targets that look at matrix products, as an engine's input is
// looked at. mmafuzz bench gemm-flaws: inputs until a planted flaw shows, with functional feedback and without.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <ctime>

#include "arithmetic/corner_encodings.h"
#include "bench/bench.h"
#include "oracles/gemm/gemm_case.h"
#include "oracles/gemm/split.h"
#include "plan/default_fields.h"
#include "plan/targets.h"
#include "search/byte_codec.h"
#include "search/comparison.h"
#include "search/guided_search.h"
#include "search/rank_sum.h"

namespace mmafuzz {
namespace {

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Looks at inputs as a property target does: a case and its neighbours through one unit, in turn.
void print_rate(const FuzzTarget& target, const Op& op, double seconds) {
  const Comparison comparison(op, default_units(registry(), op), registry(), properties_of(target));
  std::vector<Coverage> coverages;
  std::vector<Mutator> mutators;
  for (const auto& unit : comparison.units()) {
    coverages.emplace_back(op, nullptr, unit->slicing());
    mutators.emplace_back(op, corner_hints(nullptr, unit->slicing()));
  }
  struct Counter {
    std::vector<uint8_t> reached = std::vector<uint8_t>(size_t(bins::count));
    void hit(int bin) { reached[size_t(bin)] = 1; }
    void impossible(const char*) {}
  } bins_reached;
  const StructuredGenerator generator(op, 1);
  uint64_t inputs = 0, divergences = 0;
  Batch batch;
  Outcomes base;
  const double start = processor_seconds();
  double now = start;
  for (; now - start < seconds; now = processor_seconds(), ++inputs) {
    const size_t unit = inputs % comparison.units().size();
    generator.fill(inputs, 1, batch);
    batch.resize(cases_of_input(op));
    mutators[unit].neighbours(batch, inputs);
    for (size_t i = 0; i < batch.size(); ++i) coverages[unit].observe(batch, i, bins_reached);
    comparison.units()[unit]->run(batch, base);
    comparison.examine_properties(batch, base, unit, inputs,
                                  [&](const Divergence&, uint64_t count) { divergences += count; });
  }
  const double rate = static_cast<double>(inputs) / (now - start);
  fmt::print("{:12} {:>2}x{:>2}x{:>3}{} {:8.0f} inputs/s {:9.0f} cases/s {:5} bins\n", target.name, op.m, op.n, op.k,
             op.has_alpha_beta() ? " scaled" : "       ", rate, rate * static_cast<double>(cases_of_input(op)),
             std::count(bins_reached.reached.begin(), bins_reached.reached.end(), 1));
}

/// What a flaw looks at in one case: its rows and columns as the unit under test cuts them.
class SlicedCase {
 public:
  SlicedCase(const Op& op, const Slicing& slicing) : op_(op), slicing_(slicing), one_(op) {}
  void load(const Batch& batch, size_t index) {
    one_.load(batch, index);
    const int m = op_.m, n = op_.n, k = op_.k;
    const gemm::RowSplitter rows(op_.a.fields(), one_.a.data(), {m, k, size_t(k), 1}, slicing_.widths.a,
                                 gemm::SubnormalReading::kept);
    const gemm::RowSplitter columns(op_.b.fields(), one_.b.data(), {n, k, 1, size_t(n)}, slicing_.widths.b,
                                    gemm::SubnormalReading::kept);
    a = rows.cut(std::min(rows.most_needed(), most_slices));
    b = columns.cut(std::min(columns.most_needed(), most_slices));
  }

  /// Slices that a line needs beyond those of a single number.
  int row_excess(int i) const { return a.needed[size_t(i)] - usual_slices(slicing_, slicing_.widths.a, 53); }
  int column_excess(int j) const { return b.needed[size_t(j)] - usual_slices(slicing_, slicing_.widths.b, 53); }
  int64_t greatest_sum() const { return int64_t{1} << slicing_.bits; }
  int greatest_digit_of_a() const { return (1 << slicing_.widths.a) - 1; }
  int64_t dot(int p, int i, int q, int j) const {
    if (p > a.slices || q > b.slices) return 0;
    int64_t sum = 0;
    for (int l = 0; l < op_.k; ++l) sum += int64_t{a.slice(p, i)[l]} * b.slice(q, j)[l];
    return sum;
  }
  /// Whether the row's greatest number, the first of them, is negative.
  bool negative_top(int row) const {
    int best = 0, sign = 0;
    if (a.slices == 0) return false;
    for (int l = 0; l < op_.k; ++l) {
      const int digit = a.slice(1, row)[l];
      if (std::abs(digit) <= best) continue;
      best = std::abs(digit);
      sign = digit;
    }
    return sign < 0;
  }
  uint64_t code_a(int i, int l) const { return one_.a[size_t(i * op_.k + l)]; }
  uint64_t code_b(int l, int j) const { return one_.b[size_t(l * op_.n + j)]; }
  uint64_t code_c(int i, int j) const { return one_.c[size_t(i * op_.n + j)]; }
  const Op& op() const { return op_; }

  gemm::SlicedRows a, b;

 private:
  static constexpr int most_slices = 12;
  const Op& op_;
  const Slicing slicing_;
  gemm::GemmCase one_;
};

/// A unit that is right except where a conjunction of facts about element (i, j) holds.
struct GemmFlaw {
  const char *name, *shown_by, *op;
  bool (*shows)(const SlicedCase&, int i, int j);
};

constexpr char inner_product[] = "gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=16",
               small_product[] = "gemm a=fp64 b=fp64 c=fp64 d=fp64 m=2 n=2 k=8",
               long_product[] = "gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=33";

const GemmFlaw gemm_flaws[] = {
    {"negative_span", "a row needs one slice more than usual, its greatest number is negative, its second slice empty",
     inner_product,
     [](const SlicedCase& c, int i, int) {
       return c.row_excess(i) == 1 && c.a.slices > 2 && !c.a.is_filled(2, i) && c.negative_top(i);
     }},
    {"both_exceed", "row and column need one slice more than usual each, and slice 2 of both is empty", inner_product,
     [](const SlicedCase& c, int i, int j) {
       return c.row_excess(i) == 1 && c.column_excess(j) == 1 && !c.a.is_filled(2, i) && !c.b.is_filled(2, j);
     }},
    {"late_cancel", "all products of the first three slices cancel, and row and column need more than usual",
     inner_product,
     [](const SlicedCase& c, int i, int j) {
       if (c.row_excess(i) < 1 || c.column_excess(j) < 1) return false;
       if (c.dot(1, i, 4, j) == 0 && c.dot(4, i, 1, j) == 0) return false;
       for (int p = 1; p <= 3; ++p)
         for (int q = 1; q <= 3; ++q)
           if (c.dot(p, i, q, j) != 0) return false;
       return true;
     }},
    {"full_sum", "an odd slice product within 2^-8 of what the accumulator holds, negative", inner_product,
     [](const SlicedCase& c, int i, int j) {
       for (int p = 1; p <= std::min(c.a.slices, 4); ++p)
         for (int q = 1; q <= std::min(c.b.slices, 4); ++q) {
           const int64_t sum = c.dot(p, i, q, j);
           if (sum % 2 != 0 && sum < c.greatest_sum() / 256 - c.greatest_sum()) return true;
         }
       return false;
     }},
    {"opposed_infinity", "one infinity in the row, at its end, one of the other sign in c, all else finite",
     small_product,
     [](const SlicedCase& s, int i, int j) {
       const FormatFields& f = s.op().a.fields();
       const Number last = decode(f, s.code_a(i, s.op().k - 1)), factor = decode(f, s.code_b(s.op().k - 1, j)),
                    c = decode(f, s.code_c(i, j));
       if (last.cls != NumberClass::infinity || c.cls != NumberClass::infinity || factor.cls != NumberClass::finite ||
           (last.negative != factor.negative) == c.negative)
         return false;
       for (int l = 0; l < s.op().k; ++l)
         if ((l + 1 < s.op().k && is_special(f, s.code_a(i, l))) || is_special(f, s.code_b(l, j))) return false;
       return true;
     }},
    {"distant_rows",
     "the rows' tops are more than 600 apart, the columns' equal, c is zero, and a negative row needs one slice more",
     small_product,
     [](const SlicedCase& s, int i, int j) {
       return s.a.slices > 0 && s.b.slices > 0 && s.a.is_filled(1, 0) && s.a.is_filled(1, 1) && s.b.is_filled(1, 0) &&
              s.b.is_filled(1, 1) && std::abs(s.a.top[0] - s.a.top[1]) > 600 && s.b.top[0] == s.b.top[1] &&
              is_zero(s.op().c.fields(), s.code_c(i, j)) && s.negative_top(i) && s.row_excess(i) == 1;
     }},
    {"lone_last_block", "only products of the last block are not zero, and slices 1*1 cancel there or are one product",
     long_product,
     [](const SlicedCase& s, int i, int j) {
       const FormatFields& f = s.op().a.fields();
       for (int l = 0; l < 32; ++l)
         if (!is_zero(f, s.code_a(i, l)) && !is_zero(f, s.code_b(l, j))) return false;
       return s.dot(1, i, 1, j) != 0 && s.dot(1, i, 1, j) % 2 != 0;
     }},
    {"late_exceed", "the greatest product is in the last block, the row needs one slice more, slice 2 of b is empty",
     long_product,
     [](const SlicedCase& s, int i, int j) {
       if (s.row_excess(i) != 1 || s.b.slices < 3 || s.b.is_filled(2, j)) return false;
       const FormatFields& f = s.op().a.fields();
       int best = -1, greatest = 0;
       for (int l = 0; l < s.op().k; ++l) {
         if (decode(f, s.code_a(i, l)).cls != NumberClass::finite ||
             decode(f, s.code_b(l, j)).cls != NumberClass::finite)
           continue;
         const int exponent = leading_exponent(f, s.code_a(i, l)) + leading_exponent(f, s.code_b(l, j));
         if (best >= 0 && exponent <= greatest) continue;
         best = l;
         greatest = exponent;
       }
       return best >= 32;
     }},
    {"negative_cancel", "a sum that cancels to zero though row and column need one slice more, c negative",
     inner_product,
     [](const SlicedCase& s, int i, int j) {
       const FormatFields& f = s.op().a.fields();
       if (s.row_excess(i) != 1 || s.column_excess(j) != 1 || !decode(f, s.code_c(i, j)).negative) return false;
       for (int p = 1; p <= s.a.slices; ++p)
         for (int q = 1; q <= s.b.slices; ++q)
           if (s.dot(p, i, q, j) != 0) return false;
       return true;
     }},
    {"full_third_slice", "the third slice of a negative row is full in all places but one at most, its fourth empty",
     inner_product,
     [](const SlicedCase& c, int i, int) {
       if (c.a.slices < 3 || !c.negative_top(i)) return false;
       int full = 0;
       for (int l = 0; l < c.op().k; ++l) full += std::abs(c.a.slice(3, i)[l]) == c.greatest_digit_of_a();
       return full >= c.op().k - 1 && (c.a.slices < 4 || !c.a.is_filled(4, i));
     }},
};

struct FlawOptions {
  uint64_t cases = 200'000, seeds = 10;
  double seconds = 1;
};

/// Cases until the flaw shows; the limit and one more where it does not.
uint64_t cases_until(const GemmFlaw& flaw, const Op& op, bool guided, uint64_t seed, uint64_t limit) {
  constexpr size_t chunk_cases = 256;
  const auto unit = bind_or_fail("ozaki:dgemm.fp16", op);
  std::vector<GuidedSearch::Focus> focuses;
  focuses.push_back({unit->name(), corner_hints(nullptr, unit->slicing()),
                     guided ? make_gemm_feedback(op, unit->slicing()) : make_no_feedback()});
  GuidedSearch search(op, std::move(focuses), seed);
  SlicedCase one(op, *unit->slicing());
  Batch batch;
  uint64_t cases = 0;
  for (uint64_t chunk = 0; cases < limit; ++chunk, cases += chunk_cases) {
    search.propose(chunk, cases, chunk_cases, batch);
    for (size_t i = 0; i < batch.size(); ++i) {
      one.load(batch, i);
      for (int row = 0; row < op.m; ++row)
        for (int column = 0; column < op.n; ++column)
          if (flaw.shows(one, row, column)) return cases + i + 1;
    }
    search.learn(search.observe(chunk, cases, batch));
  }
  return limit + 1;
}

int run_flaws(const FlawOptions& o) {
  fmt::print("median cases until a flaw shows, quartiles, seeds in which it did, of {} seeds and {} cases\n", o.seeds,
             o.cases);
  fmt::print("{:18} {:>32} {:>32}\n", "flaw", "guided", "unguided");
  RankSumTest test;
  for (const GemmFlaw& flaw : gemm_flaws) {
    const Op op = op_from_text(flaw.op);
    std::string cells;
    std::vector<double> samples[2];
    for (const bool guided : {true, false}) {
      std::vector<uint64_t> cases;
      for (uint64_t seed = 1; seed <= o.seeds; ++seed) cases.push_back(cases_until(flaw, op, guided, seed, o.cases));
      samples[guided ? 0 : 1].assign(cases.begin(), cases.end());
      std::sort(cases.begin(), cases.end());
      const auto shown = [&](size_t at) {
        return cases[at] > o.cases ? std::string("never") : std::to_string(cases[at]);
      };
      const size_t n = cases.size();
      cells += fmt::format(" {:>9} ({:>6}, {:>6}) {:>2}/{:<2}", shown(n / 2), shown(n / 4), shown(3 * n / 4),
                           std::count_if(cases.begin(), cases.end(), [&](uint64_t c) { return c <= o.cases; }), n);
    }
    test.add(samples[0], samples[1]);
    RankSumTest own;
    own.add(samples[0], samples[1]);
    fmt::print("{:18}{}  p = {:.2g}\n", flaw.name, cells, own.p_value());
    std::fflush(stdout);
  }
  fmt::print("over all flaws: guided first in {:.1f} % of the pairs of runs, p = {:.2g}\n", 100 * test.share_smaller(),
             test.p_value());
  return exit_ok;
}

}  // namespace

void add_bench_gemm(Arguments& bench, int& status) {
  auto options = std::make_shared<FlawOptions>();
  Arguments* rates =
      bench.add_subcommand("gemm", "Inputs and cases per second of the targets that look at matrix products");
  rates->add_option("--seconds", options->seconds, "processor time per op")->check(in_range(0.01, 3600.0));
  rates->footer("Example: mmafuzz bench gemm --seconds 5");
  rates->callback([options, &status] {
    for (const FuzzTarget& target : fuzz_targets())
      for (const Op& op : ops_of(target))
        if (op.kind == OpKind::gemm) print_rate(target, op, options->seconds);
    status = exit_ok;
  });

  auto flaw_options = std::make_shared<FlawOptions>();
  Arguments* flaws = bench.add_subcommand(
      "gemm-flaws", "Cases until planted flaws of matrix products show, with functional feedback and without");
  flaws->add_option("--cases", flaw_options->cases, "limit of a run")
      ->check(unsigned_number())
      ->check(positive_number());
  flaws->add_option("--seeds", flaw_options->seeds, "runs of each search")
      ->check(unsigned_number())
      ->check(positive_number());
  flaws->footer("Example: mmafuzz bench gemm-flaws --seeds 10");
  flaws->callback([flaw_options, &status] { status = run_flaws(*flaw_options); });
}

}  // namespace mmafuzz
