// What sets a difference off, as a condition on the numbers of a case, learned from cases around one that differs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "triage/operands.h"
#include "triage/unexplained/case_numbers.h"
#include "triage/unexplained/surroundings.h"

namespace mmafuzz {

using Numbers = std::vector<CaseNumber>;

/// What one number has to be. Its kind says which members count.
struct Limit {
  size_t number = 0;
  int64_t least = INT64_MAX, most = INT64_MIN;
  uint64_t mask = 0, value = 0;

  bool holds(CaseNumber::Kind kind, int64_t x) const {
    using Kind = CaseNumber::Kind;
    if (x == CaseNumbers::none) return false;
    if (kind == Kind::choice) return mask >> x & 1;
    if (kind == Kind::bits || kind == Kind::leading) return (static_cast<uint64_t>(x) & mask) == value;
    return x >= least && x <= most;
  }
};

/// A limit; or several that hold together for the numbers of some lane or of some step, of which theirs are the first.
struct Part {
  std::vector<Limit> limits;
  const std::vector<std::vector<size_t>>* members = nullptr;  ///< the numbers of each lane, of each step
};

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
