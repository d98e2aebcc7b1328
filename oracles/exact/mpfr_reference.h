// Reference arithmetic in MPFR: values of encodings, and one rounding to a format by MPFR's own rounding functions. Of
// arithmetic/ it uses types, FormatFields, sign_extended() and random_word(), and neither decoding nor rounding.
#pragma once

// MPFR declares its functions of intmax_t only after <cstdint>. They take 64 bits where a long has 32.
#include <cstdint>
#include <string>

#include <mpfr.h>
// mpfr_swap would exchange the addresses of limbs that lie inside two objects of class Mpfr.
#pragma GCC poison mpfr_swap

#include "arithmetic/dot_model.h"
#include "core/op.h"

namespace mmafuzz::exact {

/// Frees at the end of the calling thread what MPFR keeps for it (constants, and the integers of mpfr_remainder).
inline void free_caches_at_thread_end() {
  struct Caches {
    ~Caches() { mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); }
  };
  static thread_local const Caches of_this_thread;
}

/// An MPFR number, NaN until it is set. The precision is in bits and must not be changed; a copy has the same. A number
/// whose significand fits into limbs_ needs no heap memory.
class Mpfr {
 public:
  explicit Mpfr(mpfr_prec_t precision) : is_short_(precision <= mpfr_prec_t{8 * sizeof(limbs_)}) {
    if (is_short_) {
      mpfr_custom_init_set(value_, MPFR_NAN_KIND, 0, precision, limbs_);
    } else {
      free_caches_at_thread_end();
      mpfr_init2(value_, precision);
    }
  }
  ~Mpfr() {
    if (!is_short_) mpfr_clear(value_);
  }
  Mpfr(const Mpfr& other) : Mpfr(mpfr_get_prec(other.value_)) { mpfr_set(value_, other.value_, MPFR_RNDN); }
  Mpfr& operator=(const Mpfr&) = delete;
  mpfr_ptr get() { return value_; }
  mpfr_srcptr get() const { return value_; }

 private:
  mpfr_t value_;
  bool is_short_;
  mp_limb_t limbs_[12];  ///< of 64 bits: room for a sum of fp32 products (588 bits) and for what rounds it
};

/// Throws Contradiction unless `ternary` is 0, MPFR's ternary value of an exact result: the precision was too small.
void must_be_exact(int ternary);

/// Precision that holds a product of two numbers of any format of at most 64 bits, and its sum with a third: fp64
/// squared spans 4196 bits, and the rest is reserve.
inline constexpr mpfr_prec_t sum_precision = 5200;

/// Precision that holds every sum of a dot's products and c exactly, and its difference from any number of d's format.
mpfr_prec_t sum_precision_of(const Op& op);

/// Sets x to the exact value of an encoding (NaN, infinities and signed zeros included); x must have >= 64 bits.
void set_from_encoding(mpfr_ptr x, const Format& format, uint64_t encoding);

/// set_from_encoding for an operand of the op: under ftz=1 a subnormal one is a zero of its sign.
void set_operand(mpfr_ptr x, const Op& op, const Format& format, uint64_t encoding);

/// x in decimal, rounded to `digits` significant digits, as printf writes it with %g; without MPFR's own printf, which
/// needs more of GMP than a browser's module has.
std::string decimal_text(mpfr_srcptr x, int digits);

struct MpfrRounded {
  uint64_t encoding;
  uint8_t flags;  ///< of namespace flag
};

/// Rounds x to a format once. `truncated`: x is a longer value that was cut toward zero, and bits were lost below its
/// last one. x must then have at least twice the format's precision.
MpfrRounded round_mpfr(const Format& format, mpfr_srcptr x, const RoundingRule& rule, bool truncated = false);

/// Precision that holds every exact result of a scalar operation; quotients and square roots are cut to it.
mpfr_prec_t scalar_precision_of(const Op& op);

/// The exact result of a scalar operation; `result` must have scalar_precision_of(op) bits. Returns whether a remainder
/// was cut.
bool mpfr_scalar_value(const Op& op, const uint64_t* operands, mpfr_ptr result);

/// The result of a scalar operation on op.arity() encodings.
MpfrRounded mpfr_scalar(const Op& op, const uint64_t* operands);
/// The result of a conversion.
MpfrRounded mpfr_convert(const Op& op, uint64_t source);

/// An op's result: x rounded once, and flushed where the op says so.
MpfrRounded rounded_result(const Op& op, mpfr_srcptr x, bool truncated = false);

/// Sets `product`, which must have at least 256 bits, to the exact product i of a dot, scales included.
void set_product(mpfr_ptr product, const Op& op, const DotOperands& in, int i);

/// Sets `sum`, which must have sum_precision_of(op) bits, to the exact value of a dot.
void mpfr_dot_value(const Op& op, const DotOperands& in, mpfr_ptr sum);

/// (value of encoding - exact) in units in the last place of `exact` in that format; NaN where either is not finite.
double ulp_error(const Format& format, mpfr_srcptr exact, uint64_t encoding);

}  // namespace mmafuzz::exact
