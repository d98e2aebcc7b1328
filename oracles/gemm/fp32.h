// The fp32 arithmetic that a program computes itself around the narrow products of a unit.
#pragma once

#include <bit>
#include <cmath>

#include "arithmetic/ieee_operations.h"

namespace mmafuzz::gemm {

/// The number of format f nearest to an exact one, ties to even; a NaN becomes the canonical one.
inline uint64_t rounded(const FormatFields& f, const Exact& x) { return round_any(f, x, {}).encoding; }

inline constexpr uint32_t fp32_one = 0x3f800000;

/// fp32 operations, rounded to nearest even, on encodings.
class Fp32 {
 public:
  /// `by_host`: the host's floating point, which must be in its default state, computes them; else integers do.
  explicit Fp32(bool by_host) : by_host_(by_host) {}

  uint32_t add(uint32_t x, uint32_t y) const {
    if (by_host_) return canonical(value(x) + value(y));
    return static_cast<uint32_t>(add_exact(fp32_fields, exact(x), exact(y), {}).encoding);
  }
  uint32_t times(uint32_t x, uint32_t y) const {
    if (by_host_) return canonical(value(x) * value(y));
    return static_cast<uint32_t>(rounded(fp32_fields, exact_product(exact(x), exact(y))));
  }
  /// x * y + z, rounded once.
  uint32_t fma(uint32_t x, uint32_t y, uint32_t z) const {
    if (by_host_) return canonical(std::fma(value(x), value(y), value(z)));
    return static_cast<uint32_t>(add_exact(fp32_fields, exact_product(exact(x), exact(y)), exact(z), {}).encoding);
  }
  /// x * 2^exponent, for exponents of normal fp32 numbers.
  uint32_t times_power(uint32_t x, int exponent) const {
    return exponent == 0 ? x : times(x, static_cast<uint32_t>(exponent + 127) << 23);
  }

 private:
  static float value(uint32_t encoding) { return std::bit_cast<float>(encoding); }
  static Exact exact(uint32_t encoding) { return to_exact(decode(fp32_fields, encoding)); }
  static uint32_t canonical(float x) {
    return std::isnan(x) ? static_cast<uint32_t>(fp32_fields.encode_nan()) : std::bit_cast<uint32_t>(x);
  }
  bool by_host_;
};

}  // namespace mmafuzz::gemm
