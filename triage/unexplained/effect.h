// What a unit does differently from the model that it claims to equal. The effect is a change under which the model has
// the unit's results. Each candidate is evaluated on cases that differ. A candidate may have several forms, such as
// which addend it changes; it explains a case if one of its forms does.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "triage/operands.h"
#include "triage/unexplained/case_numbers.h"
#include "triage/unexplained/surroundings.h"

namespace mmafuzz {

/// Cases with the results of the unit and of the model. All members have one entry per case.
struct Sample {
  std::vector<Operands> cases;
  std::vector<Operands> before;             ///< the case before each case; empty where there are none
  std::vector<uint64_t> of_unit, of_model;  ///< encodings: results of the unit, and of the model
  std::vector<std::vector<Step>> steps;     ///< of the model; empty of many cases, and of what is no dot of a row
};

/// What an effect changes.
enum class Stage { operands, row, sum, result };

/// The model, or of other units than dots the op, with another value of one parameter.
struct ModelVariant {
  Stage stage;
  std::string parameter, meaning;        ///< its name and meaning
  std::string model_value, other_value;  ///< the model's value, and that of the variant; without a parameter the text
  std::function<Outcomes(const Batch&)> run;
};

/// Encodings of results, by form, then by case.
using EffectResults = std::vector<std::vector<uint64_t>>;

/// A possible effect.
struct EffectCandidate {
  Stage stage;
  std::string text;
  std::function<EffectResults(const Sample&)> results;     ///< those of the model under this change
  std::function<std::string(size_t form)> name_of_form{};  ///< what is added to the text where one form is enough
  bool is_strict = false;                                  ///< it counts only if it is complete and fits all
  size_t fits = 0;                                         ///< number of cases that it explains
  bool is_complete = false;                                ///< it changes no result on which unit and model agree
};

/// Possible effects: on an operand, of one parameter, on the last sum, on the result, of memory of the case before. For
/// ops with a single result. `unit`: the model, which must outlive the candidates; `sample`: some cases that differ.
/// Defined in effect_candidates.cc.
std::vector<EffectCandidate> effect_candidates(const Op& op, const Unit& unit,
                                               const std::vector<ModelVariant>& variants, const Sample& sample);

/// Appends those of the sums, aligned or exact, of a model: `unit`.
void add_sum_effects(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit, const Sample& sample);
/// Appends those of products by their exponents: great ones are special, or exponents have a bound or lose bits.
void add_exponent_effects(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit, const Sample& sample);
/// Appends those of infinities and NaNs of a, b or c that are read as numbers: those of one lane, or of all.
void add_special_effects(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit);
/// Appends those of the sums that the first of two stages makes, and of the products in them.
void add_first_stage_effects(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit);
/// Appends those of the shifts of products in first sums of floored sums.
void add_first_sum_effects(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit);
/// Appends those of the results of steps, which later steps go on from.
void add_step_effects(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit);
/// Appends those of products and addends of IEEE operations: of scalar additions, multiplications and multiply-adds,
/// and of dots that are chains of multiply-adds.
void add_ieee_effects(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit, const Sample& sample);

struct Effect {
  std::string text;            ///< "a5*b5 were left out"; empty: no effect was found
  size_t fits = 0, cases = 0;  ///< it explains `fits` of `cases` cases that differ
  /// The results of the model under the effect; an empty function where no effect was found.
  std::function<EffectResults(const Sample&)> results;

  /// Those of `indices` on which the effect changes the model's result; all where no effect was found.
  std::vector<size_t> visible(const Surroundings& cases, const std::vector<size_t>& indices) const;
};

/// How many of the cases of `walk` that differ each candidate explains: cases with a single result.
/// The model must outlive this object and the effects.
class Effects {
 public:
  Effects(const Surroundings& walk, const Unit& model, const std::vector<ModelVariant>& variants);

  /// The candidate that explains most cases, if those are nine in ten; else an empty effect. Where several explain as
  /// many, complete ones are preferred. Where those are of several stages, the text names the first of each, that stage
  /// first which the condition is about.
  Effect best(CaseNumber::Where condition) const;

 private:
  bool explains_enough() const { return cases_ > 0 && 10 * most_ >= 9 * cases_; }

  std::vector<EffectCandidate> all_;
  size_t cases_ = 0, most_ = 0;  ///< number of cases tried; maximum of EffectCandidate::fits
};

}  // namespace mmafuzz
