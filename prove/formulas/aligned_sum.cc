#include "prove/formulas/aligned_sum.h"

#include <algorithm>

namespace mmafuzz::prove {

int exponent_width_of(const DotModel& m) {
  const auto reach = [](const FormatFields& f) { return int(f.bias) + (1 << f.exponent_bits) + f.fraction_bits; };
  int farthest = reach(m.a) + reach(m.b);
  if (m.scale_block > 0) farthest += reach(m.scale_a) + reach(m.scale_b);
  farthest = std::max({farthest, reach(m.c), reach(m.d), std::abs(m.zero_exponent), 600});
  return signed_width(-2 * farthest, 2 * farthest);
}

Number c_of(const DotModel& m, Expression c, const FormatFields& c_format, int exponent_width) {
  const Number x = decode(c_format, c, exponent_width);
  const int least = m.c_exponent == CExponent::c_format ? c_format.emin()
                    : m.c_exponent == CExponent::fp32   ? fp32_fields.emin()
                                                        : m.d.emin();
  return least < c_format.emin() ? normalized(x, least) : x;
}

namespace {

Expression at_most(Expression x, const Bits& most) { return ~unsigned_below(x.of().constant(x.width(), most), x); }

/// Whether a number of two's complement is in -most..most.
Expression is_within(Expression x, const Bits& most) {
  const Expression greatest = x.of().constant(x.width(), most),
                   least = x.of().constant(x.width(), ones(x.width()) - most + 1);
  return ~signed_below(greatest, x) & ~signed_below(x, least);
}

/// The magnitude of a number in units of 2^(greatest - kept_bits), cut toward zero.
Expression cut_below(const Number& x, Expression greatest, int kept_bits) {
  Expressions& in = greatest.of();
  const int integer_bits = x.significand.width() - x.fraction_bits;
  const int fraction_bits = std::max(kept_bits, x.fraction_bits);
  const int exponent_width = greatest.width();
  const int width = std::max(integer_bits + fraction_bits, exponent_width);
  const Expression magnitude = zero_extend(append_zeros(x.significand, fraction_bits - x.fraction_bits), width);
  const Expression down = zero_extend(greatest - x.exponent, width);
  const Expression cut = choose(x.zero, in.constant(width, 0), shift_right(magnitude, down));
  return extract(cut, integer_bits + fraction_bits - 1, fraction_bits - kept_bits);
}

Expression infinity(const FormatFields& f, Expression negative) {
  const Expression magnitude = negative.of().constant(f.exponent_bits + f.fraction_bits,
                                                      Bits(unsigned(f.top_exponent_field())) << f.fraction_bits);
  return concat(negative, magnitude);
}

Expression zero_sign(const DotModel& m, const std::vector<Addend>& addends) {
  Expressions& in = addends[0].number.negative.of();
  std::vector<Expression> negative, positive;
  for (const Addend& a : addends) {
    negative.push_back(a.number.negative);
    positive.push_back(~a.number.negative);
  }
  switch (m.zero_sign) {
    case ZeroSign::positive: break;
    case ZeroSign::any_negative: return any_of(in, negative);
    case ZeroSign::ieee: return m.output_rounding == Rounding::down ? any_of(in, negative) : all_of(in, negative);
  }
  return in.constant(1, 0);
}

/// Rounds a nonzero magnitude * 2^unit as the row says.
Expression rounded(const DotModel& m, Expression negative, Expression magnitude, Expression unit) {
  Expressions& in = magnitude.of();
  const Expression nothing = in.constant(1, 0);
  const RoundTo to{m.d, m.output_fraction_bits, m.output_rounding, m.overflow, m.underflow_sign};
  if (m.output_via == OutputVia::direct) return round_to(to, negative, magnitude, unit, nothing);
  const RoundTo first{fp32_fields, fp32_fields.fraction_bits, Rounding::toward_zero, Overflow::infinity,
                      UnderflowSign::kept};
  const Expression between = round_to(first, negative, magnitude, unit, nothing);
  const int width = std::max(unit.width(), 12);
  const Number x = decode(fp32_fields, between, width);
  const Expression last =
      round_to(to, negative, x.significand, x.exponent - in.number(width, x.fraction_bits), nothing);
  const Expression zero = concat(m.underflow_sign == UnderflowSign::kept ? negative : nothing,
                                 in.constant(m.d.exponent_bits + m.d.fraction_bits, 0));
  const Expression beyond = round_to(to, negative, in.constant(1, 1), in.number(width, 200), nothing);
  return choose(x.infinite, beyond, choose(x.zero, zero, last));
}

Expression magnitude_of(const DotModel& m, Expression sum) {
  const int width = sum.width();
  const Expression magnitude = choose(bit(sum, width - 1), -sum, sum);
  if (m.integer_bits <= 0 || m.fraction_bits + m.integer_bits >= width) return magnitude;
  return magnitude & sum.of().constant(width, ones(m.fraction_bits + m.integer_bits));
}

/// `zero`: the encoding of a sum that is zero.
Expression encoded(const DotModel& m, Expression sum, Expression magnitude, Expression greatest, Expression zero) {
  const Expression unit = greatest - as_number(greatest, m.fraction_bits);
  return choose(is_zero(magnitude), zero, rounded(m, bit(sum, sum.width() - 1), magnitude, unit));
}

}  // namespace

Expression encoded_sum(const DotModel& m, Expression sum, Expression greatest) {
  return encoded(m, sum, magnitude_of(m, sum), greatest, sum.of().constant(m.d.width, 0));
}

Formula aligned_sum(const DotModel& m, const std::vector<Addend>& addends, Expression scales_are_nan) {
  Expressions& in = scales_are_nan.of();
  Formula f;

  Expression greatest = addends[0].alignment_exponent;
  if (m.zero_rule == ZeroRule::clamp) greatest = signed_greater_of(as_number(greatest, m.zero_exponent), greatest);
  for (size_t i = 1; i < addends.size(); ++i) {
    greatest = signed_greater_of(greatest, addends[i].alignment_exponent);
    f.stages.push_back({"greatest exponent of " + std::to_string(i + 1), {greatest}, {}});
  }

  std::vector<Expression> magnitudes;
  std::vector<Bits> most;  // of each magnitude
  int width = 1;
  for (size_t i = 0; i < addends.size(); ++i) {
    const Number& x = addends[i].number;
    const Expression magnitude = cut_below(x, greatest, m.fraction_bits);
    magnitudes.push_back(magnitude);
    width = std::max(width, magnitude.width());
    const int up = m.fraction_bits - x.fraction_bits;
    most.push_back(up >= 0 ? x.greatest_significand << up : x.greatest_significand >> -up);
    f.stages.push_back(
        {"addend " + std::to_string(i), {magnitude}, {at_most(magnitude, most.back()), ~x.zero | is_zero(magnitude)}});
  }

  int carries = 0;
  while ((size_t{1} << carries) < addends.size()) ++carries;
  width += carries + 1;
  Expression sum = in.constant(width, 0);
  Bits bound = 0;
  for (size_t i = 0; i < addends.size(); ++i) {
    const Expression magnitude = zero_extend(magnitudes[i], width);
    const Expression with_sign = choose(addends[i].number.negative, -magnitude, magnitude);
    f.stages.push_back(
        {"addend " + std::to_string(i) + " with its sign", {with_sign}, {is_within(with_sign, most[i])}});
    sum = sum + with_sign;
    bound += most[i];
    f.stages.push_back({"sum of " + std::to_string(i + 1), {sum}, {is_within(sum, bound)}});
  }
  const Expression magnitude = magnitude_of(m, sum);
  f.stages.push_back({"magnitude of the sum", {magnitude}, {}});
  const Expression zero = concat(zero_sign(m, addends), in.constant(m.d.exponent_bits + m.d.fraction_bits, 0));
  const Expression finite = encoded(m, sum, magnitude, greatest, zero);

  std::vector<Expression> nan = {scales_are_nan}, up, down;
  for (const Addend& a : addends) {
    nan.push_back(a.number.nan);
    up.push_back(a.number.infinite & ~a.number.negative);
    down.push_back(a.number.infinite & a.number.negative);
  }
  const Expression any_up = any_of(in, up), any_down = any_of(in, down);
  const Expression is_nan = any_of(in, nan) | (any_up & any_down);
  f.stages.push_back({"specials", {is_nan, any_up, any_down}, {}});
  f.result =
      choose(is_nan, in.constant(m.d.width, Bits(m.nan)), choose(any_up | any_down, infinity(m.d, any_down), finite));
  f.stages.push_back({"result", {f.result}, {}});
  return f;
}

}  // namespace mmafuzz::prove
