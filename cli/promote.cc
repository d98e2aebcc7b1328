// mmafuzz promote: makes a regression of a bucket's witness: case text with the results that each unit must give, which
// `mmafuzz check` compares from then on. These are the unit's present results or, where a user's own unit breaks its
// claim, those of the unit that it claims to equal. Own units are plugins and processes, code of the user.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "campaign/corpus.h"
#include "cli/run_files.h"
#include "core/case_text.h"
#include "core/replace_file.h"
#include "core/text.h"
#include "oracles/units/process_unit.h"
#include "plan/targets.h"
#include "triage/facts/facts.h"
#include "triage/store/store.h"

namespace mmafuzz::cli {
namespace {

bool is_own(const std::string& unit) { return registry().role_of(unit) == Role::plugin; }

/// Whether a regression can have results of the unit: a user's code can be copied to other machines, a device cannot.
bool is_for_everywhere(const std::string& unit) {
  return is_own(unit) || !is_of_this_machine(registry().role_of(unit));
}

/// The units whose results the regression has. If one is an own unit, only own units are kept, so that another unit can
/// take its place (check --unit). Throws BadInput where a unit is of this machine, unless `leave_out` is true and the
/// rest can still show the difference.
std::vector<std::string> replayed_units(const Bucket& bucket, bool leave_out) {
  std::vector<std::string> kept;
  std::string left_out;
  for (const std::string& unit : bucket.key.units) {
    if (is_for_everywhere(unit)) kept.push_back(unit);
    else left_out = unit;
  }
  if (!left_out.empty() && !leave_out)
    throw BadInput("bucket " + bucket.id() + ": " + left_out +
                   " is of this machine, a regression runs on every one; --leave-out promotes it without");
  const auto only_refers = [](const std::string& unit) {
    const Role role = registry().role_of(unit);
    return role == Role::exact || role == Role::ieee || role == Role::referee;
  };
  if (!left_out.empty() && std::all_of(kept.begin(), kept.end(), only_refers))
    throw BadInput("bucket " + bucket.id() + ": without " + left_out + " " +
                   (kept.empty() ? "no unit" : "only " + kept[0]) +
                   " is left, which cannot show the difference: replay it where that unit is");
  if (std::any_of(kept.begin(), kept.end(), is_own))
    std::erase_if(kept, [](const auto& unit) { return !is_own(unit); });
  return kept;
}

std::string comment(const std::string& text) {
  std::string lines = "# ";
  for (const char c : text) lines += c == '\n' ? std::string("\n# ") : std::string(1, c);
  return lines + "\n";
}

/// The unit whose results `name` must give: where the bucket shows a broken claim of an own unit, the one that this
/// unit claims to equal; otherwise the unit itself.
std::string holder_of(const Bucket& bucket, const std::string& name, const Op& op) {
  if (!breaks_claim(bucket) || !is_own(name)) return name;
  const std::unique_ptr<Unit> unit = bind_or_fail(name, op);
  const Claim* claim = unit->claim("equals_model");
  return claim ? claim->detail : name;
}

struct Regression {
  std::string id, target, text;
  std::string held_to;       ///< the unit whose results an own unit must give; "": each unit's present results
  bool must_answer = false;  ///< whether it has cases without a result, which the unit must only answer
  bool is_broken = false;    ///< whether the present results that it has break a claim
  std::vector<std::string> units, left_out;
  uint64_t cases = 0;  ///< the number of cases under each unit line
};

/// What happens to the regression's file when the text is written: it is "new", "unchanged" or "replaced".
const char* fate_of(const std::string& file, const std::string& text) {
  if (!std::filesystem::exists(file)) return "new";
  return content_of_file(file) == text ? "unchanged" : "replaced";
}

Regression regression_of(const Bucket& bucket, bool leave_out) {
  if (bucket.witness.empty()) throw BadInput("bucket " + bucket.id() + " has no witness");
  Regression regression;
  regression.id = bucket.id();
  regression.units = replayed_units(bucket, leave_out);
  if (is_of_sequence(bucket.cause))  // the unit may remember cases: those of other files must not matter
    for (std::string& unit : regression.units) unit = begun_anew(unit, registry());
  for (const std::string& unit : bucket.key.units)
    if (!is_for_everywhere(unit)) regression.left_out.push_back(unit);
  std::string text = case_text_start + comment(bucket.line());
  if (!bucket.detail.empty()) text += comment("cause: " + bucket.detail);
  std::string cases = "property " + bucket.key.property + " " + joined(bucket.key.units, " ") + "\n";
  for (const std::string& name : regression.units) {
    regression.cases = 0;
    cases += "unit " + name + "\n";
    CaseReader reader("witness of bucket " + bucket.id(), bucket.witness);
    CaseBlock block;
    std::string op;
    while (reader.next(block, block_cases)) {
      regression.target = target_of(bucket.key.property, block.batch.op()).name;
      const std::string holder = holder_of(bucket, name, block.batch.op());
      if (holder != name) regression.held_to = holder;
      else regression.is_broken |= is_own(name) && breaks_claim(bucket);
      const Outcomes outcomes = bind_or_fail(holder, block.batch.op())->outcomes_of(block.batch);
      if (to_text(block.batch.op()) != op) cases += (op = to_text(block.batch.op())) + "\n";
      regression.cases += block.batch.size();
      for (size_t i = 0; i < block.batch.size(); ++i) {
        if (bucket.key.property == "answers" && !outcomes.has_answer(i)) {  // there is no result to compare with
          cases += case_line(block.batch, i) + "\n";
          regression.must_answer = true;
          continue;
        }
        if (!outcomes.has_answer(i))
          throw BadInput("bucket " + bucket.id() + ": " + holder + " has no answer for its witness");
        cases += case_line(block.batch, i, &outcomes) + "\n";
      }
    }
    if (reader.error()) throw BadInput(reader.error()->to_string());
  }
  if (regression.target.empty()) throw BadInput("the witness of bucket " + bucket.id() + " has no case");
  const std::string holds = regression.must_answer ? "cases that the unit must answer"
                            : !regression.held_to.empty()
                                ? "what the unit must give, which is what " + regression.held_to + " gives"
                                : "what each unit gives";
  text += comment("bucket " + bucket.id() + ", " + name_of(bucket.severity) + ". Below: " + holds + ".");
  regression.text = text + cases;
  return regression;
}

}  // namespace

void add_promote(Arguments& app, int& status) {
  struct Options {
    std::string store, corpus = "corpus";
    std::vector<std::string> ids;
    bool leave_out = false, json = false;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub =
      app.add_subcommand("promote", "Make regressions of buckets: their witnesses with what each unit must give");
  sub->add_option("store", options->store, "store file")->required();
  sub->add_option("ids", options->ids, "ids of buckets, or the beginnings of them")->required();
  sub->add_option("--corpus", options->corpus,
                  "folder of corpora, made where it is missing; the file is TARGET/regressions/ID.cases in it")
      ->capture_default_str();
  sub->add_flag("--leave-out", options->leave_out,
                "promote without units that only this machine has (recordings, devices)");
  sub->add_flag("--json", options->json, "print one JSON object");
  sub->footer("Example: mmafuzz promote night.store 3f2a9 --corpus corpus");
  sub->callback([options, &status] {
    namespace fs = std::filesystem;
    const Store store(options->store, Access::read);
    std::vector<Regression> regressions;  // all are made before one is written
    for (const std::string& id : options->ids) regressions.push_back(regression_of(store.find(id), options->leave_out));
    nlohmann::json list = nlohmann::json::array();
    for (const Regression& regression : regressions) {
      const fs::path folder = fs::path(options->corpus) / regression.target / "regressions";
      std::error_code error;
      fs::create_directories(folder, error);
      if (error) throw BadInput(folder.string() + ": cannot be created: " + error.message());
      const std::string file = (folder / (regression.id + ".cases")).string();
      list.push_back({{"bucket", regression.id},
                      {"target", regression.target},
                      {"file", file},
                      {"fate", fate_of(file, regression.text)},
                      {"cases", regression.cases},
                      {"held_to", regression.held_to},
                      {"units", regression.units},
                      {"left_out", regression.left_out}});
      replace_file_if_other(file, regression.text);
      if (!options->json) fmt::print("{}\n", file);
      if (!regression.held_to.empty())
        fmt::print(stderr, "mmafuzz: {} fails until {} gives what it claims, the result of {}\n", file,
                   regression.units[0], regression.held_to);
      else if (regression.must_answer)
        fmt::print(stderr, "mmafuzz: {} fails until {} answers its case\n", file, regression.units[0]);
      else if (regression.is_broken)
        fmt::print(stderr,
                   "mmafuzz: {} holds the results of today, which break a claim: once {} is mended it fails, and is to "
                   "be promoted again\n",
                   file, regression.units[0]);
    }
    if (options->json) print_object({{"regressions", list}});
    status = exit_ok;
  });
}

}  // namespace mmafuzz::cli
