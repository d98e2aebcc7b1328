#include "triage/report/report_sections.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "core/text.h"

namespace mmafuzz {
namespace {

/// The opacity of a share's colour: one differing case in a million still shows, 6 % and 66 % look different, and the
/// number can be read on it (contrast of 4.5 to 1, in light and dark).
double heat(double share) { return share <= 0 ? 0 : 0.08 + 0.6 * std::cbrt(share); }

std::string share_text(double share) {
  const double percent = 100 * share;
  if (percent == 0) return "0";
  if (percent < 0.01) return "<0.01%";
  return fmt::format("{:.{}f}%", percent, percent < 1 ? 2 : percent < 10 ? 1 : 0);
}

struct ReachedCount {
  uint64_t reached = 0, possible = 0;
  void add(bool is_reached) {
    reached += is_reached;
    ++possible;
  }
};

}  // namespace

PageData page_object(std::initializer_list<std::pair<const char*, PageData>> fields) {
  PageData data;
  for (const auto& [name, value] : fields) data.set(name, value);
  return data;
}

std::string with_commas(uint64_t n) {
  std::string text = std::to_string(n);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string date_text(int64_t seconds_since_1970) { return utc_text(seconds_since_1970, "%Y-%m-%d %H:%M UTC"); }

void add_matrices(const ReportData& data, const FactsOfBuckets& facts, PageData& page) {
  struct Matrix {
    std::vector<std::string> units;
    std::map<std::pair<std::string, std::string>, PairRecord> pairs;
  };
  std::map<std::string, Matrix> matrices;
  // By op and unit, the unit that it claims to equal: facts of that one also explain how this one differs from others.
  std::multimap<std::pair<std::string, std::string>, std::string> claimed;
  for (const PairRecord& pair : data.pairs) {
    if (pair.property == "equals_model") claimed.insert({{pair.op, pair.first_unit}, pair.second_unit});
    if (pair.property != "equal" || pair.second_unit.empty()) continue;
    Matrix& matrix = matrices[pair.op];
    for (const std::string& unit : {pair.first_unit, pair.second_unit})
      if (std::find(matrix.units.begin(), matrix.units.end(), unit) == matrix.units.end()) matrix.units.push_back(unit);
    PairRecord& sum = matrix.pairs[std::minmax(pair.first_unit, pair.second_unit)];
    sum.compared += pair.compared;
    sum.differing += pair.differing;
  }
  if (matrices.empty()) return;
  std::map<std::tuple<std::string, std::string, std::string>, std::set<std::pair<size_t, std::string>>>
      behind;  // by op and pair
  for (const Bucket& b : data.buckets) {
    const auto found = facts.find(b.id());
    if (b.key.units.size() != 2 || found == facts.end()) continue;
    const auto [first, second] = std::minmax(b.key.units[0], b.key.units[1]);
    behind[{b.key.op, first, second}].insert(found->second.begin(), found->second.end());
  }
  const auto facts_behind = [&](const std::string& op, const std::string& unit, const std::string& other) {
    std::set<std::pair<size_t, std::string>> all;
    const auto with_claimed = [&](const std::string& name) {
      std::vector<std::string> names = {name};
      const auto [begin, end] = claimed.equal_range({op, name});
      for (auto at = begin; at != end; ++at) names.push_back(at->second);
      return names;
    };
    for (const std::string& x : with_claimed(unit))
      for (const std::string& y : with_claimed(other))
        if (const auto at = behind.find({op, std::min(x, y), std::max(x, y)}); at != behind.end())
          all.insert(at->second.begin(), at->second.end());
    return all;
  };
  constexpr size_t max_cells = 5000;  // of all matrices: about 600 kB
  PageData tables = page_list();
  size_t cells_drawn = 0;
  std::string left_out;
  for (const auto& [op, matrix] : matrices) {
    const size_t count = matrix.units.size() * (matrix.units.size() - 1) / 2;
    if (cells_drawn + count > max_cells) {
      left_out += (left_out.empty() ? "" : ", ") + op;
      continue;
    }
    cells_drawn += count;
    PageData rows = page_list(), columns = page_list();
    for (size_t i = 0; i < matrix.units.size(); ++i) {
      const std::string number = std::to_string(i + 1), &unit = matrix.units[i];
      if (i + 1 < matrix.units.size()) columns.push_back(page_object({{"number", number}, {"name", unit}}));
      PageData cells = page_list();
      for (size_t j = 0; j < i; ++j) {
        const std::string& other = matrix.units[j];
        const auto found = matrix.pairs.find(std::minmax(unit, other));
        if (found == matrix.pairs.end() || found->second.compared == 0) {
          cells.push_back(page_object({{"share", "-"}, {"title", "not compared"}}));
          continue;
        }
        const uint64_t compared = found->second.compared, differing = found->second.differing;
        const double share = double(differing) / double(compared);
        PageData cell =
            page_object({{"share", share_text(share)},
                         {"title", fmt::format("{} of {}", with_commas(differing), with_commas(compared))}});
        if (differing) cell.set("heat", fmt::format("{:.2f}", heat(share)));
        std::vector<std::string> anchors;
        for (const auto& [place, anchor] : facts_behind(op, unit, other)) anchors.push_back(anchor);
        if (!anchors.empty()) {
          cell.set("first_fact", anchors.front());
          cell.set("facts", joined(anchors, " "));
        } else {
          cell.set("first_fact", PageData(PageData::type::bool_false));  // or Mustache takes the page's value
        }
        cells.push_back(cell);
      }
      const std::string span = std::to_string(matrix.units.size() - i);
      rows.push_back(page_object({{"number", number}, {"name", unit}, {"cells", cells}, {"span", span}}));
    }
    tables.push_back(page_object({{"op", op}, {"columns", columns}, {"rows", rows}}));
  }
  PageData pairs = page_object({{"matrices", tables}});
  if (!left_out.empty()) pairs.set("not_drawn", left_out.substr(0, 4000));
  page.set("has_pairs", pairs);
}

void add_coverage(const ReportData& data, PageData& page) {
  if (data.coverage.empty()) return;
  constexpr size_t max_names = 150;  // limit for a group
  std::map<std::string, ReachedCount> groups;
  std::map<std::pair<std::string, std::string>, ReachedCount> fields;
  std::map<std::string, std::map<std::string, bool>> reached_by_any;
  for (const ReportBin& bin : data.coverage) {
    groups[bin.group].add(bin.reached);
    fields[{bin.unit, bin.op}].add(bin.reached);
    reached_by_any[bin.group][bin.bin] |= bin.reached;
  }
  PageData group_rows = page_list(), field_rows = page_list(), missing = page_list();
  for (const auto& [name, r] : groups)
    group_rows.push_back(page_object({{"name", name},
                                      {"reached", with_commas(r.reached)},
                                      {"possible", with_commas(r.possible)},
                                      {"percent", std::to_string(100 * r.reached / r.possible)}}));
  for (const auto& [field, r] : fields)
    field_rows.push_back(page_object({{"unit", field.first},
                                      {"op", field.second},
                                      {"reached", with_commas(r.reached)},
                                      {"possible", with_commas(r.possible)}}));
  for (const auto& [group, bins] : reached_by_any) {
    std::string names;
    uint64_t count = 0;
    for (const auto& [name, reached] : bins)
      if (!reached && ++count <= max_names) names += (names.empty() ? "" : ", ") + name;
    if (count > max_names) names += " and " + with_commas(count - max_names) + " more";
    if (count) missing.push_back(page_object({{"name", group}, {"count", with_commas(count)}, {"bins", names}}));
  }
  page.set("has_coverage", page_object({{"groups", group_rows}, {"fields", field_rows}, {"missing", missing}}));
}

void add_charts(const ReportData& data, PageData& page) {
  if (data.samples.empty()) return;
  constexpr size_t max_lines = 40;
  std::vector<ChartLine> buckets, bins;
  size_t unseen = 0;
  std::set<std::string> seen;
  for (const CampaignSample& s : data.samples) {
    auto at =
        std::find_if(buckets.begin(), buckets.end(), [&](const ChartLine& line) { return line.name == s.campaign; });
    if (at == buckets.end()) {
      if (buckets.size() == max_lines) {
        unseen += seen.insert(s.campaign).second;
        continue;
      }
      for (auto* lines : {&buckets, &bins}) lines->push_back({s.campaign, {}});
      at = buckets.end() - 1;
    }
    const auto i = static_cast<size_t>(at - buckets.begin());
    buckets[i].points.emplace_back(double(s.second), double(s.buckets));
    bins[i].points.emplace_back(double(s.second), double(s.bins));
  }
  PageData charts = page_list(), keys = page_list();
  charts.push_back(page_object({{"svg", line_chart("kinds of divergence", buckets)}}));
  charts.push_back(page_object({{"svg", line_chart("coverage bins", bins)}}));
  for (size_t i = 0; i < buckets.size(); ++i)
    keys.push_back(page_object({{"colour", std::to_string(i % 8)}, {"name", "campaign " + buckets[i].name}}));
  if (unseen)
    keys.push_back(page_object({{"colour", "0"}, {"name", with_commas(unseen) + " more campaigns are not drawn"}}));
  page.set("has_charts", page_object({{"charts", charts}, {"keys", keys}}));
}

void add_trends(const ReportData& data, PageData& page) {
  const Trends& trends = data.trends;
  const size_t count = trends.campaigns.size();
  if (count < 2) return;
  std::vector<uint64_t> first(count), again(count);
  for (const Trend& fact : trends.facts)
    for (const size_t campaign : fact.seen) ++(campaign == fact.seen.front() ? first : again)[campaign];
  ChartLine firsts{"seen for the first time", {}}, agains{"seen again", {}}, bins{"bins reached", {}};
  for (size_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(i + 1);
    firsts.points.emplace_back(x, static_cast<double>(first[i]));
    agains.points.emplace_back(x, static_cast<double>(again[i]));
    if (trends.bins_reached[i])
      bins.points.emplace_back(x, static_cast<double>(trends.bins_reached[i]));  // else pruned
  }
  PageData charts = page_list(), rows = page_list();
  charts.push_back(page_object({{"svg", line_chart("facts of each campaign", {firsts, agains}, ChartAxis::numbers)}}));
  if (!bins.points.empty())
    charts.push_back(page_object({{"svg", line_chart("bins of each campaign", {bins}, ChartAxis::numbers)}}));
  constexpr size_t max_rows = 100;  // the latest campaigns
  for (size_t i = count - std::min(count, max_rows); i < count; ++i)
    rows.push_back(page_object({{"number", with_commas(i + 1)},
                                {"started", date_text(trends.campaigns[i].started)},
                                {"first", with_commas(first[i])},
                                {"again", with_commas(again[i])},
                                {"bins", trends.bins_reached[i] ? with_commas(trends.bins_reached[i]) : "pruned"}}));
  page.set("has_trends", page_object({{"charts", charts}, {"rows", rows}}));
}

void add_campaigns(const ReportData& data, const std::vector<int64_t>& first_seen, PageData& page) {
  if (data.campaigns.empty()) return;
  // A fact counts as new in the last campaign that had started when the fact was first seen.
  std::vector<const CampaignRecord*> nights;
  for (const CampaignRecord& c : data.campaigns) nights.push_back(&c);
  std::stable_sort(nights.begin(), nights.end(),
                   [](const CampaignRecord* x, const CampaignRecord* y) { return x->started < y->started; });
  std::map<std::string, uint64_t> new_facts;
  for (const int64_t time : first_seen) {
    size_t last = nights.size() - 1;
    while (last > 0 && nights[last]->started > time) --last;
    ++new_facts[nights[last]->uuid];
  }
  constexpr size_t max_campaigns = 200;
  PageData campaigns = page_list();
  for (const CampaignRecord& c : data.campaigns) {
    if (campaigns.list_value().size() == max_campaigns) break;
    campaigns.push_back(page_object({{"uuid", c.uuid},
                                     {"started", date_text(c.started)},
                                     {"ran", fmt::format("{:.0f} s", c.seconds)},
                                     {"cases", with_commas(c.cases)},
                                     {"inputs", with_commas(c.inputs)},
                                     {"new_facts", with_commas(new_facts[c.uuid])},
                                     {"seed", std::to_string(c.seed)},
                                     {"command", c.command},
                                     {"machine", c.machine},
                                     {"version", c.version}}));
  }
  page.set("has_campaigns", page_object({{"campaigns", campaigns}}));
}

}  // namespace mmafuzz
