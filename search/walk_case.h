// One case of a walk while it is built: lanes, c and scales are set by what a datapath sees of them, exponents and
// fractions. A lane is a product's position 0..k-1. What a walk leaves open is drawn.
#pragma once

#include <algorithm>
#include <bit>

#include "arithmetic/corner_encodings.h"
#include "arithmetic/ieee_operations.h"
#include "search/aligned_term.h"
#include "search/mutator.h"

namespace mmafuzz {

/// Returns the last digit of n in a base and removes it from n.
template <class Base>
Base take_digit(uint64_t& n, Base base) {
  const auto digit = static_cast<Base>(n % static_cast<uint64_t>(base));
  n /= static_cast<uint64_t>(base);
  return digit;
}

class WalkCase {
 public:
  WalkCase(const Op& op, const CornerHints& hints, Batch& batch, size_t index, CounterRng& rng)
      : rng(rng),
        k(op.k),
        block(hints.block > 0 ? std::min(hints.block, op.k) : op.k),
        kept_bits(hints.fraction_bits),
        fa(op.a.fields()),
        fb(op.b.fields()),
        fc(op.c.fields()),
        fd(op.d.fields()),
        batch_(batch),
        index_(index) {}

  CounterRng& rng;
  const int k, block, kept_bits;  ///< products of a step; F: fraction bits below the greatest exponent
  const FormatFields &fa, &fb, &fc, &fd;

  const Batch& batch() const { return batch_; }
  size_t index() const { return index_; }
  uint64_t a(int lane) const { return batch_.inputs()[0].get(index_, lane); }
  uint64_t b(int lane) const { return batch_.inputs()[1].get(index_, lane); }
  uint64_t c() const { return batch_.inputs()[2].get(index_, 0); }
  void set_a(int lane, uint64_t encoding) { batch_.inputs()[0].set(index_, lane, encoding); }
  void set_b(int lane, uint64_t encoding) { batch_.inputs()[1].set(index_, lane, encoding); }
  void set_c(uint64_t encoding) { batch_.inputs()[2].set(index_, 0, encoding); }

  int any_lane() { return rng.between(0, k - 1); }
  /// The first lane of a random block.
  int any_block() { return rng.between(0, (k + block - 1) / block - 1) * block; }
  bool coin() { return rng.next() & 1; }
  uint64_t fraction_of(const FormatFields& f) { return rng.next() & f.fraction_mask(); }

  void zero_lane(int lane) {
    set_a(lane, fa.encode_zero(false));
    set_b(lane, fb.encode_zero(false));
  }
  void zero_lanes() {
    for (int lane = 0; lane < k; ++lane) zero_lane(lane);
  }
  void zero_c() { set_c(fc.encode_zero(false)); }

  int least_exponent() const { return fa.emin() + fb.emin(); }
  int greatest_exponent() const { return fa.emax() + fb.emax(); }

  /// Makes a lane's product of exponent `e`, the sum of its factors' exponents, so that it weighs 1 to 4 times 2^e. The
  /// factors share the exponent at random, as far as their formats hold it.
  void set_product(int lane, bool negative, int e, uint64_t fraction_a, uint64_t fraction_b) {
    const int ea = FactorShare(fa, fb, e).any(rng);
    const bool negative_b = fa.has_sign() && fb.has_sign() && coin();
    set_a(lane, encode_near(fa, negative != negative_b, ea, fraction_a));
    set_b(lane, encode_near(fb, negative_b, e - ea, fraction_b));
  }
  void draw_product(int lane, int e) {
    const bool negative = coin();
    const uint64_t x = fraction_of(fa);
    const uint64_t y = fraction_of(fb);
    set_product(lane, negative, e, x, y);
  }
  void draw_c(int e) {
    const uint64_t fraction = fraction_of(fc);
    const bool negative = coin();
    set_c(encode_near(fc, negative, e, fraction));
  }

  /// A random exponent at which sums of this op's products and c stay within all formats (sums have 8 exponents above
  /// it), with at least `below` exponents of normal numbers below it where the formats allow that.
  int middle_exponent(int below = 0) {
    const int low = std::max({least_exponent() + below, fc.emin() + below, fd.emin() + below});
    const int high = std::min({greatest_exponent(), fc.emax() - 8, fd.emax() - 8});
    return low < high ? std::clamp(rng.between(-2, 6), low, high)
                      : std::clamp(0, least_exponent(), greatest_exponent());
  }

  /// Sets all scales to 1, where the op has any.
  void unit_scales(const Op& op) {
    if (!op.has_scales()) return;
    for (const size_t column : {size_t{3}, size_t{4}}) {
      const FormatFields& f = op.input_format(column).fields();
      for (int i = 0; i < op.scales(); ++i) set_scale(column, i, encode_near(f, false, 0, 0));
    }
  }
  /// Draws both sides' scale number `i`, so that elements can bring a product to exponent `e`. Returns the sum of the
  /// scales' exponents.
  int draw_scales(const Op& op, int i, int e) {
    const FormatFields &first = op.scale_a.fields(), &second = op.scale_b.fields();
    const int elements = rng.between(fa.least_bit() + fb.least_bit(), fa.emax() + fb.emax());
    const int scales = std::clamp(e - elements, first.emin() + second.emin(), first.emax() + second.emax());
    const int scale_a = FactorShare(first, second, scales).any(rng);
    set_scale(3, i, encode_near(first, false, scale_a, 0));
    set_scale(4, i, encode_near(second, false, scales - scale_a, 0));
    return scales;
  }
  /// Scale number `i` of a side: column 3 of the batch is scale_a, column 4 scale_b.
  uint64_t scale(size_t column, int i) const { return batch_.inputs()[column].get(index_, i); }
  void set_scale(size_t column, int i, uint64_t encoding) { batch_.inputs()[column].set(index_, i, encoding); }

  /// The exact product of a lane, without scales.
  Exact product(int lane) const { return exact_product(fa, a(lane), fb, b(lane)); }

  /// The sum of lanes first..end-1 as an aligning adder makes it without c, in units of 2^(top - kept_bits), where
  /// `top` is the greatest exponent.
  int64_t aligned_sum(int first, int end, int top) const {
    int64_t sum = 0;
    for (int lane = first; lane < end; ++lane) {
      const Exact p = product(lane);
      if (p.cls == NumberClass::finite && p.significand) sum += aligned_term(p, top - kept_bits);
    }
    return sum;
  }
  /// Sets c to `target` less the aligned sum of `lanes` lanes from `first` on, in units of 2^(top - kept_bits). False
  /// where c's format does not hold that, or where c would be above `top` and so move the adder's last bit.
  bool solve_c(int64_t target, int first, int lanes, int top) {
    const int64_t rest = target - aligned_sum(first, first + lanes, top);
    set_c(encode_units(fc, rest, top - kept_bits));
    const uint64_t magnitude = magnitude_of(rest);
    const int width = static_cast<int>(std::bit_width(magnitude)),
              zeros_at_end = std::countr_zero(magnitude | (uint64_t{1} << 63));
    return width <= kept_bits + 1 && width - zeros_at_end <= fc.fraction_bits + 1;
  }

 private:
  Batch& batch_;
  size_t index_;
};

}  // namespace mmafuzz
