// Sweeps of matrix units: short ones of all, long ones of all with those that disagreed first, rates.
#include "core/text.h"
#include "gpu_bridge/families/device_sweep.h"
#include "survey/survey.h"

namespace mmafuzz::survey {
namespace {

constexpr size_t most_kept_dots = 200;  ///< divergent dots of a sweep in the case file
constexpr size_t most_listed_dots = 3;  ///< ... and in the step's result

/// Writes what a sweep has found so far to the result and the case files.
void write_down(Context& context, const SweepRun& sweep, const SweepSubject& subject, Json& result) {
  result["dots"] = sweep.dots();
  result["vectors"] = sweep.vectors();
  result["divergent"] = sweep.divergent_dots();
  result["unstable"] = sweep.unstable_dots();
  result["unanswered"] = sweep.unanswered_dots();
  result["bins"] = sweep.bins();
  result["device_seconds"] = sweep.seconds();
  if (sweep.seconds() > 0) result["dots_per_second"] = double(sweep.dots()) / sweep.seconds();
  if (!sweep.diagnoses().empty()) result["diagnosis"] = joined(sweep.diagnoses(), "; ");
  if (const size_t unstable = sweep.unstable().size()) {
    Batch batch(subject.op, unstable);
    for (size_t c = 0; c < unstable; ++c) sweep.put(sweep.unstable()[c], batch, c);
    context.book.keep_cases("unstable.cases", subject.unit->name(), batch, nullptr);
  }
  const size_t kept = std::min(sweep.divergences().size(), most_kept_dots);
  if (kept == 0) return;
  Batch batch(subject.op, kept);
  Outcomes got;
  got.results = Column(subject.op.d, 1);
  got.results.resize(kept);
  for (size_t c = 0; c < kept; ++c) {
    const SweepDivergence& d = sweep.divergences()[c];
    sweep.put(d.dot, batch, c);
    got.results.set(c, 0, d.got);
    if (c < most_listed_dots) result["first"].push_back(difference_text(batch, c, d.got, "claimed", d.expected));
  }
  context.book.keep_cases("divergent.cases", subject.unit->name(), batch, &got);
}

/// Dots of the first epoch; an epoch is one run of many tiles on the device.
constexpr uint64_t first_dots = 8192;

/// Runs epochs until the deadline; each is as long as fits. `form`: the settings behind the unit's name, "?scale_d=0".
void sweep_unit(Context& context, const Instruction& i, const std::string& form, uint64_t seed, const std::string& step,
                Json& result, Clock::time_point deadline) {
  const std::string unit = "cuda:" + i.name + form, model = claimed_model(i, context.arch);
  const bool integer = i.op.d.fields().integer;
  if (!model.empty()) result["model"] = model;
  if (model.empty() && !integer) {
    result["why"] = "no model describes it here";
    return;
  }
  Result<SweepSubject> bound = device_sweep(context.registry, context.child, unit, "");
  if (!bound) throw std::runtime_error(bound.refusal().reason);
  SweepSubject& subject = *bound;
  subject.request.seed = seed;
  const uint64_t cells = static_cast<uint64_t>(i.shape.cells()), first = std::max<uint64_t>(1, first_dots / cells);
  SweepRun sweep(subject.request, subject.op, *subject.unit, subject.engine, first, subject.greatest_epoch);
  sweep.diagnose_with(subject.run_tiles);
  sweep.reproduce_until(deadline);
  const auto start = Clock::now();
  uint64_t greatest = first;
  try {
    do {
      sweep.epoch(greatest);
      if (sweep.unanswered_dots()) throw DeviceLost("when divergent tiles ran again: " + context.child->last_loss());
      const uint64_t tiles = sweep.dots() / cells;
      const double rate = double(tiles) / std::max(seconds_since(start), 1e-3),
                   left = std::max(0.0, seconds_until(deadline));
      greatest = std::max<uint64_t>(1, static_cast<uint64_t>(rate * left * 0.7));  // less, as rates vary
    } while (Clock::now() < deadline);
  } catch (...) {
    write_down(context, sweep, subject, result);
    if (sweep.divergent_dots())
      context.book.note_finding("divergence", step, unit,
                                std::to_string(sweep.divergent_dots()) + " dots, before the sweep ended");
    throw;
  }
  write_down(context, sweep, subject, result);
  const std::string why = result.contains("diagnosis") ? "; " + result["diagnosis"].get<std::string>() : "";
  if (sweep.divergent_dots())
    context.book.note_finding("divergence", step, unit,
                              std::to_string(sweep.divergent_dots()) + " of " + std::to_string(sweep.dots()) +
                                  " dots differ from " + (integer ? "the integer sum" : model) + why);
  if (sweep.unstable_dots())
    context.book.note_finding(
        "unstable", step, unit,
        std::to_string(sweep.unstable_dots()) + " dots came out otherwise when run again: the second answer differs");
}

Step sweep_step(Context& context, const std::string& name, const Instruction* i, const std::string& form,
                double seconds, uint64_t seed) {
  return {name, "sweep", "cuda:" + i->name + form, seconds,
          [&context, name, i, form, seed](Json& result, Clock::time_point deadline) {
            sweep_unit(context, *i, form, seed, name, result, deadline);
          }};
}

std::vector<Step> sweeps(Context& context, const std::string& name, const std::vector<const Instruction*>& units,
                         double seconds_each, uint64_t seed) {
  std::vector<Step> steps;
  for (const Instruction* i : units) steps.push_back(sweep_step(context, name, i, "", seconds_each, seed));
  return steps;
}

/// Forms of wgmma: c left out, negations, and where its operands lie; together the forms have each of these once.
std::vector<std::string> other_forms(const Instruction& i) {
  if (i.shape.family != TileFamily::wgmma) return {};
  if (i.op.a.fields().integer) return {"?scale_d=0,shared_a=1"};
  if (i.shape.operand_bits != 16) return {"?scale_d=0,negate_a=1", "?negate_b=1,shared_a=1"};
  return {"?scale_d=0,negate_a=1,transpose_b=1", "?negate_b=1,shared_a=1", "?shared_a=1,transpose_a=1"};
}

/// The instructions that have a reference: a model, or the sum of integers.
std::vector<const Instruction*> sweepable(const Context& context) {
  std::vector<const Instruction*> units;
  for (const Instruction* i : context.instructions)
    if (i->op.d.fields().integer || !claimed_model(*i, context.arch).empty()) units.push_back(i);
  return units;
}

/// Whether any step so far has a finding about the unit.
bool disagreed(const Context& context, const std::string& unit) {
  for (const Json& finding : context.book.get("findings"))
    if (finding["unit"] == unit) return true;
  return false;
}

}  // namespace

std::vector<Step> short_sweep_steps(Context& context) {
  const uint64_t seed = context.options.seed;
  std::vector<Step> steps = sweeps(context, "short sweep", sweepable(context), context.scaled(1.5), seed);
  for (const Instruction* i : sweepable(context))
    for (const std::string& form : other_forms(*i))
      steps.push_back(sweep_step(context, "short sweep", i, form, context.scaled(0.4), seed));
  return steps;
}

std::vector<Step> long_sweep_steps(Context& context) {
  std::vector<const Instruction*> units = sweepable(context);
  std::stable_sort(units.begin(), units.end(), [&](const Instruction* x, const Instruction* y) {
    return disagreed(context, "cuda:" + x->name) && !disagreed(context, "cuda:" + y->name);
  });
  const double left = seconds_until(context.end) - context.scaled(20);  // for the rates after them
  if (units.empty() || left <= 0) return {};
  return sweeps(context, "long sweep", units, left / double(units.size()), context.options.seed + 1);
}

std::vector<Step> rate_steps(Context& context) {
  const std::vector<const Instruction*> units = sweepable(context);
  const double left = seconds_until(context.end);
  if (units.empty() || left <= 0) return {};
  return sweeps(context, "rate", units, 0.8 * left / double(units.size()), context.options.seed + 2);
}

}  // namespace mmafuzz::survey
