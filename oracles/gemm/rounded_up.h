// Numbers for error bounds of matrix products: not negative, every operation rounded up.
#pragma once

#include <cmath>

#include "oracles/exact/mpfr_reference.h"
#include "oracles/gemm/judged_error.h"

namespace mmafuzz::gemm {

class Up {
 public:
  Up() : value_(precision) { mpfr_set_zero(value_.get(), 1); }
  /// factor * 2^exponent.
  static Up power(long exponent, int64_t factor = 1) {
    Up x;
    mpfr_set_sj_2exp(x.value_.get(), factor, exponent, MPFR_RNDU);
    return x;
  }
  /// x * 2^exponent.
  static Up number(double x, long exponent) {
    Up scaled;
    mpfr_set_d(scaled.value_.get(), x, MPFR_RNDU);
    mpfr_mul_2si(scaled.value_.get(), scaled.value_.get(), exponent, MPFR_RNDU);
    return scaled;
  }
  static Up magnitude(const Format& format, uint64_t encoding) {
    Up x;
    exact::Mpfr exactly(64);
    exact::set_from_encoding(exactly.get(), format, encoding);
    mpfr_abs(x.value_.get(), exactly.get(), MPFR_RNDU);
    return x;
  }
  Up(const Up& other) : Up() { mpfr_set(value_.get(), other.value_.get(), MPFR_RNDU); }
  Up& operator=(const Up& other) {
    mpfr_set(value_.get(), other.value_.get(), MPFR_RNDU);
    return *this;
  }
  Up& operator+=(const Up& y) {
    mpfr_add(value_.get(), value_.get(), y.value_.get(), MPFR_RNDU);
    return *this;
  }
  friend Up operator+(Up x, const Up& y) { return x += y; }
  friend Up operator*(const Up& x, const Up& y) {
    Up product;
    mpfr_mul(product.value_.get(), x.value_.get(), y.value_.get(), MPFR_RNDU);
    return product;
  }
  mpfr_srcptr get() const { return value_.get(); }

 private:
  static constexpr mpfr_prec_t precision = 128;
  exact::Mpfr value_;
};

/// Whether an error is at most its bound. Writes both to `judged` unless that is null.
inline bool is_within(mpfr_srcptr error, const Up& bound, JudgedError* judged) {
  if (judged) {
    judged->bound = mpfr_get_d(bound.get(), MPFR_RNDU);
    judged->ratio = 0;
  }
  if (judged && !mpfr_zero_p(error)) {
    exact::Mpfr quotient(64);
    mpfr_div(quotient.get(), error, bound.get(), MPFR_RNDN);
    judged->ratio = std::fabs(mpfr_get_d(quotient.get(), MPFR_RNDN));
  }
  return mpfr_cmpabs(error, bound.get()) <= 0;
}

/// Whether a value of at most x can be beyond the greatest number of a format.
inline bool exceeds_range(const Up& x, const Format& format) {
  exact::Mpfr greatest(64);
  exact::set_from_encoding(greatest.get(), format, format.fields().encode_greatest(false));
  return mpfr_cmp(x.get(), greatest.get()) >= 0;
}

}  // namespace mmafuzz::gemm
