#include "prove/questions.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "core/text.h"
#include "core/unit_name.h"
#include "oracles/properties/split_k.h"
#include "prove/evaluate.h"
#include "prove/formulas/numbers.h"
#include "prove/question_parts.h"
#include "search/structured_generator.h"

namespace mmafuzz::prove {
namespace {

/// Equal encodings, or zeros of either sign, or any two NaNs.
Expression same_number(const FormatFields& f, Expression x, Expression y) {
  const Number a = decode(f, x), b = decode(f, y);
  return equal(x, y) | (a.zero & b.zero) | (a.nan & b.nan);
}

/// Equal encodings or, where the op takes every NaN for the same, any two NaNs.
Expression same_result(const Op& op, Expression x, Expression y) {
  const FormatFields& d = op.d.fields();
  return op.nan == NanPolicy::any ? equal(x, y) | (decode(d, x).nan & decode(d, y).nan) : equal(x, y);
}

/// The encoding of the opposite number. Where the code of -0 is NaN, zero and NaN stay: they differ in the sign alone.
Expression with_flipped_sign(const FormatFields& f, Expression x) {
  if (!f.has_sign()) return x;
  const Expression sign = x.table().constant(f.width, Bits(f.in_container(f.sign_bit())));
  return f.minus_zero_is_nan() ? choose(is_zero(x & ~sign), x, x ^ sign) : x ^ sign;
}

constexpr const char* by_induction =
    "By induction over the blocks of a dot, each of which takes the last one's d as c: ";

/// Do opposite a and c give the opposite result? `any_related_c`: the changed case's c is a variable, opposite to c or
/// a zero of either sign where c is zero.
CaseQuestion opposite_operands(Expressions& table, const Op& op, const DotModel& m, bool any_related_c) {
  const Operands x = dot_variables(table, op);
  Operands y = x;
  for (Expression& a : y.a) a = with_flipped_sign(m.a, a);
  y.c = any_related_c ? table.variable("c_of_twin", m.c.width) : with_flipped_sign(m.c, x.c);
  // Opposite encodings, or zeros of any signs. Two d may also be the same NaN.
  const auto opposite = [](const FormatFields& f, Expression p, Expression q) {
    const Number a = decode(f, p), b = decode(f, q);
    return equal(with_flipped_sign(f, p), q) | (a.zero & b.zero);
  };
  const Formula before = dot_formula(m, x), after = dot_formula(m, y);
  CaseQuestion q = relate(table, op, x, before, after,
                          opposite(m.d, before.result, after.result) |
                              (same_result(op, before.result, after.result) & decode(m.d, before.result).nan));
  if (any_related_c) {
    q.question.variables.push_back(y.c);
    q.changed_samples = {with_flipped_sign(m.c, x.c)};
    q.question.assumptions.push_back(opposite(m.c, x.c, y.c));
  }
  return q;
}

PropertyQuestion sign_symmetry(const Op& op, const DotModel& m) {
  PropertyQuestion p;
  p.whole = [=](Expressions& table) { return opposite_operands(table, op, m, /*any_related_c=*/false); };
  // The zeros that fill an instruction keep their sign; the lemmas are about products that all change theirs.
  if (!has_like_blocks(op, m) || op.k <= step_of(m) || op.k % m.k != 0) return p;
  p.argument =
      std::string(by_induction) +
      "where the two c are opposite or zeros of any sign, and the products opposite, so are the two d, or both are the "
      "same NaN (lemma 1). A block whose c is NaN gives that NaN (lemma 2).";
  const Block block = block_of(op, m);
  p.lemmas = {
      [=](Expressions& table) { return opposite_operands(table, block.op, block.model, /*any_related_c=*/true); },
      [=](Expressions& table) {
        const Operands x = dot_variables(table, block.op);
        const Formula f = dot_formula(block.model, x);
        CaseQuestion q = relate(table, block.op, x, f, f, equal(f.result, table.constant(m.d.width, Bits(m.nan))));
        q.question.assumptions.push_back(decode(m.c, x.c).nan);
        return q;
      }};
  return p;
}

PropertyQuestion swap_operands(const Op& op, const DotModel& m) {
  return {"", {}, [=](Expressions& table) {
            const Operands x = dot_variables(table, op);
            Operands y = x;
            std::swap(y.a, y.b);
            std::swap(y.scale_a, y.scale_b);
            const Formula before = dot_formula(m, x), after = dot_formula(m, y);
            return relate(table, op, x, before, after, same_result(op, before.result, after.result));
          }};
}

/// Zero products of x become +0 * +0.
Operands with_plain_zeros(Expressions& table, const Operands& x, const DotModel& m) {
  Operands y = x;
  const Expression zero_a = table.constant(m.a.width, 0), zero_b = table.constant(m.b.width, 0);
  for (size_t i = 0; i < x.a.size(); ++i) {
    const Expression zero =
        product_of(decode(m.a, x.a[i], exponent_width_of(m)), decode(m.b, x.b[i], exponent_width_of(m))).zero;
    y.a[i] = choose(zero, zero_a, x.a[i]);
    y.b[i] = choose(zero, zero_b, x.b[i]);
  }
  return y;
}

/// The same, and as many zero products with great factors follow.
Operands padded(Expressions& table, const Operands& x, const DotModel& m) {
  Operands y = with_plain_zeros(table, x, m);
  for (size_t i = 0; i < x.a.size(); ++i) {
    y.a.push_back(table.constant(m.a.width, i % 2 ? Bits(m.a.encode_greatest(false)) : Bits(0)));
    y.b.push_back(table.constant(m.b.width, i % 2 ? Bits(0) : Bits(m.b.encode_greatest(false))));
  }
  y.scale_a.insert(y.scale_a.end(), x.scale_a.begin(), x.scale_a.end());
  y.scale_b.insert(y.scale_b.end(), x.scale_b.begin(), x.scale_b.end());
  return y;
}

/// No scale is NaN.
Expression plain_scales(Expressions& table, const Operands& x, const DotModel& m) {
  std::vector<Expression> plain;
  for (size_t i = 0; i < x.scale_a.size(); ++i)
    for (const Number& scale :
         {decode(m.scale_a, x.scale_a[i], fp32_exponent_width), decode(m.scale_b, x.scale_b[i], fp32_exponent_width)})
      plain.push_back(~scale.nan);
  return all_of(table, plain);
}

/// Whether an encoding of d has no more fraction bits than results have, or is NaN.
Expression is_result(const DotModel& m, Expression x) {
  const int unused = m.d.ignored_low_bits + m.d.fraction_bits - m.output_fraction_bits;
  if (unused == 0) return x.table().constant(1, 1);
  return is_zero(extract(x, unused - 1, 0)) | decode(m.d, x).nan;
}

/// Lemma: every d of a block has the form that is_result() states.
MakeQuestion results_have_their_form(const Block& block) {
  return [block](Expressions& table) {
    const Operands x = dot_variables(table, block.op);
    const Formula f = dot_formula(block.model, x);
    return relate(table, block.op, x, f, f, is_result(block.model, f.result));
  };
}

/// The other factor of each zero product in a block: a greatest number, as in the products that zero_padding() appends,
/// or +0, as in those that fill an instruction.
enum class Beside { greatest, zero };

/// Lemma: a block of zero products returns its c, if that has the form of a d; a zero may change its sign.
MakeQuestion zeros_add_nothing(const Block& block, Beside beside) {
  return [block, beside](Expressions& table) {
    const Operands x = dot_variables(table, block.op);
    const Operands longer = padded(table, x, block.model);
    Operands y = x;
    for (size_t i = 0; i < y.a.size(); ++i) {
      y.a[i] = beside == Beside::zero ? table.constant(block.model.a.width, 0) : longer.a[i + y.a.size()];
      y.b[i] = beside == Beside::zero ? table.constant(block.model.b.width, 0) : longer.b[i + y.b.size()];
    }
    const Formula after = dot_formula(block.model, y);
    CaseQuestion q = relate(table, block.op, x, {}, {}, same_number(block.model.d, x.c, after.result));
    q.question.assumptions = {plain_scales(table, x, block.model), is_result(block.model, x.c)};
    return q;
  };
}

/// Lemma: +0 and -0 as c give the same number.
MakeQuestion zero_signs_do_not_matter(const Block& block) {
  return [block](Expressions& table) {
    const DotModel& m = block.model;
    const Operands x = dot_variables(table, block.op);
    Operands y = x;
    y.c = table.variable("c_of_twin", m.c.width);
    const Formula before = dot_formula(m, x), after = dot_formula(m, y);
    const auto same = [](const FormatFields& f, Expression p, Expression q) {
      const Number a = decode(f, p), b = decode(f, q);
      return equal(p, q) | (a.zero & b.zero);
    };
    CaseQuestion q = relate(table, block.op, x, before, after, same(m.d, before.result, after.result));
    q.question.variables.push_back(y.c);
    q.changed_samples = {x.c};
    q.question.assumptions.push_back(same(m.c, x.c, y.c));
    return q;
  };
}

/// Lemma: the other factors of zero products do not change the result.
MakeQuestion other_factors_do_not_matter(const Block& block) {
  return [block](Expressions& table) {
    const DotModel& m = block.model;
    const Operands x = dot_variables(table, block.op);
    const Formula before = dot_formula(m, x), after = dot_formula(m, with_plain_zeros(table, x, m));
    CaseQuestion q = relate(table, block.op, x, before, after, equal(before.result, after.result));
    q.question.assumptions.push_back(plain_scales(table, x, m));
    return q;
  };
}

PropertyQuestion zero_padding(const Op& op, const DotModel& m) {
  PropertyQuestion p;
  p.whole = [=](Expressions& table) {
    const Operands x = dot_variables(table, op);
    const Formula before = dot_formula(m, x);
    Formula after = dot_formula(m, padded(table, x, m));
    const Expression holds = same_number(m.d, before.result, after.result);
    after.stages.resize(std::min(before.stages.size(), after.stages.size()));  // those of the same products
    CaseQuestion q = relate(table, op, x, before, after, holds);
    q.question.assumptions.push_back(plain_scales(table, x, m));
    return q;
  };
  if (!has_like_blocks(op, m) || op.k % step_of(m) != 0 || !(op.c == op.d)) return p;
  p.argument =
      "A block gives the same encoding where the other factors of its zero products are +0 (lemma 1). Every d has a "
      "form (lemma 2) in which a block of zero products gives its c, zeros of any sign (lemma 3). So more blocks of "
      "zeros add nothing.";
  const Block block = block_of(op, m);
  p.lemmas = {other_factors_do_not_matter(block), results_have_their_form(block),
              zeros_add_nothing(block, Beside::greatest)};
  return p;
}

PropertyQuestion split_k(const Op& op, const DotModel& m) {
  const int cut = split_k_cut(op, m);
  PropertyQuestion p;
  p.whole = [=](Expressions& table) {
    const Operands x = dot_variables(table, op);
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
    DotModel of_second = m;
    of_second.c = m.d;
    const Formula after = dot_formula(of_second, second);
    return relate(table, op, x, whole, after, same_number(m.d, whole.result, after.result));
  };
  // In another order, an instruction that is cut has other products in its blocks.
  if (!has_like_blocks(op, m) || cut % step_of(m) != 0) return p;
  if (m.order != ProductOrder::ascending && cut % m.k != 0) return p;
  p.argument =
      "Both ways run the same blocks; where the first dot is shorter than an instruction, blocks of products +0 * +0 "
      "come between. Every d has a form (lemma 1) in which such a block gives its c, zeros of any sign (lemma 2). The "
      "blocks after it give the same number from c that are the same number (lemma 3).";
  const Block block = block_of(op, m);
  p.lemmas = {results_have_their_form(block), zeros_add_nothing(block, Beside::zero), zero_signs_do_not_matter(block)};
  return p;
}

PropertyQuestion block_permutation(const Op& op, const DotModel& m) {
  PropertyQuestion p;
  p.whole = [=](Expressions& table) {
    const Operands x = dot_variables(table, op);
    Operands y = x;
    for (int step = 0; step < op.k; step += m.k)
      for (int first = step; first < std::min(step + m.k, op.k); first += m.block) {
        const int end = std::min({first + m.block, step + m.k, op.k});
        std::reverse(y.a.begin() + first, y.a.begin() + end);
        std::reverse(y.b.begin() + first, y.b.begin() + end);
      }
    const Formula before = dot_formula(m, x), after = dot_formula(m, y);
    return relate(table, op, x, before, after, same_result(op, before.result, after.result));
  };
  // The property reverses neighbours, the lemmas exchange products of one block.
  if (!has_like_blocks(op, m) || !has_contiguous_blocks(m)) return p;
  p.argument =
      "Every permutation is made of exchanges of neighbours. A lemma for each place of a block says that the "
      "exchange leaves the block's d unchanged, and so the blocks after it.";
  const Block block = block_of(op, m);
  for (size_t i = 0; i + 1 < size_t(block.op.k); ++i)
    p.lemmas.push_back([=](Expressions& table) {
      const Operands x = dot_variables(table, block.op);
      Operands y = x;
      std::swap(y.a[i], y.a[i + 1]);
      std::swap(y.b[i], y.b[i + 1]);
      const Formula before = dot_formula(block.model, x), after = dot_formula(block.model, y);
      return relate(table, block.op, x, before, after, equal(before.result, after.result));
    });
  return p;
}

/// Products of the same value from other factors; with `same_exponents`, the sums of the factors' exponents are the
/// same, too.
PropertyQuestion other_factors(const Op& op, const DotModel& m, bool same_exponents) {
  const auto ask = [same_exponents](Expressions& table, const Op& op, const DotModel& m) {
    const Operands x = dot_variables(table, op), others = dot_variables(table, op, "_of_twin");
    Operands y = x;
    y.a = others.a;
    y.b = others.b;
    std::vector<Expression> same;
    const int width = exponent_width_of(m);
    // Flushed subnormals have no value to keep; emulated FP8 normalizes them first (docs/semantics.md 4, 6).
    const bool only_normal = flushes(m) || traits_of(m).widens_to_fp16();
    for (size_t i = 0; i < x.a.size(); ++i) {
      const auto product = [&](const Operands& of_case) {
        return product_of(decode(m.a, of_case.a[i], width), decode(m.b, of_case.b[i], width));
      };
      const Number p = product(x), q = product(y);
      const auto value = [&](const Number& n) { return same_exponents ? n : normalized(n); };
      const Number u = value(p), v = value(q);
      const Expression alike =
          equal(u.negative, v.negative) & equal(u.exponent, v.exponent) & equal(u.significand, v.significand);
      Expression finite = ~(p.zero | p.infinite | p.nan | q.zero | q.infinite | q.nan);
      if (only_normal)
        for (const Number& n : {decode(m.a, x.a[i], width), decode(m.b, x.b[i], width), decode(m.a, y.a[i], width),
                                decode(m.b, y.b[i], width)})
          finite = finite & bit(n.significand, n.significand.width() - 1);
      same.push_back((alike & finite) | (equal(x.a[i], y.a[i]) & equal(x.b[i], y.b[i])));
    }
    const Formula before = dot_formula(m, x), after = dot_formula(m, y);
    CaseQuestion q = relate(table, op, x, before, after, same_result(op, before.result, after.result));
    const bool swap = op.a == op.b;
    for (const std::vector<Expression>& more : {y.a, y.b})
      q.question.variables.insert(q.question.variables.end(), more.begin(), more.end());
    // The sample of the changed case has a and b exchanged where they share a format: other factors, the same products.
    for (const std::vector<Expression>& more : {swap ? x.b : x.a, swap ? x.a : x.b})
      q.changed_samples.insert(q.changed_samples.end(), more.begin(), more.end());
    q.question.assumptions = same;
    q.changed = y;
    return q;
  };
  PropertyQuestion p;
  p.whole = [=](Expressions& table) { return ask(table, op, m); };
  if (!has_like_blocks(op, m)) return p;
  p.argument = "A lemma says it of one block; the blocks after it get the same c.";
  p.lemmas = {[=](Expressions& table) {
    const Block block = block_of(op, m);
    return ask(table, block.op, block.model);
  }};
  return p;
}

PropertyQuestion product_value(const Op& op, const DotModel& m) {
  return other_factors(op, m, /*same_exponents=*/false);
}
PropertyQuestion product_value_and_exponent(const Op& op, const DotModel& m) {
  return other_factors(op, m, /*same_exponents=*/true);
}

struct Provable {
  const char* name;
  PropertyQuestion (*make)(const Op&, const DotModel&);
};
constexpr Provable provable[] = {
    {"block_permutation", block_permutation}, {"monotone_in_c", monotone_in_c},
    {"product_value", product_value},         {"product_value_and_exponent", product_value_and_exponent},
    {"sign_symmetry", sign_symmetry},         {"split_k", split_k},
    {"swap_operands", swap_operands},         {"zero_padding", zero_padding},
};

}  // namespace

CaseQuestion equal_question(Expressions& table, const Op& op, const DotModel& first, const DotModel& second) {
  const Operands x = dot_variables(table, op);
  const Formula f = dot_formula(first, x), g = dot_formula(second, x);
  return relate(table, op, x, f, g, same_result(op, f.result, g.result));
}

Result<PropertyQuestion> property_question(const std::string& property, const Op& op, const DotModel& model) {
  if (property == "swap_operands" && !(op.a == op.b)) return declined("swap_operands is about operands of one format");
  if (property == "block_permutation" && !traits_of(model).adds_blocks_at_once())
    return declined("block_permutation is about sums of blocks");
  if (property == "split_k" && split_k_cut(op, model) == 0)
    return declined("split_k is about dots of two steps at least");
  if (const Provable* p = entry_named(provable, property)) return p->make(op, model);
  return declined("no question is written for the property '" + property +
                  "'; there are: " + names_in_table(provable, ", "));
}

std::vector<std::string> provable_properties() {
  std::vector<std::string> names;
  for (const Provable& p : provable) names.push_back(p.name);
  return names;
}

namespace {

constexpr int domain_exponent_width = 13;       ///< bits for the exponents of all formats and of a domain's A and B
constexpr int greatest_domain_exponent = 2000;  ///< maximum magnitude of A and B, beyond fp64's exponents

/// A word of a domain that holds for each of a, b and c.
struct OperandDomain {
  const char* name;
  Expression (*holds)(const Number&);
};
constexpr OperandDomain operand_domains[] = {
    {"finite", [](const Number& n) { return ~n.nan & ~n.infinite; }},
    {"normal",
     [](const Number& n) { return n.zero | (bit(n.significand, n.significand.width() - 1) & ~n.nan & ~n.infinite); }},
    {"positive", [](const Number& n) { return ~n.negative; }},
    {"binade", [](const Number& n) { return n.zero | in_first_binade(n); }},
};

std::optional<int> whole_number(const std::string& text) {
  int value = 0;
  return parse_number(text, value) ? std::optional(value) : std::nullopt;
}

}  // namespace

Result<bool> restrict_to(CaseQuestion& q, const std::string& domain) {
  std::vector<Expression>& assumed = q.question.assumptions;
  const Operands& x = q.operands;
  const FormatFields &a = q.op.a.fields(), &b = q.op.b.fields(), &c = q.op.c.fields();
  const auto number = [](const FormatFields& f, Expression e) { return decode(f, e, domain_exponent_width); };
  for (const std::string& word : words_of(domain, ',')) {
    if (const OperandDomain* of_operands = entry_named(operand_domains, word)) {
      for (const Expression& e : x.a) assumed.push_back(of_operands->holds(number(a, e)));
      for (const Expression& e : x.b) assumed.push_back(of_operands->holds(number(b, e)));
      assumed.push_back(of_operands->holds(number(c, x.c)));
    } else if (word.starts_with("products=")) {
      const std::optional<int> products = whole_number(word.substr(9));
      if (!products || *products < 0) return invalid("domain products=N needs a number, not '" + word.substr(9) + "'");
      for (size_t i = size_t(*products); i < x.a.size(); ++i) {
        assumed.push_back(is_zero(x.a[i]));
        assumed.push_back(is_zero(x.b[i]));
      }
    } else if (word.starts_with("exponents=")) {
      const size_t dots = word.find("..");
      const auto least = whole_number(word.substr(10, dots == std::string::npos ? dots : dots - 10)),
                 greatest = dots == std::string::npos ? std::nullopt : whole_number(word.substr(dots + 2));
      const auto in_range = [](std::optional<int> e) { return e && std::abs(*e) <= greatest_domain_exponent; };
      if (!in_range(least) || !in_range(greatest) || *least > *greatest)
        return invalid("domain exponents=A..B needs two numbers, the lesser first, of at most " +
                       std::to_string(greatest_domain_exponent) + " in magnitude, not '" + word.substr(10) + "'");
      const auto within = [&](const FormatFields& f, Expression e) {
        const Number n = normalized(number(f, e));
        return n.zero | (is_between(n.exponent, *least, *greatest) & ~n.nan & ~n.infinite);
      };
      for (const Expression& e : x.a) assumed.push_back(within(a, e));
      for (const Expression& e : x.b) assumed.push_back(within(b, e));
    } else if (word == "c=0") {
      assumed.push_back(number(c, x.c).zero);
    } else if (word.starts_with("factors=")) {
      return invalid("domain factors=FORMAT is only of prove nearer");
    } else {
      return invalid("unknown domain '" + word +
                     "'; there are: finite, normal, positive, binade, products=N, exponents=A..B, c=0");
    }
  }
  return true;
}

Batch case_of(const CaseQuestion& q, const Operands& operands, const Proof& proof) {
  Batch batch(q.op, 1);
  std::vector<uint64_t> values, fields;
  for (const Expression& v : q.question.variables) {
    const auto value = proof.witness.find(v.table().name(v.table().node(v)));
    values.push_back(value == proof.witness.end() ? 0 : static_cast<uint64_t>(value->second));
  }
  Evaluator(q.question.variables, in_case_order(operands)).run(values, fields);
  auto field = fields.begin();
  for (Column& column : batch.inputs())
    for (int i = 0; i < column.count(); ++i) column.set(0, i, *field++);
  return batch;
}

std::vector<std::vector<uint64_t>> samples_of(const CaseQuestion& q, size_t count) {
  if (q.question.first.empty() && q.question.facts.empty()) return {};  // nothing is compared in steps
  std::vector<std::vector<uint64_t>> samples(count);
  Batch batch;
  StructuredGenerator(q.op, /*seed=*/83).fill(0, count, batch);
  for (size_t i = 0; i < count; ++i)
    for (const Column& column : batch.inputs())
      for (int j = 0; j < column.count(); ++j) samples[i].push_back(column.get(i, j));
  if (q.changed_samples.empty()) return samples;
  const Evaluator changed(in_case_order(q.operands), q.changed_samples);
  std::vector<uint64_t> values;
  for (std::vector<uint64_t>& sample : samples) {
    changed.run(sample, values);
    sample.insert(sample.end(), values.begin(), values.end());
  }
  return samples;
}

}  // namespace mmafuzz::prove
