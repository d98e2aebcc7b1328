// The report of one or more campaigns: a page for people, JUnit XML, SARIF and JSON for machines.
#pragma once

#include "core/registry.h"
#include "triage/facts/knowledge.h"
#include "triage/report/report_data.h"

namespace mmafuzz {

/// Limit of a page's size in bytes. Beyond it the pictures of the last facts are left out, and the page says so.
inline constexpr size_t greatest_page = 950000;

/// One self-contained HTML page that loads nothing: facts, units against units, coverage, time. The registry binds
/// units to draw the witnesses. `bits`: address of the page bits.html, to which each fact then has a link; empty: no
/// links. `version`: the version of mmafuzz that those links name.
std::string html_report(const ReportData& data, const Knowledge& knowledge, const Registry& registry,
                        const std::string& bits = "", const std::string& version = "");

/// JUnit XML: a test case for each op, property and unit or pair. Contract divergences and contradictions are failures,
/// unless a person decided them, and so are campaigns from which nothing can be concluded. A difference that the rows
/// of a campaign rule out is no contradiction here, because a store does not hold the rows.
std::string junit_report(const ReportData& data, const Knowledge& knowledge = {});

/// SARIF 2.1.0 (OASIS Standard, 27 March 2020) for code scanning: one run, with a result for each fact. A contradiction
/// or contract divergence is an error, accuracy a warning, the rest notes. A known fact is `unchanged` and suppressed,
/// with the note of a person. The witness of a fact is its location and an artifact in the file. `version`: of mmafuzz.
std::string sarif_report(const ReportData& data, const Knowledge& knowledge, const std::string& version);

/// The data but its trends as one JSON object (docs/json.md).
std::string json_report(const ReportData& data);

}  // namespace mmafuzz
