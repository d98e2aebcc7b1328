// The twins of ieee:serial, ieee:fma and ieee:pairwise: the same orders in MPFR, every operation exact and then rounded
// once by MPFR's own functions. Written from Whitehead and Fit-Florea, 3.1, and IEEE 754-2019; shares nothing with the
// kernels but the widths of the formats.
#pragma once

#include "oracles/ieee/ieee_dot.h"

namespace mmafuzz {

/// The encoding of a dot in one of the orders.
uint64_t mpfr_ordered_dot(const Op& op, DotOrder order, const DotOperands& in);

/// alpha * sum + beta * c of a matrix product, two products and an addition; a zero alpha or beta leaves its product
/// out, as in the BLAS.
uint64_t mpfr_combined(const Op& op, uint64_t sum, uint64_t c);

}  // namespace mmafuzz
