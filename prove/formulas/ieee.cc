#include "prove/formulas/ieee.h"

#include <algorithm>

namespace mmafuzz::prove {
namespace {

/// The encoding of magnitude * 2^unit, which is not zero.
Expression rounded(const IeeeRules& rules, Expression negative, Expression magnitude, Expression unit) {
  const RoundTo to{rules.format,        rules.format.fraction_bits, rules.rounding, rules.overflow,
                   UnderflowSign::kept, rules.subnormals,           rules.tininess};
  return round_to(to, negative, magnitude, unit);
}

/// What infinities and NaNs decide, or else `finite`.
Expression with_specials(const IeeeRules& rules, const std::vector<Number>& terms, Expression finite) {
  const SpecialTerms s = specials_of(finite.table(), terms);
  return choose(s.any(), s.result(rules.format, rules.nan), finite);
}

}  // namespace

Expression ieee_rounded(const IeeeRules& rules, const Number& x) {
  const Expression unit = x.exponent - as_number(x.exponent, x.fraction_bits);
  const Expression finite = rounded(rules, x.negative, x.significand, unit);
  return with_specials(rules, {x}, choose(x.zero, zero_of(rules.format, x.negative), finite));
}

Expression widened(const FormatFields& to, const Number& x) {
  return ieee_rounded({to, Rounding::toward_zero, to.encode_nan()}, x);
}

Expression ieee_sum(const IeeeRules& rules, const Number& x, const Number& y, std::vector<Stage>* stages) {
  Expressions& table = x.significand.table();
  const auto add_stage = [&](const char* name, std::vector<Expression> points, std::vector<Expression> cases = {}) {
    if (stages) stages->push_back({name, std::move(points), {}, std::move(cases)});
  };
  // Both significands get n bits with the leading one at the top, and a zero gets an exponent below all others. Numbers
  // of one format need no shift: their leading bit is 0 at the least exponent only.
  const int width = x.exponent.width(), lowest = -(1 << (width - 2));
  const int n = std::max({x.significand.width(), y.significand.width(), rules.format.precision()});
  const bool of_one_format =
      x.subnormal_exponent && x.subnormal_exponent == y.subnormal_exponent && x.fraction_bits == y.fraction_bits;
  const auto topped = [&](const Number& number) {
    Number m = number;
    if (!of_one_format) {
      m = normalized(number);
      m.exponent = choose(number.zero, table.number(width, lowest), m.exponent);
    }
    m.significand = append_zeros(m.significand, n - m.significand.width());
    return m;
  };
  const Number u = topped(x), v = topped(y);
  for (const auto& [given, aligned] : {std::pair{&x, &u}, std::pair{&y, &v}})
    add_stage("an addend",
              {given->negative, aligned->exponent, aligned->significand, given->zero, given->infinite, given->nan},
              {given->zero});
  const Expression exchange = signed_below(u.exponent, v.exponent) |
                              (equal(u.exponent, v.exponent) & unsigned_below(u.significand, v.significand));
  const auto greater = [&](Expression Number::*member) { return choose(exchange, v.*member, u.*member); };
  const auto lesser = [&](Expression Number::*member) { return choose(exchange, u.*member, v.*member); };
  const Expression negative = greater(&Number::negative), exponent = greater(&Number::exponent);
  // Three more bits, the last of them sticky. Where more than one leading bit cancels, no bit has been shifted out.
  const int more = 3, wide = std::max(n + more + 1, width);
  const Expression large = zero_extend(append_zeros(greater(&Number::significand), more), wide);
  const Expression whole = zero_extend(append_zeros(lesser(&Number::significand), more), wide);
  const Expression distance = zero_extend(exponent - lesser(&Number::exponent), wide);
  const Expression kept = shift_right(whole, distance);
  const Expression small = kept | zero_extend(~equal(shift_left(kept, distance), whole), wide);
  const Expression subtract = x.negative ^ y.negative;
  add_stage("order and signs", {exchange, subtract});
  const Expression sum = choose(subtract, large - small, large + small);
  add_stage("the sum's magnitude", {sum});
  const Expression unit = exponent - table.number(width, n - 1 + more);
  const Expression zero_sign =
      choose(subtract, table.constant(1, rules.rounding == Rounding::down ? 1 : 0), x.negative);
  const Expression finite = choose(is_zero(sum), zero_of(rules.format, zero_sign), rounded(rules, negative, sum, unit));
  return with_specials(rules, {x, y}, finite);
}

Expression ieee_add(const IeeeRules& rules, Expression x, Expression y) {
  const FormatFields& f = rules.format;
  return ieee_sum(rules, decode(f, x), decode(f, y));
}

}  // namespace mmafuzz::prove
