// Sizes of a matrix product as a caller gives them, checked before anything is allocated.
#pragma once

#include <cstdint>

#include "core/result.h"

namespace mmafuzz::gemm {

struct MatrixSize {
  int64_t rows = 0, columns = 0;
};

/// d (m*n) = alpha * a (m*k) * b (k*n) + beta * c (m*n). Sizes can be 0: d has no elements, or sums of no products.
struct Shape {
  int64_t m = 0, n = 0, k = 0;
};

/// The machine's physical memory in bytes.
int64_t memory_bytes();

/// The shape of a product, or a refusal: a negative size, sizes that do not match, or a, b, c and d together need more
/// than `available` bytes at bytes_per_element each.
Result<Shape> checked_shape(MatrixSize a, MatrixSize b, MatrixSize c, int64_t bytes_per_element,
                            int64_t available = memory_bytes());

}  // namespace mmafuzz::gemm
