// A matrix product as one dot for each element, on any unit that evaluates dots.
#pragma once

#include <functional>
#include <memory>

#include "core/unit.h"

namespace mmafuzz::gemm {

/// The dot of one element of the op's result.
Op dot_op_of(const Op& gemm);

/// alpha * sum + beta * c: `sum` an encoding of d, `c` one of the op's c.
using Combine = std::function<uint64_t(const Op& op, uint64_t sum, uint64_t c)>;

/// Three IEEE operations in the op's rounding; as in the BLAS, a zero alpha or beta leaves its side out.
uint64_t ieee_combined(const Op& op, uint64_t sum, uint64_t c);

/// `dot`, bound to dot_op_of(op). Without alpha and beta the element's dot starts from its c. With one of them the dot
/// starts from +0, and `combine` does the rest.
std::unique_ptr<Unit> make_gemm_of_dots(std::unique_ptr<Unit> dot, const Op& op, Combine combine);

}  // namespace mmafuzz::gemm
