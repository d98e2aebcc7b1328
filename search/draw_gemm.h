// Operands of a matrix product where splitting into slices has corners: exponents spread inside a row, full and empty
// digits, the ends of the range, subnormals, cancellation, specials now and then.
#pragma once

#include "arithmetic/counter_rng.h"
#include "arithmetic/slicing.h"
#include "core/batch.h"

namespace mmafuzz {

/// Draws case `index` of a batch of a gemm op.
void draw_gemm(const Op& op, CounterRng& rng, Batch& batch, size_t index);

/// Changes one element of a case, or one row or column, or makes sums cancel; half of the time the move depends on the
/// slices into which `slicing` cuts the matrices. The op's matrices are floating-point numbers.
void move_gemm(const Op& op, const Slicing& slicing, Batch& batch, size_t index, CounterRng& rng);

/// Copies some whole rows of a, columns of b and elements of c from another case, or all numbers at some positions
/// along k: a case was mostly kept for a whole line, or for products that are summed together.
void cross_products(const Op& op, Batch& batch, size_t index, const Batch& other, size_t other_index, CounterRng& rng);

}  // namespace mmafuzz
