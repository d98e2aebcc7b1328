// Error-corrected SGEMM: each fp32 operand is a narrow number, its main part, plus a narrow residual; products with
// residuals correct the product of the main parts. Markidis et al. ("NVIDIA tensor core programmability, performance &
// precision", 2018) chain all four products through the unit's accumulator; Ootomo and Yokota ("Recovering single
// precision accuracy from tensor cores ...", 2022) scale the residuals and add the unit's results outside of it, to
// nearest.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/unit.h"

namespace mmafuzz::gemm {

struct CorrectionPlan {
  Format narrow = {};  ///< of the unit's operands
  int scale = 0;       ///< residuals are multiplied by 2^scale before they are rounded
  /// Whether the main product's dots start from +0 and are added in fp32 to nearest; else they are a chain from c.
  bool adds_outside = false;
  bool residual_product = true;  ///< whether residual times residual takes part
  int unit_k = 16;               ///< products of one dot of the unit
};

struct NamedCorrection {
  CorrectionPlan plan;
  std::string dot_unit;
};
/// The plan of a unit of the family `split:`, from its name; a refusal for other names and wrong parameters.
Result<NamedCorrection> named_correction(std::string_view unit);

/// The dot that the unit must be bound to: plan.unit_k products; a longer sum is a chain of them.
Op correction_dot(const CorrectionPlan& plan);

/// `op` is a gemm of fp32 matrices. With alpha and beta, alpha * product + beta * c is formed in fp32 afterwards.
std::unique_ptr<Unit> make_corrected_sgemm(const CorrectionPlan& plan, std::unique_ptr<Unit> dot, const Op& op);

}  // namespace mmafuzz::gemm
