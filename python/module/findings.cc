#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>

#include "core/unit_name.h"
#include "oracles/properties/properties.h"
#include "plan/request.h"
#include "plan/unit_alias.h"
#include "python/module/bindings.h"
#include "python/module/callable_unit.h"
#include "search/parallel_search.h"
#include "triage/explain/explain.h"
#include "triage/explain/explanation_svg.h"
#include "triage/explain/explanation_text.h"
#include "triage/minimize_divergence.h"
#include "triage/triage.h"

namespace mmafuzz::python {
namespace {

nb::dict finding_of(const BucketKey& key, Severity severity, uint64_t count, const Batch& cases,
                    const std::vector<uint64_t>& results, int element) {
  nb::dict d;
  d["property"] = key.property;
  d["units"] = nb::cast(key.units);
  d["value_class"] = key.value_class;
  d["severity"] = name_of(severity);
  d["count"] = count;
  d["op"] = to_text(cases.op());
  d["fields"] = bytes_of(cases);
  d["results"] = nb::cast(results);
  d["result_format"] = cases.op().result_format(element).name();
  d["cause"] = nb::none();
  d["detail"] = "";
  d["text"] = "";
  return d;
}

nb::dict finding_of(const MinimizedDivergence& found, uint64_t count) {
  const Bucket& bucket = found.bucket;
  const Verdict& verdict = found.verdict;
  nb::dict d =
      finding_of(bucket.key, bucket.severity, count, found.witness, {verdict.first, verdict.second}, verdict.element);
  d["cause"] = bucket.cause;
  d["detail"] = bucket.detail;
  d["text"] = bucket.witness;
  return d;
}

/// Binds units, and replaces short names in `names` by whole ones. Throws BadInput where one does not take the op.
std::vector<std::unique_ptr<Unit>> bound(const Registry& registry, std::vector<std::string>& names, const Op& op) {
  for (std::string& name : names) name = unit_of_alias(name, op);
  std::vector<std::unique_ptr<Unit>> units;
  for (const std::string& name : names) units.push_back(bind_or_fail(registry, name, op));
  return units;
}

std::vector<const Property*> properties_matching(const std::vector<std::string>& globs) {
  std::vector<const Property*> all;
  for (const Property* property : all_properties())
    if (matches_any_glob(globs, property->name())) all.push_back(property);
  for (const std::string& glob : globs)
    if (std::none_of(all.begin(), all.end(),
                     [&](const auto* property) { return matches_glob(glob, property->name()); }))
      throw BadInput("no property matches '" + glob + "': 'mmafuzz list properties' names them");
  return all;
}

/// Searches for divergences of the first unit: against the units that it claims to equal, against the other units, and
/// of the properties. Returns them with the numbers of cases and of comparisons. Ctrl-C ends it between two epochs.
nb::tuple search(const AllUnits& registry, const Op& op, std::vector<std::string> names,
                 const std::vector<std::string>& properties, double seconds, uint64_t cases, uint64_t seed,
                 unsigned threads, bool minimize) {
  bound(registry, names, op);  // for its refusals, and the whole names
  Findings total;
  std::vector<std::pair<BucketKey, Finding>> kept;
  {
    const nb::gil_scoped_release unlocked;
    const Comparison field(op, names, registry, properties_matching(properties));
    SearchLimits limits;
    limits.seed = seed;
    limits.cases = cases ? cases : UINT64_MAX;
    limits.threads = threads;
    limits.deadline =
        std::chrono::steady_clock::now() +
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
    search_in_parallel(
        field, limits,
        [&](const Findings& chunk) { total.add(chunk, [&](const Finding& fresh) { field.confirm(fresh.first); }); },
        [] {
          const nb::gil_scoped_acquire lock;
          if (PyErr_CheckSignals() != 0) throw nb::python_error();
        });
    for (auto& [key, finding] : total.buckets)
      if (std::find(key.units.begin(), key.units.end(), names[0]) != key.units.end()) kept.emplace_back(key, finding);
  }
  if (const std::string silent = silence_message(total.answers); !silent.empty()) throw BadInput(silent);
  nb::list findings;
  for (const auto& [key, finding] : kept) {
    std::optional<MinimizedDivergence> small;  // a simpler case of the same kind
    if (minimize) {
      const nb::gil_scoped_release unlocked;
      small = minimized(key.property, key.units, finding.first.cases.part(0), registry);
    }
    if (small) small->bucket.severity = finding.severity;
    const Divergence& first = finding.first;
    findings.append(small
                        ? finding_of(*small, finding.count)
                        : finding_of(key, finding.severity, finding.count, first.cases, first.results, first.element));
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  return nb::make_tuple(findings, total.cases, total.compared);
}

/// The batch of a call that takes one case. Throws BadInput where it has another number.
Batch one_case(const Op& op, const std::vector<nb::bytes>& fields, const std::string& call) {
  Batch cases = batch_of(op, fields);
  if (cases.size() != 1) throw BadInput(call + " takes one case, not " + std::to_string(cases.size()));
  return cases;
}

nb::object minimize_case(const AllUnits& registry, const Op& op, const std::string& property,
                         std::vector<std::string> names, const std::vector<nb::bytes>& fields) {
  bound(registry, names, op);
  const Batch cases = one_case(op, fields, "minimize");
  std::optional<MinimizedDivergence> found;
  {
    const nb::gil_scoped_release unlocked;
    found = minimized(property, names, cases, registry);
  }
  return found ? nb::object(finding_of(*found, 1)) : nb::none();
}

/// Explains one case on some units: as text, as an SVG drawing, and the verdict on two units as text.
nb::tuple explain(const AllUnits& registry, const Op& op, std::vector<std::string> names,
                  const std::vector<nb::bytes>& fields, bool colour, int width) {
  const Batch cases = one_case(op, fields, "explain");
  const std::vector<std::unique_ptr<Unit>> units_of_names = bound(registry, names, op);
  std::vector<const Unit*> units;
  for (const std::unique_ptr<Unit>& unit : units_of_names) units.push_back(unit.get());
  Explanation explanation;
  explanation.cases.push_back(explain_case(cases, 0, units));
  if (names.size() == 2) explanation.cases[0].verdict = verdict_of_pair(cases, names, registry);
  TextStyle style;
  style.colour = colour;
  style.width = width;
  return nb::make_tuple(explanation_text(explanation, style), explanation_svg(explanation), verdict_text(explanation));
}

}  // namespace

void bind_findings(nb::module_& m) {
  m.def("search", &search, nb::arg("registry"), nb::arg("op"), nb::arg("units"), nb::arg("properties"),
        nb::arg("seconds"), nb::arg("cases"), nb::arg("seed"), nb::arg("threads"), nb::arg("minimize"));
  m.def("minimize", &minimize_case, nb::arg("registry"), nb::arg("op"), nb::arg("property"), nb::arg("units"),
        nb::arg("fields"));
  m.def("explain", &explain, nb::arg("registry"), nb::arg("op"), nb::arg("units"), nb::arg("fields"), nb::arg("colour"),
        nb::arg("width"));
}

}  // namespace mmafuzz::python
