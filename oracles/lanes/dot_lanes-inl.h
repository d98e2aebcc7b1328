// What the vector kernels share: one vector lane is one dot. Operands are transposed so that lane j of a vector holds
// the same position of dot j, and decoded there, as integers (Decoder) or as host fp32 numbers (FloatDecoder). Included
// once per Highway target, after <hwy/highway.h>.
#include <cstring>

#include "arithmetic/dot_model.h"
#include "core/batch.h"

#if defined(MMAFUZZ_ORACLES_UNITS_DOT_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MMAFUZZ_ORACLES_UNITS_DOT_LANES_INL_H
#undef MMAFUZZ_ORACLES_UNITS_DOT_LANES_INL_H
#else
#define MMAFUZZ_ORACLES_UNITS_DOT_LANES_INL_H
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
constexpr size_t max_words = 4 * max_instruction_k / 4;  // 32-bit words of one operand of one dot

/// Copies words of `dots` rows so that out[w * lanes + j] is word w of dot j. Rows shorter than `words` are padded with
/// 0.
HWY_INLINE void transpose(const uint8_t* rows, size_t row_bytes, size_t dots, size_t words,
                          uint32_t* HWY_RESTRICT out) {
  const D32 d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN uint8_t padded[max_lanes * max_words * 4];
  const size_t chunks = (words + 3) / 4;
  if (row_bytes != chunks * 16 || dots != lanes) {
    for (size_t j = 0; j < lanes; ++j) {
      uint8_t* row = padded + j * chunks * 16;
      std::memset(row, 0, chunks * 16);
      if (j < dots) std::memcpy(row, rows + j * row_bytes, row_bytes);
    }
    rows = padded;
    row_bytes = chunks * 16;
  }
#if HWY_TARGET == HWY_SCALAR  // one lane: nothing to transpose
  std::memcpy(out, rows, words * 4);
#else
  const size_t blocks = lanes / 4;
  HWY_ALIGN uint32_t staged[max_words * max_lanes];
  for (size_t chunk = 0; chunk < chunks; ++chunk)
    for (size_t r = 0; r < 4; ++r)
      for (size_t b = 0; b < blocks; ++b)
        hwy::CopyBytes<16>(rows + (4 * b + r) * row_bytes + 16 * chunk, staged + ((4 * chunk + r) * blocks + b) * 4);
  const hn::Repartition<uint64_t, D32> d64;
  for (size_t chunk = 0; chunk < chunks; ++chunk) {
    const uint32_t* from = staged + chunk * 4 * lanes;
    const V32 v0 = hn::Load(d, from), v1 = hn::Load(d, from + lanes);
    const V32 v2 = hn::Load(d, from + 2 * lanes), v3 = hn::Load(d, from + 3 * lanes);
    const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, v0, v1)),
               low23 = hn::BitCast(d64, hn::InterleaveLower(d, v2, v3));
    const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, v0, v1)),
               high23 = hn::BitCast(d64, hn::InterleaveUpper(d, v2, v3));
    uint32_t* to = out + chunk * 4 * lanes;
    hn::Store(hn::BitCast(d, hn::InterleaveLower(d64, low01, low23)), d, to);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23)), d, to + lanes);
    hn::Store(hn::BitCast(d, hn::InterleaveLower(d64, high01, high23)), d, to + 2 * lanes);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23)), d, to + 3 * lanes);
  }
#endif
}

/// A decoded vector: significand, biased exponent field (at least 1 where subnormal), sign in the top bit.
struct Decoded {
  V32 significand, field, sign;
};

class Decoder {
 public:
  explicit Decoder(const FormatFields& f)
      : fraction_bits_(f.fraction_bits),
        ignored_(f.ignored_low_bits),
        sign_shift_(31 - f.ignored_low_bits - f.exponent_bits - f.fraction_bits),
        top_(f.top_exponent_field()),
        fraction_mask_(static_cast<uint32_t>(f.fraction_mask())),
        ieee_(f.specials == Specials::ieee),
        fn_(f.specials == Specials::fn) {}

  /// raw holds the encoding in its low bits, zeros above. Lanes with a special value are added to `special`.
  HWY_INLINE Decoded operator()(V32 raw, hn::Mask<D32>& special) const {
    const D32 d;
    const V32 code = hn::ShiftRightSame(raw, ignored_);
    const V32 fraction = hn::And(code, hn::Set(d, fraction_mask_));
    const V32 field = hn::And(hn::ShiftRightSame(code, fraction_bits_), hn::Set(d, top_));
    const auto normal = hn::Ne(field, hn::Zero(d));
    Decoded r;
    r.significand = hn::Or(fraction, hn::IfThenElseZero(normal, hn::Set(d, 1u << fraction_bits_)));
    r.field = hn::Max(field, hn::Set(d, 1));
    r.sign = hn::And(hn::ShiftLeftSame(raw, sign_shift_), hn::Set(d, 0x80000000u));
    if (ieee_) special = hn::Or(special, hn::Eq(field, hn::Set(d, top_)));
    if (fn_)
      special = hn::Or(special, hn::And(hn::Eq(field, hn::Set(d, top_)), hn::Eq(fraction, hn::Set(d, fraction_mask_))));
    return r;
  }

 private:
  int fraction_bits_, ignored_, sign_shift_;
  uint32_t top_, fraction_mask_;
  bool ieee_, fn_;
};

/// Element `part` of packed 32-bit words whose elements have `bytes` bytes.
HWY_INLINE V32 unpack(V32 word, int bytes, int part) {
  const D32 d;
  if (bytes == 4) return word;
  const V32 shifted = hn::ShiftRightSame(word, 8 * bytes * part);
  return hn::And(shifted, hn::Set(d, bytes == 2 ? 0xffffu : 0xffu));
}

template <class T>
HWY_INLINE void widen(const uint8_t* from, size_t count, uint32_t* to) {
  T narrow[max_lanes];
  std::memcpy(narrow, from, sizeof(T) * count);
  for (size_t j = 0; j < count; ++j) to[j] = narrow[j];
}

/// One encoding per case of a column of 1, 2 or 4 bytes, as 32-bit words.
HWY_INLINE void load_words(const Column& column, size_t first, size_t count, uint32_t* to) {
  switch (column.element_bytes()) {
    case 1: widen<uint8_t>(column.data() + first, count, to); break;
    case 2: widen<uint16_t>(column.data() + 2 * first, count, to); break;
    default: std::memcpy(to, column.data() + 4 * first, 4 * count); break;
  }
  for (size_t j = count; j < hn::Lanes(D32()); ++j) to[j] = 0;
}

/// The other way, for a column of 2 or 4 bytes.
HWY_INLINE void store_words(const uint32_t* from, size_t count, size_t first, Column& column) {
  if (column.element_bytes() == 4) {
    std::memcpy(column.data() + 4 * first, from, 4 * count);
  } else {
    uint16_t narrow[max_lanes];
    for (size_t j = 0; j < count; ++j) narrow[j] = static_cast<uint16_t>(from[j]);
    std::memcpy(column.data() + 2 * first, narrow, 2 * count);
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
  explicit FloatDecoder(const FormatFields& f)
      : ignored_(f.ignored_low_bits),
        sign_shift_(31 - f.ignored_low_bits - f.exponent_bits - f.fraction_bits),
        left_(23 - f.fraction_bits),
        magnitude_mask_(static_cast<uint32_t>(low_mask(f.exponent_bits + f.fraction_bits))),
        infinity_(static_cast<uint32_t>(f.top_exponent_field()) << 23),
        rebias_(f.exponent_bits < 8),
        rebias_by_(static_cast<uint32_t>(127 - f.bias) << 23),
        ieee_(f.specials == Specials::ieee),
        one_nan_(f.specials == Specials::fn || f.specials == Specials::fnuz),
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
    if (rebias_) {
      // A subnormal number is the one with a leading bit in front, less that bit: exact, and no operand is a subnormal
      // fp32 number, which would take Intel's processors a hundred cycles.
      const V32 leading = hn::Set(d, one_), rebiased = hn::Add(magnitude, hn::Set(d, rebias_by_));
      const VF32 led = hn::BitCast(df, hn::Add(rebiased, leading));
      const V32 subnormal = hn::BitCast(d, hn::Sub(led, hn::BitCast(df, hn::Set(d, rebias_by_ + one_))));
      bits = hn::IfThenElse(hn::Lt(magnitude, leading), subnormal, rebiased);
      if (ieee_) {
        const auto special = hn::Not(hn::Lt(magnitude, hn::Set(d, infinity_)));
        bits = hn::Or(bits, hn::IfThenElseZero(special, hn::Set(d, 0x7f800000u)));
      }
    }
    if (one_nan_) {
      const auto is_nan = hn::Eq(hn::And(code, hn::Set(d, nan_mask_)), hn::Set(d, nan_));
      bits = hn::Or(bits, hn::IfThenElseZero(is_nan, hn::Set(d, 0x7fc00000u)));
    }
    return hn::BitCast(df, hn::Or(bits, sign));
  }

 private:
  static constexpr uint32_t one_ = 1u << 23;  ///< of the exponent field

  int ignored_, sign_shift_, left_;
  uint32_t magnitude_mask_, infinity_;
  bool rebias_;
  uint32_t rebias_by_;
  bool ieee_, one_nan_;
  uint32_t nan_, nan_mask_;
};

/// Decodes k elements (at most max_instruction_k; +0 beyond the column's count) of `dots` dots: out[i * lanes + j] is
/// element i of dot j.
HWY_INLINE void load_floats(const FloatDecoder& decode, const Column& column, size_t first, size_t dots, int k,
                            float* HWY_RESTRICT out) {
  const size_t lanes = hn::Lanes(D32());
  const int bytes = column.element_bytes(), per_word = 4 / bytes;
  const int words = (k + per_word - 1) / per_word;
  HWY_ALIGN uint32_t packed[max_words * max_lanes];
  transpose(column.data() + first * column.stride(), column.stride(), dots, size_t(words), packed);
  for (int w = 0; w < words; ++w) {
    const V32 word = hn::Load(D32(), packed + size_t(w) * lanes);
    for (int part = 0; part < per_word; ++part)
      hn::Store(decode(unpack(word, bytes, part)), DF32(), out + size_t(w * per_word + part) * lanes);
  }
}

/// Bit j tells lane j.
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

/// One number per dot.
HWY_INLINE VF32 load_float(const FloatDecoder& decode, const Column& column, size_t first, size_t dots) {
  HWY_ALIGN uint32_t words[max_lanes];
  load_words(column, first, dots, words);
  return decode(hn::Load(D32(), words));
}

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#endif
