// What a campaign says at its end: targets and ops with their cases, bins and findings, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>

#include "campaign/findings.h"
#include "campaign/plan.h"
#include "campaign/state.h"

namespace mmafuzz {

nlohmann::json campaign_summary(const Plan& plan, const CampaignProgress& progress, const CampaignFindings& findings);

/// The same as a table.
std::string summary_text(const nlohmann::json& summary);

}  // namespace mmafuzz
