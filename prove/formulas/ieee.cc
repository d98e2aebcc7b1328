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

}  // namespace mmafuzz::prove
