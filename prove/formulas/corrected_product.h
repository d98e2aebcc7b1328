// Error-corrected SGEMM as a formula (docs/ozaki.md, "Markidis against Ootomo-Yokota"): one element of the product,
// from the dots of a row.
#pragma once

#include "oracles/gemm/corrected_sgemm.h"
#include "prove/formula.h"

namespace mmafuzz::prove {

/// The methods of that page; other combinations of their settings are declined.
Result<bool> corrected_product_covers(const gemm::CorrectionPlan& plan);

/// fp32 factors as encodings of the narrow format: each main part, and what is left of it times 2^scale.
struct SplitFactors {
  std::vector<Expression> main, residual;  ///< no residual: dots with zeros are left out, for they give back their c
};
SplitFactors split_factors(const gemm::CorrectionPlan& plan, const std::vector<Expression>& x);

/// c + the sum of a[i] * b[i], as fp32. `dot` is the row of the unit that computes the dots.
struct CorrectedProduct {
  Expression result;
  Expression before_c;  ///< of a method that adds outside: result = before_c + c, rounded to nearest
};
CorrectedProduct corrected_product(const gemm::CorrectionPlan& plan, const DotModel& dot, const SplitFactors& a,
                                   const SplitFactors& b, Expression c);

}  // namespace mmafuzz::prove
