#include "triage/explain/explanation_json.h"

#include <fmt/core.h>

#include <cmath>

#include "core/json_text.h"

namespace mmafuzz {
namespace {

using Json = nlohmann::json;

Json addend_json(const ExplainedAddend& t, bool has_grid) {
  Json out = {{"source", t.source}};
  if (!t.is_nonzero) {
    out["special"] = t.special;
    return out;
  }
  out["negative"] = t.is_negative;
  out["significand"] = t.integer_bits + "." + t.fraction_bits;
  out["exponent"] = t.exponent;
  if (has_grid) {
    out["shift"] = t.shift;
    out["kept_negative"] = t.is_kept_negative;
    out["kept"] = t.kept;
    out["sum_so_far"] = t.sum_so_far;
  }
  if (t.loses_bits) {
    out["fallen"] = t.fallen;
    out["fallen_top"] = t.fallen_top;
  }
  return out;
}

Json step_json(const ExplainedStep& step) {
  const Json addends = json_list(step.addends, [&](const auto& t) { return addend_json(t, step.has_grid); });
  Json out = {{"kind", step.kind},    {"instruction", step.instruction},     {"block", step.block},
              {"addends", addends},   {"zero_products", step.zero_products}, {"result", value_json(step.result)},
              {"folded", step.folded}};
  if (step.has_grid) {
    out["greatest_exponent"] = step.greatest_exponent;
    out["floor_decided"] = step.floor_decided;
    out["integer_bits"] = step.grid_integer_bits;
    out["fraction_bits"] = step.grid_fraction_bits;
    out["sum_negative"] = step.is_sum_negative;
    out["sum"] = step.sum;
    out["carries"] = step.carries;
    if (step.leading_exponent) out["leading_exponent"] = *step.leading_exponent;
  }
  if (!step.rounding.empty()) out["rounding"] = step.rounding;
  if (step.rounds) {
    out["last"] = step.last;
    out["guard"] = step.guard;
    out["sticky"] = step.sticky;
  }
  return out;
}

Json unit_json(const ExplainedUnit& unit) {
  Json out = {{"name", unit.name},
              {"parameters", unit.parameters},
              {"steps", json_list(unit.steps, step_json)},
              {"results", json_list(unit.results, value_json)},
              {"no_answer", unit.no_answer}};
  if (unit.ulps && std::isfinite(*unit.ulps)) out["ulps"] = *unit.ulps;
  if (unit.flags) out["flags"] = fmt::format("{:02x}", *unit.flags);
  if (!unit.neighbour.empty()) out["neighbour"] = unit.neighbour;
  return out;
}

Json rounding_json(const ExplainedRounding& r) {
  Json out = {{"operands", json_list(r.operands, value_json)}, {"decision", r.decision}, {"reference", r.reference}};
  if (r.exact) {
    out["exact"] = value_json(*r.exact);
  } else {
    out["lower"] = value_json(r.lower);
    out["upper"] = value_json(r.upper);
  }
  return out;
}

Json case_json(const ExplainedCase& one) {
  Json out = {{"op", one.op},
              {"case", one.fields},
              {"units", json_list(one.units, unit_json)},
              {"before", one.before},
              {"after", one.after}};
  if (!one.exact_value.empty()) out["exact"] = one.exact_value;
  if (one.rounding) out["rounding"] = rounding_json(*one.rounding);
  if (one.verdict) {
    out["verdict"] = {{"fails", one.verdict->fails}, {"sentence", one.verdict->sentence}};
    if (!one.verdict->cause.empty()) out["verdict"]["cause"] = one.verdict->cause;
  }
  return out;
}

}  // namespace

Json value_json(const ExplainedNumber& x) {
  return {{"encoding", x.hex}, {"hexadecimal", x.binary}, {"decimal", x.decimal}};
}

Json explanation_json(const Explanation& explanation) {
  return {
      {"json_version", json_version}, {"notes", explanation.notes}, {"cases", json_list(explanation.cases, case_json)}};
}

}  // namespace mmafuzz
