// Exact sums in vector lanes, by error-free transformations of fp64 numbers (Knuth's TwoSum), and their single rounding
// by way of rounding to odd (Boldo and Melquiond, Emulation of a FMA and correctly rounded sums: proved algorithms
// using rounding to odd, IEEE Transactions on Computers 57, 2008). Products of fp32 numbers are exact in fp64 and far
// from its range ends. Included once per Highway target, after dot_lanes-inl.h; compiled without contraction.
#include <cmath>
#include <limits>

#if defined(MMAFUZZ_ORACLES_LANES_EXACT_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MMAFUZZ_ORACLES_LANES_EXACT_LANES_INL_H
#undef MMAFUZZ_ORACLES_LANES_EXACT_LANES_INL_H
#else
#define MMAFUZZ_ORACLES_LANES_EXACT_LANES_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if MMAFUZZ_HOST_FMA  // as the kernels that use these sums (dot_lanes-inl.h)

/// sum + error is x + y exactly.
struct TwoSum {
  HWY_INLINE TwoSum(VF64 x, VF64 y) : sum(hn::Add(x, y)) {
    const VF64 y_part = hn::Sub(sum, x);
    error = hn::Add(hn::Sub(x, hn::Sub(sum, y_part)), hn::Sub(y, y_part));
  }
  VF64 sum, error;
};

/// x + y rounded to odd: of the two neighbours of an inexact sum the one whose last bit is set.
HWY_INLINE VF64 add_to_odd(VF64 x, VF64 y) {
  const DF64 d;
  const hn::RebindToSigned<DF64> di;
  const TwoSum s(x, y);
  const auto bits = hn::BitCast(di, s.sum);
  const auto inexact = hn::RebindMask(di, hn::Ne(s.error, hn::Zero(d)));
  const auto even = hn::Eq(hn::And(bits, hn::Set(di, 1)), hn::Zero(di));
  // The magnitude grows where the error has the sum's sign and shrinks elsewhere.
  const auto step = hn::Or(hn::BroadcastSignBit(hn::BitCast(di, hn::Xor(s.sum, s.error))), hn::Set(di, 1));
  return hn::BitCast(d, hn::Add(bits, hn::IfThenElseZero(hn::And(inexact, even), step)));
}

/// add_to_odd for all numbers: infinities and NaNs are those of addition.
HWY_INLINE VF64 sum_to_odd(VF64 x, VF64 y) {
  const VF64 sum = hn::Add(x, y);
  return hn::IfThenElse(hn::IsFinite(sum), add_to_odd(x, y), sum);
}

/// fp64 numbers that were rounded to odd, rounded to odd once more, to fp32. Magnitudes of 2^128 or more become
/// infinities. A number that is subnormal in fp32 must have no bits below those of fp32.
HWY_INLINE hn::Vec<DF32Half> demoted_to_odd(VF64 x) {
  const DF64 d;
  const hn::RebindToUnsigned<DF64> du;
  const auto bits = hn::BitCast(du, x);
  const auto beyond = hn::Set(du, (uint64_t{1} << 29) - 1);  // what fp32 does not hold of fp64's fraction
  const auto last = hn::Set(du, uint64_t{1} << 29);
  const auto inexact = hn::And(hn::Ne(hn::And(bits, beyond), hn::Zero(du)), hn::RebindMask(du, hn::IsFinite(x)));
  const auto odd = hn::Or(hn::AndNot(beyond, bits), hn::IfThenElseZero(inexact, last));
  return hn::DemoteTo(DF32Half(), hn::IfThenElse(hn::IsNaN(x), x, hn::BitCast(d, odd)));
}

/// fp32 numbers computed in fp64, half a vector at a time: operation(lane, numbers...) for each half, which begins with
/// `lane`.
template <class Operation, class... V>
HWY_INLINE VF32 by_halves(const Operation& operation, V... v) {
  const DF32Half half;
  const DF64 d;
  const hn::Vec<DF32Half> lower = operation(size_t{0}, hn::PromoteTo(d, hn::LowerHalf(half, v))...);
  return hn::Combine(DF32(), operation(hn::Lanes(d), hn::PromoteTo(d, hn::UpperHalf(half, v))...), lower);
}

/// x * y + z of fp32 numbers, rounded to odd in fp64 and then in fp32: rounding that to at most 22 bits, two fewer
/// than fp32's, equals rounding the exact sum.
HWY_INLINE VF32 fma_to_odd(VF32 x, VF32 y, VF32 z) {
  return by_halves([](size_t, VF64 u, VF64 v, VF64 w) HWY_ATTR { return demoted_to_odd(sum_to_odd(hn::Mul(u, v), w)); },
                   x, y, z);
}

/// A sum of products held as two fp64 numbers: the rounded sum and the sum of its rounding errors. Narrow: the formats
/// pass products_are_narrow() (oracles/lanes/host_float.h), so that the second number is exact; otherwise lost()
/// returns the lanes where it is not.
template <bool Narrow>
class ExactSum {
 public:
  // -0 is the neutral element of addition.
  HWY_INLINE ExactSum()
      : high_(hn::Set(DF64(), -0.0)), low_(hn::Zero(DF64())), lost_(hn::MaskFromVec(hn::Zero(DF64()))) {}

  HWY_INLINE void add(VF64 product) {
    const TwoSum s(high_, product);
    high_ = s.sum;
    if constexpr (Narrow) {
      low_ = hn::Add(low_, s.error);
    } else {
      const TwoSum t(low_, s.error);
      low_ = t.sum;
      // Infinities and NaNs leave NaN errors: those lanes are not lost, as high_ is their sum.
      lost_ = hn::Or(lost_, hn::Gt(hn::Abs(t.error), hn::Zero(DF64())));
    }
  }

  /// The sum and c, rounded to odd with 53 bits: rounding that to at most 50 bits equals rounding the exact sum.
  /// Infinities and NaNs are those of addition; an exact zero has the sign of addition to nearest even.
  HWY_INLINE VF64 plus(VF64 c) const {
    const DF64 d;
    const TwoSum u(high_, c), t(low_, u.sum);
    VF64 r = add_to_odd(t.sum, add_to_odd(t.error, u.error));
    const VF64 zero = hn::IfThenElseZero(hn::Eq(u.sum, hn::Zero(d)), u.sum);  // cancelled by low_: +0
    r = hn::IfThenElse(hn::Eq(r, hn::Zero(d)), zero, r);
    return hn::IfThenElse(hn::IsFinite(u.sum), r, u.sum);
  }

  MF64 lost() const { return lost_; }

 private:
  VF64 high_, low_;
  MF64 lost_;
};

/// The scales of a window, which is up to max_instruction_k successive products of each dot in a vector. A scale of a
/// and the one of b are multiplied: the product of the window's scales number s of dot j is at [s * lanes + j].
class Scales {
 public:
  /// Formats that scales_fit_fp64 (oracles/lanes/host_float.h) accepts; `block` products share a scale; 0: no scales.
  Scales(const FormatFields& a, const FormatFields& b, int block) : block_(block) {
    if (block == 0) return;
    for (uint64_t code = 0; code < 256; ++code) {
      a_values_[code] = value(a, code);
      b_values_[code] = value(b, code);
    }
  }

  /// Loads the scales of `count` products, from product `element` on, of the dots from `first` on.
  void load(const Batch& batch, size_t first, size_t dots, int element, int count) {
    if (block_ == 0) return;
    const size_t lanes = hn::Lanes(DF32());
    const int scale_count = batch.scale_a().count(), first_scale = element / block_;
    skipped_ = element - first_scale * block_;
    for (int s = first_scale; s <= (element + count - 1) / block_; ++s)
      for (size_t j = 0; j < lanes; ++j) {
        const bool is_there = s < scale_count && j < dots;
        const auto value_of = [&](const Column& scales, const double* values) {
          return values[scales.data()[(first + j) * scales.stride() + size_t(s)]];
        };
        scale_[size_t(s - first_scale) * lanes + j] =
            is_there ? value_of(batch.scale_a(), a_values_) * value_of(batch.scale_b(), b_values_) : 1;
      }
  }

  /// The scales of product i of the window, of a vector of lanes from `lane` on.
  HWY_INLINE VF64 of(int i, size_t lane) const {
    return hn::Load(DF64(), scale_ + size_t((skipped_ + i) / block_) * hn::Lanes(DF32()) + lane);
  }

 private:
  static double value(const FormatFields& f, uint64_t code) {
    const Number x = decode(f, code & low_mask(f.width));
    if (x.cls == NumberClass::nan) return std::numeric_limits<double>::quiet_NaN();
    const double magnitude = x.cls == NumberClass::infinity ? std::numeric_limits<double>::infinity()
                                                            : std::ldexp(double(x.significand), x.exponent);
    return x.negative ? -magnitude : magnitude;
  }

  int block_;                             ///< products per scale; 0: no scales
  int skipped_ = 0;                       ///< products of the window's first scale that come before the window
  double a_values_[256], b_values_[256];  ///< by encoding of a scale
  HWY_ALIGN double scale_[max_instruction_k * max_lanes];
};

#endif

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#endif
