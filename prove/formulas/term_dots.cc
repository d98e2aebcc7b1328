#include "prove/formulas/term_dots.h"

#include <algorithm>
#include <bit>

#include "arithmetic/emulated_fp8.h"
#include "prove/formulas/term_chains.h"

namespace mmafuzz::prove {
namespace {

/// Whether a number in two's complement is in -most..most.
Expression is_within(Expression x, const Bits& most) {
  const Expression greatest = x.table().constant(x.width(), most),
                   least = x.table().constant(x.width(), ones(x.width()) - most + 1);
  return ~signed_below(greatest, x) & ~signed_below(x, least);
}

/// The magnitude of a sum, wrapped to the row's integer bits.
Expression wrapped_magnitude(const DotModel& m, Expression sum) {
  const Expression magnitude = magnitude_of(sum);
  if (m.integer_bits <= 0 || m.fraction_bits + m.integer_bits >= sum.width()) return magnitude;
  return magnitude & sum.table().constant(sum.width(), ones(m.fraction_bits + m.integer_bits));
}

/// Rounds a nonzero magnitude * 2^unit as the row says.
Expression round_output(const DotModel& m, Expression negative, Expression magnitude, Expression unit) {
  const RoundTo to{m.d, m.output_fraction_bits, m.output_rounding, m.overflow, m.underflow_sign, m.subnormals};
  if (m.output_via == OutputVia::direct) return round_to(to, negative, magnitude, unit);
  const int exponent_width = std::max(unit.width(), 14);  // for fp32 and for fp32 with 12 bits of exponent
  if (m.output_via == OutputVia::fp32_nearest) {
    const RoundTo first{fp32_fields, fp32_fields.fraction_bits, Rounding::nearest_even,
                        m.overflow,  m.underflow_sign,          m.subnormals};
    const Number x = decode(fp32_fields, round_to(first, negative, magnitude, unit), exponent_width);
    const RoundTo again{m.d, m.d.fraction_bits, m.output_rounding, m.overflow};
    const Expression finite =
        round_to(again, x.negative, x.significand, x.exponent - as_number(x.exponent, x.fraction_bits));
    return choose(x.infinite, infinity_of(m.d, x.negative), choose(x.zero, zero_of(m.d, x.negative), finite));
  }
  FormatFields fp32 = fp32_fields;  // the range is the second rounding's affair
  fp32.exponent_bits = 12;
  fp32.width = 36;
  const RoundTo first{fp32, fp32.fraction_bits, Rounding::toward_zero};
  const Number x = decode(fp32, round_to(first, negative, magnitude, unit), exponent_width);
  const Expression none = as_number(negative, 0);
  const Expression zero = zero_of(m.d, m.underflow_sign == UnderflowSign::kept ? negative : none);
  return choose(x.zero, zero,
                round_to(to, negative, x.significand, x.exponent - as_number(x.exponent, x.fraction_bits)));
}

/// `zero`: the encoding of a sum that is zero.
Expression encoded(const DotModel& m, Expression sum, Expression magnitude, Expression greatest, Expression zero) {
  const Expression unit = greatest - as_number(greatest, m.fraction_bits);
  return choose(is_zero(magnitude), zero, round_output(m, bit(sum, sum.width() - 1), magnitude, unit));
}

/// The magnitude of a finite number in units of its format's least number.
Expression in_least_units(const Number& x, const FormatFields& f) {
  const int width = x.significand.width() + f.emax() - f.subnormal_exponent();
  return moved_up(zero_extend(x.significand, width), x.exponent - as_number(x.exponent, f.subnormal_exponent()));
}

}  // namespace

Expression encoded_sum(const DotModel& m, Expression sum, Expression greatest) {
  return encoded(m, sum, wrapped_magnitude(m, sum), greatest, sum.table().constant(m.d.width, 0));
}

Exponents greater_of(Exponents x, const Exponents& y) {
  if (y.floor) x.floor = x.floor ? std::max(*x.floor, *y.floor) : *y.floor;
  x.terms.insert(x.terms.end(), y.terms.begin(), y.terms.end());
  return x;
}

std::vector<Number> TermDots::numbers(const Term* term, int n, const Number& c) {
  std::vector<Number> all;
  for (int i = 0; i < n; ++i) all.push_back(term[i].number);
  all.push_back(c);
  return all;
}

template <class T>
std::vector<T> TermDots::c_last(std::vector<T> all) {
  if (!all.empty()) std::rotate(all.begin(), all.begin() + 1, all.end());
  return all;
}

TermDots::Mask TermDots::specials(const Seen& seen) const { return specials_of(table_, c_last(seen)).any(); }

TermDots::Term TermDots::product(int i, Seen& seen) const {
  Term p = aligned_product(i, floor());
  if (m_.scale_block > 0) {
    const Number sx = scale_a(i), sy = scale_b(i);
    const Expression both = sx.exponent + sy.exponent;
    p.number.exponent = p.exponent = p.number.exponent + both;
    if (m_.zero_rule == ZeroRule::operand) p.zero_reads = p.zero_reads + both;
    p.number.nan = p.number.nan | sx.nan | sy.nan;
  }
  const Expression significand = p.number.significand;
  note("product " + std::to_string(i), p.number, {at_most(significand, p.number.greatest_significand)},
       {p.number.zero});
  seen.push_back(p.number);
  return p;
}

TermDots::Term TermDots::group(int first, int last, Seen& seen) const {
  const Number sx = scale_a(first), sy = scale_b(first), scales = product_of(sx, sy);
  std::vector<Number> products;
  std::vector<Expression> zero;
  Expression sum;
  Bits most = 0;
  for (int i = first; i < last; ++i) {
    const Number x = decoded(m_.a, x_.a[size_t(i)]), y = decoded(m_.b, x_.b[size_t(i)]);
    products.push_back(product_of(x, y));
    zero.push_back(x.zero | y.zero);
    const Expression u = in_least_units(x, m_.a), v = in_least_units(y, m_.b);
    const int width = u.width() + v.width() + 1 + std::bit_width(unsigned(m_.group));
    const Expression product = zero_extend(u, width) * zero_extend(v, width);
    if (i == first) sum = as_number(product, 0);
    sum = sum + with_sign(x.negative ^ y.negative, product);
    most += ones(u.width()) * ones(v.width());
  }
  const SpecialTerms special = specials_of(table_, products);
  const Expression infinite = special.up | special.down;
  const Expression scales_are_zero = sx.zero | sy.zero;
  const Expression sum_is_negative = bit(sum, sum.width() - 1);
  const Expression magnitude = extract(magnitude_of(sum), sum.width() - 2, 0);
  const int width = magnitude.width() + scales.significand.width();
  Number g;
  g.significand = zero_extend(magnitude, width) * zero_extend(scales.significand, width);
  g.greatest_significand = most * scales.greatest_significand;
  g.fraction_bits = scales.fraction_bits - m_.a.subnormal_bit() - m_.b.subnormal_bit();
  g.exponent = scales.exponent;
  g.nan = special.nan | scales.nan | (infinite & scales_are_zero) | (special.up & special.down);
  g.infinite = infinite & ~g.nan;
  g.negative = choose(infinite, special.down, sum_is_negative);
  g.zero = scales_are_zero | (m_.zero_group == ZeroGroup::sum_zero ? is_zero(magnitude) : all_of(table_, zero));
  note("group " + std::to_string(first / m_.group), g);
  seen.push_back(g);
  return {g, g.exponent, m_.zero_rule == ZeroRule::operand ? read_exponent(sx) + read_exponent(sy) : floor()};
}

TermDots::Term TermDots::first_sum(int first, int last, Seen& seen) const {
  std::vector<Number> all;
  std::vector<Expression> zero;
  Expression greatest;
  const Expression least = exponent(m_.a.subnormal_exponent() + m_.b.subnormal_exponent());  // of all products
  for (int i = first; i < last; ++i) {
    const Term p = product(i, seen);
    const Expression reads = choose(p.number.zero, least, p.exponent);
    greatest = i == first ? reads : signed_greater_of(greatest, reads);
    all.push_back(p.number);
    zero.push_back(p.number.zero);
  }
  int width = 1;
  for (const Number& x : all) width = std::max(width, x.significand.width() + m_.fraction_bits - x.fraction_bits);
  width += std::bit_width(all.size() - 1) + 2;
  Expression sum = constant(width, 0);
  for (const Number& x : all) sum = sum + rounded_down(x, greatest, m_.fraction_bits, width);
  Number g;
  g.negative = bit(sum, width - 1);
  g.significand = magnitude_of(sum);
  g.greatest_significand = ones(width);
  g.fraction_bits = m_.fraction_bits;
  g.exponent = greatest;
  g.zero = all_of(table_, zero);
  g.infinite = g.nan = constant(1, 0);
  note("first sum " + std::to_string(first / m_.first_sum), g);
  return {g, g.exponent, floor()};
}

TermDots::Code TermDots::ranked_result(int first, int last, bool c_is_operand, Code code) const {
  const Expression no = constant(1, 0);
  Expression nan = no, invalid = no, up = no, down = no;
  for (int i = first; i < last; ++i) {
    const Number x = a(i), y = b(i), p = product_of(x, y);
    nan = nan | x.nan | y.nan;
    invalid = invalid | is_invalid_product(x, y);
    up = up | (p.infinite & ~p.negative);
    down = down | (p.infinite & p.negative);
  }
  const FormatFields& f = c_format(c_is_operand);
  const Number c = read(f, code);
  invalid = invalid | (up & down);
  up = up | (c.infinite & ~c.negative);
  down = down | (c.infinite & c.negative);
  const auto encoding = [&](uint64_t bits) { return constant(m_.d.width, static_cast<int64_t>(bits)); };
  Expression result = choose(up & down, encoding(m_.invalid_nan), infinity_of(m_.d, down));
  Expression of_c = encoding(m_.nan);
  if (m_.nan_of_c == NanOfC::quieted && !code.is_none() && f.fraction_bits > 0) of_c = quieted(m_.d, f, code);
  result = choose(c.nan, of_c, result);
  result = choose(invalid, encoding(m_.invalid_nan), result);
  result = choose(nan, encoding(m_.nan), result);
  note({"specials", {nan, invalid, c.nan, up, down}});
  return result;
}

Expression TermDots::cut_by_sign(const Number& x, const Number& c, bool is_c, Expression greatest, int width) const {
  if (m_.cut == Cut::opposed_complement) {
    const Expression kept = zero_extend(truncated_magnitude(x, greatest, m_.fraction_bits), width);
    return choose(x.negative ^ c.negative, ~kept, kept);
  }
  const Expression floored = rounded_down(x, greatest, m_.fraction_bits, width);
  if (!is_c || m_.lost_c == LostC::floored) return floored;
  const Expression unit = greatest - exponent(m_.fraction_bits);
  const Expression is_lost =
      is_zero(truncated_magnitude(x, greatest, m_.fraction_bits)) & signed_below(exponent(m_.d.emin()), unit);
  return choose(is_lost, as_number(floored, 0), floored);
}

TermDots::Term TermDots::addend(bool c_is_operand, Code code, Seen& seen) const {
  const FormatFields& f = c_format(c_is_operand);
  Number c = read(f, code);
  if (m_.special_scope == SpecialScope::block) {
    seen.push_back(c);
  } else if (!code.is_none()) {  // an all-ones exponent is an ordinary one
    FormatFields finite = f;
    finite.specials = Specials::none;
    const Number all_ones = decoded(finite, code);
    const Expression special = c.infinite | c.nan;
    c.exponent = choose(special, all_ones.exponent, c.exponent);
    c.significand = choose(special, all_ones.significand, c.significand);
    c.zero = choose(special, all_ones.zero, c.zero);
    c.infinite = c.nan = constant(1, 0);
  }
  const Expression zero_reads = m_.zero_rule == ZeroRule::operand ? exponent(operand_rule_zero_exponent) : floor();
  const Term t = aligned_c(c_is_operand, c, zero_reads);
  note("c", t.number);
  return t;
}

TermDots::Sum TermDots::cut_and_summed(const Term* term, int n, const Term& c, Exponents exponents) const {
  exponents.terms = c_last(exponents.terms);
  Expression greatest = exponents.terms[0];
  if (exponents.floor) greatest = signed_greater_of(exponent(*exponents.floor), greatest);
  for (size_t i = 1; i < exponents.terms.size(); ++i) {
    greatest = signed_greater_of(greatest, exponents.terms[i]);
    note({"greatest exponent of " + std::to_string(i + 1), {greatest}});
  }

  const std::vector<Number> all = numbers(term, n, c.number);
  if (traits_of(m_).floors()) {
    int width = 1;
    for (const Number& x : all) width = std::max(width, x.significand.width() + m_.fraction_bits - x.fraction_bits);
    width += std::bit_width(all.size() - 1) + 2;
    Sum sum{constant(width, 0), {}, greatest};
    for (size_t i = 0; i < all.size(); ++i) {
      sum.value = sum.value + cut_by_sign(all[i], c.number, i + 1 == all.size(), greatest, width);
      note({"sum of " + std::to_string(i + 1), {sum.value}});
    }
    if (m_.cut == Cut::opposed_complement) sum.value = with_sign(c.number.negative, sum.value);
    sum.magnitude = magnitude_of(sum.value);
    note({"magnitude of the sum", {sum.magnitude}});
    return sum;
  }
  std::vector<Expression> magnitudes;
  std::vector<Bits> most;  // of each magnitude
  int width = 1;
  for (const Number& x : all) {
    const int up = m_.fraction_bits - x.fraction_bits;
    most.push_back(up >= 0 ? x.greatest_significand << up : x.greatest_significand >> -up);
    Expression magnitude = truncated_magnitude(x, greatest, m_.fraction_bits);
    if (traits_of(m_).cuts_to_odd()) {
      magnitude = odd_magnitude(x, greatest, m_.fraction_bits, magnitude.width());
      most.back() |= 1;
    }
    note({"addend " + std::to_string(magnitudes.size()),
          {magnitude},
          {at_most(magnitude, most.back()), ~x.zero | is_zero(magnitude)}});
    magnitudes.push_back(magnitude);
    width = std::max(width, magnitude.width());
  }
  width += std::bit_width(all.size() - 1) + 1;
  Sum sum{constant(width, 0), {}, greatest};
  Bits bound = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const Expression signed_one = with_sign(all[i].negative, zero_extend(magnitudes[i], width));
    note({"addend " + std::to_string(i) + " with its sign", {signed_one}, {is_within(signed_one, most[i])}});
    sum.value = sum.value + signed_one;
    bound += most[i];
    note({"sum of " + std::to_string(i + 1), {sum.value}, {is_within(sum.value, bound)}});
  }
  sum.magnitude = wrapped_magnitude(m_, sum.value);
  note({"magnitude of the sum", {sum.magnitude}});
  return sum;
}

TermDots::Code TermDots::rounded(const std::vector<Number>& all, const Sum& sum) const {
  const Expression zero = zero_of(m_.d, zero_is_negative(m_, table_, all));
  const Expression result = encoded(m_, sum.value, sum.magnitude, sum.greatest, zero);
  note({"result", {result}});
  return result;
}

TermEmulatedDots::TermEmulatedDots(const DotModel& m, const Operands& x, const FormatFields& c_format,
                                   std::vector<Stage>& stages)
    : TermDomain(m, x, c_format, stages), half_(half_of_emulated(m)) {
  const auto as_fp16 = [&](const FormatFields& f, Expression e) { return widened(half_.a, decoded(f, e)); };
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < half_.k; ++i) {
      const size_t product = size_t(product_of_half(half, i));
      part_[half].a.push_back(as_fp16(m.a, x.a[product]));
      part_[half].b.push_back(as_fp16(m.b, x.b[product]));
    }
}

TermDots TermEmulatedDots::half(int which) const {
  return {half_, part_[which], m_.d, stages_, which == 0 ? "first sum, " : "second sum, "};
}

TermDots::Code TermEmulatedDots::joined(Code c, Code sum) const {
  DotModel add = m_;
  add.output_rounding = Rounding::nearest_even;
  const TermChains ieee(add, x_, c_format_, stages_);
  return ieee.stored(ieee.add(ieee.addend(c), ieee.real(sum)));
}

}  // namespace mmafuzz::prove
