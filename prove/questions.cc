#include "prove/questions.h"

#include <charconv>

#include "arithmetic/counter_rng.h"
#include "core/words.h"
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

/// The question whether two formulas' results stand in a relation, on the same or on transformed operands.
CaseQuestion relate(Expressions& in, const Op& op, const Operands& operands, Formula first, Formula second,
                    Expression holds) {
  CaseQuestion q{op, operands, {}};
  q.question.variables = in_case_order(operands);
  q.question.violated = ~holds;
  bool same_shape = first.stages.size() == second.stages.size();
  for (size_t s = 0; same_shape && s < first.stages.size(); ++s)
    same_shape = first.stages[s].points.size() == second.stages[s].points.size();
  if (!same_shape) return q;
  q.question.first = std::move(first.stages);
  q.question.second = std::move(second.stages);
  return q;
}

using MakeQuestion = Result<CaseQuestion> (*)(Expressions&, const Op&, const DotModel&);

Result<CaseQuestion> sign_symmetry(Expressions& in, const Op& op, const DotModel& m) {
  const Operands x = dot_variables(in, op);
  Operands y = x;
  for (Expression& a : y.a) a = with_flipped_sign(m.a, a);
  y.c = with_flipped_sign(m.c, y.c);
  const Formula before = dot_formula(m, x), after = dot_formula(m, y);
  const FormatFields& d = m.d;
  const Number p = decode(d, before.result, d.exponent_bits + 3), q = decode(d, after.result, d.exponent_bits + 3);
  const Expression holds =
      choose(p.nan | q.nan, p.nan & q.nan,
             choose(p.zero | q.zero, p.zero & q.zero, equal(with_flipped_sign(d, before.result), after.result)));
  return relate(in, op, x, before, after, holds);
}

Result<CaseQuestion> swap_operands(Expressions& in, const Op& op, const DotModel& m) {
  if (!(op.a == op.b)) return declined("swap_operands is about operands of one format");
  const Operands x = dot_variables(in, op);
  Operands y = x;
  std::swap(y.a, y.b);
  std::swap(y.scale_a, y.scale_b);
  const Formula before = dot_formula(m, x), after = dot_formula(m, y);
  return relate(in, op, x, before, after, equal(before.result, after.result));
}

Result<CaseQuestion> split_k(Expressions& in, const Op& op, const DotModel& m) {
  if (!(op.c == op.d)) return declined("split_k takes d as the next c: they must be of one format");
  const int cut = op.k / 2 / m.block * m.block;
  if (cut == 0 || (m.scale_block > 0 && cut % m.scale_block != 0))
    return declined("split_k needs two blocks; op has k=" + std::to_string(op.k));
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
}

Result<CaseQuestion> zero_padding(Expressions& in, const Op& op, const DotModel& m) {
  const Operands x = dot_variables(in, op);
  Operands y;
  y.c = x.c;
  const Expression zero_a = in.constant(m.a.width, 0), zero_b = in.constant(m.b.width, 0);
  const Expression great_a = in.constant(m.a.width, Bits(m.a.encode_greatest(false))),
                   great_b = in.constant(m.b.width, Bits(m.b.encode_greatest(false)));
  for (int i = 0; i < op.k; ++i) {
    const Number p = product_of(decode(m.a, x.a[size_t(i)], 12), decode(m.b, x.b[size_t(i)], 12));
    y.a.push_back(choose(p.zero, zero_a, x.a[size_t(i)]));
    y.b.push_back(choose(p.zero, zero_b, x.b[size_t(i)]));
  }
  for (int i = 0; i < op.k; ++i) {
    y.a.push_back(i % 2 ? great_a : zero_a);
    y.b.push_back(i % 2 ? zero_b : great_b);
  }
  std::vector<Expression> plain;
  for (int copy = 0; copy < 2; ++copy)
    for (size_t i = 0; i < x.scale_a.size(); ++i) {
      y.scale_a.push_back(x.scale_a[i]);
      y.scale_b.push_back(x.scale_b[i]);
      plain.push_back(~decode(m.scale_a, x.scale_a[i], 12).nan & ~decode(m.scale_b, x.scale_b[i], 12).nan);
    }
  const Formula before = dot_formula(m, x), after = dot_formula(m, y);
  Formula same_stages = after;
  // The longer formula's first stages are those of the shorter one.
  same_stages.stages.resize(std::min(before.stages.size(), after.stages.size()));
  CaseQuestion q = relate(in, op, x, before, same_stages, same_number(m.d, before.result, after.result));
  q.question.assumptions.push_back(all_of(in, plain));
  return q;
}

Result<CaseQuestion> monotone_in_c(Expressions& in, const Op& op, const DotModel& m) {
  const FormatFields& f = m.c;
  const Operands x = dot_variables(in, op);
  Operands y = x;
  // The next encoding upward: of both zeros the least number, of the greatest infinity.
  const Expression one = in.constant(f.width, Bits(f.in_container(1)));
  const Expression negative = bit(x.c, f.width - 1);
  const Number c = decode(f, x.c, f.exponent_bits + 3);
  y.c = choose(c.zero, one, choose(negative, x.c - one, x.c + one));
  const Formula before = dot_formula(m, x), after = dot_formula(m, y);
  const Number p = decode(m.d, before.result, m.d.exponent_bits + 3),
               q = decode(m.d, after.result, m.d.exponent_bits + 3);
  const Expression falls = signed_below(rank_of(m.d, after.result), rank_of(m.d, before.result));
  CaseQuestion asked = relate(in, op, x, before, after, ~falls | p.nan | q.nan);
  asked.question.assumptions.push_back(~c.nan & ~c.infinite);
  return asked;
}

/// Adjacent products of a block change places: such exchanges make every permutation. Which pair is a variable of no
/// use to a solver, so the question is about the reversal that the property speaks of.
Result<CaseQuestion> block_permutation(Expressions& in, const Op& op, const DotModel& m) {
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
}

struct Provable {
  const char* name;
  MakeQuestion make;
};
constexpr Provable provable[] = {
    {"block_permutation", block_permutation}, {"monotone_in_c", monotone_in_c}, {"sign_symmetry", sign_symmetry},
    {"split_k", split_k},                     {"swap_operands", swap_operands}, {"zero_padding", zero_padding},
};

}  // namespace

CaseQuestion equal_question(Expressions& in, const Op& op, const DotModel& first, const DotModel& second) {
  const Operands x = dot_variables(in, op);
  const Formula f = dot_formula(first, x), g = dot_formula(second, x);
  return relate(in, op, x, f, g, equal(f.result, g.result));
}

Result<CaseQuestion> property_question(Expressions& in, const std::string& property, const Op& op,
                                       const DotModel& model) {
  for (const Provable& p : provable)
    if (property == p.name) return p.make(in, op, model);
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
    CounterRng rng(89, i);
    while (samples[i].size() < q.question.variables.size()) samples[i].push_back(rng.next());
  }
  return samples;
}

}  // namespace mmafuzz::prove
