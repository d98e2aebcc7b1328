// The report of one or more campaigns: a page for people, JUnit XML, SARIF and JSON for machines.
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

/// SARIF 2.1.0 (OASIS Standard, 27 March 2020) for code scanning: one run, with a result for each fact. A contract
/// divergence is an error, accuracy a warning, the rest notes. What is known is `unchanged` and suppressed, with the
/// reason that a person gave. The witness of a fact is its location and an artifact in the file itself. `version`: of
/// the tool.
std::string sarif_report(const ReportData& data, const Knowledge& knowledge, const std::string& version);

/// Everything of the data as one JSON object.
std::string json_report(const ReportData& data);

}  // namespace mmafuzz
