// IEEE 754's operations as formulas.
#pragma once

#include "prove/formula.h"
#include "prove/formulas/numbers.h"

namespace mmafuzz::prove {

/// How an operation rounds, the encoding of its NaN, and its rules for overflow and subnormal results.
struct IeeeRules {
  FormatFields format;
  Rounding rounding = Rounding::nearest_even;
  uint64_t nan = 0;
  Subnormals subnormals = Subnormals::kept;
  Overflow overflow = Overflow::by_rounding;
  Tininess tininess = Tininess::after;
};

/// x + y rounded once, for any two numbers: an addition, or an FMA if one of them is a product. An exact zero of two
/// addends of unlike signs is +0, but -0 where the rounding is down (IEEE 754-2019, 6.3). The stages of the sum are
/// appended to `stages` unless it is nullptr.
Expression ieee_sum(const IeeeRules& rules, const Number& x, const Number& y, std::vector<Stage>* stages = nullptr);

/// The same of two encodings of the rules' format.
Expression ieee_add(const IeeeRules& rules, Expression x, Expression y);

/// The encoding of a number, rounded once.
Expression ieee_rounded(const IeeeRules& rules, const Number& x);

/// The encoding of a number in a format that holds it exactly; a NaN becomes the format's own.
Expression widened(const FormatFields& to, const Number& x);

}  // namespace mmafuzz::prove
