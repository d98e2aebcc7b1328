#include "prove/formulas/numbers.h"

#include <algorithm>

#include "arithmetic/specials.h"

namespace mmafuzz::prove {

int signed_width(int64_t least, int64_t greatest) {
  int width = 2;
  while (least < -(int64_t{1} << (width - 1)) || greatest >= int64_t{1} << (width - 1)) ++width;
  return width;
}

Number decode(const FormatFields& f, Expression encoding, int exponent_width) {
  Expressions& table = encoding.table();
  const Expression no = table.constant(1, 0);
  Number x;
  x.fraction_bits = f.fraction_bits;
  const int low = f.ignored_low_bits, top = low + f.fraction_bits;
  const Expression field = extract(encoding, top + f.exponent_bits - 1, top);
  const bool has_fraction = f.fraction_bits > 0;
  const Expression fraction = has_fraction ? extract(encoding, top - 1, low) : no;
  const Expression no_fraction = is_zero(fraction);
  const Expression field_is_top = equal(field, table.constant(f.exponent_bits, ones(f.exponent_bits)));
  const Expression fraction_is_top =
      has_fraction ? equal(fraction, table.constant(f.fraction_bits, ones(f.fraction_bits))) : table.constant(1, 1);
  x.negative = f.sign == SignField::present ? bit(encoding, top + f.exponent_bits) : no;

  const Expression value = zero_extend(field, std::max(exponent_width, int(f.exponent_bits) + 1));
  const Expression unbiased = extract(value + as_number(value, -f.bias), exponent_width - 1, 0);
  const Expression subnormal = f.subnormals == SubnormalRule::absent ? no : is_zero(field);
  x.subnormal_exponent = f.subnormal_exponent();
  x.exponent = choose(subnormal, table.number(exponent_width, *x.subnormal_exponent), unbiased);
  const Expression leading = f.subnormals == SubnormalRule::absent ? table.constant(1, 1) : ~subnormal;
  x.significand = has_fraction ? concat(leading, fraction) : leading;
  x.greatest_significand = ones(x.significand.width());
  x.zero = subnormal & no_fraction;
  if (f.subnormals == SubnormalRule::flushed) {
    x.significand = choose(subnormal, as_number(x.significand, 0), x.significand);
    x.zero = subnormal;
  }
  if (f.has(policy::zero_positive)) x.negative = x.negative & ~x.zero;

  x.infinite = x.nan = no;
  switch (f.specials) {
    case Specials::ieee:
      x.infinite = field_is_top & no_fraction;
      x.nan = field_is_top & ~no_fraction;
      break;
    case Specials::fn:
    case Specials::top_code: x.nan = field_is_top & fraction_is_top; break;
    case Specials::top_infinity: x.infinite = field_is_top & fraction_is_top; [[fallthrough]];
    case Specials::fnuz:
      x.nan = x.negative & x.zero;
      x.zero = x.zero & ~x.nan;
      break;
    case Specials::none: break;
  }
  return x;
}

Number read_operand(const DotModel& m, const FormatFields& f, Expression encoding, int exponent_width) {
  Expressions& table = encoding.table();
  const bool low_bits_matter = f.ignored_low_bits > 0 && m.low_bits != LowBits::ignored;
  Number x = decode(f, encoding, exponent_width);
  if (low_bits_matter && m.low_bits == LowBits::rounded) {  // to nearest, ties away; the top exponent stays
    const Expression up = bit(encoding, f.ignored_low_bits - 1) & ~x.infinite & ~x.nan;
    const Expression next = encoding + table.constant(f.width, Bits(1) << f.ignored_low_bits);
    x = decode(f, choose(up, next, encoding), exponent_width);
  }
  if (low_bits_matter && m.low_bits == LowBits::nan_payload) {
    const Expression low = any_bit(extract(encoding, f.ignored_low_bits - 1, 0));
    x.nan = x.nan | (x.infinite & low);
    x.infinite = x.infinite & ~low;
  }
  if (traits_of(m).additions == KernelTraits::Additions::in_pairs && m.zero_operands == ZeroOperands::positive)
    x.negative = x.negative & ~x.zero;
  return flushed_operand(m, f, x);
}

Number flushed_operand(const DotModel& m, const FormatFields& f, Number x) {
  const bool as_fp32 = traits_of(m).widens_to_fp32();  // operands are fp32 numbers by then
  if (!(as_fp32 ? flushes(m) : flushes_operands(m, f))) return x;
  Expression flushed = ~bit(x.significand, x.significand.width() - 1) & ~x.zero & ~x.nan & ~x.infinite;
  if (as_fp32) {
    const Number n = normalized(x);
    flushed = signed_below(n.exponent, as_number(n.exponent, fp32_fields.emin())) & ~x.zero & ~x.nan & ~x.infinite;
  }
  x.significand = choose(flushed, as_number(x.significand, 0), x.significand);
  x.zero = x.zero | flushed;
  if (m.subnormals == Subnormals::flushed) x.negative = x.negative & ~flushed;
  return x;
}

LeadingZeros leading_zeros(Expression x, int width) {
  Expressions& table = x.table();
  const int n = x.width();
  Expression count = table.constant(width, 0);
  int step = 1;
  while (2 * step < n) step *= 2;
  for (; step >= 1; step /= 2) {
    if (step >= n) continue;
    const Expression high_is_zero = is_zero(extract(x, n - 1, n - step));
    x = choose(high_is_zero, append_zeros(extract(x, n - step - 1, 0), step), x);
    count = choose(high_is_zero, count + table.number(width, step), count);
  }
  return {count, x};
}

Number normalized(const Number& x) {
  const LeadingZeros zeros = leading_zeros(x.significand, x.exponent.width());
  Number y = x;
  y.exponent = x.exponent + as_number(x.exponent, x.significand.width() - 1 - x.fraction_bits) - zeros.count;
  y.significand = zeros.shifted;
  y.fraction_bits = x.significand.width() - 1;
  y.greatest_significand = ones(x.significand.width());
  y.subnormal_exponent = std::nullopt;
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

Expression with_sign(Expression negative, Expression magnitude) { return choose(negative, -magnitude, magnitude); }

Expression magnitude_of(Expression x) { return with_sign(bit(x, x.width() - 1), x); }

namespace {

Expression moved(Expression (*shift)(Expression, Expression), Expression x, Expression amount) {
  const int width = std::max(x.width(), amount.width());
  return extract(shift(zero_extend(x, width), zero_extend(amount, width)), x.width() - 1, 0);
}

}  // namespace

Expression moved_up(Expression x, Expression amount) { return moved(shift_left, x, amount); }
Expression moved_down(Expression x, Expression amount) { return moved(shift_right, x, amount); }

Expression truncated_magnitude(const Number& x, Expression greatest, int kept_bits) {
  const int fraction_bits = std::max(kept_bits, x.fraction_bits);
  const Expression magnitude = append_zeros(x.significand, fraction_bits - x.fraction_bits);
  const int more = fraction_bits - kept_bits;
  if (more >= magnitude.width()) return magnitude.table().constant(1, 0);  // every bit of it lies below those kept
  const Expression cut = choose(x.zero, as_number(magnitude, 0), moved_down(magnitude, greatest - x.exponent));
  return extract(cut, magnitude.width() - 1, more);
}

namespace {

/// truncated_magnitude() in `width` bits, and a bit that says whether the rounding changed it.
std::pair<Expression, Expression> kept_and_lost(const Number& x, Expression greatest, int kept_bits, int width) {
  const int fraction_bits = std::max(kept_bits, x.fraction_bits);
  const Expression magnitude = append_zeros(x.significand, fraction_bits - x.fraction_bits);
  const Expression distance = greatest - x.exponent, down = moved_down(magnitude, distance);
  const int more = fraction_bits - kept_bits;
  Expression lost = ~equal(moved_up(down, distance), magnitude);
  if (more > 0) lost = lost | any_bit(extract(down, std::min(more, magnitude.width()) - 1, 0));
  const Expression kept = more >= magnitude.width() ? magnitude.table().constant(width, 0)
                                                    : zero_extend(extract(down, magnitude.width() - 1, more), width);
  return {choose(x.zero, as_number(kept, 0), kept), lost & ~x.zero};
}

}  // namespace

Expression rounded_down(const Number& x, Expression greatest, int kept_bits, int width) {
  const auto [kept, lost] = kept_and_lost(x, greatest, kept_bits, width);
  return choose(x.negative, -kept - zero_extend(lost, width), kept);
}

Expression odd_magnitude(const Number& x, Expression greatest, int kept_bits, int width) {
  const auto [kept, lost] = kept_and_lost(x, greatest, kept_bits, width);
  return kept | zero_extend(lost, width);
}

int exponent_width_of(const DotModel& m) {
  const auto reach = [](const FormatFields& f) { return int(f.bias) + (1 << f.exponent_bits) + f.fraction_bits; };
  int farthest = reach(m.a) + reach(m.b);
  if (m.scale_block > 0) farthest += reach(m.scale_a) + reach(m.scale_b);
  // 600: beyond the exponents that the texts of kernels name themselves, such as operand_rule_zero_exponent.
  farthest = std::max({farthest, reach(m.c), reach(m.d), std::abs(m.zero_exponent), 600});
  return signed_width(-2 * farthest, 2 * farthest);
}

namespace {

Expression with_magnitude(const FormatFields& f, Expression negative, Bits magnitude) {
  return append_zeros(concat(negative, negative.table().constant(f.exponent_bits + f.fraction_bits, magnitude)),
                      f.ignored_low_bits);
}

}  // namespace

Expression zero_of(const FormatFields& f, Expression negative) { return with_magnitude(f, negative, 0); }

Expression infinity_of(const FormatFields& f, Expression negative) {
  return with_magnitude(f, negative, Bits(unsigned(f.top_exponent_field())) << f.fraction_bits);
}

SpecialTerms specials_of(Expressions& table, const std::vector<Number>& terms) {
  const Expression none = table.constant(1, 0);
  SpecialTerms s{none, none, none};
  for (const Number& x : terms) {
    s.nan = s.nan | x.nan;
    s.up = s.up | (x.infinite & ~x.negative);
    s.down = s.down | (x.infinite & x.negative);
  }
  return s;
}

Expression SpecialTerms::result(const FormatFields& d, uint64_t encoded_nan) const {
  return choose(nan | (up & down), nan.table().constant(d.width, Bits(encoded_nan)), infinity_of(d, down));
}

Expression is_invalid_product(const Number& x, const Number& y) {
  return (x.infinite & y.zero) | (x.zero & y.infinite);
}

Expression quieted(const FormatFields& d, const FormatFields& f, Expression code) {
  Expressions& table = code.table();
  const int shift = f.ignored_low_bits, more = d.fraction_bits - f.fraction_bits;
  const Expression payload = extract(code, shift + f.fraction_bits - 1, shift);
  const Expression fraction = more >= 0 ? append_zeros(payload, more) : extract(payload, f.fraction_bits - 1, -more);
  const Expression sign = f.has_sign() ? bit(code, shift + f.exponent_bits + f.fraction_bits) : table.number(1, 0);
  const Expression all =
      append_zeros(concat(sign, concat(table.number(d.exponent_bits, 0), fraction)), d.ignored_low_bits);
  return all | table.number(all.width(), static_cast<int64_t>(d.encode_nan()));
}

NanTerm nan_term(const FormatFields& d, const FormatFields& f, const Number& n, Expression code) {
  return {n.nan, n.nan & ~bit(code, f.ignored_low_bits + f.fraction_bits - 1), quieted(d, f, code)};
}

Expression nan_result(NanFrom rule, const NanTerm* abc, Expression product_is_invalid, Expression own_nan) {
  Expression result = own_nan;
  if (rule == NanFrom::constant) return result;
  const auto take_first_where = [&](Expression NanTerm::*mask) {
    for (int place = 2; place >= 0; --place)
      if (const NanTerm& x = abc[operand_at(rule, place)]; !(x.*mask).is_none())
        result = choose(x.*mask, x.quiet, result);
  };
  take_first_where(&NanTerm::nan);
  if (!signalling_first(rule)) return result;
  result = choose(product_is_invalid, own_nan, result);
  take_first_where(&NanTerm::signalling);
  return result;
}

Expression zero_is_negative(const DotModel& m, Expressions& table, const std::vector<Number>& terms) {
  const bool any_decides = m.zero_sign == ZeroSign::any_negative || m.output_rounding == Rounding::down;
  if (m.zero_sign == ZeroSign::positive) return table.constant(1, 0);
  std::vector<Expression> negative;
  for (const Number& x : terms) negative.push_back(x.negative);
  return any_decides ? any_of(table, negative) : all_of(table, negative);
}

namespace {

Expression moves_away(Rounding rounding, Expression negative, Expression last, Expression guard, Expression below) {
  switch (rounding) {
    case Rounding::nearest_even: return guard & (below | last);
    case Rounding::nearest_away: return guard;
    case Rounding::up: return ~negative & (guard | below);
    case Rounding::down: return negative & (guard | below);
    case Rounding::odd: return ~last & (guard | below);
    default: return as_number(guard, 0);
  }
}

/// 1: an overflow gives infinity; 0: it gives the greatest number.
Expression overflow_is_infinite(const RoundTo& to, Expression negative) {
  const Expression yes = as_number(negative, 1), no = as_number(negative, 0);
  if (to.overflow == Overflow::infinity) return yes;
  if (to.overflow == Overflow::saturate) return no;
  switch (to.rounding) {
    case Rounding::toward_zero:
    case Rounding::odd: return no;
    case Rounding::up: return ~negative;
    case Rounding::down: return negative;
    default: return yes;
  }
}

}  // namespace

Expression round_to(const RoundTo& to, Expression negative, Expression magnitude, Expression unit) {
  Expressions& table = magnitude.table();
  const FormatFields& f = to.format;
  const int kept_bits = to.fraction_bits + 1;
  // Room for the kept bits, a guard bit and one below.
  const int n = std::max(magnitude.width(), kept_bits + 2);
  const int added = n - magnitude.width();
  // The width for the exponents of the leading bit and of the least number, and for their difference.
  int width = 1;
  while ((1 << width) < n) ++width;
  width = std::max(unit.width(), std::max(signed_width(f.emin(), f.emax() + 1), width)) + 2;

  const LeadingZeros zeros = leading_zeros(append_zeros(magnitude, added), width);
  const Expression leading = sign_extend(unit, width) + table.number(width, n - 1 - added) - zeros.count;
  const Expression emin = table.number(width, f.emin());
  const Expression subnormal = signed_below(leading, emin);
  // A subnormal result loses (emin - leading) bits more; beyond n all are below the guard bit.
  const Expression down = choose(subnormal, emin - leading, table.constant(width, 0));
  const int wide = std::max(n, width);
  const Expression normal = zero_extend(zeros.shifted, wide), amount = zero_extend(down, wide);
  const Expression cut = shift_right(normal, amount);
  const Expression lost = ~equal(shift_left(cut, amount), normal);
  const Expression kept = extract(cut, n - 1, n - kept_bits);
  const Expression guard = bit(cut, n - kept_bits - 1);
  const Expression below = any_bit(extract(cut, n - kept_bits - 2, 0)) | lost;
  const Expression away = moves_away(to.rounding, negative, bit(kept, 0), guard, below);

  // The leading bit of `kept` adds one to the exponent field of a normal number, a carry another.
  const int code_width = width + to.fraction_bits + 2;
  const Expression field = choose(subnormal, table.constant(width, 0), leading + table.number(width, f.bias - 1));
  const Expression code = append_zeros(sign_extend(field, width + 2), to.fraction_bits) +
                          zero_extend(kept, code_width) + zero_extend(away, code_width);
  const bool top_is_special = f.specials == Specials::ieee;
  const Bits limit = Bits(unsigned(f.emax() + 1 + f.bias)) << to.fraction_bits;
  const Expression overflows = ~signed_below(code, table.constant(code_width, limit));

  const int magnitude_bits = f.exponent_bits + to.fraction_bits, more = f.fraction_bits - to.fraction_bits;
  const int all_bits = f.exponent_bits + f.fraction_bits;
  const Expression finite = append_zeros(extract(code, magnitude_bits - 1, 0), more);
  const Expression infinity =
      table.constant(all_bits, top_is_special ? Bits(unsigned(f.top_exponent_field())) << f.fraction_bits
                                              : Bits(f.greatest_magnitude()));
  const Expression greatest = table.constant(all_bits, Bits(f.greatest_magnitude()) >> more << more);
  const Expression result = choose(overflows, choose(overflow_is_infinite(to, negative), infinity, greatest), finite);
  Expression is_flushed = as_number(negative, 0);
  if (to.subnormals == Subnormals::flushed) is_flushed = is_zero(extract(result, all_bits - 1, f.fraction_bits));
  if (keeps_flushed_sign(to.subnormals) && flushes(to.subnormals, f) && to.tininess == Tininess::before)
    is_flushed = subnormal;
  if (keeps_flushed_sign(to.subnormals) && flushes(to.subnormals, f) && to.tininess == Tininess::after) {
    // Tiny after rounding as if there were no least exponent.
    const Expression whole = extract(zeros.shifted, n - 1, n - kept_bits);
    const Expression carries =
        is_zero(~whole) & moves_away(to.rounding, negative, bit(whole, 0), bit(zeros.shifted, n - kept_bits - 1),
                                     any_bit(extract(zeros.shifted, n - kept_bits - 2, 0)));
    is_flushed = subnormal & ~(equal(leading, table.number(width, f.emin() - 1)) & carries);
  }
  const Expression kept_result = choose(is_flushed, as_number(result, 0), result);
  const Expression sign = to.underflow_sign == UnderflowSign::kept ? negative : negative & any_bit(kept_result);
  return append_zeros(concat(sign, kept_result), f.ignored_low_bits);
}

}  // namespace mmafuzz::prove
