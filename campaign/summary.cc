#include "campaign/summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "campaign/panel.h"
#include "core/json_text.h"
#include "core/program.h"
#include "core/text.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "triage/facts/conclusions_text.h"
#include "triage/facts/fact_json.h"

namespace mmafuzz {
namespace {

nlohmann::json to_json(const FindingCounts& n) {
  return {{"contract", n.contract}, {"accuracy", n.accuracy}, {"semantic", n.semantic}, {"crash", n.crash}};
}

constexpr char fields_row[] = "{:<15} {:<29} {:>8} {:>8} {:>6} {:>8} {:>8} {:>8} {:>5}\n";

const char* severity_of(const CampaignFindings::Entry& entry) {
  return entry.is_crash ? "crash" : name_of(entry.divergence.severity);
}

template <class Number>
void add(nlohmann::json& sum, Number more) {
  sum = sum.get<Number>() + more;
}

/// Whether a field of a summary was searched.
bool has_run(const nlohmann::json& field) { return field["cases"].get<uint64_t>() || field["inputs"].get<uint64_t>(); }

/// "The walk through the pairs of states of a row (docs/search.md) is whole on 30 of 38 units; least of it, ..."; empty
/// where no unit has one.
std::string walks_text(const StateWalks& walks) {
  size_t units = 0, whole = 0;
  double least = 2;  // more than any share
  std::string where;
  for (const auto& [op, walks_on_op] : walks)
    for (const WalkOfStates& walk : walks_on_op) {
      if (walk.whole == 0) continue;
      const double share = double(walk.walked) / double(walk.whole);
      ++units;
      whole += walk.walked == walk.whole;
      if (share < least) {
        least = share;
        where = fmt::format("{} of '{}', beside {} cases of other units' walks there", walk.unit,
                            op.substr(op.find(' ') + 1), short_number(double(walk.seen - walk.walked)));
      }
    }
  if (units == 0) return "";
  return fmt::format(" The walk through the pairs of states of a row (docs/search.md) is whole on {} of {}{}.", whole,
                     counted(units, "unit"),
                     whole == units ? "" : fmt::format("; least of it, {:.0f} %, was made on {}", 100 * least, where));
}

}  // namespace

nlohmann::json campaign_summary(const Plan& plan, const CampaignProgress& progress, const CampaignFindings& findings) {
  nlohmann::json fields = nlohmann::json::array();
  std::vector<std::string> prefixes;  // of the names of assignments, by field: those of its engines begin alike
  uint64_t cases = 0, inputs = 0;
  for (const Assignment& assignment : plan.assignments) {
    const std::string name = assignment.name(), prefix = name.substr(0, name.rfind('.') + 1);
    size_t at = static_cast<size_t>(std::find(prefixes.begin(), prefixes.end(), prefix) - prefixes.begin());
    if (at == prefixes.size()) {
      prefixes.push_back(prefix);
      const auto bins = progress.bins.find(assignment.corpus_name());
      fields.push_back({{"target", assignment.target->name},
                        {"op", assignment.op ? to_text(*assignment.op) : ""},
                        {"label", assignment.label()},
                        {"cases", 0},
                        {"inputs", 0},
                        {"seconds", 0.0},
                        {"bins", bins == progress.bins.end() ? 0 : bins->second},
                        {"findings", to_json({})}});
    }
    const AssignmentProgress* share = progress.find(name);
    if (!share) continue;
    add(fields[at]["cases"], share->cases);
    add(fields[at]["inputs"], share->inputs);
    add(fields[at]["seconds"], share->seconds);
    cases += share->cases;
    inputs += share->inputs;
  }
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [line, entry] : findings.entries()) {
    list.push_back(
        {{"line", line}, {"severity", severity_of(entry)}, {"known", entry.found_by == FoundBy::earlier_run}});
    // The assignment that found it, or the name of its segment.
    const std::string finder = entry.is_crash ? line.substr(line.find("crash ") + 6)
                                              : std::filesystem::path(entry.segment).filename().string();
    for (size_t i = 0; i < prefixes.size(); ++i)
      if (finder.starts_with(prefixes[i])) add(fields[i]["findings"][severity_of(entry)], size_t{1});
  }
  return {{"json_version", json_version},
          {"elapsed", progress.elapsed},
          {"cases", cases},
          {"inputs", inputs},
          {"restarts", progress.restarts},
          {"fields", fields},
          {"new", to_json(findings.count(FoundBy::this_run))},
          {"known", to_json(findings.count(FoundBy::earlier_run))},
          {"findings", list}};
}

AnswerCounts answers_of(const Plan& plan, const CampaignProgress& progress) {
  AnswerCounts answers;
  for (const Assignment& assignment : plan.assignments)
    if (const AssignmentProgress* share = progress.find(assignment.name()))
      for (const auto& [unit, count] : share->answers)
        answers[unit + (assignment.op ? " on '" + to_text(*assignment.op) + "'" : "")] += count;
  return answers;
}

StateWalks walks_of(const Plan& plan, const CampaignProgress& progress, const std::vector<std::string>& units) {
  std::map<std::string, uint64_t> cases;  // by op: its assignments walk independently, the farthest counts
  for (const Assignment& assignment : plan.assignments) {
    const AssignmentProgress* share = progress.find(assignment.name());
    if (!assignment.op || !assignment.target->compares_units() || !share) continue;
    uint64_t& most = cases[to_text(*assignment.op)];
    most = std::max(most, share->walked);
  }
  StateWalks walks;
  for (const auto& [op, count] : cases) {
    const Comparison comparison(op_from_text(op), units_of(units, op_from_text(op)), registry(), {});
    if (std::vector<WalkOfStates> walks_on_op = walks_of_states(comparison, count); !walks_on_op.empty())
      walks[op] = std::move(walks_on_op);
  }
  return walks;
}

nlohmann::json walks_json(const StateWalks& walks) {
  nlohmann::json all = nlohmann::json::array();
  for (const auto& [op, walks_on_op] : walks)
    for (const WalkOfStates& walk : walks_on_op)
      all.push_back(
          {{"op", op}, {"unit", walk.unit}, {"walked", walk.walked}, {"whole", walk.whole}, {"seen", walk.seen}});
  return all;
}

std::string what_green_means(const Plan& plan, const CampaignProgress& progress, const std::vector<std::string>& units,
                             const StateWalks& walks) {
  std::set<std::string> ops, compared, with_claims;
  for (const Assignment& assignment : plan.assignments) {
    const AssignmentProgress* share = progress.find(assignment.name());
    if (!assignment.op || !share || !share->has_run()) continue;
    ops.insert(to_text(*assignment.op));
    if (assignment.target->checks_claims(*assignment.op)) with_claims.insert(to_text(*assignment.op));
    for (const std::string& unit : units_of(units, *assignment.op)) compared.insert(unit);
  }
  const bool has_device = std::any_of(compared.begin(), compared.end(),
                                      [](const std::string& unit) { return registry().role_of(unit) == Role::device; });
  return "Compared were " + counted(compared.size(), "unit") + " on " + counted(ops.size(), "op") +
         ". A claim is what a unit promises: a model to equal its slow twin, a plugin to equal the row that it names, "
         "many units a property. No case broke one." +
         (with_claims.size() == ops.size() ? ""
                                           : " Of " + counted(ops.size() - with_claims.size(), "op") +
                                                 " properties alone were checked, not whether units equal others.") +
         walks_text(walks) + " That says nothing of other ops and units" +
         (has_device ? "." : ", and no GPU was here: models stand for them.");
}

std::string fields_text(const nlohmann::json& summary) {
  std::string text =
      fmt::format(fields_row, "target", "op", "cases", "inputs", "bins", "contract", "accuracy", "semantic", "crash");
  for (const auto& field : summary["fields"]) {
    const auto& n = field["findings"];
    text += fmt::format(fields_row, field["target"].get<std::string>(), field["label"].get<std::string>(),
                        has_run(field) ? short_number(field["cases"].get<double>()) : "not run",
                        short_number(field["inputs"].get<double>()), field["bins"].get<uint64_t>(),
                        n["contract"].get<size_t>(), n["accuracy"].get<size_t>(), n["semantic"].get<size_t>(),
                        n["crash"].get<size_t>());
  }
  return text;
}

std::string summary_text(const nlohmann::json& summary, const std::string& folder, const SummaryStyle& style,
                         const std::vector<Stranger>& strangers) {
  std::map<std::string, size_t> searched, not_run;  // by target: numbers of its ops
  uint64_t bins = 0;
  for (const auto& field : summary["fields"]) {
    ++(has_run(field) ? searched : not_run)[field["target"].get<std::string>()];
    bins += field["bins"].get<uint64_t>();
  }
  const auto names_of = [](const std::map<std::string, size_t>& targets) {
    std::string names;
    for (const auto& [name, count] : targets)
      names += (names.empty() ? "" : ", ") + name + (count > 1 ? fmt::format(" ({} ops)", count) : "");
    return names;
  };
  std::string text =
      fmt::format("{} cases, {} engine inputs in {}, {} bins reached, {} workers restarted\n",
                  short_number(summary["cases"].get<double>()), short_number(summary["inputs"].get<double>()),
                  clock_text(summary["elapsed"].get<double>()), bins, summary["restarts"].get<uint64_t>());
  text += wrapped("Searched: " + names_of(searched), style.width, 0);
  if (!not_run.empty()) text += wrapped("Not run for want of time: " + names_of(not_run), style.width, 0);
  if (style.is_triaged) {
    text += "The facts come from " + counted(summary["divergences"].get<uint64_t>(), "recorded divergence") +
            ", sorted by what differs, on which op and by which cause\n";
  } else {
    for (const char* when : {"new", "known"}) {
      const auto& n = summary[when];
      text += fmt::format("{} kinds of divergence: {} contract, {} accuracy, {} semantic\n", when,
                          n["contract"].get<size_t>(), n["accuracy"].get<size_t>(), n["semantic"].get<size_t>());
    }
  }
  if (const size_t crashes = summary["new"]["crash"].get<size_t>() + summary["known"]["crash"].get<size_t>())
    text += counted(crashes, "crash") + ": " + folder + "/artifacts\n";
  text += fmt::format("\nfindings: {}/findings.cases\n", folder);
  if (style.is_triaged)
    text += fmt::format(
        "What to do next:\n  {1} findings {0}/findings.sqlite  (all facts)\n"
        "  {1} report {0}/findings.sqlite -o report.html  (one page with pictures)\n",
        shell_word(folder), program_name());
  if (style.is_triaged && style.is_resumable)
    text +=
        fmt::format("  {} campaign --resume --time 10m --out {}  (search on)\n", program_name(), shell_word(folder));
  for (const Stranger& stranger : style.is_triaged ? strangers : std::vector<Stranger>{})
    text += fmt::format("  {} identify --unit {} --op {}  (name what claims nothing)\n", program_name(),
                        shell_word(stranger.unit), shell_word(op_words(stranger.op)));
  if (!style.is_triaged) text += fmt::format("What to do next:\n  {} triage {}\n", program_name(), shell_word(folder));
  return text;
}

nlohmann::json conclusions_json(const Conclusions& all) {
  const auto list = [](const std::vector<Fact>& facts) { return json_list(facts, fact_json); };
  const nlohmann::json unseen = json_list(all.unseen, [](const auto& fact) -> nlohmann::json {
    return {{"name", fact.first}, {"example", fact.second}};
  });
  return {
      {"json_version", json_version}, {"inconclusive", all.inconclusive}, {"contradictions", list(all.contradictions)},
      {"new", list(all.fresh)},       {"known", list(all.confirmed)},     {"unseen", unseen}};
}

}  // namespace mmafuzz
