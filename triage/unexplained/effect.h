// What a unit that differs from the model which it claims does otherwise: of all candidates the one that gives what the
// unit gave. Each is tried on cases, none is guessed.
#pragma once

#include <functional>
#include <string>

#include "triage/unexplained/effect_candidates.h"
#include "triage/unexplained/surroundings.h"

namespace mmafuzz {

struct Effect {
  std::string text;  ///< "as if a5*b5 were left out (64 of 64 cases near it that differ)"; empty: none is known
  /// What the model would give; one list for each form that the effect has. Nothing where none is known.
  std::function<EffectResults(const Sample&)> results;

  /// Those of the cases on which the effect would be seen; all where it is not known.
  std::vector<size_t> visible(const Surroundings& cases, const std::vector<size_t>& indices) const;
};

/// The effect that explains most of the cases that differ, if that are three in four. The cases are dots of the model's
/// op with a single result. The model must outlive what is returned.
Effect effect_of(const Surroundings& cases, const Unit& model, const std::vector<Variant>& variants);

}  // namespace mmafuzz
