// Whether a fused sum adds products of integers without error, as the Ozaki schemes need it (docs/ozaki.md).
#include <algorithm>
#include <bit>

#include "prove/formulas/term_dots.h"
#include "prove/question_parts.h"

namespace mmafuzz::prove {
namespace {

int64_t greatest_product(Magnitudes factors) { return factors.a * factors.b; }

int width_of(int64_t magnitude) { return static_cast<int>(std::bit_width(static_cast<uint64_t>(magnitude))); }

/// A number as an integer. `holds` (one bit): it is one, of a magnitude below 2^width. Not for infinities and NaN.
struct Integer {
  Expression magnitude, holds;
};
Integer integer_of(const Number& x, int width) {
  Expressions& table = x.significand.table();
  const int exponent_width = x.exponent.width();
  const Expression zero = is_zero(x.significand), none = table.number(exponent_width, 0);
  const Expression in_range =
      ~signed_below(x.exponent, none) & signed_below(x.exponent, table.number(exponent_width, width));
  // The significand is shifted left by the exponent. The lowest fraction_bits bits are then those of the fraction.
  const int all = x.significand.width() + width;
  const int wide = std::max(all, exponent_width);
  const Expression amount = choose(in_range, x.exponent, none);
  const Expression moved = shift_left(zero_extend(x.significand, wide), zero_extend(amount, wide));
  const Expression fraction =
      x.fraction_bits > 0 ? is_zero(extract(moved, x.fraction_bits - 1, 0)) : table.constant(1, 1);
  const Expression whole = extract(moved, all - 1, x.fraction_bits);
  return {choose(zero, as_number(whole, 0), whole), zero | (in_range & fraction)};
}

Expression of_width(Expression x, int width) {
  return x.width() >= width ? extract(x, width - 1, 0) : zero_extend(x, width);
}

/// Assumptions: a and b are integers within these magnitudes, c is an integer of at most `max_c` in magnitude, as the
/// products of earlier blocks can make it.
std::vector<Expression> integers(const Operands& x, const DotModel& m, Magnitudes factors, int64_t max_c) {
  std::vector<Expression> all;
  const int width = exponent_width_of(m);
  const auto add = [&](const FormatFields& f, const std::vector<Expression>& operands, int64_t most) {
    for (const Expression& x : operands) {
      const Integer one = integer_of(decode(f, x, width), width_of(most));
      all.push_back(std::has_single_bit(static_cast<uint64_t>(most) + 1) ? one.holds
                                                                         : one.holds & at_most(one.magnitude, most));
    }
  };
  add(m.a, x.a, factors.a);
  add(m.b, x.b, factors.b);
  const Integer c = integer_of(decode(m.c, x.c, width), m.output_fraction_bits + 2);
  all.push_back(c.holds & at_most(c.magnitude, max_c));
  return all;
}

/// Lemma: in units of 2^(greatest exponent - F), every addend of a block is its integer times 2^(F - greatest
/// exponent): no bit is cut. The sum is such a multiple, too, and within its bounds. There is a case for each value of
/// the greatest exponent: the floor, where all addends are zero, and 0 to F.
MakeQuestion sums_are_exact(const Block& block, Magnitudes factors, int64_t max_c) {
  return [=](Expressions& table) {
    const DotModel& m = block.model;
    const Operands x = dot_variables(table, block.op);
    const Formula f = dot_formula(m, x);
    CaseQuestion asked = relate(table, block.op, x, {}, {}, table.constant(1, 1));
    Question& question = asked.question;
    question.hints.clear();
    question.assumptions = integers(x, m, factors, max_c);

    const std::string addends = std::to_string(m.block + 1);
    const Expression greatest = point(f, "greatest exponent of " + addends),
                     floor = as_number(greatest, m.zero_exponent);
    const Expression nothing = equal(greatest, floor);
    question.cases.push_back(nothing);
    for (int j = 0; j <= m.fraction_bits; ++j) question.cases.push_back(equal(greatest, as_number(greatest, j)));

    const int sum_width = point(f, "sum of " + addends).width();
    const Expression places = choose(nothing, as_number(greatest, 0), as_number(greatest, m.fraction_bits) - greatest);
    // Room for a shift by at most F places, and for the sums of bounds.
    const int wide = std::max(sum_width + m.fraction_bits + 16, places.width());
    std::vector<Expression> whole, maxima, special;
    for (int i = 2; i <= m.block + 1; ++i) maxima.push_back(point(f, "greatest exponent of " + std::to_string(i)));
    const auto addend = [&](int i) -> const Stage& {
      return stage_of(f, i == m.block ? "c" : "product " + std::to_string(i));
    };
    for (int i = 0; i <= m.block; ++i) {
      const bool is_c = i == m.block;
      const Stage& stage = addend(i);
      question.first.push_back({stage.name, stage.points});
      question.second.push_back({stage.name, stage.points});
      Number n = number_in(stage);
      n.fraction_bits = is_c ? m.c.fraction_bits : m.a.fraction_bits + m.b.fraction_bits;
      const Integer integer =
          integer_of(n, is_c ? m.output_fraction_bits + 2 : width_of(factors.a) + width_of(factors.b));
      const int64_t most = is_c ? max_c : greatest_product(factors);
      const Expression in_range = is_between(n.exponent, 0, m.fraction_bits);
      for (const Expression& says : {n.zero | in_range, equal(n.zero, is_zero(n.significand)),
                                     integer.holds & at_most(integer.magnitude, most), ~n.infinite & ~n.nan})
        question.facts.push_back({stage.name + " is an integer", says, stage.points, {}});
      whole.push_back(of_width(integer.magnitude, sum_width));
      special.insert(special.end(), {n.infinite, n.nan});
    }
    for (int i = 0; i <= m.block; ++i) {
      const Number n = number_in(addend(i));
      question.facts.push_back({"exponent " + std::to_string(i) + " is not above the greatest",
                                n.zero | ~signed_below(greatest, n.exponent),
                                {},
                                maxima});
    }
    for (const Expression& e : maxima)
      question.facts.push_back({"a greatest exponent is the floor or that of an integer",
                                equal(e, floor) | is_between(e, 0, m.fraction_bits),
                                {e},
                                {}});
    // Invariants of the sums: their last `places` bits are zero, and they are within the sum of their addends' bounds.
    const Expression wide_places = zero_extend(places, wide);
    const Expression last_places = ~shift_left(table.constant(wide, ones(wide)), wide_places);
    const Expression mask = extract(last_places, sum_width - 1, 0);
    const auto bound_of = [&](int64_t most) {
      return shift_left(table.constant(wide, Bits(uint64_t(most))), wide_places);
    };
    const Expression bound = bound_of(greatest_product(factors)), c_bound = bound_of(max_c);
    question.facts.push_back({"last places", is_zero(mask & (mask + as_number(mask, 1))), {mask}, {}, true});
    for (const Expression& b : {bound, c_bound})  // the 8 bits above are for the sum of all bounds, and its sign
      question.facts.push_back(
          {"bounds", unsigned_below(b, table.constant(wide, Bits(1) << (wide - 8))), {b}, {mask}, true});
    Expression most = table.constant(wide, 0);
    for (int i = 0; i <= m.block; ++i) {
      const std::string name = "addend " + std::to_string(i), sum_name = "sum of " + std::to_string(i + 1);
      const Expression kept = zero_extend(point(f, name), sum_width), integer = whole[size_t(i)];
      const Expression addend_bound = i == m.block ? c_bound : bound;
      for (const Expression& says :
           {equal(sign_extend(kept, wide), shift_left(sign_extend(integer, wide), wide_places)), is_zero(kept & mask),
            ~unsigned_below(addend_bound, zero_extend(kept, wide))})
        question.facts.push_back({name + " keeps all bits", says, {point(f, name)}, {mask, addend_bound}, true});
      most = most + addend_bound;
      const Expression sum = point(f, sum_name), wide_sum = sign_extend(sum, wide);
      for (const Expression& says :
           {is_zero(sum & mask), ~signed_below(most, wide_sum) & ~signed_below(wide_sum, -most)})
        question.facts.push_back({sum_name + " is an integer", says, {sum}, {}});
    }
    const Expression last = sign_extend(point(f, "sum of " + addends), wide);
    const Expression magnitude = choose(bit(last, wide - 1), -last, last);
    const Expression integer = shift_right(magnitude, wide_places);
    const int64_t greatest_sum = m.block * greatest_product(factors) + max_c;
    question.not_cut = {mask, bound, c_bound};
    question.violated = any_of(table, special) | ~is_zero(last & last_places) | ~at_most(integer, greatest_sum);
    return asked;
  };
}

/// Lemma: a sum that is an integer of at most `most` in units of 2^(exponent - F) becomes that integer.
MakeQuestion integers_are_kept(const Block& block, int64_t most, int exponent) {
  return [=](Expressions& table) {
    const DotModel& m = block.model;
    const Operands x = dot_variables(table, block.op);
    const Formula f = dot_formula(m, x);
    const int width = point(f, "sum of " + std::to_string(m.block + 1)).width();
    const Expression integer = table.variable("integer", width);
    const Expression units = extract(append_zeros(integer, m.fraction_bits - exponent), width - 1, 0);
    const Number d =
        decode(m.d, encoded_sum(m, units, table.number(exponent_width_of(m), exponent)), exponent_width_of(m));
    const Integer result = integer_of(d, m.output_fraction_bits + 2);
    const Expression magnitude = choose(bit(integer, width - 1), -integer, integer);
    const Bits fits = ones(width - 1 - (m.fraction_bits - exponent));  // in the bits of a sum
    const int wide = std::max(width, result.magnitude.width());
    const Expression same = result.holds & ~d.infinite & ~d.nan &
                            (d.zero | equal(d.negative, bit(integer, width - 1))) &
                            equal(zero_extend(result.magnitude, wide), zero_extend(magnitude, wide));
    CaseQuestion asked =
        relate(table, block.op, x, {}, {},
               same | ~at_most(magnitude, most) | unsigned_below(table.constant(width, fits), magnitude));
    asked.question.hints.clear();
    asked.question.variables.push_back(integer);
    asked.changed_samples = {table.constant(width, 1)};
    return asked;
  };
}

}  // namespace

PropertyQuestion exact_sums_question(const Op& op, const DotModel& m, Magnitudes factors) {
  constexpr int wide = 60, result_bits = 40;  // the sum of 4096 products of digits of 11 bits is below 2^34
  PropertyQuestion p;
  const int64_t most = op.k * greatest_product(factors);
  p.whole = [=](Expressions& table) {
    const Operands x = dot_variables(table, op);
    const int width = exponent_width_of(m);
    Expression sum = table.constant(wide, 0);
    for (size_t i = 0; i < x.a.size(); ++i) {
      const Number a = decode(m.a, x.a[i], width), b = decode(m.b, x.b[i], width);
      const Expression u = of_width(integer_of(a, width_of(factors.a)).magnitude, wide),
                       v = of_width(integer_of(b, width_of(factors.b)).magnitude, wide);
      sum = sum + with_sign(a.negative ^ b.negative, u * v);
    }
    const Formula f = dot_formula(m, x);
    const Number d = decode(m.d, f.result, width);
    const Integer result = integer_of(d, result_bits);
    const Expression value = with_sign(d.negative, of_width(result.magnitude, wide));
    CaseQuestion asked = relate(table, op, x, {}, {}, result.holds & ~d.infinite & ~d.nan & equal(value, sum));
    asked.question.assumptions = integers(x, m, factors, 0);
    asked.question.hints.clear();
    // Two sums of the greatest products, one of them with one factor less by 1: one of the two sums is odd.
    std::vector<Expression> great;
    const auto encoded = [&](const FormatFields& f, int64_t integer) {
      if (integer == 0) return table.constant(f.width, 0);
      const int exponent = width_of(integer) - 1;
      const uint64_t fraction = (uint64_t(integer) << f.fraction_bits >> exponent) & f.fraction_mask();
      return table.constant(f.width, Bits(f.in_container((uint64_t(f.bias + exponent) << f.fraction_bits) | fraction)));
    };
    for (size_t i = 0; i < x.a.size(); ++i) {
      if (i > 0) great.push_back(equal(x.a[i], encoded(m.a, factors.a)));
      great.push_back(equal(x.b[i], encoded(m.b, factors.b)));
    }
    for (const int64_t first : {factors.a, factors.a - 1}) {
      std::vector<Expression> all = great;
      all.push_back(equal(x.a[0], encoded(m.a, first)));
      all.push_back(is_zero(x.c));
      asked.question.hints.push_back({"greatest integers", all_of(table, all)});
    }
    return asked;
  };
  const Block block = block_of(op, m);
  const bool fits = op.c == op.d && op.k % m.block == 0 && m.k % m.block == 0 && m.output_via == OutputVia::direct;
  if (!fits || most > int64_t{1} << (m.output_fraction_bits + 1)) return p;
  p.argument =
      "By induction over the blocks, each of which takes an integer c, a sum of the products before: in units of "
      "2^(g - F), g the greatest exponent, every addend of the block is its integer times 2^(F - g), no bit is cut, "
      "and "
      "the sum of the addends is an integer times 2^(F - g) within its bounds (lemma 1); such a sum becomes that "
      "integer (one lemma for each g).";
  p.lemmas = {sums_are_exact(block, factors, most - block.op.k * greatest_product(factors))};
  for (int g = 0; g <= m.fraction_bits; ++g) p.lemmas.push_back(integers_are_kept(block, most, g));
  return p;
}

}  // namespace mmafuzz::prove
