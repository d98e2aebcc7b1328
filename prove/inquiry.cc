#include "prove/inquiry_parts.h"
#include "prove/question_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <chrono>

#include "core/case_text.h"
#include "core/contradiction.h"
#include "core/text.h"
#include "core/ulps.h"
#include "core/unit_name.h"
#include "arithmetic/decode.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/parameters.h"
#include "oracles/properties/numbers.h"
#include "oracles/properties/properties.h"
#include "plan/named_rows.h"
#include "plan/registry.h"
#include "plan/request.h"

namespace mmafuzz::prove {

std::string domain_clause(const InquiryOptions& options) {
  return options.domain.empty() ? "" : " where " + options.domain;
}

Op op_of(const std::string& unit, const InquiryOptions& options) {
  if (!options.op.empty()) return op_from_text(options.op);
  const std::optional<Op> op = op_of_row(unit);
  if (!op) throw BadInput("the op of " + unit + " is not known: name one with --op");
  return *op;
}

Subject subject(const std::string& name, const Op& op) {
  Subject s{bind_or_fail(name, op)};
  if (op.kind != OpKind::dot || !s.unit->model()) throw BadInput("there is no formula of " + name + ": it has no row");
  return s;
}

std::string result_of(const Unit& unit, const Batch& batch) {
  return to_hex(batch.op().d, unit.outcomes_of(batch).results.get(0));
}

void refuse_witness(const Reply& reply) {
  throw Contradiction("the formula and the units disagree on " + reply.question + ": the solver's case '" +
                      case_line(reply.witness, 0) + "' of '" + to_text(reply.op) + "' is no witness");
}

Reply put_question(Solvers& solvers, const MakeQuestion& make, const std::string& statement, const Op& op,
                   InquiryOptions& rest) {
  const std::string text = statement + domain_clause(rest);
  Reply reply{text, op};
  if (rest.proof.spent >= rest.proof.seconds) {
    reply.proof.reason = no_answer_in(rest.proof);
    return reply;
  }
  const auto begin = std::chrono::steady_clock::now();
  Expressions table;
  CaseQuestion question = make(table);
  question.question.text = text;
  if (const Result<bool> allowed = restrict_to(question, rest.domain); !allowed)
    throw BadInput(allowed.refusal().reason);
  reply.op = question.op;
  reply.proof = prove(solvers, question.question, samples_of(question, 256), rest.proof);
  if (reply.proof.outcome == Outcome::witness) {
    reply.witness = case_of(question, question.operands, reply.proof);
    if (question.changed) reply.changed = case_of(question, *question.changed, reply.proof);
  }
  rest.proof.spent += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return reply;
}

Reply ask_in_lemmas(Solvers& solvers, const PropertyQuestion& asked, const std::string& text, const Op& op,
                    bool lemmas_apply, const InquiryOptions& options) {
  InquiryOptions rest = options;
  if (!asked.lemmas.empty() && lemmas_apply) {
    Reply all{.question = text, .op = op, .argument = asked.argument};
    bool proven = true;
    for (size_t i = 0; proven && i < asked.lemmas.size(); ++i) {
      const Reply lemma = put_question(solvers, asked.lemmas[i], text + ", lemma " + std::to_string(i + 1), op, rest);
      proven = lemma.proof.outcome == Outcome::proven;
      all.proof.steps.insert(all.proof.steps.end(), lemma.proof.steps.begin(), lemma.proof.steps.end());
    }
    if (proven) {
      all.proof.seconds = rest.proof.spent;
      all.proof.outcome = Outcome::proven;
      all.proof.confirmed = options.proof.confirm;
      return all;
    }
  }
  if (!asked.whole) {
    Reply none{text, op};
    none.proof.seconds = rest.proof.spent;
    none.proof.reason = "a lemma is not proven";
    return none;
  }
  Reply reply = put_question(solvers, asked.whole, text, op, rest);
  reply.proof.seconds = rest.proof.spent;
  return reply;
}

namespace {

/// Product i of a case.
Exact exact_product_of(const Batch& of, int i) {
  return exact_product(of.op().a.fields(), of.a().get(0, i), of.op().b.fields(), of.b().get(0, i));
}

/// Replays a witness whose changed case the solver chose: other factors of the same products.
void replay_changed(Reply& reply, const Subject& u) {
  const std::string before = result_of(*u.unit, reply.witness), after = result_of(*u.unit, reply.changed);
  for (int i = 0; i < reply.op.k; ++i) {
    const bool untouched = reply.witness.a().get(0, i) == reply.changed.a().get(0, i) &&
                           reply.witness.b().get(0, i) == reply.changed.b().get(0, i);
    const Exact x = exact_product_of(reply.witness, i), y = exact_product_of(reply.changed, i);
    const bool finite = x.cls == NumberClass::finite && y.cls == NumberClass::finite;
    if (!untouched && !(finite && compare(x, y) == 0)) refuse_witness(reply);
  }
  if (before == after) refuse_witness(reply);
  reply.results = {before + " on the case", after + " on the changed case " + case_line(reply.changed, 0)};
}

/// Replays a witness against a property, and notes the results on the case and on the changed case. Throws
/// Contradiction where the property holds there.
BoundProperty::Verdict replay(Reply& reply, const Property& property, const Subject& u) {
  const Result<BoundProperty> bound = BoundProperty::bind(property, *u.unit, reply.op, registry());
  if (!bound) throw BadInput(bound.refusal().reason);
  const Outcomes base = u.unit->outcomes_of(reply.witness);
  std::vector<BoundProperty::Verdict> verdicts;
  bound->judge(reply.witness, base, verdicts);
  reply.results = {to_hex(reply.op.d, verdicts.at(0).first) + " on the case",
                   to_hex(reply.op.d, verdicts.at(0).second) + " on the changed case"};
  if (!verdicts.at(0).fails) refuse_witness(reply);
  return verdicts[0];
}

/// Whether two rows differ in nothing but the order in which the only block of an instruction takes its products.
bool differ_in_order_inside_blocks(const std::string& first, const std::string& second, const DotModel& m,
                                   const DotModel& n, const Op& op) {
  if (UnitName(first).path != UnitName(second).path || !traits_of(m).is_fused_sum() || m.block != m.k ||
      op.k % m.k != 0 || m.order == n.order)
    return false;
  return std::all_of(parameters().begin(), parameters().end(),
                     [&](const Parameter& p) { return std::string_view(p.name) == "order" || p.get(m) == p.get(n); });
}

}  // namespace

Reply ask_equal(Solvers& solvers, const std::string& first, const std::string& second, const InquiryOptions& options) {
  const Op op = op_of(first, options);
  const Subject u = subject(first, op), v = subject(second, op);
  PropertyQuestion asked;
  if (differ_in_order_inside_blocks(first, second, u.model(), v.model(), op)) {
    asked = *property_question("block_permutation", op, u.model());
    asked.argument = "The units differ in the order of the products of a block. " + asked.argument;
  }
  asked.whole = [&](Expressions& table) { return equal_question(table, op, u.model(), v.model()); };
  Reply reply = ask_in_lemmas(solvers, asked, first + " equals " + second, op, options.domain.empty(), options);
  if (reply.proof.outcome != Outcome::witness) return reply;
  const std::string x = result_of(*u.unit, reply.witness), y = result_of(*v.unit, reply.witness);
  reply.results = {x + " " + first, y + " " + second};
  if (x == y) refuse_witness(reply);
  return reply;
}

Reply ask_property(Solvers& solvers, const std::string& property, const std::string& unit,
                   const InquiryOptions& options) {
  const Property* known = find_property(property);
  if (!known) throw BadInput("unknown property '" + property + "'; 'mmafuzz list properties' has them");
  const Op op = op_of(unit, options);
  const Subject u = subject(unit, op);
  const Result<PropertyQuestion> asked = property_question(property, op, u.model());
  if (!asked) throw BadInput(asked.refusal().reason);
  if (const Result<BoundProperty> bound = BoundProperty::bind(*known, *u.unit, op, registry()); !bound)
    throw BadInput(bound.refusal().reason);
  // Lemmas say nothing of a domain: a block's c, or a case between two exchanges of products, may leave it.
  const bool lemmas_apply = options.domain.empty();
  Reply reply = ask_in_lemmas(solvers, *asked, property + " of " + unit, op, lemmas_apply, options);
  if (reply.proof.outcome != Outcome::witness) return reply;
  if (reply.changed.size() > 0) replay_changed(reply, u);
  else replay(reply, *known, u);
  return reply;
}

IntegerBits ask_integer_bits(Solvers& solvers, const std::string& unit, const InquiryOptions& options) {
  const Op op = op_of(unit, options);
  const Subject u = subject(unit, op);
  if (!traits_of(u.model()).is_fused_sum()) throw BadInput("bits is about fused sums; " + unit + " is none");
  const UnitName name(unit);
  const auto with_bits = [&](int bits) {
    return unit + (name.settings.empty() ? "?" : ",") + "integer_bits=" + std::to_string(bits);
  };
  // In units of 2^(greatest exponent), products are below 4 and c is below 2: no sum of L products reaches 4 L + 2.
  const int greatest = std::bit_width(unsigned(4 * u.model().block + 1));
  IntegerBits found;
  for (int bits = greatest; bits > 0; --bits) {  // integer_bits=0 stands for enough of them
    Reply reply = ask_equal(solvers, unit, with_bits(bits), options);
    if (reply.proof.outcome != Outcome::proven) {
      found.one_fewer = std::move(reply);
      break;
    }
    found.enough = std::move(reply);
    found.bits = bits;
  }
  return found;
}

namespace {

/// The name of the unit in which falls are counted: a result may keep fewer bits than its format has.
std::string ulp_of(const DotModel& m) {
  return m.output_fraction_bits < m.d.fraction_bits ? fmt::format("ulp of {} fraction bits", m.output_fraction_bits)
                                                    : "ulp";
}

std::string fall_text(const DotModel& m, const std::string& unit, const std::string& ulps, int products) {
  return fmt::format(
      "results of {} fall by {} {} where a positive c rises to the next number and the new result is not below it, "
      "in a block of {}",
      unit, ulps, ulp_of(m), counted(size_t(products), "product"));
}

}  // namespace

Monotony ask_monotony(Solvers& solvers, const std::string& unit, const InquiryOptions& options,
                      const std::function<void(const Reply&)>& progress) {
  if (!options.domain.empty()) throw BadInput("prove monotone is about all inputs: it takes no --domain");
  Op op = op_of(unit, options);
  const Subject u = subject(unit, op);
  const DotModel& m = u.model();
  if (!traits_of(m).is_fused_sum()) throw BadInput("prove monotone is about fused sums; " + unit + " is none");
  if (!(op.c == op.d)) throw BadInput("prove monotone compares d with c: " + unit + " has them in different formats");
  const Property& property = *find_property("monotone_in_c");
  const int block = std::min(op.k, m.block);
  // Looks in the hints alone; that they hold no witness proves nothing. Half of the time is left for the proof.
  InquiryOptions rest = options;
  const auto may_seek = [&] { return rest.proof.spent < 0.5 * options.proof.seconds; };
  const auto seek = [&](int k, int64_t ulps) {
    op.k = k;
    InquiryOptions only_hints = rest;
    only_hints.proof.only_hints = true;
    only_hints.proof.seconds = 0.5 * options.proof.seconds;
    const std::string text = ulps == 0 ? fmt::format("monotone_in_c of {} with {}", unit, counted(size_t(k), "product"))
                                       : fall_text(m, unit, fmt::format("less than {}", ulps), k);
    Reply reply = put_question(solvers, fall_question(op, m, ulps - 1).whole, text, op, only_hints);
    rest.proof.spent = only_hints.proof.spent;
    return reply;
  };
  /// By how many ulps the result of a witness falls.
  const auto fall_of = [&](Reply& reply) {
    const BoundProperty::Verdict results = replay(reply, property, u);
    const uint64_t encodings = ulp_gap(m.d, results.first, results.second);
    return static_cast<int64_t>(encodings >> (m.d.fraction_bits - m.output_fraction_bits));
  };
  Monotony found;
  found.ulp = ulp_of(m);
  for (int k = 1; k <= block && found.products == 0 && may_seek(); ++k)
    if (Reply reply = seek(k, 0); reply.proof.outcome == Outcome::witness) {
      replay(reply, property, u);
      found.products = k;
      found.fall_with_fewest = std::move(reply);
      progress(found.fall_with_fewest);
    }
  found.knows_products = found.products == 1;  // there are no fewer to ask about
  if (!found.knows_products) {
    op.k = found.products > 0 ? found.products - 1 : block;
    const std::string text = fmt::format("monotone_in_c of {} with {}", unit, counted(size_t(op.k), "product"));
    found.no_fall_with_fewer = ask_in_lemmas(solvers, *property_question("monotone_in_c", op, m), text, op, true, rest);
    if (found.no_fall_with_fewer.proof.outcome == Outcome::witness) replay(found.no_fall_with_fewer, property, u);
    progress(found.no_fall_with_fewer);
    found.knows_products = found.no_fall_with_fewer.proof.outcome == Outcome::proven;
  }
  if (found.products == 0 || !found.knows_products) return found;

  rest = options;
  // Each witness has to fall twice as far as the one before; once none is found, the fall is bisected.
  int64_t none = 0;  // the least fall for which no witness was found; 0: there is none yet
  for (int64_t least = 1; may_seek() && (none == 0 || least < none);) {
    Reply reply = seek(block, least);
    if (reply.proof.outcome == Outcome::witness) {
      found.ulps = fall_of(reply);
      if (found.ulps < least) refuse_witness(reply);
      reply.question = fall_text(m, unit, fmt::format("less than {}", found.ulps), block);
      found.greatest_fall = std::move(reply);
    } else {
      none = least;
    }
    least = none == 0 ? 2 * found.ulps : found.ulps + std::max<int64_t>(1, (none - found.ulps) / 2);
  }
  if (found.ulps > 0) progress(found.greatest_fall);
  op.k = block;
  const std::string bound = fall_text(m, unit, fmt::format("at most {}", found.ulps), block);
  found.no_greater_fall = ask_in_lemmas(solvers, fall_question(op, m, found.ulps), bound, op, true, rest);
  if (found.no_greater_fall.proof.outcome == Outcome::witness) replay(found.no_greater_fall, property, u);
  progress(found.no_greater_fall);
  found.knows_ulps = found.no_greater_fall.proof.outcome == Outcome::proven;
  return found;
}

}  // namespace mmafuzz::prove
