// What a campaign reports at its end: targets and ops with their cases, bins and findings, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>

#include "campaign/findings.h"
#include "campaign/plan.h"
#include "campaign/state.h"
#include "campaign/strangers.h"
#include "search/walked_states.h"
#include "triage/facts/conclusions.h"

namespace mmafuzz {

nlohmann::json campaign_summary(const Plan& plan, const CampaignProgress& progress, const CampaignFindings& findings);

/// By "UNIT on 'OP'": how many cases each unit answered, over all workers.
AnswerCounts answers_of(const Plan& plan, const CampaignProgress& progress);

/// By op: how far the search has gone along the walk of states of each unit that is a row.
using StateWalks = std::map<std::string, std::vector<WalkOfStates>>;
StateWalks walks_of(const Plan& plan, const CampaignProgress& progress, const std::vector<std::string>& units);
nlohmann::json walks_json(const StateWalks& walks);

/// What an end without findings means and what it does not, for new users: "Compared were 41 units on 27 ops".
std::string what_green_means(const Plan& plan, const CampaignProgress& progress, const std::vector<std::string>& units,
                             const StateWalks& walks);

/// Targets and ops as a table.
std::string fields_text(const nlohmann::json& summary);

struct SummaryStyle {
  bool is_triaged;    ///< the summary has the figures of triage
  bool is_resumable;  ///< --resume continues in the folder
  size_t width;       ///< characters
};

/// What was covered, what was not, and what to do next.
std::string summary_text(const nlohmann::json& summary, const std::string& folder, const SummaryStyle& style,
                         const std::vector<Stranger>& strangers);

/// Facts of a campaign for programs: contradictions, new, known, unseen.
nlohmann::json conclusions_json(const Conclusions& conclusions);

}  // namespace mmafuzz
