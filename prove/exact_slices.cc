// Whether a fused sum adds products of integers without error, as the Ozaki schemes need it (docs/ozaki.md).
#include <algorithm>
#include <bit>

#include "prove/formulas/term_dots.h"
#include "prove/question_parts.h"

namespace mmafuzz::prove {
namespace {

int64_t greatest_product(Magnitudes most) { return most.a * most.b; }

int width_of(int64_t magnitude) { return static_cast<int>(std::bit_width(static_cast<uint64_t>(magnitude))); }

/// A number as an integer. `holds` (one bit): it is one, of a magnitude below 2^width. Not for infinities and NaN.
struct Integer {
  Expression magnitude, holds;
};
Integer integer_of(const Number& x, int width) {
  Expressions& in = x.significand.of();
  const int exponent_width = x.exponent.width();
  const Expression zero = is_zero(x.significand), none = in.number(exponent_width, 0);
  const Expression in_range =
      ~signed_below(x.exponent, none) & signed_below(x.exponent, in.number(exponent_width, width));
  // The significand is shifted left by the exponent. The lowest fraction_bits bits are then those of the fraction.
  const int all = x.significand.width() + width;
  const int wide = std::max(all, exponent_width);
  const Expression amount = choose(in_range, x.exponent, none);
  const Expression moved = shift_left(zero_extend(x.significand, wide), zero_extend(amount, wide));
  const Expression fraction = x.fraction_bits > 0 ? is_zero(extract(moved, x.fraction_bits - 1, 0)) : in.constant(1, 1);
  const Expression whole = extract(moved, all - 1, x.fraction_bits);
  return {choose(zero, as_number(whole, 0), whole), zero | (in_range & fraction)};
}

Expression of_width(Expression x, int width) {
  return x.width() >= width ? extract(x, width - 1, 0) : zero_extend(x, width);
}

Expression at_most(Expression x, int64_t most) { return ~unsigned_below(as_number(x, most), x); }

/// Assumptions: a and b are integers within these magnitudes, c is an integer of at most `max_c` in magnitude, as the
/// products of earlier blocks can make it.
std::vector<Expression> integers(const Operands& x, const DotModel& m, Magnitudes greatest, int64_t max_c) {
  std::vector<Expression> all;
  const int width = exponent_width_of(m);
  const auto add = [&](const FormatFields& f, const std::vector<Expression>& operands, int64_t most) {
    for (const Expression& x : operands) {
      const Integer one = integer_of(decode(f, x, width), width_of(most));
      all.push_back(std::has_single_bit(static_cast<uint64_t>(most) + 1) ? one.holds
                                                                         : one.holds & at_most(one.magnitude, most));
    }
  };
  add(m.a, x.a, greatest.a);
  add(m.b, x.b, greatest.b);
  const Integer c = integer_of(decode(m.c, x.c, width), m.output_fraction_bits + 2);
  all.push_back(c.holds & at_most(c.magnitude, max_c));
  return all;
}

/// Lemma: in units of 2^(greatest exponent - F), every addend of a block is its integer times 2^(F - greatest
/// exponent): no bit is cut. The sum is such a multiple, too, and within its bounds. There is a case for each value of
/// the greatest exponent: the floor, where all addends are zero, and 0 to F.
MakeQuestion sums_are_exact(const Block& block, Magnitudes w, int64_t max_c) {
  return [=](Expressions& in) {
    const DotModel& m = block.model;
    const Operands x = dot_variables(in, block.op);
    const Formula f = dot_formula(m, x);
    CaseQuestion asked = relate(in, block.op, x, {}, {}, in.constant(1, 1));
    Question& question = asked.question;
    question.hints.clear();
    question.assumptions = integers(x, m, w, max_c);

    const std::string all = std::to_string(m.block + 1);
    const Expression g = point(f, "greatest exponent of " + all), floor = as_number(g, m.zero_exponent);
    const Expression nothing = equal(g, floor);
    question.cases.push_back(nothing);
    for (int j = 0; j <= m.fraction_bits; ++j) question.cases.push_back(equal(g, as_number(g, j)));

    const int sum_width = point(f, "sum of " + all).width();
    const Expression places = choose(nothing, as_number(g, 0), as_number(g, m.fraction_bits) - g);
    const int wide = std::max(sum_width + m.fraction_bits + 16, places.width());
    const auto are_equal = [&](Expression kept, Expression integer) {
      return equal(sign_extend(kept, wide), shift_left(sign_extend(integer, wide), zero_extend(places, wide)));
    };
    std::vector<Expression> whole, is_negative, maxima;
    for (int i = 2; i <= m.block + 1; ++i) maxima.push_back(point(f, "greatest exponent of " + std::to_string(i)));
    std::vector<Expression> special;
    for (int i = 0; i <= m.block; ++i) {
      const bool is_c = i == m.block;
      const std::string name = is_c ? "c" : "product " + std::to_string(i);
      const std::vector<Expression>& own = stage_of(f, name).points;
      question.first.push_back({name, own});
      question.second.push_back({name, own});
      Number n;
      n.exponent = own[1];
      n.significand = own[2];
      n.fraction_bits = is_c ? m.c.fraction_bits : m.a.fraction_bits + m.b.fraction_bits;
      const Integer integer = integer_of(n, is_c ? m.output_fraction_bits + 2 : width_of(w.a) + width_of(w.b));
      const int64_t most = is_c ? max_c : greatest_product(w);
      const Expression in_range =
          ~signed_below(own[1], as_number(own[1], 0)) & ~signed_below(as_number(own[1], m.fraction_bits), own[1]);
      for (const Expression& says : {own[3] | in_range, equal(own[3], is_zero(own[2])),
                                     integer.holds & at_most(integer.magnitude, most), ~own[4] & ~own[5]})
        question.facts.push_back({name + " is an integer", says, own, {}});
      whole.push_back(of_width(integer.magnitude, sum_width));
      is_negative.push_back(own[0]);
      special.insert(special.end(), {own[4], own[5]});
    }
    for (int i = 0; i <= m.block; ++i) {
      const std::vector<Expression>& own = stage_of(f, i == m.block ? "c" : "product " + std::to_string(i)).points;
      question.facts.push_back({"exponent " + std::to_string(i) + " is not above the greatest",
                                own[3] | ~signed_below(g, own[1]),
                                {},
                                maxima});
    }
    for (const Expression& e : maxima) {
      const Expression in_range = ~signed_below(e, as_number(e, 0)) & ~signed_below(as_number(e, m.fraction_bits), e);
      question.facts.push_back(
          {"a greatest exponent is the floor or that of an integer", equal(e, floor) | in_range, {e}, {}});
    }
    // Invariants of the sums: their last `places` bits are zero, and they are within the sum of their addends' bounds.
    const Expression last_places = ~shift_left(in.constant(wide, ones(wide)), zero_extend(places, wide));
    const Expression mask = extract(last_places, sum_width - 1, 0);
    const auto bound_of = [&](int64_t most) {
      return shift_left(in.constant(wide, Bits(uint64_t(most))), zero_extend(places, wide));
    };
    const Expression bound = bound_of(greatest_product(w)), c_bound = bound_of(max_c);
    question.facts.push_back({"last places", is_zero(mask & (mask + as_number(mask, 1))), {mask}, {}, true});
    for (const Expression& b : {bound, c_bound})
      question.facts.push_back(
          {"bounds", unsigned_below(b, in.constant(wide, Bits(1) << (wide - 8))), {b}, {mask}, true});
    Expression most = in.constant(wide, 0);
    for (int i = 0; i <= m.block; ++i) {
      const std::string number = std::to_string(i);
      const Expression kept = zero_extend(point(f, "addend " + number), sum_width), integer = whole[size_t(i)];
      const Expression own_bound = i == m.block ? c_bound : bound;
      for (const Expression& says :
           {are_equal(kept, integer), is_zero(kept & mask), ~unsigned_below(own_bound, zero_extend(kept, wide))})
        question.facts.push_back(
            {"addend " + number + " keeps all bits", says, {point(f, "addend " + number)}, {mask, own_bound}, true});
      most = most + own_bound;
      const Expression sum = point(f, "sum of " + std::to_string(i + 1)), wide_sum = sign_extend(sum, wide);
      for (const Expression& says :
           {is_zero(sum & mask), ~signed_below(most, wide_sum) & ~signed_below(wide_sum, -most)})
        question.facts.push_back({"sum of " + std::to_string(i + 1) + " is an integer", says, {sum}, {}});
    }
    const Expression last = sign_extend(point(f, "sum of " + all), wide);
    const Expression magnitude = choose(bit(last, wide - 1), -last, last);
    const Expression integer = shift_right(magnitude, zero_extend(places, wide));
    const int64_t all_most = m.block * greatest_product(w) + max_c;
    question.not_cut = {mask, bound, c_bound};
    question.violated = any_of(in, special) | ~is_zero(last & last_places) | ~at_most(integer, all_most);
    return asked;
  };
}

/// Lemma: a sum that is an integer of at most `most` in units of 2^(exponent - F) becomes that integer.
MakeQuestion integers_are_kept(const Block& block, int64_t most, int exponent) {
  return [=](Expressions& in) {
    const DotModel& m = block.model;
    const Operands x = dot_variables(in, block.op);
    const Formula f = dot_formula(m, x);
    const int width = point(f, "sum of " + std::to_string(m.block + 1)).width();
    const Expression integer = in.variable("integer", width);
    const Expression units = extract(append_zeros(integer, m.fraction_bits - exponent), width - 1, 0);
    const Number d =
        decode(m.d, encoded_sum(m, units, in.number(exponent_width_of(m), exponent)), exponent_width_of(m));
    const Integer result = integer_of(d, m.output_fraction_bits + 2);
    const Expression magnitude = choose(bit(integer, width - 1), -integer, integer);
    const Bits fits = ones(width - 1 - (m.fraction_bits - exponent));  // in the bits of a sum
    const int wide = std::max(width, result.magnitude.width());
    const Expression same = result.holds & ~d.infinite & ~d.nan &
                            (d.zero | equal(d.negative, bit(integer, width - 1))) &
                            equal(zero_extend(result.magnitude, wide), zero_extend(magnitude, wide));
    CaseQuestion asked = relate(in, block.op, x, {}, {},
                                same | ~at_most(magnitude, most) | unsigned_below(in.constant(width, fits), magnitude));
    asked.question.hints.clear();
    asked.question.variables.push_back(integer);
    asked.changed_samples = {in.constant(width, 1)};
    return asked;
  };
}

}  // namespace

PropertyQuestion exact_sums_question(const Op& op, const DotModel& m, Magnitudes w) {
  PropertyQuestion p;
  const int64_t most = op.k * greatest_product(w);
  p.whole = [=](Expressions& in) {
    const Operands x = dot_variables(in, op);
    const int width = exponent_width_of(m), wide = 60;
    Expression sum = in.constant(wide, 0);
    for (size_t i = 0; i < x.a.size(); ++i) {
      const Number a = decode(m.a, x.a[i], width), b = decode(m.b, x.b[i], width);
      const Expression u = of_width(integer_of(a, width_of(w.a)).magnitude, wide),
                       v = of_width(integer_of(b, width_of(w.b)).magnitude, wide);
      sum = sum + with_sign(a.negative ^ b.negative, u * v);
    }
    const Formula f = dot_formula(m, x);
    const Number d = decode(m.d, f.result, width);
    const Integer result = integer_of(d, 40);
    const Expression value = with_sign(d.negative, of_width(result.magnitude, wide));
    CaseQuestion asked = relate(in, op, x, {}, {}, result.holds & ~d.infinite & ~d.nan & equal(value, sum));
    asked.question.assumptions = integers(x, m, w, 0);
    asked.question.hints.clear();
    // Two sums of the greatest products, one of them with one factor less by 1: one of the two sums is odd.
    std::vector<Expression> great;
    const auto encoded = [&](const FormatFields& f, int64_t integer) {
      if (integer == 0) return in.constant(f.width, 0);
      const int exponent = width_of(integer) - 1;
      const uint64_t fraction = (uint64_t(integer) << f.fraction_bits >> exponent) & f.fraction_mask();
      return in.constant(f.width, Bits(f.in_container((uint64_t(f.bias + exponent) << f.fraction_bits) | fraction)));
    };
    for (size_t i = 0; i < x.a.size(); ++i) {
      if (i > 0) great.push_back(equal(x.a[i], encoded(m.a, w.a)));
      great.push_back(equal(x.b[i], encoded(m.b, w.b)));
    }
    for (const int64_t first : {w.a, w.a - 1}) {
      std::vector<Expression> all = great;
      all.push_back(equal(x.a[0], encoded(m.a, first)));
      all.push_back(is_zero(x.c));
      asked.question.hints.push_back({"greatest integers", all_of(in, all)});
    }
    return asked;
  };
  const Block block = block_of(op, m);
  const bool fits = op.c == op.d && op.k % m.block == 0 && m.k % m.block == 0 && m.output_via == OutputVia::direct;
  if (!fits || most > int64_t{1} << (m.output_fraction_bits + 1)) return p;
  p.argument =
      "By induction over the blocks, each of which takes an integer c, a sum of the products before: in units of 2^(g "
      "- "
      "F), g the greatest exponent, every addend of the block is its integer times 2^(F - g), no bit is cut, and the "
      "sum "
      "of the addends is an integer times 2^(F - g) within its bounds (lemma 1); such a sum becomes that integer (one "
      "lemma for each g).";
  p.lemmas = {sums_are_exact(block, w, most - block.op.k * greatest_product(w))};
  for (int g = 0; g <= m.fraction_bits; ++g) p.lemmas.push_back(integers_are_kept(block, most, g));
  return p;
}

}  // namespace mmafuzz::prove
