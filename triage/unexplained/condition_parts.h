// What a condition on the numbers of a case consists of, and its words.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "triage/unexplained/case_numbers.h"

namespace mmafuzz {

using Numbers = std::vector<CaseNumber>;

inline constexpr int64_t no_least = INT64_MIN + 1, no_most = INT64_MAX;  // but for a number that a case lacks

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

/// The number that a limit of a part is about; of several members the first one's.
inline const CaseNumber& number_of(const Numbers& numbers, const Part& part, const Limit& limit) {
  return numbers[part.members ? (*part.members)[0][limit.number] : limit.number];
}

/// `value_of`: of a number.
template <class ValueOf>
bool holds(const Part& part, const Numbers& numbers, const ValueOf& value_of) {
  const auto all_hold = [&](const std::vector<size_t>* member) {
    return std::all_of(part.limits.begin(), part.limits.end(), [&](const Limit& limit) {
      const size_t number = member ? (*member)[limit.number] : limit.number;
      return limit.holds(numbers[number].kind, value_of(number));
    });
  };
  if (!part.members) return all_hold(nullptr);
  return std::any_of(part.members->begin(), part.members->end(), [&](const auto& member) { return all_hold(&member); });
}

/// For people: "the exponent field of a3 is 0x55, in some lane the fraction of a is 0x2b5 and ...". Limits that say the
/// same of several numbers are one.
std::string text_of(const Numbers& numbers, const std::vector<Part>& parts);

}  // namespace mmafuzz
