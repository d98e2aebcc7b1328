// A matrix product as one dot for each element, on any unit that evaluates dots.
#pragma once

#include <memory>

#include "core/unit.h"

namespace mmafuzz::gemm {

/// The dot of one element of the op's result.
Op dot_op_of(const Op& gemm);

/// `dot`, bound to dot_op_of(op). Without alpha and beta the element's dot starts from its c. With them, as in the BLAS: the dot
/// from +0, then alpha * dot + beta * c in three IEEE operations in the op's rounding.
std::unique_ptr<Unit> make_gemm_of_dots(std::unique_ptr<Unit> dot, const Op& op);

}  // namespace mmafuzz::gemm
