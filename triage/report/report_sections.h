// The HTML report's template, and its parts that do not depend on buckets: heat map, coverage, charts, campaigns.
#pragma once

#include <kainjow/mustache.hpp>
#include <map>
#include <string>
#include <vector>

#include "triage/report/report_data.h"

namespace mmafuzz {

/// The template of the page (Mustache).
extern const char report_page[];

using PageData = kainjow::mustache::data;
inline PageData page_list() { return PageData(PageData::type::list); }
PageData page_object(std::initializer_list<std::pair<const char*, PageData>> fields);

/// One line: points in order of x.
struct ChartLine {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

/// The unit of x: seconds, or the number of a campaign from 1.
enum class ChartAxis { seconds, numbers };

/// A small line chart as inline SVG in the page's own colours, with both axes from 0. `title` says what y counts. About
/// 200 points of a line are drawn. Defined in line_chart.cc.
std::string line_chart(const std::string& title, const std::vector<ChartLine>& lines,
                       ChartAxis axis = ChartAxis::seconds);

/// "1,234,567".
std::string with_commas(uint64_t n);
/// "2026-11-21 14:00 UTC".
std::string date_text(int64_t seconds_since_1970);

/// By id of a bucket, the facts of the page that the bucket counts for: number on the page, from 0, and anchor.
using FactsOfBuckets = std::map<std::string, std::vector<std::pair<size_t, std::string>>>;

void add_matrices(const ReportData& data, const FactsOfBuckets& facts, PageData& page);
void add_coverage(const ReportData& data, PageData& page);
void add_charts(const ReportData& data, PageData& page);
/// Facts and bins over campaigns, where there is more than one.
void add_trends(const ReportData& data, PageData& page);
/// `first_seen`: one time for each fact, seconds since 1970, UTC.
void add_campaigns(const ReportData& data, const std::vector<int64_t>& first_seen, PageData& page);

}  // namespace mmafuzz
