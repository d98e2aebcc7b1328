// A campaign's corpora without inputs that reach nothing new: what is worth keeping for the next campaign.
#pragma once

#include "campaign/plan.h"

namespace mmafuzz {

struct MinimizedCorpus {
  size_t before = 0, after = 0;  ///< inputs
};

/// Writes folder/corpus.min/<field> from folder/corpus/<field> for every field of the plan: for each bin of each focus
/// unit the first input that reaches it; for a target without ops, what libFuzzer's -merge=1 keeps, where there is a
/// build of it.
MinimizedCorpus minimize_corpora(const Plan& plan, const std::vector<std::string>& units, const std::string& folder);

}  // namespace mmafuzz
