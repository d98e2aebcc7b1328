// The domain of arithmetic/kernels/two_stage_sum-inl.h in which one vector lane is one dot: the first stage in 32-bit
// integers, the second in the host's fp64. Included once per Highway target, after host_dots-inl.h; compiled without
// contraction.
#if defined(MMAFUZZ_ORACLES_LANES_TWO_STAGE_DOTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MMAFUZZ_ORACLES_LANES_TWO_STAGE_DOTS_INL_H
#undef MMAFUZZ_ORACLES_LANES_TWO_STAGE_DOTS_INL_H
#else
#define MMAFUZZ_ORACLES_LANES_TWO_STAGE_DOTS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if MMAFUZZ_HOST_FMA

/// The domain of two-stage sums. Operands are host numbers, from which infinities and NaNs follow, and decoded
/// integers; product i of dot j is at [i * lanes + j].
class LaneTwoStageDots {
 public:
  using Code = LaneChains<DF32>::Numbers;
  using Int = Ints;
  struct Seen {
    VF32 sum;  ///< the sum of c and of the products that are not finite
  };
  using Term = size_t;  ///< the index of a product in the arrays of Products
  struct Partial {
    VI32 sum;  ///< in units of 2^(greatest - fraction_bits)
    Ints greatest;
  };
  struct Addend {
    VF32 number;
    Ints exponent;
  };
  /// Integers below 2^53 as fp64 numbers, of the lower and the upper lanes.
  struct Wide {
    VF64 lower, upper;
  };

  /// The products of a window (up to max_instruction_k of each dot in a vector), as integers.
  struct Products {
    static constexpr size_t most = max_instruction_k * max_lanes;
    HWY_ALIGN uint32_t significand[most], sign[most];
    HWY_ALIGN int32_t exponent[most];
  };

  HWY_INLINE LaneTwoStageDots(const DotModel& m, const float* a, const float* b, const Products& p, size_t offset)
      : m_(m),
        a_(a),
        b_(b),
        significand_(p.significand + offset),
        sign_(p.sign + offset),
        exponent_(p.exponent + offset),
        right_(larger(0, m.a.fraction_bits + m.b.fraction_bits - m.fraction_bits)) {}

  HWY_INLINE const DotModel& model() const { return m_; }
  HWY_INLINE void begin_block(int) const {}
  HWY_INLINE Seen nothing_seen() const { return {hn::Zero(DF32())}; }

  HWY_INLINE Term product(int i, Seen& seen) const {
    const DF32 df;
    const size_t offset = size_t(i) * hn::Lanes(df);
    // Exact, or at least 2^128 and so an infinity.
    const VF32 number = hn::Mul(hn::Load(df, a_ + offset), hn::Load(df, b_ + offset));
    seen.sum = hn::Add(seen.sum, hn::IfThenZeroElse(hn::IsFinite(number), number));
    return offset;
  }

  HWY_INLINE Partial cut_and_summed(const Term* term, int first, int stride, int n) const {
    const DI32 di;
    Partial p{hn::Zero(di), Ints(no_exponent)};
    for (int i = first; i < n; i += stride)
      p.greatest = greater_of(p.greatest, Ints(hn::Load(di, exponent_ + term[i])));
    const VI32 nearest = hn::Add(p.greatest.v, hn::Set(di, right_));
    for (int i = first; i < n; i += stride) {
      const VI32 distance = hn::Min(hn::Sub(nearest, hn::Load(di, exponent_ + term[i])), hn::Set(di, 31));
      const VI32 sign = hn::BroadcastSignBit(hn::BitCast(di, hn::Load(D32(), sign_ + term[i])));
      const VI32 kept = hn::BitCast(di, hn::Shr(hn::Load(D32(), significand_ + term[i]), hn::BitCast(D32(), distance)));
      p.sum = hn::Add(p.sum, hn::Sub(hn::Xor(kept, sign), sign));
    }
    return p;
  }
  HWY_INLINE Partial joined(const Partial& x, const Partial& y) const {
    const DI32 di;
    const Ints greatest = greater_of(x.greatest, y.greatest);
    const auto floored = [&](const Partial& p) HWY_ATTR {
      return hn::Shr(p.sum, hn::Min(hn::Sub(greatest.v, p.greatest.v), hn::Set(di, 31)));
    };
    return {hn::Add(floored(x), floored(y)), greatest};
  }

  HWY_INLINE Addend addend(bool, Code c, const Partial&, Seen& seen) const {
    const DI32 di;
    seen.sum = hn::Add(seen.sum, c.v);
    const VI32 field = hn::BitCast(di, hn::ShiftRight<23>(hn::BitCast(D32(), hn::Abs(c.v))));
    return {c.v, greater_of(Ints(hn::Sub(field, hn::Set(di, 127))), Ints(-126))};
  }

  HWY_INLINE Wide floored(const Partial& p, Ints greatest, int below) const {
    const DI32 di;
    const VI32 left = hn::Sub(hn::Set(di, below - m_.fraction_bits), hn::Sub(greatest.v, p.greatest.v));
    const Wide power = powers_of_two(hn::Max(left, hn::Set(di, -100)));
    const hn::Rebind<int32_t, DF64> half;
    const DF64 d;
    return {hn::Floor(hn::Mul(hn::PromoteTo(d, hn::LowerHalf(half, p.sum)), power.lower)),
            hn::Floor(hn::Mul(hn::PromoteTo(d, hn::UpperHalf(half, p.sum)), power.upper))};
  }
  HWY_INLINE Wide floored(const Addend& c, Ints greatest, int below) const {
    const Wide power = powers_of_two(hn::Sub(hn::Set(DI32(), m_.fraction_bits), greatest.v));
    const DF32Half half;
    const DF64 d;
    const VF64 left = hn::Set(d, static_cast<double>(int64_t{1} << (below - m_.fraction_bits)));
    const auto part = [&](auto number, VF64 scale)
                          HWY_ATTR { return hn::Mul(hn::Floor(hn::Mul(hn::PromoteTo(d, number), scale)), left); };
    return {part(hn::LowerHalf(half, c.number), power.lower), part(hn::UpperHalf(half, c.number), power.upper)};
  }
  HWY_INLINE Wide zero_where_below(Wide x, Ints exponent, Ints greatest, int bits) const {
    // Masks as numbers, because masks of 32-bit lanes cannot be widened.
    const VI32 is_below = hn::VecFromMask(DI32(), hn::Lt(exponent.v, hn::Sub(greatest.v, hn::Set(DI32(), bits))));
    const hn::Rebind<int32_t, DF64> half;
    const DF64 d;
    const auto kept = [&](VF64 v, auto below) HWY_ATTR {
      return hn::IfThenZeroElse(hn::RebindMask(d, hn::Ne(hn::PromoteTo(D64i(), below), hn::Zero(D64i()))), v);
    };
    return {kept(x.lower, hn::LowerHalf(half, is_below)), kept(x.upper, hn::UpperHalf(half, is_below))};
  }
  HWY_INLINE Wide plus(Wide x, Wide y) const { return {hn::Add(x.lower, y.lower), hn::Add(x.upper, y.upper)}; }

  HWY_INLINE Wide floored_below_leading(Wide x, Ints greatest, int below, int kept) const {
    const VI32 unit = hn::Sub(greatest.v, hn::Set(DI32(), below));
    const VI32 below_normal = hn::Sub(hn::Set(DI32(), m_.d.emin() - kept), unit);
    const hn::Rebind<int32_t, DF64> half;
    const D64i di;
    const auto floored = [&](VF64 v, auto least) HWY_ATTR {
      const auto field = hn::BitCast(di, hn::ShiftRight<52>(hn::BitCast(D64(), hn::Abs(v))));
      const auto drop =
          hn::Max(hn::Max(hn::Sub(field, hn::Set(di, 1023 + kept)), hn::PromoteTo(di, least)), hn::Zero(di));
      return hn::Mul(hn::Floor(hn::Mul(v, power_of_two(hn::Neg(drop)))), power_of_two(drop));
    };
    return {floored(x.lower, hn::LowerHalf(half, below_normal)), floored(x.upper, hn::UpperHalf(half, below_normal))};
  }

  template <class Stages>
  HWY_INLINE Code rounded(const Stages& s, Wide total, const Term*, int, int, Seen seen) const {
    const DF32 d;
    const DF32Half half;
    const Wide unit = powers_of_two(hn::Sub(s.greatest.v, hn::Set(DI32(), s.below)));
    const VF32 sum = hn::Combine(d, hn::DemoteTo(half, hn::Mul(total.upper, unit.upper)),
                                 hn::DemoteTo(half, hn::Mul(total.lower, unit.lower)));
    return {hn::IfThenElse(hn::IsFinite(seen.sum), sum, seen.sum)};
  }

 private:
  using D64i = hn::RebindToSigned<DF64>;
  static constexpr int no_exponent = -10000;  // of a zero product: below that of every other

  /// 2^exponent for exponents of normal fp64 numbers.
  HWY_INLINE static VF64 power_of_two(hn::Vec<D64i> exponent) {
    return hn::BitCast(DF64(), hn::ShiftLeft<52>(hn::Add(exponent, hn::Set(D64i(), 1023))));
  }
  HWY_INLINE static Wide powers_of_two(VI32 exponent) {
    const hn::Rebind<int32_t, DF64> half;
    return {power_of_two(hn::PromoteTo(D64i(), hn::LowerHalf(half, exponent))),
            power_of_two(hn::PromoteTo(D64i(), hn::UpperHalf(half, exponent)))};
  }

  const DotModel& m_;
  const float *a_, *b_;
  const uint32_t *significand_, *sign_;
  const int32_t* exponent_;
  int right_;

  friend struct TwoStageWindow;
};

/// Decodes the products of a window. The model must outlive it.
struct TwoStageWindow {
  explicit TwoStageWindow(const DotModel& m) : model(m), decode_a(m.a), decode_b(m.b) {}

  void load(const Batch& batch, size_t first, size_t dots, int element, int given, int count) {
    const D32 d;
    const DI32 di;
    const size_t lanes = hn::Lanes(d);
    const DotModel& m = model;
    const int left = larger(0, m.fraction_bits - m.a.fraction_bits - m.b.fraction_bits);
    const int bytes = batch.a().element_bytes(), per_word = 4 / bytes, words = (count + per_word - 1) / per_word;
    HWY_ALIGN uint32_t a[max_words * max_lanes], b[max_words * max_lanes];
    transpose(batch.a(), first, dots, element, given, count, a);
    transpose(batch.b(), first, dots, element, given, count, b);
    V32 worst = hn::Zero(d);  // not used: infinities and NaNs follow from the host numbers
    for (int w = 0; w < words; ++w) {
      const V32 word_a = hn::Load(d, a + size_t(w) * lanes), word_b = hn::Load(d, b + size_t(w) * lanes);
      for (int part = 0; part < per_word; ++part) {
        const size_t offset = size_t(w * per_word + part) * lanes;
        const Decoded x = decode_a(unpack(word_a, bytes, part), worst),
                      y = decode_b(unpack(word_b, bytes, part), worst);
        const V32 significand = hn::Mul(x.significand, y.significand);
        const VI32 exponent = hn::Sub(hn::BitCast(di, hn::Add(x.field, y.field)), hn::Set(di, m.a.bias + m.b.bias));
        const auto zero = hn::RebindMask(di, hn::Eq(significand, hn::Zero(d)));
        hn::Store(hn::IfThenElse(zero, hn::Set(di, LaneTwoStageDots::no_exponent), exponent), di,
                  products.exponent + offset);
        hn::Store(hn::ShiftLeftSame(significand, left), d, products.significand + offset);
        hn::Store(hn::Xor(x.sign, y.sign), d, products.sign + offset);
      }
    }
  }

  const DotModel& model;
  LaneTwoStageDots::Products products;

 private:
  AnyDecoder decode_a, decode_b;
};

#define MMAFUZZ_KERNEL HWY_INLINE
#include "arithmetic/kernels/two_stage_sum-inl.h"
#undef MMAFUZZ_KERNEL

#endif

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#endif
