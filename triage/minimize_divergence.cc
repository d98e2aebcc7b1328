#include "triage/minimize_divergence.h"

#include "core/case_text.h"
#include "triage/minimize.h"
#include "triage/unexplained/unit_without_row.h"
#include "triage/triage.h"

namespace mmafuzz {

std::optional<MinimizedDivergence> minimized(const std::string& property, const std::vector<std::string>& units,
                                             const Batch& single, const Registry& registry, std::string* changed) {
  Judge judge = Judge::bound(property, units, single.op(), registry);
  if (changed) {
    const std::vector<Batch> changed_cases = judge.changed_cases(single);
    *changed = changed_cases.empty() ? "" : case_line(changed_cases[0], 0);
  }
  Causes causes(judge, registry);
  MinimizedDivergence found;
  found.verdict = judge.judge(single)[0];
  if (!found.verdict.fails) return std::nullopt;
  Bucket& bucket = found.bucket;
  bucket.key = {property, op_label(single.op()), units, name_of(found.verdict.cls)};
  bucket.severity = property == "equals_model" ? Severity::contract : Severity::semantic;
  for (const std::unique_ptr<Unit>& unit : judge.units())
    if (unit->claim(property)) bucket.severity = Severity::contract;
  bucket.cause = cause_of(single, found.verdict, judge, causes);
  bucket.detail = causes.detail(bucket.cause);
  found.witness = single;
  if (bucket.cause != unstable) {
    const ValueClass cls = found.verdict.cls;
    SmallCases small_cases;
    if (single.op().kind == OpKind::gemm) {
      found.witness = minimize_gemm(property, units, single, cls, bucket.cause, registry);
      judge = Judge::bound(property, units, found.witness.op(), registry);  // it may have smaller matrices
    } else {
      found.witness = Minimizer(judge, causes, small_cases).minimize(single, cls, bucket.cause);
    }
    found.verdict = judge.judge(found.witness)[0];
  }
  if (bucket.cause == unexplained && UnitWithoutRow::speaks_of(judge))
    bucket.detail = UnitWithoutRow(judge, registry).describe(found.witness);
  bucket.witness = witness_text(bucket, judge, found.witness, found.verdict);
  return found;
}

}  // namespace mmafuzz
