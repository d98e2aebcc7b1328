// Facts while a campaign runs: causes of its findings, looked for as they come in. Triage looks again at the end, at
// every record, and makes the witnesses.
#pragma once

#include <deque>
#include <set>
#include <string>

#include "triage/facts/conclusions.h"
#include "triage/triage.h"

namespace mmafuzz {

struct FactCounts {
  size_t contradictions = 0, fresh = 0, known = 0;
  size_t waiting = 0;  ///< findings whose causes are not known yet
};

class LiveFacts {
 public:
  /// The registry must outlive it. `seen_before`: names of facts that are not new, though nobody wrote them down.
  LiveFacts(const Registry& registry, Knowledge knowledge, std::set<std::string> seen_before);

  /// Takes a finding. One of a broken claim is a contradiction, whatever its cause. What plugins, processes and devices
  /// are part of waits for triage: nothing that may crash or hang runs in the campaign's own process.
  void take(const LoggedDivergence& divergence);

  /// Looks for causes for about `seconds`.
  void look(double seconds);

  const FactCounts& counts() const { return counts_; }

 private:
  const Registry& registry_;
  Knowledge knowledge_;
  std::set<std::string> seen_before_;
  Triage triage_;
  std::deque<LoggedDivergence> open_;
  std::set<std::string> contradictions_;  ///< names of facts
  size_t left_to_triage_ = 0;
  FactCounts counts_;
};

}  // namespace mmafuzz
