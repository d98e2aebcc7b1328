// mmafuzz report: writes a store as one page for people, and as JUnit XML, SARIF and JSON for machines.
#include <fmt/core.h>

#include "campaign/plan.h"
#include "cli/command.h"
#include "core/replace_file.h"
#include "plan/version.h"
#include "triage/report/report.h"

namespace mmafuzz::cli {

void add_report(Arguments& app, int& status) {
  struct Options {
    std::string store, html, bits, junit, sarif, json, knowledge;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub = app.add_subcommand("report", "Turn a findings store into one HTML page, JUnit XML, SARIF or JSON");
  sub->add_option("store", options->store, "findings store")->required();
  sub->add_option("-o,--output", options->html, "HTML page to write");
  sub->add_option("--bits", options->bits, "address of the page bits.html (ci/bits): facts link to their cases there");
  sub->add_option("--junit", options->junit, "JUnit XML file to write");
  sub->add_option("--sarif", options->sarif, "SARIF 2.1.0 file to write, a result for each fact");
  sub->add_option("--json", options->json, "JSON file to write");
  add_knowledge_option(*sub, options->knowledge);
  sub->footer("Example: mmafuzz report findings.db -o report.html --junit report.xml");
  sub->callback([options, &status] {
    if (options->html.empty() && options->junit.empty() && options->sarif.empty() && options->json.empty())
      throw BadInput("report needs an output: -o, --junit, --sarif or --json");
    const ReportData data = read_report_data(options->store);
    const Knowledge knowledge = known_facts(options->knowledge);
    if (!options->html.empty())
      write_output(options->html, html_report(data, knowledge, registry(), options->bits, version_number()));
    if (!options->junit.empty()) write_output(options->junit, junit_report(data, knowledge));
    if (!options->sarif.empty()) write_output(options->sarif, sarif_report(data, knowledge, version_text()));
    if (!options->json.empty()) write_output(options->json, json_report(data));
    const std::string inconclusive = why_inconclusive(data);
    status = inconclusive.empty() ? exit_ok : exit_divergence;
    if (!inconclusive.empty())
      fmt::print(stderr, "mmafuzz: {}: nothing can be concluded: {}\n", options->store, inconclusive);
  });
}

}  // namespace mmafuzz::cli
