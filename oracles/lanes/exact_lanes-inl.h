// Exact sums in vector lanes, by error-free transformations of fp64 numbers (Knuth's TwoSum), and their single rounding
// by way of rounding to odd (Boldo and Melquiond, Emulation of a FMA and correctly rounded sums: proved algorithms
// using rounding to odd, IEEE Transactions on Computers 57, 2008). Products of fp32 numbers are exact in fp64 and far
// from its range ends. Included once per Highway target, after dot_lanes-inl.h; compiled without contraction.
#if defined(MMAFUZZ_ORACLES_UNITS_EXACT_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MMAFUZZ_ORACLES_UNITS_EXACT_LANES_INL_H
#undef MMAFUZZ_ORACLES_UNITS_EXACT_LANES_INL_H
#else
#define MMAFUZZ_ORACLES_UNITS_EXACT_LANES_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if MMAFUZZ_HOST_FMA

using DF64 = hn::ScalableTag<double>;
using VF64 = hn::Vec<DF64>;
using MF64 = hn::Mask<DF64>;
using DF32Half = hn::Rebind<float, DF64>;  // as many lanes as a vector of fp64 numbers

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

/// fp64 numbers that were rounded to odd, rounded to odd once more, to fp32; of what is subnormal there
/// fp64 holds no more bits than fp32 does.
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

/// x * y + z of fp32 numbers, rounded to odd in fp64 and then in fp32: what rounds it once more, to at most 22 bits,
/// rounds the exact sum.
HWY_INLINE VF32 fma_to_odd(VF32 x, VF32 y, VF32 z) {
  const DF32Half half;
  const auto of = [](auto u, auto v, auto w) HWY_ATTR {
    const DF64 d;
    const VF64 product = hn::Mul(hn::PromoteTo(d, u), hn::PromoteTo(d, v)), c = hn::PromoteTo(d, w);
    const VF64 sum = hn::Add(product, c);
    return demoted_to_odd(hn::IfThenElse(hn::IsFinite(sum), add_to_odd(product, c), sum));
  };
  return hn::Combine(DF32(), of(hn::UpperHalf(half, x), hn::UpperHalf(half, y), hn::UpperHalf(half, z)),
                     of(hn::LowerHalf(half, x), hn::LowerHalf(half, y), hn::LowerHalf(half, z)));
}

/// A sum of products held as two fp64 numbers. Where Narrow, the products' range is proof that the second one is exact;
/// elsewhere lost() tells the lanes where it was not.
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
      // Infinities and NaNs leave NaN errors: those lanes are not lost, high_ says what they are.
      lost_ = hn::Or(lost_, hn::Gt(hn::Abs(t.error), hn::Zero(DF64())));
    }
  }

  /// The sum and c, rounded to odd with 53 bits: what rounds it once more, to at most 50 bits, rounds the exact sum.
  /// Infinity and NaN as the terms say; an exact zero has the sign that addition to nearest even gives it.
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

/// The products of fp32 numbers x[i * stride + j] and y, i < count, for the lanes j of one vector of fp64 numbers.
template <bool Narrow>
HWY_INLINE ExactSum<Narrow> sum_products(const float* x, const float* y, int count, size_t stride) {
  const DF64 d;
  const DF32Half df;
  ExactSum<Narrow> sum;
  for (int i = 0; i < count; ++i)
    sum.add(hn::Mul(hn::PromoteTo(d, hn::Load(df, x + size_t(i) * stride)),
                    hn::PromoteTo(d, hn::Load(df, y + size_t(i) * stride))));
  return sum;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#endif
