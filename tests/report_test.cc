// Reports from made-up data and from divergences of a real comparison. Writes pages into
// MMAFUZZ_BINARY_DIR/report_test, which tests/report_is_well_formed.py and tests/report_in_browser.py then look at.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/case_text.h"
#include "plan/registry.h"
#include "oracles/properties/properties.h"
#include "search/comparison.h"
#include "core/divergence_log.h"
#include "search/structured_generator.h"
#include "triage/explain/markup.h"
#include "triage/facts/facts.h"
#include "triage/report/page_address.h"
#include "triage/report/report.h"

namespace mmafuzz {
namespace {

using testing::HasSubstr;
using testing::Not;

void write(const std::string& name, const std::string& text) {
  const std::filesystem::path folder = std::filesystem::path(MMAFUZZ_BINARY_DIR) / "report_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name, std::ios::binary) << text;
}

/// What a search of four units finds in 4096 cases, dressed up as a campaign.
const ReportData& campaign() {
  static const ReportData all = [] {
    ReportData data;
    const Op op = dot_op("fp16", "fp32", "fp32", 16);
    const std::vector<std::string> names = {"exact", "ieee:fma", "model:volta/mma.m8n8k4.f32.f16.f16.f32",
                                            "model:ampere/mma.m16n8k16.f32.f16.f16.f32",
                                            "model:hopper/mma.m16n8k16.f32.f16.f16.f32"};
    Batch batch;
    StructuredGenerator(op, 1).fill(0, 4096, batch);
    const Comparison field(op, names, registry(), all_properties());
    const Findings found = field.examine(batch);
    for (const auto& [key, finding] : found.buckets) {
      Bucket b;
      b.key = key;
      b.severity = finding.severity;
      b.count = finding.count;
      b.cause = data.buckets.size() % 5 == 0 ? unexplained : "fraction_bits";
      b.detail = b.cause == unexplained ? "no replacement of parameters makes the two agree"
                                        : "fraction_bits (bits kept below the greatest exponent): 23 against 25";
      b.facts = {b.cause == unexplained ? "claim/" + key.units[0] : "fraction_bits=23~25"};
      b.first_seen = 1763700000;
      b.last_seen = 1763703600;
      b.witness = "mmafuzz-cases 1\n" + divergence_record(finding.first);
      b.addends = 3;
      data.buckets.push_back(b);
    }
    std::sort(data.buckets.begin(), data.buckets.end(), listed_before);
    for (const auto& [pair, differing] : found.differing)
      data.pairs.push_back({"", op_label(op), pair.first, pair.second, 4096, differing});
    data.campaigns.push_back({"5f0c9a52-7f4b-4f8f-9f7e-1d2f3a4b5c6d", 1763700000, 3600, 4096, 812, 1,
                              "mmafuzz campaign run --time 1h --seed 1",
                              "2 x Intel Xeon Platinum 8481C, 32 GiB, Debian 12", "mmafuzz 0.1.0"});
    for (int i = 0; i <= 120; ++i)
      data.samples.push_back({data.campaigns[0].uuid, 30 * i, uint64_t(i) * 1000000,
                              uint64_t(900 * (1 - std::exp(-i / 15.0))), uint64_t(20 * (1 - std::exp(-i / 40.0)))});
    for (const char* unit : {"model:volta/mma.m8n8k4.f32.f16.f16.f32", "model:hopper/mma.m16n8k16.f32.f16.f16.f32"})
      for (const char* group : {"align", "cancel", "carry", "round"})
        for (int i = 0; i < 60; ++i)
          data.coverage.push_back({unit, op_label(op), group,
                                   group + std::string(".product.shift=F+1.lost=half.") + std::to_string(i),
                                   i % 7 != 0});
    return data;
  }();
  return all;
}

/// n buckets of long texts.
ReportData many_buckets(size_t n) {
  ReportData data = campaign();
  const std::vector<Bucket> some = data.buckets;
  data.buckets.clear();
  for (size_t i = 0; i < n; ++i) {
    Bucket b = some[i % some.size()];
    b.cause = "block,fraction_bits,zero_exponent,output_rounding_" + std::to_string(i);
    b.facts = {"output_rounding_" + std::to_string(i) + "=1~2"};
    data.buckets.push_back(b);
  }
  std::sort(data.buckets.begin(), data.buckets.end(), listed_before);
  return data;
}

TEST(Report, TheCampaignIsNotEmpty) {
  EXPECT_GE(campaign().buckets.size(), 10u);
  EXPECT_GE(campaign().pairs.size(), 6u);
}

TEST(Report, TheVerdictIsOneSentenceContradictionsFirst) {
  ReportData data;
  EXPECT_THAT(html_report(data, {}, registry()),
              HasSubstr("<h1 class=\"good\">Nothing contradicts what is claimed; no fact is new;"));
  Bucket b;
  b.key.units = {"exact", "ieee:fma"};
  b.facts = {"kernel=exact_sum~ieee"};
  data.buckets = {b};
  EXPECT_THAT(html_report(data, {}, registry()),
              HasSubstr("<h1 class=\"good\">Nothing contradicts what is claimed; 1 fact is new;"));
  b.severity = Severity::contract;
  b.facts = {"claim/exact"};
  data.buckets = {b, data.buckets[0]};
  EXPECT_THAT(html_report(data, {}, registry()), HasSubstr("<h1 class=\"contract\">1 contradiction; 1 fact is new;"));
  data.buckets[0].status = BucketStatus::expected;
  EXPECT_THAT(html_report(data, {}, registry()),
              HasSubstr("<h1 class=\"good\">No new contradiction; 1 contradiction that somebody called known; 1 fact"));
}

/// A unit that is held to a row has no buckets with others: its cells lead to the facts of the row.
TEST(Report, ACellOfAUnitLeadsToTheFactsOfItsRow) {
  ReportData data;
  Bucket b;
  b.key.op = "dot.f32.f16.f16.f32";
  b.key.units = {"exact", "model:u"};
  b.facts = {"kernel=exact_sum~fused_sum"};
  data.buckets = {b};
  data.pairs = {{"", b.key.op, "exact", "model:u", 100, 40},
                {"", b.key.op, "cpu:u", "exact", 100, 40},
                {"", b.key.op, "cpu:u", "model:u", 100, 0}};
  const auto cells = [&] {
    const std::string page = html_report(data, {}, registry());
    size_t count = 0;
    for (size_t at = page.find("data-facts=\""); at != std::string::npos; at = page.find("data-facts=\"", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(cells(), 1u);
  data.pairs.push_back({"", b.key.op, "cpu:u", "model:u", 100, 0, "equals_model"});
  EXPECT_EQ(cells(), 2u);
}

TEST(Report, AFactLinksToItsCaseInThePageOfBits) {
  const std::string without = html_report(campaign(), {}, registry());
  EXPECT_THAT(without, Not(HasSubstr("in the page of bits")));
  const std::string page = html_report(campaign(), {}, registry(), "../bits.html", "1.2.3");
  EXPECT_THAT(page, HasSubstr("<a href=\"../bits.html#1.2.3&amp;explain&amp;--units&amp;"));
  EXPECT_EQ(page_address("1.2.3", {"explain", "a100", "1.5 0.1 | 2 | +0"}),
            "#1.2.3&explain&a100&1.5+0.1+%7C+2+%7C+%2B0");
  EXPECT_THAT(page, HasSubstr("&amp;--op&amp;dot+a="));
}

TEST(Report, WhatIsNotTriagedIsNotGreen) {
  ReportData data = campaign();
  data.buckets.clear();
  data.campaigns[0].inconclusive = not_triaged;
  EXPECT_THAT(html_report(data, {}, registry()),
              HasSubstr("<h1 class=\"contract\">Nothing can be concluded: divergences are not all triaged"));
  EXPECT_THAT(junit_report(data), HasSubstr("<failure"));
}

TEST(Report, EveryFactIsThereWithItsBits) {
  const std::string page = html_report(campaign(), {}, registry());
  write("campaign.html", page);
  write("campaign.xml", junit_report(campaign()));
  write("campaign.json", json_report(campaign()));
  size_t at = 0;
  for (const Fact& fact : facts_of(campaign().buckets)) {
    const size_t found = page.find("<h3>" + escaped(fact.name) + "</h3>", at);
    ASSERT_NE(found, std::string::npos) << fact.name;  // contradictions first
    EXPECT_THAT(page, HasSubstr("id=\"" + escaped(fact.name) + "\""));
    at = found;
  }
  EXPECT_THAT(page, HasSubstr("truncated fused sum"));
  EXPECT_THAT(page, Not(HasSubstr("There is no room")));
  EXPECT_THAT(page, HasSubstr("sum so far"));
  EXPECT_THAT(page, HasSubstr("2 x Intel Xeon Platinum 8481C"));
  EXPECT_THAT(page, HasSubstr("align.product.shift=F+1.lost=half.0,"));
}

TEST(Report, FactsAndBinsOverCampaignsAreAChartAndATable) {
  EXPECT_THAT(html_report(campaign(), {}, registry()), Not(HasSubstr("id=\"trends\""))) << "one campaign is no trend";
  ReportData data = campaign();
  for (int night = 0; night < 3; ++night) {
    CampaignRecord record = data.campaigns[0];
    record.started += 86400 * night;
    data.trends.campaigns.push_back(record);
  }
  data.trends.facts = {{"block=4~8", "semantic", {0, 1, 2}, {5, 5, 5}, 0, 0}, {"nan=1~2", "semantic", {2}, {1}, 0, 0}};
  data.trends.bins_reached = {1000, 0, 1200};
  const std::string page = html_report(data, {}, registry());
  write("nights.html", page);
  EXPECT_THAT(page, HasSubstr("aria-label=\"facts of each campaign\""));
  EXPECT_THAT(page, HasSubstr("aria-label=\"bins of each campaign\""));
  const char number[] = "<td class=\"number\">";
  for (const char* row : {"1 1 0 1,000", "2 0 1 pruned", "3 1 1 1,200"}) {
    std::istringstream words(row);
    std::string campaign_number, first, again, bins;
    words >> campaign_number >> first >> again >> bins;
    EXPECT_THAT(page, HasSubstr(number + first + "</td>" + number + again + "</td>" + number + bins + "</td>")) << row;
  }
}

TEST(Report, ThePageLoadsNothing) {
  const std::string page = html_report(campaign(), {}, registry());
  for (const char* load : {"http://", "https://", "src=", "@import", "url(", "fetch(", "XMLHttpRequest"})
    EXPECT_THAT(page, Not(HasSubstr(load))) << load;
}

TEST(Report, TextCannotBecomeMarkup) {
  ReportData data = campaign();
  const std::string evil = "<script>alert('x')</script>&\"]]>\x01\xff{{verdict}}";
  Bucket& b = data.buckets[0];
  b.cause = b.detail = b.note = b.witness = evil;
  b.key.property = b.key.op = b.key.value_class = evil;
  b.key.units = {evil, evil};
  b.facts = {evil};
  b.severity = Severity::contract;
  data.campaigns[0].command = data.campaigns[0].machine = data.campaigns[0].version = data.campaigns[0].uuid = evil;
  data.samples[0].campaign = evil;
  data.coverage[0] = {evil, evil, evil, evil, false};
  data.pairs[0] = {"", evil, evil, evil + "2", 10, 5};
  const std::string page = html_report(data, {}, registry()), junit = junit_report(data);
  EXPECT_EQ(page.find("<script"), page.rfind("<script")) << "the page's own";
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;]]&gt;??{{verdict}}"));
  EXPECT_THAT(junit, Not(HasSubstr("<script")));
  write("escaped.html", page);
  write("escaped.xml", junit);
  write("escaped.json", json_report(data));
}

TEST(Report, ThreeHundredFactsStayBelowAMegabyte) {
  const std::string page = html_report(many_buckets(300), {}, registry());
  write("many.html", page);
  EXPECT_LT(page.size(), 1000000u);
  EXPECT_GT(page.size(), 700000u);  // and use the room
  EXPECT_THAT(page, HasSubstr("mmafuzz explain shows them"));
  EXPECT_THAT(page, HasSubstr("output_rounding_299"));
  EXPECT_THAT(html_report(many_buckets(500), {}, registry()), HasSubstr("The first 300 of 500 facts are shown"));
}

TEST(Report, ManyUnitsAndOpsStayBelowTwoMegabytes) {
  ReportData data = many_buckets(300);
  for (int op = 0; op < 60; ++op)
    for (int i = 0; i < 25; ++i) {
      const std::string first = "model:blackwell/mma.m16n8k64.f32.e2m1.e2m1.f32?fraction_bits=" + std::to_string(i);
      for (int j = 0; j < i; ++j)
        data.pairs.push_back({"", "dot." + std::to_string(op), first,
                              "model:blackwell/mma.m16n8k64.f32.e2m1.e2m1.f32?fraction_bits=" + std::to_string(j),
                              123456789, 12345678});
      for (int bin = 0; bin < 1000; ++bin)
        data.coverage.push_back({first, "dot." + std::to_string(op), "group" + std::to_string(bin % 15),
                                 "a.long.name.of.a.bin.with.many.classes." + std::to_string(bin), bin % 3 == 0});
    }
  const std::string page = html_report(data, {}, registry());
  EXPECT_LT(page.size(), 2000000u);
  EXPECT_THAT(page, HasSubstr("the JSON report has them: dot."));
}

TEST(Report, JunitFailsOnBrokenClaimsAlone) {
  ReportData data = campaign();
  for (Bucket& b : data.buckets) {
    b.severity = Severity::semantic;
    b.facts = {"fraction_bits=23~25"};
  }
  EXPECT_THAT(junit_report(data), HasSubstr("failures=\"0\""));
  EXPECT_THAT(junit_report(data), Not(HasSubstr("<failure")));
  data.buckets[0].severity = Severity::contract;
  EXPECT_THAT(junit_report(data), HasSubstr("failures=\"1\""));
  EXPECT_THAT(junit_report(data), HasSubstr("<failure message=\"" + data.buckets[0].id()));
  data.buckets[0].status = BucketStatus::expected;
  EXPECT_THAT(junit_report(data), HasSubstr("failures=\"0\""));
  data.buckets[1].facts = {"claim/plugin:x.so"};
  EXPECT_THAT(junit_report(data), HasSubstr("failures=\"1\"")) << "a contradiction of no contract of its own";
  data.buckets[1].facts = {"fraction_bits=23~25"};
  write("impossible.facts", "mmafuzz-facts 1\nfraction_bits=23~25\tunseen\tno operands can show it\n");
  const Knowledge impossible((std::filesystem::path(MMAFUZZ_BINARY_DIR) / "report_test").string());
  EXPECT_THAT(junit_report(data, impossible), Not(HasSubstr("failures=\"0\""))) << "what is written down as impossible";
}

TEST(Report, JsonHoldsTheData) {
  const nlohmann::json json = nlohmann::json::parse(json_report(campaign()));
  EXPECT_EQ(json["buckets"].size(), campaign().buckets.size());
  EXPECT_EQ(json["buckets"][0]["id"], campaign().buckets[0].id());
  EXPECT_EQ(json["buckets"][0]["witness"], campaign().buckets[0].witness);
  EXPECT_EQ(json["samples"].size(), 121u);
  EXPECT_EQ(json["pairs"][0]["units"].size(), 2u);
}

TEST(Report, TheSameDataGiveTheSamePage) {
  EXPECT_EQ(html_report(campaign(), {}, registry()), html_report(campaign(), {}, registry()));
}

}  // namespace
}  // namespace mmafuzz
