// A matrix product as one dot for each element, on any unit that evaluates dots.
#pragma once

#include <functional>
#include <memory>

#include "core/unit.h"

namespace mmafuzz::gemm {

/// The op of the dot of one element.
Op dot_op_of(const Op& gemm);

/// alpha * sum + beta * c: `sum` an encoding of d, `c` one of the op's c.
using Combine = std::function<uint64_t(const Op& op, uint64_t sum, uint64_t c)>;

/// A Combine of three IEEE operations in the op's rounding; as in the BLAS, a zero alpha or beta leaves its product
/// out.
uint64_t ieee_combined(const Op& op, uint64_t sum, uint64_t c);

/// A unit for op. `dot` is bound to dot_op_of(op). Without alpha and beta the dot of an element starts from its c. With
/// either of them the dot starts from +0, and `combine` adds c.
std::unique_ptr<Unit> make_gemm_of_dots(std::unique_ptr<Unit> dot, const Op& op, Combine combine);

}  // namespace mmafuzz::gemm
