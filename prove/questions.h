// What can be asked of rows: equality and properties, as questions about their formulas.
#pragma once

#include <functional>
#include <optional>

#include "arithmetic/slicing.h"
#include "core/batch.h"
#include "oracles/gemm/corrected_sgemm.h"
#include "prove/proof.h"

namespace mmafuzz::prove {

/// A question about the cases of an op, with what leads a solver's values back to a case.
struct CaseQuestion {
  Op op;
  Operands operands;                     ///< of the case
  std::optional<Operands> changed = {};  ///< of the changed case, where a solver chooses it; else the property makes it
  Question question = {};
  /// Of variables beyond the case's: values that the assumptions allow, from the case.
  std::vector<Expression> twin_samples = {};
};

/// Whether two rows give the same encodings on all cases of an op.
CaseQuestion equal_question(Expressions& in, const Op& op, const DotModel& first, const DotModel& second);

/// Makes a question in an Expressions of its own.
using MakeQuestion = std::function<CaseQuestion(Expressions&)>;

/// A property of a row on all cases of an op. The property follows from the lemmas together, as `argument` says; the
/// whole question, one that a witness answers, is put where a lemma is not proven or where there is none.
struct PropertyQuestion {
  std::string argument;
  std::vector<MakeQuestion> lemmas;
  MakeQuestion whole;
};

/// Of oracles/properties; declined where no formula says it.
Result<PropertyQuestion> property_question(const std::string& property, const Op& op, const DotModel& model);

/// Whether, where c > 0 rises to the next number and the new result is not below it, a result falls by at most so many
/// of its own ulps (of the fraction bits that it keeps). About one block, op.k products at most.
PropertyQuestion fall_question(const Op& op, const DotModel& model, int64_t ulps);

/// The greatest magnitudes of integers in a and b.
struct Magnitudes {
  int64_t a = 0, b = 0;
};

/// Whether a fused sum of op.k products of such integers, from a zero c, is their exact sum.
PropertyQuestion exact_sums_question(const Op& op, const DotModel& model, Magnitudes greatest);

/// A unit as nearer_question() takes it: a row, or an error-corrected product from a row's dots.
struct Contender {
  std::optional<gemm::CorrectionPlan> plan;
  DotModel dot;
};

/// Whether the first unit's result is never farther from the exact result than the second's, on finite operands. Of
/// an error-corrected product, one element; `factors` then restricts a and b to the numbers of a narrow format.
struct NearerQuestion {
  std::vector<MakeQuestion> of_factors;  ///< lemmas on which the other two rest
  MakeQuestion nearest;                  ///< lemma: no number is nearer than the first unit's result; may be empty
  std::vector<MakeQuestion> sought;      ///< parts of the domain where a witness may be found soon
  MakeQuestion compared;
};
NearerQuestion nearer_question(const Op& op, const Contender& first, const Contender& second,
                               const std::optional<Format>& factors);

/// The names of the properties that can be asked about.
std::vector<std::string> provable_properties();

/// Restricts a question to a domain: words of `finite`, `normal`, `positive`, `binade` (every operand is zero or in
/// [1, 2) and (-2, -1]), `products=N` (of the products only the first N have nonzero factors), `exponents=A..B` (of a
/// and b every one is zero or has a magnitude in [2^A, 2^(B+1))), `c=0`, by commas. Refuses others.
Result<bool> restrict_to(CaseQuestion& question, const std::string& domain);

/// The case that operands are, by a proof's witness.
Batch case_of(const CaseQuestion& question, const Operands& operands, const Proof& proof);

/// Values of the question's variables on structured cases.
std::vector<std::vector<uint64_t>> samples_of(const CaseQuestion& question, size_t count);

}  // namespace mmafuzz::prove
