// The report of one or more campaigns: a page for people, JUnit XML and JSON for machines.
#pragma once

#include "core/registry.h"
#include "triage/facts/knowledge.h"
#include "triage/report/report_data.h"

namespace mmafuzz {

/// Greatest size of a page in bytes. Where room is short, the last facts go without their bits; the page says so.
inline constexpr size_t greatest_page = 950000;

/// One self-contained HTML page that loads nothing: facts, units against units, coverage, time. The registry evaluates
/// the witnesses for their pictures. `bits`, unless empty, is the address of the page bits.html, `version` what its
/// links say they are of: each fact then has one.
std::string html_report(const ReportData& data, const Knowledge& knowledge, const Registry& registry,
                        const std::string& bits = "", const std::string& version = "");

/// JUnit XML: a test case for each property and unit pair; contract divergences and contradictions are failures. A
/// store does not know what the rows of its campaigns rule out.
std::string junit_report(const ReportData& data, const Knowledge& knowledge = {});

/// Everything of the data as one JSON object.
std::string json_report(const ReportData& data);

}  // namespace mmafuzz
