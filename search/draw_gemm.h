// Operands of a matrix product where splitting into slices has corners: exponents spread inside a row, full and empty
// digits, the ends of the range, subnormals, cancellation, specials now and then.
#pragma once

#include "arithmetic/counter_rng.h"
#include "arithmetic/slicing.h"
#include "core/batch.h"

namespace mmafuzz {

/// Draws case `index` of a batch of a gemm op.
void draw_gemm(const Op& op, CounterRng& rng, Batch& batch, size_t index);

/// Changes one element of a case, a row or column of it, or makes sums cancel; half of the time with an eye to slices.
/// The op's matrices are floating-point numbers.
void move_gemm(const Op& op, const Slicing& slicing, Batch& batch, size_t index, CounterRng& rng);

/// Takes some whole rows of a, columns of b and elements of c from another case, or all numbers at some places along k:
/// what a case was kept for mostly belongs to a line or to products that meet.
void cross_products(const Op& op, Batch& batch, size_t index, const Batch& other, size_t other_index, CounterRng& rng);

}  // namespace mmafuzz
