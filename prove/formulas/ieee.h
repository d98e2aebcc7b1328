// IEEE 754's operations as formulas.
#pragma once

#include "prove/formula.h"
#include "prove/formulas/numbers.h"

namespace mmafuzz::prove {

/// How an operation rounds, what its NaN is, what becomes of results beyond the greatest number and of subnormal ones.
struct IeeeRules {
  FormatFields format;
  Rounding rounding = Rounding::nearest_even;
  uint64_t nan = 0;
  Subnormals subnormals = Subnormals::kept;
  Overflow overflow = Overflow::by_rounding;
  Tininess tininess = Tininess::after;
};

/// x + y rounded once, of any two numbers: an addition, or with a product an FMA. An exact zero of two addends of
/// unlike signs is +0, rounding down -0 (IEEE 754-2019, 6.3). `stages`, if there are any, receive its own.
Expression ieee_sum(const IeeeRules& rules, const Number& x, const Number& y, std::vector<Stage>* stages = nullptr);

/// The same of two encodings of the rules' format.
Expression ieee_add(const IeeeRules& rules, Expression x, Expression y);

/// A number rounded once.
Expression ieee_rounded(const IeeeRules& rules, const Number& x);

/// The encoding of a number in a format that holds it; NaN becomes the format's own.
Expression widened(const FormatFields& to, const Number& x);

}  // namespace mmafuzz::prove
