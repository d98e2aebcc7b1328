// Infinities and NaNs of a multi-term sum, and the operand conventions that the kernels share.
#pragma once

#include "arithmetic/dot_model.h"
#include "arithmetic/ieee_operations.h"
#include "arithmetic/trace.h"

namespace mmafuzz {

// The functions of masks and exponents that texts of kernels call, in domains of one dot
// (arithmetic/kernels/README.md).
MMAFUZZ_HD constexpr bool any(bool mask) { return mask; }
MMAFUZZ_HD constexpr bool all(bool mask) { return mask; }
MMAFUZZ_HD constexpr uint64_t select(bool mask, uint64_t yes, uint64_t no) { return mask ? yes : no; }
MMAFUZZ_HD constexpr int greater_of(int x, int y) { return larger(x, y); }

/// Exponent that a zero term reads under ZeroRule::operand, whatever its format (MMA-Sim 2025, D1 and D2 of
/// docs/units.md).
inline constexpr int operand_rule_zero_exponent = -126;

/// Collects the special terms of one sum; order does not matter.
struct SpecialTerms {
  bool nan = false, plus_infinity = false, minus_infinity = false;

  MMAFUZZ_HD void add(NumberClass cls, bool negative) {
    nan |= cls == NumberClass::nan;
    if (cls == NumberClass::infinity) (negative ? minus_infinity : plus_infinity) = true;
  }
  MMAFUZZ_HD bool any() const { return nan || plus_infinity || minus_infinity; }
  /// The sum's encoding; only meaningful if any().
  MMAFUZZ_HD uint64_t result(const FormatFields& d, uint64_t nan_encoding) const {
    if (nan || (plus_infinity && minus_infinity)) return nan_encoding;
    return d.encode_infinity(minus_infinity);
  }
};

/// A NaN of format f as a quiet NaN of format d, with its sign and the leading bits of its payload.
MMAFUZZ_HD inline uint64_t quieted(const FormatFields& d, const FormatFields& f, uint64_t code) {
  const bool negative = (code & f.in_container(f.sign_bit())) != 0;
  const uint64_t payload = (code >> f.ignored_low_bits) & f.fraction_mask();
  const int up = d.fraction_bits - f.fraction_bits;
  return d.encode_infinity(negative) | d.in_container(up >= 0 ? payload << up : payload >> -up) |
         (d.encode_nan() & d.in_container(d.fraction_mask()));
}

/// Whether x * y is infinity * 0.
MMAFUZZ_HD inline bool is_invalid_product(const Number& x, const Number& y) {
  return (x.cls == NumberClass::infinity && y.cls == NumberClass::zero) ||
         (y.cls == NumberClass::infinity && x.cls == NumberClass::zero);
}

/// SpecialTerms for units that rank NaNs: first the NaN of a factor, then that of an invalid operation among products,
/// then c's NaN, then that of c's infinity against one of the products.
struct RankedSpecials {
  bool nan = false, invalid = false, plus_infinity = false, minus_infinity = false;

  MMAFUZZ_HD void add_product(const Number& x, const Number& y) {
    nan |= x.cls == NumberClass::nan || y.cls == NumberClass::nan;
    const bool x_infinite = x.cls == NumberClass::infinity, y_infinite = y.cls == NumberClass::infinity;
    invalid |= is_invalid_product(x, y);
    if (x_infinite || y_infinite) (x.negative != y.negative ? minus_infinity : plus_infinity) = true;
  }
  MMAFUZZ_HD uint64_t result(const DotModel& m, const FormatFields& c_format, const Number& c, uint64_t c_code) const {
    if (nan) return m.nan;
    if (invalid || (plus_infinity && minus_infinity)) return m.invalid_nan;
    if (c.cls == NumberClass::nan) return m.nan_of_c == NanOfC::quieted ? quieted(m.d, c_format, c_code) : m.nan;
    const bool c_infinite = c.cls == NumberClass::infinity;
    const bool plus = plus_infinity || (c_infinite && !c.negative),
               minus = minus_infinity || (c_infinite && c.negative);
    return plus && minus ? m.invalid_nan : m.d.encode_infinity(minus);
  }
};

/// What nan_result() needs of an operand.
struct NanOperand {
  bool is_nan = false, is_signalling = false;
  uint64_t quiet = 0;  ///< encoding of the NaN made quiet, in the operation's format
};

/// n, an operand of format f, for an operation in format d.
MMAFUZZ_HD inline NanOperand nan_operand(const FormatFields& d, const FormatFields& f, const Number& n, uint64_t code) {
  if (n.cls != NumberClass::nan) return {};
  // A format without a fraction has one NaN, which has no quiet bit.
  const bool is_signalling = f.fraction_bits > 0 && (code >> f.ignored_low_bits >> (f.fraction_bits - 1) & 1) == 0;
  return {true, is_signalling, quieted(d, f, code)};
}

/// The operand (0: a, 1: b, 2: c) at `place` 0 to 2 of the rule's order.
MMAFUZZ_HD constexpr int operand_at(NanFrom rule, int place) {
  switch (rule) {
    case NanFrom::a_c_b: return place == 0 ? 0 : 3 - place;
    case NanFrom::b_a_c: return place == 2 ? 2 : 1 - place;
    case NanFrom::b_c_a: return (place + 1) % 3;
    case NanFrom::c_a_b:
    case NanFrom::signalling_c_a_b:
    case NanFrom::signalling_c_as_bs: return (place + 2) % 3;
    case NanFrom::c_b_a: return 2 - place;
    case NanFrom::a_b_c:
    case NanFrom::constant: break;
  }
  return place;
}

/// The encoding of the NaN that an operation on a, b and c returns. `row_nan`: DotModel::nan.
MMAFUZZ_HD inline uint64_t nan_result(NanFrom rule, const NanOperand* abc, bool product_is_invalid, uint64_t row_nan) {
  if (rule == NanFrom::constant) return row_nan;
  if (signalling_first(rule)) {
    for (int place = 0; place < 3; ++place)
      if (const NanOperand& x = abc[operand_at(rule, place)]; x.is_signalling) return x.quiet;
    if (product_is_invalid) return row_nan;
  }
  for (int place = 0; place < 3; ++place)
    if (const NanOperand& x = abc[operand_at(rule, place)]; x.is_nan) return x.quiet;
  return row_nan;
}

/// A product as the kernels align it.
struct Product {
  NumberClass cls;  // no initializers: arrays of products are filled before they are read
  bool negative;
  bool zero;
  uint64_t significand;  ///< exact, at most 22 bits for every format of a matrix unit
  int exponent;          ///< weight of its last bit
  int scale_exponent;    ///< ea + eb under the row's ProductRule; of a zero product under ZeroRule::operand
};

/// An operand under the row's rule for low bits.
MMAFUZZ_HD inline Number decode_operand(const DotModel& m, const FormatFields& f, uint64_t encoding) {
  if (f.ignored_low_bits && m.low_bits != LowBits::ignored) {
    const uint64_t low = encoding & low_mask(f.ignored_low_bits);
    const uint64_t all_ones = uint64_t(f.top_exponent_field()) << f.fraction_bits << f.ignored_low_bits;
    const bool is_top = (encoding & all_ones) == all_ones;
    if (m.low_bits == LowBits::nan_payload && is_top && low) {
      Number nan;
      nan.cls = NumberClass::nan;
      return nan;
    }
    // cvt.rna.tf32: to nearest, ties away; a carry walks into the exponent and at last to infinity.
    if (m.low_bits == LowBits::rounded && !is_top && (low >> (f.ignored_low_bits - 1)))
      encoding += uint64_t{1} << f.ignored_low_bits;
  }
  return decode(f, encoding);
}

/// A number of format f as an operand, under the row's rule for subnormal ones.
MMAFUZZ_HD inline Number flushed_operand(const DotModel& m, const FormatFields& f, Number n) {
  if (flushes_operands(m, f) && n.subnormal && n.cls == NumberClass::finite) {
    n.cls = NumberClass::zero;
    n.significand = 0;
    n.negative &= keeps_flushed_sign(m.subnormals);
  }
  return n;
}

/// An operand under the row's low-bit and subnormal rules.
MMAFUZZ_HD_CALL inline Number read_operand(const DotModel& m, const FormatFields& f, uint64_t encoding) {
  return flushed_operand(m, f, decode_operand(m, f, encoding));
}

/// x * y of any classes, under the row's ProductRule.
MMAFUZZ_HD inline Product multiply(const DotModel& m, const Number& x, const Number& y) {
  Product p;
  if (x.cls == NumberClass::finite && y.cls == NumberClass::finite) [[likely]] {
    p.cls = NumberClass::finite;
    p.zero = false;
    p.negative = x.negative != y.negative;
    p.significand = x.significand * y.significand;
    p.exponent = x.exponent + y.exponent;
    p.scale_exponent = m.product == ProductRule::normalized ? p.exponent + bit_length(p.significand) - 1
                                                            : x.scale_exponent + y.scale_exponent;
    return p;
  }
  const Exact e = exact_product(to_exact(x), to_exact(y));
  p.cls = e.cls;
  p.negative = e.negative;
  p.significand = static_cast<uint64_t>(e.significand);
  p.exponent = e.exponent;
  p.zero = e.cls == NumberClass::zero;
  const bool x_zero = x.cls == NumberClass::zero, y_zero = y.cls == NumberClass::zero;
  p.scale_exponent = (x_zero ? operand_rule_zero_exponent : x.scale_exponent) +
                     (y_zero ? operand_rule_zero_exponent : y.scale_exponent);
  return p;
}

/// The scales of product i.
MMAFUZZ_HD inline Number scale_of_a(const DotModel& m, const DotOperands& in, int i) {
  return decode(m.scale_a, in.scale_a[i / m.scale_block]);
}
MMAFUZZ_HD inline Number scale_of_b(const DotModel& m, const DotOperands& in, int i) {
  return decode(m.scale_b, in.scale_b[i / m.scale_block]);
}

/// Product i, multiplied by its scales, which are powers of two.
MMAFUZZ_HD inline Product scaled_product(const DotModel& m, const DotOperands& in, int i) {
  Product p = multiply(m, read_operand(m, read_as(m, m.a), in.a[i]), read_operand(m, read_as(m, m.b), in.b[i]));
  if (m.scale_block == 0) return p;
  const Number x = scale_of_a(m, in, i), y = scale_of_b(m, in, i);
  if (x.cls == NumberClass::nan || y.cls == NumberClass::nan) {
    p.cls = NumberClass::nan;
  } else {
    p.exponent += x.scale_exponent + y.scale_exponent;
    p.scale_exponent += x.scale_exponent + y.scale_exponent;
  }
  return p;
}

/// Whether a product reaches 2^128, where CDNA2 and CDNA3 turn it into an infinity (docs/semantics.md 6, 7).
MMAFUZZ_HD inline bool overflows_fp32(const Product& p) {
  return p.cls == NumberClass::finite && p.exponent + bit_length(p.significand) > 128;
}

/// The least exponent at which a nonzero c is aligned: that of the row's chosen format.
MMAFUZZ_HD inline int least_exponent_of_c(const DotModel& m, const FormatFields& c_format) {
  return m.c_exponent == CExponent::fp32       ? ieee_fields(8, 23).emin()
         : m.c_exponent == CExponent::c_format ? c_format.subnormal_exponent()
                                               : m.d.emin();
}

/// c's alignment exponent: its own, bounded from below.
MMAFUZZ_HD inline int alignment_exponent_of_c(const DotModel& m, const FormatFields& c_format, const Number& c) {
  if (c.significand == 0) return operand_rule_zero_exponent;
  const int leading = c.exponent + bit_length(c.significand) - 1;
  return larger(leading, least_exponent_of_c(m, c_format)) - m.c_guard_bits;
}

/// significand * 2^exponent in units of 2^unit, cut toward zero; sets `lost` to whether a bit that is cut off was 1.
MMAFUZZ_HD inline uint64_t align(uint64_t significand, int exponent, int unit, bool& lost) {
  const int shift = exponent - unit;
  if (shift >= 0) {
    lost = false;
    return shift >= 64 ? 0 : significand << shift;
  }
  if (shift <= -64) {
    lost = significand != 0;
    return 0;
  }
  const uint64_t kept = significand >> -shift;
  lost = (kept << -shift) != significand;
  return kept;
}

/// align() of a number with a sign, cut toward minus infinity.
MMAFUZZ_HD inline int64_t align_floor(bool negative, uint64_t significand, int exponent, int unit, bool& lost) {
  const int64_t kept = static_cast<int64_t>(align(significand, exponent, unit, lost));
  return negative ? -kept - (lost ? 1 : 0) : kept;
}

/// A product or c as a trace shows it before alignment.
MMAFUZZ_HD inline Addend addend_of(const Product& p, int index) {
  return make_addend(Addend::Source::product, index, p.cls, p.negative, p.significand, p.exponent, p.scale_exponent);
}
MMAFUZZ_HD inline Addend addend_of(const Number& n, Addend::Source source, int index) {
  return make_addend(source, index, n.cls, n.negative, n.significand, n.exponent, n.scale_exponent);
}

/// Sign of an exactly zero sum under the row's rule.
MMAFUZZ_HD inline bool zero_is_negative(const DotModel& m, bool all_negative, bool all_positive) {
  switch (m.zero_sign) {
    case ZeroSign::any_negative: return !all_positive;
    case ZeroSign::ieee: return zero_sum_sign(all_negative, all_positive, m.output_rounding);
    case ZeroSign::positive: break;
  }
  return false;
}

/// A rounded result under the row's subnormal rule. Where that keeps the sign, a result is flushed if r has the
/// underflow flag, too.
MMAFUZZ_HD inline uint64_t flush_result(const DotModel& m, const Rounded& r) {
  if (!flushes_results(m, m.d)) return r.encoding;
  const Number n = decode(m.d, r.encoding);
  const bool tiny = keeps_flushed_sign(m.subnormals) && (r.flags & flag::underflow);
  if (!tiny && !n.subnormal) return r.encoding;
  return m.d.encode_zero(n.negative && m.underflow_sign == UnderflowSign::kept);
}

/// Rounds sum * 2^unit to the row's output, under its overflow, sign and subnormal rules. OutputVia::fp32_nearest is
/// ignored here.
MMAFUZZ_HD_CALL inline Rounded round_at_once(const DotModel& m, int64_t sum, int unit, bool zero_negative) {
  uint64_t magnitude = magnitude_of(sum);
  FormatFields narrow = m.d;
  const int dropped = m.d.fraction_bits - m.output_fraction_bits;
  narrow.fraction_bits = static_cast<uint8_t>(m.output_fraction_bits);
  narrow.width = static_cast<uint8_t>(m.d.width - dropped);
  int exponent = unit;
  const bool zero = magnitude == 0;
  if (m.output_via == OutputVia::fp32_truncated && !zero) {  // only the second rounding handles overflow
    constexpr FormatFields fp32 = ieee_fields(8, 23);
    const int leading = exponent + bit_length(magnitude) - 1;
    const int drop = larger(leading, fp32.emin()) - fp32.fraction_bits - exponent;
    if (drop > 0) {
      magnitude = drop > 63 ? 0 : magnitude >> drop;
      exponent += drop;
    }
  }
  Rounded r = round_once(narrow, zero ? zero_negative : sum < 0, magnitude, exponent,
                         {.rounding = m.output_rounding, .overflow = m.overflow});
  r.encoding <<= dropped;
  const uint64_t sign = m.d.in_container(m.d.sign_bit());
  const bool underflowed_to_zero = (r.encoding & ~sign) == 0 && !zero;
  if (underflowed_to_zero && m.underflow_sign == UnderflowSign::positive) r.encoding = 0;
  r.encoding = flush_result(m, r);
  return r;
}

/// Rounds sum * 2^unit as the row says.
MMAFUZZ_HD inline Rounded round_output(const DotModel& m, int64_t sum, int unit, bool zero_negative) {
  if (m.output_via != OutputVia::fp32_nearest || sum == 0) return round_at_once(m, sum, unit, zero_negative);
  DotModel first = m;
  first.d = ieee_fields(8, 23);
  first.output_fraction_bits = first.d.fraction_bits;
  first.output_rounding = Rounding::nearest_even;
  const Number n = decode(first.d, round_at_once(first, sum, unit, zero_negative).encoding);
  return convert_number(m.d, n, {.rounding = m.output_rounding, .overflow = m.overflow});
}

}  // namespace mmafuzz
