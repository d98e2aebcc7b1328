// `prove nearer`: the statement, its lemmas and the replay of a witness.
#include "prove/inquiry_parts.h"

#include <fmt/core.h>

#include "core/case_text.h"
#include "core/unit_name.h"
#include "core/text.h"
#include "oracles/exact/exact_gemm.h"
#include "oracles/exact/mpfr_reference.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "prove/formulas/corrected_product.h"

namespace mmafuzz::prove {
namespace {

bool is_corrected(const std::string& unit) { return UnitName(unit).backend == "split"; }

gemm::NamedCorrection correction_of(const std::string& unit) {
  const Result<gemm::NamedCorrection> correction = gemm::named_correction(unit);
  if (!correction) throw BadInput("unit " + unit + ": " + correction.refusal().reason);
  return *correction;
}

/// The op of one element whose products fill one dot of the unit.
Op element_op(const std::string& unit) {
  Op op;
  op.kind = OpKind::gemm;
  op.a = op.b = op.c = op.d = format("fp32");
  op.k = correction_of(unit).plan.unit_k;
  return op;
}

Contender contender(const std::string& unit, const Op& op) {
  if (!is_corrected(unit)) {
    const Subject row = subject(unit, op);
    if (op.scales() > 0) throw BadInput("prove nearer is about dots without scales; " + unit + " has them");
    return {std::nullopt, row.model()};
  }
  const gemm::NamedCorrection correction = correction_of(unit);
  if (op.kind != OpKind::gemm || op.m != 1 || op.n != 1 || op.has_alpha_beta())
    throw BadInput("prove nearer is about one element: 'op gemm ... m=1 n=1' without alpha and beta, not '" +
                   to_text(op) + "'");
  if (const Result<bool> covers = corrected_product_covers(correction.plan); !covers)
    throw BadInput("there is no formula of " + unit + ": " + covers.refusal().reason);
  return {correction.plan, subject(correction.dot_unit, gemm::correction_dot(correction.plan)).model()};
}

/// Removes factors=FORMAT from a domain and returns the format; nullopt where the domain has none.
std::optional<Format> take_factors(std::string& domain, const Contender& first, const Contender& second) {
  std::optional<Format> factors;
  std::string rest;
  for (const std::string& word : words_of(domain, ',')) {
    if (!word.starts_with("factors=")) {
      rest += (rest.empty() ? "" : ",") + word;
      continue;
    }
    const Result<Format> named = parse_format(word.substr(8));
    if (!named) throw BadInput("domain " + word + ": " + named.refusal().reason);
    for (const Contender* unit : {&first, &second})
      if (!unit->plan || !(unit->plan->narrow == *named))
        throw BadInput("domain " + word + " is about error-corrected products that split into that format");
    factors = *named;
  }
  domain = rest;
  return factors;
}

/// Whether `result` is farther from the exact result than `other`, computed with MPFR. A result that is no number is
/// farther than any number; false where the exact result or `other` is no number.
bool is_farther(const Op& op, const Batch& witness, uint64_t result, uint64_t other) {
  std::vector<uint64_t> a(size_t(op.k)), b(size_t(op.k));
  witness.a().unpack(0, a.data());
  witness.b().unpack(0, b.data());
  exact::Mpfr sum(gemm::element_precision), x(gemm::element_precision), y(gemm::element_precision);
  Op element = op;
  element.kind = OpKind::gemm;
  gemm::element_value(element, {a, b, witness.c().get(0)}, sum.get());
  exact::set_from_encoding(x.get(), op.d, result);
  exact::set_from_encoding(y.get(), op.d, other);
  if (!mpfr_number_p(sum.get()) || !mpfr_number_p(y.get())) return false;
  if (!mpfr_number_p(x.get())) return true;
  exact::must_be_exact(mpfr_sub(x.get(), x.get(), sum.get(), MPFR_RNDN));
  exact::must_be_exact(mpfr_sub(y.get(), y.get(), sum.get(), MPFR_RNDN));
  return mpfr_cmpabs(x.get(), y.get()) > 0;
}

}  // namespace

Reply ask_nearer(Solvers& solvers, const std::string& first, const std::string& second, const InquiryOptions& options) {
  InquiryOptions rest = options;
  const Op op = options.op.empty() && is_corrected(first) ? element_op(first) : op_of(first, options);
  const Contender u = contender(first, op), v = contender(second, op);
  const std::unique_ptr<Unit> units[] = {bind_or_fail(first, op), bind_or_fail(second, op)};
  const std::optional<Format> factors = take_factors(rest.domain, u, v);
  std::string text = first + " is never farther from the exact result than " + second;
  if (factors) text += " where factors are numbers of " + factors->name();

  const NearerQuestion asked = nearer_question(op, u, v, factors);
  const auto replayed = [&](Reply reply) {
    if (reply.proof.outcome != Outcome::witness) return reply;
    uint64_t results[2];
    for (int i = 0; i < 2; ++i) {
      results[i] = units[i]->outcomes_of(reply.witness).results.get(0);
      reply.results.push_back(to_hex(op.d, results[i]) + " " + (i == 0 ? first : second));
    }
    if (!is_farther(op, reply.witness, results[0], results[1])) refuse_witness(reply);
    return reply;
  };

  for (const MakeQuestion& place : asked.sought) {
    InquiryOptions hints = rest;
    hints.proof.only_hints = true;
    Reply reply = put_question(solvers, place, text, op, hints);
    if (reply.proof.outcome == Outcome::witness) return replayed(std::move(reply));
    rest.proof.spent = hints.proof.spent;
  }
  std::vector<ProofStep> steps;
  std::string why_not;
  const auto are_proven = [&](const std::vector<MakeQuestion>& lemmas, const std::string& what, double seconds) {
    InquiryOptions within = rest;
    within.proof.seconds = rest.proof.spent + seconds;
    bool all = true;
    for (size_t i = 0; i < lemmas.size() && all; ++i) {
      const Reply reply =
          put_question(solvers, lemmas[i], fmt::format("{}, {}, lemma {}", text, what, i + 1), op, within);
      all = reply.proof.outcome == Outcome::proven;
      if (!all) why_not = reply.proof.outcome == Outcome::witness ? "it is false" : reply.proof.reason;
      if (all) steps.insert(steps.end(), reply.proof.steps.begin(), reply.proof.steps.end());
    }
    rest.proof.spent = within.proof.spent;
    return all;
  };
  const auto left = [&] { return rest.proof.seconds - rest.proof.spent; };
  Reply reply{text, op};
  if (factors && !are_proven(asked.of_factors, "parts of a factor", left())) {
    reply.proof.reason = "the lemma about the parts of a factor is not proven: " + why_not;
    reply.proof.seconds = rest.proof.spent;
    return reply;
  }
  if (factors) reply.argument = "Such a factor is its own main part, and its residual is +0 (a lemma for each unit). ";
  if (asked.nearest && are_proven({asked.nearest}, "nearest", left() / 2)) {
    reply.argument +=
        "What " + first +
        " adds c to is the exact sum of the products, and far from overflow (a lemma). By the definition of an "
        "addition that rounds to nearest, no number is nearer to the exact result than its own.";
    reply.proof.outcome = Outcome::proven;
    reply.proof.confirmed = options.proof.confirm;
  } else {
    const std::string argument = reply.argument;
    reply = replayed(put_question(solvers, asked.compared, text, op, rest));
    reply.argument = argument;
  }
  reply.proof.steps.insert(reply.proof.steps.begin(), steps.begin(), steps.end());
  reply.proof.seconds = rest.proof.spent;
  return reply;
}

}  // namespace mmafuzz::prove
