#include "prove/formulas/numbers.h"

#include <algorithm>

namespace mmafuzz::prove {

int signed_width(int64_t least, int64_t greatest) {
  int width = 2;
  while (least < -(int64_t{1} << (width - 1)) || greatest >= int64_t{1} << (width - 1)) ++width;
  return width;
}

Number decode(const FormatFields& f, Expression encoding, int exponent_width) {
  Expressions& in = encoding.of();
  const Expression no = in.constant(1, 0);
  Number x;
  x.fraction_bits = f.fraction_bits;
  const int low = f.ignored_low_bits, top = low + f.fraction_bits;
  const Expression field = extract(encoding, top + f.exponent_bits - 1, top);
  const bool has_fraction = f.fraction_bits > 0;
  const Expression fraction = has_fraction ? extract(encoding, top - 1, low) : no;
  const Expression no_fraction = is_zero(fraction);
  const Expression field_is_top = equal(field, in.constant(f.exponent_bits, ones(f.exponent_bits)));
  const Expression fraction_is_top =
      has_fraction ? equal(fraction, in.constant(f.fraction_bits, ones(f.fraction_bits))) : in.constant(1, 1);
  x.negative = f.sign == SignField::present ? bit(encoding, top + f.exponent_bits) : no;

  const Expression value = zero_extend(field, std::max(exponent_width, int(f.exponent_bits) + 1));
  const Expression unbiased = extract(value + as_number(value, -f.bias), exponent_width - 1, 0);
  if (f.subnormals == SubnormalRule::absent) {
    x.exponent = unbiased;
    x.significand = has_fraction ? concat(in.constant(1, 1), fraction) : in.constant(1, 1);
    x.zero = no;
  } else {
    const Expression subnormal = is_zero(field);
    x.exponent = choose(subnormal, in.number(exponent_width, f.emin()), unbiased);
    x.significand = has_fraction ? concat(~subnormal, fraction) : ~subnormal;
    x.zero = subnormal & no_fraction;
  }
  x.greatest_significand = ones(x.significand.width());

  x.infinite = x.nan = no;
  switch (f.specials) {
    case Specials::ieee:
      x.infinite = field_is_top & no_fraction;
      x.nan = field_is_top & ~no_fraction;
      break;
    case Specials::fn:
    case Specials::top_code: x.nan = field_is_top & fraction_is_top; break;
    case Specials::fnuz:
      x.nan = x.negative & x.zero;
      x.zero = x.zero & ~x.nan;
      break;
    case Specials::none: break;
  }
  return x;
}

LeadingZeros leading_zeros(Expression x, int width) {
  Expressions& in = x.of();
  const int n = x.width();
  Expression count = in.constant(width, 0);
  int step = 1;
  while (2 * step < n) step *= 2;
  for (; step >= 1; step /= 2) {
    if (step >= n) continue;
    const Expression high_is_zero = is_zero(extract(x, n - 1, n - step));
    x = choose(high_is_zero, append_zeros(extract(x, n - step - 1, 0), step), x);
    count = choose(high_is_zero, count + in.number(width, step), count);
  }
  return {count, x};
}

Number normalized(const Number& x, int least) {
  const int width = x.exponent.width();
  const LeadingZeros zeros = leading_zeros(x.significand, width);
  // The leading bit's exponent; below `least` the significand moves up by less.
  const int leading_fraction = x.significand.width() - 1 - x.fraction_bits;
  const Expression leading = x.exponent + as_number(x.exponent, leading_fraction) - zeros.count;
  const Expression floor = as_number(x.exponent, least);
  const Expression below = signed_below(leading, floor);
  Number y = x;
  y.exponent = choose(below, floor, leading);
  y.fraction_bits = x.significand.width() - 1;
  y.greatest_significand = ones(x.significand.width());
  // Of value significand * 2^(exponent - fraction_bits): up by leading_fraction + x.exponent - y.exponent.
  const Expression up = x.exponent + as_number(x.exponent, leading_fraction) - y.exponent;
  const int wide = std::max(width, x.significand.width());
  y.significand =
      extract(shift_left(zero_extend(x.significand, wide), zero_extend(up, wide)), x.significand.width() - 1, 0);
  return y;
}

Number product_of(const Number& x, const Number& y) {
  // x * y and y * x are one expression.
  if (y.significand.index() < x.significand.index()) return product_of(y, x);
  Number p;
  const int width = x.significand.width() + y.significand.width();
  p.negative = x.negative ^ y.negative;
  p.exponent = x.exponent + y.exponent;
  p.significand = zero_extend(x.significand, width) * zero_extend(y.significand, width);
  p.fraction_bits = x.fraction_bits + y.fraction_bits;
  p.greatest_significand = x.greatest_significand * y.greatest_significand;
  p.nan = x.nan | y.nan | (x.infinite & y.zero) | (x.zero & y.infinite);
  p.infinite = (x.infinite | y.infinite) & ~p.nan;
  p.zero = (x.zero | y.zero) & ~p.nan;
  return p;
}

namespace {

Expression moves_away(Rounding rounding, Expression negative, Expression last, Expression guard, Expression below) {
  switch (rounding) {
    case Rounding::nearest_even: return guard & (below | last);
    case Rounding::nearest_away: return guard;
    case Rounding::up: return ~negative & (guard | below);
    case Rounding::down: return negative & (guard | below);
    default: return as_number(guard, 0);
  }
}

/// Whether an overflow gives infinity; else the greatest number.
Expression overflow_is_infinite(const RoundTo& to, Expression negative) {
  const Expression yes = as_number(negative, 1), no = as_number(negative, 0);
  if (to.overflow == Overflow::infinity) return yes;
  if (to.overflow == Overflow::saturate) return no;
  switch (to.rounding) {
    case Rounding::toward_zero: return no;
    case Rounding::up: return ~negative;
    case Rounding::down: return negative;
    default: return yes;
  }
}

}  // namespace

Expression round_to(const RoundTo& to, Expression negative, Expression magnitude, Expression unit, Expression sticky) {
  Expressions& in = magnitude.of();
  const FormatFields& f = to.format;
  const int kept_bits = to.fraction_bits + 1;
  // Room for the kept bits, a guard bit and one below.
  const int n = std::max(magnitude.width(), kept_bits + 2);
  const int added = n - magnitude.width();
  // Exponents: of the leading bit, of the least number, and how far apart they can be.
  int width = 1;
  while ((1 << width) < n) ++width;
  width = std::max(unit.width(), std::max(signed_width(f.emin(), f.emax() + 1), width)) + 2;

  const LeadingZeros zeros = leading_zeros(append_zeros(magnitude, added), width);
  const Expression leading = sign_extend(unit, width) + in.number(width, n - 1 - added) - zeros.count;
  const Expression emin = in.number(width, f.emin());
  const Expression subnormal = signed_below(leading, emin);
  // A subnormal result loses (emin - leading) bits more; beyond n all are below the guard bit.
  const Expression down = choose(subnormal, emin - leading, in.constant(width, 0));
  const int wide = std::max(n, width);
  const Expression normal = zero_extend(zeros.shifted, wide), amount = zero_extend(down, wide);
  const Expression cut = shift_right(normal, amount);
  const Expression lost = ~equal(shift_left(cut, amount), normal);
  const Expression kept = extract(cut, n - 1, n - kept_bits);
  const Expression guard = bit(cut, n - kept_bits - 1);
  const Expression below = any_bit(extract(cut, n - kept_bits - 2, 0)) | lost | sticky;
  const Expression away = moves_away(to.rounding, negative, bit(kept, 0), guard, below);

  // The leading bit of `kept` adds one to the exponent field of a normal number, a carry another.
  const int code_width = width + to.fraction_bits + 2;
  const Expression field = choose(subnormal, in.constant(width, 0), leading + in.number(width, f.bias - 1));
  const Expression code = append_zeros(sign_extend(field, width + 2), to.fraction_bits) +
                          zero_extend(kept, code_width) + zero_extend(away, code_width);
  const bool top_is_special = f.specials == Specials::ieee;
  const Bits limit = Bits(unsigned(f.emax() + 1 + f.bias)) << to.fraction_bits;
  const Expression overflows = ~signed_below(code, in.constant(code_width, limit));

  const int magnitude_bits = f.exponent_bits + to.fraction_bits, more = f.fraction_bits - to.fraction_bits;
  const int all_bits = f.exponent_bits + f.fraction_bits;
  const Expression finite = append_zeros(extract(code, magnitude_bits - 1, 0), more);
  const Expression infinity =
      in.constant(all_bits, top_is_special ? Bits(unsigned(f.top_exponent_field())) << f.fraction_bits
                                           : Bits(f.greatest_magnitude()));
  const Expression greatest = in.constant(all_bits, Bits(f.greatest_magnitude()) >> more << more);
  const Expression result = choose(overflows, choose(overflow_is_infinite(to, negative), infinity, greatest), finite);
  const Expression sign = to.underflow_sign == UnderflowSign::kept ? negative : negative & (any_bit(result));
  return concat(sign, result);
}

}  // namespace mmafuzz::prove
