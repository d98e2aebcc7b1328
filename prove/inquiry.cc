#include "prove/inquiry.h"

#include "core/case_text.h"
#include "core/contradiction.h"
#include "core/unit_name.h"
#include "oracles/models/model_rows.h"
#include "oracles/properties/properties.h"
#include "plan/registry.h"
#include "plan/request.h"

namespace mmafuzz::prove {
namespace {

constexpr size_t sample_count = 256;

Op op_of(const std::string& unit, const InquiryOptions& options) {
  if (!options.op.empty()) return op_from_text(options.op);
  const ModelRow* row = find_model_row(UnitName(unit).path);
  if (!row) throw BadInput("the op of " + unit + " is not known: name one with --op");
  return row->op;
}

struct Subject {
  std::unique_ptr<Unit> unit;
  const DotModel& model() const { return *unit->model(); }
};

Subject subject(const std::string& name, const Op& op) {
  Subject s{bind_or_fail(name, op)};
  if (op.kind != OpKind::dot || !s.unit->model()) throw BadInput("there is no formula of " + name + ": it has no row");
  const Result<bool> covers = covered(s.model());
  if (!covers) throw BadInput("there is no formula of " + name + ": " + covers.refusal().reason);
  return s;
}

std::string result_of(const Unit& unit, const Batch& batch) {
  Outcomes outcomes;
  unit.run(batch, outcomes);
  return to_hex(batch.op().d, outcomes.results.get(0));
}

[[noreturn]] void refuse_witness(const Reply& f) {
  throw Contradiction("the formula and the units disagree on " + f.question + ": the solver's case '" +
                      case_line(f.witness, 0) + "' of '" + to_text(f.op) + "' is no witness");
}

Reply answer(Solvers& solvers, CaseQuestion& question, const InquiryOptions& options) {
  if (const Result<bool> allowed = restrict_to(question, options.domain); !allowed)
    throw BadInput(allowed.refusal().reason);
  if (!options.domain.empty()) question.question.text += " where " + options.domain;
  Reply f{question.question.text, question.op, {}, {}, {}, ""};
  f.proof = prove(solvers, question.question, samples_of(question, sample_count), options.proof);
  if (f.proof.outcome == Outcome::witness) f.witness = case_of(question, f.proof);
  return f;
}

}  // namespace

Reply ask_equal(Solvers& solvers, const std::string& first, const std::string& second, const InquiryOptions& options) {
  const Op op = op_of(first, options);
  const Subject u = subject(first, op), v = subject(second, op);
  Expressions in;
  CaseQuestion question = equal_question(in, op, u.model(), v.model());
  question.question.text = first + " equals " + second;
  Reply f = answer(solvers, question, options);
  if (f.proof.outcome != Outcome::witness) return f;
  const std::string x = result_of(*u.unit, f.witness), y = result_of(*v.unit, f.witness);
  f.results = {x + " " + first, y + " " + second};
  if (x == y) refuse_witness(f);
  return f;
}

Reply ask_property(Solvers& solvers, const std::string& property, const std::string& unit,
                   const InquiryOptions& options) {
  const Property* known = find_property(property);
  if (!known) throw BadInput("unknown property '" + property + "'; 'mmafuzz list properties' has them");
  const Op op = op_of(unit, options);
  const Subject u = subject(unit, op);
  const Result<PropertyQuestion> asked = property_question(property, op, u.model());
  if (!asked) throw BadInput(asked.refusal().reason);
  const std::string text = property + " of " + unit;
  InquiryOptions rest = options;
  const auto put = [&](const MakeQuestion& make, const std::string& name) {
    Expressions in;
    CaseQuestion question = make(in);
    question.question.text = name;
    Reply reply = answer(solvers, question, rest);
    rest.proof.seconds -= reply.proof.seconds;
    return reply;
  };
  // A lemma about one block says nothing of a domain that its c may leave.
  if (!asked->lemmas.empty() && (options.domain.empty() || op.k <= u.model().block)) {
    Reply all{text, op, {}, {}, {}, asked->argument};
    bool proven = true;
    for (size_t i = 0; proven && i < asked->lemmas.size(); ++i) {
      const Reply lemma = put(asked->lemmas[i], text + ", lemma " + std::to_string(i + 1));
      proven = lemma.proof.outcome == Outcome::proven;
      all.proof.steps.insert(all.proof.steps.end(), lemma.proof.steps.begin(), lemma.proof.steps.end());
      all.proof.seconds += lemma.proof.seconds;
    }
    if (proven) {
      all.proof.outcome = Outcome::proven;
      all.proof.confirmed = options.proof.confirm;
      return all;
    }
  }
  Reply f = put(asked->whole, text);
  f.proof.seconds = options.proof.seconds - rest.proof.seconds;
  if (f.proof.outcome != Outcome::witness) return f;
  const Result<BoundProperty> bound = BoundProperty::bind(*known, *u.unit, op, registry());
  if (!bound) throw BadInput(bound.refusal().reason);
  Outcomes base;
  u.unit->run(f.witness, base);
  std::vector<BoundProperty::Verdict> verdicts;
  bound->judge(f.witness, base, verdicts);
  f.results = {to_hex(op.d, verdicts.at(0).before) + " on the case",
               to_hex(op.d, verdicts.at(0).after) + " on its twin"};
  if (!verdicts.at(0).failed) refuse_witness(f);
  return f;
}

IntegerBits ask_integer_bits(Solvers& solvers, const std::string& unit, const InquiryOptions& options) {
  const Op op = op_of(unit, options);
  const Subject u = subject(unit, op);
  if (u.model().kernel != Kernel::fused_sum) throw BadInput("bits is about fused sums; " + unit + " is none");
  const UnitName name(unit);
  const auto with_bits = [&](int bits) {
    return unit + (name.settings.empty() ? "?" : ",") + "integer_bits=" + std::to_string(bits);
  };
  // Products below 4 and c below 2: no sum reaches 4 L + 2.
  int bits = 1;
  while ((1 << bits) < 4 * u.model().block + 2) ++bits;
  IntegerBits found;
  for (; bits > 0; --bits) {
    Reply f = ask_equal(solvers, unit, with_bits(bits), options);
    if (f.proof.outcome == Outcome::proven) {
      found.enough = std::move(f);
      found.bits = bits;
      continue;
    }
    found.one_fewer = std::move(f);
    break;
  }
  return found;
}

}  // namespace mmafuzz::prove
