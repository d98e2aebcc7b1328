// The domain of kernels/exact_sum-inl.h and sum_then_add-inl.h for one dot at a time, with or without a trace.
#pragma once

#include "arithmetic/specials.h"
#include "arithmetic/one_instruction.h"

namespace mmafuzz {

/// Wide enough for fp16, bf16 and scaled FP8 products and an fp32 c: 2^-298 (tf32 squared: 2^-272; e5m2 under two e8m0
/// scales: 2^-286) to 2^288, sign and carries.
using ProductAccumulator = WideInt<10>;
/// Exponent of the accumulator's last bit.
inline constexpr int product_accumulator_unit = -300;
/// c and max_instruction_k products of magnitudes below 2^product_accumulator_most fit.
inline constexpr int product_accumulator_most = product_accumulator_unit + 640 - 8;

template <class Trace>
class OneExactDot : public OneInstruction<Trace> {
 public:
  struct Sum {
    ProductAccumulator finite;
    SpecialTerms specials;
    bool all_negative = true, all_positive = true;

    MMAFUZZ_HD void add(NumberClass cls, bool negative, uint64_t significand, int exponent) {
      specials.add(cls, negative);
      (negative ? all_positive : all_negative) = false;
      if (significand) finite.add_shifted(negative, significand, exponent - product_accumulator_unit);
    }
  };

  using OneInstruction<Trace>::OneInstruction;

  MMAFUZZ_HD Sum nothing() const { return {}; }
  MMAFUZZ_HD void add_product(Sum& sum, int i) const {
    const Product p = product(i);
    sum.add(p.cls, p.negative, p.significand, p.exponent);
  }

  /// The sum and c, rounded once.
  MMAFUZZ_HD uint64_t rounded(Sum& sum, int first, int n, bool c_is_operand, uint64_t c_code) const {
    const Number c = addend(c_is_operand, c_code);
    sum.add(c.cls, c.negative, c.significand, c.exponent);
    return rounded(sum, first, n, &c);
  }
  /// The sum, rounded once.
  MMAFUZZ_HD uint64_t rounded(const Sum& sum, int first, int n) const { return rounded(sum, first, n, nullptr); }

  /// c with the other sign, unless it is NaN.
  MMAFUZZ_HD uint64_t negated(bool c_is_operand, uint64_t code) const {
    const FormatFields& f = c_format(c_is_operand);
    return addend(c_is_operand, code).cls == NumberClass::nan ? code : code ^ f.in_container(f.sign_bit());
  }
  /// c plus a rounded sum, rounded again.
  MMAFUZZ_HD uint64_t added(bool c_is_operand, uint64_t c_code, uint64_t sum_code) const {
    const Number c = addend(c_is_operand, c_code), sum = flushed_operand(m_, m_.d, decode(m_.d, sum_code));
    const Rounded r = ieee_add(m_.d, c, sum, rule());
    uint64_t encoding;
    if (decode(m_.d, r.encoding).cls == NumberClass::nan) [[unlikely]] {
      const NanOperand abc[3] = {
          nan_operand(m_.d, m_.d, sum, sum_code), {}, nan_operand(m_.d, c_format(c_is_operand), c, c_code)};
      encoding = nan_result(m_.nan_from, abc, false, m_.nan);
    } else {
      encoding = flush_result(m_, r);
    }
    if constexpr (Trace::enabled) {
      step_.kind = Step::Kind::ieee_add;
      step_.count = 2;
      step_.aligned = false;
      step_.addend[0] = addend_of(c, Addend::Source::c, 0);
      step_.addend[1] = addend_of(sum, Addend::Source::partial_sum, 1);
      step_.rounded = r;
      step_.result = encoding;
      trace_(step_);
    }
    return encoding;
  }

 private:
  using Base = OneInstruction<Trace>;
  using Base::m_, Base::in_, Base::first_index_, Base::c_format, Base::trace_, Base::step_;

  MMAFUZZ_HD Number addend(bool c_is_operand, uint64_t code) const {
    return read_operand(m_, c_format(c_is_operand), code);
  }

  MMAFUZZ_HD uint64_t rounded(const Sum& sum, int first, int n, const Number* c) const {
    const bool special = sum.specials.any();
    Rounded r;
    if (special) {
      r.encoding = sum.specials.result(m_.d, m_.nan_from == NanFrom::constant ? m_.nan : nan_of(first, n));
    } else {
      r = round_wide(m_.d, sum.finite, product_accumulator_unit,
                     zero_is_negative(m_, sum.all_negative, sum.all_positive), rule());
      r.encoding = flush_result(m_, r);
    }
    if constexpr (Trace::enabled) {
      step_.kind = special ? Step::Kind::special : Step::Kind::exact_sum;
      step_.count = n + (c ? 1 : 0);
      step_.aligned = false;
      for (int i = 0; i < n; ++i) step_.addend[i] = addend_of(product(first + i), first_index_ + first + i);
      if (c) step_.addend[n] = addend_of(*c, Addend::Source::c, 0);
      step_.rounded = r;
      step_.result = r.encoding;
      trace_(step_);
    }
    return r.encoding;
  }

  MMAFUZZ_HD RoundingRule rule() const {
    return {.rounding = m_.output_rounding, .tininess = m_.tininess, .overflow = m_.overflow};
  }

  MMAFUZZ_HD Product product(int i) const { return scaled_product(m_, in_, i); }

  /// The NaN of a block of products whose sum is NaN: that of a chain that multiplies the last product and adds each
  /// one before it by an FMA (POWER10: QEMU's xvf16ger2).
  MMAFUZZ_HD uint64_t nan_of(int first, int n) const {
    if (m_.nan_from == NanFrom::signalling_c_as_bs) return first_nan_of(first, n);
    NanOperand abc[3];
    Number sum = decode(m_.d, 0);
    for (int i = first + n - 1; i >= first; --i) {
      const Number x = read_operand(m_, read_as(m_, m_.a), in_.a[i]), y = read_operand(m_, read_as(m_, m_.b), in_.b[i]);
      abc[0] = nan_operand(m_.d, m_.a, x, in_.a[i]);
      abc[1] = nan_operand(m_.d, m_.b, y, in_.b[i]);
      const Exact p = exact_product(to_exact(x), to_exact(y));
      const bool meets_opposite =
          p.cls == NumberClass::infinity && sum.cls == NumberClass::infinity && p.negative != sum.negative;
      if (p.cls == NumberClass::nan || abc[2].is_nan || meets_opposite)
        abc[2] = {true, false, nan_result(m_.nan_from, abc, is_invalid_product(x, y), m_.nan)};
      if (p.cls != NumberClass::infinity) continue;
      sum.cls = p.cls;
      sum.negative = p.negative;
    }
    return abc[2].is_nan ? abc[2].quiet : m_.nan;
  }

  /// The first signalling NaN of all a and then all b, else the first quiet one, else the row's NaN.
  MMAFUZZ_HD uint64_t first_nan_of(int first, int n) const {
    NanOperand found;
    for (int i = 0; i < 2 * n; ++i) {
      const FormatFields& f = i < n ? m_.a : m_.b;
      const uint64_t* const codes = i < n ? in_.a : in_.b;  // apart: g++ 12's UBSan build reads (a : b)[i % n] wrong
      const uint64_t code = codes[first + i % n];
      const NanOperand x = nan_operand(m_.d, f, read_operand(m_, read_as(m_, f), code), code);
      if (x.is_nan && (!found.is_nan || (x.is_signalling && !found.is_signalling))) found = x;
    }
    return found.is_nan ? found.quiet : m_.nan;
  }
};

#define MMAFUZZ_KERNEL MMAFUZZ_HD_CALL
#include "arithmetic/kernels/exact_sum-inl.h"
#include "arithmetic/kernels/sum_then_add-inl.h"
#undef MMAFUZZ_KERNEL

}  // namespace mmafuzz
