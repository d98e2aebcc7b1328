// An identification as people read it, and for programs.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "core/case_text.h"
#include "core/json_text.h"
#include "core/text.h"
#include "identify/identify.h"
#include "triage/explain/number_text.h"

namespace mmafuzz {
namespace {

const char* word_of(IdentifyVerdict verdict) {
  switch (verdict) {
    case IdentifyVerdict::identified: return "identified";
    case IdentifyVerdict::no_fit: return "no hypothesis fits";
    case IdentifyVerdict::too_few: return "not enough answers";
  }
  return "";
}

std::string number_text(const Format& format, uint64_t encoding) {
  return format.fields().integer ? to_hex(format, encoding) : explained_number(format, encoding).binary;
}

std::string answer_text(const Op& op, uint64_t encoding) {
  return to_hex(op.d, encoding) + " (" + number_text(op.d, encoding) + ")";
}

/// A case in a few words: "c = 0x1p+15, products 0: 0x1p+8 * 0x1p+7, 1-15: 0x1p-7 * 0x1p-7".
std::string short_case(const Op& op, const Batch& one) {
  const auto product = [&](int i) {
    return number_text(op.a, one.a().get(0, i)) + " * " + number_text(op.b, one.b().get(0, i));
  };
  std::string products;
  for (int i = 0; i < op.k;) {
    const std::string text = product(i);
    int end = i;
    while (end + 1 < op.k && product(end + 1) == text) ++end;
    const bool is_plus_zero = one.a().get(0, i) == 0 && one.b().get(0, i) == 0;
    if (!is_plus_zero)
      products +=
          (products.empty() ? "" : ", ") + (i == end ? std::to_string(i) : fmt::format("{}-{}", i, end)) + ": " + text;
    i = end + 1;
  }
  std::string text = "c = " + number_text(op.c, one.c().get(0));
  text += products.empty() ? ", products +0" : ", products " + products;
  for (int side = 0; side < 2 && op.has_scales(); ++side) {
    const Format& f = side ? op.scale_b : op.scale_a;
    text += side ? ", scales of b" : ", scales of a";
    for (int i = 0; i < op.scales(); ++i) text += " " + number_text(f, one.inputs()[size_t(3 + side)].get(0, i));
  }
  return text;
}

std::string case_of(const Identification& id, size_t index) {
  const Op& op = id.evidence.op();
  return short_case(op, id.evidence.cases().one(index)) + " -> " + answer_text(op, id.evidence.answer(index));
}

std::string steps_text(const Identification& id) {
  std::string text;
  for (const ArgumentStep& step : id.steps) {
    if (step.rules_out.empty() && step.cases == 0) continue;
    text += fmt::format("{} ({})\n", step.question, counted(step.cases, "case"));
    if (step.telling_case != SIZE_MAX) text += fmt::format("    {}\n", case_of(id, step.telling_case));
    text += step.rules_out.empty() ? "    rules out nothing new\n" : fmt::format("    rules out {}\n", step.rules_out);
  }
  return text.empty() ? text : text + "\n";
}

/// "8" of "block=8"; of a kernel the whole row, which is the best that was found with it.
std::string refuted_value(const ParameterFinding& f, const Refuted& r) {
  const bool one_value = r.hypothesis.starts_with(std::string(f.parameter->name) + "=");
  return one_value ? r.hypothesis.substr(r.hypothesis.find('=') + 1) : r.hypothesis;
}

std::string parameters_text(const Identification& id) {
  std::string text = "\nparameter, value, and what rules out the values next to it:\n";
  const Op& op = id.evidence.op();
  for (const ParameterFinding& f : id.parameters) {
    text += fmt::format("  {} = {}", f.parameter->name, value_text(*f.parameter, f.value));
    if (f.refuted == 0 && !f.undetermined.empty()) text += "  (undetermined)";
    text += "\n";
    for (const Refuted& r : f.neighbours)
      text += fmt::format("    not {}: {}, not {}\n", refuted_value(f, r), case_of(id, r.case_index),
                          answer_text(op, r.instead));
    for (const Undetermined& u : f.undetermined)
      text += fmt::format("    or {}: undetermined, {}\n", values_as_ranges(*f.parameter, u.values), u.reason);
  }
  return text;
}

/// What the name leaves open: a row with another of these values may be another row, though no case was found that
/// shows it.
std::string open_text(const Identification& id) {
  std::string text;
  for (const ParameterFinding& f : id.parameters)
    if (const std::vector<int64_t> values = f.not_proven(); !values.empty())
      text += fmt::format("{}{} (or {})", text.empty() ? "" : ", ", f.parameter->name,
                          values_as_ranges(*f.parameter, values));
  if (!text.empty()) text = "  no case told apart, not proved equal: " + text + "\n";
  if (id.model && !id.tried_joint_changes)
    text += "  two changes together were not all tried: the time was over before\n";
  if (!id.joint_changes.empty())
    text += fmt::format("  two changes that no case told apart together, though one of them alone: {}\n",
                        fmt::join(id.joint_changes, "; "));
  return text;
}

/// The cases of a verification, and which of its walks are whole, which in part.
std::string verified_text(const Verified& verified) {
  if (verified.cases == 0) return "";
  std::string whole, one_lane, part, none;
  for (const Verified::Walk& walk : verified.walks) {
    std::string& list = walk.walked >= walk.length ? whole
                        : walk.walked >= walk.pass ? one_lane
                        : walk.walked              ? part
                                                   : none;
    list += (list.empty() ? "" : ", ") + walk.name;
    if (&list == &part) list += fmt::format(" ({} of {})", walk.walked, walk.length);
  }
  std::string text = fmt::format("  held on {} more cases: {} of a guided search{}\n", verified.cases, verified.guided,
                                 verified.walks.empty() ? "" : ", and walks through the datapath");
  if (!whole.empty()) text += "    whole: " + whole + "\n";
  if (!one_lane.empty()) text += "    each in some lane, not in all: " + one_lane + "\n";
  if (!part.empty()) text += "    in part: " + part + "\n";
  if (!none.empty()) text += "    not walked: " + none + "\n";
  return text;
}

std::string counts_text(const Identification& id) {
  if (id.rounds == 0) return counted(id.evidence.size(), "answer") + "\n";
  std::string text = fmt::format("{} dots in {}", id.dots, counted(id.rounds, "round"));
  return text + fmt::format("; {:.1f} s\n", id.seconds) + verified_text(id.verified);
}

nlohmann::json verified_json(const Verified& verified) {
  nlohmann::json json = {{"guided", verified.guided}, {"walks", nlohmann::json::array()}};
  for (const Verified::Walk& walk : verified.walks)
    json["walks"].push_back(
        {{"name", walk.name}, {"walked", walk.walked}, {"pass", walk.pass}, {"length", walk.length}});
  return json;
}

}  // namespace

std::string identification_text(const Identification& id, bool steps) {
  const Op& op = id.evidence.op();
  std::string text = steps ? steps_text(id) : "";
  text += std::string(word_of(id.verdict)) + (id.reason.empty() ? "" : ": " + id.reason) + "\n";
  if (id.verdict == IdentifyVerdict::no_fit) {
    if (const auto& two = id.evidence.two_answers())
      text += fmt::format("  {}, and then {}\n", case_of(id, two->index), answer_text(op, two->second));
    for (const Refuted& r : id.best)
      text += fmt::format("  {}\n    differs on {} of {} cases: {}, not {}\n", r.hypothesis, r.mismatches,
                          id.evidence.size(), case_of(id, r.case_index), answer_text(op, r.instead));
  } else if (!id.name.empty()) {
    text += id.verdict == IdentifyVerdict::too_few ? "  fits so far: " + id.name + "\n" : "  " + id.name + "\n";
    if (!id.equal_units.empty())
      text += fmt::format("  units that give the same answers, too: {}\n", fmt::join(id.equal_units, ", "));
    const std::string differs = fmt::format("{}", fmt::join(id.nearest_differs, "; "));
    if (!id.nearest.empty())
      text += fmt::format("  nearest row of the catalogue: {}: {}\n", id.nearest,
                          differs.empty() ? "the same arithmetic" : differs);
    text += open_text(id);
  }
  text += "  " + counts_text(id);
  if (id.verdict != IdentifyVerdict::no_fit && !id.parameters.empty()) text += parameters_text(id);
  return text;
}

nlohmann::json identification_json(const Identification& id) {
  const Op& op = id.evidence.op();
  nlohmann::json json = {{"json_version", json_version},
                         {"verdict", word_of(id.verdict)},
                         {"op", to_text(op)},
                         {"reason", id.reason},
                         {"unit", id.name},
                         {"also", id.equal_units},
                         {"together", id.joint_changes},
                         {"tried_together", id.tried_joint_changes},
                         {"nearest", id.nearest},
                         {"nearest_differs", id.nearest_differs},
                         {"dots", id.dots},
                         {"rounds", id.rounds},
                         {"verified", id.verified.cases},
                         {"verification", verified_json(id.verified)},
                         {"seconds", id.seconds}};
  const auto of_refuted = [&](const Refuted& r) {
    return nlohmann::json{{"hypothesis", r.hypothesis},
                          {"case", case_line(id.evidence.cases().one(r.case_index), 0)},
                          {"answer", to_hex(op.d, id.evidence.answer(r.case_index))},
                          {"instead", to_hex(op.d, r.instead)},
                          {"mismatches", r.mismatches}};
  };
  json["parameters"] = nlohmann::json::array();
  for (const ParameterFinding& f : id.parameters) {
    nlohmann::json one = {{"name", f.parameter->name}, {"value", value_text(*f.parameter, f.value)}};
    one["ruled_out"] = nlohmann::json::array();
    for (const Refuted& r : f.neighbours) one["ruled_out"].push_back(of_refuted(r));
    one["undetermined"] = nlohmann::json::array();
    for (const Undetermined& u : f.undetermined)
      one["undetermined"].push_back(
          {{"values", values_as_ranges(*f.parameter, u.values)}, {"reason", u.reason}, {"proven", u.is_proven}});
    json["parameters"].push_back(one);
  }
  json["best"] = nlohmann::json::array();
  for (const Refuted& r : id.best) json["best"].push_back(of_refuted(r));
  return json;
}

}  // namespace mmafuzz
