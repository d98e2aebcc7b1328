// One vector lane is one dot (oracles/lanes/dot_lanes-inl.h). Compiled without contraction.
#include "oracles/models/two_stage_simd.h"

#include "arithmetic/evaluate_dot.h"
#include "oracles/lanes/host_float.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "oracles/models/two_stage_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "oracles/lanes/dot_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if MMAFUZZ_HOST_FMA

using DF64 = hn::ScalableTag<double>;
using VF64 = hn::Vec<DF64>;
using DF32Half = hn::Rebind<float, DF64>;  // as many lanes as a vector of fp64 numbers

constexpr size_t max_operands = max_instruction_k * max_lanes;

/// Products of one block of CDNA3, decoded; lane j of entry i at [i * lanes + j].
struct Products {
  HWY_ALIGN uint32_t significand[max_operands], sign[max_operands];
  HWY_ALIGN int32_t exponent[max_operands];
};

constexpr int no_exponent = -10000;  // below that of every product

/// Products first, first + stride, ... before last, truncated at F bits below their greatest exponent and summed.
HWY_INLINE VI32 truncated_sum_lanes(const Products& p, int first, int stride, int last, int right, VI32& greatest) {
  const D32 d;
  const DI32 di;
  const size_t lanes = hn::Lanes(d);
  greatest = hn::Set(di, no_exponent);
  for (int i = first; i < last; i += stride) greatest = hn::Max(greatest, hn::Load(di, p.exponent + size_t(i) * lanes));
  VI32 sum = hn::Zero(di);
  for (int i = first; i < last; i += stride) {
    const VI32 distance = hn::Add(hn::Sub(greatest, hn::Load(di, p.exponent + size_t(i) * lanes)), hn::Set(di, right));
    const V32 shift = hn::BitCast(d, hn::Min(distance, hn::Set(di, 31)));
    const VI32 kept = hn::BitCast(di, hn::Shr(hn::Load(d, p.significand + size_t(i) * lanes), shift));
    const VI32 sign = hn::BroadcastSignBit(hn::BitCast(di, hn::Load(d, p.sign + size_t(i) * lanes)));
    sum = hn::Add(sum, hn::Sub(hn::Xor(kept, sign), sign));
  }
  return sum;
}

/// 2^exponent for exponents of normal fp64 numbers.
HWY_INLINE VF64 power_of_two(hn::Vec<hn::RebindToSigned<DF64>> exponent) {
  const hn::RebindToSigned<DF64> di;
  return hn::BitCast(DF64(), hn::ShiftLeft<52>(hn::Add(exponent, hn::Set(di, 1023))));
}

/// The second stage (docs/semantics.md 7.3, 7.4): every value is an integer below 2^53 times a power of two, so fp64
/// holds it.
HWY_INLINE void second_stage_lanes(const DotModel& m, const int32_t* sum, const int32_t* greatest, const float* c_in,
                                   float* result) {
  const DF64 d;
  const hn::RebindToSigned<DF64> di;
  const hn::Rebind<int32_t, DF64> di32;
  const DF32Half df;
  const int f = m.fraction_bits, kept = f + 7;
  const auto products_exponent = hn::PromoteTo(di, hn::Load(di32, greatest));
  const VF64 c = hn::PromoteTo(d, hn::Load(df, c_in));
  const auto field_of = [&](VF64 x) HWY_ATTR {
    return hn::BitCast(di, hn::ShiftRight<52>(hn::BitCast(hn::RebindToUnsigned<DF64>(), hn::Abs(x))));
  };
  const auto c_exponent = hn::Max(hn::Sub(field_of(c), hn::Set(di, 1023)), hn::Set(di, -126));
  const auto e = hn::Max(products_exponent, c_exponent);
  // One unit weighs 2^(e - kept - 1).
  const auto left = hn::Max(hn::Sub(hn::Set(di, 8), hn::Sub(e, products_exponent)), hn::Set(di, -100));
  const VF64 product_part = hn::Floor(hn::Mul(hn::PromoteTo(d, hn::Load(di32, sum)), power_of_two(left)));
  VF64 c_part = hn::Mul(hn::Floor(hn::Mul(c, power_of_two(hn::Sub(hn::Set(di, f), e)))), hn::Set(d, 256.0));
  if (m.odd_even)
    c_part = hn::IfThenZeroElse(hn::RebindMask(d, hn::Lt(c_exponent, hn::Sub(e, hn::Set(di, f + 1)))), c_part);
  VF64 total = hn::Add(product_part, c_part);
  // At `kept` bits below the leading one, or below 2^-126 if that is greater (arithmetic/two_stage_sum.h).
  const auto below_leading = hn::Sub(field_of(total), hn::Set(di, 1023 + kept));
  const auto below_normal = hn::Sub(hn::Set(di, -125), e);
  const auto drop = hn::Max(hn::Max(below_leading, below_normal), hn::Zero(di));
  total = hn::Mul(hn::Floor(hn::Mul(total, power_of_two(hn::Neg(drop)))), power_of_two(drop));
  const VF64 value = hn::Mul(total, power_of_two(hn::Sub(e, hn::Set(di, kept + 1))));
  hn::Store(hn::DemoteTo(df, value), df, result);
}

/// The block of products from index `first` on, as numbers x, y (which tell infinities and NaNs) and as integers p.
HWY_INLINE VF32 two_stage_lanes(const DotModel& m, const float* x, const float* y, const Products& p, int first,
                                VF32 c) {
  const DF32 d;
  const DI32 di;
  const size_t lanes = hn::Lanes(d), half = hn::Lanes(DF64());
  VF32 special = c;
  for (int i = first; i < first + m.block; ++i) {
    // Exact, or at least 2^128 and so an infinity.
    const VF32 product = hn::Mul(hn::Load(d, x + size_t(i) * lanes), hn::Load(d, y + size_t(i) * lanes));
    special = hn::Add(special, hn::IfThenZeroElse(hn::IsFinite(product), product));
  }
  const int ways = m.odd_even ? 2 : 1, right = HWY_MAX(0, m.a.fraction_bits + m.b.fraction_bits - m.fraction_bits);
  VI32 greatest, other_greatest;
  VI32 sum = truncated_sum_lanes(p, first, ways, first + m.block, right, greatest);
  if (m.odd_even) {
    const VI32 other = truncated_sum_lanes(p, first + 1, ways, first + m.block, right, other_greatest);
    const VI32 both = hn::Max(greatest, other_greatest), last = hn::Set(di, 31);
    sum = hn::Add(hn::Shr(sum, hn::Min(hn::Sub(both, greatest), last)),
                  hn::Shr(other, hn::Min(hn::Sub(both, other_greatest), last)));
    greatest = both;
  }
  HWY_ALIGN int32_t sums[max_lanes], exponents[max_lanes];
  HWY_ALIGN float in[max_lanes], out[max_lanes];
  hn::Store(sum, di, sums);
  hn::Store(greatest, di, exponents);
  hn::Store(c, d, in);
  for (size_t at = 0; at < lanes; at += half) second_stage_lanes(m, sums + at, exponents + at, in + at, out + at);
  return hn::IfThenElse(hn::IsFinite(special), hn::Load(d, out), special);
}

/// Decodes the products of a whole dot.
HWY_INLINE void load_products(const DotModel& m, const AnyDecoder& decode_a, const AnyDecoder& decode_b,
                              const Batch& batch, size_t first, size_t dots, int k, Products& p) {
  const D32 d;
  const DI32 di;
  const size_t lanes = hn::Lanes(d);
  const int bytes = batch.a().element_bytes(), per_word = 4 / bytes, words = (k + per_word - 1) / per_word;
  const int left = HWY_MAX(0, m.fraction_bits - m.a.fraction_bits - m.b.fraction_bits);
  HWY_ALIGN uint32_t a[max_words * max_lanes], b[max_words * max_lanes];
  transpose(batch.a().data() + first * batch.a().stride(), batch.a().stride(), batch.a().stride(), dots, size_t(words),
            a);
  transpose(batch.b().data() + first * batch.b().stride(), batch.b().stride(), batch.b().stride(), dots, size_t(words),
            b);
  V32 worst = hn::Zero(d);  // two_stage_lanes finds infinities and NaNs in the numbers
  for (int w = 0; w < words; ++w) {
    const V32 word_a = hn::Load(d, a + size_t(w) * lanes), word_b = hn::Load(d, b + size_t(w) * lanes);
    for (int part = 0; part < per_word; ++part) {
      const size_t at = size_t(w * per_word + part) * lanes;
      const Decoded x = decode_a(unpack(word_a, bytes, part), worst), y = decode_b(unpack(word_b, bytes, part), worst);
      const V32 significand = hn::Mul(x.significand, y.significand);
      const VI32 exponent = hn::Sub(hn::BitCast(di, hn::Add(x.field, y.field)), hn::Set(di, m.a.bias + m.b.bias));
      const auto zero = hn::RebindMask(di, hn::Eq(significand, hn::Zero(d)));
      hn::Store(hn::IfThenElse(zero, hn::Set(di, no_exponent), exponent), di, p.exponent + at);
      hn::Store(hn::ShiftLeftSame(significand, left), d, p.significand + at);
      hn::Store(hn::Xor(x.sign, y.sign), d, p.sign + at);
    }
  }
}

bool two_stage_batch(const DotModel& m, const Batch& batch, Column& results) {
  const DF32 d;
  const size_t lanes = hn::Lanes(d);
  const int k = sequence_k(m, batch.op().k);
  const FloatDecoder number_a(m.a), number_b(m.b), number_c(m.c);
  const AnyDecoder decode_a(m.a), decode_b(m.b);
  HWY_ALIGN float x[max_operands], y[max_operands];
  HWY_ALIGN uint32_t result[max_lanes];
  Products products;
  for (size_t first = 0; first < batch.size(); first += lanes) {
    const size_t dots = HWY_MIN(lanes, batch.size() - first);
    load_floats(number_a, batch.a(), first, dots, k, x);
    load_floats(number_b, batch.b(), first, dots, k, y);
    load_products(m, decode_a, decode_b, batch, first, dots, k, products);
    VF32 c = load_float(number_c, batch.c(), first, dots);
    for (int i = 0; i < k; i += m.block) c = two_stage_lanes(m, x, y, products, i, c);
    hn::Store(canonical_bits(c, m.nan), D32(), result);
    store_words(result, dots, first, results);
  }
  return true;
}

#else

bool two_stage_batch(const DotModel&, const Batch&, Column&) { return false; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mmafuzz {

HWY_EXPORT(two_stage_batch);

bool TwoStageSimd::supports(const DotModel& m, int k) {
  const bool formats =
      fits_fp32(m.a) && fits_fp32(m.b) && m.c == fp32_fields && m.d == fp32_fields && m.a.width == m.b.width;
  const bool common = m.block > 0 && m.order == ProductOrder::ascending && m.k % m.block == 0 &&
                      sequence_k(m, k) <= max_instruction_k && m.scale_block == 0 &&
                      m.output_rounding == Rounding::nearest_even && m.low_bits == LowBits::ignored &&
                      m.overflow != Overflow::saturate &&
                      decode(fp32_fields, m.nan).cls == NumberClass::nan;  // as the host passes it on
  const bool defaults = m.zero_rule != ZeroRule::operand && m.second_stage == SecondStage::floor32_then_31 &&
                        m.c_special == CSpecial::propagates && m.product_overflow == ProductOverflow::infinity &&
                        m.overflow_rank == OverflowRank::equal && m.subnormals == Subnormals::kept &&
                        m.product == ProductRule::unnormalized;
  // Sums of truncated products fit in 31 bits, products in 22 bits and so in fp32.
  return m.kernel == Kernel::two_stage_sum && formats && common && defaults && m.fraction_bits >= 1 &&
         int64_t{m.block} << (m.fraction_bits + 2) <= int64_t{1} << 30 && m.a.fraction_bits + m.b.fraction_bits <= 22;
}

bool TwoStageSimd::run(const Batch& batch, Column& results) const {
  return default_float_environment() && HWY_DYNAMIC_DISPATCH(two_stage_batch)(model_, batch, results);
}

}  // namespace mmafuzz
#endif  // HWY_ONCE
