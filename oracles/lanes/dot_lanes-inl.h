// What the vector kernels share: one vector lane is one dot. Operands are transposed so that lane j of vector i holds
// element i of dot j, and decoded there, as integers (Decoder) or as host fp32 numbers (FloatDecoder). Included once
// per Highway target, after <hwy/highway.h>.
#include <cstring>

#include "arithmetic/dot_model.h"
#include "core/batch.h"

#if defined(MMAFUZZ_ORACLES_LANES_DOT_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MMAFUZZ_ORACLES_LANES_DOT_LANES_INL_H
#undef MMAFUZZ_ORACLES_LANES_DOT_LANES_INL_H
#else
#define MMAFUZZ_ORACLES_LANES_DOT_LANES_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<uint32_t>;
using DI32 = hn::ScalableTag<int32_t>;
using V32 = hn::Vec<D32>;
using VI32 = hn::Vec<DI32>;

constexpr size_t max_lanes = HWY_MAX_BYTES / 4;
constexpr size_t max_words = max_instruction_k;  // 32-bit words of one operand of one dot, one for each element at most

#if HWY_TARGET != HWY_SCALAR
/// A vector of blocks of 16 bytes that are `stride` bytes apart.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const uint8_t* from, size_t stride) {
#if HWY_HAVE_SCALABLE
  HWY_ALIGN uint8_t staged[max_lanes * 4];
  for (size_t b = 0; b < hn::Lanes(d) / 4; ++b) hwy::CopyBytes<16>(from + b * stride, staged + 16 * b);
  return hn::Load(d, reinterpret_cast<const uint32_t*>(staged));
#else
  if constexpr (hn::MaxLanes(d) == 4) {
    return hn::LoadU(d, reinterpret_cast<const uint32_t*>(from));
  } else {
    const hn::Half<D> half;
    const auto lower = load_blocks(half, from, stride);
    return hn::Combine(d, load_blocks(half, from + hn::MaxLanes(half) / 4 * stride, stride), lower);
  }
#endif
}
#endif

/// Transposes `dots` rows (here: the bytes of one operand of one dot): out[w * lanes + j] is the 32-bit word w of dot
/// j, for w < words. Rows are `stride` bytes apart, in memory that ends at `end`; `given` bytes of each are read, and
/// the words behind them are 0.
HWY_INLINE void transpose(const uint8_t* rows, const uint8_t* end, size_t stride, size_t given, size_t dots,
                          size_t words, uint32_t* HWY_RESTRICT out) {
  const D32 d;
  const size_t lanes = hn::Lanes(d);
  // A row is read in chunks of 16 bytes; bytes of the next row in the last chunk are masked.
  const size_t chunks = (given + 15) / 16;
  HWY_ALIGN uint8_t padded[max_lanes * max_words * 4];
  if (dots != lanes || size_t(end - rows) < (lanes - 1) * stride + chunks * 16) {
    std::memset(padded, 0, lanes * chunks * 16);
    for (size_t j = 0; j < dots; ++j) std::memcpy(padded + j * chunks * 16, rows + j * stride, given);
    rows = padded;
    stride = chunks * 16;
  }
#if HWY_TARGET == HWY_SCALAR  // one lane: nothing to transpose
  std::memcpy(out, rows, chunks * 16);
#else
  const hn::Repartition<uint64_t, D32> d64;
  for (size_t chunk = 0; chunk < chunks; ++chunk) {
    const uint8_t* from = rows + 16 * chunk;
    const V32 v[] = {load_blocks(d, from, 4 * stride), load_blocks(d, from + stride, 4 * stride),
                     load_blocks(d, from + 2 * stride, 4 * stride), load_blocks(d, from + 3 * stride, 4 * stride)};
    const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, v[0], v[1])),
               low23 = hn::BitCast(d64, hn::InterleaveLower(d, v[2], v[3]));
    const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, v[0], v[1])),
               high23 = hn::BitCast(d64, hn::InterleaveUpper(d, v[2], v[3]));
    uint32_t* to = out + chunk * 4 * lanes;
    hn::Store(hn::BitCast(d, hn::InterleaveLower(d64, low01, low23)), d, to);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23)), d, to + lanes);
    hn::Store(hn::BitCast(d, hn::InterleaveLower(d64, high01, high23)), d, to + 2 * lanes);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23)), d, to + 3 * lanes);
  }
#endif
  size_t w = given / 4;
  if (const size_t rest = given % 4; rest && w < words) {
    uint32_t* to = out + w++ * lanes;
    hn::Store(hn::And(hn::Load(d, to), hn::Set(d, (1u << (8 * rest)) - 1)), d, to);
  }
  for (; w < words; ++w) hn::Store(hn::Zero(d), d, out + w * lanes);
}

/// Transposes `count` elements of each of the `dots` dots from `first` on, from element `element` on. The column has
/// the first `given` of them; the others are 0.
HWY_INLINE void transpose(const Column& column, size_t first, size_t dots, int element, int given, int count,
                          uint32_t* HWY_RESTRICT out) {
  const int bytes = column.element_bytes();
  transpose(column.data() + first * column.stride() + size_t(element * bytes), column.end(), column.stride(),
            size_t(given * bytes), dots, size_t(count * bytes + 3) / 4, out);
}

/// A decoded vector: significand, biased exponent field (of a subnormal number the one that its value has), sign in the
/// top bit; the bits below the sign are undefined.
struct Decoded {
  V32 significand, field, sign;
};

/// The lanes in which an operand is NaN, infinite or zero.
struct Classes {
  hn::Mask<D32> nan, infinite, zero;
};

/// Whether Decoder<true> reads the format: one with gradual subnormal numbers, under rules that change no operand.
inline bool is_usual(const FormatFields& f, Subnormals subnormals, LowBits low) {
  return f.has_sign() && f.subnormals == SubnormalRule::gradual && !f.minus_zero_is_nan() && !flushes(subnormals, f) &&
         (f.ignored_low_bits == 0 || low == LowBits::ignored);
}

/// From encodings of up to 32 bits to integers, under a row's rules for subnormal numbers and low bits. Bits above an
/// encoding's sign bit are ignored.
template <bool IsUsual>
class Decoder {
 public:
  explicit Decoder(const FormatFields& f, Subnormals subnormals = Subnormals::kept, LowBits low = LowBits::ignored)
      : fraction_bits_(f.fraction_bits),
        ignored_(f.ignored_low_bits),
        sign_shift_(31 - f.ignored_low_bits - f.exponent_bits - f.fraction_bits),
        magnitude_mask_(static_cast<uint32_t>(f.magnitude_mask())),
        fraction_mask_(static_cast<uint32_t>(f.fraction_mask())),
        top_(static_cast<uint32_t>(f.top_exponent_field())),
        sign_mask_(f.has_sign() ? 0x80000000u : 0),
        least_field_(f.subnormals == SubnormalRule::gradual || f.subnormals == SubnormalRule::flushed ? 1 : 0),
        greatest_finite_(f.specials == Specials::ieee   ? (top_ << fraction_bits_) - 1
                         : f.specials == Specials::none ? 0x7fffffff
                         : f.specials == Specials::fnuz ? 0x7ffffffe
                                                        : magnitude_mask_ - 1),
        specials_(f.specials),
        has_subnormals_(f.subnormals != SubnormalRule::absent),
        flushes_(f.subnormals == SubnormalRule::flushed || (has_subnormals_ && flushes(subnormals, f))),
        drops_sign_(subnormals == Subnormals::flushed),
        rounds_low_(f.ignored_low_bits > 0 && low == LowBits::rounded),
        low_payload_(f.ignored_low_bits > 0 && low == LowBits::nan_payload) {}

  /// Decodes `raw`. `worst` is a running maximum of magnitudes, with which are_special() finds infinities and NaNs.
  HWY_INLINE Decoded operator()(V32 raw, V32& worst) const {
    const D32 d;
    const V32 code = hn::ShiftRightSame(!IsUsual && rounds_low_ ? without_low_bits(raw) : raw, ignored_);
    V32 magnitude = hn::And(code, hn::Set(d, magnitude_mask_));
    const V32 fraction = hn::And(magnitude, hn::Set(d, fraction_mask_));
    const V32 field = hn::ShiftRightSame(magnitude, fraction_bits_);
    const auto normal = hn::Ne(field, hn::Zero(d));
    const V32 implicit = hn::Set(d, 1u << fraction_bits_);
    Decoded r;
    r.significand = hn::Or(fraction, IsUsual || has_subnormals_ ? hn::IfThenElseZero(normal, implicit) : implicit);
    r.field = hn::Max(field, hn::Set(d, least_field_));
    r.sign = hn::ShiftLeftSame(raw, sign_shift_);
    if constexpr (!IsUsual) {
      r.sign = hn::And(r.sign, hn::Set(d, sign_mask_));
      if (specials_ == Specials::fnuz) {
        const auto is_nan = hn::And(hn::Eq(magnitude, hn::Zero(d)), hn::Ne(r.sign, hn::Zero(d)));
        magnitude = hn::IfThenElse(is_nan, hn::Set(d, 0x7fffffff), magnitude);
      }
      if (flushes_) {
        if (drops_sign_) r.sign = hn::IfThenElse(hn::Or(normal, hn::Eq(fraction, hn::Zero(d))), r.sign, hn::Zero(d));
        r.significand = hn::IfThenElseZero(normal, r.significand);
      }
    }
    worst = hn::Max(worst, magnitude);
    return r;
  }

  HWY_INLINE hn::Mask<D32> are_special(V32 worst) const { return hn::Gt(worst, hn::Set(D32(), greatest_finite_)); }

  HWY_INLINE Classes classes(V32 raw) const {
    const D32 d;
    V32 worst = hn::Zero(d);
    const Decoded x = (*this)(raw, worst);
    const auto special = are_special(worst);
    V32 payload = hn::And(worst, hn::Set(d, fraction_mask_));
    if (low_payload_) payload = hn::Or(payload, hn::And(raw, hn::Set(d, (1u << ignored_) - 1)));
    auto infinite = hn::And(special, hn::Eq(payload, hn::Zero(d)));
    if (specials_ != Specials::ieee) infinite = hn::MaskFromVec(hn::Zero(d));
    return {hn::AndNot(infinite, special), infinite, hn::AndNot(special, hn::Eq(x.significand, hn::Zero(d)))};
  }

 private:
  /// To nearest, ties away, but not where the exponent is all ones (arithmetic/specials.h).
  HWY_INLINE V32 without_low_bits(V32 raw) const {
    const D32 d;
    const V32 field = hn::And(hn::ShiftRightSame(raw, ignored_ + fraction_bits_), hn::Set(d, top_));
    const V32 half = hn::IfThenZeroElse(hn::Eq(field, hn::Set(d, top_)), hn::Set(d, 1u << (ignored_ - 1)));
    return hn::Add(raw, half);
  }

  int fraction_bits_, ignored_, sign_shift_;
  uint32_t magnitude_mask_, fraction_mask_, top_, sign_mask_, least_field_, greatest_finite_;
  Specials specials_;
  bool has_subnormals_, flushes_, drops_sign_, rounds_low_, low_payload_;
};
using AnyDecoder = Decoder<false>;

/// Element `part` of packed 32-bit words whose elements have `bytes` bytes.
HWY_INLINE V32 unpack(V32 word, int bytes, int part) {
  const D32 d;
  if (bytes == 4) return word;
  const V32 shifted = hn::ShiftRightSame(word, 8 * bytes * part);
  return hn::And(shifted, hn::Set(d, bytes == 2 ? 0xffffu : 0xffu));
}

/// The `count` encodings from `from` on, one for each lane, as 32-bit words; lanes beyond are 0.
template <class T>
HWY_INLINE V32 load_words(const T* from, size_t count) {
  const D32 d;
  const hn::Rebind<T, D32> dt;
  HWY_ALIGN T given[max_lanes] = {};
  if (count < hn::Lanes(d)) std::memcpy(given, from, sizeof(T) * count), from = given;
  if constexpr (sizeof(T) == 4) return hn::LoadU(d, from);
  else return hn::PromoteTo(d, hn::LoadU(dt, from));
}
HWY_INLINE V32 load_words(const Column& column, size_t first, size_t count) {
  const uint8_t* from = column.data() + first * size_t(column.element_bytes());
  switch (column.element_bytes()) {
    case 1: return load_words(from, count);
    case 2: return load_words(reinterpret_cast<const uint16_t*>(from), count);
    default: return load_words(reinterpret_cast<const uint32_t*>(from), count);
  }
}

/// Stores the first `count` words, each of which must fit in a T.
template <class T>
HWY_INLINE void store_words(V32 words, size_t count, T* to) {
  const D32 d;
  const hn::Rebind<T, DI32> dt;
  HWY_ALIGN T taken[max_lanes];
  T* target = count < hn::Lanes(d) ? taken : to;
  if constexpr (sizeof(T) == 4) hn::StoreU(words, d, target);
  else hn::StoreU(hn::DemoteTo(dt, hn::BitCast(DI32(), words)), dt, target);
  if (target == taken) std::memcpy(to, taken, sizeof(T) * count);
}
HWY_INLINE void store_words(V32 words, size_t count, size_t first, Column& column) {
  uint8_t* to = column.data() + first * size_t(column.element_bytes());
  switch (column.element_bytes()) {
    case 1: return store_words(words, count, to);
    case 2: return store_words(words, count, reinterpret_cast<uint16_t*>(to));
    default: return store_words(words, count, reinterpret_cast<uint32_t*>(to));
  }
}

// Kernels in the host's floating point need its fused multiply-add (and oracles/lanes/host_float.h).
#undef MMAFUZZ_HOST_FMA
#define MMAFUZZ_HOST_FMA (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)

using DF32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<DF32>;

/// From encodings to fp32 numbers, for formats that fits_fp32 (oracles/lanes/host_float.h) accepts.
class FloatDecoder {
 public:
  explicit FloatDecoder(const FormatFields& f, LowBits low = LowBits::ignored)
      : ignored_(f.ignored_low_bits),
        payload_mask_(low == LowBits::nan_payload ? static_cast<uint32_t>(low_mask(f.ignored_low_bits)) : 0),
        sign_shift_(31 - f.ignored_low_bits - f.exponent_bits - f.fraction_bits),
        left_(23 - f.fraction_bits),
        magnitude_mask_(static_cast<uint32_t>(f.magnitude_mask())),
        infinity_(static_cast<uint32_t>(f.top_exponent_field()) << 23),
        is_narrow_(f.exponent_bits < 8),
        rebias_by_(static_cast<uint32_t>(127 - f.bias) << 23),
        subnormal_factor_(f.subnormals == SubnormalRule::gradual   ? 1
                          : f.subnormals == SubnormalRule::literal ? 0.5f
                                                                   : 0),
        has_infinity_(f.specials == Specials::ieee),
        has_one_nan_(f.specials == Specials::fn || f.specials == Specials::fnuz),
        nan_(static_cast<uint32_t>(f.specials == Specials::fn ? magnitude_mask_ : f.sign_bit())),
        nan_mask_(
            static_cast<uint32_t>(f.specials == Specials::fn ? magnitude_mask_ : magnitude_mask_ | f.sign_bit())) {}

  /// raw holds the encoding in its low bits, zeros above.
  HWY_INLINE VF32 operator()(V32 raw) const {
    const D32 d;
    const DF32 df;
    const V32 code = hn::ShiftRightSame(raw, ignored_);
    const V32 sign = hn::And(hn::ShiftLeftSame(raw, sign_shift_), hn::Set(d, 0x80000000u));
    const V32 magnitude = hn::ShiftLeftSame(hn::And(code, hn::Set(d, magnitude_mask_)), left_);
    V32 bits = magnitude;
    if (is_narrow_) {
      // A subnormal number is the one with a leading bit in front, less that bit: exact, and no operand is a subnormal
      // fp32 number, which would take Intel's processors a hundred cycles.
      const V32 leading = hn::Set(d, least_field_), rebiased = hn::Add(magnitude, hn::Set(d, rebias_by_));
      const VF32 led = hn::BitCast(df, hn::Add(rebiased, leading));
      VF32 subnormal = hn::Sub(led, hn::BitCast(df, hn::Set(d, rebias_by_ + least_field_)));
      if (subnormal_factor_ != 1) subnormal = hn::Mul(subnormal, hn::Set(df, subnormal_factor_));
      bits = hn::IfThenElse(hn::Lt(magnitude, leading), hn::BitCast(d, subnormal), rebiased);
      if (has_infinity_) {
        const auto special = hn::Not(hn::Lt(magnitude, hn::Set(d, infinity_)));
        bits = hn::Or(bits, hn::IfThenElseZero(special, hn::Set(d, 0x7f800000u)));
      }
    }
    if (payload_mask_) {
      const auto low = hn::Ne(hn::And(raw, hn::Set(d, payload_mask_)), hn::Zero(d));
      const auto is_nan = hn::And(low, hn::Not(hn::Lt(magnitude, hn::Set(d, infinity_))));
      bits = hn::Or(bits, hn::IfThenElseZero(is_nan, hn::Set(d, 0x7fc00000u)));
    }
    if (has_one_nan_) {
      const auto is_nan = hn::Eq(hn::And(code, hn::Set(d, nan_mask_)), hn::Set(d, nan_));
      bits = hn::Or(bits, hn::IfThenElseZero(is_nan, hn::Set(d, 0x7fc00000u)));
    }
    return hn::BitCast(df, hn::Or(bits, sign));
  }

 private:
  static constexpr uint32_t least_field_ = 1u << 23;  ///< 1 in the exponent field of fp32

  int ignored_;
  uint32_t payload_mask_;  ///< ignored bits that make a NaN of an infinity
  int sign_shift_, left_;
  uint32_t magnitude_mask_, infinity_;
  bool is_narrow_;  ///< the exponents are those of fp32 only after adding rebias_by_
  uint32_t rebias_by_;
  float subnormal_factor_;  ///< a subnormal number divided by what IEEE 754 reads
  bool has_infinity_, has_one_nan_;
  uint32_t nan_, nan_mask_;
};

/// Decodes `count` elements, at most max_instruction_k, of each of the `dots` dots from `first` on: out[i * lanes + j]
/// is element element + i of dot first + j. The column has the first `given` of them; the others are +0.
HWY_INLINE void load_floats(const FloatDecoder& decode, const Column& column, size_t first, size_t dots, int element,
                            int given, int count, float* HWY_RESTRICT out) {
  const size_t lanes = hn::Lanes(D32());
  const int bytes = column.element_bytes(), per_word = 4 / bytes;
  HWY_ALIGN uint32_t packed[max_words * max_lanes];
  transpose(column, first, dots, element, given, count, packed);
  for (int w = 0; w < (count + per_word - 1) / per_word; ++w) {
    const V32 word = hn::Load(D32(), packed + size_t(w) * lanes);
    for (int part = 0; part < per_word; ++part)
      hn::Store(decode(unpack(word, bytes, part)), DF32(), out + size_t(w * per_word + part) * lanes);
  }
}

#if MMAFUZZ_HOST_FMA
using DF64 = hn::ScalableTag<double>;
using VF64 = hn::Vec<DF64>;
using MF64 = hn::Mask<DF64>;
using DF32Half = hn::Rebind<float, DF64>;  // as many lanes as a vector of fp64 numbers

/// load_floats for fp64 elements.
HWY_INLINE void load_doubles(const Column& column, size_t first, size_t dots, int element, int given, int count,
                             double* to) {
  const DF64 d;
  const hn::RebindToSigned<DF64> di;
  const size_t lanes = hn::Lanes(d);
  const uint8_t* from = column.data() + first * column.stride() + size_t(element) * 8;
  if (dots == lanes) {
    const auto rows = hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<int64_t>(column.stride())));
    if (column.stride() == 8) {
      hn::Store(hn::LoadU(d, reinterpret_cast<const double*>(from)), d, to);
    } else {
      for (int i = 0; i < given; ++i)
        hn::Store(hn::GatherOffset(d, reinterpret_cast<const double*>(from + 8 * i), rows), d, to + size_t(i) * lanes);
    }
  } else {
    for (size_t j = 0; j < lanes; ++j)
      for (int i = 0; i < given; ++i) {
        to[size_t(i) * lanes + j] = 0;
        if (j < dots) std::memcpy(to + size_t(i) * lanes + j, from + j * column.stride() + 8 * i, 8);
      }
  }
  for (size_t i = size_t(given) * lanes; i < size_t(count) * lanes; ++i) to[i] = 0;
}

#endif

/// The mask as bits: bit j is lane j.
template <class D>
HWY_INLINE uint64_t mask_bits(D d, hn::Mask<D> mask) {
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  uint64_t bits;
  std::memcpy(&bits, bytes, 8);
  return bits;
}

/// The encodings of fp32 numbers, every NaN as `nan`.
HWY_INLINE V32 canonical_bits(VF32 r, uint64_t nan) {
  const D32 d;
  return hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(r)), hn::Set(d, static_cast<uint32_t>(nan)), hn::BitCast(d, r));
}

/// One number for each of the `dots` dots from `first` on.
HWY_INLINE VF32 load_float(const FloatDecoder& decode, const Column& column, size_t first, size_t dots) {
  return decode(load_words(column, first, dots));
}

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#endif
