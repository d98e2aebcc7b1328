// The parts of the HTML report that do not depend on buckets: heat map, coverage, charts, campaigns.
#pragma once

#include <kainjow/mustache.hpp>

#include "triage/report/report_data.h"

namespace mmafuzz {

using PageData = kainjow::mustache::data;

/// "1,234,567".
std::string counted(uint64_t n);
/// "2026-11-21 14:00 UTC".
std::string date_text(int64_t seconds_since_1970);

void add_matrices(const ReportData& data, PageData& page);
void add_coverage(const ReportData& data, PageData& page);
void add_charts(const ReportData& data, PageData& page);
void add_campaigns(const ReportData& data, PageData& page);

}  // namespace mmafuzz
