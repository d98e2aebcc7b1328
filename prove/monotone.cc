// Whether a greater c can lower a result, and by how much.
#include <algorithm>

#include "arithmetic/corner_encodings.h"
#include "prove/formulas/term_dots.h"
#include "prove/question_parts.h"

namespace mmafuzz::prove {
namespace {

/// Two cases that differ in c: `after` has the next number above the c of `before`. Above both zeros this is the least
/// positive number, above the greatest negative number +0, above the greatest number infinity.
struct Rise {
  Operands before, after;
  Number c, next;  ///< the c of `before` and of `after`
};
Rise rise(Expressions& table, const Op& op, const DotModel& m) {
  const FormatFields& f = m.c;
  Rise r{dot_variables(table, op), {}, {}, {}};
  r.after = r.before;
  r.c = decode(f, r.before.c);
  const Expression one = table.constant(f.width, Bits(f.in_container(1)));
  const Expression c = r.before.c;
  const Expression negative = bit(c, f.width - 1),
                   least = table.constant(f.width, Bits(f.in_container(1) | f.in_container(f.sign_bit())));
  r.after.c = choose(r.c.zero, one, choose(equal(c, least), c - c, choose(negative, c - one, c + one)));
  r.next = decode(f, r.after.c);
  return r;
}

/// Ulps of the result as a difference of encodings: one of e8m13, which fp32 contains, is 2^10 encodings of fp32.
int64_t encodings_in(const DotModel& m, int64_t ulps) { return ulps << (m.d.fraction_bits - m.output_fraction_bits); }

/// A hint: c is just below a power of two, and each product but the first is one unit of the sum. These are lost when c
/// rises to that power.
Expression units_are_lost(Expressions& table, const DotModel& m, const Operands& x) {
  const auto least = [](const FormatFields& f) { return f.emin() - f.fraction_bits; };
  const auto power = [&](const FormatFields& f, int exponent) {
    return table.constant(f.width, Bits(encode_near(f, false, exponent, 0)));
  };
  const int unit = -1 - m.fraction_bits;  // where c is just below 1
  const int in_a = std::max(least(m.a), unit / 2), in_b = std::max(least(m.b), unit - in_a);
  const int crossed = std::clamp(in_a + in_b + m.fraction_bits + 1, m.c.emin() + 1, int(m.c.bias));
  std::vector<Expression> all = {equal(x.c, power(m.c, crossed) - as_number(x.c, int64_t{1} << m.c.ignored_low_bits))};
  for (size_t i = 0; i < x.a.size(); ++i) {
    all.push_back(equal(x.a[i], power(m.a, in_a)));
    if (i > 0) all.push_back(equal(x.b[i], power(m.b, in_b)));
  }
  return all_of(table, all);
}

/// Does no result fall by `ulps` or more where c is positive and the new result is not below the greater c? With 0:
/// does no result fall?
CaseQuestion rising_c(Expressions& table, const Op& op, const DotModel& m, int64_t ulps) {
  const Rise r = rise(table, op, m);
  const Formula before = dot_formula(m, r.before), after = dot_formula(m, r.after);
  const Number p = decode(m.d, before.result), q = decode(m.d, after.result);
  const int width = m.d.width + 3;  // of a difference of ranks
  const Expression x = sign_extend(rank_of(m.d, before.result), width),
                   y = sign_extend(rank_of(m.d, after.result), width);
  Expression falls = signed_below(y, x);
  if (ulps > 0)
    falls = signed_below(y + as_number(y, encodings_in(m, ulps) - 1), x) & ~p.infinite & ~q.negative & ~r.c.negative &
            ~r.c.zero & ~signed_below(y, sign_extend(rank_of(m.c, r.after.c), width));
  CaseQuestion asked = relate(table, op, r.before, before, after, ~falls | p.nan | q.nan);
  asked.question.assumptions.push_back(~r.c.nan & ~r.c.infinite);
  // Where c crosses a power of two, the other addends lose a bit more.
  const FormatFields& f = m.c;
  const uint64_t below_one = (uint64_t(f.bias) << f.fraction_bits) - 1;
  const Expression crosses = equal(r.before.c, table.constant(f.width, Bits(f.in_container(below_one))));
  std::vector<Expression> alike = {crosses}, half = {crosses};
  for (size_t i = 1; i < r.before.a.size(); ++i) {
    alike.push_back(equal(r.before.a[i], r.before.a[0]));
    if (i > 1) alike.push_back(equal(r.before.b[i], r.before.b[1]));
  }
  const uint64_t small_in_a = uint64_t(std::max(1, m.a.bias - 3)) << m.a.fraction_bits;
  for (const Expression& e : r.before.a)
    half.push_back(equal(e, table.constant(m.a.width, Bits(m.a.in_container(small_in_a)))));
  half.insert(half.end(), alike.begin() + 1, alike.end());
  asked.question.hints = {{"all products but one a unit of the sum", units_are_lost(table, m, r.before)},
                          {"c just below 1, every a 1/8, all but one b alike", all_of(table, half)},
                          {"c just below 1, products alike but for one", all_of(table, alike)}};
  return asked;
}

constexpr int max_steps = 7;  ///< maximum change of the greatest exponent where c rises to the next number; proven

/// The sum with its last `bits` cleared if rounding toward zero drops them: where it has so many more than d keeps, or
/// where they are below the least number of d. Else the sum.
Expression without_last_bits(const DotModel& m, Expression sum, Expression greatest, int bits) {
  Expressions& table = sum.table();
  if (bits == 0 || m.output_rounding != Rounding::toward_zero || m.output_via != OutputVia::direct) return sum;
  const int width = sum.width(), p = m.output_fraction_bits;
  const Expression negative = bit(sum, width - 1), magnitude = with_sign(negative, sum);
  const Expression cut = magnitude & table.constant(width, ones(width) - ones(bits));
  const Expression low = ~signed_below(as_number(greatest, m.d.emin() - p + m.fraction_bits - bits), greatest);
  const Expression drops = low | ~unsigned_below(magnitude, table.constant(width, Bits(1) << (p + bits)));
  return choose(drops, with_sign(negative, cut), sum);
}

/// Lemma: where the greatest exponent changes by j, the sum falls by no more than the bits that rounding drops and, if
/// j is not 0, `ulps` ulps of the greater c, whose exponent is then the greatest. One fact relates the magnitudes that
/// both cases keep of an addend; another, by induction, relates the sums of the first i addends. With `ulps`, c is
/// positive, so that j is 0 or 1.
MakeQuestion sums_do_not_fall(const Block& block, int64_t ulps = 0) {
  return [block, ulps](Expressions& table) {
    const Op& op = block.op;
    const DotModel& m = block.model;
    const Rise r = rise(table, op, m);
    const Formula before = dot_formula(m, r.before), after = dot_formula(m, r.after);
    const std::string all = std::to_string(m.block + 1);
    const Expression g = point(before, "greatest exponent of " + all), h = point(after, "greatest exponent of " + all);
    const Expression up = h - g, lower = bit(up, up.width() - 1), steps = with_sign(lower, up);
    const Expression s = point(before, "sum of " + all), t = point(after, "sum of " + all);
    const int more = max_steps + 1;

    CaseQuestion asked = relate(table, op, r.before, {}, {}, table.constant(1, 1));
    Question& question = asked.question;
    question.hints.clear();
    question.assumptions.push_back(~r.c.nan & ~r.c.infinite & ~r.next.infinite);
    if (ulps > 0) question.assumptions.push_back(~r.c.zero & ~r.c.negative);
    const int least_step = ulps > 0 ? 0 : -max_steps, greatest_step = ulps > 0 ? 1 : max_steps;
    std::vector<Expression> falls;
    for (int j = least_step; j <= greatest_step; ++j) {
      const Expression here = equal(up, as_number(up, j));
      question.cases.push_back(here);
      const Expression first = j < 0 ? s : without_last_bits(m, s, g, j),
                       last = j < 0 ? without_last_bits(m, t, h, -j) : t;
      const int width = s.width() + more;
      const auto in_units = [&](Expression x, int shift) {
        return extract(append_zeros(sign_extend(x, width), shift), width - 1, 0);
      };
      const int shift = std::max(0, m.fraction_bits - m.output_fraction_bits + std::abs(j));
      const int64_t allowed = j == 0 ? 0 : ulps << shift;
      const Expression risen = in_units(last, std::max(j, 0));
      falls.push_back(here & signed_below(risen + as_number(risen, allowed), in_units(first, std::max(-j, 0))));
    }
    question.violated = any_of(table, falls);
    question.not_cut = {up};

    for (size_t i = 0; i < before.stages.size(); ++i)
      if (before.stages[i].points == after.stages[i].points) {
        question.first.push_back(before.stages[i]);
        question.second.push_back(after.stages[i]);
      }
    question.facts.push_back(
        {"the greatest exponent moves by few steps", is_between(up, least_step, greatest_step), {up}, {g, h}});
    std::vector<Expression> maxima;
    for (int i = 2; i <= m.block; ++i) maxima.push_back(point(before, "greatest exponent of " + std::to_string(i)));
    for (int i = 0; i < op.k && !maxima.empty(); ++i) {  // the exponent of one product is its own greatest
      const std::string name = "product " + std::to_string(i);
      const Number product = number_in(stage_of(before, name));
      question.facts.push_back({name + " is not above the greatest exponent",
                                ~signed_below(maxima.back(), product.exponent) | product.zero,
                                {},
                                maxima});
    }
    const auto know = [&](const std::string& name) {
      for (const Formula* f : {&before, &after}) {
        const Stage& stage = stage_of(*f, name);
        for (const Expression& invariant : stage.invariants)
          question.facts.push_back({name + ", bound", invariant, stage.points, {}});
      }
    };
    for (int i = 0; i < op.k; ++i) {
      const std::string addend = "addend " + std::to_string(i), sum = "sum of " + std::to_string(i + 1);
      const Expression kept = point(before, addend), kept_after = point(after, addend);
      const Expression shift =
          steps.width() >= kept.width() ? extract(steps, kept.width() - 1, 0) : zero_extend(steps, kept.width());
      question.facts.push_back(
          {addend + " loses bits",
           choose(lower, equal(kept, shift_right(kept_after, shift)), equal(kept_after, shift_right(kept, shift))),
           {kept, kept_after},
           {up}});
      know(addend);
      // The coarser sum times 2^steps minus the finer sum; with the opposite sign where the greatest exponent falls.
      const Expression u = point(before, sum), v = point(after, sum);
      const int width = std::max(u.width() + more, steps.width());
      const Expression amount = zero_extend(steps, width), count = table.number(width, i + 1);
      const Expression coarse = shift_left(sign_extend(choose(lower, u, v), width), amount),
                       fine = sign_extend(choose(lower, v, u), width);
      const Expression difference = choose(lower, fine - coarse, coarse - fine), mirrored = choose(lower, -fine, fine);
      const Expression lost = shift_left(count, amount) - count;
      const Expression all_are_lost = equal(difference, -lost);
      question.facts.push_back(
          {sum + " falls by less than a unit for each addend",
           choose(is_zero(steps), equal(u, v),
                  ~signed_below(difference, -lost) & (~all_are_lost | ~signed_below(mirrored, lost))),
           {u, v},
           {},
           true});
      know(sum);
    }
    return asked;
  };
}

/// A statement about the rounding of a sum in units of 2^(greatest - F): one bit.
using AboutSums = std::function<Expression(const DotModel&, Expression sum, Expression greatest)>;
/// Lemma: the statement holds for every sum and every greatest exponent.
MakeQuestion of_every_sum(const Block& block, const AboutSums& holds) {
  return [block, holds](Expressions& table) {
    const Operands x = dot_variables(table, block.op);
    const Formula f = dot_formula(block.model, x);
    const std::string all = std::to_string(block.model.block + 1);
    const Stage& stage = stage_of(f, "sum of " + all);
    const int width = stage.points[0].width() + max_steps + 1,
              exponent_width = point(f, "greatest exponent of " + all).width();
    const Expression sum = table.variable("sum", width), greatest = table.variable("greatest", exponent_width);
    // Sums and exponents that occur leave room for one more bit.
    const Expression room = equal(bit(sum, width - 1), bit(sum, width - 2));
    const Expression far = table.number(exponent_width, (1 << (exponent_width - 2)) - 1);
    CaseQuestion asked =
        relate(table, block.op, x, {}, {},
               holds(block.model, sum, greatest) | ~room | signed_below(far, greatest) | signed_below(greatest, -far));
    asked.question.hints.clear();
    asked.question.variables.insert(asked.question.variables.end(), {sum, greatest});
    asked.changed_samples = {table.constant(width, 1), table.constant(exponent_width, 0)};
    return asked;
  };
}

Expression rank_of_sum(const DotModel& m, Expression sum, Expression greatest) {
  return rank_of(m.d, encoded_sum(m, sum, greatest));
}

/// Lemma: where infinities or NaN decide, the result does not fall either.
MakeQuestion specials_do_not_fall(const Block& block) {
  return [block](Expressions& table) {
    const DotModel& m = block.model;
    const Rise r = rise(table, block.op, m);
    const Formula before = dot_formula(m, r.before), after = dot_formula(m, r.after);
    std::vector<Expression> special;
    for (const Formula* f : {&before, &after})
      for (const Expression& decides : stage_of(*f, "specials").points) special.push_back(decides);
    const Number p = decode(m.d, before.result), q = decode(m.d, after.result);
    CaseQuestion asked = relate(table, block.op, r.before, {}, {},
                                ~any_of(table, special) | p.nan | q.nan | equal(before.result, after.result) |
                                    (p.infinite & p.negative) | (q.infinite & ~q.negative));
    asked.question.hints.clear();
    asked.question.assumptions.push_back(~r.c.nan & ~(r.c.infinite & ~r.c.negative));
    return asked;
  };
}

/// A result that is not below 2^(greatest + 1), the least c of the greater exponent, rises by at most one ulp of its
/// own where one ulp of such a c is added to the sum.
Expression one_ulp_is_one_step(const DotModel& row, Expression sum, Expression greatest) {
  const auto rank = [&](Expression x) { return rank_of_sum(row, x, greatest); };
  const int more = row.fraction_bits - row.output_fraction_bits + 1;
  const Expression least = as_number(sum, int64_t{1} << (row.fraction_bits + 1));  // 2^(greatest + 1)
  const Expression x = rank(sum), y = rank(sum + as_number(sum, int64_t{1} << more));
  return signed_below(x, rank(least)) | ~signed_below(x + as_number(x, encodings_in(row, 1)), y);
}

}  // namespace

PropertyQuestion monotone_in_c(const Op& op, const DotModel& m) {
  PropertyQuestion p;
  p.whole = [=](Expressions& table) { return rising_c(table, op, m, 0); };
  if (!traits_of(m).is_fused_sum() || !has_like_blocks(op, m)) return p;
  if (!(op.c == op.d) || m.k % step_of(m) != 0) return p;  // the few products may be in a shorter block, too
  p.argument =
      "One block, c rising to the next number. Where the greatest exponent moves by j, the sum falls by no more than "
      "the last j bits where rounding toward zero drops those (lemma 1). Of the result: a sum that is greater by one "
      "does not give a smaller one, and so no greater sum does (lemma 2); twice the sum in half the units gives the "
      "same, as does the sum in more bits (lemmas 3, 4); and a last bit that rounding drops may be cleared (lemma 5), "
      "so the last j, one after the other. Infinities and NaN do not make it fall (lemma 6). A rise by many steps is a "
      "rise by one many times, and later blocks take a c that has risen or is the same.";
  Block block = block_of(op, m);
  block.model.k = step_of(m);  // more blocks of zero products are blocks of few products, too
  p.lemmas = {sums_do_not_fall(block)};
  p.lemmas.push_back(of_every_sum(block, [](const DotModel& row, Expression sum, Expression greatest) {
    return ~signed_below(rank_of_sum(row, sum + as_number(sum, 1), greatest), rank_of_sum(row, sum, greatest));
  }));
  p.lemmas.push_back(of_every_sum(block, [](const DotModel& row, Expression sum, Expression greatest) {
    return equal(rank_of_sum(row, sum, greatest), rank_of_sum(row, sum + sum, greatest - as_number(greatest, 1)));
  }));
  p.lemmas.push_back(of_every_sum(block, [](const DotModel& row, Expression sum, Expression greatest) {
    const Expression fewer = extract(sum, sum.width() - max_steps - 2, 0);
    return ~equal(sign_extend(fewer, sum.width()), sum) |
           equal(rank_of_sum(row, sum, greatest), rank_of_sum(row, fewer, greatest));
  }));
  p.lemmas.push_back(of_every_sum(block, [](const DotModel& row, Expression sum, Expression greatest) {
    return equal(rank_of_sum(row, sum, greatest), rank_of_sum(row, without_last_bits(row, sum, greatest, 1), greatest));
  }));
  p.lemmas.push_back(specials_do_not_fall(block));
  return p;
}

PropertyQuestion fall_question(const Op& op, const DotModel& m, int64_t ulps) {
  PropertyQuestion p = monotone_in_c(op, m);
  p.whole = [=](Expressions& table) { return rising_c(table, op, m, ulps + 1); };
  // The lemmas count in units of the sum: an ulp of the greater c must be a whole number of them.
  if (m.fraction_bits + 1 < m.output_fraction_bits) p.lemmas.clear();
  // They are about one block, which takes c and all products.
  const bool first_takes_all = has_contiguous_blocks(m) && (m.k == step_of(m) || m.order != ProductOrder::descending);
  if (!first_takes_all) p.lemmas.clear();
  if (p.lemmas.empty()) return p;
  p.argument =
      "As for monotone_in_c, except that c is positive, so that the greatest exponent stays or rises by one, and where "
      "it rises (it is then the greater c's), the sum falls by so many ulps of the greater c besides (lemma 1); and "
      "while a result is not below the least c of that exponent, one such ulp raises it by one ulp at most (lemma 7).";
  Block block = block_of(op, m);
  block.model.k = step_of(m);
  p.lemmas[0] = sums_do_not_fall(block, ulps);
  p.lemmas.push_back(of_every_sum(block, one_ulp_is_one_step));
  return p;
}

}  // namespace mmafuzz::prove
