#include "prove/formulas/term_sums.h"

#include <algorithm>
#include <bit>

namespace mmafuzz::prove {
namespace {

/// floor(x / 2^amount) of two's complement; `amount` is not negative.
Expression floor_shift(Expression x, Expression amount) {
  const Expression negative = bit(x, x.width() - 1);
  const Expression cut = moved_down(choose(negative, ~x, x), amount);
  return choose(negative, ~cut, cut);
}

RoundTo result_of(const DotModel& m) {
  return {m.d,       m.d.fraction_bits, m.output_rounding, m.overflow, UnderflowSign::kept, subnormals_of_results(m),
          m.tininess};
}

}  // namespace

void TermExactDots::add_product(Sum& sum, int i) const {
  Number p = product_of(a(i), b(i));
  if (m_.scale_block > 0) {
    const Number x = scale_a(i), y = scale_b(i);
    p.exponent = p.exponent + x.exponent + y.exponent;
    p.nan = p.nan | x.nan | y.nan;
  }
  sum.push_back(p);
  note("product " + std::to_string(i), sum.back(), {}, {sum.back().zero});
}

TermExactDots::Code TermExactDots::rounded(Sum& sum, int, int, bool c_is_operand, Code code) const {
  const FormatFields& f = c_format(c_is_operand);
  sum.push_back(read(f, code));
  note("c", sum.back(), {}, {sum.back().zero});
  return rounded_between(sum, std::min(least_bit_of_products(m_), f.subnormal_bit()),
                         std::max(beyond_products(m_), f.emax() + 1));
}

TermExactDots::Code TermExactDots::negated(bool c_is_operand, Code code) const {
  const FormatFields& f = c_format(c_is_operand);
  const Expression sign = constant(code.width(), static_cast<int64_t>(f.in_container(f.sign_bit())));
  return choose(read(f, code).nan, code, code ^ sign);
}

TermExactDots::Code TermExactDots::added(bool c_is_operand, Code c, Code sum) const {
  const IeeeRules rules{m_.d, m_.output_rounding, m_.nan, subnormals_of_results(m_), m_.overflow, m_.tininess};
  const Number of_c = read(c_format(c_is_operand), c), of_sum = flushed_operand(m_, m_.d, decoded(m_.d, sum));
  Expression result = ieee_sum(rules, of_c, of_sum, &stages_);
  if (m_.nan_from != NanFrom::constant) {
    const NanTerm abc[3] = {nan_term(m_.d, m_.d, of_sum, sum), {}, nan_term(m_.d, c_format(c_is_operand), of_c, c)};
    result = choose(decoded(m_.d, result).nan, nan_result(m_.nan_from, abc, constant(1, 0), own_nan()), result);
  }
  note({"result", {result}});
  return result;
}

TermExactDots::Code TermExactDots::rounded(const Sum& sum, int first, int n) const {
  const Expression result = rounded_between(sum, least_bit_of_products(m_), beyond_products(m_));
  return m_.nan_from == NanFrom::constant ? result : choose(decoded(m_.d, result).nan, nan_of(first, n), result);
}

Expression TermExactDots::own_nan() const { return constant(m_.d.width, static_cast<int64_t>(m_.nan)); }

Expression TermExactDots::nan_of(int first, int n) const {
  const Expression no = constant(1, 0);
  if (m_.nan_from == NanFrom::signalling_c_as_bs) {
    Expression result = own_nan();
    for (const bool only_signalling : {false, true})
      for (int i = 2 * n; i-- > 0;) {
        const int j = first + i % n;
        const NanTerm x =
            i < n ? nan_term(m_.d, m_.a, a(j), x_.a[size_t(j)]) : nan_term(m_.d, m_.b, b(j), x_.b[size_t(j)]);
        result = choose(only_signalling ? x.signalling : x.nan, x.quiet, result);
      }
    return result;
  }
  Expression up = no, down = no;
  NanTerm abc[3];
  abc[2] = {no, no, own_nan()};
  for (int i = first + n - 1; i >= first; --i) {
    const Number x = a(i), y = b(i), p = product_of(x, y);
    abc[0] = nan_term(m_.d, m_.a, x, x_.a[size_t(i)]);
    abc[1] = nan_term(m_.d, m_.b, y, x_.b[size_t(i)]);
    const Expression meets_opposite = p.infinite & choose(p.negative, up, down);
    const Expression is_nan = p.nan | abc[2].nan | meets_opposite;
    const Expression nan = nan_result(m_.nan_from, abc, is_invalid_product(x, y), own_nan());
    abc[2] = {is_nan, no, choose(is_nan, nan, own_nan())};
    up = up | (p.infinite & ~p.negative);
    down = down | (p.infinite & p.negative);
  }
  return abc[2].quiet;
}

TermExactDots::Code TermExactDots::rounded_between(const Sum& sum, int least, int most) const {
  const int bits = most - least + 1 + std::bit_width(sum.size());
  Expression total = constant(bits, 0);
  for (size_t i = 0; i < sum.size(); ++i) {
    const Number& x = sum[i];
    const std::string number = std::to_string(i);
    const Expression significand = choose(x.infinite | x.nan, as_number(x.significand, 0), x.significand);
    const Expression magnitude =
        moved_up(zero_extend(significand, bits), x.exponent - exponent(x.fraction_bits + least));
    const Expression term = choose(x.zero, as_number(magnitude, 0), with_sign(x.negative, magnitude));
    note({"term " + number, {term}, {}, {x.zero}});
    total = total + term;
    note({"sum of " + std::to_string(i + 1), {total}});
  }
  const Expression magnitude = magnitude_of(total);
  note({"magnitude of the sum", {magnitude}});
  const Expression finite = choose(is_zero(total), zero_of(m_.d, zero_is_negative(m_, table_, sum)),
                                   round_to(result_of(m_), bit(total, bits - 1), magnitude, exponent(least)));
  return noted_result(specials_of(table_, sum), finite);
}

TermTwoStageDots::Term TermTwoStageDots::product(int i, Seen& seen) const {
  Term p = aligned_product(i, none());
  seen.operands.push_back(p.number);
  if (m_.product_overflow != ProductOverflow::none) {
    const Number& x = p.number;
    const Expression overflows = ~signed_below(normalized(x).exponent, exponent(128)) & ~x.zero & ~x.nan & ~x.infinite;
    p.number.infinite = x.infinite | overflows;
    if (m_.product_overflow == ProductOverflow::positive_infinity) p.number.negative = x.negative & ~overflows;
  }
  seen.specials.push_back(p.number);
  note("product " + std::to_string(i), p.number, {}, {p.number.zero});
  return p;
}

TermTwoStageDots::Partial TermTwoStageDots::cut_and_summed(const Term* term, int first, int stride, int n) const {
  const std::string products = "products " + std::to_string(first) + " and on, ";
  Partial s{constant(sum_width(), 0), none()};
  for (int i = first; i < n; i += stride) s.greatest = signed_greater_of(s.greatest, term[i].aligned_at());
  note({products + "greatest exponent", {s.greatest}});
  for (int i = first; i < n; i += stride) {
    const Number& p = term[i].number;
    const Expression kept = zero_extend(truncated_magnitude(p, s.greatest, m_.fraction_bits), s.sum.width());
    const Expression one = with_sign(p.negative, kept);
    note({products + "term " + std::to_string(i) + " as it is cut", {one}, {}, {p.zero}});
    s.sum = s.sum + one;
    note({products + "sum up to " + std::to_string(i), {s.sum}});
  }
  return s;
}

TermTwoStageDots::Partial TermTwoStageDots::joined(const Partial& x, const Partial& y) const {
  const Expression greatest = signed_greater_of(x.greatest, y.greatest);
  return {floor_shift(x.sum, greatest - x.greatest) + floor_shift(y.sum, greatest - y.greatest), greatest};
}

TermTwoStageDots::Addend TermTwoStageDots::addend(bool c_is_operand, Code code, const Partial& products,
                                                  Seen& seen) const {
  note({"sum of the products", {products.greatest, products.sum}});
  Number c = read(c_format(c_is_operand), code);
  if (m_.c_special == CSpecial::reads_minus_one) {  // of an infinity or NaN, and drops it like any small c
    const Expression least = exponent(m_.fraction_bits), other = specials_of(table_, seen.specials).any();
    const Expression is_dropped = (c.infinite | c.nan) & ~other & signed_below(least, products.greatest);
    c.zero = c.zero | is_dropped;
    c.infinite = c.infinite & ~is_dropped;
    c.nan = c.nan & ~is_dropped;
    c.significand = choose(is_dropped, as_number(c.significand, 0), c.significand);
  }
  seen.specials.push_back(c);
  seen.operands.push_back(c);
  const Addend x = aligned_c(c_is_operand, c, exponent(operand_rule_zero_exponent));
  note("c", x.number, {}, {x.number.zero});
  return {x.number, x.aligned_at(), x.zero_reads};
}

TermTwoStageDots::Wide TermTwoStageDots::floored(const Partial& p, Int greatest, int below) const {
  const Expression units = append_zeros(p.sum, below - m_.fraction_bits);
  return {floor_shift(units, greatest - p.greatest), greatest - exponent(below)};
}

TermTwoStageDots::Wide TermTwoStageDots::floored(const Addend& c, Int greatest, int below) const {
  const Number& x = c.number;
  const int up = std::max(m_.fraction_bits - x.fraction_bits, 0),
            down = std::max(x.fraction_bits - m_.fraction_bits, 0);
  const Expression units = with_sign(x.negative, zero_extend(append_zeros(x.significand, up), sum_width()));
  const Expression kept = floor_shift(units, greatest - x.exponent + exponent(down));
  return {append_zeros(kept, below - m_.fraction_bits), greatest - exponent(below)};
}

TermTwoStageDots::Wide TermTwoStageDots::zero_where_below(const Wide& x, Int at, Int greatest, int bits) const {
  return {choose(signed_below(at, greatest - exponent(bits)), as_number(x.value, 0), x.value), x.unit};
}

TermTwoStageDots::Wide TermTwoStageDots::plus(const Wide& x, const Wide& y) const {
  note({"both parts", {x.value, y.value}});
  const Expression sum = x.value + y.value;
  note({"sum", {sum}});
  return {sum, x.unit};
}

TermTwoStageDots::Wide TermTwoStageDots::floored_below_leading(const Wide& x, Int, int, int kept) const {
  const Expression zeros = leading_zeros(magnitude_of(x.value), width_).count;
  const Expression top = x.unit + exponent(x.value.width() - 1) - zeros;
  const Expression unit = signed_greater_of(signed_greater_of(top, exponent(m_.d.emin())) - exponent(kept), x.unit);
  return {floor_shift(x.value, unit - x.unit), unit};
}

TermTwoStageDots::Code TermTwoStageDots::rounded(const Wide& total, const Seen& seen) const {
  const Expression& sum = total.value;
  const Expression finite = choose(is_zero(sum), zero_of(m_.d, constant(1, 0)),
                                   round_to(result_of(m_), bit(sum, sum.width() - 1), magnitude_of(sum), total.unit));
  const Expression result = noted_result(specials_of(table_, seen.specials), finite);
  const SpecialTerms operands = specials_of(table_, seen.operands);
  return m_.overflow_rank == OverflowRank::equal ? result
                                                 : choose(operands.any(), operands.result(m_.d, m_.nan), result);
}

}  // namespace mmafuzz::prove
