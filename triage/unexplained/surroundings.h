// Cases around one on which a unit and the model that it claims differ: where the difference ends, and where it goes
// on.
#pragma once

#include <vector>

#include "core/registry.h"
#include "triage/judge.h"

namespace mmafuzz {

struct Surroundings {
  Batch cases;
  Batch before;                        ///< of a unit that remembers, what it evaluated before each case; else no cases
  std::vector<uint64_t> own, claimed;  ///< what the unit and the model gave
  std::vector<uint64_t> earlier;       ///< what the model gave before
  std::vector<size_t> differ, agree;   ///< cases, by what they show, the first one first; what agrees is one move apart
};

/// A walk from dots that differ over others that do, each a move from one before. Function of the seed where the units'
/// answers are. `judge`: "equals_model" of the unit and what it claims to equal.
Surroundings surroundings_of(const Judge& judge, const Batch& starts, uint64_t seed);

/// The same of the last case of a sequence, for a unit that remembers the cases before it: each of so many sequences is
/// the first that the unit sees, which starts processes.
Surroundings surroundings_after(const Judge& judge, const Registry& registry, const Batch& sequence, uint64_t seed,
                                uint64_t sequences);

}  // namespace mmafuzz
