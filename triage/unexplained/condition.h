// What sets a difference off, as a condition on the numbers of a case, learned from cases around one that differs.
#pragma once

#include <string>
#include <vector>

#include "triage/unexplained/case_numbers.h"
#include "triage/unexplained/surroundings.h"

namespace mmafuzz {

struct Condition {
  std::string text;  ///< "the exponent field of a3 is 0x55, ..."; empty: none was found
  CaseNumber::Where where = CaseNumber::Where::operand;  ///< what its most telling part is about
  size_t differ = 0, of_differ = 0;  ///< how many cases of the second walk meet it, of those that differ
  size_t agree = 0, of_agree = 0;    ///< and of those that agree though the effect would be seen
};

/// `learned`, `others`: two walks around the same case, with `seen`. Each part of the condition holds for all cases of
/// the first walk that differ, and leaves out some that agree; the most telling one comes first. `in_other_lanes`: the
/// difference stays when products change their lanes.
Condition condition_of(const Unit& claimed, const Surroundings& learned, const Surroundings& others,
                       bool in_other_lanes);

}  // namespace mmafuzz
