#include "triage/minimize_divergence.h"

#include <stdexcept>

#include "core/case_text.h"
#include "triage/minimize.h"
#include "triage/minimize_gemm.h"
#include "triage/own_unit.h"
#include "triage/triage.h"

namespace mmafuzz {

bool minimize_divergence(const std::vector<std::string>& statement, const Batch& one, const Registry& registry,
                         std::string& out, std::string* twin) {
  Result<Judge> judge = Judge::bind(statement[0], {statement.begin() + 1, statement.end()}, one.op(), registry);
  if (!judge) throw std::runtime_error(judge.refusal().reason);
  Causes causes(*judge, registry);
  if (twin) {
    const std::vector<Batch> twins = judge->twins(one);
    *twin = twins.empty() ? "" : case_line(twins[0], 0);
  }
  Verdict verdict = judge->judge(one)[0];
  if (!verdict.fails) return false;
  Bucket bucket;
  bucket.key = {statement[0], op_label(one.op()), {statement.begin() + 1, statement.end()}, name_of(verdict.cls)};
  bucket.severity = statement[0] == "equals_model" ? Severity::contract : Severity::semantic;
  for (const std::unique_ptr<Unit>& unit : judge->units())
    for (const Claim& claim : unit->claims())
      if (claim.property == statement[0]) bucket.severity = Severity::contract;
  bucket.cause = cause_of(one, verdict, *judge, causes);
  bucket.detail = causes.detail(bucket.cause);
  Batch witness = one;
  if (bucket.cause != unstable && one.op().kind == OpKind::gemm) {
    witness = minimize_gemm(statement, one, verdict.cls, bucket.cause, registry);
    judge = Judge::bind(statement[0], {statement.begin() + 1, statement.end()}, witness.op(), registry);
    verdict = judge->judge(witness)[0];
  } else if (bucket.cause != unstable) {
    SmallCases small;
    witness = Minimizer(*judge, causes, small).minimize(one, verdict.cls, bucket.cause);
    verdict = judge->judge(witness)[0];
  }
  if (bucket.cause == unexplained && OwnUnit::speaks_of(*judge))
    bucket.detail = OwnUnit(*judge, registry).describe(witness);
  const std::string text = witness_text(bucket, *judge, witness, verdict);
  out += text.substr(text.find('\n') + 1);
  return true;
}

}  // namespace mmafuzz
