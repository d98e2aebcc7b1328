// mmafuzz bench split: the methods of Markidis and of Ootomo-Yokota (the newer one) on the same unit: how often each is
// nearer to the exact result, how many draws until the newer one is farther, and a search for the case with the
// greatest ratio of the errors (Valpey et al., section 6).
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "arithmetic/counter_rng.h"
#include "bench/bench.h"
#include "bench/measured_rows.h"
#include "core/case_text.h"
#include "arithmetic/corner_encodings.h"
#include "oracles/exact/mpfr_reference.h"
#include "oracles/exact/exact_gemm.h"
#include "search/mutator.h"

namespace mmafuzz {
namespace {

struct SplitOptions {
  std::string on = "model:volta/mma.m8n8k4.f32.f16.f16.f32", inputs = "random", witness;
  int k = 4, unit_k = 4;
  uint64_t cases = 100'000, seed = 1, search = 200'000, trials = 101;
  MeasuredRows rows;
};

/// Distances of both methods' results from the exact result, in ulps of the latter; not finite where a value is
/// infinite or a NaN.
struct Errors {
  double markidis, ootomo;
  bool are_finite() const { return std::isfinite(markidis) && std::isfinite(ootomo); }
};

class Duel {
 public:
  explicit Duel(const SplitOptions& o)
      : op_(op_from_text("gemm a=fp32 b=fp32 c=fp32 d=fp32 m=1 n=1 k=" + std::to_string(o.k))),
        markidis_(bind(o, "markidis")),
        ootomo_(bind(o, "ootomo")) {}

  const Op& op() const { return op_; }

  std::vector<Errors> errors(const Batch& batch) const {
    Outcomes first, second;
    markidis_->run(batch, first);
    ootomo_->run(batch, second);
    std::vector<Errors> all;
    std::vector<uint64_t> row(static_cast<size_t>(op_.k)), column(static_cast<size_t>(op_.k));
    exact::Mpfr sum(gemm::element_precision);
    for (size_t i = 0; i < batch.size(); ++i) {
      batch.a().unpack(i, row.data());
      batch.b().unpack(i, column.data());
      gemm::element_value(op_, {row, column, batch.c().get(i)}, sum.get());
      if (!mpfr_number_p(sum.get())) {
        all.push_back({NAN, NAN});
        continue;
      }
      all.push_back({std::fabs(exact::ulp_error(op_.d, sum.get(), first.results.get(i))),
                     std::fabs(exact::ulp_error(op_.d, sum.get(), second.results.get(i)))});
    }
    return all;
  }

  void write(const std::string& path, const Batch& witness, const Errors& e) const {
    CaseWriter writer(path);
    writer.comment(fmt::format("Errors in ulp: Markidis {:.6g}, Ootomo-Yokota {:.6g}", e.markidis, e.ootomo));
    for (const Unit* unit : {markidis_.get(), ootomo_.get()}) {
      const Outcomes outcomes = unit->outcomes_of(witness);
      writer.unit(unit->name());
      writer.op(op_);
      writer.one_case(witness, 0, &outcomes);
    }
    writer.finish();
  }

 private:
  std::unique_ptr<Unit> bind(const SplitOptions& o, const char* method) const {
    return bind_or_fail(fmt::format("split:{}.fp16?unit_k={},on={}", method, o.unit_k, o.on), op_);
  }

  Op op_;
  std::unique_ptr<Unit> markidis_, ootomo_;
};

/// fp32 numbers with exponents uniform in -15..14 (Ootomo and Yokota's type 1, as Valpey et al. restrict it), c
/// likewise.
void draw_random(const Op& op, CounterRng& rng, Batch& batch, size_t index) {
  const FormatFields& f = op.a.fields();
  for (Column& column : batch.inputs())
    for (int e = 0; e < column.count(); ++e) {
      const uint64_t fraction = rng.next() & f.fraction_mask();
      const int exponent = rng.between(-15, 14);
      const bool negative = rng.one_in(2);
      column.set(index, e, encode_near(f, negative, exponent, fraction));
    }
}

/// As draw_random, but with exponents and fractions at which alignment and rounding change: products that nearly cancel
/// or complete each other, powers of two, full fractions.
void draw_structured(const Op& op, CounterRng& rng, Batch& batch, size_t index) {
  const FormatFields& f = op.a.fields();
  const int top = rng.between(-4, 4);
  for (int l = 0; l < op.k; ++l) {
    const int sum = l == 0 ? top : top - (rng.one_in(2) ? rng.between(18, 26) : rng.between(0, 26)),
              ea = std::clamp(sum / 2 + rng.between(-3, 3), -15, 14);
    const bool plain = rng.one_in(3);
    const uint64_t fraction = plain ? 0 : draw_fraction(f, rng);
    const bool negative = rng.one_in(4);
    batch.inputs()[0].set(index, l, encode_near(f, negative, ea, fraction));
    batch.inputs()[1].set(index, l,
                          encode_near(f, false, std::clamp(sum - ea, -15, 14), plain ? 0 : draw_fraction(f, rng)));
  }
  if (rng.one_in(4)) return batch.inputs()[2].set(index, 0, 0);
  const uint64_t fraction = rng.one_in(2) ? 0 : draw_fraction(f, rng);
  const int exponent = top - (rng.one_in(2) ? rng.between(20, 26) : rng.between(-2, 26));
  const bool negative = rng.one_in(2);
  batch.inputs()[2].set(index, 0, encode_near(f, negative, exponent, fraction));
}

/// Changes one to three operands: a fraction bit, the sign, the exponent, the whole number, or low bits, which are
/// cleared.
void nudge(const Op& op, Batch& batch, size_t index, CounterRng& rng) {
  const FormatFields& f = op.a.fields();
  for (int moves = rng.between(1, 3); moves > 0; --moves) {
    Column& column = batch.inputs()[rng.below(3)];
    const int element = rng.between(0, column.count() - 1);
    uint64_t x = column.get(index, element);
    const int exponent = std::clamp(leading_exponent(f, x) + rng.between(-2, 2), -15, 14);
    switch (rng.below(5)) {
      case 0: x ^= uint64_t{1} << rng.below(23); break;
      case 1: x = with_exponent(f, x ^ f.sign_bit(), exponent); break;
      case 2: x = with_exponent(f, x, exponent); break;
      case 3: {
        const uint64_t fraction = draw_fraction(f, rng);
        const bool negative = rng.one_in(2);
        x = encode_near(f, negative, exponent, fraction);
        break;
      }
      default: x &= ~low_mask(rng.between(1, 23)); break;
    }
    column.set(index, element, x);
  }
}

/// The ratio of the newer method's error to the older one's, which counts as at least 2^-24 ulp, so that exact results
/// do not dominate; 0 where an error is not finite.
double badness(const Errors& e) { return e.are_finite() ? e.ootomo / std::max(e.markidis, 0x1p-24) : 0; }

int run_split(SplitOptions& o) {
  if (o.inputs != "random" && o.inputs != "structured") throw BadInput("bench split: --inputs is random or structured");
  const Duel duel(o);
  const auto draw = o.inputs == "structured" ? draw_structured : draw_random;
  const auto draws = [&](uint64_t seed, uint64_t first, size_t count) {
    Batch batch(duel.op(), count);
    for (size_t i = 0; i < count; ++i) {
      CounterRng rng(seed, first + i);
      draw(duel.op(), rng, batch, i);
    }
    return batch;
  };
  constexpr size_t chunk = 4096;
  uint64_t ootomo_nearer = 0, markidis_nearer = 0, neither = 0, left_out = 0;
  for (uint64_t first = 0; first < o.cases; first += chunk) {
    for (const Errors& e :
         duel.errors(draws(o.seed, first, static_cast<size_t>(std::min<uint64_t>(chunk, o.cases - first))))) {
      if (!e.are_finite()) ++left_out;
      else ++(e.ootomo < e.markidis ? ootomo_nearer : e.ootomo > e.markidis ? markidis_nearer : neither);
    }
  }
  const uint64_t all = ootomo_nearer + markidis_nearer + neither;
  const auto percent = [&](uint64_t cases) { return 100 * double(cases) / double(all); };
  o.rows.say(fmt::format(
      "{} inputs of k={} on {}: nearer to the exact result is Ootomo-Yokota in {:.2f} %, Markidis in {:.2f} %, neither "
      "in {:.2f} % of {} cases",
      o.inputs, o.k, o.on, percent(ootomo_nearer), percent(markidis_nearer), percent(neither), all));
  if (left_out) o.rows.say(fmt::format("{} cases left out: an infinity or a NaN", left_out));

  std::vector<size_t> firsts;
  for (uint64_t trial = 0; trial < o.trials; ++trial) {
    constexpr size_t most = 1000;
    const std::vector<Errors> errors = duel.errors(draws(o.seed + 1 + trial, 0, most));
    const auto first = std::find_if(errors.begin(), errors.end(),
                                    [](const Errors& e) { return e.are_finite() && e.ootomo > e.markidis; });
    firsts.push_back(static_cast<size_t>(first - errors.begin()) + 1);
  }
  std::sort(firsts.begin(), firsts.end());
  o.rows.add({{"unit", o.on},
              {"op", to_text(duel.op())},
              {"inputs", o.inputs},
              {"ootomo_nearer", ootomo_nearer},
              {"markidis_nearer", markidis_nearer},
              {"neither", neither},
              {"left_out", left_out},
              {"first_worse_median", firsts[firsts.size() / 2]},
              {"first_worse_most", firsts.back()}},
             fmt::format("first case on which Ootomo-Yokota is worse: draw {} at the median of {} seeds, {} at most",
                         firsts[firsts.size() / 2], o.trials, firsts.back()));

  // A hill climb on badness(): the worst cases so far, worst first, are nudged.
  constexpr size_t most_kept = 16;
  std::vector<std::pair<double, Batch>> kept;
  const auto offer = [&](const Batch& batch) {
    const std::vector<Errors> errors = duel.errors(batch);
    for (size_t i = 0; i < batch.size(); ++i) {
      const double bad = badness(errors[i]);
      if (kept.size() == most_kept && bad <= kept.back().first) continue;
      const auto next = std::find_if(kept.begin(), kept.end(), [&](const auto& k) { return k.first <= bad; });
      if (next != kept.end() && next->first == bad) continue;
      kept.insert(next, {bad, batch.part(i)});
      if (kept.size() > most_kept) kept.pop_back();
    }
  };
  for (uint64_t first = 0; first < o.search; first += chunk) {
    Batch batch = draws(o.seed + 7, first, chunk);
    for (size_t i = 0; i < chunk && !kept.empty(); ++i) {
      CounterRng rng(o.seed + 8, first + i);
      if (rng.one_in(4)) continue;
      copy_case(kept[rng.below(static_cast<uint32_t>(kept.size()))].second, 0, batch, i);
      nudge(duel.op(), batch, i, rng);
    }
    offer(batch);
  }
  o.rows.end();
  if (kept.empty()) return exit_ok;
  const Errors worst = duel.errors(kept[0].second)[0];
  o.rows.say(fmt::format(
      "worst case of a search of {} cases: errors in ulp {:.6g} (Ootomo-Yokota) against {:.6g} (Markidis)\n{}\n{}",
      o.search, worst.ootomo, worst.markidis, to_text(duel.op()), case_line(kept[0].second, 0)));
  if (!o.witness.empty()) duel.write(o.witness, kept[0].second, worst);
  return exit_ok;
}

}  // namespace

void add_bench_split(Arguments& bench, int& status) {
  auto options = std::make_shared<SplitOptions>();
  Arguments* sub = bench.add_subcommand(
      "split", "Error-corrected SGEMM: Markidis against Ootomo-Yokota, and where the newer method is worst");
  sub->add_option("--on", options->on, "dot unit")->capture_default_str();
  sub->add_option("--inputs", options->inputs, "random or structured")->capture_default_str();
  sub->add_option("-k", options->k, "products")->capture_default_str()->check(in_range(1, 4096));
  sub->add_option("--unit-k", options->unit_k, "products of one dot of the unit")
      ->capture_default_str()
      ->check(in_range(1, 64));
  sub->add_option("--cases", options->cases, "cases that are counted")->capture_default_str()->check(positive_count());
  sub->add_option("--search", options->search, "cases of the search for the worst ratio")
      ->capture_default_str()
      ->check(unsigned_number());
  sub->add_option("--seed", options->seed, "seed")->capture_default_str()->check(unsigned_number());
  sub->add_option("--witness", options->witness, "write the worst case to this file");
  options->rows.add_json_flag(*sub);
  sub->footer(
      "Example: mmafuzz bench split --inputs structured --on model:ampere/mma.m16n8k16.f32.f16.f16.f32 --unit-k 16 -k "
      "16");
  sub->callback([options, &status] { status = run_split(*options); });
}

}  // namespace mmafuzz
