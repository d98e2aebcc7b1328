// Conclusions for a terminal: a verdict, contradictions, new facts, some known differences, and facts not seen.
#pragma once

#include <string>

#include "triage/facts/conclusions.h"

namespace mmafuzz {

struct ConclusionsStyle {
  size_t width = 80;                           ///< columns
  size_t max_contradictions = 3, max_new = 3;  ///< limits of facts shown of each list
  size_t max_known = 0;                        ///< limit of known differences shown
  uint64_t seed = 0;                           ///< chooses among equally telling known differences
  std::string store;                           ///< the store's path, for commands; "" leaves commands out
};

/// "Nothing contradicts a claim; 3 facts are new; 92 known facts were seen again."
std::string verdict(const Conclusions& all);

/// The verdict and the lists, and a few of the known differences with their smallest cases.
std::string conclusions_text(const Conclusions& all, const ConclusionsStyle& style);

/// Of one fact: name, sentence(), evidence() and the command that explains its witness.
std::string fact_text(const Fact& fact, const ConclusionsStyle& style);

/// Words on lines of at most `width` columns, each line indented.
std::string wrapped(const std::string& text, size_t width, size_t indent);

}  // namespace mmafuzz
