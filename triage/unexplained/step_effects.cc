// Effects on the result of a step: what a block, a link of a chain or a pair hands on, before later steps.
#include <algorithm>

#include <fmt/format.h>

#include "arithmetic/corner_encodings.h"
#include "core/dot_case.h"
#include "core/property.h"
#include "triage/unexplained/candidate_results.h"
#include "triage/unexplained/changed_steps.h"

namespace mmafuzz {
namespace {

constexpr size_t max_single_steps = 32;  ///< those that are changed alone: the first ones, and the last two

/// The roles of a row's steps on k products.
std::vector<StepRole> roles_of(const DotModel& model, const Op& op) {
  std::vector<StepRole> roles;
  DotCase zeros(op);
  const Batch zero(op, 1);
  evaluate_changed(model, zeros.load(zero, 0), {.is_for = [&](int, StepRole role) {
                     roles.push_back(role);
                     return false;
                   }});
  return roles;
}

const char* name_of(StepRole role) {
  return role == StepRole::product ? "product" : role == StepRole::sum ? "sum of products" : "addition of sums";
}

/// The candidate whose forms change one step, each of a role, or each step. `changes`: their row and result.
/// `keeps_last`: the last step is not changed alone, as other candidates do that.
EffectCandidate changed_step(const Op& op, const Unit& unit, const std::string& text, const StepChange& changes,
                             const std::shared_ptr<const DotModel>& row, bool keeps_last) {
  const std::vector<StepRole> roles = roles_of(*unit.model(), op);
  std::vector<StepChange> forms;
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, const std::function<bool(int, StepRole)>& is_for) {
    names.push_back(" (" + name + ")");
    forms.push_back({.row = row.get(), .result = changes.result, .is_for = is_for});
  };
  const int steps = static_cast<int>(roles.size());
  for (int at = 0; at + keeps_last < steps; ++at)
    if (at < static_cast<int>(max_single_steps) || at + 2 >= steps)
      add(fmt::format("step {} of {}", at + 1, steps), [at](int number, StepRole) { return number == at; });
  for (const StepRole role : {StepRole::product, StepRole::sum, StepRole::addition})
    if (const auto n = std::count(roles.begin(), roles.end(), role); n > 1 && n < steps)
      add(fmt::format("each {}", name_of(role)), [role](int, StepRole other) { return other == role; });
  if (steps > 1) add("each step", [](int, StepRole) { return true; });
  const auto results = [=, &model = *unit.model()](const Sample& sample) {
    EffectResults found(forms.size(), sample.of_model);
    std::vector<bool> fails(forms.size());  // a form that is wrong on a case that differs is not looked at any more
    DotCase loaded(op);
    for (size_t i = 0; i < sample.cases.size(); ++i) {
      const DotOperands& in = loaded.load(sample.cases[i].as_batch(), 0);
      const bool agrees = same_result(op, sample.of_unit[i], sample.of_model[i]);
      for (size_t form = 0; form < forms.size(); ++form) {
        if (fails[form]) continue;
        const uint64_t result = evaluate_changed(model, in, forms[form]);
        found[form][i] = result;
        fails[form] = !agrees && !same_result(op, result, sample.of_unit[i]);
      }
    }
    return found;
  };
  return {Stage::sum, text, [results, row](const Sample& sample) { return results(sample); },
          [names](size_t form) { return names[form]; }, /*is_strict=*/row != nullptr};
}

/// The candidate whose forms leave out the products of one step each.
EffectCandidate left_out_step(const Op& op, const Unit& unit) {
  const auto of_step = static_cast<size_t>(products_per_step(*unit.model()));
  const size_t steps = static_cast<size_t>(op.k) / of_step;
  return {Stage::operands, "the products of a step were left out",
          [=, &unit](const Sample& sample) {
            EffectResults found;
            for (size_t at = 0; at < steps; ++at) {
              std::vector<Operands> changed = sample.cases;
              for (Operands& c : changed) leave_out(c, at * of_step, (at + 1) * of_step, unit.model());
              found.push_back(results_of(unit, op, changed, sample.of_model));
            }
            return found;
          },
          [steps](size_t form) { return fmt::format(" (step {} of {})", form + 1, steps); }};
}

}  // namespace

void add_step_effects(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit) {
  const DotModel& model = *unit.model();
  if (!has_changed_steps(model)) return;
  const int of_step = products_per_step(model);
  if (of_step > 1 && op.k > of_step && op.k % model.k == 0) all.push_back(left_out_step(op, unit));
  const auto add_row = [&](const std::string& text, const std::function<void(DotModel&)>& change) {
    const auto row = std::make_shared<DotModel>(model);
    change(*row);
    all.push_back(changed_step(op, unit, "the result of a step were " + text, {}, row, /*keeps_last=*/false));
  };
  for (const auto& [rounding, text] : {std::pair{Rounding::toward_zero, "rounded toward zero"},
                                       {Rounding::nearest_even, "rounded to nearest, ties to even"},
                                       {Rounding::nearest_away, "rounded to nearest, ties away from zero"},
                                       {Rounding::up, "rounded up"},
                                       {Rounding::down, "rounded down"},
                                       {Rounding::odd, "rounded to odd"}})
    if (rounding != model.output_rounding) add_row(text, [=](DotModel& row) { row.output_rounding = rounding; });
  const FormatFields d = step_format(model);
  if (flushes_results(model, d))
    add_row("kept where it is subnormal", [](DotModel& row) { row.flushed = FlushedNumbers::operands; });
  const auto add = [&](const std::string& text, const std::function<uint64_t(uint64_t)>& change) {
    all.push_back(changed_step(op, unit, "the result of a step were " + text, {.result = change}, nullptr,
                               /*keeps_last=*/true));
  };
  const auto of_numbers = [d](const std::function<uint64_t(uint64_t)>& change) {
    return [d, change](uint64_t x) { return decode(d, x).cls == NumberClass::finite ? change(x) : x; };
  };
  if (!flushes_results(model, d))
    add("zero where it is subnormal",
        [d](uint64_t x) { return decode(d, x).subnormal ? d.encode_zero(is_negative(d, x)) : x; });
  add("zero", of_numbers([d](uint64_t x) { return d.encode_zero(is_negative(d, x)); }));
  for (const int by : {-1, 1})
    add(by < 0 ? "half as large" : "twice as large",
        of_numbers([d, by](uint64_t x) { return with_exponent(d, x, leading_exponent(d, x) + by); }));
  const bool is_short = model.output_fraction_bits > 0 && model.output_fraction_bits < d.fraction_bits;
  const uint64_t last = d.in_container(uint64_t{1} << (is_short ? d.fraction_bits - model.output_fraction_bits : 0));
  add("one unit of its last digit greater in magnitude", of_numbers([last](uint64_t x) { return x + last; }));
  add("one unit of its last digit less in magnitude", of_numbers([last](uint64_t x) { return x - last; }));
  add("of the other sign", of_numbers([d](uint64_t x) { return x ^ d.in_container(d.sign_bit()); }));
  if (d.specials == Specials::none) return;
  add("the greatest number where it is an infinity",
      [d](uint64_t x) { return decode(d, x).cls == NumberClass::infinity ? d.encode_greatest(is_negative(d, x)) : x; });
  add("an infinity where it is the greatest number", [d](uint64_t x) {
    const bool negative = is_negative(d, x);
    return x == d.encode_greatest(negative) ? d.encode_infinity(negative) : x;
  });
}

}  // namespace mmafuzz
