#include "prove/questions.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "core/contradiction.h"
#include "core/words.h"
#include "prove/evaluate.h"
#include "prove/formulas/aligned_sum.h"
#include "prove/formulas/numbers.h"
#include "search/structured_generator.h"

namespace mmafuzz::prove {
namespace {

/// A result as a number that compares as the results do; both zeros are 0. Not for NaN.
Expression rank_of(const FormatFields& f, Expression x) {
  const Expression code = extract(x, f.width - 1, f.ignored_low_bits);
  const int width = code.width() + 1;
  const Expression magnitude =
      f.has_sign() ? zero_extend(extract(code, code.width() - 2, 0), width) : zero_extend(code, width);
  return f.has_sign() ? choose(bit(code, code.width() - 1), -magnitude, magnitude) : magnitude;
}

/// Equal encodings, or zeros of either sign, or any two NaNs.
Expression same_number(const FormatFields& f, Expression x, Expression y) {
  const Number a = decode(f, x, f.exponent_bits + 3), b = decode(f, y, f.exponent_bits + 3);
  return equal(x, y) | (a.zero & b.zero) | (a.nan & b.nan);
}

Expression with_flipped_sign(const FormatFields& f, Expression x) {
  return f.has_sign() ? x ^ x.of().constant(f.width, Bits(f.in_container(f.sign_bit()))) : x;
}

/// The first products and c positive in one binade, the other products zero; any few products.
std::vector<Hint> hints_of(Expressions& in, const Op& op, const Operands& x) {
  const auto in_binade = [](const FormatFields& f, Expression e) {
    const Number n = decode(f, e, f.exponent_bits + 3);
    return is_zero(n.exponent) & ~n.negative;
  };
  const auto rest_is_zero = [&](size_t first) {
    std::vector<Expression> none;
    for (size_t i = first; i < x.a.size(); ++i) none.push_back(is_zero(x.a[i]) & is_zero(x.b[i]));
    return all_of(in, none);
  };
  std::vector<Hint> hints;
  for (size_t count = x.a.size(); count >= 4; count /= 2) {
    std::vector<Expression> binade = {in_binade(op.c.fields(), x.c), rest_is_zero(count)};
    for (size_t i = 0; i < count; ++i) {
      binade.push_back(in_binade(op.a.fields(), x.a[i]));
      binade.push_back(in_binade(op.b.fields(), x.b[i]));
    }
    hints.push_back({std::to_string(count) + " products of numbers in [1, 2)", all_of(in, binade)});
  }
  for (size_t few = 1; few < x.a.size() && few <= 4; few *= 2)
    hints.push_back({std::to_string(few) + " products", rest_is_zero(few)});
  return hints;
}

/// The question whether two formulas' results stand in a relation, on the same or on transformed operands.
CaseQuestion relate(Expressions& in, const Op& op, const Operands& operands, Formula first, Formula second,
                    Expression holds) {
  CaseQuestion q{op, operands, {}, {}};
  q.question.variables = in_case_order(operands);
  q.question.violated = ~holds;
  q.question.hints = hints_of(in, op, operands);
  bool same_shape = first.stages.size() == second.stages.size();
  for (size_t s = 0; same_shape && s < first.stages.size(); ++s)
    same_shape = first.stages[s].points.size() == second.stages[s].points.size();
  if (!same_shape) return q;
  q.question.first = std::move(first.stages);
  q.question.second = std::move(second.stages);
  return q;
}

/// Products that a dot takes in one step, whose d is the next step's c.
int step_of(const DotModel& m) { return m.kernel == Kernel::fused_sum ? m.block : m.k; }

/// The op and the row of one block alone.
struct Block {
  Op op;
  DotModel model;
};
Block block_of(const Op& op, const DotModel& m) {
  Block block{op, m};
  block.op.k = std::min(op.k, step_of(m));
  if (block.op.k == step_of(m)) block.model.k = step_of(m);
  return block;
}

/// Whether every block of a dot of the row is like every other: then what one block keeps, all keep.
bool has_like_blocks(const Op& op, const DotModel& m) {
  const int step = step_of(m);
  return op.k <= step || (op.c == op.d && op.k % step == 0 && m.k % step == 0);
}

constexpr const char* by_induction =
    "By induction over the blocks of a dot, each of which takes the last one's d as c: ";

CaseQuestion negated_twin(Expressions& in, const Op& op, const DotModel& m, bool any_related_c) {
  const Operands x = dot_variables(in, op);
  Operands y = x;
  for (Expression& a : y.a) a = with_flipped_sign(m.a, a);
  y.c = any_related_c ? in.variable("c_of_twin", m.c.width) : with_flipped_sign(m.c, x.c);
  // Opposite encodings, or zeros of any signs. Of a d also NaN, which is always positive.
  const auto opposite = [](const FormatFields& f, Expression p, Expression q) {
    const Number a = decode(f, p, f.exponent_bits + 3), b = decode(f, q, f.exponent_bits + 3);
    return equal(with_flipped_sign(f, p), q) | (a.zero & b.zero);
  };
  const auto same_nan = [](const FormatFields& f, Expression p, Expression q) {
    return equal(p, q) & decode(f, p, f.exponent_bits + 3).nan;
  };
  const Formula before = dot_formula(m, x), after = dot_formula(m, y);
  CaseQuestion q = relate(in, op, x, before, after,
                          opposite(m.d, before.result, after.result) | same_nan(m.d, before.result, after.result));
  if (any_related_c) {
    q.question.variables.push_back(y.c);
    q.twin_samples = {with_flipped_sign(m.c, x.c)};
    q.question.assumptions.push_back(opposite(m.c, x.c, y.c));
  }
  return q;
}

PropertyQuestion sign_symmetry(const Op& op, const DotModel& m) {
  PropertyQuestion p;
  p.whole = [=](Expressions& in) { return negated_twin(in, op, m, false); };
  if (!has_like_blocks(op, m) || op.k <= step_of(m)) return p;
  p.argument =
      std::string(by_induction) +
      "where the two c are opposite or zeros of any sign, and the products opposite, so are the two d, or both are the "
      "same NaN (lemma 1). A block whose c is NaN gives that NaN (lemma 2).";
  const Block block = block_of(op, m);
  p.lemmas = {[=](Expressions& in) { return negated_twin(in, block.op, block.model, true); },
              [=](Expressions& in) {
                const Operands x = dot_variables(in, block.op);
                const Formula f = dot_formula(block.model, x);
                CaseQuestion q = relate(in, block.op, x, f, f, equal(f.result, in.constant(m.d.width, Bits(m.nan))));
                q.question.assumptions.push_back(decode(m.c, x.c, m.c.exponent_bits + 3).nan);
                return q;
              }};
  return p;
}

PropertyQuestion swap_operands(const Op& op, const DotModel& m) {
  return {"", {}, [=](Expressions& in) {
            const Operands x = dot_variables(in, op);
            Operands y = x;
            std::swap(y.a, y.b);
            std::swap(y.scale_a, y.scale_b);
            const Formula before = dot_formula(m, x), after = dot_formula(m, y);
            return relate(in, op, x, before, after, equal(before.result, after.result));
          }};
}

/// Zero products of x become +0 * +0; with `more`, as many zero products with great factors follow.
Operands padded(Expressions& in, const Operands& x, const DotModel& m, bool more) {
  Operands y = x;
  const Expression zero_a = in.constant(m.a.width, 0), zero_b = in.constant(m.b.width, 0);
  for (size_t i = 0; i < x.a.size(); ++i) {
    const Expression zero =
        product_of(decode(m.a, x.a[i], exponent_width_of(m)), decode(m.b, x.b[i], exponent_width_of(m))).zero;
    y.a[i] = choose(zero, zero_a, x.a[i]);
    y.b[i] = choose(zero, zero_b, x.b[i]);
  }
  if (!more) return y;
  for (size_t i = 0; i < x.a.size(); ++i) {
    y.a.push_back(i % 2 ? in.constant(m.a.width, Bits(m.a.encode_greatest(false))) : zero_a);
    y.b.push_back(i % 2 ? zero_b : in.constant(m.b.width, Bits(m.b.encode_greatest(false))));
  }
  for (size_t i = 0; i < x.scale_a.size(); ++i) {
    y.scale_a.push_back(x.scale_a[i]);
    y.scale_b.push_back(x.scale_b[i]);
  }
  return y;
}

/// No scale is NaN.
Expression plain_scales(Expressions& in, const Operands& x, const DotModel& m) {
  std::vector<Expression> plain;
  for (size_t i = 0; i < x.scale_a.size(); ++i)
    for (const Number& scale : {decode(m.scale_a, x.scale_a[i], 12), decode(m.scale_b, x.scale_b[i], 12)})
      plain.push_back(~scale.nan);
  return all_of(in, plain);
}

/// Whether an encoding of d has no more fraction bits than results have, or is NaN.
Expression is_result(const DotModel& m, Expression x) {
  const int unused = m.d.fraction_bits - m.output_fraction_bits;
  if (unused == 0) return x.of().constant(1, 1);
  return is_zero(extract(x, unused - 1, 0)) | decode(m.d, x, m.d.exponent_bits + 3).nan;
}

/// Lemma: every d of a block has the form that is_result() states.
MakeQuestion results_have_their_form(const Block& block) {
  return [block](Expressions& in) {
    const Operands x = dot_variables(in, block.op);
    const Formula f = dot_formula(block.model, x);
    return relate(in, block.op, x, f, f, is_result(block.model, f.result));
  };
}

/// Lemma: a block of zero products gives its c, where that has the form of a d; zeros may change their sign.
MakeQuestion zeros_add_nothing(const Block& block) {
  return [block](Expressions& in) {
    const Operands x = dot_variables(in, block.op);
    const Operands longer = padded(in, x, block.model, true);
    Operands y = x;
    for (size_t i = 0; i < y.a.size(); ++i) {
      y.a[i] = longer.a[i + y.a.size()];
      y.b[i] = longer.b[i + y.b.size()];
    }
    const Formula after = dot_formula(block.model, y);
    CaseQuestion q = relate(in, block.op, x, {}, {}, same_number(block.model.d, x.c, after.result));
    q.question.assumptions = {plain_scales(in, x, block.model), is_result(block.model, x.c)};
    return q;
  };
}

/// Lemma: a block gives the same number where c is the same number.
MakeQuestion zero_signs_do_not_matter(const Block& block) {
  return [block](Expressions& in) {
    const DotModel& m = block.model;
    const Operands x = dot_variables(in, block.op);
    Operands y = x;
    y.c = in.variable("c_of_twin", m.c.width);
    const Formula before = dot_formula(m, x), after = dot_formula(m, y);
    const auto same = [](const FormatFields& f, Expression p, Expression q) {
      const Number a = decode(f, p, f.exponent_bits + 3), b = decode(f, q, f.exponent_bits + 3);
      return equal(p, q) | (a.zero & b.zero);
    };
    CaseQuestion q = relate(in, block.op, x, before, after, same(m.d, before.result, after.result));
    q.question.variables.push_back(y.c);
    q.twin_samples = {x.c};
    q.question.assumptions.push_back(same(m.c, x.c, y.c));
    return q;
  };
}

/// Lemma: other factors beside a zero factor change nothing.
MakeQuestion other_factors_do_not_matter(const Block& block) {
  return [block](Expressions& in) {
    const DotModel& m = block.model;
    const Operands x = dot_variables(in, block.op);
    const Formula before = dot_formula(m, x), after = dot_formula(m, padded(in, x, m, false));
    CaseQuestion q = relate(in, block.op, x, before, after, equal(before.result, after.result));
    q.question.assumptions.push_back(plain_scales(in, x, m));
    return q;
  };
}

PropertyQuestion zero_padding(const Op& op, const DotModel& m) {
  PropertyQuestion p;
  p.whole = [=](Expressions& in) {
    const Operands x = dot_variables(in, op);
    const Formula before = dot_formula(m, x);
    Formula after = dot_formula(m, padded(in, x, m, true));
    const Expression holds = same_number(m.d, before.result, after.result);
    after.stages.resize(std::min(before.stages.size(), after.stages.size()));  // those of the same products
    CaseQuestion q = relate(in, op, x, before, after, holds);
    q.question.assumptions.push_back(plain_scales(in, x, m));
    return q;
  };
  if (!has_like_blocks(op, m) || op.k % step_of(m) != 0 || !(op.c == op.d)) return p;
  p.argument =
      "A block gives the same encoding where the other factors of its zero products are +0 (lemma 1). Every d has a "
      "form (lemma 2) in which a block of zero products gives its c, zeros of any sign (lemma 3). So more blocks of "
      "zeros add nothing.";
  const Block block = block_of(op, m);
  p.lemmas = {other_factors_do_not_matter(block), results_have_their_form(block), zeros_add_nothing(block)};
  return p;
}

PropertyQuestion split_k(const Op& op, const DotModel& m) {
  const int cut = op.k / 2 / step_of(m) * step_of(m);
  PropertyQuestion p;
  p.whole = [=](Expressions& in) {
    const Operands x = dot_variables(in, op);
    Operands first, second;
    for (int i = 0; i < op.k; ++i) {
      (i < cut ? first : second).a.push_back(x.a[size_t(i)]);
      (i < cut ? first : second).b.push_back(x.b[size_t(i)]);
    }
    for (int i = 0; i < op.scales(); ++i) {
      (i * m.scale_block < cut ? first : second).scale_a.push_back(x.scale_a[size_t(i)]);
      (i * m.scale_block < cut ? first : second).scale_b.push_back(x.scale_b[size_t(i)]);
    }
    first.c = x.c;
    const Formula whole = dot_formula(m, x);
    second.c = dot_formula(m, first).result;
    const Formula after = dot_formula(m, second);
    return relate(in, op, x, whole, after, same_number(m.d, whole.result, after.result));
  };
  if (!has_like_blocks(op, m)) return p;
  p.argument =
      "Both ways run the same blocks; where the first dot is shorter than an instruction, blocks of zero products come "
      "between. Every d has a form (lemma 1) in which such a block gives its c, zeros of any sign (lemma 2). The "
      "blocks "
      "after it give the same number from c that are the same number (lemma 3).";
  const Block block = block_of(op, m);
  p.lemmas = {results_have_their_form(block), zeros_add_nothing(block), zero_signs_do_not_matter(block)};
  return p;
}

const Stage& stage_of(const Formula& f, const std::string& name) {
  for (const Stage& s : f.stages)
    if (s.name == name) return s;
  throw Contradiction("a formula has no stage '" + name + "'");
}
Expression point(const Formula& f, const std::string& stage) { return stage_of(f, stage).points.at(0); }

/// The case, and the same with the next encoding of c: of both zeros the least number, of the greatest infinity.
struct Rise {
  Operands before, after;
  Number c, next;
};
Rise rise(Expressions& in, const Op& op, const DotModel& m) {
  const FormatFields& f = m.c;
  Rise r{dot_variables(in, op), {}, {}, {}};
  r.after = r.before;
  r.c = decode(f, r.before.c, f.exponent_bits + 3);
  const Expression one = in.constant(f.width, Bits(f.in_container(1)));
  const Expression c = r.before.c;
  r.after.c = choose(r.c.zero, one, choose(bit(c, f.width - 1), c - one, c + one));
  r.next = decode(f, r.after.c, f.exponent_bits + 3);
  return r;
}

/// `ulps`: falls by as many and more, where c is positive and the result not below it; 0: falls at all.
CaseQuestion rising_c(Expressions& in, const Op& op, const DotModel& m, int ulps) {
  const Rise r = rise(in, op, m);
  const Formula before = dot_formula(m, r.before), after = dot_formula(m, r.after);
  const Number p = decode(m.d, before.result, m.d.exponent_bits + 3),
               q = decode(m.d, after.result, m.d.exponent_bits + 3);
  const Expression x = rank_of(m.d, before.result), y = rank_of(m.d, after.result);
  Expression falls = signed_below(y, x);
  if (ulps > 0)
    falls = signed_below(y + as_number(y, ulps - 1), x) & ~p.infinite & ~q.negative & ~r.c.negative &
            ~signed_below(y, rank_of(m.c, r.after.c));
  CaseQuestion asked = relate(in, op, r.before, before, after, ~falls | p.nan | q.nan);
  asked.question.assumptions.push_back(~r.c.nan & ~r.c.infinite);
  // Where c crosses a power of two, the other addends lose a bit more.
  const FormatFields& f = m.c;
  const uint64_t below_one = (uint64_t(f.bias) << f.fraction_bits) - 1;
  const Expression crosses = equal(r.before.c, in.constant(f.width, Bits(f.in_container(below_one))));
  std::vector<Expression> alike = {crosses}, half = {crosses};
  for (size_t i = 1; i < r.before.a.size(); ++i) {
    alike.push_back(equal(r.before.a[i], r.before.a[0]));
    if (i > 1) alike.push_back(equal(r.before.b[i], r.before.b[1]));
  }
  const uint64_t small_in_a = uint64_t(std::max(1, m.a.bias - 3)) << m.a.fraction_bits;
  for (const Expression& e : r.before.a)
    half.push_back(equal(e, in.constant(m.a.width, Bits(m.a.in_container(small_in_a)))));
  half.insert(half.end(), alike.begin() + 1, alike.end());
  asked.question.hints = {{"c just below 1, every a 1/8, all but one b alike", all_of(in, half)},
                          {"c just below 1, products alike but for one", all_of(in, alike)}};
  return asked;
}

constexpr int most_steps = 7;  ///< by which the next c raises or lowers the greatest exponent

/// A sum without its last `bits`, where rounding toward zero drops them: it has more than d's, or they are below the
/// least number of d.
Expression without_last_bits(const DotModel& m, Expression sum, Expression greatest, int bits) {
  Expressions& in = sum.of();
  if (bits == 0 || m.output_rounding != Rounding::toward_zero || m.output_via != OutputVia::direct) return sum;
  const int width = sum.width(), p = m.output_fraction_bits;
  const Expression negative = bit(sum, width - 1), magnitude = choose(negative, -sum, sum);
  const Expression cut = magnitude & in.constant(width, ones(width) - ones(bits));
  const Expression low = ~signed_below(as_number(greatest, m.d.emin() - p + m.fraction_bits - bits), greatest);
  const Expression drops = low | ~unsigned_below(magnitude, in.constant(width, Bits(1) << (p + bits)));
  return choose(drops, choose(negative, -cut, cut), sum);
}

/// Lemma: as the greatest exponent moves by j, the sum falls by no more than rounding drops, and `ulps` of the greater
/// c. Of what it needs, a fact says how the kept magnitudes of one addend are related; and another, by induction, how
/// the sums of i addends are. With `ulps`, c is not zero.
MakeQuestion sums_do_not_fall(const Block& block, int ulps = 0) {
  return [block, ulps](Expressions& in) {
    const Op& op = block.op;
    const DotModel& m = block.model;
    const Rise r = rise(in, op, m);
    const Formula before = dot_formula(m, r.before), after = dot_formula(m, r.after);
    const std::string all = std::to_string(m.block + 1);
    const Expression g = point(before, "greatest exponent of " + all), h = point(after, "greatest exponent of " + all);
    const Expression up = h - g, lower = bit(up, up.width() - 1), steps = choose(lower, -up, up);
    const Expression s = point(before, "sum of " + all), t = point(after, "sum of " + all);
    const int more = most_steps + 1;

    CaseQuestion asked = relate(in, op, r.before, {}, {}, in.constant(1, 1));
    Question& question = asked.question;
    question.hints.clear();
    question.assumptions.push_back(~r.c.nan & ~r.c.infinite & ~r.next.infinite);
    if (ulps > 0) question.assumptions.push_back(~r.c.zero & ~r.next.zero);
    std::vector<Expression> falls;
    for (int j = -most_steps; j <= most_steps; ++j) {
      const Expression here = equal(up, as_number(up, j));
      question.cases.push_back(here);
      const Expression first = j < 0 ? s : without_last_bits(m, s, g, j),
                       last = j < 0 ? without_last_bits(m, t, h, -j) : t;
      const int width = s.width() + more;
      const auto in_units = [&](Expression x, int shift) {
        return extract(append_zeros(sign_extend(x, width), shift), width - 1, 0);
      };
      const int64_t allowed = int64_t{ulps} << std::max(0, m.fraction_bits - m.output_fraction_bits + std::abs(j));
      const Expression risen = in_units(last, std::max(j, 0));
      falls.push_back(here & signed_below(risen + as_number(risen, allowed), in_units(first, std::max(-j, 0))));
    }
    question.violated = any_of(in, falls);
    question.not_cut = {up};

    for (size_t i = 0; i < before.stages.size(); ++i)
      if (before.stages[i].points == after.stages[i].points) {
        question.first.push_back(before.stages[i]);
        question.second.push_back(after.stages[i]);
      }
    question.facts.push_back(
        {"the greatest exponent moves by few steps", ~unsigned_below(as_number(up, most_steps), steps), {up}, {g, h}});
    std::vector<Expression> maxima;
    for (int i = 2; i <= m.block; ++i) maxima.push_back(point(before, "greatest exponent of " + std::to_string(i)));
    for (int i = 0; i < op.k; ++i) {
      const std::string name = "product " + std::to_string(i);
      const std::vector<Expression>& product = stage_of(before, name).points;
      question.facts.push_back({name + " is not above the greatest exponent",
                                ~signed_below(maxima.back(), product[1]) | product[3],
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
      const Expression by =
          steps.width() >= kept.width() ? extract(steps, kept.width() - 1, 0) : zero_extend(steps, kept.width());
      question.facts.push_back(
          {addend + " loses bits",
           choose(lower, equal(kept, shift_right(kept_after, by)), equal(kept_after, shift_right(kept, by))),
           {kept, kept_after},
           {up}});
      know(addend);
      // 2^steps times the coarser sum, less the finer one; of the opposite sign where c's exponent falls.
      const Expression u = point(before, sum), v = point(after, sum);
      const int width = std::max(u.width() + more, steps.width());
      const Expression amount = zero_extend(steps, width), count = in.number(width, i + 1);
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

/// Lemmas about the rounding of any sum, in any unit.
using AboutSums = std::function<Expression(const DotModel&, Expression sum, Expression greatest)>;
MakeQuestion of_every_sum(const Block& block, const AboutSums& holds) {
  return [block, holds](Expressions& in) {
    const Operands x = dot_variables(in, block.op);
    const Formula f = dot_formula(block.model, x);
    const std::string all = std::to_string(block.model.block + 1);
    const Stage& stage = stage_of(f, "sum of " + all);
    const int width = stage.points[0].width() + most_steps + 1,
              exponent_width = point(f, "greatest exponent of " + all).width();
    const Expression sum = in.variable("sum", width), greatest = in.variable("greatest", exponent_width);
    // Sums and exponents that occur leave room for one more bit.
    const Expression room = equal(bit(sum, width - 1), bit(sum, width - 2));
    const Expression far = in.number(exponent_width, (1 << (exponent_width - 2)) - 1);
    CaseQuestion asked =
        relate(in, block.op, x, {}, {},
               holds(block.model, sum, greatest) | ~room | signed_below(far, greatest) | signed_below(greatest, -far));
    asked.question.hints.clear();
    asked.question.variables.insert(asked.question.variables.end(), {sum, greatest});
    asked.twin_samples = {in.constant(width, 1), in.constant(exponent_width, 0)};
    return asked;
  };
}

Expression rank_of_sum(const DotModel& m, Expression sum, Expression greatest) {
  return rank_of(m.d, encoded_sum(m, sum, greatest));
}

/// Lemma: where infinities or NaN decide, the result does not fall either.
MakeQuestion specials_do_not_fall(const Block& block) {
  return [block](Expressions& in) {
    const DotModel& m = block.model;
    const Rise r = rise(in, block.op, m);
    const Formula before = dot_formula(m, r.before), after = dot_formula(m, r.after);
    std::vector<Expression> special;
    for (const Formula* f : {&before, &after})
      for (const Expression& decides : stage_of(*f, "specials").points) special.push_back(decides);
    const Number p = decode(m.d, before.result, m.d.exponent_bits + 3),
                 q = decode(m.d, after.result, m.d.exponent_bits + 3);
    CaseQuestion asked = relate(in, block.op, r.before, {}, {},
                                ~any_of(in, special) | p.nan | q.nan | equal(before.result, after.result) |
                                    (p.infinite & p.negative) | (q.infinite & ~q.negative));
    asked.question.hints.clear();
    asked.question.assumptions.push_back(~r.c.nan & ~(r.c.infinite & ~r.c.negative));
    return asked;
  };
}

PropertyQuestion monotone_in_c(const Op& op, const DotModel& m) {
  PropertyQuestion p;
  p.whole = [=](Expressions& in) { return rising_c(in, op, m, 0); };
  if (m.kernel != Kernel::fused_sum || !has_like_blocks(op, m)) return p;
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
  p.lemmas.push_back(of_every_sum(block, [](const DotModel& of, Expression sum, Expression greatest) {
    return ~signed_below(rank_of_sum(of, sum + as_number(sum, 1), greatest), rank_of_sum(of, sum, greatest));
  }));
  p.lemmas.push_back(of_every_sum(block, [](const DotModel& of, Expression sum, Expression greatest) {
    return equal(rank_of_sum(of, sum, greatest), rank_of_sum(of, sum + sum, greatest - as_number(greatest, 1)));
  }));
  p.lemmas.push_back(of_every_sum(block, [](const DotModel& of, Expression sum, Expression greatest) {
    const Expression fewer = extract(sum, sum.width() - most_steps - 2, 0);
    return ~equal(sign_extend(fewer, sum.width()), sum) |
           equal(rank_of_sum(of, sum, greatest), rank_of_sum(of, fewer, greatest));
  }));
  p.lemmas.push_back(of_every_sum(block, [](const DotModel& of, Expression sum, Expression greatest) {
    return equal(rank_of_sum(of, sum, greatest), rank_of_sum(of, without_last_bits(of, sum, greatest, 1), greatest));
  }));
  p.lemmas.push_back(specials_do_not_fall(block));
  return p;
}

/// Adding one ulp of a number raises the results of greater numbers by one at most.
Expression one_ulp_is_one_step(const DotModel& of, Expression sum, Expression greatest) {
  const int more = of.fraction_bits - of.output_fraction_bits + 1;
  const Expression next = sum + as_number(sum, int64_t{1} << more);
  const auto large = [&](Expression x) {
    const Expression least = as_number(x, int64_t{1} << (of.fraction_bits + 1));
    return ~signed_below(x, least) | ~signed_below(-least, x);
  };
  const Expression applies = large(sum) & large(next) & equal(bit(sum, sum.width() - 1), bit(next, next.width() - 1));
  const Expression x = rank_of_sum(of, sum, greatest), y = rank_of_sum(of, next, greatest);
  return ~applies | ~signed_below(x + as_number(x, 1), y);
}

PropertyQuestion block_permutation(const Op& op, const DotModel& m) {
  PropertyQuestion p;
  p.whole = [=](Expressions& in) {
    const Operands x = dot_variables(in, op);
    Operands y = x;
    for (int step = 0; step < op.k; step += m.k)
      for (int first = step; first < std::min(step + m.k, op.k); first += m.block) {
        const int end = std::min({first + m.block, step + m.k, op.k});
        std::reverse(y.a.begin() + first, y.a.begin() + end);
        std::reverse(y.b.begin() + first, y.b.begin() + end);
      }
    const Formula before = dot_formula(m, x), after = dot_formula(m, y);
    return relate(in, op, x, before, after, equal(before.result, after.result));
  };
  // With scales, products of one scale alone change places.
  if (!has_like_blocks(op, m)) return p;
  p.argument =
      "Every permutation is made of exchanges of neighbours. A lemma for each place of a block says that the "
      "exchange leaves the block's d unchanged, and so the blocks after it.";
  const Block block = block_of(op, m);
  for (size_t i = 0; i + 1 < size_t(block.op.k); ++i)
    p.lemmas.push_back([=](Expressions& in) {
      const Operands x = dot_variables(in, block.op);
      Operands y = x;
      std::swap(y.a[i], y.a[i + 1]);
      std::swap(y.b[i], y.b[i + 1]);
      const Formula before = dot_formula(block.model, x), after = dot_formula(block.model, y);
      return relate(in, block.op, x, before, after, equal(before.result, after.result));
    });
  return p;
}

/// Products of the same sign, exponent and significand from other factors.
PropertyQuestion product_value_and_exponent(const Op& op, const DotModel& m) {
  const auto ask = [](Expressions& in, const Op& of, const DotModel& m) {
    const Operands x = dot_variables(in, of), others = dot_variables(in, of, "_of_twin");
    Operands y = x;
    y.a = others.a;
    y.b = others.b;
    std::vector<Expression> same;
    const int width = exponent_width_of(m);
    for (size_t i = 0; i < x.a.size(); ++i) {
      const Number p = product_of(decode(m.a, x.a[i], width), decode(m.b, x.b[i], width)),
                   q = product_of(decode(m.a, y.a[i], width), decode(m.b, y.b[i], width));
      const Expression alike =
          equal(p.negative, q.negative) & equal(p.exponent, q.exponent) & equal(p.significand, q.significand);
      const Expression finite = ~(p.zero | p.infinite | p.nan | q.zero | q.infinite | q.nan);
      same.push_back((alike & finite) | (equal(x.a[i], y.a[i]) & equal(x.b[i], y.b[i])));
    }
    const Formula before = dot_formula(m, x), after = dot_formula(m, y);
    CaseQuestion q = relate(in, of, x, before, after, equal(before.result, after.result));
    const bool swap = of.a == of.b;
    for (const std::vector<Expression>& more : {y.a, y.b})
      q.question.variables.insert(q.question.variables.end(), more.begin(), more.end());
    for (const std::vector<Expression>& more : {swap ? x.b : x.a, swap ? x.a : x.b})
      q.twin_samples.insert(q.twin_samples.end(), more.begin(), more.end());
    q.question.assumptions = same;
    return q;
  };
  PropertyQuestion p;
  p.whole = [=](Expressions& in) { return ask(in, op, m); };
  if (!has_like_blocks(op, m)) return p;
  p.argument = "A lemma says it of one block; the blocks after it get the same c.";
  p.lemmas = {[=](Expressions& in) {
    const Block block = block_of(op, m);
    return ask(in, block.op, block.model);
  }};
  return p;
}

struct Provable {
  const char* name;
  PropertyQuestion (*make)(const Op&, const DotModel&);
};
constexpr Provable provable[] = {
    {"block_permutation", block_permutation},
    {"monotone_in_c", monotone_in_c},
    {"product_value_and_exponent", product_value_and_exponent},
    {"sign_symmetry", sign_symmetry},
    {"split_k", split_k},
    {"swap_operands", swap_operands},
    {"zero_padding", zero_padding},
};

}  // namespace

PropertyQuestion fall_question(const Op& op, const DotModel& m, int ulps) {
  PropertyQuestion p = monotone_in_c(op, m);
  p.whole = [=](Expressions& in) { return rising_c(in, op, m, ulps + 1); };
  if (p.lemmas.empty()) return p;
  p.argument =
      "As for monotone_in_c, except that the sum falls by so many ulps of the greater c besides (lemma 1); and where c "
      "is not zero and both results are not below it in magnitude, each of these ulps lowers the result by one at most "
      "(lemma 7).";
  Block block = block_of(op, m);
  block.model.k = step_of(m);
  p.lemmas[0] = sums_do_not_fall(block, ulps);
  p.lemmas.push_back(of_every_sum(block, one_ulp_is_one_step));
  return p;
}

CaseQuestion equal_question(Expressions& in, const Op& op, const DotModel& first, const DotModel& second) {
  const Operands x = dot_variables(in, op);
  const Formula f = dot_formula(first, x), g = dot_formula(second, x);
  return relate(in, op, x, f, g, equal(f.result, g.result));
}

Result<PropertyQuestion> property_question(const std::string& property, const Op& op, const DotModel& model) {
  if (property == "swap_operands" && !(op.a == op.b)) return declined("swap_operands is about operands of one format");
  if (property == "block_permutation" && model.kernel != Kernel::fused_sum)
    return declined("block_permutation is about the blocks of fused sums");
  if (property == "split_k" && (!(op.c == op.d) || op.k / 2 < step_of(model)))
    return declined("split_k is about two blocks, the second of which takes d as its c");
  for (const Provable& p : provable)
    if (property == p.name) return p.make(op, model);
  std::string known;
  for (const Provable& p : provable) known += std::string(known.empty() ? "" : ", ") + p.name;
  return declined("no question is written for the property '" + property + "'; there are: " + known);
}

std::vector<std::string> provable_properties() {
  std::vector<std::string> names;
  for (const Provable& p : provable) names.push_back(p.name);
  return names;
}

Result<bool> restrict_to(CaseQuestion& q, const std::string& domain) {
  std::vector<Expression>& assumed = q.question.assumptions;
  const Operands& x = q.operands;
  const auto each = [&](const auto& say) {
    for (const Expression& a : x.a) assumed.push_back(say(q.op.a.fields(), a));
    for (const Expression& b : x.b) assumed.push_back(say(q.op.b.fields(), b));
    assumed.push_back(say(q.op.c.fields(), x.c));
  };
  for (const std::string& word : words_of(domain, ',')) {
    const auto number = [](const FormatFields& f, Expression e) { return decode(f, e, f.exponent_bits + 3); };
    if (word == "finite") {
      each([&](const FormatFields& f, Expression e) { return ~number(f, e).nan & ~number(f, e).infinite; });
    } else if (word == "normal") {
      each([&](const FormatFields& f, Expression e) {
        const Number n = number(f, e);
        return n.zero | (bit(n.significand, n.significand.width() - 1) & ~n.nan & ~n.infinite);
      });
    } else if (word == "positive") {
      each([&](const FormatFields& f, Expression e) { return ~number(f, e).negative; });
    } else if (word == "binade") {
      each([&](const FormatFields& f, Expression e) {
        const Number n = number(f, e);
        return n.zero | is_zero(n.exponent);
      });
    } else if (word.starts_with("products=")) {
      const std::string text = word.substr(9);
      int products = -1;
      const auto r = std::from_chars(text.data(), text.data() + text.size(), products);
      if (r.ec != std::errc{} || r.ptr != text.data() + text.size() || products < 0)
        return invalid("domain products=N needs a number, not '" + text + "'");
      for (size_t i = size_t(products); i < x.a.size(); ++i) {
        assumed.push_back(is_zero(x.a[i]));
        assumed.push_back(is_zero(x.b[i]));
      }
    } else {
      return invalid("unknown domain '" + word + "'; there are: finite, normal, positive, binade, products=N");
    }
  }
  return true;
}

Batch case_of(const CaseQuestion& q, const Proof& proof) {
  Batch batch(q.op);
  batch.resize(1);
  const std::vector<Expression> variables = in_case_order(q.operands);
  size_t at = 0;
  for (Column& column : batch.inputs())
    for (int i = 0; i < column.count(); ++i, ++at) {
      const auto value = proof.witness.find(variables[at].of().name(variables[at].of().node(variables[at])));
      column.set(0, i, value == proof.witness.end() ? 0 : static_cast<uint64_t>(value->second));
    }
  return batch;
}

std::vector<std::vector<uint64_t>> samples_of(const CaseQuestion& q, size_t count) {
  std::vector<std::vector<uint64_t>> samples(count);
  Batch batch;
  StructuredGenerator(q.op, 83).fill(0, count, batch);
  for (size_t i = 0; i < count; ++i) {
    for (const Column& column : batch.inputs())
      for (int j = 0; j < column.count(); ++j) samples[i].push_back(column.get(i, j));
  }
  if (q.twin_samples.empty()) return samples;
  const Evaluator twin(in_case_order(q.operands), q.twin_samples);
  std::vector<uint64_t> values;
  for (std::vector<uint64_t>& sample : samples) {
    twin.run(sample, values);
    sample.insert(sample.end(), values.begin(), values.end());
  }
  return samples;
}

}  // namespace mmafuzz::prove
