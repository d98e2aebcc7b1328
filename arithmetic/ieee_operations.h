// IEEE 754 operations on decoded numbers: addition, multiplication, fused multiply-add, division, square root,
// remainder, comparison and conversion. Each is rounded once to any format (operands may be of other formats) and
// raises the five flags and the denormal-operand flag.
#pragma once

#include "arithmetic/round.h"

namespace mmafuzz {

/// An exact product or operand: (-1)^negative * significand * 2^exponent.
struct Exact {
  NumberClass cls = NumberClass::zero;
  bool negative = false;
  uint128 significand = 0;
  int exponent = 0;
};

MMAFUZZ_HD inline Exact to_exact(const Number& n) { return {n.cls, n.negative, n.significand, n.exponent}; }

/// Exact product; NaN for NaN operands and for infinity * 0. Significands together must fit in 128 bits.
MMAFUZZ_HD inline Exact exact_product(const Exact& x, const Exact& y) {
  Exact p;
  p.negative = x.negative != y.negative;
  const bool any_nan = x.cls == NumberClass::nan || y.cls == NumberClass::nan;
  const bool any_infinity = x.cls == NumberClass::infinity || y.cls == NumberClass::infinity;
  const bool any_zero = x.cls == NumberClass::zero || y.cls == NumberClass::zero;
  if (any_nan || (any_infinity && any_zero)) {
    p.cls = NumberClass::nan;
  } else if (any_infinity) {
    p.cls = NumberClass::infinity;
  } else if (!any_zero) {
    p.cls = NumberClass::finite;
    p.significand = x.significand * y.significand;
    p.exponent = x.exponent + y.exponent;
  }
  return p;
}
/// The exact product of two encodings.
MMAFUZZ_HD inline Exact exact_product(const FormatFields& f, uint64_t x, const FormatFields& g, uint64_t y) {
  return exact_product(to_exact(decode(f, x)), to_exact(decode(g, y)));
}

/// The product of two products, whose significands together may exceed 128 bits (two scales beside two operands: 212
/// bits in fp64). What is longer is rounded to odd at 128 bits: rounding that once more to 64 bits or fewer, also after
/// an addition of a number of 53 bits, gives what the exact product gives (Boldo and Melquiond, IEEE Trans. Comput. 57,
/// 2008).
MMAFUZZ_HD inline Exact product_to_odd(const Exact& x, const Exact& y) {
  if (x.cls != NumberClass::finite || y.cls != NumberClass::finite) return exact_product(x, y);
  const WideInt<4> full = full_product(x.significand, y.significand);
  const int drop = larger(0, full.length() - 128);
  Exact p{NumberClass::finite, x.negative != y.negative, 0, x.exponent + y.exponent + drop};
  p.significand =
      uint128{full.bits_from(drop + 64)} << 64 | full.bits_from(drop) | (drop > 0 && full.any_below(drop) ? 1 : 0);
  return p;
}

/// A subnormal operand is a zero of its sign under ftz=1, as with CUDA's -ftz=true.
MMAFUZZ_HD inline Number flushed_operand(const FormatFields& f, Number n, bool flush) {
  if (flush && n.subnormal) {
    if (f.has(policy::zero_positive)) n.negative = false;
    n.cls = NumberClass::zero;
    n.significand = 0;
    n.subnormal = false;
  }
  return n;
}

/// Under ftz=1 a result that is subnormal once rounded, or that underflowed and was rounded to the least normal number,
/// is a zero of its sign.
MMAFUZZ_HD inline Rounded flushed_result(const FormatFields& f, Rounded r, bool flush) {
  const bool underflowed = (r.flags & flag::underflow) != 0 && f.subnormals != SubnormalRule::absent;
  if (flush && (underflowed || decode(f, r.encoding).subnormal)) {
    r.encoding = f.encode_zero(r.negative);
    r.flags |= flag::underflow | (f.has(policy::no_inexact) ? 0 : flag::inexact);
  }
  return r;
}

/// Rounds an exact finite or zero value once.
MMAFUZZ_HD_CALL inline Rounded round_exact(const FormatFields& f, const Exact& x, const RoundingRule& rule) {
  const int drop = larger(0, bit_length128(x.significand) - 64);
  const bool sticky = drop > 0 && (x.significand & ((uint128{1} << drop) - 1)) != 0;
  return round_once(f, x.negative, static_cast<uint64_t>(x.significand >> drop), x.exponent + drop, rule, sticky);
}

MMAFUZZ_HD inline Rounded rounded_nan(const FormatFields& f, bool invalid) {
  Rounded r;
  r.encoding = f.encode_nan();
  r.flags = invalid ? flag::invalid : 0;
  return r;
}

/// Infinity, in every rounding mode. Under Overflow::saturate, and in formats without specials (CFloat, MX), it is the
/// greatest number, in others without infinity NaN (E4M3, fnuz). -infinity in a format without sign is a negative
/// number.
MMAFUZZ_HD inline Rounded rounded_infinity(const FormatFields& f, bool negative, const RoundingRule& rule) {
  if (negative && !f.has_sign()) {
    if (!f.has(policy::negative_absolute)) return rounded_negative_unsigned(f, rule);
    negative = false;
  }
  Rounded r;
  r.negative = negative;
  if (f.has_infinity() && rule.overflow != Overflow::saturate) {
    r.encoding = f.encode_infinity(negative);
  } else {
    r.flags = f.has(policy::infinity_invalid) ? flag::invalid : flag::overflow | flag::inexact;
    RoundingRule nearest = rule;
    nearest.rounding = Rounding::nearest_even;
    r.encoding = detail::overflowed(f, negative, nearest);
  }
  return r;
}

/// Rounds an exact value of any class once.
MMAFUZZ_HD inline Rounded round_any(const FormatFields& f, const Exact& x, const RoundingRule& rule) {
  if (x.cls == NumberClass::nan) return rounded_nan(f, false);
  if (x.cls == NumberClass::infinity) return rounded_infinity(f, x.negative, rule);
  return round_exact(f, x, rule);
}

/// x + y rounded once. A finite addend may have any exponent of a product of fp64 numbers.
MMAFUZZ_HD_CALL inline Rounded add_exact(const FormatFields& f, const Exact& x, const Exact& y,
                                         const RoundingRule& rule) {
  if (x.cls == NumberClass::nan || y.cls == NumberClass::nan) return rounded_nan(f, false);
  if (x.cls == NumberClass::infinity || y.cls == NumberClass::infinity) {
    const bool both = x.cls == y.cls;
    if (both && x.negative != y.negative) return rounded_nan(f, true);
    return rounded_infinity(f, x.cls == NumberClass::infinity ? x.negative : y.negative, rule);
  }
  if (x.significand == 0 && y.significand == 0) {
    const bool negative = zero_sum_sign(x.negative && y.negative, !x.negative && !y.negative, rule.rounding);
    return rounded_zero(f, negative);
  }
  if (x.significand == 0) return round_exact(f, y, rule);
  if (y.significand == 0) return round_exact(f, x, rule);

  // An addend whose leading bit lies more than 70 bits below the other's last bit only matters as a sticky bit, so that
  // any value there can replace it: 70 is more than the greatest precision of a format, 53, and a borrow. Then the 384
  // bits of WideInt<6> suffice.
  constexpr int far = 70;
  const Exact& high = x.exponent + bit_length128(x.significand) >= y.exponent + bit_length128(y.significand) ? x : y;
  Exact low = &high == &x ? y : x;
  if (low.exponent + bit_length128(low.significand) < high.exponent - far) {
    low.significand = 1;
    low.exponent = high.exponent - far - 2;
  }
  const int base = smaller(high.exponent, low.exponent);
  const bool zero_negative = zero_sum_sign(/*all_negative=*/false, /*all_positive=*/false, rule.rounding);
  const int top =
      larger(high.exponent + bit_length128(high.significand), low.exponent + bit_length128(low.significand));
  if (top - base < 126) {  // the sum fits in 128 bits: always so of two fp32 numbers, not of a product and c
    const uint128 upper = high.significand << (high.exponent - base), lower = low.significand << (low.exponent - base);
    Exact sum{NumberClass::finite, high.negative, high.negative == low.negative ? upper + lower : upper - lower, base};
    if (upper < lower && high.negative != low.negative) {
      sum.significand = lower - upper;
      sum.negative = low.negative;
    }
    if (sum.significand == 0) return rounded_zero(f, zero_negative);
    return round_exact(f, sum, rule);
  }
  WideInt<6> sum;
  sum.add_shifted(high.negative, high.significand, high.exponent - base);
  sum.add_shifted(low.negative, low.significand, low.exponent - base);
  return round_wide(f, sum, base, zero_negative, rule);
}

/// The flags that an operand raises in any operation.
MMAFUZZ_HD inline uint8_t operand_flags(const Number& n) {
  return (n.subnormal ? flag::denormal_operand : 0) | (n.signaling ? flag::invalid : 0);
}

/// The flags of all operands and of the rounded result, under the policies of the result's format f. NaN operands,
/// invalid operations and divisions by zero suppress the denormal-operand flag, as on x86 (Intel SDM vol. 1, 4.9.2).
MMAFUZZ_HD inline uint8_t merged_flags(const FormatFields& f, uint8_t operands, uint8_t result, bool any_nan) {
  uint8_t all = operands | result;
  if (any_nan && f.has(policy::any_nan_invalid)) all |= flag::invalid;
  if (f.has(policy::no_inexact)) all &= static_cast<uint8_t>(~flag::inexact);
  if (any_nan || (all & (flag::invalid | flag::divide_by_zero))) all &= static_cast<uint8_t>(~flag::denormal_operand);
  return all;
}

MMAFUZZ_HD_CALL inline Rounded ieee_add(const FormatFields& f, const Number& x, const Number& y,
                                        const RoundingRule& rule) {
  Rounded r = add_exact(f, to_exact(x), to_exact(y), rule);
  const bool any_nan = x.cls == NumberClass::nan || y.cls == NumberClass::nan;
  r.flags = merged_flags(f, operand_flags(x) | operand_flags(y), r.flags, any_nan);
  return r;
}

MMAFUZZ_HD_CALL inline Rounded ieee_multiply(const FormatFields& f, const Number& x, const Number& y,
                                             const RoundingRule& rule) {
  const Exact p = exact_product(to_exact(x), to_exact(y));
  const bool any_nan = x.cls == NumberClass::nan || y.cls == NumberClass::nan;
  Rounded r = p.cls == NumberClass::nan        ? rounded_nan(f, !any_nan)
              : p.cls == NumberClass::infinity ? rounded_infinity(f, p.negative, rule)
                                               : round_exact(f, p, rule);
  r.flags = merged_flags(f, operand_flags(x) | operand_flags(y), r.flags, any_nan);
  return r;
}

/// x * y + z rounded once (IEEE 754-2019, 5.4.1 fusedMultiplyAdd). Infinity * 0 + a quiet NaN raises nothing, as on
/// x86; 7.2 leaves that open.
MMAFUZZ_HD_CALL inline Rounded ieee_fma(const FormatFields& f, const Number& x, const Number& y, const Number& z,
                                        const RoundingRule& rule) {
  const Exact p = exact_product(to_exact(x), to_exact(y));
  const bool factor_nan = x.cls == NumberClass::nan || y.cls == NumberClass::nan;
  const bool any_nan = factor_nan || z.cls == NumberClass::nan;
  Rounded r;
  if (any_nan || p.cls == NumberClass::nan) {
    const bool product_invalid = p.cls == NumberClass::nan && !factor_nan;
    r = rounded_nan(f, product_invalid && z.cls != NumberClass::nan);
  } else {
    r = add_exact(f, p, to_exact(z), rule);
  }
  r.flags = merged_flags(f, operand_flags(x) | operand_flags(y) | operand_flags(z), r.flags, any_nan);
  return r;
}

/// x / y rounded once (IEEE 754-2019, 5.4.1 division).
MMAFUZZ_HD_CALL inline Rounded ieee_divide(const FormatFields& f, const Number& x, const Number& y,
                                           const RoundingRule& rule) {
  const bool any_nan = x.cls == NumberClass::nan || y.cls == NumberClass::nan;
  const bool negative = x.negative != y.negative;
  Rounded r;
  if (any_nan || (x.cls == y.cls && x.cls != NumberClass::finite)) {  // 0/0 and inf/inf
    r = rounded_nan(f, !any_nan);
  } else if (x.cls == NumberClass::infinity) {
    r = rounded_infinity(f, negative, rule);
  } else if (y.cls == NumberClass::zero) {
    r = rounded_infinity(f, negative, rule);
    r.flags = flag::divide_by_zero;
  } else if (x.cls == NumberClass::zero || y.cls == NumberClass::infinity) {
    r = rounded_zero(f, negative);
  } else {
    // A quotient of 63 or 64 bits plus a sticky remainder. The shift is 0 to 126.
    const int shift = 63 - bit_length(x.significand) + bit_length(y.significand);
    const uint128 dividend = uint128{x.significand} << shift;
    r = round_once(f, negative, static_cast<uint64_t>(dividend / y.significand), x.exponent - y.exponent - shift, rule,
                   dividend % y.significand != 0);
  }
  r.flags = merged_flags(f, operand_flags(x) | operand_flags(y), r.flags, any_nan);
  return r;
}

/// The greatest integer whose square is at most x.
MMAFUZZ_HD inline uint64_t integer_root(uint128 x) {
  uint64_t root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const uint64_t trial = root | (uint64_t{1} << bit);
    if (uint128{trial} * trial <= x) root = trial;
  }
  return root;
}

/// Square root rounded once (IEEE 754-2019, 5.4.1 squareRoot); sqrt(-0) = -0.
MMAFUZZ_HD_CALL inline Rounded ieee_square_root(const FormatFields& f, const Number& x, const RoundingRule& rule) {
  Rounded r;
  if (x.cls == NumberClass::nan) {
    r = rounded_nan(f, false);
  } else if (x.cls == NumberClass::zero) {
    r = rounded_zero(f, x.negative);
  } else if (x.negative) {
    r = rounded_nan(f, true);
  } else if (x.cls == NumberClass::infinity) {
    r = rounded_infinity(f, false, rule);
  } else {
    int shift = 126 - bit_length128(x.significand);  // radicand in [2^124, 2^126): a root of 63 bits
    if ((x.exponent - shift) % 2 != 0) --shift;
    const uint128 radicand = uint128{x.significand} << shift;
    const uint64_t root = integer_root(radicand);
    r = round_once(f, false, root, (x.exponent - shift) / 2, rule, uint128{root} * root != radicand);
  }
  r.flags = merged_flags(f, operand_flags(x), r.flags, x.cls == NumberClass::nan);
  return r;
}

/// IEEE remainder: x - y * n, n the integer nearest to x / y, ties to even (IEEE 754-2019, 5.3.1). Always exact.
MMAFUZZ_HD_CALL inline Rounded ieee_remainder(const FormatFields& f, const Number& x, const Number& y,
                                              const RoundingRule& rule) {
  const bool any_nan = x.cls == NumberClass::nan || y.cls == NumberClass::nan;
  Rounded r;
  if (any_nan || x.cls == NumberClass::infinity || y.cls == NumberClass::zero) {
    r = rounded_nan(f, !any_nan);
  } else if (x.cls == NumberClass::zero || y.cls == NumberClass::infinity || y.exponent - x.exponent > 64) {
    r = round_once(f, x.negative, x.significand, x.exponent, rule);  // |x| is below |y| / 2
  } else {
    // Both in units of the lower exponent. Where x's exponent lies `higher` bits above y's, x is reduced 32 bits at a
    // time; only the last bit of the quotient is needed.
    int higher = x.exponent - y.exponent;
    const uint128 divisor = higher >= 0 ? uint128{y.significand} : uint128{y.significand} << -higher;
    uint128 quotient = x.significand / divisor, rest = x.significand % divisor;
    while (higher > 0) {
      const int step = smaller(higher, 32);
      quotient = (rest << step) / divisor;
      rest = (rest << step) % divisor;
      higher -= step;
    }
    bool negative = x.negative;
    const uint128 complement = divisor - rest;
    if (rest > complement || (rest == complement && (quotient & 1))) {
      rest = complement;
      negative = !negative;
    }
    r = round_exact(f, {NumberClass::finite, rest == 0 ? x.negative : negative, rest, smaller(x.exponent, y.exponent)},
                    rule);
  }
  r.flags = merged_flags(f, operand_flags(x) | operand_flags(y), r.flags, any_nan);
  return r;
}

/// The result of comparing two numbers; `unordered` where one is NaN.
enum class Order : uint8_t { less, equal, greater, unordered };

MMAFUZZ_HD inline Order ieee_order(const Number& x, const Number& y) {
  if (x.cls == NumberClass::nan || y.cls == NumberClass::nan) return Order::unordered;
  // Infinities rank above every number, zeros below; then the weight of the leading bit and the bits from there on
  // decide.
  const auto magnitude = [](const Number& n, uint64_t& bits) {
    bits = n.cls == NumberClass::finite ? n.significand << (64 - bit_length(n.significand)) : 0;
    return n.cls == NumberClass::infinity ? 1 << 20
           : n.cls == NumberClass::zero   ? -(1 << 20)
                                          : n.exponent + bit_length(n.significand);
  };
  const bool both_zero = x.cls == NumberClass::zero && y.cls == NumberClass::zero;
  if (both_zero) return Order::equal;
  if (x.negative != y.negative) return x.negative ? Order::less : Order::greater;
  uint64_t x_bits, y_bits;
  const int x_rank = magnitude(x, x_bits), y_rank = magnitude(y, y_bits);
  if (x_rank == y_rank && x_bits == y_bits) return Order::equal;
  const bool smaller_magnitude = x_rank != y_rank ? x_rank < y_rank : x_bits < y_bits;
  return smaller_magnitude != x.negative ? Order::less : Order::greater;
}

/// The result, 1 or +0 of the format, of a comparison of x and y whose truth the caller knows. `signaling`: every NaN
/// operand raises invalid, otherwise only signaling ones do.
MMAFUZZ_HD inline Rounded ieee_comparison(const FormatFields& f, const Number& x, const Number& y, bool truth,
                                          bool signaling) {
  const bool any_nan = x.cls == NumberClass::nan || y.cls == NumberClass::nan;
  Rounded r = round_once(f, /*negative=*/false, truth ? 1 : 0, /*exponent=*/0);
  r.flags = merged_flags(f, operand_flags(x) | operand_flags(y), any_nan && signaling ? flag::invalid : 0, any_nan);
  return r;
}

/// Conversion between formats, rounded once. NaN gives the destination's canonical quiet NaN, or its greatest number
/// with the invalid flag where it has none.
MMAFUZZ_HD_CALL inline Rounded convert_number(const FormatFields& to, const Number& x, const RoundingRule& rule) {
  Rounded r;
  if (x.cls == NumberClass::nan) {
    r = rounded_nan(to, !to.has_nan());
    if (!to.has_nan() && to.has(policy::nan_signed)) r.encoding = to.encode_greatest(x.negative);
  } else if (x.cls == NumberClass::infinity) {
    r = rounded_infinity(to, x.negative, rule);
  } else {
    r = round_once(to, x.negative, x.significand, x.exponent, rule);
  }
  r.flags = merged_flags(to, operand_flags(x), r.flags, x.cls == NumberClass::nan);
  return r;
}

}  // namespace mmafuzz
