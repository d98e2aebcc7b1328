// What a unit that differs from the model which it claims does otherwise: of all candidates the one that gives what the
// unit gave. Each is tried on cases, none is guessed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "triage/operands.h"
#include "triage/unexplained/case_numbers.h"
#include "triage/unexplained/surroundings.h"

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

/// What a unit could do otherwise than the model that it claims: to an operand, by one parameter, in the last sum, to
/// the result, by what it remembers. Of dots of the unit's op with a single result; `sample`: some that differ. The
/// unit must outlive them. Defined in effect_candidates.cc.
std::vector<EffectCandidate> effect_candidates(const Op& op, const Unit& unit, const std::vector<Variant>& variants,
                                               const Sample& sample);

struct Effect {
  std::string text;            ///< "a5*b5 were left out"; empty: none is known
  size_t fits = 0, cases = 0;  ///< it explains so many of so many cases that differ
  /// What the model would give; one list for each form that the effect has. Nothing where none is known.
  std::function<EffectResults(const Sample&)> results;

  /// Those of the cases on which the effect would be seen; all where it is not known.
  std::vector<size_t> visible(const Surroundings& cases, const std::vector<size_t>& indices) const;
};

/// What each candidate explains of the cases of a walk that differ: dots of the model's op with a single result. The
/// model must outlive this and the effects.
class Effects {
 public:
  Effects(const Surroundings& walk, const Unit& model, const std::vector<Variant>& variants);

  /// The one that explains most, if that are nine in ten; of several that do, one of the stage that the condition is
  /// about, as the others may fit by chance.
  Effect best(CaseNumber::Where condition) const;

 private:
  std::vector<EffectCandidate> all_;
  size_t cases_ = 0, most_ = 0;
};

}  // namespace mmafuzz
