// The facts of a store for code scanning: SARIF 2.1.0 (OASIS Standard, 27 March 2020).
#pragma once

#include <string>

#include "triage/facts/knowledge.h"
#include "triage/report/report_data.h"

namespace mmafuzz {

/// One run, with a result for each fact. A contract divergence is an error, accuracy a warning, the rest notes. What is
/// known is `unchanged` and suppressed, with the reason that a person gave. The witness of a fact is its location and
/// an artifact in the file itself. `version`: of the tool.
std::string sarif_report(const ReportData& data, const Knowledge& knowledge, const std::string& version);

}  // namespace mmafuzz
