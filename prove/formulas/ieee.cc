#include "prove/formulas/ieee.h"

#include <algorithm>

namespace mmafuzz::prove {
namespace {

Expression encoded_infinity(const FormatFields& f, Expression negative) {
  return concat(negative, negative.of().constant(f.exponent_bits + f.fraction_bits,
                                                 Bits(unsigned(f.top_exponent_field())) << f.fraction_bits));
}

Expression encoded_zero(const FormatFields& f, Expression negative) {
  return concat(negative, negative.of().constant(f.exponent_bits + f.fraction_bits, 0));
}

}  // namespace

Expression ieee_add(const FormatFields& f, Rounding rounding, Expression x, Expression y, uint64_t nan) {
  Expressions& in = x.of();
  const int exponent_width = f.exponent_bits + 3;
  // The greater magnitude comes first: encodings without their sign compare as magnitudes.
  const int sign_place = f.width - 1;
  const Expression exchange = unsigned_below(extract(x, sign_place - 1, 0), extract(y, sign_place - 1, 0));
  const Number a = decode(f, choose(exchange, y, x), exponent_width),
               b = decode(f, choose(exchange, x, y), exponent_width);

  // Two more bits and one that holds whether anything is left below them are enough: where more than one place cancels,
  // nothing is shifted out.
  const int more = 3, width = std::max(f.precision() + more + 1, exponent_width);
  const Expression large = zero_extend(append_zeros(a.significand, more), width);
  const Expression all = zero_extend(append_zeros(b.significand, more), width);
  const Expression down = zero_extend(a.exponent - b.exponent, width);
  const Expression kept = shift_right(all, down);
  const Expression lost = ~equal(shift_left(kept, down), all);
  const Expression small = kept | zero_extend(lost, width);
  const Expression subtract = a.negative ^ b.negative;
  const Expression sum = choose(subtract, large - small, large + small);

  const Expression unit = a.exponent - as_number(a.exponent, f.fraction_bits + more);
  const RoundTo to{f, f.fraction_bits, rounding, Overflow::by_rounding, UnderflowSign::kept};
  const Expression no = in.constant(1, 0);
  const Expression finite = round_to(to, a.negative, sum, unit, no);
  const Expression zero_sign = choose(subtract, in.constant(1, rounding == Rounding::down ? 1 : 0), a.negative);
  const Expression is_nan = a.nan | b.nan | (a.infinite & b.infinite & subtract);
  const Expression infinite = a.infinite | b.infinite;
  const Expression infinite_sign = choose(a.infinite, a.negative, b.negative);
  return choose(
      is_nan, in.constant(f.width, Bits(nan)),
      choose(infinite, encoded_infinity(f, infinite_sign), choose(is_zero(sum), encoded_zero(f, zero_sign), finite)));
}

Expression widened(const FormatFields& to, const Number& x, uint64_t nan) {
  Expressions& in = x.significand.of();
  const RoundTo exactly{to, to.fraction_bits, Rounding::toward_zero, Overflow::by_rounding, UnderflowSign::kept};
  const Expression unit = x.exponent - as_number(x.exponent, x.fraction_bits);
  const Expression finite = round_to(exactly, x.negative, x.significand, unit, in.constant(1, 0));
  return choose(
      x.nan, in.constant(to.width, Bits(nan)),
      choose(x.infinite, encoded_infinity(to, x.negative), choose(x.zero, encoded_zero(to, x.negative), finite)));
}

namespace {

/// A nonzero magnitude * 2^unit.
Expression rounded(const IeeeRules& rules, Expression negative, Expression magnitude, Expression unit) {
  const FormatFields& f = rules.format;
  const Expression no = negative.of().constant(1, 0);
  const RoundTo to{f, f.fraction_bits, rules.rounding, Overflow::by_rounding, UnderflowSign::kept};
  const Expression result = round_to(to, negative, magnitude, unit, no);
  if (rules.subnormals == Subnormals::kept) return result;
  const int width = unit.width();
  Expression tiny = is_zero(extract(result, f.width - 2, f.fraction_bits));
  if (rules.subnormals == Subnormals::flushed_signed) {
    const FormatFields unbounded = ieee_fields(f.exponent_bits + 3, f.fraction_bits);
    const RoundTo wide{unbounded, f.fraction_bits, rules.rounding, Overflow::by_rounding, UnderflowSign::kept};
    const Number n = decode(unbounded, round_to(wide, negative, magnitude, unit, no), width);
    tiny = tiny | signed_below(n.exponent, as_number(n.exponent, f.emin()));
  }
  return choose(tiny, encoded_zero(f, negative), result);
}

Expression with_specials(const IeeeRules& rules, Expression nan, Expression infinite, Expression negative,
                         Expression finite) {
  return choose(nan, nan.of().constant(rules.format.width, Bits(rules.nan)),
                choose(infinite, encoded_infinity(rules.format, negative), finite));
}

}  // namespace

Expression ieee_rounded(const IeeeRules& rules, const Number& x) {
  const Expression unit = x.exponent - as_number(x.exponent, x.fraction_bits);
  return with_specials(
      rules, x.nan, x.infinite, x.negative,
      choose(x.zero, encoded_zero(rules.format, x.negative), rounded(rules, x.negative, x.significand, unit)));
}

Expression ieee_multiply(const IeeeRules& rules, const Number& x, const Number& y) {
  return ieee_rounded(rules, product_of(x, y));
}

Expression ieee_sum(const IeeeRules& rules, const Number& x, const Number& y, std::vector<Stage>* stages) {
  Expressions& in = x.significand.of();
  const auto add_stage = [&](const char* name, std::vector<Expression> points, std::vector<Expression> cases = {}) {
    if (stages) stages->push_back({name, std::move(points), {}, std::move(cases)});
  };
  // Both with their leading bit at the top of as many bits; a zero below all others.
  const int width = x.exponent.width(), lowest = -(1 << (width - 2));
  const int n = std::max({x.significand.width(), y.significand.width(), rules.format.precision()});
  const auto top = [&](const Number& number) {
    Number m = normalized(number, lowest);
    m.exponent = choose(number.zero, in.number(width, lowest), m.exponent);
    m.significand = append_zeros(m.significand, n - m.significand.width());
    return m;
  };
  const Number u = top(x), v = top(y);
  for (const auto& [of, from] : {std::pair{&x, &u}, std::pair{&y, &v}})
    add_stage("an addend", {of->negative, from->exponent, from->significand, of->zero, of->infinite, of->nan},
              {of->zero});
  const Expression exchange = signed_below(u.exponent, v.exponent) |
                              (equal(u.exponent, v.exponent) & unsigned_below(u.significand, v.significand));
  const auto of = [&](Expression first, Expression second) { return choose(exchange, second, first); };
  const Expression negative = of(u.negative, v.negative), exponent = of(u.exponent, v.exponent);
  // Three more bits, the last of which holds whether anything is left below: where more than one place cancels, nothing
  // is shifted out.
  const int more = 3, wide = std::max(n + more + 1, width);
  const Expression large = zero_extend(append_zeros(of(u.significand, v.significand), more), wide);
  const Expression all = zero_extend(append_zeros(of(v.significand, u.significand), more), wide);
  const Expression down = zero_extend(exponent - of(v.exponent, u.exponent), wide);
  const Expression kept = shift_right(all, down);
  const Expression small = kept | zero_extend(~equal(shift_left(kept, down), all), wide);
  const Expression subtract = x.negative ^ y.negative;
  add_stage("order and signs", {exchange, subtract});
  const Expression sum = choose(subtract, large - small, large + small);
  add_stage("the sum's magnitude", {sum});
  const Expression unit = exponent - in.number(width, n - 1 + more);
  const Expression zero_sign = choose(subtract, in.constant(1, rules.rounding == Rounding::down ? 1 : 0), x.negative);
  const Expression finite =
      choose(is_zero(sum), encoded_zero(rules.format, zero_sign), rounded(rules, negative, sum, unit));
  return with_specials(rules, x.nan | y.nan | (x.infinite & y.infinite & subtract), x.infinite | y.infinite,
                       choose(x.infinite, x.negative, y.negative), finite);
}

}  // namespace mmafuzz::prove
