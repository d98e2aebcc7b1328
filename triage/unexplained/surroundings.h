// Cases around one on which a unit and the model that it claims to equal differ: some of them differ too, some agree.
#pragma once

#include <vector>

#include "core/registry.h"
#include "triage/judge.h"

namespace mmafuzz {

struct Surroundings {
  Batch cases;
  Batch before;                             ///< the case before each case, for a unit with memory; else empty
  std::vector<uint64_t> of_unit, of_model;  ///< by case: encodings of the results of the unit and of the model
  std::vector<uint64_t> of_model_before;    ///< by case of `before`: results of the model; else empty
  std::vector<size_t> differ, agree;        ///< indices of the cases that do, in the order of being found
};

/// A random walk over cases: it starts at `starts`, and every further case is made by a few changes of one that
/// differs. A function of the seed for deterministic units. `judge`: "equals_model" of the unit and what it claims to
/// equal.
Surroundings surroundings_of(const Judge& judge, const Batch& starts, uint64_t seed);

/// The same for a unit with memory, over the last two cases of sequences that begin as `sequence` does. `sequences`:
/// how many are tried. Each goes to units that have evaluated nothing before, which starts processes.
Surroundings surroundings_after(const Judge& judge, const Registry& registry, const Batch& sequence, uint64_t seed,
                                uint64_t sequences);

}  // namespace mmafuzz
