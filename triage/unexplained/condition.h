// What sets a difference off, as a condition on the numbers of a case, learned from cases around one that differs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "triage/operands.h"
#include "triage/unexplained/condition_parts.h"
#include "triage/unexplained/surroundings.h"

namespace mmafuzz {

/// The numbers of a case, and those of the case before it.
class AllNumbers {
 public:
  /// Those that the first case of a walk that differs has. The model, if there is one, must outlive this.
  AllNumbers(const Surroundings& walk, const DotModel* model);

  const Numbers& all() const { return all_; }
  const std::vector<int64_t>& of(const Surroundings& from, size_t index);

 private:
  Op op_;
  CaseNumbers last_;
  std::optional<CaseNumbers> before_;
  Numbers all_;
  std::vector<int64_t> now_;
};

struct Condition {
  std::vector<Part> parts;                               ///< none where nothing tells the cases apart
  std::string text;                                      ///< "the exponent field of a3 is 0x55, ..."
  CaseNumber::Where where = CaseNumber::Where::operand;  ///< what its most telling part is about
};

class ConditionLearner {
 public:
  /// `walk`: at least one case of it differs. `in_other_lanes`: the difference stays when products change their lanes.
  /// The walk must outlive this, and this its conditions.
  ConditionLearner(const Unit& claimed, const Surroundings& walk, bool in_other_lanes);

  /// `seen`: of the walk's cases that agree such on which the effect would be seen. Each part holds for all cases of
  /// the walk that differ, and leaves out some that agree; the most telling one comes first.
  Condition learn(const std::vector<size_t>& seen) const;

  /// How many of these cases of another walk meet it.
  size_t count(const Condition& condition, const Surroundings& other, const std::vector<size_t>& cases);

 private:
  void add(Part part);
  const CaseNumber& number_of(const Part& part, const Limit& limit) const;
  double weight(const Part& part) const;
  bool is_about_result(const Part& part) const;
  Part common(const std::vector<std::vector<size_t>>& members, const std::vector<size_t>& of_first) const;
  bool leaves_out(const Part& part, size_t index) const;
  bool is_few(const std::vector<size_t>& cases) const;
  template <class LeavesOut>
  size_t only_by(const std::vector<size_t>& agree, size_t part, const std::vector<size_t>& chosen,
                 const LeavesOut& is_left_out) const;
  void learn(const std::vector<size_t>& agree, double least_gain, std::vector<Part>& parts) const;
  Part simpler(size_t p, const std::vector<size_t>& chosen, const std::vector<size_t>& agree) const;

  const Surroundings& walk_;
  AllNumbers numbers_;
  std::vector<std::vector<int64_t>> values_;        ///< by number and case
  std::vector<std::vector<size_t>> lanes_, steps_;  ///< the numbers of each
  std::vector<Part> possible_;
  std::vector<std::vector<bool>> left_out_;  ///< by possible part and case
};

}  // namespace mmafuzz
