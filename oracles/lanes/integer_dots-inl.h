// The domain of arithmetic/kernels/ in which one vector lane is one dot: sums of aligned integers in 32-bit lanes, or
// in pairs of 64-bit ones where a row's sums are wider. Included once per Highway target, after dot_lanes-inl.h.
#include "arithmetic/emulated_fp8.h"
#include "oracles/lanes/aligned_rows.h"

#if defined(MMAFUZZ_ORACLES_LANES_INTEGER_DOTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MMAFUZZ_ORACLES_LANES_INTEGER_DOTS_INL_H
#undef MMAFUZZ_ORACLES_LANES_INTEGER_DOTS_INL_H
#else
#define MMAFUZZ_ORACLES_LANES_INTEGER_DOTS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR  // for one lane, arithmetic/fused_sum.h is used

// The types and functions of masks, encodings and exponents that texts of kernels use.

struct Ints {
  VI32 v;
  Ints() = default;
  explicit Ints(VI32 x) : v(x) {}
  explicit HWY_INLINE Ints(int x) : v(hn::Set(DI32(), x)) {}
};
struct Codes {
  V32 v = hn::Zero(D32());
};
/// Which lanes something is true of.
struct LaneMask {
  hn::Mask<D32> m = hn::MaskFromVec(hn::Zero(D32()));
};
HWY_INLINE bool any(LaneMask x) { return HWY_UNLIKELY(!hn::AllFalse(D32(), x.m)); }
HWY_INLINE bool all(LaneMask x) { return hn::AllTrue(D32(), x.m); }
HWY_INLINE Ints greater_of(Ints x, Ints y) { return Ints(hn::Max(x.v, y.v)); }
HWY_INLINE Codes select(LaneMask mask, Codes yes, Codes no) { return {hn::IfThenElse(mask.m, yes.v, no.v)}; }

/// x >> by, 0 for shifts of 32 or more, as x86's own instruction has it. x has at most 31 bits.
HWY_INLINE V32 shifted_right(V32 x, VI32 by) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  return hn::Shr(x, hn::BitCast(D32(), by));
#else
  return hn::Shr(x, hn::BitCast(D32(), hn::Min(by, hn::Set(DI32(), 31))));
#endif
}
/// x where the sign's top bit is clear, else -x.
HWY_INLINE VI32 with_sign(V32 x, V32 sign) {
  const DI32 di;
  const VI32 minus = hn::BroadcastSignBit(hn::BitCast(di, sign));
  return hn::Sub(hn::Xor(hn::BitCast(di, x), minus), minus);
}

/// Position (from 0) of the leading one; 0 for v = 0.
HWY_INLINE VI32 leading_position(V32 v) {
  const DI32 di;
  const hn::Repartition<float, D32> df;
  // Without the bit below it, the leading one is not rounded up to the next power of two by the conversion to float.
  const V32 top = hn::AndNot(hn::ShiftRight<1>(v), v);
  // Halved, because bit 31 must not read as a sign. That loses bit 0, whose position is that of a zero: 0.
  const auto half = hn::ConvertTo(df, hn::BitCast(di, hn::ShiftRight<1>(top)));
  const V32 biased = hn::ShiftRight<23>(hn::BitCast(D32(), half));
  const auto is_above_0 = hn::Ne(biased, hn::Zero(D32()));
  const VI32 position = hn::Sub(hn::BitCast(di, biased), hn::Set(di, 126));  // fp32's bias less the halving
  return hn::IfThenElseZero(hn::RebindMask(di, is_above_0), position);
}

/// A sum's magnitude in units of 2^unit, with its sign in the top bit of `sign`.
struct SignedMagnitude {
  V32 magnitude, sign;
  VI32 unit;
};

using D64 = hn::ScalableTag<uint64_t>;
using DI64 = hn::ScalableTag<int64_t>;
using V64 = hn::Vec<D64>;
using VI64 = hn::Vec<DI64>;

/// 32-bit numbers as two vectors of 64-bit ones.
struct Wide {
  V64 low, high;
};
HWY_INLINE Wide widened(V32 x) {
  const D64 d;
  const hn::Half<D32> half;
  return {hn::PromoteTo(d, hn::LowerHalf(half, x)), hn::PromoteTo(d, hn::UpperHalf(half, x))};
}
HWY_INLINE V32 narrowed(Wide x) {
  const hn::Half<D32> half;
  return hn::Combine(D32(), hn::TruncateTo(half, x.high), hn::TruncateTo(half, x.low));
}

/// x as a sum's magnitude: 31 bits from its leading one on, of which the last says whether any bit below is set.
HWY_INLINE SignedMagnitude compressed(Wide x, V32 sign, VI32 unit) {
  const D32 d;
  const DI32 di;
  const Wide upper{hn::ShiftRight<32>(x.low), hn::ShiftRight<32>(x.high)};
  const V32 high = narrowed(upper), low = narrowed(x);
  const auto is_wide = hn::Ne(high, hn::Zero(d));
  const VI32 leading = hn::Add(leading_position(hn::IfThenElse(is_wide, high, low)),
                               hn::IfThenElseZero(hn::RebindMask(di, is_wide), hn::Set(di, 32)));
  const VI32 drop = hn::Max(hn::Sub(leading, hn::Set(di, 30)), hn::Zero(di));
  const Wide by = widened(hn::BitCast(d, drop));
  const Wide kept{hn::Shr(x.low, by.low), hn::Shr(x.high, by.high)};
  const auto lost = [](V64 all, V64 part, V64 shift) HWY_ATTR { return hn::Xor(hn::Shl(part, shift), all); };
  const Wide rest{lost(x.low, kept.low, by.low), lost(x.high, kept.high, by.high)};
  // What is lost has at most 33 bits.
  const V32 any = hn::Or(narrowed(rest), narrowed({hn::ShiftRight<32>(rest.low), hn::ShiftRight<32>(rest.high)}));
  const V32 sticky = hn::IfThenZeroElse(hn::Eq(any, hn::Zero(d)), hn::Set(d, 1));
  return {hn::Or(narrowed(kept), sticky), sign, hn::Add(unit, drop)};
}

/// A product or group: significand * 2^(exponent - AlignedRow::term_bits), the sign in the top bit of `negative`.
/// Except in wide sums, the significand is already shifted by AlignedRow::term_left.
struct LaneTerm {
  V32 significand, negative;
  VI32 exponent;  ///< the one that is compared for the greatest exponent
};

/// c: significand * 2^(own + c_guard_bits - AlignedRow::c_bits), the sign in the top bit of `negative`.
struct LaneAddend {
  V32 significand, negative;
  VI32 exponent;  ///< the one that is compared for the greatest exponent
  VI32 own;       ///< that of c's number, without the lower bound on `exponent`
};

// How the terms of a block are cut and added, a class for each of AlignedRow::Sums and for each other cut. In of(),
// c_on_grid is c's significand shifted left by c_below - c_bits, or, if that is negative, c_right is the shift right.

/// Terms of up to 31 bits in `Parts` sums of 32 bits each. Two parts have 33 bits together, the sign of which is that
/// of their floored mean; more are added in 64 bits.
template <int Parts>
struct NarrowSums {
  static constexpr bool are_wide = false;

  static HWY_INLINE SignedMagnitude of(const AlignedRow& row, const LaneTerm* term, int n, const LaneAddend& c,
                                       V32 c_on_grid, int c_right, VI32 greatest) {
    const D32 d;
    const DI32 di;
    const VI32 right = hn::Set(di, row.term_right);
    VI32 part[Parts];
    for (int p = 1; p < Parts; ++p) part[p] = hn::Zero(di);
    part[0] = with_sign(shifted_right(c_on_grid, hn::Add(hn::Sub(greatest, c.own), hn::Set(di, c_right))), c.negative);
    const auto kept = [&](const LaneTerm& t) HWY_ATTR {
      return with_sign(shifted_right(t.significand, hn::Add(hn::Sub(greatest, t.exponent), right)), t.negative);
    };
    int i = 0;
    for (; i + Parts <= n; i += Parts)
      for (int p = 0; p < Parts; ++p) part[p] = hn::Add(part[p], kept(term[i + p]));
    for (int p = 0; i < n; ++i, ++p) part[p] = hn::Add(part[p], kept(term[i]));
    const VI32 unit = hn::Sub(greatest, hn::Set(di, row.fraction_bits));
    if constexpr (Parts == 2) {
      const VI32 mean = hn::Add(hn::And(part[0], part[1]), hn::ShiftRight<1>(hn::Xor(part[0], part[1])));
      const V32 sign = hn::BitCast(d, mean);
      V32 magnitude = hn::BitCast(d, with_sign(hn::BitCast(d, hn::Add(part[0], part[1])), sign));
      if (row.sum_mask) magnitude = hn::And(magnitude, hn::Set(d, static_cast<uint32_t>(row.sum_mask)));
      return {magnitude, sign, unit};
    } else {
      VI64 low = hn::Zero(DI64()), high = low;
      const hn::Half<DI32> half;
      for (int p = 0; p < Parts; ++p) {
        low = hn::Add(low, hn::PromoteTo(DI64(), hn::LowerHalf(half, part[p])));
        high = hn::Add(high, hn::PromoteTo(DI64(), hn::UpperHalf(half, part[p])));
      }
      return wide_magnitude(row, low, high, unit);
    }
  }

  static HWY_INLINE SignedMagnitude wide_magnitude(const AlignedRow& row, VI64 low, VI64 high, VI32 unit) {
    const D64 d;
    const VI64 minus_low = hn::BroadcastSignBit(low), minus_high = hn::BroadcastSignBit(high);
    Wide magnitude{hn::BitCast(d, hn::Sub(hn::Xor(low, minus_low), minus_low)),
                   hn::BitCast(d, hn::Sub(hn::Xor(high, minus_high), minus_high))};
    if (row.sum_mask) {
      magnitude.low = hn::And(magnitude.low, hn::Set(d, row.sum_mask));
      magnitude.high = hn::And(magnitude.high, hn::Set(d, row.sum_mask));
    }
    return compressed(magnitude, narrowed({hn::BitCast(d, minus_low), hn::BitCast(d, minus_high)}), unit);
  }
};

/// Terms in sums of 64 bits; terms have up to 62 - bit_length(n + 1) bits.
struct WideSums {
  static constexpr bool are_wide = true;

  static HWY_INLINE SignedMagnitude of(const AlignedRow& row, const LaneTerm* term, int n, const LaneAddend& c, V32,
                                       int, VI32 greatest) {
    const DI64 di;
    const DI32 di32;
    VI64 low = hn::Zero(di), high = low;
    const auto add = [&](V32 significand, VI32 shift, V32 negative, int left) HWY_ATTR {
      const Wide by = widened(hn::BitCast(D32(), hn::Min(shift, hn::Set(di32, 63))));
      const Wide x = widened(significand);
      const V32 minus = hn::BitCast(D32(), hn::BroadcastSignBit(hn::BitCast(di32, negative)));
      const hn::Half<DI32> half;
      const VI64 minus_low = hn::PromoteTo(di, hn::LowerHalf(half, hn::BitCast(di32, minus)));
      const VI64 minus_high = hn::PromoteTo(di, hn::UpperHalf(half, hn::BitCast(di32, minus)));
      const VI64 kept_low = hn::BitCast(di, hn::Shr(hn::ShiftLeftSame(x.low, left), by.low));
      const VI64 kept_high = hn::BitCast(di, hn::Shr(hn::ShiftLeftSame(x.high, left), by.high));
      low = hn::Add(low, hn::Sub(hn::Xor(kept_low, minus_low), minus_low));
      high = hn::Add(high, hn::Sub(hn::Xor(kept_high, minus_high), minus_high));
    };
    const int c_left = HWY_MAX(0, row.fraction_bits - row.c_bits), c_right = HWY_MAX(0, row.c_bits - row.fraction_bits);
    add(c.significand, hn::Add(hn::Sub(greatest, c.own), hn::Set(di32, c_right)), c.negative, c_left);
    for (int i = 0; i < n; ++i)
      add(term[i].significand, hn::Add(hn::Sub(greatest, term[i].exponent), hn::Set(di32, row.term_right)),
          term[i].negative, row.term_left);
    return NarrowSums<4>::wide_magnitude(row, low, high, hn::Sub(greatest, hn::Set(di32, row.fraction_bits)));
  }
};

/// Floored sums in 32 bits. First sums have a significand in two's complement, and `negative` 0.
struct FlooredSums {
  static constexpr bool are_wide = false;

  static HWY_INLINE SignedMagnitude of(const AlignedRow& row, const LaneTerm* term, int n, const LaneAddend& c,
                                       V32 c_on_grid, int c_right, VI32 greatest) {
    const D32 d;
    const DI32 di;
    const DotModel& m = row.summed;
    const VI32 right = hn::Set(di, m.first_sum == 1 ? row.term_right : 0);
    const VI32 unit = hn::Sub(greatest, hn::Set(di, row.fraction_bits));
    const VI32 right_of_c = hn::Add(hn::Sub(greatest, c.own), hn::Set(di, c_right));
    const V32 c_kept = shifted_right(c_on_grid, right_of_c);
    VI32 sum;
    if (m.cut == Cut::opposed_complement) {
      sum = hn::BitCast(di, c_kept);
      for (int i = 0; i < n; ++i) {
        const V32 kept = shifted_right(term[i].significand, hn::Add(hn::Sub(greatest, term[i].exponent), right));
        const VI32 is_opposed = hn::BroadcastSignBit(hn::BitCast(di, hn::Xor(term[i].negative, c.negative)));
        sum = hn::Add(sum, hn::Xor(hn::BitCast(di, kept), is_opposed));
      }
      sum = with_sign(hn::BitCast(d, sum), c.negative);
    } else {
      const auto floored = [&](V32 magnitude, V32 sign, VI32 by)
                               HWY_ATTR { return hn::Shr(with_sign(magnitude, sign), hn::Min(by, hn::Set(di, 31))); };
      sum = floored(c_on_grid, c.negative, right_of_c);
      if (m.lost_c == LostC::dropped) {
        const auto is_lost =
            hn::And(hn::RebindMask(di, hn::Eq(c_kept, hn::Zero(d))), hn::Gt(unit, hn::Set(di, m.d.emin())));
        sum = hn::IfThenZeroElse(is_lost, sum);
      }
      for (int i = 0; i < n; ++i)
        sum = hn::Add(
            sum, floored(term[i].significand, term[i].negative, hn::Add(hn::Sub(greatest, term[i].exponent), right)));
    }
    return {hn::BitCast(d, hn::Abs(sum)), hn::BitCast(d, sum), unit};
  }
};

/// Products rounded to odd as they are cut and added in 32 bits; c is +0.
struct OddSums {
  static constexpr bool are_wide = false;

  static HWY_INLINE SignedMagnitude of(const AlignedRow& row, const LaneTerm* term, int n, const LaneAddend&, V32, int,
                                       VI32 greatest) {
    const D32 d;
    const DI32 di;
    VI32 sum = hn::Zero(di);
    for (int i = 0; i < n; ++i) {
      const V32 x = term[i].significand;
      const VI32 by = hn::Add(hn::Sub(greatest, term[i].exponent), hn::Set(di, row.term_right));
      const V32 kept = shifted_right(x, by), back = hn::BitCast(d, hn::Min(by, hn::Set(di, 31)));
      const V32 exact = hn::VecFromMask(d, hn::Eq(hn::Shl(kept, back), x));
      sum = hn::Add(sum, with_sign(hn::Or(kept, hn::AndNot(exact, hn::Set(d, 1))), term[i].negative));
    }
    return {hn::BitCast(d, hn::Abs(sum)), hn::BitCast(d, sum), hn::Sub(greatest, hn::Set(di, row.fraction_bits))};
  }
};

/// Rounds magnitude * 2^unit once to a row's output (round_output of arithmetic/specials.h, in lanes). `zero_sign`: the
/// sign of an exact zero.
class Rounder {
 public:
  explicit Rounder(const AlignedRow& row) : Rounder(row.summed, row.may_lose_all) {}
  /// `may_lose_all`: the last bit of a magnitude can be 32 bits or more below the result's last bit.
  Rounder(const DotModel& m, bool may_lose_all)
      : Rounder(m.output_via == OutputVia::fp32_nearest ? fp32_fields : m.d,
                m.output_via == OutputVia::fp32_nearest ? fp32_fields.fraction_bits : m.output_fraction_bits,
                m.output_via == OutputVia::fp32_nearest ? Rounding::nearest_even : m.output_rounding, m.overflow,
                m.underflow_sign, m.output_via, m.subnormals, may_lose_all) {
    if (m.output_via == OutputVia::fp32_nearest) dropped_ = fp32_fields.fraction_bits - m.d.fraction_bits;
  }
  Rounder(const FormatFields& d, int out, Rounding rounding, Overflow overflow, UnderflowSign underflow_sign,
          OutputVia via, Subnormals subnormals, bool may_lose_all)
      : d_(d),
        out_(out),
        // A result that is flushed by its value is rounded with one exponent more, from which it can round up to
        // normal.
        least_quantum_(d.emin() - out - (keeps_flushed_sign(subnormals) && flushes(subnormals, d) ? 1 : 0)),
        rounding_(rounding),
        overflow_(overflow),
        positive_underflow_(underflow_sign == UnderflowSign::positive),
        via_fp32_(via == OutputVia::fp32_truncated),
        flushes_(flushes(subnormals, d)),
        may_lose_all_(may_lose_all) {}

  HWY_INLINE V32 operator()(SignedMagnitude sum, V32 zero_sign) const {
    const D32 d;
    const DI32 di;
    const auto is_zero = hn::Eq(sum.magnitude, hn::Zero(d));
    V32 magnitude = sum.magnitude;
    const VI32 leading = hn::Add(sum.unit, leading_position(magnitude));
    if (HWY_UNLIKELY(via_fp32_)) {
      const VI32 cut = hn::Sub(hn::Sub(hn::Max(leading, hn::Set(di, -126)), hn::Set(di, 23)), sum.unit);
      const V32 places = hn::BitCast(d, hn::Min(hn::Max(cut, hn::Zero(di)), hn::Set(di, 31)));
      magnitude = hn::Shl(hn::Shr(magnitude, places), places);
      magnitude = hn::IfThenZeroElse(hn::RebindMask(d, hn::Gt(cut, hn::Set(di, 31))), magnitude);
    }
    const VI32 quantum = hn::Max(hn::Sub(leading, hn::Set(di, out_)), hn::Set(di, least_quantum_));
    const VI32 drop = hn::Sub(quantum, sum.unit);
    const V32 right = hn::BitCast(d, hn::Min(hn::Max(drop, hn::Zero(di)), hn::Set(di, 31)));
    const V32 left = hn::BitCast(d, hn::Min(hn::Max(hn::Neg(drop), hn::Zero(di)), hn::Set(di, 31)));
    const auto gone = hn::RebindMask(d, hn::Gt(drop, hn::Set(di, 31)));
    const V32 minus = hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(di, sum.sign)));
    V32 kept = hn::Shr(magnitude, right);
    if (may_lose_all_) kept = hn::IfThenZeroElse(gone, kept);
    V32 up = hn::Zero(d);  // all ones in lanes that move away from zero
    if (rounding_ != Rounding::toward_zero) {
      const V32 one = hn::Set(d, 1), gap = hn::Shl(one, right);
      V32 rest = hn::And(magnitude, hn::Sub(gap, one));
      if (may_lose_all_) rest = hn::IfThenElse(gone, magnitude, rest);
      switch (rounding_) {
        case Rounding::nearest_even:
        case Rounding::nearest_away: {
          const V32 tie = rounding_ == Rounding::nearest_even ? hn::And(kept, one) : one;
          up = hn::VecFromMask(d, hn::Gt(hn::Add(hn::Add(rest, rest), tie), gap));
          if (may_lose_all_) {  // where 32 bits are dropped, half of the result's last bit is 2^31
            const V32 half = hn::Sub(hn::Set(d, 0x80000000u), rounding_ == Rounding::nearest_even ? hn::Zero(d) : one);
            const auto beyond = hn::And(hn::Eq(drop, hn::Set(di, 32)), hn::RebindMask(di, hn::Gt(magnitude, half)));
            up = hn::IfThenElse(gone, hn::VecFromMask(d, hn::RebindMask(d, beyond)), up);
          }
          break;
        }
        case Rounding::odd: {
          const V32 is_even = hn::Sub(hn::And(kept, one), one);
          up = hn::And(is_even, hn::VecFromMask(d, hn::Ne(rest, hn::Zero(d))));
          break;
        }
        case Rounding::up: up = hn::AndNot(minus, hn::VecFromMask(d, hn::Ne(rest, hn::Zero(d)))); break;
        default: up = hn::And(minus, hn::VecFromMask(d, hn::Ne(rest, hn::Zero(d)))); break;
      }
    }
    kept = hn::Sub(hn::Shl(kept, left), up);
    const VI32 field = hn::Add(quantum, hn::Set(di, out_ + d_.bias - 1));
    V32 code = hn::Add(hn::BitCast(d, hn::ShiftLeftSame(field, out_)), kept);
    const uint32_t infinity = static_cast<uint32_t>(d_.top_exponent_field()) << out_;
    // Compared as signed numbers: results far below the least normal number have a negative code until they are
    // flushed.
    const auto reaches = hn::Gt(hn::BitCast(di, code), hn::Set(di, static_cast<int32_t>(infinity) - 1));
    const auto overflow = hn::RebindMask(d, hn::Or(hn::Gt(leading, hn::Set(di, d_.emax())), reaches));
    code = hn::IfThenElse(overflow, hn::Add(hn::Set(d, infinity), stays_finite(minus)), code);
    V32 sign = minus;
    if (HWY_UNLIKELY(flushes_)) {
      const auto is_tiny = hn::Lt(hn::BitCast(di, code), hn::Set(di, 1 << out_));
      code = hn::IfThenZeroElse(hn::RebindMask(d, is_tiny), code);
    }
    if (positive_underflow_) sign = hn::IfThenZeroElse(hn::Eq(code, hn::Zero(d)), sign);
    sign = hn::BitCast(d, hn::ShiftRight<31>(hn::IfThenElse(is_zero, zero_sign, sign)));
    const V32 result = hn::Or(hn::ShiftLeftSame(hn::IfThenZeroElse(is_zero, code), d_.fraction_bits - out_),
                              hn::ShiftLeftSame(sign, d_.width - 1));
    return HWY_UNLIKELY(dropped_) ? hn::ShiftRightSame(result, dropped_) : result;
  }

 private:
  /// -1 in lanes whose overflow becomes the greatest number, 0 where it becomes an infinity.
  HWY_INLINE V32 stays_finite(V32 minus) const {
    const D32 d;
    if (overflow_ == Overflow::infinity) return hn::Zero(d);
    if (overflow_ == Overflow::saturate || rounding_ == Rounding::toward_zero || rounding_ == Rounding::odd)
      return hn::Set(d, ~0u);
    if (rounding_ == Rounding::up) return minus;
    if (rounding_ == Rounding::down) return hn::Not(minus);
    return hn::Zero(d);
  }

  FormatFields d_;
  int out_, least_quantum_, dropped_ = 0;
  Rounding rounding_;
  Overflow overflow_;
  bool positive_underflow_, via_fp32_, flushes_, may_lose_all_;
};

/// fp32 numbers rounded to fp16, to nearest even; every NaN as `nan`.
HWY_INLINE V32 fp16_bits(VF32 x, uint64_t nan) {
  const D32 d;
  V32 worst = hn::Zero(d);
  const Decoder<true> decode(fp32_fields);
  const Decoded n = decode(hn::BitCast(d, x), worst);
  const VI32 unit = hn::Sub(hn::BitCast(DI32(), n.field), hn::Set(DI32(), 127 + 23));
  const Rounder round(fp16_fields, fp16_fields.fraction_bits, Rounding::nearest_even, Overflow::by_rounding,
                      UnderflowSign::kept, OutputVia::direct, Subnormals::kept, true);
  const V32 sign = hn::And(hn::ShiftRight<16>(n.sign), hn::Set(d, 0x8000));
  const V32 infinity = hn::Or(sign, hn::Set(d, static_cast<uint32_t>(fp16_fields.encode_infinity(false))));
  const V32 not_finite =
      hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(x)), hn::Set(d, static_cast<uint32_t>(nan)), infinity);
  return hn::IfThenElse(decode.are_special(worst), not_finite, round({n.significand, n.sign, unit}, n.sign));
}

HWY_INLINE VF32 rounded_to_fp16(VF32 x, uint64_t nan) { return FloatDecoder(fp16_fields)(fp16_bits(x, nan)); }

/// Whether the row reads operands and products as nearly all rows do, so that the shorter code (IsUsual) computes it.
inline bool is_usual(const AlignedRow& row) {
  const DotModel& m = row.summed;
  const auto reads = [&](const FormatFields& f) { return is_usual(f, m.subnormals, m.low_bits); };
  return reads(m.a) && reads(m.b) && reads(row.model.c) && reads(m.d) && m.product == ProductRule::unnormalized &&
         m.zero_rule != ZeroRule::operand;
}

/// What is the same for all dots of a batch. later_c decodes a c that is the result of the block before.
template <bool IsUsual>
struct LaneRules {
  explicit LaneRules(const AlignedRow& aligned)
      : row(aligned),
        m(aligned.summed),
        a(m.a, m.subnormals, m.low_bits),
        b(m.b, m.subnormals, m.low_bits),
        c(aligned.model.c, m.subnormals, m.low_bits),
        later_c(m.d, m.subnormals, m.low_bits),
        scale_a(m.scale_a),
        scale_b(m.scale_b),
        round(aligned) {}

  const AlignedRow& row;
  const DotModel& m;
  Decoder<IsUsual> a, b, c, later_c;
  AnyDecoder scale_a, scale_b;
  Rounder round;
};

/// The scales of one instruction, multiplied in pairs: those of scale s of dot j are at [s * lanes + j].
struct LaneScales {
  HWY_ALIGN uint32_t significand[max_instruction_k * max_lanes], nan[max_instruction_k * max_lanes];
  HWY_ALIGN int32_t exponent[max_instruction_k * max_lanes];

  template <class Rules>
  HWY_INLINE void set(const Rules& rules, int s, V32 code_a, V32 code_b) {
    const D32 d;
    const DI32 di;
    const size_t offset = size_t(s) * hn::Lanes(d);
    V32 worst_a = hn::Zero(d), worst_b = worst_a;
    const Decoded x = rules.scale_a(code_a, worst_a), y = rules.scale_b(code_b, worst_b);
    const auto special = hn::Or(rules.scale_a.are_special(worst_a), rules.scale_b.are_special(worst_b));
    hn::Store(hn::Mul(x.significand, y.significand), d, significand + offset);
    hn::Store(hn::VecFromMask(d, special), d, nan + offset);
    const VI32 sum = hn::BitCast(di, hn::Add(x.field, y.field));
    VI32 exponents = hn::Sub(sum, hn::Set(di, rules.m.scale_a.bias + rules.m.scale_b.bias));
    if (HWY_UNLIKELY(traits_of(rules.m).sums_groups() && rules.m.zero_rule == ZeroRule::operand))
      exponents = hn::Add(operand_rule(x, rules.m.scale_a), operand_rule(y, rules.m.scale_b));
    hn::Store(exponents, di, exponent + offset);
  }

  /// The exponent of a factor under ZeroRule::operand.
  static HWY_INLINE VI32 operand_rule(const Decoded& x, const FormatFields& f) {
    const D32 d;
    const DI32 di;
    const auto zero = hn::RebindMask(di, hn::Eq(x.significand, hn::Zero(d)));
    return hn::IfThenElse(zero, hn::Set(di, operand_rule_zero_exponent),
                          hn::Sub(hn::BitCast(di, x.field), hn::Set(di, f.bias)));
  }
};

/// Where infinities and NaNs are.
struct LanesSeen {
  V32 a, b;             ///< the greatest magnitudes (`worst` of the decoders)
  hn::Mask<D32> other;  ///< lanes in which c or a scale is an infinity or NaN
};

/// One instruction of a vector of dots. Source: the operands, decoded and as encodings. starts_dot: it is the first one
/// of its dot, whose c has the format of c and not of d.
template <class Sums, bool IsUsual, class Source>
class LaneDots {
 public:
  using Code = Codes;
  using Int = Ints;
  using Mask = LaneMask;
  using Seen = LanesSeen;
  using Term = LaneTerm;
  using Sum = SignedMagnitude;

  HWY_INLINE LaneDots(const LaneRules<IsUsual>& rules, const Source& source, bool starts_dot = false)
      : rules_(rules),
        m_(rules.m),
        row_(rules.row),
        source_(source),
        decode_a_(rules.a),
        decode_b_(rules.b),
        starts_dot_(starts_dot),
        is_normalized_(m_.product == ProductRule::normalized),
        reads_operands_(m_.zero_rule == ZeroRule::operand),
        sum_decides_(m_.zero_group == ZeroGroup::sum_zero),
        scale_block_(m_.scale_block),
        product_bias_(row_.product_bias),
        term_bits_(row_.term_bits),
        term_left_(row_.term_left),
        zero_exponent_(row_.zero_exponent) {}

  HWY_INLINE const DotModel& model() const { return m_; }
  HWY_INLINE LanesSeen nothing_seen() const {
    const D32 d;
    return {hn::Zero(d), hn::Zero(d), hn::MaskFromVec(hn::Zero(d))};
  }
  HWY_INLINE LaneMask specials(const LanesSeen& seen) const {
    return {hn::Or(seen.other, hn::Or(decode_a_.are_special(seen.a), decode_b_.are_special(seen.b)))};
  }
  HWY_INLINE void begin_block(int) const {}
  HWY_INLINE Ints alignment_exponent(const LaneTerm& t) const { return Ints(t.exponent); }
  HWY_INLINE Ints alignment_exponent(const LaneAddend& c) const { return Ints(c.exponent); }

  HWY_INLINE LaneTerm product(int i, LanesSeen& seen) const {
    const D32 d;
    const DI32 di;
    const Decoded x = source_.a(i, decode_a_, seen.a), y = source_.b(i, decode_b_, seen.b);
    LaneTerm t;
    t.significand = hn::Mul(x.significand, y.significand);
    t.negative = hn::Xor(x.sign, y.sign);
    const auto zero = hn::RebindMask(di, hn::Eq(t.significand, hn::Zero(d)));
    t.exponent = hn::Sub(hn::BitCast(di, hn::Add(x.field, y.field)), hn::Set(di, product_bias_));
    if (!IsUsual && is_normalized_) {
      const VI32 up = hn::Sub(hn::Set(di, term_bits_), leading_position(t.significand));
      t.significand = hn::Shl(t.significand, hn::BitCast(d, up));
      t.exponent = hn::Sub(hn::Add(t.exponent, hn::Set(di, 1)), up);
    }
    VI32 of_zero = hn::Set(di, zero_exponent_);
    if (!IsUsual && reads_operands_)
      of_zero = hn::Add(LaneScales::operand_rule(x, m_.a), LaneScales::operand_rule(y, m_.b));
    if constexpr (Source::has_scales) {
      if (scale_block_) {
        const size_t offset = size_t(source_.scale_of(i)) * hn::Lanes(d);
        const VI32 scale = hn::Load(di, source_.scales().exponent + offset);
        seen.other = hn::Or(seen.other, hn::MaskFromVec(hn::Load(d, source_.scales().nan + offset)));
        t.exponent = hn::Add(t.exponent, scale);
        if (!IsUsual && reads_operands_) of_zero = hn::Add(of_zero, scale);
      }
    }
    t.exponent = hn::IfThenElse(zero, of_zero, t.exponent);
    if constexpr (!Sums::are_wide) t.significand = hn::ShiftLeftSame(t.significand, term_left_);
    return t;
  }

  /// The products first..last-1 as one scaled term; their formats have neither infinities nor NaNs.
  HWY_INLINE LaneTerm group(int first, int last, LanesSeen& seen) const {
    const D32 d;
    const DI32 di;
    VI32 sum = hn::Zero(di);
    V32 any_product = hn::Zero(d);
    for (int i = first; i < last; ++i) {
      const Decoded x = source_.a(i, decode_a_, seen.a), y = source_.b(i, decode_b_, seen.b);
      const V32 places = hn::Sub(hn::Add(x.field, y.field), hn::Set(d, 2));  // fields begin with 1
      const V32 product = hn::Shl(hn::Mul(x.significand, y.significand), places);
      any_product = hn::Or(any_product, product);
      sum = hn::Add(sum, with_sign(product, hn::Xor(x.sign, y.sign)));
    }
    const size_t offset = size_t(source_.scale_of(first)) * hn::Lanes(d);
    const V32 scale = hn::Load(d, source_.scales().significand + offset);
    seen.other = hn::Or(seen.other, hn::MaskFromVec(hn::Load(d, source_.scales().nan + offset)));
    LaneTerm t;
    t.negative = hn::BitCast(d, sum);
    t.significand = hn::Mul(hn::BitCast(d, hn::Abs(sum)), scale);
    const V32 sum_or_any = sum_decides_ ? hn::BitCast(d, sum) : any_product;
    const auto zero = hn::Or(hn::Eq(scale, hn::Zero(d)), hn::Eq(sum_or_any, hn::Zero(d)));
    t.exponent = hn::Load(di, source_.scales().exponent + offset);
    if (IsUsual || !reads_operands_)
      t.exponent = hn::IfThenElse(hn::RebindMask(di, zero), hn::Set(di, zero_exponent_), t.exponent);
    if constexpr (!Sums::are_wide) t.significand = hn::ShiftLeftSame(t.significand, term_left_);
    return t;
  }

  /// The products first..last-1, cut below the greatest exponent among them, as one number of two's complement.
  HWY_INLINE LaneTerm first_sum(int first, int last, LanesSeen& seen) const {
    const D32 d;
    const DI32 di;
    LaneTerm term[max_instruction_k];
    LaneTerm sum{hn::Zero(d), hn::Zero(d), hn::Set(di, AlignedRow::no_exponent)};
    auto has_any = hn::MaskFromVec(hn::Zero(di));
    for (int i = 0; i < last - first; ++i) {
      term[i] = product(first + i, seen);
      const auto counts = hn::RebindMask(di, hn::Ne(term[i].significand, hn::Zero(d)));
      has_any = hn::Or(has_any, counts);
      sum.exponent = hn::Max(sum.exponent, hn::IfThenElse(counts, term[i].exponent, sum.exponent));
    }
    VI32 all = hn::Zero(di);
    const VI32 right = hn::Set(di, row_.term_right);
    for (int i = 0; i < last - first; ++i) {
      const VI32 by = hn::Add(hn::Sub(sum.exponent, term[i].exponent), right);
      const VI32 value = with_sign(term[i].significand, term[i].negative);
      all = hn::Add(all, hn::Shr(value, hn::Max(hn::Min(by, hn::Set(di, 31)), hn::Zero(di))));
    }
    sum.significand = hn::BitCast(d, all);
    sum.exponent = hn::IfThenElse(has_any, sum.exponent, hn::Set(di, zero_exponent_));
    return sum;
  }

  HWY_INLINE LaneAddend addend(bool is_first, Codes code, LanesSeen& seen) const {
    const D32 d;
    const DI32 di;
    const bool is_own = is_first && starts_dot_;  // the c of the dot, not a result
    const FormatFields& f = is_own ? row_.model.c : m_.d;
    const Decoder<IsUsual>& decode_c = is_own ? rules_.c : rules_.later_c;
    V32 worst = hn::Zero(d);
    const Decoded x = decode_c(code.v, worst);
    if (m_.special_scope == SpecialScope::block) seen.other = hn::Or(seen.other, decode_c.are_special(worst));
    LaneAddend c{x.significand, x.sign, {}, hn::Sub(hn::BitCast(di, x.field), hn::Set(di, f.bias))};
    const int least = least_exponent_of_c(m_, f);
    if (HWY_UNLIKELY(least < f.subnormal_exponent())) {  // a subnormal c is aligned by its leading bit
      const VI32 up = hn::Min(hn::Sub(hn::Set(di, f.fraction_bits), leading_position(c.significand)),
                              hn::Max(hn::Sub(c.own, hn::Set(di, least)), hn::Zero(di)));
      c.significand = hn::Shl(c.significand, hn::BitCast(d, up));
      c.own = hn::Sub(c.own, up);
    }
    // With as many fraction bits as the wider of the formats of c and d.
    if (HWY_UNLIKELY(f.fraction_bits < row_.c_bits))
      c.significand = hn::ShiftLeftSame(c.significand, row_.c_bits - f.fraction_bits);
    const auto zero = hn::RebindMask(di, hn::Eq(c.significand, hn::Zero(d)));
    c.exponent = hn::IfThenElse(zero, hn::Set(di, row_.zero_addend_exponent), hn::Max(c.own, hn::Set(di, least)));
    if (HWY_UNLIKELY(m_.c_guard_bits != 0)) {
      c.own = hn::Sub(c.own, hn::Set(di, m_.c_guard_bits));
      c.exponent = hn::IfThenElse(zero, c.exponent, hn::Sub(c.exponent, hn::Set(di, m_.c_guard_bits)));
    }
    return c;
  }
  HWY_INLINE void look_at_addend(Codes code, LanesSeen& seen) const {
    const Decoder<IsUsual>& decode_c = starts_dot_ ? rules_.c : rules_.later_c;
    V32 worst = hn::Zero(D32());
    decode_c(code.v, worst);
    seen.other = hn::Or(seen.other, decode_c.are_special(worst));
  }

  template <class Terms>
  HWY_NOINLINE Codes special_result(Terms, const LaneTerm*, int first, int n, bool is_first, Codes c_code) const {
    const D32 d;
    auto nan = hn::MaskFromVec(hn::Zero(d)), plus = nan, minus = nan, invalid = nan;
    const auto add_infinity = [&](hn::Mask<D32> where, V32 sign) HWY_ATTR {
      const auto negative = hn::RebindMask(d, hn::Lt(hn::BitCast(DI32(), sign), hn::Zero(DI32())));
      minus = hn::Or(minus, hn::And(where, negative));
      plus = hn::Or(plus, hn::AndNot(negative, where));
    };
    constexpr bool are_groups = Terms::source == Addend::Source::group;
    const int each = Terms::source == Addend::Source::first_sum ? m_.first_sum : 1;
    for (int i = first * each; i < HWY_MIN((first + n) * each, m_.k); ++i) {
      if constexpr (Source::has_scales) {
        if (m_.scale_block) {
          const int s = source_.scale_of(are_groups ? i * m_.group : i);
          nan = hn::Or(nan, hn::MaskFromVec(hn::Load(d, source_.scales().nan + size_t(s) * hn::Lanes(d))));
        }
      }
      if (are_groups) continue;  // their formats have neither infinities nor NaNs
      const V32 code_a = source_.a_code(i), code_b = source_.b_code(i);
      V32 worst_a = hn::Zero(d), worst_b = worst_a;
      const V32 sign = hn::Xor(rules_.a(code_a, worst_a).sign, rules_.b(code_b, worst_b).sign);
      if (hn::AllFalse(d, hn::Or(rules_.a.are_special(worst_a), rules_.b.are_special(worst_b)))) continue;
      const Classes x = rules_.a.classes(code_a), y = rules_.b.classes(code_b);
      invalid = hn::Or(invalid, hn::Or(hn::And(x.infinite, y.zero), hn::And(x.zero, y.infinite)));
      nan = hn::Or(nan, hn::Or(x.nan, y.nan));
      add_infinity(hn::Or(x.infinite, y.infinite), sign);
    }
    const Decoder<IsUsual>& decode_c = is_first && starts_dot_ ? rules_.c : rules_.later_c;
    const Classes c = decode_c.classes(c_code.v);
    invalid = hn::Or(invalid, hn::And(plus, minus));
    V32 ignored = hn::Zero(d);
    const V32 c_sign = decode_c(c_code.v, ignored).sign;
    add_infinity(c.infinite, c_sign);
    const auto encoded = [&](uint64_t code) HWY_ATTR { return hn::Set(d, static_cast<uint32_t>(code)); };
    const V32 infinity =
        hn::IfThenElse(minus, encoded(m_.d.encode_infinity(true)), encoded(m_.d.encode_infinity(false)));
    const auto meet = hn::And(plus, minus);
    if (!traits_of(m_).floors()) {
      nan = hn::Or(hn::Or(nan, c.nan), hn::Or(invalid, meet));
      return {hn::IfThenElse(nan, encoded(m_.nan), infinity)};
    }
    const V32 of_c = m_.nan_of_c == NanOfC::quieted
                         ? quieted(is_first && starts_dot_ ? row_.model.c : m_.d, c_code.v, c_sign)
                         : encoded(m_.nan);
    V32 result = hn::IfThenElse(meet, encoded(m_.invalid_nan), infinity);
    result = hn::IfThenElse(c.nan, of_c, result);
    result = hn::IfThenElse(invalid, encoded(m_.invalid_nan), result);
    return {hn::IfThenElse(nan, encoded(m_.nan), result)};
  }

  /// A NaN of format f as a quiet NaN of d (mmafuzz::quieted in lanes).
  HWY_INLINE V32 quieted(const FormatFields& f, V32 code, V32 sign) const {
    const D32 d;
    const FormatFields& to = m_.d;
    V32 payload =
        hn::And(hn::ShiftRightSame(code, f.ignored_low_bits), hn::Set(d, static_cast<uint32_t>(f.fraction_mask())));
    const int up = to.fraction_bits - f.fraction_bits;
    payload = up >= 0 ? hn::ShiftLeftSame(payload, up) : hn::ShiftRightSame(payload, -up);
    const V32 sign_bit = hn::ShiftRightSame(hn::And(sign, hn::Set(d, 0x80000000u)), 32 - to.width);
    return hn::Or(hn::Or(payload, sign_bit), hn::Set(d, static_cast<uint32_t>(to.encode_nan())));
  }

  HWY_INLINE SignedMagnitude cut_and_summed(const LaneTerm* term, int n, const LaneAddend& c, Ints greatest) const {
    const int left = HWY_MAX(0, row_.c_below - row_.c_bits), right = HWY_MAX(0, row_.c_bits - row_.c_below);
    const V32 on_grid = Sums::are_wide ? c.significand : hn::ShiftLeftSame(c.significand, left);
    return Sums::of(row_, term, n, c, on_grid, right, greatest.v);
  }

  template <class Terms>
  HWY_INLINE Codes rounded(Terms, const LaneTerm* term, int, int n, const LaneAddend& c, Ints,
                           SignedMagnitude sum) const {
    const D32 d;
    V32 zero_sign = hn::Zero(d);
    if (HWY_UNLIKELY(m_.zero_sign != ZeroSign::positive)) {
      V32 any_negative = c.negative, all_negative = c.negative;
      for (int i = 0; i < n; ++i) {
        any_negative = hn::Or(any_negative, term[i].negative);
        all_negative = hn::And(all_negative, term[i].negative);
      }
      // Only the top bit of `negative` is a sign.
      zero_sign =
          m_.zero_sign == ZeroSign::any_negative || m_.output_rounding == Rounding::down ? any_negative : all_negative;
      zero_sign = hn::And(zero_sign, hn::Set(d, 0x80000000u));
    }
    return {rules_.round(sum, zero_sign)};
  }

 private:
  const LaneRules<IsUsual>& rules_;
  const DotModel& m_;
  const AlignedRow& row_;
  const Source& source_;
  Decoder<IsUsual> decode_a_, decode_b_;
  bool starts_dot_, is_normalized_, reads_operands_, sum_decides_;
  int scale_block_, product_bias_, term_bits_, term_left_, zero_exponent_;
};

#define MMAFUZZ_KERNEL HWY_INLINE
// clang-format off: the others need the first
#include "arithmetic/kernels/fused_sum-inl.h"
#include "arithmetic/kernels/grouped_sum-inl.h"
#include "arithmetic/kernels/emulated_fp8-inl.h"
#include "arithmetic/kernels/floored_sum-inl.h"
#include "arithmetic/kernels/bulk_normalized-inl.h"
// clang-format on
#undef MMAFUZZ_KERNEL

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#endif
