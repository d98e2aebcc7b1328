// Names of facts. A fact is one cause with its values, over all buckets that show it. Its name says all that
// distinguishes it from other facts, in one word that can be typed, sorted and compared between campaigns:
//
//   fraction_bits=24~25                  two units differ because one keeps 24 bits and the other 25
//   kernel=fused_sum~ieee                because one sums at once and the other in IEEE steps
//   monotone_in_c/fused_sum              fused sums do not have this property, which none of them claims
//   claim/plugin:./unit.so               this unit breaks what it claims, or differs without an explanation
#pragma once

#include <string>

#include "core/unit.h"

namespace mmafuzz {

/// A parameter with its two values. The smaller value stands first, numbers before words, so that the name does not
/// depend on the order of the units.
std::string difference_fact(const std::string& parameter, const std::string& x, const std::string& y);

/// A property that an arithmetic does not have.
std::string property_fact(const std::string& property, const std::string& arithmetic);

/// The unit breaks a claim, or the cause of a divergence is_strange(): "claim/UNIT". If the property is "answers", the
/// unit has no answer: "answers/UNIT".
std::string claim_fact(const std::string& unit, const std::string& property);
/// Whether claim_fact() made the name.
bool is_claim_fact(const std::string& name);

/// Name and values of the fact that two results are different NaNs: a processor keeps an operand's payload, a row has
/// one NaN for all.
inline constexpr char nan_payload[] = "nan_payload", payload_kept[] = "kept", payload_dropped[] = "dropped";

/// The parts of a name.
struct FactParts {
  enum class Kind { difference, property, claim } kind = Kind::difference;
  std::string subject;        ///< the parameter or the property; empty of a claim
  std::string first, second;  ///< the values; of a property the arithmetic and "", of a claim the unit and ""
};
FactParts parts_of_fact(const std::string& name);

/// How a unit computes, in a word: the kernel of its row ("fused_sum"); the unit's name without settings where `row` is
/// nullptr ("exact", "ieee:serial").
std::string arithmetic_of(const Unit& unit, const DotModel* row);

/// The same of a conversion or a scalar operation. There is only one correctly rounded result, so that "exact" also
/// names `ieee` and units that claim to equal either.
std::string operation_of(const Unit& unit);

/// The kernel of rows that add as the exact reference does: everything exactly, rounded once.
inline constexpr char exact_kernel[] = "exact_sum";

/// The fact that two arithmetics differ. Unless they are two orders of IEEE steps, every such order is "ieee"; unless
/// they are two exact sums, an exact sum of a row or of the reference is "exact_sum".
std::string kernel_fact(const std::string& x, const std::string& y);

}  // namespace mmafuzz
