// Reports for programs: JUnit XML and JSON.
#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/json_text.h"
#include "core/text.h"
#include "triage/bucket_json.h"
#include "triage/explain/markup.h"
#include "triage/facts/conclusions.h"
#include "triage/report/report.h"

namespace mmafuzz {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CampaignRecord, uuid, started, seconds, cases, inputs, seed, command, machine,
                                   version, inconclusive)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReportBin, unit, op, group, bin, reached)

namespace {

/// The name of a test case: the op; the property and the units.
using TestName = std::pair<std::string, std::string>;

struct TestCase {
  uint64_t compared = 0, differing = 0;
  std::vector<const Bucket*> buckets;
};

}  // namespace

std::string junit_report(const ReportData& data, const Knowledge& knowledge) {
  std::set<std::string> contradicting;
  for (const Fact& fact : conclude(data.buckets, knowledge, {}).contradictions)
    contradicting.insert(fact.buckets.begin(), fact.buckets.end());
  std::map<TestName, TestCase> tests;
  for (const PairRecord& pair : data.pairs) {
    const std::string units = pair.first_unit + (pair.second_unit.empty() ? "" : " " + pair.second_unit);
    TestCase& test = tests[{pair.op, pair.property + " " + units}];
    test.compared += pair.compared;
    test.differing += pair.differing;
  }
  for (const Bucket& bucket : data.buckets)
    tests[{bucket.key.op, bucket.key.property + " " + joined(bucket.key.units, " ")}].buckets.push_back(&bucket);
  size_t failures = 0, inconclusive = 0;
  std::string cases;
  for (const CampaignRecord& campaign : data.campaigns) {
    if (campaign.inconclusive.empty()) continue;
    ++inconclusive;
    cases += fmt::format(
        "  <testcase classname=\"campaign\" name=\"{}\">\n    <failure message=\"nothing can be concluded\">{}"
        "</failure>\n  </testcase>\n",
        escaped(campaign.uuid), escaped(campaign.inconclusive));
  }
  for (const auto& [name, test] : tests) {
    cases += fmt::format("  <testcase classname=\"{}\" name=\"{}\">\n", escaped(name.first), escaped(name.second));
    std::string broken, other;
    for (const Bucket* bucket : test.buckets) {
      const bool fails =
          (bucket->severity == Severity::contract || contradicting.count(bucket->id())) && !is_accepted(*bucket);
      (fails ? broken : other) +=
          fmt::format("{} {} {} ({} divergences)\n{}\n{}\n", bucket->id(), name_of(bucket->severity), bucket->line(),
                      bucket->count, bucket->detail, fails ? bucket->witness : "");
    }
    if (!broken.empty()) {
      ++failures;
      cases += "    <failure message=\"" + escaped(broken.substr(0, broken.find('\n'))) + "\">" + escaped(broken) +
               "</failure>\n";
    }
    if (!test.compared && test.buckets.empty()) cases += "    <skipped message=\"no case was answered\"/>\n";
    // These counts are of structured cases only; buckets also hold divergences that guided searches found.
    const std::string counts =
        test.compared ? fmt::format("{} structured cases compared, {} differing\n", test.compared, test.differing) : "";
    cases += fmt::format("    <system-out>{}{}</system-out>\n  </testcase>\n", counts, escaped(other));
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"mmafuzz\" tests=\"{}\" "
      "failures=\"{}\">\n{}</testsuite>\n",
      tests.size() + inconclusive, failures + inconclusive, cases);
}

std::string json_report(const ReportData& data) {
  using nlohmann::json;
  const json buckets = json_list(data.buckets, bucket_json);
  const json samples = json_list(data.samples, [](const CampaignSample& s) -> json {
    return {{"campaign", s.campaign},
            {"elapsed", double(s.second)},
            {"cases", s.cases},
            {"bins", s.bins},
            {"buckets", s.buckets}};
  });
  json pairs = json::array();
  for (const PairRecord& p : data.pairs)
    pairs.push_back({{"property", p.property},
                     {"op", p.op},
                     {"units", p.second_unit.empty() ? json{p.first_unit} : json{p.first_unit, p.second_unit}},
                     {"compared", p.compared},
                     {"differing", p.differing}});
  const json all = {{"json_version", json_version}, {"buckets", buckets},        {"campaigns", data.campaigns},
                    {"samples", samples},           {"coverage", data.coverage}, {"pairs", pairs}};
  return json_text(all);
}

}  // namespace mmafuzz
