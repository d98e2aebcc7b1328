// Numbers for error bounds of matrix products: not negative, every operation rounded up.
#pragma once

#include <cmath>

#include "oracles/exact/exact_gemm.h"
#include "oracles/exact/mpfr_reference.h"
#include "oracles/gemm/judged_error.h"

namespace mmafuzz::gemm {

class Bound {
 public:
  Bound() : value_(precision) { mpfr_set_zero(value_.get(), 1); }
  /// factor * 2^exponent.
  static Bound power(long exponent, int64_t factor = 1) {
    Bound x;
    mpfr_set_sj_2exp(x.value_.get(), factor, exponent, MPFR_RNDU);
    return x;
  }
  /// x * 2^exponent.
  static Bound number(double x, long exponent) {
    Bound scaled;
    mpfr_set_d(scaled.value_.get(), x, MPFR_RNDU);
    mpfr_mul_2si(scaled.value_.get(), scaled.value_.get(), exponent, MPFR_RNDU);
    return scaled;
  }
  static Bound magnitude(const Format& format, uint64_t encoding) {
    Bound x;
    exact::set_from_encoding(x.value_.get(), format, encoding);
    mpfr_abs(x.value_.get(), x.value_.get(), MPFR_RNDU);
    return x;
  }
  /// The magnitude of an op's alpha or beta, which is 1 where the op does not give it.
  static Bound scalar(const Op& op, const std::optional<uint64_t>& alpha_or_beta) {
    return alpha_or_beta ? magnitude(op.d, *alpha_or_beta) : power(0);
  }
  Bound(const Bound& other) : Bound() { mpfr_set(value_.get(), other.value_.get(), MPFR_RNDU); }
  Bound& operator=(const Bound& other) {
    mpfr_set(value_.get(), other.value_.get(), MPFR_RNDU);
    return *this;
  }
  Bound& operator+=(const Bound& y) {
    mpfr_add(value_.get(), value_.get(), y.value_.get(), MPFR_RNDU);
    return *this;
  }
  friend Bound operator+(Bound x, const Bound& y) { return x += y; }
  friend Bound operator*(const Bound& x, const Bound& y) {
    Bound product;
    mpfr_mul(product.value_.get(), x.value_.get(), y.value_.get(), MPFR_RNDU);
    return product;
  }
  mpfr_srcptr get() const { return value_.get(); }

 private:
  static constexpr mpfr_prec_t precision = 128;
  exact::Mpfr value_;
};

/// Whether a result of a format is at most `bound` away from the exact value. False, with `judged` left alone, for an
/// infinity or a NaN; else writes the error to `judged` unless that is null.
inline bool is_within(const Format& format, uint64_t result, mpfr_srcptr exact_value, const Bound& bound,
                      JudgedError* judged = nullptr) {
  exact::Mpfr number(64), error(element_precision);
  exact::set_from_encoding(number.get(), format, result);
  if (!mpfr_number_p(number.get())) return false;
  mpfr_sub(error.get(), number.get(), exact_value, MPFR_RNDA);
  if (judged) {
    exact::Mpfr ratio(64);
    mpfr_div(ratio.get(), error.get(), bound.get(), MPFR_RNDN);
    judged->ratio = mpfr_zero_p(error.get()) ? 0 : std::fabs(mpfr_get_d(ratio.get(), MPFR_RNDN));
    judged->bound = mpfr_get_d(bound.get(), MPFR_RNDU);
  }
  return mpfr_cmpabs(error.get(), bound.get()) <= 0;
}

/// Whether a value of at most x can be beyond the greatest number of a format.
inline bool exceeds_range(const Bound& x, const Format& format) {
  exact::Mpfr greatest(64);
  exact::set_from_encoding(greatest.get(), format, format.fields().encode_greatest(false));
  return mpfr_cmp(x.get(), greatest.get()) >= 0;
}

}  // namespace mmafuzz::gemm
