// What can be asked about rows: equality and properties, as questions about their formulas. A *lemma* is a statement,
// mostly about one block, that is proven by a question of its own.
#pragma once

#include <functional>
#include <optional>

#include "arithmetic/slicing.h"
#include "core/batch.h"
#include "oracles/gemm/corrected_sgemm.h"
#include "prove/proof.h"

namespace mmafuzz::prove {

/// A question about the cases of an op. The operands tell which case a solver's values of the variables are.
struct CaseQuestion {
  Op op;
  Operands operands;                     ///< of the case, as expressions in the question's variables
  std::optional<Operands> changed = {};  ///< of the changed case if the solver chooses it; else the property makes it
  Question question = {};
  /// A value that the assumptions allow for each variable of the question that is no operand, in their order: an
  /// expression in the operands. samples_of() needs it.
  std::vector<Expression> changed_samples = {};
};

/// Do two rows give the same encodings on all cases of an op?
CaseQuestion equal_question(Expressions& table, const Op& op, const DotModel& first, const DotModel& second);

/// Makes a question, with its nodes in an empty Expressions object.
using MakeQuestion = std::function<CaseQuestion(Expressions&)>;

/// Has a row a property on all cases of an op? All lemmas together imply it; `argument` says why. `whole` is the
/// question without lemmas, and the only one whose witness refutes the property. It is asked where a lemma is not
/// proven or there is none, and may be empty.
struct PropertyQuestion {
  std::string argument;
  std::vector<MakeQuestion> lemmas;
  MakeQuestion whole;
};

/// `property` is a name of oracles/properties. Declined where the property has no question or is not about the op.
Result<PropertyQuestion> property_question(const std::string& property, const Op& op, const DotModel& model);

/// Where c > 0 rises to the next number and the new result is not below this number, does a result fall by at most
/// `ulps`? An ulp is that of DotModel::output_fraction_bits. About one block of op.k products at most.
PropertyQuestion fall_question(const Op& op, const DotModel& model, int64_t ulps);

/// The maxima of the magnitudes of integers in a and in b.
struct Magnitudes {
  int64_t a = 0, b = 0;
};

/// Is a fused sum of c = 0 and op.k products of such integers their exact sum?
PropertyQuestion exact_sums_question(const Op& op, const DotModel& model, Magnitudes greatest);

/// A unit that nearer_question() compares: a row, or an error-corrected product.
struct Contender {
  std::optional<gemm::CorrectionPlan> plan;  ///< of the error-corrected product; nullopt for a row
  DotModel dot;                              ///< the row, or the row that computes the product's dots
};

/// Is the first unit's result never farther from the exact result than the second's, on finite operands? Of an
/// error-corrected product, one element; `factors` then restricts a and b to the numbers of a narrow format.
struct NearerQuestion {
  std::vector<MakeQuestion> of_factors;  ///< with `factors`, lemmas about them on which `nearest` and `compared` rest
  MakeQuestion nearest;                  ///< lemma that suffices: no number is nearer than the first's result; or empty
  std::vector<MakeQuestion> sought;      ///< the question on parts of the domain where a witness may be found soon
  MakeQuestion compared;                 ///< the question without a lemma
};
NearerQuestion nearer_question(const Op& op, const Contender& first, const Contender& second,
                               const std::optional<Format>& factors);

/// The names of the properties that can be asked about.
std::vector<std::string> provable_properties();

/// Restricts a question to a domain by further assumptions about a, b and c. The domain is a list of words, separated
/// by commas: `finite`, `normal` (or zero), `positive`, `binade` (every number is zero or has a magnitude in [1, 2)),
/// `products=N` (only the first N products have nonzero factors), `exponents=A..B` (every a and b is
/// zero or has a magnitude in [2^A, 2^(B+1))), `c=0`. Declined for any other word; the empty text restricts nothing.
Result<bool> restrict_to(CaseQuestion& question, const std::string& domain);

/// The case whose operands are these expressions, with the values that the proof's witness has for the variables.
Batch case_of(const CaseQuestion& question, const Operands& operands, const Proof& proof);

/// The samples for prove(): values of the question's variables on `count` structured cases. None where the question has
/// neither stages nor facts.
std::vector<std::vector<uint64_t>> samples_of(const CaseQuestion& question, size_t count);

}  // namespace mmafuzz::prove
