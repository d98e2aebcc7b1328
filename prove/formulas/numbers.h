// Numbers in formulas: what an encoding stands for, and rounding to an encoding (docs/semantics.md 1.2, 1.6, 1.7).
#pragma once

#include "arithmetic/dot_model.h"
#include "prove/expression.h"

namespace mmafuzz::prove {

/// (-1)^negative * significand * 2^(exponent - fraction_bits), unless one of the three bits below says otherwise.
struct Number {
  Expression negative;     ///< 1 bit
  Expression exponent;     ///< two's complement; a subnormal's is the least exponent of its format
  Expression significand;  ///< unsigned; its leading bit may be 0
  int fraction_bits = 0;
  Bits greatest_significand;       ///< no significand is above it
  Expression zero, infinite, nan;  ///< 1 bit each
};

/// The number of an encoding, with an exponent of `exponent_width` bits. Covers floating-point formats without Tesla's
/// subnormals.
Number decode(const FormatFields& f, Expression encoding, int exponent_width);

/// A finite number whose exponent is max(floor(log2|x|), least): the leading bit moves up as far as that allows.
Number normalized(const Number& x, int least);

/// The product of two numbers, not normalized; its exponent is the sum of both.
Number product_of(const Number& x, const Number& y);

/// How a sum becomes an encoding.
struct RoundTo {
  FormatFields format;
  int fraction_bits = 0;  ///< of the result, at most the format's
  Rounding rounding = Rounding::nearest_even;
  Overflow overflow = Overflow::by_rounding;
  UnderflowSign underflow_sign = UnderflowSign::kept;
};

/// A nonzero magnitude * 2^unit rounded once. `unit` is two's complement. `sticky` stands for a positive part below
/// the last bit of the magnitude, which must then have at least fraction_bits + 3 significant bits.
Expression round_to(const RoundTo& to, Expression negative, Expression magnitude, Expression unit, Expression sticky);

/// The number of zeros before the first one of a nonzero vector, and the vector shifted left by it.
struct LeadingZeros {
  Expression count;  ///< `width` bits
  Expression shifted;
};
LeadingZeros leading_zeros(Expression x, int width);

/// Bits of two's complement that hold every number of least..greatest.
int signed_width(int64_t least, int64_t greatest);

}  // namespace mmafuzz::prove
