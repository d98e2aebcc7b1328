#include "triage/explain/explain.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "core/case_text.h"
#include "core/property.h"
#include "core/dot_case.h"
#include "core/recording_trace.h"
#include "core/text.h"
#include "oracles/exact/mpfr_reference.h"
#include "oracles/models/parameters.h"
#include "triage/explain/number_text.h"

namespace mmafuzz {
namespace {

/// `floors`: KernelTraits::floors() of the row.
const char* kind_text(Step::Kind kind, bool floors) {
  switch (kind) {
    case Step::Kind::special: return "infinities or NaNs decide";
    case Step::Kind::fused_sum: return floors ? "floored sum" : "truncated fused sum";
    case Step::Kind::exact_sum: return "exact sum, one rounding";
    case Step::Kind::second_stage: return "two-stage sum";
    case Step::Kind::ieee_add: return "IEEE addition";
    case Step::Kind::ieee_multiply: return "IEEE multiplication";
    case Step::Kind::ieee_fma: return "IEEE fused multiply-add";
  }
  return "";
}

std::string source_text(const Addend& t) {
  const std::string index = std::to_string(t.index);
  switch (t.source) {
    case Addend::Source::product: return "a" + index + "*b" + index;
    case Addend::Source::c: return "c";
    case Addend::Source::group: return "group " + index;
    case Addend::Source::first_sum: return "sum " + index;
    case Addend::Source::partial_sum: break;
  }
  return "term " + index;
}

bool is_number(const Addend& t) { return t.significand != 0 && t.cls == NumberClass::finite; }

/// Whether the first two addends of a step are the factors of its multiplication.
bool has_factors(const Step& step) {
  return step.kind == Step::Kind::ieee_multiply || step.kind == Step::Kind::ieee_fma;
}

/// Number of nonzero products, or sums of products, that the step adds.
int count_new_terms(const Step& step) {
  if (has_factors(step)) return is_number(step.addend[0]) && is_number(step.addend[1]);
  return static_cast<int>(std::count_if(step.addend, step.addend + step.count, [](const Addend& t) {
    return is_number(t) && (t.source == Addend::Source::product || t.source == Addend::Source::group ||
                            t.source == Addend::Source::first_sum);
  }));
}

/// Number of nonzero addends that are c or sums of earlier steps.
int count_old_terms(const Step& step) {
  const int first = has_factors(step) ? 2 : 0;
  return static_cast<int>(std::count_if(step.addend + first, step.addend + step.count, is_number)) -
         (has_factors(step) ? 0 : count_new_terms(step));
}

/// Whether the result is a zero though the sum was not rounded to one.
bool is_flushed(const Step& step, const Format& d) {
  return decode(d.fields(), step.result).cls == NumberClass::zero &&
         decode(d.fields(), step.rounded.encoding).cls == NumberClass::finite;
}

/// Whether a step only adds zeros to one number, or multiplies by a zero.
bool changes_nothing(const Step& step) {
  const bool has_effect = std::any_of(step.addend, step.addend + step.count, [](const Addend& t) {
    return t.lost || t.cls == NumberClass::infinity || t.cls == NumberClass::nan;
  });
  return step.kind != Step::Kind::special && count_new_terms(step) == 0 && count_old_terms(step) <= 1 && !has_effect &&
         !(step.rounded.flags & flag::inexact);
}

/// Sets the bits of the significand in units of 2^scale_exponent: a product lies in [0, 4), c in [0, 2).
void write_significand(const Addend& t, ExplainedAddend& out) {
  const int fraction = std::max(0, t.scale_exponent - t.exponent);
  const std::string bits = bits_text(t.significand, std::max(fraction + 1, bit_length(t.significand)));
  out.integer_bits = bits.substr(0, bits.size() - size_t(fraction));
  out.fraction_bits = bits.substr(bits.size() - size_t(fraction));
  out.fraction_bits.erase(out.fraction_bits.find_last_not_of('0') + 1);
}

/// Sets the bits that alignment dropped: the exact magnitude less the kept one. A floor keeps a larger magnitude of a
/// negative addend; then the bits below the grid are shown.
void write_fallen(const Addend& t, const Step& step, ExplainedAddend& out) {
  const int width = step.unit_exponent - t.exponent;  // digits below the grid
  const uint64_t kept = width >= 64 ? 0 : width >= 0 ? magnitude_of(t.kept) << width : magnitude_of(t.kept) >> -width;
  uint64_t rest = width > 0 && width < 64 ? t.significand & low_mask(width) : t.significand;
  if (kept <= t.significand) rest = t.significand - kept;
  const int digits = std::max(width, bit_length(rest));
  out.fallen_top = t.exponent + digits - 1;
  out.fallen = bits_text(rest, digits);
  out.fallen.erase(out.fallen.find_last_not_of('0') + 1);
}

/// `explained`: the step, so far without addends. Adds to `sum` what the addend brings, in grid units.
ExplainedAddend explained_addend(const Addend& t, const Step& step, const ExplainedStep& explained, int64_t& sum) {
  ExplainedAddend out;
  out.source = source_text(t);
  out.is_negative = t.negative;
  out.is_nonzero = is_number(t);
  if (!out.is_nonzero)
    out.special = t.cls == NumberClass::nan
                      ? "NaN"
                      : std::string(t.negative ? "-" : "+") + (t.cls == NumberClass::infinity ? "inf" : "0");
  else write_significand(t, out);
  out.exponent = t.scale_exponent;
  if (!explained.has_grid) return out;
  sum += t.kept;
  out.shift = t.shift;
  out.is_kept_negative = t.kept < 0;
  out.kept = bits_text(magnitude_of(t.kept), explained.grid_integer_bits + explained.grid_fraction_bits);
  out.loses_bits = t.lost && out.is_nonzero;
  if (out.loses_bits) write_fallen(t, step, out);
  out.sum_so_far = binary_text(sum, step.unit_exponent);
  return out;
}

ExplainedStep explained_step(const Step& step, const Format& d, bool floors) {
  ExplainedStep out;
  out.kind = kind_text(step.kind, floors);
  out.instruction = step.instruction;
  out.block = step.block;
  out.result = explained_number(d, step.result);
  out.has_grid = step.aligned && step.kind != Step::Kind::special;
  uint64_t widest = 0;
  if (out.has_grid) {
    for (int i = 0; i < step.count; ++i) widest |= magnitude_of(step.addend[i].kept);
    const int addend_bits = bit_length(widest), sum_bits = bit_length(magnitude_of(step.sum));
    out.greatest_exponent = step.greatest_exponent;
    out.floor_decided = step.floor_decided;
    out.grid_fraction_bits = step.greatest_exponent - step.unit_exponent;
    out.grid_integer_bits = std::max(1, std::max(addend_bits, sum_bits) - out.grid_fraction_bits);
    out.is_sum_negative = step.sum < 0;
    out.sum = bits_text(magnitude_of(step.sum), out.grid_integer_bits + out.grid_fraction_bits);
    out.carries = std::max(0, sum_bits - std::max(addend_bits, out.grid_fraction_bits + 1));
    if (step.sum != 0) out.leading_exponent = step.unit_exponent + sum_bits - 1;
  }
  int64_t sum = 0;
  for (int i = 0; i < step.count; ++i) {
    const Addend& t = step.addend[i];
    if (t.cls == NumberClass::zero && t.source == Addend::Source::product && t.kept == 0) ++out.zero_products;
    else out.addends.push_back(explained_addend(t, step, out, sum));
  }
  const Rounded& r = step.rounded;
  if (step.kind != Step::Kind::special) {
    const bool inexact = r.flags & flag::inexact;
    out.rounds = inexact;
    out.last = r.last;
    out.guard = r.guard;
    out.sticky = r.sticky;
    out.rounding = r.flags & flag::overflow ? "overflow"
                   : is_flushed(step, d)    ? "flushed to zero"
                   : !inexact               ? "this sum needs no rounding"
                   : r.rounded_away         ? "rounded away from zero"
                                            : "rounded toward zero";
  }
  return out;
}

/// Shows all steps that change something. Of consecutive steps that change nothing, each is shown that looks different
/// from those before it, and the others are counted as folded: a sum of few addends among many zeros would fill pages.
std::vector<ExplainedStep> explained_steps(const std::vector<Step>& steps, const Format& d, bool floors) {
  std::vector<ExplainedStep> shown;
  std::set<std::string> in_a_row;  // what the steps shown since the last change look like
  for (const Step& step : steps) {
    ExplainedStep one = explained_step(step, d, floors);
    std::string looks = one.kind + one.result.hex;
    for (const ExplainedAddend& t : one.addends) looks += t.special;
    if (!changes_nothing(step)) in_a_row.clear();
    else if (!in_a_row.insert(looks).second) {
      ++shown.back().folded;
      continue;
    }
    shown.push_back(std::move(one));
  }
  return shown;
}

/// Explains the case `single` on one unit. Its result is at `index` of `outcomes`, of a run that may have had other
/// cases too. `exact_value`: nullptr where no error is wanted.
ExplainedUnit explained_unit(const Unit& unit, const Batch& single, const Outcomes& outcomes, size_t index,
                             mpfr_srcptr exact_value) {
  const Op& op = single.op();
  ExplainedUnit out;
  out.name = unit.name();
  if (const DotModel* model = unit.model()) {
    constexpr std::string_view shown_if_unusual[] = {"order", "subnormals", "chain_start", "chain_join", "form"};
    for (const char* shown :
         {"kernel", "block", "order", "fraction_bits", "zero_rule", "zero_exponent", "subnormals", "first_sum",
          "c_guard_bits", "cut", "output_fraction_bits", "output_rounding", "chain_start", "chain_join", "form"}) {
      const Parameter& parameter = *find_parameter(shown);
      const bool is_usual = parameter.get(*model) == parameter.get(DotModel{});
      if (is_usual && std::count(std::begin(shown_if_unusual), std::end(shown_if_unusual), shown)) continue;
      if (parameter.used_by(model->kernel))
        out.parameters +=
            (out.parameters.empty() ? "" : " ") + std::string(shown) + "=" + parameter_text(parameter, *model);
    }
    const Format results = step_format(*model) == op.d.fields() ? op.d : format("fp32");
    DotCase one(op);
    out.steps = explained_steps(recorded_steps(*model, one.load(single, 0)), results, traits_of(*model).floors());
  }
  if (!outcomes.has_answer(index)) {
    out.has_failed = outcomes.has_failed(index);
    out.no_answer = out.has_failed ? "it breaks on this case" : "no answer for this case";
    return out;
  }
  out.block = explained_block(single, outcomes, index);
  for (int i = 0; i < op.result().count; ++i)
    out.results.push_back(explained_number(op.result_format(i), outcomes.results.get(index, i)));
  if (!outcomes.flags.empty()) out.flags = outcomes.flags[index];
  if (exact_value) {
    const double ulps = exact::ulp_error(op.d, exact_value, outcomes.results.get(index));
    if (!std::isnan(ulps)) out.ulps = ulps;
  }
  return out;
}

/// Which number next to the exact result the encoding `hex` is.
std::string neighbour_text(const ExplainedRounding& r, const std::string& hex) {
  if (r.exact) return hex == r.exact->hex ? "the exact result" : "not the exact result";
  return hex == r.lower.hex ? "the lower neighbour" : hex == r.upper.hex ? "the upper neighbour" : "neither neighbour";
}

ExplainedCase explained_case(const Batch& single, const std::vector<const Unit*>& units,
                             const std::vector<Outcomes>& outcomes, size_t index) {
  const Op& op = single.op();
  ExplainedCase out;
  out.op = to_text(op);
  out.fields = case_line(single, 0);
  const bool is_dot = op.kind == OpKind::dot && !op.d.fields().integer;
  exact::Mpfr exact_value(is_dot ? exact::sum_precision_of(op) : exact::sum_precision);
  if (is_dot) {
    DotCase one(op);
    exact::mpfr_dot_value(op, one.load(single, 0), exact_value.get());
    out.exact_value = exact::decimal_text(exact_value.get(), 25);
  }
  if (op.kind == OpKind::convert || op.kind == OpKind::scalar) out.rounding = explain_rounding(single, out.exact_value);
  for (size_t i = 0; i < units.size(); ++i) {
    out.units.push_back(explained_unit(*units[i], single, outcomes[i], index, is_dot ? exact_value.get() : nullptr));
    if (out.rounding && !out.units.back().results.empty())
      out.units.back().neighbour = neighbour_text(*out.rounding, out.units.back().results[0].hex);
  }
  return out;
}

std::vector<Outcomes> outcomes_of(const Batch& batch, const std::vector<const Unit*>& units) {
  std::vector<Outcomes> all(units.size());
  for (size_t i = 0; i < units.size(); ++i) units[i]->run(batch, all[i]);
  return all;
}

}  // namespace

std::string ExplainedAddend::to_string() const {
  if (!is_nonzero) return special;
  return fmt::format("{}{}.{} * 2^{}", is_negative ? "-" : "+", integer_bits,
                     fraction_bits.empty() ? "0" : fraction_bits, exponent);
}

std::string ExplainedStep::title() const {
  return fmt::format("instruction {}, block {}: {}", instruction, block, kind);
}

std::string ExplainedStep::greatest_text() const {
  return fmt::format("greatest exponent {}{}", greatest_exponent, floor_decided ? " (read by a zero term)" : "");
}

std::string ExplainedStep::normalized_text() const {
  if (!leading_exponent || *leading_exponent == greatest_exponent) return "";
  return fmt::format("normalized from 2^{} to 2^{}", greatest_exponent, *leading_exponent);
}

std::string ExplainedStep::rounding_text() const {
  const std::string text = rounding.empty() ? "" : ", " + rounding;
  return rounds ? text + fmt::format(" (last {} guard {} sticky {})", int(last), int(guard), int(sticky)) : text;
}

std::string ExplainedUnit::remarks() const {
  std::string text;
  if (ulps) text += fmt::format("  error {:.4g} ulp", *ulps);
  if (flags) text += fmt::format("  flags {:02x}", *flags);
  if (!neighbour.empty()) text += "  (" + neighbour + ")";
  return text;
}

std::string ExplainedStep::folded_text() const {
  if (folded == 0) return "";
  return fmt::format("and {} with zeros, which change{} nothing", counted(static_cast<uint64_t>(folded), "more step"),
                     folded == 1 ? "s" : "");
}

ExplainedCase explain_case(const Batch& batch, size_t index, const std::vector<const Unit*>& units) {
  const Batch single = batch.part(index);
  return explained_case(single, units, outcomes_of(single, units), 0);
}

ExplainedCase explain_sequence(const Batch& sequence, const std::vector<const Unit*>& units, size_t* shown) {
  const std::vector<Outcomes> outcomes = outcomes_of(sequence, units);
  const auto differ = [&](size_t i) {
    return units.size() == 2 && outcomes[0].has_answer(i) && outcomes[1].has_answer(i) &&
           first_difference(sequence, outcomes[0].results, outcomes[1].results, i) >= 0;
  };
  const size_t last = sequence.size() - 1;
  size_t index = last;
  while (index > 0 && !differ(index)) --index;
  if (!differ(index)) index = last;
  if (shown) *shown = index;
  return explained_case(sequence.part(index), units, outcomes, index);
}

Explanation explain_witness(const std::string& case_text, const Registry& registry) {
  CaseReader reader("witness", case_text);
  CaseBlock block;
  while (reader.next(block, SIZE_MAX)) {
    if (block.property.empty()) continue;
    const std::vector<std::string> words = words_of(block.property);  // the property, then its units
    const bool has_changed = words.size() == 2 && block.batch.size() == 2;
    Explanation out;
    for (size_t i = 0; i < (has_changed ? 2u : 1u); ++i) {
      std::vector<std::unique_ptr<Unit>> bound;
      std::vector<const Unit*> units;
      std::map<size_t, std::string> refusals;  // by position among the units
      for (size_t w = 1; w < words.size(); ++w) {
        Result<std::unique_ptr<Unit>> unit = registry.bind(words[w], block.batch.op());
        if (unit) units.push_back(bound.emplace_back(std::move(*unit)).get());
        else refusals[w - 1] = unit.refusal().reason;
      }
      ExplainedCase one =
          words.size() == 3 ? explain_sequence(block.batch, units) : explain_case(block.batch, i, units);
      for (const auto& [position, reason] : refusals) {
        ExplainedUnit& unit = *one.units.emplace(one.units.begin() + static_cast<std::ptrdiff_t>(position));
        unit.name = words[position + 1];
        unit.no_answer = reason;
      }
      out.cases.push_back(std::move(one));
    }
    return out;
  }
  throw std::runtime_error(reader.error() ? reader.error()->to_string()
                                          : "a witness needs a property line and its cases");
}

}  // namespace mmafuzz
