// When the host's own floating point can be used for IEEE 754 arithmetic: which formats embed in fp32, which processors
// round as the standard says, and whether the calling thread is in the default environment.
#pragma once

#include <cfenv>

#include "arithmetic/format_fields.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace mmafuzz {

/// Whether every number of a format is an fp32 number that FloatDecoder (oracles/lanes/dot_lanes-inl.h) reads.
inline bool fits_fp32(const FormatFields& f) {
  const bool range = f.exponent_bits < 8 ? f.bias >= 0 && f.bias <= 127
                                         : f.exponent_bits == 8 && f.bias == 127 && f.specials == Specials::ieee &&
                                               f.subnormals == SubnormalRule::gradual;
  return range && !f.integer && f.sign == SignField::present && f.subnormals != SubnormalRule::absent &&
         !f.has(policy::zero_positive) && f.fraction_bits <= 23 && f.width <= 32 && f.specials != Specials::top_code &&
         f.specials != Specials::top_infinity;
}

/// Whether scales of these formats can come from tables of 256 fp64 numbers, and the product of two scales, a and b is
/// exact in fp64, far from the ends of its range.
inline bool scales_fit_fp64(const FormatFields& a, const FormatFields& b, const FormatFields& scale_a,
                            const FormatFields& scale_b) {
  const auto is_narrow = [](const FormatFields& f) { return f.width <= 8 && !f.integer && !f.shared_bias; };
  return is_narrow(scale_a) && is_narrow(scale_b) &&
         a.precision() + b.precision() + scale_a.precision() + scale_b.precision() <= 50;
}

/// Whether k products of two such formats span so few bits that the errors of summing them in fp64 sum exactly in fp64:
/// they are multiples of the least product bit, each at most 2^-53 of the sum.
inline bool products_are_narrow(const FormatFields& a, const FormatFields& b, int k) {
  const int low = a.subnormal_bit() + b.subnormal_bit(), bits_of_k = bit_length(uint64_t(k));
  const int high = a.emax() + b.emax() + 2 + bits_of_k;  // all sums are below 2^high
  return high - 53 + bits_of_k - low <= 53;
}

/// Whether the calling thread rounds to nearest even, keeps subnormals and traps nothing (MXCSR); false except on x86.
inline bool default_float_environment() {
#if defined(__x86_64__)
  constexpr unsigned masks = 0x1f80, denormals_are_zero = 0x40, rounding = 0x6000, flush_to_zero = 0x8000;
  return (_mm_getcsr() & (masks | denormals_are_zero | rounding | flush_to_zero)) == masks;
#else
  return false;
#endif
}

/// Gives the calling thread the default environment during the object's life, and then the former one again.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() {
    std::fegetenv(&kept_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() { std::fesetenv(&kept_); }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  std::fenv_t kept_;
};

/// If `flushes`, sets DAZ and FTZ of x86's MXCSR in the calling thread during the object's life and clears both
/// afterwards: the environment before must be the default one. Without effect on other processors.
class FlushToZero {
 public:
  explicit FlushToZero(bool flushes) : flushes_(flushes) { set(true); }
  ~FlushToZero() { set(false); }
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
  void set(bool on) const {
#if defined(__x86_64__)
    constexpr unsigned denormals_are_zero = 0x40, flush_to_zero = 0x8000, both = denormals_are_zero | flush_to_zero;
    if (flushes_) _mm_setcsr((_mm_getcsr() & ~both) | (on ? both : 0));
#endif
  }
  bool flushes_;
};

}  // namespace mmafuzz
