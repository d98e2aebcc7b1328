// Cases near one on which a unit and the model that it claims to equal differ. On some of them the two differ as well,
// on others they agree.
#pragma once

#include <vector>

#include "core/registry.h"
#include "triage/judge.h"

namespace mmafuzz {

struct BlockPart;

struct Surroundings {
  Batch cases;
  Batch before;                             ///< the case before each case, for a unit with memory; else empty
  std::vector<uint64_t> of_unit, of_model;  ///< by case: encodings of the results of the unit and of the model
  std::vector<uint64_t> of_model_before;    ///< by case of `before`: results of the model; else empty
  const BlockPart* part = nullptr;          ///< of blocks: what of them the results are
  std::vector<size_t> differ, agree;        ///< indices of the cases on which the two do so, in the order found
  std::vector<int> deciding;                ///< by index into `differ`: the product that decides, or -1; empty where
                                            ///< that was not asked
  std::vector<size_t> far;  ///< those of `agree` that are near to none of these; empty where they were not asked for
};

/// A random walk over cases: it starts at `starts`, and every further case is made by a few changes of one in `differ`.
/// Deterministic units give the same cases for the same seed. `judge`: "equals_model"; its first unit is the unit, its
/// second one the model. `only_differing`: it ends when enough cases differ, however few agree.
Surroundings surroundings_of(const Judge& judge, const Batch& starts, uint64_t seed, bool only_differing = false);

/// Adds structured cases, near to none of these, on which the two agree: to `agree` and to `far`.
void find_far_cases(Surroundings& all, const Judge& judge, uint64_t seed);

/// Sets `deciding` for the first cases of a dot that differ. It is the only product that by itself makes a case that
/// differs; where such cases are few, the only one without which the case agrees.
void find_deciding_products(Surroundings& all, const Judge& judge);

/// As surroundings_of() for a unit with memory. Each of `tries` sequences is one that differs, first `sequence`, with
/// changes in its last two cases; `sequence` has at least two. Each goes to units that have evaluated nothing before,
/// which starts processes.
Surroundings surroundings_after(const Judge& judge, const Registry& registry, const Batch& sequence, uint64_t seed,
                                uint64_t tries);

}  // namespace mmafuzz
