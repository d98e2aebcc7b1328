// The report of one or more campaigns: a page for people, JUnit XML and JSON for machines.
#pragma once

#include "core/registry.h"
#include "triage/report/report_data.h"

namespace mmafuzz {

/// Greatest size of a page in bytes. Explanations come first where room is short, in the order of the buckets; what is
/// left out is said on the page.
inline constexpr size_t greatest_page = 1900000;

/// One self-contained HTML page that loads nothing. The registry evaluates the witnesses for their explanations.
std::string html_report(const ReportData& data, const Registry& registry);

/// JUnit XML: a test case for each property and unit pair; contract divergences are failures.
std::string junit_report(const ReportData& data);

/// Everything of the data as one JSON object.
std::string json_report(const ReportData& data);

}  // namespace mmafuzz
