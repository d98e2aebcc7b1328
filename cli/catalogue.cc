// mmafuzz catalogue: for each row of the models its parameters, its claims, and the evidence for both.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/row_json.h"
#include "core/json_text.h"
#include "core/text.h"
#include "plan/corpus_folder.h"
#include "plan/unit_words.h"

namespace mmafuzz::cli {
namespace {

void print(const UnitInfo& info, const ModelRow& row, const EvidenceTables& evidence) {
  const nlohmann::json json = unit_json(info, &evidence);
  fmt::print("{}\n    {}\n    kernel {}:", info.name, info.summary, json["kernel"].get<std::string>());
  for (const auto& p : json["parameters"])
    fmt::print(" {}={}", p["name"].get<std::string>(), p["value"].get<std::string>());
  fmt::print("\n    GPUs: {}\n", joined(json["gpus"].get<std::vector<std::string>>(), ", "));
  for (const auto& c : json["claims"]) {
    const std::string detail = c["detail"], how = c["how"];
    fmt::print("    claims {}{}: {}{}\n", c["property"].get<std::string>(), detail.empty() ? "" : " " + detail, how,
               c.contains("products") ? fmt::format(", {} products", c["products"].get<int>()) : "");
  }
  for (const EvidenceOfRow& one : evidence.evidence_of(row))
    fmt::print("    {}: {}{}{}\n", one.kind, one.cases ? fmt::format("{} cases, ", one.cases) : "",
               one.file.empty() ? "" : one.file + ", ", one.source + (one.date.empty() ? "" : " (" + one.date + ")"));
  for (const OpenPoint& p : evidence.open_points(row)) fmt::print("    open: {}\n", p.point);
  if (const std::string rate = evidence.rate(row); !rate.empty()) fmt::print("    rate: {} cases per second\n", rate);
}

}  // namespace

void add_catalogue(Arguments& app, int& status) {
  struct Options {
    std::string pattern = "model:*", corpus;
    std::vector<std::string> words;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub = app.add_subcommand("catalogue", "Show rows: parameters, claims, what they rest on, open points");
  sub->add_option("words", options->words, "words that a row must match, as in: hopper fp8");
  sub->add_option("--units", options->pattern, "only rows that match this glob");
  sub->add_option("--corpus", options->corpus, "folder of evidence and recorded results (default: that of mmafuzz)");
  sub->add_flag("--json", options->json, "print JSON");
  sub->footer("The kinds of evidence: docs/units.md, \"Evidence\".\nExample: mmafuzz catalogue hopper fp8");
  sub->callback([options, &status] {
    const std::string corpus = options->corpus.empty() ? default_corpus_folder() : options->corpus;
    if (corpus.empty()) throw BadInput("no corpus: name it with --corpus");
    const EvidenceTables evidence(corpus);
    nlohmann::json array = nlohmann::json::array();
    size_t shown = 0;
    for (const UnitInfo& info : registry().list()) {
      const ModelRow* row = row_of(info);
      if (!row || !matches_glob(options->pattern, info.name) || !matches_words(info, options->words)) continue;
      ++shown;
      if (options->json) array.push_back(unit_json(info, &evidence));
      else print(info, *row, evidence);
    }
    if (options->json) fmt::print("{}", json_text(array));
    if (!shown) throw BadInput("no row matches; 'mmafuzz catalogue' has all");
    status = exit_ok;
  });
}

}  // namespace mmafuzz::cli
