// mmafuzz bench bounds: how tight the error bounds are. It searches for each unit's maximum of error/bound. A ratio
// near 1 shows that the bound cannot be smaller; one far below 1, that the bound or the search is weak
// (docs/bounds.md).
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "arithmetic/corner_encodings.h"
#include "bench/bench.h"
#include "bench/measured_rows.h"
#include "core/case_text.h"
#include "core/dot_case.h"
#include "core/property.h"
#include "plan/default_fields.h"
#include "oracles/bounds/error_bound.h"
#include "oracles/models/parameters.h"
#include "search/mutator.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

/// Block-scaled dots, which are not among the default ops.
const char* const scaled_ops[] = {"dot a=e4m3 b=e4m3 c=fp32 d=fp32 k=32 sa=e8m0 sb=e8m0 sblock=32",
                                  "dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=64 sa=ue4m3 sb=ue4m3 sblock=16",
                                  "dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=64 sa=e8m0 sb=e8m0 sblock=32"};

/// A finite number with about this exponent (unbiased); its fraction is all ones or random.
uint64_t encode_about(const FormatFields& f, bool negative, int exponent, bool ones, CounterRng& rng) {
  const uint64_t fraction = ones ? f.fraction_mask() : rng.next() & f.fraction_mask();
  return encode_near(f, negative, std::clamp(exponent, f.emin(), f.emax()), fraction);
}

/// A case that loses much, which a search finds by luck alone: one large addend, and others of one sign, with fractions
/// of all ones, whose exponents are lower by about the number of kept bits. Inputs 0 to 4: a, b, c, scales of a, of b.
void draw_tight(const Op& op, const CornerHints& hints, Batch& batch, size_t index, CounterRng& rng) {
  const FormatFields &a = op.a.fields(), &b = op.b.fields(), &c = op.c.fields();
  if (a.integer || b.integer || c.integer) return;
  const int low = a.emin() + b.emin(), high = a.emax() + b.emax();
  const int anchor = rng.between(std::max(low, c.emin()), std::min(high, c.emax()));
  const int below = anchor - hints.fraction_bits - rng.between(-1, 3);
  const bool one_sign = !rng.one_in(4), negative = rng.one_in(2), ones = !rng.one_in(3), c_leads = rng.one_in(2);
  const int leader = c_leads ? -1 : rng.between(0, std::min(op.k, hints.block) - 1);
  const int zeros = rng.one_in(3) ? rng.between(0, op.k) : op.k;  // products from here on are zero
  for (int i = 0; i < op.k; ++i) {
    const int exponent = i == leader ? anchor : below - (rng.one_in(3) ? rng.between(0, 2) : 0);
    const int ea = rng.between(std::max(a.emin(), exponent - b.emax()), std::min(a.emax(), exponent - b.emin()));
    const bool sign = one_sign ? negative : rng.one_in(2);
    const bool zero = i != leader && i >= zeros;
    batch.inputs()[0].set(index, i, zero ? 0 : encode_about(a, sign, ea, ones && i != leader, rng));
    batch.inputs()[1].set(index, i, zero ? 0 : encode_about(b, false, exponent - ea, ones && i != leader, rng));
  }
  const int c_exponent = c_leads ? anchor : rng.one_in(2) ? below : rng.between(below, anchor);
  const bool c_zero = rng.one_in(4) && !c_leads, c_negative = one_sign ? negative : rng.one_in(2);
  const bool c_ones = !c_zero && rng.one_in(2);
  batch.inputs()[2].set(index, 0, c_zero ? 0 : encode_about(c, c_negative, c_exponent, c_ones, rng));
  for (int side = 0; op.has_scales() && side < 2; ++side) {
    const FormatFields& f = (side ? op.scale_b : op.scale_a).fields();
    // Both sides together leave the products of all scales but the first about fraction_bits lower.
    for (int i = 0; i < op.scales(); ++i) {
      const int exponent = rng.between(-2, 2) - (i ? hints.fraction_bits / 2 : 0);
      const bool scale_ones = rng.one_in(2);
      batch.inputs()[size_t(3 + side)].set(index, i, encode_about(f, false, exponent, scale_ones, rng));
    }
  }
}

/// Searches for the cases of one unit with the greatest ratio error/bound, and keeps some.
class BoundSearch {
 public:
  struct Kept {
    Batch cases;       ///< a single case
    double ratio = 0;  ///< error/bound
    double parts = 0;  ///< ErrorBound::parts: the bound in units of its greatest part
  };

  BoundSearch(const Op& op, std::unique_ptr<Unit> unit, ErrorBounds bounds, uint64_t seed)
      : op_(op), unit_(std::move(unit)), bounds_(std::move(bounds)), seed_(seed) {}

  void run(uint64_t cases) {
    const CornerHints hints = corner_hints(unit_->model());
    const StructuredGenerator generator(op_, seed_);
    const Mutator mutator(op_, hints);
    Batch batch;
    for (uint64_t first = 0; first < cases; first += chunk) {
      generator.fill(first, std::min(chunk, cases - first), batch);
      for (size_t i = 0; i < batch.size(); ++i) {
        CounterRng rng(seed_, first + i);
        const uint32_t way = rng.below(8);  // 0: the generator's case stays
        if (way >= 3 && !kept_.empty()) {   // vary one of the tightest cases so far
          const Kept& one = kept_[rng.below(uint32_t(kept_.size()))];
          const Kept& other = kept_[rng.below(uint32_t(kept_.size()))];
          copy_case((score(one) < score(other) ? other : one).cases, 0, batch, i);
          way == 3 ? mutator.mutate(batch, i, rng) : nudge(batch, i, rng);
        } else if (way > 0) {
          draw_tight(op_, hints, batch, i, rng);
        }
      }
      judge(batch);
    }
  }

  const Unit& unit() const { return *unit_; }
  double greatest() const { return greatest_; }
  /// The case that shows best how tight the bound is; nullptr if no case has an error. A single rounding reaches its
  /// bound in many cases, all parts at once in few. So this is the greatest ratio among the cases whose bound has at
  /// least half as many parts as the greatest score().
  const Kept* tightest() const {
    double most = 0;
    for (const Kept& k : kept_) most = std::max(most, score(k));
    const Kept* best = nullptr;
    for (const Kept& k : kept_)
      if (2 * k.parts >= most && (!best || k.ratio > best->ratio || (k.ratio == best->ratio && k.parts > best->parts)))
        best = &k;
    return best;
  }

 private:
  static constexpr uint64_t chunk = 512;
  static constexpr size_t kept_of_like_parts = 4;  ///< kept cases with the same whole number of parts

  /// The error in units of the bound's greatest part. A case with a greater one is preferred for variation.
  static double score(const Kept& k) { return k.ratio * k.parts; }

  /// Changes one to three operands: a bit, a neighbour, a copy of another element, the next exponent.
  void nudge(Batch& batch, size_t index, CounterRng& rng) const {
    for (int moves = rng.between(1, 3); moves > 0; --moves) {
      const size_t input = rng.one_in(5) ? 2 : rng.below(static_cast<uint32_t>(batch.inputs().size()));  // 2: c
      Column& column = batch.inputs()[input];
      const int element = rng.between(0, column.count() - 1);
      const FormatFields& f = op_.input_format(input).fields();
      const uint64_t ulp = f.in_container(1);
      uint64_t x = column.get(index, element);
      switch (rng.below(4)) {
        case 0: x ^= ulp << rng.below(static_cast<uint32_t>(f.width - f.ignored_low_bits)); break;
        case 1: x += rng.one_in(2) ? ulp : 0 - ulp; break;
        case 2: x = column.get(index, rng.between(0, column.count() - 1)); break;
        default: x += (rng.one_in(2) ? ulp : 0 - ulp) << f.fraction_bits; break;  // the next exponent
      }
      column.set(index, element, x & f.container_mask());
    }
  }

  void judge(const Batch& batch) {
    const Outcomes outcomes = unit_->outcomes_of(batch);
    DotCase one(op_);
    ErrorBound bound(op_);
    for (size_t i = 0; i < batch.size(); ++i) {
      const DotOperands& in = one.load(batch, i);
      if (!ErrorBounds::has_bound_for(op_, in)) continue;
      bounds_.evaluate(in, bound);
      keep(batch, i, bound.ratio(op_.d, outcomes.results.get(i)), bound.parts);
    }
  }

  void keep(const Batch& batch, size_t index, double ratio, double parts) {
    greatest_ = std::max(greatest_, ratio);
    if (ratio == 0) return;
    size_t alike = 0;
    Kept* least = nullptr;
    for (Kept& k : kept_) {
      if (std::floor(k.parts) != std::floor(parts)) continue;
      if (k.ratio == ratio) return;
      ++alike;
      if (!least || k.ratio < least->ratio) least = &k;
    }
    if (alike < kept_of_like_parts) least = &kept_.emplace_back();
    else if (ratio < least->ratio) return;
    *least = {Batch(op_), ratio, parts};
    least->cases.append(batch, index);
  }

  Op op_;
  std::unique_ptr<Unit> unit_;
  ErrorBounds bounds_;
  uint64_t seed_;
  std::vector<Kept> kept_;
  double greatest_ = 0;
};

struct BoundsOptions {
  uint64_t cases = 200'000, seed = 1;
  std::string only = "*", witnesses;
  MeasuredRows rows;
};

int run_bounds(BoundsOptions& options) {
  std::vector<Op> ops = default_ops(OpKind::dot);
  const size_t unscaled = ops.size();
  for (const char* text : scaled_ops) ops.push_back(op_from_text(text));
  std::unique_ptr<CaseWriter> writer;
  if (!options.witnesses.empty()) {
    writer = std::make_unique<CaseWriter>(options.witnesses);
    writer->comment(
        "The tightest cases that 'mmafuzz bench bounds' found: of each the ratio error/bound, and the unit's result.");
  }
  bool any_bound = false, broken = false;
  for (size_t o = 0; o < ops.size(); ++o) {
    for (const std::string& name : registry().searched_by_default(ops[o])) {
      const Role role = registry().role_of(name);
      if (!matches_glob(options.only, name) || role == Role::silicon || (o >= unscaled && role != Role::model))
        continue;
      std::unique_ptr<Unit> unit = bind_or_fail(name, ops[o]);
      Result<ErrorBounds> bounds = ErrorBounds::of_unit(ops[o], *unit);
      if (!bounds) continue;
      if (!std::exchange(any_bound, true))
        options.rows.say(fmt::format("{:62} {:14} {:>9} {:>9} {:>5} {:>8}", "unit", "kernel", "greatest", "ratio of",
                                     "parts", "cases"));
      BoundSearch search(ops[o], std::move(unit), std::move(*bounds), options.seed);
      search.run(options.cases);
      broken |= search.greatest() > 1;
      const DotModel* model = search.unit().model();
      const BoundSearch::Kept* tightest = search.tightest();
      const std::string kernel = model ? parameter_text(*find_parameter("kernel"), *model) : "-";
      const double ratio = tightest ? tightest->ratio : 0, parts = tightest ? tightest->parts : 0;
      options.rows.add(
          {{"unit", name},
           {"op", to_text(ops[o])},
           {"kernel", kernel},
           {"greatest", search.greatest()},
           {"ratio", ratio},
           {"parts", parts},
           {"cases", options.cases}},
          fmt::format("{:62} {:14} {:9.6f} {:9.6f} {:5.1f} {:8}", model ? name : name + " " + op_label(ops[o]), kernel,
                      search.greatest(), ratio, parts, options.cases));
      if (!writer || !tightest) continue;
      const Outcomes outcomes = search.unit().outcomes_of(tightest->cases);
      writer->comment(fmt::format("ratio {:.6f} of {:.1f} parts", tightest->ratio, tightest->parts));
      writer->unit(name);
      writer->op(ops[o]);
      writer->one_case(tightest->cases, 0, &outcomes);
    }
  }
  if (!any_bound) throw BadInput("bench bounds: no unit with an error bound matches '" + options.only + "'");
  if (writer) writer->finish();
  options.rows.end();
  return broken ? exit_divergence : exit_ok;
}

}  // namespace

void add_bench_bounds(Arguments& bench, int& status) {
  auto options = std::make_shared<BoundsOptions>();
  Arguments* sub = bench.add_subcommand("bounds", "The greatest ratio of error to error bound that a search finds");
  sub->add_option("--cases", options->cases, "cases per unit")->capture_default_str()->check(positive_count());
  sub->add_option("--seed", options->seed, "seed of the search")->capture_default_str()->check(unsigned_number());
  sub->add_option("--units", options->only, "only units that match this glob");
  sub->add_option("--witnesses", options->witnesses, "write the tightest case of each unit to this file");
  options->rows.add_json_flag(*sub);
  sub->footer(
      "Exit code 1 if a result lies beyond its bound.\n"
      "Example: mmafuzz bench bounds --units 'model:hopper/*' --cases 50000");
  sub->callback([options, &status] { status = run_bounds(*options); });
}

}  // namespace mmafuzz
