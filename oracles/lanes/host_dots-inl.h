// The domains of arithmetic/kernels/ in which one vector lane is one dot and its numbers are the host's. Included once
// per Highway target, after exact_lanes-inl.h and integer_dots-inl.h; compiled without contraction.
#include <bit>
#include <type_traits>

#if defined(MMAFUZZ_ORACLES_LANES_HOST_DOTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MMAFUZZ_ORACLES_LANES_HOST_DOTS_INL_H
#undef MMAFUZZ_ORACLES_LANES_HOST_DOTS_INL_H
#else
#define MMAFUZZ_ORACLES_LANES_HOST_DOTS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if MMAFUZZ_HOST_FMA

/// The domain of chains and trees (arithmetic/kernels/): operands are host numbers, those of product i of dot j at
/// [i * lanes + j]. A Code is a decoded number: callers decode and encode whole batches.
template <class D>
class LaneChains {
 public:
  struct Numbers {
    hn::Vec<D> v;
  };
  using Real = Numbers;
  using Code = Numbers;
  using T = hn::TFromD<D>;
  struct Seen {};  // empty: an infinity by overflow counts like one of an operand

  HWY_INLINE LaneChains(const DotModel& m, const T* a, const T* b) : m_(m), a_(a), b_(b) {}

  HWY_INLINE const DotModel& model() const { return m_; }
  HWY_INLINE void begin_block(int) const {}
  HWY_INLINE Numbers zero() const { return {hn::Zero(D())}; }
  HWY_INLINE Numbers a(int i) const { return {hn::Load(D(), a_ + size_t(i) * hn::Lanes(D()))}; }
  HWY_INLINE Numbers b(int i) const { return {hn::Load(D(), b_ + size_t(i) * hn::Lanes(D()))}; }
  HWY_INLINE Numbers addend(Numbers c) const { return c; }
  HWY_INLINE Numbers stored(Numbers x) const { return x; }
  HWY_INLINE Numbers negated(Numbers x) const { return {hn::IfThenElse(hn::IsNaN(x.v), x.v, hn::Neg(x.v))}; }
  HWY_INLINE Numbers fma(Numbers x, Numbers y, Numbers z) const { return {hn::MulAdd(x.v, y.v, z.v)}; }
  HWY_INLINE Numbers multiply(Numbers x, Numbers y) const { return {hn::Mul(x.v, y.v)}; }
  HWY_INLINE Numbers add(Numbers x, Numbers y) const { return {hn::Add(x.v, y.v)}; }
  HWY_INLINE Numbers product(int i, Seen&) const { return multiply(a(i), b(i)); }
  HWY_INLINE Numbers joined(Numbers c, Numbers sum, Seen&) const { return add(c, sum); }

 private:
  const DotModel& m_;
  const T *a_, *b_;
};

/// LaneChains under CDNA2's rules, which no host has: subnormal operands read as +0, subnormal results become zeros of
/// their sign, and zero operands read as +0 if the row says so.
template <bool Flushes>
class LaneTrees : public LaneChains<DF32> {
 public:
  HWY_INLINE LaneTrees(const DotModel& m, const float* a, const float* b)
      : LaneChains(m, a, b), zeros_are_positive_(m.zero_operands == ZeroOperands::positive) {}

  HWY_INLINE Numbers addend(Numbers c) const { return operand(c, model().c); }
  HWY_INLINE Numbers add(Numbers x, Numbers y) const { return result(LaneChains::add(x, y)); }
  HWY_INLINE Numbers product(int i, Seen&) const {
    return result(multiply(operand(a(i), model().a), operand(b(i), model().b)));
  }
  HWY_INLINE Numbers joined(Numbers c, Numbers sum, Seen&) const { return add(c, sum); }

 private:
  HWY_INLINE Numbers operand(Numbers x, const FormatFields& f) const {
    const DF32 d;
    const auto zero = hn::Eq(x.v, hn::Zero(d));
    if constexpr (Flushes) {
      const VF32 least = hn::Set(d, std::bit_cast<float>(uint32_t(f.emin() + 127) << 23));
      x.v = hn::IfThenZeroElse(hn::AndNot(zero, hn::Lt(hn::Abs(x.v), least)), x.v);
    }
    return zeros_are_positive_ ? Numbers{hn::IfThenZeroElse(zero, x.v)} : x;
  }
  HWY_INLINE Numbers result(Numbers r) const {
    if constexpr (!Flushes) return r;
    const DF32 d;
    const VF32 least = hn::Set(d, 0x1p-126f);
    return {hn::IfThenElse(hn::Lt(hn::Abs(r.v), least), hn::CopySign(hn::Zero(d), r.v), r.v)};
  }

  bool zeros_are_positive_;
};

/// Trees whose operations round to odd and overflow to infinities, and whose subnormal numbers are zeros of their sign
/// (Arm's BFDOT). Sums are rounded to odd in fp64 first: rounding those to odd once more equals rounding the exact sum.
class LaneOddTrees : public LaneChains<DF32> {
 public:
  HWY_INLINE LaneOddTrees(const DotModel& m, const float* a, const float* b) : LaneChains(m, a, b) {}

  HWY_INLINE Numbers addend(Numbers c) const {
    return {by_halves([](size_t, VF64 x) HWY_ATTR { return rounded(x); }, c.v)};
  }
  HWY_INLINE Numbers add(Numbers x, Numbers y) const {
    return {by_halves([](size_t, VF64 u, VF64 v) HWY_ATTR { return rounded(sum_to_odd(u, v)); }, x.v, y.v)};
  }
  HWY_INLINE Numbers product(int i, Seen&) const {
    return {by_halves([](size_t, VF64 u, VF64 v) HWY_ATTR { return rounded(hn::Mul(u, v)); }, a(i).v, b(i).v)};
  }
  HWY_INLINE Numbers joined(Numbers c, Numbers sum, Seen&) const { return add(c, sum); }

 private:
  HWY_INLINE static hn::Vec<DF32Half> rounded(VF64 x) {
    const DF64 d;
    const D64 du;
    const auto bits = hn::BitCast(du, x), beyond = hn::Set(du, (uint64_t{1} << 29) - 1);
    const auto inexact = hn::Ne(hn::And(bits, beyond), hn::Zero(du));
    const auto odd = hn::Or(hn::AndNot(beyond, bits), hn::IfThenElseZero(inexact, hn::Set(du, uint64_t{1} << 29)));
    VF64 r = hn::IfThenElse(hn::IsFinite(x), hn::BitCast(d, odd), x);
    r = hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-126)), hn::CopySign(hn::Zero(d), x), r);
    return hn::DemoteTo(DF32Half(), r);
  }
};

/// Chains in fp16: the exact sum is rounded to odd in fp64 and in fp32, and then to fp16, which equals one rounding
/// (oracles/lanes/exact_lanes-inl.h).
class LaneHalfChains : public LaneChains<DF32> {
 public:
  HWY_INLINE LaneHalfChains(const DotModel& m, const float* a, const float* b) : LaneChains(m, a, b) {}

  HWY_INLINE Numbers fma(Numbers x, Numbers y, Numbers z) const {
    return {rounded_to_fp16(fma_to_odd(x.v, y.v, z.v), model().nan)};
  }
  HWY_INLINE Numbers multiply(Numbers x, Numbers y) const { return fma(x, y, {hn::Set(DF32(), -0.0f)}); }
};

/// Chains in bf16: the exact sum is rounded to odd in fp64, and then to bf16.
class LaneBfloatChains : public LaneChains<DF32> {
 public:
  HWY_INLINE LaneBfloatChains(const DotModel& m, const float* a, const float* b)
      : LaneChains(m, a, b), flushes_(flushes(m)) {}

  HWY_INLINE Numbers fma(Numbers x, Numbers y, Numbers z) const {
    const auto rounded = [this](size_t, VF64 u, VF64 v, VF64 w) HWY_ATTR { return fma(hn::Mul(u, v), w); };
    return {by_halves(rounded, x.v, y.v, z.v)};
  }
  HWY_INLINE Numbers multiply(Numbers x, Numbers y) const { return fma(x, y, {hn::Set(DF32(), -0.0f)}); }

 private:
  HWY_INLINE hn::Vec<DF32Half> fma(VF64 product, VF64 c) const {
    const DF64 d;
    const D64 du;
    const VF64 sum = hn::Add(product, c), odd = add_to_odd(product, c);
    // To nearest even, to 7 of 52 fraction bits.
    constexpr int dropped = 45;
    const auto bits = hn::BitCast(du, odd);
    const auto last = hn::And(hn::ShiftRight<dropped>(bits), hn::Set(du, 1));
    const auto up = hn::Add(hn::Add(bits, hn::Set(du, (uint64_t{1} << (dropped - 1)) - 1)), last);
    VF64 r = hn::BitCast(d, hn::AndNot(hn::Set(du, (uint64_t{1} << dropped) - 1), up));
    // The last bit of a subnormal number weighs 2^-133, as does that of 0x1.8p-81: adding and subtracting this number
    // makes the host round at that bit.
    const VF64 least = hn::Set(d, 0x1p-126), beside = hn::Set(d, 0x1.8p-81);
    if (flushes_) {
      r = hn::IfThenElse(hn::Lt(hn::Abs(r), least), hn::CopySign(hn::Zero(d), sum), r);
    } else {
      const VF64 rounded = hn::CopySign(hn::Sub(hn::Add(odd, beside), beside), sum);
      r = hn::IfThenElse(hn::Lt(hn::Abs(odd), least), rounded, r);
    }
    return hn::DemoteTo(DF32Half(), hn::IfThenElse(hn::IsFinite(sum), r, sum));
  }

  bool flushes_;
};

/// Adds to one of the domains above that operations return NaNs of operands (NanFrom).
template <class Base>
class HandsNansOn : public Base {
 public:
  using Numbers = typename Base::Numbers;
  using Seen = typename Base::Seen;

  template <class T>
  HWY_INLINE HandsNansOn(const DotModel& m, const T* a, const T* b) : Base(m, a, b), rule_(m.nan_from) {}

  HWY_INLINE Numbers fma(Numbers x, Numbers y, Numbers z) const { return of(Base::fma(x, y, z), x, y, z, true); }
  HWY_INLINE Numbers multiply(Numbers x, Numbers y) const { return of(Base::multiply(x, y), x, y, this->zero(), true); }
  HWY_INLINE Numbers add(Numbers x, Numbers y) const { return of(Base::add(x, y), x, y, this->zero(), false); }
  HWY_INLINE Numbers product(int i, Seen& seen) const {
    return of(Base::product(i, seen), this->a(i), this->b(i), this->zero(), true);
  }
  HWY_INLINE Numbers joined(Numbers c, Numbers sum, Seen& seen) const {
    return of(Base::joined(c, sum, seen), sum, this->zero(), c, false);
  }

  /// The NaN of products `first` to first + n - 1 whose exact sum is NaN (OneExactDot::nan_of).
  HWY_INLINE Numbers of_block(int first, int n) const {
    if (rule_ == NanFrom::signalling_c_as_bs) {
      auto nan = own_nan(hn::DFromV<decltype(Numbers::v)>());
      const auto operand = [&](int i) HWY_ATTR { return i < n ? this->a(first + i).v : this->b(first + i - n).v; };
      for (int i = 2 * n - 1; i >= 0; --i) nan = nan_of(operand(i), nan);
      for (int i = 2 * n - 1; i >= 0; --i) nan = signalling_nan_of(operand(i), nan);
      return {nan};
    }
    Numbers sum = this->zero();
    for (int i = first + n - 1; i >= first; --i) sum = fma(of_size_one(this->a(i)), of_size_one(this->b(i)), sum);
    return sum;
  }

 private:
  /// Finite numbers other than zero become 1 or -1, so that no sum of products overflows.
  HWY_INLINE static Numbers of_size_one(Numbers x) {
    const hn::DFromV<decltype(x.v)> d;
    const auto keeps = hn::Or(hn::Eq(x.v, hn::Zero(d)), hn::Not(hn::IsFinite(x.v)));
    return {hn::IfThenElse(keeps, x.v, hn::CopySign(hn::Set(d, 1), x.v))};
  }

  /// r, the result of an operation on a, b and c, with the NaN that the row says. Missing operands are zeros.
  HWY_INLINE Numbers of(Numbers r, Numbers a, Numbers b, Numbers c, bool multiplies) const {
    const hn::DFromV<decltype(r.v)> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    const auto is_nan = hn::IsNaN(r.v);
    if (hn::AllFalse(d, is_nan)) [[likely]]
      return r;
    auto nan = own_nan(d);
    const Numbers* const abc[3] = {&a, &b, &c};
    for (int place = 2; place >= 0; --place) nan = nan_of(abc[operand_at(rule_, place)]->v, nan);
    if (signalling_first(rule_)) {
      const auto zero = hn::Zero(d);
      const auto invalid =
          hn::Or(hn::And(hn::IsInf(a.v), hn::Eq(b.v, zero)), hn::And(hn::Eq(a.v, zero), hn::IsInf(b.v)));
      if (multiplies) nan = hn::IfThenElse(invalid, own_nan(d), nan);
      for (int place = 2; place >= 0; --place) nan = signalling_nan_of(abc[operand_at(rule_, place)]->v, nan);
    }
    return {hn::IfThenElse(is_nan, nan, r.v)};
  }
  /// x made quiet where it is NaN, and `other` elsewhere.
  template <class V>
  HWY_INLINE static V nan_of(V x, V other) {
    return hn::IfThenElse(hn::IsNaN(x), hn::Or(x, quiet_bit(hn::DFromV<V>())), other);
  }
  template <class V>
  HWY_INLINE static V signalling_nan_of(V x, V other) {
    const hn::DFromV<V> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    const auto is_quiet = hn::Ne(hn::BitCast(du, hn::And(x, quiet_bit(d))), hn::Zero(du));
    return hn::IfThenElse(hn::RebindMask(d, is_quiet), other, nan_of(x, other));
  }
  template <class D>
  HWY_INLINE static hn::Vec<D> quiet_bit(D d) {
    const hn::RebindToUnsigned<D> du;
    return hn::BitCast(d, hn::Set(du, hn::TFromD<decltype(du)>{1} << (sizeof(hn::TFromD<D>) == 8 ? 51 : 22)));
  }
  /// The row's own NaN as a number of the host.
  template <class D>
  HWY_INLINE hn::Vec<D> own_nan(D d) const {
    const DotModel& m = this->model();
    uint64_t code = m.nan;
    if constexpr (sizeof(hn::TFromD<D>) == 4)
      code =
          (m.nan >> (m.d.width - 1) & 1) << 31 | 0x7f800000 | (m.nan & m.d.fraction_mask()) << (23 - m.d.fraction_bits);
    const hn::RebindToUnsigned<D> du;
    return hn::BitCast(d, hn::Set(du, static_cast<hn::TFromD<decltype(du)>>(code)));
  }

  NanFrom rule_;
};
template <bool Hands, class Base>
using WithNans = std::conditional_t<Hands, HandsNansOn<Base>, Base>;

/// The row, and the scales of a window.
struct ScaleWindow {
  explicit ScaleWindow(const DotModel& model) : m(model), scales(model.scale_a, model.scale_b, model.scale_block) {}

  void load(const Batch& batch, size_t first, size_t dots, int element, int, int count) {
    scales.load(batch, first, dots, element, count);
  }

  const DotModel& m;
  Scales scales;
};

/// The domain of exact sums. The lower and the upper half of a vector of fp32 numbers are summed as a vector of fp64
/// each. Hands: rounded sums and additions return NaNs of operands (NanFrom).
template <bool Narrow, bool Hands>
class LaneExactDots {
  using Operations = WithNans<Hands, LaneChains<DF32>>;

 public:
  using Code = Operations::Numbers;
  struct Sum {
    ExactSum<Narrow> lower, upper;
  };

  /// `offset`: the index in the window's arrays of the operands' first element.
  HWY_INLINE LaneExactDots(const ScaleWindow& window, size_t offset, const float* a, const float* b)
      : m_(window.m),
        window_(window),
        first_product_(int(offset / hn::Lanes(DF32()))),
        a_(a),
        b_(b),
        operations_(window.m, a, b) {}

  HWY_INLINE const DotModel& model() const { return m_; }
  HWY_INLINE void begin_block(int) const {}
  HWY_INLINE Sum nothing() const { return {}; }
  HWY_INLINE void add_product(Sum& sum, int i) const {
    const size_t offset = size_t(i) * hn::Lanes(DF32()), half = hn::Lanes(DF64());
    VF64 lower = hn::Mul(load(a_ + offset), load(b_ + offset)),
         upper = hn::Mul(load(a_ + offset + half), load(b_ + offset + half));
    if (m_.scale_block) {
      lower = hn::Mul(lower, window_.scales.of(first_product_ + i, 0));
      upper = hn::Mul(upper, window_.scales.of(first_product_ + i, half));
    }
    sum.lower.add(lower);
    sum.upper.add(upper);
  }
  HWY_INLINE Code rounded(const Sum& sum, int first, int n) const {
    const Code r =
        rounded(sum, first, n, /*c_is_operand=*/false, {hn::Set(DF32(), -0.0f)});  // the neutral element of addition
    if constexpr (Hands) {
      const auto is_nan = hn::IsNaN(r.v);
      if (!hn::AllFalse(DF32(), is_nan)) return {hn::IfThenElse(is_nan, operations_.of_block(first, n).v, r.v)};
    }
    return r;
  }
  HWY_INLINE Code negated(bool, Code x) const { return operations_.negated(x); }
  HWY_INLINE Code added(bool, Code c, Code sum) const {
    typename Operations::Seen none;
    return operations_.joined(c, sum, none);
  }
  HWY_INLINE Code rounded(const Sum& sum, int, int, bool, Code c) const {
    const DF32 d;
    const DF32Half half;
    VF64 lower = sum.lower.plus(hn::PromoteTo(DF64(), hn::LowerHalf(half, c.v))),
         upper = sum.upper.plus(hn::PromoteTo(DF64(), hn::UpperHalf(half, c.v)));
    if (m_.zero_sign == ZeroSign::positive) {
      lower = hn::Add(lower, hn::Zero(DF64()));
      upper = hn::Add(upper, hn::Zero(DF64()));
    }
    if constexpr (!Narrow)
      lost_ |= mask_bits(DF64(), sum.lower.lost()) | mask_bits(DF64(), sum.upper.lost()) << hn::Lanes(DF64());
    if (m_.d == fp32_fields) return {hn::Combine(d, hn::DemoteTo(half, upper), hn::DemoteTo(half, lower))};
    const VF32 odd = hn::Combine(d, demoted_to_odd(upper), demoted_to_odd(lower));
    return {rounded_to_fp16(odd, m_.nan)};
  }

  /// Bit j: dot j was not summed exactly and needs the scalar kernel.
  uint64_t lost() const { return lost_; }

 private:
  HWY_INLINE static VF64 load(const float* from) { return hn::PromoteTo(DF64(), hn::Load(DF32Half(), from)); }

  const DotModel& m_;
  const ScaleWindow& window_;
  int first_product_;
  const float *a_, *b_;
  Operations operations_;
  mutable uint64_t lost_ = 0;
};

#define MMAFUZZ_KERNEL HWY_INLINE
#include "arithmetic/kernels/exact_sum-inl.h"
#include "arithmetic/kernels/fma_chain-inl.h"
#include "arithmetic/kernels/fma_then_add-inl.h"
#include "arithmetic/kernels/ieee_tree-inl.h"
#include "arithmetic/kernels/sum_then_add-inl.h"
#undef MMAFUZZ_KERNEL

#endif

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#endif
