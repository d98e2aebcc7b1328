// One vector lane is one dot (oracles/lanes/dot_lanes-inl.h).
#include "oracles/models/fused_sum_simd.h"

#include <cstring>

#include "arithmetic/evaluate_dot.h"
#include "core/function_unit.h"
#include "oracles/lanes/host_float.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "oracles/models/fused_sum_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "oracles/lanes/dot_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
  int bytes;     ///< per element
  int k;         ///< products, padding included
  size_t words;  ///< 32-bit words of the padded operand
};

/// What infinities and NaNs make of sums: as encodings, for lanes that hold one. The host's arithmetic sums the terms
/// that are not finite, of which only the class and the sign matter (docs/semantics.md 1.1).
class SpecialSums {
 public:
  explicit SpecialSums(const DotModel& m)
      : a_(m.a),
        b_(m.b),
        c_(m.c),
        nan_(static_cast<uint32_t>(m.nan)),
        infinity_(static_cast<uint32_t>(m.d.encode_infinity(false))),
        sign_shift_(32 - m.d.width) {}

  HWY_INLINE V32 operator()(const uint32_t* a_words, const uint32_t* b_words, int words, int bytes, V32 c) const {
    const D32 d;
    const size_t lanes = hn::Lanes(d);
    VF32 sum = c_(c);
    for (int w = 0; w < words; ++w) {
      const V32 word_a = hn::Load(d, a_words + size_t(w) * lanes), word_b = hn::Load(d, b_words + size_t(w) * lanes);
      for (int part = 0; part < 4 / bytes; ++part) {
        const VF32 x = a_(unpack(word_a, bytes, part)), y = b_(unpack(word_b, bytes, part));
        const auto finite =
            hn::And(hn::IsFinite(x), hn::IsFinite(y));  // then the product is, whatever fp32 makes of it
        sum = hn::Add(sum, hn::IfThenZeroElse(finite, hn::Mul(x, y)));
      }
    }
    const V32 sign = hn::ShiftRightSame(hn::And(hn::BitCast(d, sum), hn::Set(d, 0x80000000u)), sign_shift_);
    return hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(sum)), hn::Set(d, nan_), hn::Or(hn::Set(d, infinity_), sign));
  }

 private:
  FloatDecoder a_, b_, c_;
  uint32_t nan_, infinity_;
  int sign_shift_;
};

/// Evaluates up to one vector of dots. `special_sums`: null where the host's arithmetic may not be used; the lanes that
/// need the scalar kernel are stored with the result.
template <class StoreResult>
HWY_INLINE void run_group(const DotModel& m, const Decoder& decode_a, const Decoder& decode_b, const Shape& shape,
                          const SpecialSums* special_sums, const uint32_t* a_words, const uint32_t* b_words,
                          const uint32_t* c_in, const StoreResult& store) {
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

  auto scalar = hn::MaskFromVec(hn::Zero(d));
  V32 accumulator = hn::Load(d, c_in);
  const Decoder decode_c(m.c);
  const int sign_position = m.d.width - 1;
  const bool nearest = m.output_rounding == Rounding::nearest_even;
  HWY_ALIGN uint32_t significands[max_instruction_k * max_lanes], signs[max_instruction_k * max_lanes];
  HWY_ALIGN int32_t exponents[max_instruction_k * max_lanes];

  const int words_per_block = m.block / per_word;
  for (int first = 0; first < shape.k; first += m.block) {
    auto special = hn::MaskFromVec(hn::Zero(d));
    const V32 c_code = accumulator;
    const Decoded c = decode_c(c_code, special);
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
        const VI32 exponent =
            hn::IfThenElse(hn::RebindMask(di, zero), zero_exponent,
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
      // Half a quantum, less one where the kept part is even; nothing where no bit is dropped. Beyond 30 dropped bits
      // (sums far below the least subnormal) the addition could overflow: those lanes go through the scalar kernel.
      const V32 odd = hn::And(hn::Shr(magnitude, hn::BitCast(d, right)), hn::Set(d, 1));
      const V32 half = hn::Shr(hn::Shl(hn::Set(d, 1), hn::BitCast(d, right)), hn::Set(d, 1));
      const V32 below_half = hn::Sub(hn::Add(half, odd), hn::Set(d, 1));
      addend = hn::IfThenElseZero(hn::Ne(half, hn::Zero(d)), below_half);
      scalar = hn::Or(scalar, hn::AndNot(special, hn::RebindMask(d, hn::Gt(drop, hn::Set(di, 30)))));
    }
    const V32 kept =
        hn::IfThenZeroElse(hn::RebindMask(d, gone),
                           hn::Shl(hn::Shr(hn::Add(magnitude, addend), hn::BitCast(d, right)), hn::BitCast(d, left)));
    const VI32 field = hn::Add(quantum, hn::Set(di, out + m.d.bias - 1));
    V32 code = hn::Add(hn::BitCast(d, hn::ShiftLeftSame(field, out)), kept);
    const uint32_t infinity = static_cast<uint32_t>(m.d.top_exponent_field()) << out;
    const auto overflow = hn::Or(hn::RebindMask(d, hn::Gt(leading, hn::Set(di, m.d.emax()))),
                                 hn::Not(hn::Lt(code, hn::Set(d, infinity))));
    code = hn::IfThenElse(overflow, hn::Set(d, infinity), code);
    const V32 sign = hn::ShiftLeftSame(hn::And(hn::BitCast(d, negative), hn::Set(d, 1)), sign_position);
    code = hn::Or(hn::ShiftLeftSame(code, m.d.fraction_bits - out), sign);
    accumulator = hn::IfThenZeroElse(hn::Eq(magnitude, hn::Zero(d)), code);
    if (HWY_UNLIKELY(!hn::AllFalse(d, special))) {
      if (special_sums) {
        const size_t at = size_t(first / per_word) * lanes;
        accumulator = hn::IfThenElse(
            special, (*special_sums)(a_words + at, b_words + at, words_per_block, shape.bytes, c_code), accumulator);
      } else {
        scalar = hn::Or(scalar, special);
      }
    }
  }
  store(accumulator, scalar);
}

void run_batch(const DotModel& m, const Batch& batch, Column& results) {
  const D32 d;
  const size_t lanes = hn::Lanes(d);
  const int bytes = batch.a().element_bytes();
  const int k = sequence_k(m, batch.op().k);
  const Shape shape{bytes, k, static_cast<size_t>(k * bytes / 4)};
  const Decoder decode_a(m.a), decode_b(m.b);
  HWY_ALIGN uint32_t a_words[max_words * max_lanes], b_words[max_words * max_lanes], c[max_lanes], result[max_lanes];
  const SpecialSums special_sums(m);
  const SpecialSums* const host_sums = default_float_environment() ? &special_sums : nullptr;
  HWY_ALIGN uint32_t scalar_lanes[max_lanes];
  for (size_t first = 0; first < batch.size(); first += lanes) {
    const size_t dots = HWY_MIN(lanes, batch.size() - first);
    transpose(batch.a().data() + first * batch.a().stride(), batch.a().stride(), dots, shape.words, a_words);
    transpose(batch.b().data() + first * batch.b().stride(), batch.b().stride(), dots, shape.words, b_words);
    load_words(batch.c(), first, dots, c);
    bool any_scalar = false;
    run_group(m, decode_a, decode_b, shape, host_sums, a_words, b_words, c, [&](V32 r, hn::Mask<D32> scalar) {
      hn::Store(r, d, result);
      any_scalar = !hn::AllFalse(d, scalar);
      if (any_scalar) hn::Store(hn::IfThenElseZero(scalar, hn::Set(d, 1)), d, scalar_lanes);
    });
    if (any_scalar)
      for (size_t j = 0; j < dots; ++j)
        if (scalar_lanes[j])
          result[j] = static_cast<uint32_t>(evaluate_dot(m, DotCase(batch.op()).load(batch, first + j)));
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

bool FusedSumSimd::supports(const DotModel& m, int k) {
  const auto plain_operand = [](const FormatFields& f) {
    return f.sign == SignField::present && !f.integer && f.subnormals == SubnormalRule::gradual &&
           (f.specials == Specials::ieee || f.specials == Specials::fn || f.specials == Specials::none) &&
           f.width >= 8 && fits_fp32(f);
  };
  const int per_word = 32 / m.a.width;
  // Each half of a block's sum must fit in 31 bits: products below 2^(F+2), c below 2^(F+1).
  const int64_t half_sum =
      (int64_t{(m.block + 1) / 2} << (m.fraction_bits + 2)) + (int64_t{1} << (m.fraction_bits + 1));
  const bool known_output = m.c == m.d && ((m.d == fp32_fields && m.output_rounding == Rounding::toward_zero) ||
                                           (m.d == fp16_fields && m.output_rounding == Rounding::nearest_even));
  return m.kernel == Kernel::fused_sum && m.scale_block == 0 && plain_operand(m.a) && plain_operand(m.b) &&
         m.a.width == m.b.width && known_output && m.k % m.block == 0 && sequence_k(m, k) <= max_instruction_k &&
         m.block % per_word == 0 && half_sum < (int64_t{1} << 31) && m.zero_rule == ZeroRule::constant &&
         m.product == ProductRule::unnormalized && m.integer_bits == 0 && m.overflow == Overflow::infinity &&
         m.output_via == OutputVia::direct && m.underflow_sign == UnderflowSign::kept &&
         m.zero_sign == ZeroSign::positive && m.special_scope == SpecialScope::block &&
         m.low_bits == LowBits::ignored && (m.c_exponent != CExponent::fp32 || m.d == fp32_fields) &&
         m.subnormals == Subnormals::kept && m.output_fraction_bits >= 1;
}

void FusedSumSimd::run(const Batch& batch, Column& results) const {
  HWY_DYNAMIC_DISPATCH(run_batch)(model_, batch, results);
}

const char* simd_target_name() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace mmafuzz
#endif  // HWY_ONCE
