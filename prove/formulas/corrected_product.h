// One element of error-corrected SGEMM as a formula (docs/ozaki.md, "Markidis against Ootomo-Yokota"): it consists of
// dots of narrow numbers, which a row computes.
#pragma once

#include "oracles/gemm/corrected_sgemm.h"
#include "prove/formula.h"

namespace mmafuzz::prove {

/// True for the methods of that page; other combinations of the settings are declined.
Result<bool> corrected_product_covers(const gemm::CorrectionPlan& plan);

/// fp32 factors, each split into two encodings of the narrow format: the main part is the factor rounded, the residual
/// is the rest of the factor times 2^plan.scale. `residual` is empty where all residuals are zero: their dots, which
/// would return their c, are then left out.
struct SplitFactors {
  std::vector<Expression> main, residual;
};
SplitFactors split_factors(const gemm::CorrectionPlan& plan, const std::vector<Expression>& x);

/// c + the sum of a[i] * b[i], as the method computes it in fp32.
struct CorrectedProduct {
  Expression result;
  Expression before_c;  ///< with plan.adds_outside: result = before_c + c, rounded to nearest; else none
};
/// `dot` is the row that computes the dots.
CorrectedProduct corrected_product(const gemm::CorrectionPlan& plan, const DotModel& dot, const SplitFactors& a,
                                   const SplitFactors& b, Expression c);

}  // namespace mmafuzz::prove
