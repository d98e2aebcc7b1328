// Numbers in formulas: decoding, aligning, and rounding to an encoding (docs/semantics.md 1.1, 1.2, 1.6, 1.7).
#pragma once

#include <optional>

#include "arithmetic/dot_model.h"
#include "prove/expression.h"

namespace mmafuzz::prove {

/// (-1)^negative * significand * 2^(exponent - fraction_bits), unless `zero`, `infinite` or `nan` is 1.
struct Number {
  Expression negative;     ///< 1 bit
  Expression exponent;     ///< two's complement; a subnormal's is the least exponent of its format
  Expression significand;  ///< unsigned; its leading bit may be 0
  int fraction_bits = 0;
  Bits greatest_significand;       ///< an upper bound of the significand
  Expression zero, infinite, nan;  ///< 1 bit each
  /// The only exponent with which the leading bit of the significand may be 0; set by decode() alone.
  std::optional<int> subnormal_exponent;
};

/// Holds the exponents of fp32 numbers, of their products and of scales.
inline constexpr int fp32_exponent_width = 12;

/// The number that an encoding stands for. Its exponent gets `exponent_width` bits.
Number decode(const FormatFields& f, Expression encoding, int exponent_width);
/// The same, with an exponent whose width holds the difference of two exponents.
inline Number decode(const FormatFields& f, Expression encoding) { return decode(f, encoding, f.exponent_bits + 3); }

/// What decode() gives, under a row's rules for the low bits of tf32, subnormal operands and zeros.
Number read_operand(const DotModel& model, const FormatFields& f, Expression encoding, int exponent_width);
/// Only the row's rule for subnormal operands: x, or a zero where the rule flushes x. `f` is the format of x.
Number flushed_operand(const DotModel& m, const FormatFields& f, Number x);

/// Whether a finite number is normal and in [1, 2) or (-2, -1].
inline Expression in_first_binade(const Number& n) {
  return is_zero(n.exponent) & bit(n.significand, n.significand.width() - 1);
}

/// The same number with the leading bit of its significand 1, so that its exponent is floor(log2|x|). For a zero,
/// exponent and significand mean nothing.
Number normalized(const Number& x);

/// The product of two numbers, not normalized; its exponent is the sum of both.
Number product_of(const Number& x, const Number& y);

Expression zero_of(const FormatFields& f, Expression negative);
Expression infinity_of(const FormatFields& f, Expression negative);

/// Whether a NaN, +infinity or -infinity is among the terms of a sum: 1 bit each.
struct SpecialTerms {
  Expression nan, up, down;
  Expression any() const { return nan | up | down; }
  Expression result(const FormatFields& d, uint64_t encoded_nan) const;  ///< the sum's encoding where any() is 1
};
SpecialTerms specials_of(Expressions& table, const std::vector<Number>& terms);

/// Whether x * y is infinity * 0.
Expression is_invalid_product(const Number& x, const Number& y);

/// A NaN of f as a quiet NaN of d. The sign stays, and so do the highest bits of the payload.
Expression quieted(const FormatFields& d, const FormatFields& f, Expression code);

/// An operand whose NaN may become the result: whether it is a NaN, whether a signalling one (1 bit each), and this NaN
/// made quiet in d's format. An operand that the operation does not have is NanTerm{}.
struct NanTerm {
  Expression nan, signalling, quiet;
};
/// The operand n of format f, whose encoding is `code`, for results of format d.
NanTerm nan_term(const FormatFields& d, const FormatFields& f, const Number& n, Expression code);
/// The encoding of a * b + c where that is a NaN. `abc` are three operands; `own_nan` is the result where none of them
/// gives its NaN.
Expression nan_result(NanFrom rule, const NanTerm* abc, Expression product_is_invalid, Expression own_nan);

/// The sign of a sum that is exactly zero: 1 for -0.
Expression zero_is_negative(const DotModel& model, Expressions& table, const std::vector<Number>& terms);

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

/// The encoding of magnitude * 2^unit, rounded once, for a nonzero magnitude. `unit` is in two's complement.
Expression round_to(const RoundTo& to, Expression negative, Expression magnitude, Expression unit);

/// The number of leading zeros of a nonzero vector, and the vector shifted left by this number.
struct LeadingZeros {
  Expression count;  ///< `width` bits
  Expression shifted;
};
LeadingZeros leading_zeros(Expression x, int width);

/// The least width, at least 2, in which two's complement holds every number of least..greatest.
int signed_width(int64_t least, int64_t greatest);

// An addend as a sum aligns it: in whole units of 2^(greatest - kept_bits). Its exponent must not be above `greatest`.
/// The magnitude, rounded toward zero, as wide as it can become.
Expression truncated_magnitude(const Number& x, Expression greatest, int kept_bits);
/// The number, rounded toward minus infinity, in two's complement of `width` bits.
Expression rounded_down(const Number& x, Expression greatest, int kept_bits, int width);
/// The magnitude, rounded to odd, in `width` bits.
Expression odd_magnitude(const Number& x, Expression greatest, int kept_bits, int width);

/// A width in which two's complement holds every exponent of a row and the differences of two.
int exponent_width_of(const DotModel& model);

Expression with_sign(Expression negative, Expression magnitude);  ///< in two's complement
Expression magnitude_of(Expression x);                            ///< of two's complement
/// x shifted left or right by an unsigned amount, whose width may be another; the result has the width of x.
Expression moved_up(Expression x, Expression amount);
Expression moved_down(Expression x, Expression amount);

}  // namespace mmafuzz::prove
