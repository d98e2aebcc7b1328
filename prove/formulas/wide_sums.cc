// AMD's sums of products: exact (docs/semantics.md 5) and in two stages (7).
#include <algorithm>

#include "prove/formulas/aligned_sum.h"
#include "prove/formulas/kernels.h"

namespace mmafuzz::prove {

Result<bool> exact_sum_covers(const DotModel& m) {
  if (m.low_bits != LowBits::ignored) return declined("formulas of exact sums ignore the low bits of tf32 (low_bits)");
  if (m.subnormals != Subnormals::kept) return declined("formulas of exact sums keep subnormals (subnormals)");
  if (m.product_overflow != ProductOverflow::none)
    return declined("formulas of exact sums have no products that overflow (product_overflow)");
  return true;
}

Result<bool> two_stage_covers(const DotModel& m) {
  if (m.d.emin() > fp32_fields.emin())
    return declined("formulas of two-stage sums take a d with the exponents of fp32");
  if (m.low_bits != LowBits::ignored)
    return declined("formulas of two-stage sums ignore the low bits of tf32 (low_bits)");
  if (m.subnormals != Subnormals::kept) return declined("formulas of two-stage sums keep subnormals (subnormals)");
  if (m.zero_rule == ZeroRule::operand)
    return declined("formulas of two-stage sums give a zero product no exponent (zero_rule)");
  if (m.c_special != CSpecial::propagates)
    return declined("formulas of two-stage sums pass on a special c (c_special)");
  if (m.overflow_rank != OverflowRank::equal)
    return declined("formulas of two-stage sums do not rank infinities (overflow_rank)");
  return true;
}

namespace {

/// Specials of a block: 1.1, and an infinity for each product that overflows.
Expression with_specials(Formula& part, const DotModel& m, const std::vector<Number>& terms, Expression finite) {
  Expressions& in = finite.of();
  std::vector<Expression> nan, up, down;
  for (const Number& x : terms) {
    nan.push_back(x.nan);
    up.push_back(x.infinite & ~x.negative);
    down.push_back(x.infinite & x.negative);
  }
  const Expression any_up = any_of(in, up), any_down = any_of(in, down), any_nan = any_of(in, nan);
  part.stages.push_back({"specials", {any_nan, any_up, any_down}});
  const Expression infinity =
      in.constant(m.d.exponent_bits + m.d.fraction_bits, Bits(unsigned(m.d.top_exponent_field())) << m.d.fraction_bits);
  return choose(any_nan | (any_up & any_down), in.constant(m.d.width, Bits(m.nan)),
                choose(any_up | any_down, concat(any_down, infinity), finite));
}

Expression with_sign(Expression negative, Expression magnitude) { return choose(negative, -magnitude, magnitude); }

Expression magnitude_of(Expression x) { return choose(bit(x, x.width() - 1), -x, x); }

Expression moved(Expression x, Expression by, bool left) {
  const int width = std::max(x.width(), by.width());
  const Expression wide = zero_extend(x, width), amount = zero_extend(by, width);
  return extract(left ? shift_left(wide, amount) : shift_right(wide, amount), x.width() - 1, 0);
}

/// floor(x / 2^by) of two's complement; `by` is not negative.
Expression floor_shift(Expression x, Expression by) {
  const Expression negative = bit(x, x.width() - 1);
  const Expression cut = moved(choose(negative, ~x, x), by, false);
  return choose(negative, ~cut, cut);
}

Expression zero_of(const DotModel& m, Expression negative) {
  return concat(negative, negative.of().constant(m.d.exponent_bits + m.d.fraction_bits, 0));
}

std::vector<Number> products_of(const DotModel& m, const Operands& x, int first, int end, int width) {
  std::vector<Number> products;
  for (int i = first; i < end; ++i)
    products.push_back(product_of(decode(m.a, x.a[size_t(i)], width), decode(m.b, x.b[size_t(i)], width)));
  return products;
}

Stage stage_of_term(const std::string& name, const Number& x) {
  return {name, {x.negative, x.exponent, x.significand, x.zero, x.infinite, x.nan}, {}, {x.zero}};
}

/// Blocks in index order, each by `block` from its products and c.
template <class MakeBlock>
Formula chained(const DotModel& m, const Operands& x, const FormatFields& c_format, const MakeBlock& block) {
  const int width = exponent_width_of(m), k = static_cast<int>(x.a.size());
  Formula all;
  all.result = x.c;
  FormatFields last = c_format;
  for (int first = 0; first < k; first += m.block) {
    const std::vector<Number> products = products_of(m, x, first, std::min(first + m.block, k), width);
    Formula part;
    for (size_t i = 0; i < products.size(); ++i)
      part.stages.push_back(stage_of_term("product " + std::to_string(i), products[i]));
    part.result = block(part, products, all.result, last, width);
    part.stages.push_back({"result", {part.result}});
    append(all, k > m.block ? "block " + std::to_string(first / m.block) + ", " : "", part);
    last = m.d;
  }
  return all;
}

}  // namespace

Formula exact_sum(const DotModel& m, const Operands& x, const FormatFields& c_format) {
  Expressions& in = x.c.of();
  return chained(
      m, x, c_format, [&](Formula& part, std::vector<Number> terms, Expression c, const FormatFields& f, int width) {
        terms.push_back(decode(f, c, width));
        part.stages.push_back(stage_of_term("c", terms.back()));
        const int least = std::min(m.a.least_bit() + m.b.least_bit(), f.least_bit());
        int bits = std::max(m.a.emax() + m.b.emax() + 2, f.emax() + 1) - least + 1;
        for (size_t n = terms.size(); n > 0; n /= 2) ++bits;
        Expression sum = in.constant(bits, 0);
        std::vector<Expression> negative, positive;
        for (const Number& t : terms) {
          const Expression up = t.exponent - as_number(t.exponent, t.fraction_bits + least);
          const Expression significand = choose(t.infinite | t.nan, as_number(t.significand, 0), t.significand);
          const std::string number = std::to_string(negative.size());
          const Expression magnitude = moved(zero_extend(significand, bits), up, true);
          const Expression term = choose(t.zero, as_number(magnitude, 0), with_sign(t.negative, magnitude));
          part.stages.push_back({"term " + number, {term}, {}, {t.zero}});
          sum = sum + term;
          part.stages.push_back({"sum of " + std::to_string(negative.size() + 1), {sum}});
          negative.push_back(t.negative);
          positive.push_back(~t.negative);
        }
        const bool down = m.output_rounding == Rounding::down;
        Expression zero_sign = in.constant(1, 0);
        if (m.zero_sign == ZeroSign::any_negative || (m.zero_sign == ZeroSign::ieee && down))
          zero_sign = any_of(in, negative);
        else if (m.zero_sign == ZeroSign::ieee) zero_sign = all_of(in, negative);
        const RoundTo to{m.d, m.d.fraction_bits, m.output_rounding, m.overflow, UnderflowSign::kept};
        const Expression magnitude = magnitude_of(sum);
        part.stages.push_back({"magnitude of the sum", {magnitude}});
        const Expression rounded =
            round_to(to, bit(sum, bits - 1), magnitude, in.number(width, least), in.constant(1, 0));
        return with_specials(part, m, terms, choose(is_zero(sum), zero_of(m, zero_sign), rounded));
      });
}

Formula two_stage_sum(const DotModel& m, const Operands& x, const FormatFields& c_format) {
  Expressions& in = x.c.of();
  const int f = m.fraction_bits;
  const int more = m.second_stage == SecondStage::floor32_then_31 ? 8 : 7;  // places below those of the first stage
  return chained(
      m, x, c_format,
      [&](Formula& part, std::vector<Number> terms, Expression c_encoding, const FormatFields& format, int width) {
        const Expression none = in.number(width, -(1 << (width - 2)));
        for (Number& p : terms) {
          const Number normal = normalized(p, -600);
          const Expression large = ~signed_below(normal.exponent, in.number(width, 128));
          const Expression overflows = large & ~p.zero & ~p.nan & ~p.infinite;
          if (m.product == ProductRule::normalized) p = normal;
          if (m.product_overflow == ProductOverflow::none) continue;
          p.infinite = p.infinite | overflows;
          if (m.product_overflow == ProductOverflow::positive_infinity) p.negative = p.negative & ~overflows;
        }
        // Products cut toward zero f bits below their greatest exponent, and added.
        for (size_t i = 0; i < terms.size(); ++i)
          part.stages.push_back(stage_of_term("term " + std::to_string(i), terms[i]));
        struct Partial {
          Expression sum, greatest;
        };
        const int sum_width = std::max(f, int(format.fraction_bits)) + 3 + 8 + more;
        const auto partial = [&](size_t first, size_t stride) {
          Partial s{in.constant(sum_width, 0), none};
          for (size_t i = first; i < terms.size(); i += stride)
            s.greatest = signed_greater_of(s.greatest, choose(terms[i].zero, none, terms[i].exponent));
          const std::string of = "products " + std::to_string(first) + " and on, ";
          part.stages.push_back({of + "greatest exponent", {s.greatest}});
          for (size_t i = first; i < terms.size(); i += stride) {
            const Number& p = terms[i];
            const int fraction = std::max(f, p.fraction_bits);
            const Expression wide = append_zeros(p.significand, fraction - p.fraction_bits);
            const Expression cut = choose(p.zero, as_number(wide, 0), moved(wide, s.greatest - p.exponent, false));
            const Expression kept = extract(cut, wide.width() - 1, fraction - f);
            const Expression term =
                choose(p.zero, in.constant(sum_width, 0), with_sign(p.negative, zero_extend(kept, sum_width)));
            part.stages.push_back({of + "term " + std::to_string(i) + " as it is cut", {term}, {}, {p.zero}});
            s.sum = s.sum + term;
            part.stages.push_back({of + "sum up to " + std::to_string(i), {s.sum}});
          }
          return s;
        };
        Partial dot;
        if (m.odd_even) {
          const Partial even = partial(0, 2), odd = partial(1, 2);
          dot.greatest = signed_greater_of(even.greatest, odd.greatest);
          dot.sum =
              floor_shift(even.sum, dot.greatest - even.greatest) + floor_shift(odd.sum, dot.greatest - odd.greatest);
        } else {
          dot = partial(0, 1);
        }
        part.stages.push_back({"sum of the products", {dot.greatest, dot.sum}});
        const Number c = c_of(m, c_encoding, format, width);
        part.stages.push_back(stage_of_term("c", c));
        const Expression c_exponent = choose(c.zero, in.number(width, -126), c.exponent);
        const Expression greatest = signed_greater_of(dot.greatest, c_exponent);
        const auto lower = [&](Expression s) { return extract(append_zeros(s, more), sum_width - 1, 0); };
        const Expression products = floor_shift(lower(dot.sum), greatest - dot.greatest);
        // c is floored f bits below, then in the same units.
        Expression c_units = zero_extend(c.significand, sum_width);
        const int up = f - c.fraction_bits;
        if (up > 0) c_units = extract(append_zeros(c_units, up), sum_width - 1, 0);
        Expression c_shift = greatest - c.exponent;
        if (up < 0) c_shift = c_shift + in.number(width, -up);
        Expression c_part = floor_shift(with_sign(c.negative, c_units), c_shift);
        if (m.odd_even)
          c_part = choose(signed_below(c_exponent, greatest - in.number(width, f + 1)), as_number(c_part, 0), c_part);
        part.stages.push_back({"both parts", {products, c_part}});
        Expression sum = products + lower(c_part);
        part.stages.push_back({"sum", {sum}});
        const Expression unit = greatest - in.number(width, f + more);
        if (more == 8) {
          const LeadingZeros zeros = leading_zeros(magnitude_of(sum), width);
          const Expression leading =
              signed_greater_of(unit + in.number(width, sum_width - 1) - zeros.count, in.number(width, m.d.emin()));
          const Expression drop = leading - in.number(width, f + 7) - unit;
          const Expression places = choose(bit(drop, width - 1), in.number(width, 0), drop);
          sum = choose(is_zero(sum), sum, moved(floor_shift(sum, places), places, true));
        }
        const RoundTo to{m.d, m.d.fraction_bits, m.output_rounding, m.overflow, UnderflowSign::kept};
        const Expression rounded = round_to(to, bit(sum, sum_width - 1), magnitude_of(sum), unit, in.constant(1, 0));
        std::vector<Number> all = terms;
        all.push_back(c);
        return with_specials(part, m, all, choose(is_zero(sum), zero_of(m, in.constant(1, 0)), rounded));
      });
}

}  // namespace mmafuzz::prove
