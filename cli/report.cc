// mmafuzz report: a findings store as one page for people, and as JUnit XML, SARIF and JSON for machines.
#include <fmt/core.h>

#include <filesystem>
#include <fstream>

#include "campaign/plan.h"
#include "cli/command.h"
#include "core/replace_file.h"
#include "plan/version.h"
#include "triage/report/report.h"
#include "triage/report/sarif.h"

namespace mmafuzz::cli {
namespace {

/// Where links lead to, which need not be there.
std::filesystem::path behind_links(const std::string& path) {
  std::filesystem::path end = path;
  for (int links = 0; links <= 40; ++links) {  // Linux follows 40
    std::error_code no_link;
    const std::filesystem::path next = std::filesystem::read_symlink(end, no_link);
    if (no_link) return end;
    end = end.parent_path() / next;
  }
  throw BadInput(path + ": links that lead to no file; choose another one");
}

/// A report that was there stays whole where the new one cannot be written. What is no plain file is written as it is.
void write_file(const std::string& path, const std::string& text) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw BadInput(path + ": cannot be written; choose another file");
  } else {  // a link stays one
    replace_file(behind_links(path).string(), text);
  }
}

}  // namespace

void add_report(Arguments& app, int& status) {
  struct Options {
    std::string store, html, junit, sarif, json, knowledge = default_knowledge_folder();
  };
  auto options = std::make_shared<Options>();
  Arguments* sub = app.add_subcommand("report", "Turn a findings store into one HTML page, JUnit XML, SARIF or JSON");
  sub->add_option("store", options->store, "findings store")->required();
  sub->add_option("-o,--output", options->html, "HTML page to write");
  sub->add_option("--junit", options->junit, "JUnit XML file to write");
  sub->add_option("--sarif", options->sarif, "SARIF 2.1.0 file to write, a result for each fact");
  sub->add_option("--json", options->json, "JSON file to write");
  sub->add_option("--knowledge", options->knowledge, "folder of known facts")->capture_default_str();
  sub->footer("Example: mmafuzz report findings.db -o report.html --junit report.xml");
  sub->callback([options, &status] {
    if (options->html.empty() && options->junit.empty() && options->sarif.empty() && options->json.empty())
      throw BadInput("report needs an output: -o, --junit, --sarif or --json");
    const ReportData data = read_report_data(options->store);
    if (!options->html.empty()) write_file(options->html, html_report(data, Knowledge(options->knowledge), registry()));
    if (!options->junit.empty()) write_file(options->junit, junit_report(data, Knowledge(options->knowledge)));
    if (!options->sarif.empty())
      write_file(options->sarif, sarif_report(data, Knowledge(options->knowledge), version_text()));
    if (!options->json.empty()) write_file(options->json, json_report(data));
    status = has_untriaged(data) ? exit_divergence : exit_ok;
    if (has_untriaged(data))
      fmt::print(stderr, "mmafuzz: {}: some divergences are not triaged: mmafuzz triage CAMPAIGN\n", options->store);
  });
}

}  // namespace mmafuzz::cli
