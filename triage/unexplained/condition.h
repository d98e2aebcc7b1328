// What sets a difference off, as a condition on the numbers of a case, learned from cases around one that differs. A
// case differs if a unit's result is not that of the model which the unit claims to equal; otherwise the case agrees.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "triage/operands.h"
#include "triage/unexplained/case_numbers.h"
#include "triage/unexplained/surroundings.h"

namespace mmafuzz {

using Numbers = std::vector<CaseNumber>;

/// The values that one number may have. Its kind determines which members apply.
struct Limit {
  size_t number = 0;                            ///< index into Numbers; of a Part with members, into one member
  int64_t least = INT64_MAX, most = INT64_MIN;  ///< of numbers and fields, both included
  uint64_t mask = 0, value = 0;  ///< of a choice, the set of indices; of bits, which bits are fixed, and to what

  /// False where the case lacks the number.
  bool holds(CaseNumber::Kind kind, int64_t x) const {
    using Kind = CaseNumber::Kind;
    if (x == CaseNumbers::none) return false;
    if (kind == Kind::choice) return mask >> x & 1;
    if (kind == Kind::bits || kind == Kind::leading) return (static_cast<uint64_t>(x) & mask) == value;
    return x >= least && x <= most;
  }
};

/// One limit, on one number; or several limits that hold together for the numbers of at least one lane, or step; or a
/// limit that holds for every lane.
struct Part {
  std::vector<Limit> limits;
  /// By lane or by step: the indices of its numbers. nullptr: there is one limit, on one number.
  const std::vector<std::vector<size_t>>* members = nullptr;
  bool for_every_member = false;
};

/// The numbers of a case and, where a walk has cases before its cases, those of the case before it.
class AllNumbers {
 public:
  /// The first case of `walk` that differs determines the list. The model, if not nullptr, must outlive this object.
  AllNumbers(const Surroundings& walk, const DotModel* model);

  const Numbers& all() const { return all_; }
  /// The values of case `index`, one for each of all(); valid until the next call.
  const std::vector<int64_t>& values_of(const Surroundings& from, size_t index);

 private:
  Op op_;
  CaseNumbers last_;  ///< of the case itself
  std::optional<CaseNumbers> before_;
  Numbers all_;
  std::vector<int64_t> row_;
};

struct Condition {
  std::vector<Part> parts;                               ///< all hold together; none: no condition was found
  std::string text;                                      ///< "the exponent field of a3 is 0x55, ..."
  CaseNumber::Where where = CaseNumber::Where::operand;  ///< of the first number of the first part
};

class ConditionLearner {
 public:
  /// `claimed`: the model. `walk`: cases of which at least one differs. `in_other_lanes`: the difference stays when
  /// products change their lanes. The walk must outlive this object, and this object its conditions.
  ConditionLearner(const Unit& claimed, const Surroundings& walk, bool in_other_lanes);

  /// `seen`: indices of the walk's cases that agree and on which the effect would be visible. Each part holds for all
  /// cases of the walk that differ, and excludes some that agree; the part that excludes most comes first.
  Condition learn(const std::vector<size_t>& seen) const;

  /// How many of the given cases of other surroundings satisfy the condition.
  size_t count(const Condition& condition, const Surroundings& other, const std::vector<size_t>& cases);

 private:
  void add(Part part);
  void add_extremes(const std::vector<std::vector<size_t>>& members);
  void add_for_every_lane();
  double weight(const Part& part) const;
  Part common(const std::vector<std::vector<size_t>>& members, const std::vector<size_t>& of_first) const;
  Part of_deciding_lanes() const;
  bool leaves_out(const Part& part, size_t index) const;
  template <class LeavesOut>
  size_t only_by(const std::vector<size_t>& agree, size_t part, const std::vector<size_t>& chosen,
                 const LeavesOut& is_left_out) const;
  void learn(const std::vector<size_t>& agree, double least_gain, std::vector<Part>& parts) const;
  Part simpler(size_t p, const std::vector<size_t>& chosen, const std::vector<size_t>& agree) const;

  const Surroundings& walk_;
  AllNumbers numbers_;
  std::vector<std::vector<int64_t>> values_;  ///< by index of the number, then of the case
  /// As Part::members: of parts on every lane; of parts on some lane, step, two or four lanes, or none.
  std::vector<std::vector<size_t>> all_lanes_, lanes_, steps_, two_lanes_, four_lanes_;
  std::vector<Part> possible_;               ///< parts that hold for all cases that differ
  std::vector<std::vector<bool>> left_out_;  ///< by index of possible_, then of the case: the part excludes the case
};

}  // namespace mmafuzz
