// Facts while a campaign runs: the causes of its findings are sought as they come in. At the end, triage seeks the
// causes of all findings, these too, and makes the witnesses.
#pragma once

#include <deque>
#include <set>
#include <string>

#include "triage/facts/conclusions.h"
#include "triage/triage.h"

namespace mmafuzz {

struct FactCounts {
  size_t contradictions = 0, fresh = 0, known = 0;  ///< numbers of facts; fresh: new
  size_t waiting = 0;  ///< findings whose causes are still to be sought, here or at the end
};

class LiveFacts {
 public:
  /// The registry must outlive it. `seen_before`: names of facts that earlier campaigns found: not new, though
  /// `knowledge` lacks them.
  LiveFacts(const Registry& registry, Knowledge knowledge, std::set<std::string> seen_before);

  /// Takes a finding. A broken claim is a contradiction, whatever its cause. Findings of plugins, processes and devices
  /// wait for triage: nothing that may crash or hang runs in the campaign's own process.
  void take(const LoggedDivergence& divergence);
  /// Seeks the causes of the findings that wait, for so long; the others go on waiting. Then counts the facts.
  void seek_causes(double seconds);

  const FactCounts& counts() const { return counts_; }

 private:
  const Registry& registry_;
  Knowledge knowledge_;
  std::set<std::string> seen_before_;
  Triage triage_;
  std::deque<LoggedDivergence> waiting_;  ///< findings whose causes are still to be sought here
  std::set<std::string> contradictions_;  ///< names of facts
  size_t left_to_triage_ = 0;             ///< findings of plugins, processes and devices
  FactCounts counts_;
};

}  // namespace mmafuzz
