// Numbers in formulas: what an encoding stands for, and rounding to an encoding (docs/semantics.md 1.1, 1.2, 1.6, 1.7).
#pragma once

#include <optional>

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
  std::optional<int> least;        ///< of a number of a format: the exponent of those whose leading bit is 0
};

/// The number of an encoding, with an exponent of `exponent_width` bits.
Number decode(const FormatFields& f, Expression encoding, int exponent_width);
/// The same with bits enough for the difference of two exponents.
inline Number decode(const FormatFields& f, Expression encoding) { return decode(f, encoding, f.exponent_bits + 3); }

/// The same as a row reads it: under its rules for the low bits of tf32, subnormal operands and zeros.
Number read_operand(const DotModel& model, const FormatFields& f, Expression encoding, int exponent_width);
/// What read_operand() makes of a number's subnormal values.
Number flushed_operand(const DotModel& m, const FormatFields& f, Number x);

/// A finite number whose exponent is floor(log2|x|); of zero it says nothing.
Number normalized(const Number& x);

/// The product of two numbers, not normalized; its exponent is the sum of both.
Number product_of(const Number& x, const Number& y);

Expression zero_of(const FormatFields& f, Expression negative);
Expression infinity_of(const FormatFields& f, Expression negative);

/// Infinities and NaNs of a sum's terms.
struct SpecialTerms {
  Expression nan, up, down;  ///< 1 bit each: any of this kind
  Expression any() const { return nan | up | down; }
  Expression result(const FormatFields& d, uint64_t encoded_nan) const;  ///< where there are any
};
SpecialTerms specials_of(Expressions& in, const std::vector<Number>& terms);

/// Infinity * 0.
Expression is_invalid_product(const Number& x, const Number& y);

/// A NaN of f as a quiet one of d: the sign stays, and so do the payload's first bits.
Expression quieted(const FormatFields& d, const FormatFields& f, Expression code);

/// An operand of an IEEE operation where its NaN may be the result (NanFrom). None: it is no NaN, no signalling one.
struct NanTerm {
  Expression nan, signalling, quiet;
};
/// A number of f and its encoding, in an operation whose results are of d.
NanTerm nan_term(const FormatFields& d, const FormatFields& f, const Number& n, Expression code);
/// The NaN that an operation on a, b and c gives where its result is one.
Expression nan_result(NanFrom rule, const NanTerm* abc, Expression product_is_invalid, Expression own);

/// Whether a sum that is exactly zero is negative.
Expression zero_is_negative(const DotModel& model, Expressions& in, const std::vector<Number>& terms);

/// How a sum becomes an encoding.
struct RoundTo {
  FormatFields format;
  int fraction_bits = 0;  ///< of the result, at most the format's
  Rounding rounding = Rounding::nearest_even;
  Overflow overflow = Overflow::by_rounding;
  UnderflowSign underflow_sign = UnderflowSign::kept;
  Subnormals subnormals = Subnormals::kept;  ///< of results
  Tininess tininess = Tininess::after;
};

/// The row's rule for subnormal results.
constexpr Subnormals subnormals_of_results(const DotModel& m) {
  return m.flushed == FlushedNumbers::operands ? Subnormals::kept : m.subnormals;
}

/// A nonzero magnitude * 2^unit rounded once. `unit` is two's complement.
Expression round_to(const RoundTo& to, Expression negative, Expression magnitude, Expression unit);

/// The number of zeros before the first one of a nonzero vector, and the vector shifted left by it.
struct LeadingZeros {
  Expression count;  ///< `width` bits
  Expression shifted;
};
LeadingZeros leading_zeros(Expression x, int width);

/// Bits of two's complement that hold every number of least..greatest.
int signed_width(int64_t least, int64_t greatest);

/// The magnitude of a number in units of 2^(greatest - kept_bits), cut toward zero; no exponent is above `greatest`.
Expression cut_below(const Number& x, Expression greatest, int kept_bits);

/// The same toward minus infinity, as a number of two's complement.
Expression floored_below(const Number& x, Expression greatest, int kept_bits, int width);

/// The same magnitude rounded to odd.
Expression odd_below(const Number& x, Expression greatest, int kept_bits, int width);

/// Bits that hold every exponent of a row and their differences.
int exponent_width_of(const DotModel& model);

Expression with_sign(Expression negative, Expression magnitude);
Expression magnitude_of(Expression x);  ///< of two's complement
/// x shifted by an amount of any width.
Expression moved_up(Expression x, Expression by);
Expression moved_down(Expression x, Expression by);

}  // namespace mmafuzz::prove
