// Moves of a matrix product that know how a scheme cuts it into slices: a row's span just beyond the slices, a number
// at the edge of a slice or in what is left below the last one, full digits, cancellation between slices, lines copied
// and permuted, one special number among plain ones.
#pragma once

#include "arithmetic/counter_rng.h"
#include "arithmetic/slicing.h"
#include "core/batch.h"

namespace mmafuzz {

/// One such move on case `index`, in place. The op's matrices are floating-point numbers.
void move_slices(const Op& op, const Slicing& slicing, Batch& batch, size_t index, CounterRng& rng);

/// Takes some whole rows of a, columns of b and elements of c from another case, or all numbers at some places along k:
/// what a case was kept for mostly belongs to a line or to products that meet.
void cross_products(const Op& op, Batch& batch, size_t index, const Batch& other, size_t other_index, CounterRng& rng);

}  // namespace mmafuzz
