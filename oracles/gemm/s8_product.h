// The product of two matrices of signed bytes on this CPU, for narrow products of a scheme that no unit computes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mmafuzz::gemm {

/// c(i, j) = sum over l of a(i, l) * b(j, l) modulo 2^32, in two's complement: a has m rows and b n rows of k bytes, c
/// is (m, n), all row-major. Uses VPDPBUSD (AVX512-VNNI) where the CPU has it.
void s8_product(size_t m, size_t n, size_t k, const int8_t* a, const int8_t* b, int32_t* c);

}  // namespace mmafuzz::gemm
