// IEEE 754's addition as a formula.
#pragma once

#include "prove/formula.h"
#include "prove/formulas/numbers.h"

namespace mmafuzz::prove {

/// x + y of a format with infinities and NaN, rounded once. Every NaN result is `nan`. An exact zero of two addends of
/// unlike signs is +0, rounding down -0 (IEEE 754-2019, 6.3).
Expression ieee_add(const FormatFields& f, Rounding rounding, Expression x, Expression y, uint64_t nan);

/// An encoding of a wider format for a number of a narrower one, exactly. NaN becomes `nan`.
Expression widened(const FormatFields& to, const Number& x, uint64_t nan);

/// How an operation rounds, what its NaN is, and what becomes of subnormal results: kept, or zeros of their sign.
struct IeeeRules {
  FormatFields format;
  Rounding rounding = Rounding::nearest_even;
  uint64_t nan = 0;
  Subnormals subnormals = Subnormals::kept;
};

/// x + y rounded once, of any two numbers: an addition, or with a product an FMA. `stages`, if there are any, receive
/// its own.
Expression ieee_sum(const IeeeRules& rules, const Number& x, const Number& y, std::vector<Stage>* stages = nullptr);

Expression ieee_multiply(const IeeeRules& rules, const Number& x, const Number& y);

/// A number rounded once.
Expression ieee_rounded(const IeeeRules& rules, const Number& x);

}  // namespace mmafuzz::prove
