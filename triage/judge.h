// Decides whether cases are divergences: the statement of a bucket key, bound to units, for any case of the op.
#pragma once

#include "core/property.h"
#include "core/registry.h"

namespace mmafuzz {

/// What one case shows. Of a comparison of two units, `first` and `second` are the results of the two.
using Verdict = BoundProperty::Verdict;

class Judge {
 public:
  /// `property` is "equal" or "equals_model" for two units, else a property of one unit. Refused where a unit or the
  /// property is unknown or declines the op.
  static Result<Judge> bind(const std::string& property, const std::vector<std::string>& units, const Op& op,
                            const Registry& registry);
  /// Compares two given units, which are bound to the op.
  static Judge of_units(std::unique_ptr<Unit> first, std::unique_ptr<Unit> second, const Op& op);
  /// The same as bind(); throws std::runtime_error with the reason of a refusal.
  static Judge bound(const std::string& property, const std::vector<std::string>& units, const Op& op,
                     const Registry& registry);

  const Op& op() const { return op_; }
  const std::string& property() const { return property_; }
  /// One unit of a property, two of a comparison.
  const std::vector<std::unique_ptr<Unit>>& units() const { return units_; }

  /// Whether a case fails by having no answer. A case that breaks a unit leaves other cases of the batch unanswered,
  /// whose verdicts are then unknown: for a verdict on each, judge() takes one case at a time.
  bool is_about_answering() const { return bound_ && bound_->is_free(); }

  /// One verdict per case. A case that a unit has no answer for does not fail.
  std::vector<Verdict> judge(const Batch& cases) const;

  /// The same by units that have evaluated nothing before, as in a replay of the cases: a unit whose family takes
  /// `fresh` gets a new process. No case fails where that cannot be started.
  std::vector<Verdict> judge_anew(const Batch& cases, const Registry& registry) const;
  /// The last verdict of judge_anew() where the last case is a batch of its own, after that of the other cases.
  Verdict judge_last_anew(const Batch& cases, const Registry& registry) const;

  /// One batch with the changed case of each case, under a property whose changed case is one case of the op itself (or
  /// the case as it is, where results are judged alone); no batch for others.
  std::vector<Batch> changed_cases(const Batch& cases) const;

 private:
  Result<Judge> bind_anew(const Registry& registry) const;

  Op op_;
  std::string property_;
  std::vector<std::unique_ptr<Unit>> units_;
  std::unique_ptr<BoundProperty> bound_;  ///< the property of one unit; nullptr for a comparison
};

}  // namespace mmafuzz
