// x * 2^exponent in fp64, rounded once, as by std::ldexp, which is not called where the power is a normal number.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace mmafuzz::gemm {

inline double times_power(double x, int exponent) {
  if (exponent < -1022 || exponent > 1023) return std::ldexp(x, exponent);
  return x * std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

}  // namespace mmafuzz::gemm
