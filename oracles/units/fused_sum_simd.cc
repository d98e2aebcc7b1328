// One vector lane is one dot. Operands are transposed so that lane j of a vector holds the same position of dot j.
#include "oracles/units/fused_sum_simd.h"

#include <cstring>

#include "arithmetic/evaluate_dot.h"
#include "oracles/units/function_unit.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "oracles/units/fused_sum_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

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

/// Copies words of `dots` rows so that out[w * lanes + j] is word w of dot j. Rows shorter than `words` are padded with 0.
HWY_INLINE void transpose(const uint8_t* rows, size_t row_bytes, size_t dots, size_t words, uint32_t* HWY_RESTRICT out) {
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
    const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, v0, v1)), low23 = hn::BitCast(d64, hn::InterleaveLower(d, v2, v3));
    const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, v0, v1)), high23 = hn::BitCast(d64, hn::InterleaveUpper(d, v2, v3));
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
      : fraction_bits_(f.fraction_bits), ignored_(f.ignored_low_bits),
        sign_shift_(31 - f.ignored_low_bits - f.exponent_bits - f.fraction_bits), top_(f.top_exponent_field()),
        fraction_mask_(static_cast<uint32_t>(f.fraction_mask())), ieee_(f.specials == Specials::ieee),
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
    if (fn_) special = hn::Or(special, hn::And(hn::Eq(field, hn::Set(d, top_)), hn::Eq(fraction, hn::Set(d, fraction_mask_))));
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

/// Position of the leading one, for v != 0.
HWY_INLINE VI32 leading_position(V32 v) {
  const DI32 di;
  const hn::Repartition<float, D32> df;
  // Clearing all but the top bits keeps the conversion to float from rounding up to the next power of two.
  const V32 top = hn::AndNot(hn::ShiftRight<1>(v), v);
  // Halve first: the top bit must not read as a sign. Bit 0 is lost, so it is put back as the sign-free value 0.5.
  const auto half = hn::ConvertTo(df, hn::BitCast(di, hn::ShiftRight<1>(top)));
  const V32 biased = hn::ShiftRight<23>(hn::BitCast(D32(), half));
  const auto large = hn::Ne(biased, hn::Zero(D32()));
  const VI32 position = hn::Sub(hn::BitCast(di, biased), hn::Set(di, 126));
  return hn::IfThenElseZero(hn::RebindMask(di, large), position);
}

struct Shape {
  int bytes;       ///< per element
  size_t words;    ///< 32-bit words of the padded operand
};

/// Evaluates up to one vector of dots; bit j of the returned mask bytes tells that dot j met a special value.
template <class StoreResult>
HWY_INLINE void run_group(const DotModel& m, const Decoder& decode_a, const Decoder& decode_b, const Shape& shape,
                          const uint32_t* a_words, const uint32_t* b_words, const uint32_t* c_in, const StoreResult& store) {
  const D32 d;
  const DI32 di;
  const size_t lanes = hn::Lanes(d);
  const int per_word = 4 / shape.bytes;
  const int f = m.fraction_bits;
  const int product_fraction = m.a.fraction_bits + m.b.fraction_bits;
  const int product_left = HWY_MAX(0, f - product_fraction), product_right = HWY_MAX(0, product_fraction - f);
  const int c_fraction = m.c.fraction_bits;
  const int c_left = HWY_MAX(0, f - c_fraction), c_right = HWY_MAX(0, c_fraction - f);
  const int product_bias = m.a.bias + m.b.bias;
  const VI32 zero_exponent = hn::Set(di, m.zero_exponent);
  const VI32 last_shift = hn::Set(di, 31);
  const int out = m.output_fraction_bits;

  auto special = hn::MaskFromVec(hn::Zero(d));
  V32 accumulator = hn::Load(d, c_in);
  const Decoder decode_c(m.c);
  const int sign_position = m.d.width - 1;
  const bool nearest = m.output_rounding == Rounding::nearest_even;
  HWY_ALIGN uint32_t significands[max_instruction_k * max_lanes], signs[max_instruction_k * max_lanes];
  HWY_ALIGN int32_t exponents[max_instruction_k * max_lanes];

  const int words_per_block = m.block / per_word;
  for (int first = 0; first < m.k; first += m.block) {
    const Decoded c = decode_c(accumulator, special);
    const auto c_zero = hn::Eq(c.significand, hn::Zero(d));
    const VI32 c_exponent = hn::IfThenElse(hn::RebindMask(di, c_zero), zero_exponent,
                                           hn::Sub(hn::BitCast(di, c.field), hn::Set(di, m.c.bias)));
    VI32 greatest = c_exponent;
    size_t slot = 0;
    for (int w = 0; w < words_per_block; ++w) {
      const size_t at = (size_t(first / per_word) + size_t(w)) * lanes;
      const V32 word_a = hn::Load(d, a_words + at), word_b = hn::Load(d, b_words + at);
      for (int part = 0; part < per_word; ++part, ++slot) {
        const Decoded x = decode_a(unpack(word_a, shape.bytes, part), special);
        const Decoded y = decode_b(unpack(word_b, shape.bytes, part), special);
        const V32 significand = hn::Mul(x.significand, y.significand);
        const auto zero = hn::Eq(significand, hn::Zero(d));
        const VI32 exponent = hn::IfThenElse(hn::RebindMask(di, zero), zero_exponent,
                                             hn::Sub(hn::BitCast(di, hn::Add(x.field, y.field)), hn::Set(di, product_bias)));
        greatest = hn::Max(greatest, exponent);
        hn::Store(hn::ShiftLeftSame(significand, product_left), d, significands + slot * lanes);
        hn::Store(hn::Xor(x.sign, y.sign), d, signs + slot * lanes);
        hn::Store(exponent, di, exponents + slot * lanes);
      }
    }
    // A block of 16 terms below 2^27 and c may reach 2,212,495,868: two halves keep each sum inside 31 bits.
    VI32 sum[2];
    const VI32 c_shift = hn::Min(hn::Add(hn::Sub(greatest, c_exponent), hn::Set(di, c_right)), last_shift);
    const VI32 c_kept = hn::BitCast(di, hn::Shr(hn::ShiftLeftSame(c.significand, c_left), hn::BitCast(d, c_shift)));
    const VI32 c_sign = hn::BroadcastSignBit(hn::BitCast(di, c.sign));
    sum[0] = hn::Sub(hn::Xor(c_kept, c_sign), c_sign);
    sum[1] = hn::Zero(di);
    for (size_t i = 0; i < slot; ++i) {
      const V32 significand = hn::Load(d, significands + i * lanes);
      const VI32 distance = hn::Sub(greatest, hn::Load(di, exponents + i * lanes));
      const VI32 shift = hn::Min(hn::Add(distance, hn::Set(di, product_right)), last_shift);
      const VI32 kept = hn::BitCast(di, hn::Shr(significand, hn::BitCast(d, shift)));
      const VI32 sign = hn::BroadcastSignBit(hn::BitCast(di, hn::Load(d, signs + i * lanes)));
      sum[i & 1] = hn::Add(sum[i & 1], hn::Sub(hn::Xor(kept, sign), sign));
    }
    // The sign of a 33-bit sum is that of the floored mean of its halves; the magnitude fits in 32 unsigned bits.
    const VI32 mean = hn::Add(hn::And(sum[0], sum[1]), hn::ShiftRight<1>(hn::Xor(sum[0], sum[1])));
    const VI32 negative = hn::BroadcastSignBit(mean);
    const V32 magnitude = hn::BitCast(d, hn::Sub(hn::Xor(hn::Add(sum[0], sum[1]), negative), negative));

    // Round to `out` fraction bits (arithmetic/round.h in lanes).
    const VI32 unit = hn::Sub(greatest, hn::Set(di, f));
    const VI32 leading = hn::Add(unit, leading_position(magnitude));
    const VI32 quantum = hn::Max(hn::Sub(leading, hn::Set(di, out)), hn::Set(di, m.d.emin() - out));
    const VI32 drop = hn::Sub(quantum, unit);
    const VI32 right = hn::Min(hn::Max(drop, hn::Zero(di)), last_shift);
    const VI32 left = hn::Min(hn::Max(hn::Neg(drop), hn::Zero(di)), last_shift);
    const auto gone = hn::Gt(drop, last_shift);
    V32 addend = hn::Zero(d);
    if (nearest) {
      // Half a quantum, less one where the kept part is even; nothing where no bit is dropped. Beyond 30 dropped bits (sums
      // far below the least subnormal) the addition could overflow: those lanes go through the scalar kernel.
      const V32 odd = hn::And(hn::Shr(magnitude, hn::BitCast(d, right)), hn::Set(d, 1));
      const V32 half = hn::Shr(hn::Shl(hn::Set(d, 1), hn::BitCast(d, right)), hn::Set(d, 1));
      const V32 below_half = hn::Sub(hn::Add(half, odd), hn::Set(d, 1));
      addend = hn::IfThenElseZero(hn::Ne(half, hn::Zero(d)), below_half);
      special = hn::Or(special, hn::RebindMask(d, hn::Gt(drop, hn::Set(di, 30))));
    }
    const V32 kept = hn::IfThenZeroElse(
        hn::RebindMask(d, gone), hn::Shl(hn::Shr(hn::Add(magnitude, addend), hn::BitCast(d, right)), hn::BitCast(d, left)));
    const VI32 field = hn::Add(quantum, hn::Set(di, out + m.d.bias - 1));
    V32 code = hn::Add(hn::BitCast(d, hn::ShiftLeftSame(field, out)), kept);
    const uint32_t infinity = static_cast<uint32_t>(m.d.top_exponent_field()) << out;
    const auto overflow = hn::Or(hn::RebindMask(d, hn::Gt(leading, hn::Set(di, m.d.emax()))), hn::Not(hn::Lt(code, hn::Set(d, infinity))));
    code = hn::IfThenElse(overflow, hn::Set(d, infinity), code);
    const V32 sign = hn::ShiftLeftSame(hn::And(hn::BitCast(d, negative), hn::Set(d, 1)), sign_position);
    code = hn::Or(hn::ShiftLeftSame(code, m.d.fraction_bits - out), sign);
    accumulator = hn::IfThenZeroElse(hn::Eq(magnitude, hn::Zero(d)), code);
  }
  store(accumulator, special);
}

/// One encoding per case of a column of 2 or 4 bytes, as 32-bit words.
HWY_INLINE void load_words(const Column& column, size_t first, size_t count, uint32_t* to) {
  if (column.element_bytes() == 4) {
    std::memcpy(to, column.data() + 4 * first, 4 * count);
  } else {
    uint16_t narrow[max_lanes] = {};
    std::memcpy(narrow, column.data() + 2 * first, 2 * count);
    for (size_t j = 0; j < count; ++j) to[j] = narrow[j];
  }
  for (size_t j = count; j < hn::Lanes(D32()); ++j) to[j] = 0;
}

HWY_INLINE void store_words(const uint32_t* from, size_t count, size_t first, Column& column) {
  if (column.element_bytes() == 4) {
    std::memcpy(column.data() + 4 * first, from, 4 * count);
  } else {
    uint16_t narrow[max_lanes];
    for (size_t j = 0; j < count; ++j) narrow[j] = static_cast<uint16_t>(from[j]);
    std::memcpy(column.data() + 2 * first, narrow, 2 * count);
  }
}

void run_batch(const DotModel& m, const Batch& batch, Column& results) {
  const D32 d;
  const size_t lanes = hn::Lanes(d);
  const int bytes = batch.a().element_bytes();
  const Shape shape{bytes, static_cast<size_t>(m.k * bytes / 4)};
  const Decoder decode_a(m.a), decode_b(m.b);
  HWY_ALIGN uint32_t a_words[max_words * max_lanes], b_words[max_words * max_lanes], c[max_lanes], result[max_lanes];
  HWY_ALIGN uint32_t special_lanes[max_lanes];
  DotCase one(batch.op());
  for (size_t first = 0; first < batch.size(); first += lanes) {
    const size_t dots = HWY_MIN(lanes, batch.size() - first);
    transpose(batch.a().data() + first * batch.a().stride(), batch.a().stride(), dots, shape.words, a_words);
    transpose(batch.b().data() + first * batch.b().stride(), batch.b().stride(), dots, shape.words, b_words);
    load_words(batch.c(), first, dots, c);
    bool any_special = false;
    run_group(m, decode_a, decode_b, shape, a_words, b_words, c, [&](V32 r, hn::Mask<D32> special) {
      hn::Store(r, d, result);
      any_special = !hn::AllFalse(d, special);
      if (any_special) hn::Store(hn::IfThenElseZero(special, hn::Set(d, 1)), d, special_lanes);
    });
    if (any_special)
      for (size_t j = 0; j < dots; ++j)
        if (special_lanes[j]) result[j] = static_cast<uint32_t>(evaluate_dot(m, one.load(batch, first + j)));
    store_words(result, dots, first, results);
  }
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mmafuzz {

HWY_EXPORT(run_batch);
HWY_EXPORT(target_name);

bool FusedSumSimd::supports(const DotModel& m) {
  const auto plain_operand = [](const FormatFields& f) {
    return f.sign == SignField::present && !f.integer && f.subnormals == SubnormalRule::gradual &&
           (f.specials == Specials::ieee || f.specials == Specials::fn || f.specials == Specials::none) && f.width >= 8;
  };
  const int per_word = 32 / m.a.width;
  // Each half of a block's sum must fit in 31 bits: products below 2^(F+2), c below 2^(F+1).
  const int64_t half_sum = (int64_t{(m.block + 1) / 2} << (m.fraction_bits + 2)) + (int64_t{1} << (m.fraction_bits + 1));
  const bool known_output = m.c == m.d && ((m.d == fp32_fields && m.output_rounding == Rounding::toward_zero) ||
                                           (m.d == fp16_fields && m.output_rounding == Rounding::nearest_even));
  return m.kernel == Kernel::fused_sum && m.scale_block == 0 && plain_operand(m.a) && plain_operand(m.b) &&
         m.a.width == m.b.width && known_output && m.k % m.block == 0 &&
         m.block % per_word == 0 && half_sum < (int64_t{1} << 31) && m.zero_rule == ZeroRule::constant &&
         m.product == ProductRule::unnormalized && m.integer_bits == 0 &&
         m.overflow == Overflow::infinity && m.output_via == OutputVia::direct && m.underflow_sign == UnderflowSign::kept &&
         m.zero_sign == ZeroSign::positive && m.special_scope == SpecialScope::block && m.low_bits == LowBits::ignored &&
         (m.c_exponent != CExponent::fp32 || m.d == fp32_fields) && m.subnormals == Subnormals::kept && m.output_fraction_bits >= 1;
}

void FusedSumSimd::run(const Batch& batch, Column& results) const { HWY_DYNAMIC_DISPATCH(run_batch)(model_, batch, results); }

const char* simd_target_name() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace mmafuzz
#endif  // HWY_ONCE
