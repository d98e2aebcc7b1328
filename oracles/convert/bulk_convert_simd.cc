// One vector lane is one element (arithmetic/convert_bulk.h in lanes).
#include "oracles/convert/bulk_convert_simd.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "oracles/convert/bulk_convert_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<uint32_t>;
using DI32 = hn::ScalableTag<int32_t>;
using D64 = hn::ScalableTag<uint64_t>;
using V32 = hn::Vec<D32>;
using VI32 = hn::Vec<DI32>;
using V64 = hn::Vec<D64>;

constexpr size_t max_lanes = HWY_MAX_BYTES / 4;

#if HWY_TARGET == HWY_SCALAR

/// The random bits of the elements in a vector: here of one lane, by scalar code.
class Draws {
 public:
  Draws(uint64_t seed, int random_bits) : seed_(seed), random_bits_(random_bits) {}
  HWY_INLINE V32 at_positions(uint64_t first) const { return hn::Set(D32(), random_word(seed_, first, random_bits_)); }
  HWY_INLINE V32 of_sources(V32 sources) const { return at_positions(hn::GetLane(sources)); }

 private:
  uint64_t seed_;
  int random_bits_;
};

#else

/// The low 64 bits of products, from 32-bit halves where the instruction set multiplies no more.
HWY_INLINE V64 multiply(V64 x, V64 y) {
#if HWY_TARGET <= HWY_AVX3
  return hn::Mul(x, y);
#else
  const D32 d;
  const V64 low = hn::MulEven(hn::BitCast(d, x), hn::BitCast(d, y));
  const V64 cross = hn::Add(hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(x)), hn::BitCast(d, y)),
                            hn::MulEven(hn::BitCast(d, x), hn::BitCast(d, hn::ShiftRight<32>(y))));
  return hn::Add(low, hn::ShiftLeft<32>(cross));
#endif
}

/// SplitMix64's finalizer, as CounterRng has it.
HWY_INLINE V64 mix(V64 z) {
  const D64 d;
  z = multiply(hn::Xor(z, hn::ShiftRight<30>(z)), hn::Set(d, 0xbf58476d1ce4e5b9u));
  z = multiply(hn::Xor(z, hn::ShiftRight<27>(z)), hn::Set(d, 0x94d049bb133111ebu));
  return hn::Xor(z, hn::ShiftRight<31>(z));
}

/// The random bits of the elements in a vector (random_word), as DrawBy says: at the positions from `first` on, or of
/// their sources.
class Draws {
 public:
  Draws(uint64_t seed, int random_bits) : seed_(CounterRng::stream(seed)), shift_(64 - random_bits) {}

  HWY_INLINE V32 at_positions(uint64_t first) const {
    const D64 d;
    const V64 index = hn::Add(hn::Iota(d, 0), hn::Set(d, first));
    return pack(words(index), words(hn::Add(index, hn::Set(d, hn::Lanes(d)))));
  }
  HWY_INLINE V32 of_sources(V32 sources) const {
    const D64 d;
    const hn::Half<D32> half;
    return pack(words(hn::PromoteTo(d, hn::LowerHalf(half, sources))),
                words(hn::PromoteTo(d, hn::UpperHalf(half, sources))));
  }

 private:
  HWY_INLINE V64 words(V64 index) const {
    const D64 d;
    const V64 state = mix(hn::Xor(hn::Set(d, seed_), multiply(index, hn::Set(d, CounterRng::index_factor))));
    return hn::ShiftRightSame(mix(hn::Add(state, hn::Set(d, CounterRng::golden))), shift_);
  }
  HWY_INLINE static V32 pack(V64 low, V64 high) {
    const D32 d;
    return hn::ConcatEven(d, hn::BitCast(d, high), hn::BitCast(d, low));
  }
  uint64_t seed_;
  int shift_;
};

#endif  // HWY_SCALAR

/// A constant for sources of either sign.
struct BySign {
  BySign(uint32_t positive, uint32_t negative)
      : positive_(hn::Set(D32(), positive)), difference_(hn::Set(D32(), positive ^ negative)) {}
  HWY_INLINE V32 operator()(V32 sign) const { return hn::Xor(positive_, hn::And(difference_, sign)); }
  V32 positive_, difference_;
};

template <Rounding rounding, bool with_flags>
class Lanes {
 public:
  explicit Lanes(const BulkPlan& p)
      : p_(p),
        overflow_(p.overflow[0], p.overflow[1]),
        zero_(p.zero[0], p.zero[1]),
        up_(p.round_away[0] ? ~0u : 0, p.round_away[1] ? ~0u : 0),
        least_not_tiny_(p.least_not_tiny[0], p.least_not_tiny[1]),
        hole_up_from_(p.hole_up_from[0], p.hole_up_from[1]) {}

  /// The results of convert_bulk, and their flags. `slow` is nonzero in lanes that need the scalar code.
  HWY_INLINE V32 convert(V32 source, V32 random, V32& flags, V32& slow) const {
    const D32 d;
    const DI32 di;
    const V32 magnitude = hn::And(source, hn::Set(d, 0x7fffffffu));
    const V32 sign = hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(di, source)));
    const V32 field = hn::ShiftRight<23>(magnitude), one = hn::Set(d, 1);
    const V32 implicit = hn::Min(field, one);
    const V32 significand = hn::Or(hn::And(magnitude, hn::Set(d, 0x7fffffu)), hn::ShiftLeft<23>(implicit));
    const VI32 exponent = hn::Add(hn::BitCast(di, hn::Max(field, one)), hn::Set(di, p_.rebias));
    const VI32 base = hn::Max(exponent, hn::Zero(di));
    VI32 full = hn::Add(hn::Sub(base, exponent), hn::Set(di, p_.shift));
    if (p_.hole_from != 0) full = hn::Add(full, hn::BroadcastSignBit(exponent));
    const V32 drop = hn::BitCast(d, hn::Min(full, hn::Set(di, 31)));
    const V32 weight = hn::Shl(one, drop), low_bits = hn::Sub(weight, one);
    V32 kept;
    if (rounding == Rounding::nearest_even) {
      const V32 odd = hn::And(hn::Shr(significand, drop), one);
      kept = hn::Shr(hn::Add(significand, hn::Add(hn::Sub(hn::ShiftRight<1>(weight), one), odd)), drop);
    } else if (rounding == Rounding::nearest_away) {
      kept = hn::Shr(hn::Add(significand, hn::ShiftRight<1>(weight)), drop);
    } else if (rounding == Rounding::odd) {
      const auto inexact = hn::Ne(hn::And(significand, low_bits), hn::Zero(d));
      kept = hn::Or(hn::Shr(significand, drop), hn::IfThenElseZero(inexact, one));
    } else if (rounding == Rounding::stochastic) {
      const V32 threshold = draw_threshold(significand, full);
      kept = hn::Add(hn::Shr(significand, drop), hn::IfThenElseZero(hn::Lt(random, threshold), one));
    } else {
      kept = hn::Shr(hn::Add(significand, hn::And(low_bits, up_(sign))), drop);
    }
    V32 code = hn::Add(hn::ShiftLeftSame(hn::BitCast(d, base), p_.to.fraction_bits), kept);
    V32 inexact = hn::Zero(d), tiny = hn::Zero(d), raised = hn::Zero(d);
    if (with_flags) {
      inexact = hn::VecFromMask(d, hn::Ne(hn::And(significand, low_bits), hn::Zero(d)));
      tiny = hn::VecFromMask(d, less(magnitude, least_not_tiny_(sign)));
      if (rounding == Rounding::stochastic && p_.tiny_drawn_from < p_.least_normal) {
        const auto up = hn::Lt(random, draw_threshold(significand, hn::Set(di, p_.tiny_drop)));
        tiny = hn::IfThenZeroElse(hn::And(up, less(hn::Set(d, p_.tiny_drawn_from - 1), magnitude)), tiny);
      }
    }
    if (p_.hole_from != 0) {
      const auto in_hole =
          hn::And(less(hn::Set(d, p_.hole_from), magnitude), less(magnitude, hn::Set(d, p_.least_normal)));
      V32 up = hn::IfThenElse(less(magnitude, hole_up_from_(sign)), hn::Zero(d), one);
      if (p_.hole_drawn && !hn::AllFalse(d, in_hole)) up = draws_out_of_hole(magnitude, random);
      code = hn::IfThenElse(in_hole, hn::Add(hn::Set(d, p_.hole_top), up), code);
      if (with_flags) inexact = hn::Or(inexact, hn::VecFromMask(d, in_hole));
    }
    if (p_.to.subnormals == SubnormalRule::absent) tiny = hn::Zero(d);
    if (p_.to.subnormals == SubnormalRule::flushed) {
      auto flushed = less(code, hn::Set(d, 1u << p_.to.fraction_bits));
      auto lost = hn::And(flushed, less(hn::Zero(d), code));
      if (p_.to.has(policy::flush_before)) {
        lost = hn::Or(lost, hn::And(less(magnitude, hn::Set(d, p_.least_normal)), less(hn::Zero(d), magnitude)));
        flushed = hn::Or(flushed, lost);
      }
      code = hn::IfThenZeroElse(flushed, code);
      if (with_flags) raised = hn::IfThenElseZero(lost, hn::Set(d, flag::underflow | flag::inexact));
    }
    const auto overflows = less(hn::Set(d, p_.greatest_code), code);
    V32 result = hn::Or(code, hn::And(sign, hn::Set(d, p_.sign)));
    if (p_.zero[1] != p_.sign) result = hn::IfThenElse(hn::Eq(code, hn::Zero(d)), zero_(sign), result);
    result = hn::IfThenElse(overflows, overflow_(sign), result);
    const auto nonzero = hn::Ne(magnitude, hn::Zero(d));
    if (with_flags) {
      raised = hn::Or(raised, hn::And(inexact, hn::Set(d, flag::inexact)));
      if (!p_.to.has(policy::underflow_exact)) tiny = hn::And(tiny, inexact);
      raised = hn::Or(raised, hn::And(hn::IfThenElseZero(nonzero, tiny), hn::Set(d, flag::underflow)));
      raised = hn::Or(raised, hn::IfThenElseZero(overflows, hn::Set(d, flag::overflow | flag::inexact)));
      if (p_.to.has(policy::overflow_before))
        raised = hn::Or(
            raised, hn::IfThenElseZero(less(hn::Set(d, p_.greatest_magnitude), magnitude), hn::Set(d, flag::overflow)));
      raised = hn::Or(raised, hn::IfThenElseZero(hn::And(nonzero, less(magnitude, hn::Set(d, 0x00800000u))),
                                                 hn::Set(d, flag::denormal_operand)));
    }
    const auto special = less(hn::Set(d, 0x7f7fffffu), magnitude);
    if (HWY_UNLIKELY(!hn::AllFalse(d, special))) {
      const auto nan = less(hn::Set(d, 0x7f800000u), magnitude);
      const V32 special_result =
          hn::IfThenElse(nan, BySign(p_.nan[0], p_.nan[1])(sign), BySign(p_.infinity[0], p_.infinity[1])(sign));
      result = hn::IfThenElse(special, special_result, result);
      if (with_flags) {
        const bool any_nan = !p_.to.has_nan() || p_.to.has(policy::any_nan_invalid);
        const V32 quiet = hn::And(magnitude, hn::Set(d, any_nan ? 0 : 0x400000u));
        const V32 nan_flags = hn::IfThenElseZero(hn::Eq(quiet, hn::Zero(d)), hn::Set(d, flag::invalid));
        raised = hn::IfThenElse(
            special, hn::IfThenElse(nan, nan_flags, BySign(p_.infinity_flags[0], p_.infinity_flags[1])(sign)), raised);
      }
    }
    if (p_.refuses_negative) {
      const auto number = less(magnitude, hn::Set(d, 0x7f800001u));
      auto negative = hn::And(hn::And(nonzero, number), hn::Ne(sign, hn::Zero(d)));
      if (p_.negatives_flushed) negative = hn::And(negative, hn::Ne(code, hn::Zero(d)));
      result = hn::IfThenElse(negative, hn::Set(d, p_.negative), result);
      if (with_flags) raised = hn::IfThenElse(negative, hn::Set(d, p_.negative_flags), raised);
    }
    if (with_flags) {
      flags = p_.to.has(policy::no_inexact) ? hn::And(raised, hn::Set(d, 0xffu & ~uint32_t{flag::inexact})) : raised;
      if (!p_.flagged) flags = hn::Zero(d);
    }
    slow = slow_lanes(magnitude);
    return p_.to.ignored_low_bits ? hn::ShiftLeftSame(result, p_.to.ignored_low_bits) : result;
  }

 private:
  /// x < y for numbers below 2^31, which compare faster with signs.
  HWY_INLINE static hn::Mask<D32> less(V32 x, V32 y) {
    const DI32 di;
    return hn::RebindMask(D32(), hn::Lt(hn::BitCast(di, x), hn::BitCast(di, y)));
  }

  /// mmafuzz::draw_threshold in lanes.
  HWY_INLINE V32 draw_threshold(V32 significand, VI32 full) const {
    const D32 d;
    const DI32 di;
    const V32 weight = hn::Shl(hn::Set(d, 1), hn::BitCast(d, hn::Min(full, hn::Set(di, 31))));
    const V32 discarded = hn::And(significand, hn::Sub(weight, hn::Set(d, 1)));
    const VI32 thirty_one = hn::Set(di, 31), zero = hn::Zero(di);
    const VI32 below = hn::Sub(full, hn::Set(di, 32));  // >= 0: the discarded part begins below 2^-32
    const V32 left = hn::BitCast(d, hn::Min(hn::Max(hn::Neg(below), zero), thirty_one));
    const V32 right = hn::BitCast(d, hn::Min(hn::Max(below, zero), thirty_one));
    const auto far = hn::RebindMask(d, hn::Gt(below, hn::Set(di, -1)));
    const V32 scaled = hn::IfThenElse(far, hn::Shr(significand, right), hn::Shl(discarded, left));
    const int unused = 32 - p_.rule.random_bits;
    V32 threshold = hn::ShiftRightSame(scaled, unused);
    if (p_.rule.threshold == Threshold::ceiling) {
      const V32 gone =
          hn::IfThenElseZero(far, hn::And(significand, hn::Sub(hn::Shl(hn::Set(d, 1), right), hn::Set(d, 1))));
      const V32 rest = hn::Or(gone, hn::And(scaled, hn::Set(d, (1u << unused) - 1)));
      threshold = hn::Add(threshold, hn::IfThenElseZero(hn::Ne(rest, hn::Zero(d)), hn::Set(d, 1)));
    }
    if (p_.rule.threshold == Threshold::nearest)
      threshold = hn::Add(threshold, hn::And(hn::ShiftRightSame(scaled, unused - 1), hn::Set(d, 1)));
    return threshold;
  }

  /// mmafuzz::draws_out_of_hole in lanes, as 1 or 0; valid for magnitudes in the hole.
  HWY_INLINE V32 draws_out_of_hole(V32 magnitude, V32 random) const {
    const D32 d;
#if HWY_TARGET == HWY_SCALAR
    return hn::Set(d, mmafuzz::draws_out_of_hole(p_, hn::GetLane(magnitude), hn::GetLane(random)) ? 1 : 0);
#else
    const D64 d64;
    const V32 octave = hn::Min(hn::Sub(hn::ShiftRight<23>(magnitude), hn::Set(d, static_cast<uint32_t>(p_.hole_field))),
                               hn::Set(d, 7));
    const V32 significand = hn::Or(hn::And(magnitude, hn::Set(d, 0x7fffffu)), hn::Set(d, 0x800000u));
    const V32 part = hn::Sub(hn::Shl(significand, octave), hn::Set(d, p_.hole_origin));
    const V64 parts = hn::BitCast(d64, part), draws = hn::BitCast(d64, random), lower = hn::Set(d64, 0xffffffffu);
    const V64 even = exceeds(hn::And(parts, lower), hn::And(draws, lower)),
              odd = exceeds(hn::ShiftRight<32>(parts), hn::ShiftRight<32>(draws));
    return hn::BitCast(d, hn::Or(even, hn::ShiftLeft<32>(odd)));
#endif
  }

#if HWY_TARGET != HWY_SCALAR
  /// The comparison of draws_out_of_hole in 64 bits, as 1 or 0.
  HWY_INLINE V64 exceeds(V64 part, V64 random) const {
    const D64 d;
    const V64 gap = hn::Set(d, p_.hole_gap), one = hn::Set(d, 1);
    const V64 scaled = hn::ShiftLeftSame(part, p_.rule.random_bits + 1);
    V64 drawn = hn::ShiftLeft<1>(hn::MulEven(hn::BitCast(D32(), random), hn::BitCast(D32(), gap)));
    if (p_.rule.threshold != Threshold::ceiling)
      drawn = hn::Sub(hn::Add(drawn, p_.rule.threshold == Threshold::floor ? hn::Add(gap, gap) : gap), one);
    const hn::RebindToSigned<D64> di;
    return hn::And(one, hn::VecFromMask(d, hn::RebindMask(d, hn::Lt(hn::BitCast(di, drawn), hn::BitCast(di, scaled)))));
  }
#endif

  /// is_slow in lanes, as nonzero or 0.
  HWY_INLINE V32 slow_lanes(V32 magnitude) const {
    const D32 d;
    if (p_.to.subnormals != SubnormalRule::absent) return hn::Zero(d);
    return hn::VecFromMask(d, less(magnitude, hn::Set(d, 0x00800000u)));
  }

  const BulkPlan& p_;
  BySign overflow_, zero_, up_, least_not_tiny_, hole_up_from_;
};

/// A vector of fp32 encodings from elements of 4 bytes (fp32) or 2 (bf16).
HWY_INLINE V32 load_sources(const uint8_t* sources, int bytes) {
  const D32 d;
  if (bytes == 4) return hn::LoadU(d, reinterpret_cast<const uint32_t*>(sources));
  return hn::ShiftLeft<16>(
      hn::PromoteTo(d, hn::LoadU(hn::Rebind<uint16_t, D32>(), reinterpret_cast<const uint16_t*>(sources))));
}

HWY_INLINE void store(V32 values, uint8_t* to, int bytes) {
  const DI32 di;
  const hn::Rebind<uint8_t, DI32> d8;
  const hn::Rebind<uint16_t, DI32> d16;
  const VI32 small = hn::BitCast(di, values);
  switch (bytes) {
    case 1: return hn::StoreU(hn::DemoteTo(d8, small), d8, to);
    case 2: return hn::StoreU(hn::DemoteTo(d16, small), d16, reinterpret_cast<uint16_t*>(to));
    default: return hn::StoreU(values, D32(), reinterpret_cast<uint32_t*>(to));
  }
}

/// Converts one vector of elements, the first of which is at `position`. `flags` is null without with_flags.
template <Rounding rounding, bool with_flags>
HWY_INLINE void convert_group(const BulkConversion& conversion, const Lanes<rounding, with_flags>& converter,
                              const Draws& draws, const uint8_t* sources, int source_bytes, uint64_t position,
                              uint8_t* to, uint8_t* flags) {
  const D32 d;
  const int bytes = conversion.result_bytes();
  const V32 source = load_sources(sources, source_bytes);
  V32 random = hn::Zero(d), raised = hn::Zero(d), slow;
  if (rounding == Rounding::stochastic)
    random = conversion.draw_by() == DrawBy::source
                 ? draws.of_sources(source_bytes == 4 ? source : hn::ShiftRight<16>(source))
                 : draws.at_positions(position);
  store(converter.convert(source, random, raised, slow), to, bytes);
  if (with_flags) store(raised, flags, 1);
  if (HWY_LIKELY(hn::AllTrue(d, hn::Eq(slow, hn::Zero(d))))) return;
  HWY_ALIGN uint32_t source_of[max_lanes], is_slow[max_lanes];
  hn::Store(source, d, source_of);
  hn::Store(slow, d, is_slow);
  for (size_t j = 0; j < hn::Lanes(d); ++j) {
    if (!is_slow[j]) continue;
    const BulkResult result = source_bytes == 4
                                  ? conversion.convert_one(source_of[j], position + j)
                                  : conversion.convert_one(static_cast<uint16_t>(source_of[j] >> 16), position + j);
    // Little-endian, as columns are.
    std::memcpy(to + j * static_cast<size_t>(bytes), &result.encoding, static_cast<size_t>(bytes));
    if (with_flags) flags[j] = result.flags;
  }
}

template <Rounding rounding, bool with_flags>
void convert_all(const BulkConversion& conversion, const uint8_t* sources, int source_bytes, size_t count,
                 uint64_t first, uint8_t* results, uint8_t* flags) {
  const size_t lanes = hn::Lanes(D32());
  const auto source_size = static_cast<size_t>(source_bytes),
             result_size = static_cast<size_t>(conversion.result_bytes());
  const Lanes<rounding, with_flags> converter(conversion.plan());
  const Draws draws(conversion.seed(), conversion.plan().rule.random_bits);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    convert_group<rounding, with_flags>(conversion, converter, draws, sources + i * source_size, source_bytes,
                                        first + i, results + i * result_size, with_flags ? flags + i : nullptr);
  if (i == count) return;
  HWY_ALIGN uint8_t rest[max_lanes * 4] = {}, rest_results[max_lanes * 4], rest_flags[max_lanes];
  std::memcpy(rest, sources + i * source_size, (count - i) * source_size);
  convert_group<rounding, with_flags>(conversion, converter, draws, rest, source_bytes, first + i, rest_results,
                                      rest_flags);
  std::memcpy(results + i * result_size, rest_results, (count - i) * result_size);
  if (with_flags) std::memcpy(flags + i, rest_flags, count - i);
}

template <bool with_flags>
void convert_in_mode(const BulkConversion& c, const uint8_t* sources, int source_bytes, size_t count, uint64_t first,
                     uint8_t* results, uint8_t* flags) {
  switch (c.plan().rule.rounding) {
    case Rounding::nearest_even:
      return convert_all<Rounding::nearest_even, with_flags>(c, sources, source_bytes, count, first, results, flags);
    case Rounding::nearest_away:
      return convert_all<Rounding::nearest_away, with_flags>(c, sources, source_bytes, count, first, results, flags);
    case Rounding::odd:
      return convert_all<Rounding::odd, with_flags>(c, sources, source_bytes, count, first, results, flags);
    case Rounding::stochastic:
      return convert_all<Rounding::stochastic, with_flags>(c, sources, source_bytes, count, first, results, flags);
    default:
      return convert_all<Rounding::toward_zero, with_flags>(c, sources, source_bytes, count, first, results,
                                                            flags);  // all directed modes
  }
}

void convert(const BulkConversion& c, const uint8_t* sources, int source_bytes, size_t count, uint64_t first,
             uint8_t* results, uint8_t* flags) {
  if (flags) return convert_in_mode<true>(c, sources, source_bytes, count, first, results, flags);
  convert_in_mode<false>(c, sources, source_bytes, count, first, results, flags);
}

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mmafuzz {

HWY_EXPORT(convert);

void BulkConversion::run(const uint8_t* sources, int source_bytes, size_t count, uint64_t first, uint8_t* results,
                         uint8_t* flags) const {
  HWY_DYNAMIC_DISPATCH(convert)(*this, sources, source_bytes, count, first, results, flags);
}

WideningTable::WideningTable(const FormatFields& from) : values_(size_t{1} << from.width) {
  for (uint64_t encoding = 0; encoding < values_.size(); ++encoding)
    values_[encoding] = static_cast<uint32_t>(convert_number(fp32_fields, decode(from, encoding), {}).encoding);
}

void WideningTable::run(const uint8_t* sources, size_t count, uint32_t* results) const {
  const size_t last = values_.size() - 1;  // encodings of fewer than 8 bits: the upper bits of the byte are ignored
  for (size_t i = 0; i < count; ++i) results[i] = values_[sources[i] & last];
}

void WideningTable::run(const uint16_t* sources, size_t count, uint32_t* results) const {
  for (size_t i = 0; i < count; ++i) results[i] = values_[sources[i]];
}

}  // namespace mmafuzz
#endif  // HWY_ONCE
