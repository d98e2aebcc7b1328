// Names of facts. A fact is one cause with its values, over everything that shows it; its name says all that
// distinguishes it from others, in one word that can be typed, sorted and compared between campaigns:
//
//   fraction_bits=24~25                  two units differ because one keeps 24 bits and the other 25
//   kernel=fused_sum~ieee                because one sums at once and the other in IEEE steps
//   monotone_in_c/fused_sum              fused sums do not have this property, which none of them claims
//   claim/plugin:./unit.so               this unit breaks what it claims, or differs without an explanation
#pragma once

#include <string>

#include "core/unit.h"

namespace mmafuzz {

/// A parameter with its two values. The smaller one stands first, numbers before words: the name does not depend on
/// which unit is the first.
std::string difference_fact(const std::string& parameter, const std::string& x, const std::string& y);

/// A property that an arithmetic does not have.
std::string property_fact(const std::string& property, const std::string& arithmetic);

/// Something is wrong with this unit, or with what is known about it. That it breaks on cases is a fact apart.
std::string claim_fact(const std::string& unit, const std::string& property);
bool is_claim_fact(const std::string& name);

/// Both results are NaN, and what differs is which: a processor's is that of an operand, a row has one.
inline constexpr char nan_payload[] = "nan_payload", payload_kept[] = "kept", payload_dropped[] = "dropped";

/// A name apart. Of a property or claim `first` is the arithmetic or the unit, and `second` is empty.
struct FactParts {
  enum class Kind { difference, property, claim } kind = Kind::difference;
  std::string subject;  ///< the parameter or the property; empty of a claim
  std::string first, second;
};
FactParts parts_of_fact(const std::string& name);

/// How a unit computes, in a word: the kernel of its row ("fused_sum"); "exact", "ieee:serial" for what has none.
std::string arithmetic_of(const Unit& unit, const DotModel* row);

/// The same of a conversion or a scalar operation. Its correctly rounded result is one, whoever computes it: "exact"
/// also of what is or claims to equal `ieee`.
std::string operation_of(const Unit& unit);

/// The kernel of rows that add as the exact reference does: everything exactly, rounded once.
inline constexpr char exact_kernel[] = "exact_sum";

/// Two kinds of arithmetic as a difference of kernels. Against anything else the orders of IEEE steps are one kind, and
/// so are exact sums, of a row or the reference.
std::string kernel_fact(const std::string& x, const std::string& y);

}  // namespace mmafuzz
