// Whether one unit's result is never farther from the exact result than another's.
#include <algorithm>
#include <bit>

#include "prove/formulas/corrected_product.h"
#include "prove/formulas/ieee.h"
#include "prove/question_parts.h"

namespace mmafuzz::prove {
namespace {

/// A case in two forms.
struct NearerCase {
  Operands operands;                    ///< in the op's formats
  Operands exact;                       ///< the same values for the exact sum: with `factors`, a and b in that format
  FormatFields exact_a, exact_b;        ///< formats of exact.a and exact.b
  std::vector<Expression> variables;    ///< of the question
  std::optional<FormatFields> factors;  ///< the narrow format to which the domain restricts a and b
};

NearerCase nearer_case(Expressions& table, const Op& op, const std::optional<Format>& factors) {
  NearerCase x{dot_variables(table, op), {}, op.a.fields(), op.b.fields(), {}, {}};
  if (!factors) {
    x.exact = x.operands;
    x.variables = in_case_order(x.operands);
    return x;
  }
  Op of_factors = op;
  of_factors.a = of_factors.b = *factors;
  x.exact = dot_variables(table, of_factors, "_in_" + factors->name());
  x.exact.c = x.operands.c;
  x.exact_a = x.exact_b = factors->fields();
  x.factors = factors->fields();
  x.variables = in_case_order(x.exact);
  const auto widen = [&](const Expression& e) {
    return widened(op.a.fields(), decode(*x.factors, e, fp32_exponent_width));
  };
  std::transform(x.exact.a.begin(), x.exact.a.end(), x.operands.a.begin(), widen);
  std::transform(x.exact.b.begin(), x.exact.b.end(), x.operands.b.begin(), widen);
  return x;
}

/// For a row, only the result. `without_residuals`: with `factors`, all residuals are left out, which are zero.
CorrectedProduct formula_of(const Contender& unit, const NearerCase& x, bool without_residuals = false) {
  if (!unit.plan) return {dot_formula(unit.dot, x.operands).result, {}};
  if (!x.factors)
    return corrected_product(*unit.plan, unit.dot, split_factors(*unit.plan, x.operands.a),
                             split_factors(*unit.plan, x.operands.b), x.operands.c);
  // By a lemma, a number of the narrow format is its own main part.
  const auto whole = [&](const std::vector<Expression>& main) {
    SplitFactors parts{main, {}};
    if (!without_residuals) parts.residual.assign(main.size(), main[0].table().constant(main[0].width(), 0));
    return parts;
  };
  return corrected_product(*unit.plan, unit.dot, whole(x.exact.a), whole(x.exact.b), x.operands.c);
}

/// The numbers that are compared, as integers of `width` bits in units of 2^low. Exponents have `exponent_width` bits.
struct Scale {
  int low = 0, width = 0, exponent_width = 0;
};
/// Holds every exact sum and every result of an op.
Scale scale_of(const Op& op, const FormatFields& a, const FormatFields& b) {
  const auto lowest = [](const FormatFields& f) { return f.subnormal_bit(); };
  const auto highest = [](const FormatFields& f) { return f.emax() + 1; };
  Scale s;
  s.low = std::min({lowest(a) + lowest(b), lowest(op.c.fields()), lowest(op.d.fields())});
  const int high = std::max({highest(a) + highest(b), highest(op.c.fields()), highest(op.d.fields())});
  s.width = high + std::bit_width(unsigned(op.k)) + 3 - s.low;  // carries, a sign, and twice the sum
  s.exponent_width = signed_width(2 * s.low, 2 * high);
  return s;
}

Expression as_integer(const Scale& s, const Number& x) {
  const Expression up = x.exponent - as_number(x.exponent, x.fraction_bits + s.low);
  const Expression magnitude = shift_left(zero_extend(x.significand, s.width), zero_extend(up, s.width));
  return with_sign(x.negative, magnitude);
}

Expression exact_products(const Scale& s, const NearerCase& x) {
  Expression sum = x.operands.c.table().constant(s.width, 0);
  for (size_t i = 0; i < x.exact.a.size(); ++i)
    sum = sum + as_integer(s, product_of(decode(x.exact_a, x.exact.a[i], s.exponent_width),
                                         decode(x.exact_b, x.exact.b[i], s.exponent_width)));
  return sum;
}

Expression exact_sum(const Scale& s, const Op& op, const NearerCase& x) {
  return exact_products(s, x) + as_integer(s, decode(op.c.fields(), x.exact.c, s.exponent_width));
}

/// Whether `other` is finite, and `result` is not or is farther from the exact sum. Of two numbers, the sum is nearer
/// to the one on whose side of their middle it is: twice the exact sum is compared with the sum of both.
Expression is_farther(const Scale& s, const FormatFields& d, Expression result, Expression other, Expression exact) {
  const Number u = decode(d, result, s.exponent_width), v = decode(d, other, s.exponent_width);
  const Expression both = as_integer(s, u) + as_integer(s, v);
  const Expression x = rank_of(d, result), y = rank_of(d, other), twice_exact = exact + exact;
  const Expression nearer =
      (signed_below(y, x) & signed_below(twice_exact, both)) | (signed_below(x, y) & signed_below(both, twice_exact));
  return ~v.nan & ~v.infinite & (u.nan | u.infinite | nearer);
}

Expression is_finite(const FormatFields& f, Expression x) {
  const Number n = decode(f, x);
  return ~n.nan & ~n.infinite;
}

/// Asks whether finite operands allow `violated`.
CaseQuestion finite_question(Expressions& table, const Op& op, const NearerCase& x, Expression violated) {
  CaseQuestion q = relate(table, op, x.operands, {}, {}, ~violated);
  q.question.variables = x.variables;
  for (const Expression& e : x.exact.a) q.question.assumptions.push_back(is_finite(x.exact_a, e));
  for (const Expression& e : x.exact.b) q.question.assumptions.push_back(is_finite(x.exact_b, e));
  q.question.assumptions.push_back(is_finite(op.c.fields(), x.operands.c));
  return q;
}

// The ranges of exponents in which a witness is sought, so that the integers have few bits.
constexpr int least_factor = -7, greatest_factor = 7, least_c = -20, greatest_c = 7;

Expression is_within(const Number& x, int least, int greatest) {
  return x.zero | is_between(x.exponent, least, greatest);
}

/// The question where each factor, c and result is zero or has an exponent in these ranges.
CaseQuestion compared_within(Expressions& table, const Op& op, const Contender& first, const Contender& second,
                             const std::optional<Format>& factors) {
  const NearerCase x = nearer_case(table, op, factors);
  Scale s;
  s.low = std::min(2 * least_factor - x.exact_a.fraction_bits - x.exact_b.fraction_bits,
                   least_c - std::max(op.c.fields().fraction_bits, op.d.fields().fraction_bits));
  const int high = std::max(2 * greatest_factor + 2, greatest_c + 1) + std::bit_width(unsigned(op.k));
  s.width = high + 3 - s.low;
  s.exponent_width = scale_of(op, x.exact_a, x.exact_b).exponent_width;
  const Expression u = formula_of(first, x, true).result, v = formula_of(second, x, true).result;
  CaseQuestion q = finite_question(table, op, x, is_farther(s, op.d.fields(), u, v, exact_sum(s, op, x)));
  const auto number = [&](const FormatFields& f, Expression e) { return decode(f, e, s.exponent_width); };
  std::vector<Expression>& assumed = q.question.assumptions;
  for (const Expression& e : x.exact.a)
    assumed.push_back(is_within(number(x.exact_a, e), least_factor, greatest_factor));
  for (const Expression& e : x.exact.b)
    assumed.push_back(is_within(number(x.exact_b, e), least_factor, greatest_factor));
  assumed.push_back(is_within(number(op.c.fields(), x.exact.c), least_c, greatest_c));
  for (const Expression& e : {u, v}) assumed.push_back(is_within(number(op.d.fields(), e), least_c, high));
  // Products by powers of two are the easiest.
  std::vector<Expression> powers;
  for (const Expression& e : x.exact.b) powers.push_back(is_zero(extract(e, x.exact_b.fraction_bits - 1, 0)));
  q.question.hints = {{"b powers of two in few binades", all_of(table, powers), 15},
                      {"factors in few binades", table.constant(1, 1), 30}};
  return q;
}

/// Lemma: a number of a narrower format is its own main part, and its residual is +0.
MakeQuestion narrow_factors_are_whole(const Op& op, const Format& factors, const gemm::CorrectionPlan& plan) {
  return [=](Expressions& table) {
    Op one = op;
    one.k = 1;
    const NearerCase x = nearer_case(table, one, factors);
    const SplitFactors parts = split_factors(plan, x.operands.a);
    return finite_question(table, one, x, ~(equal(parts.main[0], x.exact.a[0]) & is_zero(parts.residual[0])));
  };
}

constexpr int greatest_sum = 64;  ///< sums of products of fp16 numbers are below 2 to this power; the lemma proves it

/// Lemma: the number to which a method adds c is the exact sum of the products, below 2^greatest_sum in magnitude.
MakeQuestion products_are_exact(const Op& op, const Contender& unit, const std::optional<Format>& factors) {
  return [=](Expressions& table) {
    const NearerCase x = nearer_case(table, op, factors);
    const Scale s = scale_of(op, x.exact_a, x.exact_b);
    const Number sum = decode(fp32_fields, formula_of(unit, x).before_c, s.exponent_width);
    return finite_question(table, op, x,
                           ~equal(as_integer(s, sum), exact_products(s, x)) | sum.nan | sum.infinite |
                               ~signed_below(sum.exponent, as_number(sum.exponent, greatest_sum)));
  };
}

}  // namespace

NearerQuestion nearer_question(const Op& op, const Contender& first, const Contender& second,
                               const std::optional<Format>& factors) {
  NearerQuestion asked;
  if (factors)
    for (const Contender* unit : {&first, &second})
      asked.of_factors.push_back(narrow_factors_are_whole(op, *factors, *unit->plan));
  if (first.plan && first.plan->adds_outside) asked.nearest = products_are_exact(op, first, factors);
  std::vector<std::optional<Format>> domains = {factors};
  if (!factors && first.plan && second.plan && first.plan->narrow == second.plan->narrow)
    domains.insert(domains.begin(), first.plan->narrow);  // gives shorter formulas
  for (const std::optional<Format>& domain : domains)
    asked.sought.push_back([=](Expressions& table) { return compared_within(table, op, first, second, domain); });
  asked.compared = [=](Expressions& table) {
    const NearerCase x = nearer_case(table, op, factors);
    const Scale s = scale_of(op, x.exact_a, x.exact_b);
    return finite_question(
        table, op, x,
        is_farther(s, op.d.fields(), formula_of(first, x).result, formula_of(second, x).result, exact_sum(s, op, x)));
  };
  return asked;
}

}  // namespace mmafuzz::prove
