// What a unit could do otherwise than the model that it claims: to an operand, by one parameter, in the last sum, to
// the result, by what it remembers. Each gives the results that the unit would then have.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/unit.h"
#include "triage/operands.h"

namespace mmafuzz {

/// Cases with what the unit and the model gave.
struct Sample {
  std::vector<Operands> cases;
  std::vector<Operands> before;  ///< of each the case before it, or none
  std::vector<uint64_t> own, claimed;
};

/// The model with another value of one parameter.
struct Variant {
  std::string parameter, meaning, claimed, value;
  std::shared_ptr<const Unit> unit;
};

/// What it changes.
enum class Stage { operands, row, sum, result };

/// By form that an effect may have, then by case.
using EffectResults = std::vector<std::vector<uint64_t>>;

/// One that may be it, with the number of cases that it explains.
struct EffectCandidate {
  Stage stage;
  std::string text;
  std::function<EffectResults(const Sample&)> results;
  size_t fits = 0;
};

/// Of dots of the unit's op with a single result; `sample`: some that differ. The unit must outlive them.
std::vector<EffectCandidate> effect_candidates(const Op& op, const Unit& unit, const std::vector<Variant>& variants,
                                               const Sample& sample);

}  // namespace mmafuzz
