// One vector lane is one element. x times the power of two is exact in fp32, or so small that it rounds to zero; adding
// and subtracting a power of two of the right size rounds it to the element's quantum (arithmetic/quantize_block.h is
// the scalar code).
#include "oracles/quantizers/quantize_simd.h"

#include <bit>
#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "oracles/quantizers/quantize_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// What the codes of one block need. Integers have one binade, and two's complement for a sign. least_field: fp32's
/// exponent field of the least normal element. greatest: the code of the greatest element or, where elements overflow,
/// the next one, which is infinity or, in a format without one, NaN.
struct Element {
  uint32_t fraction_bits, least_field, greatest, sign_shift;
  bool integer;

  Element(const FormatFields& f, bool overflows)
      : fraction_bits(static_cast<uint32_t>(f.integer ? -element_unit(f) : f.fraction_bits)),
        least_field(static_cast<uint32_t>(fp32_fields.bias + (f.integer ? 0 : f.emin()))),
        greatest(static_cast<uint32_t>(f.integer ? low_mask(f.width - 1) : f.greatest_magnitude()) +
                 (overflows ? 1 : 0)),
        sign_shift(static_cast<uint32_t>(f.width - 1)),
        integer(f.integer) {}
};

/// The greatest magnitude of a block, as an encoding of fp32: magnitudes rise with their encodings.
HWY_INLINE uint32_t greatest_magnitude(const uint32_t* numbers, size_t count) {
  const hn::ScalableTag<uint32_t> d;
  const auto magnitude = hn::Set(d, 0x7fffffffu);
  auto greatest = hn::Zero(d);
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) greatest = hn::Max(greatest, hn::And(magnitude, hn::LoadU(d, numbers + i)));
  for (; i < count; ++i) greatest = hn::Max(greatest, hn::And(magnitude, hn::Set(d, numbers[i])));
  return hn::GetLane(hn::MaxOfLanes(d, greatest));
}

/// The codes of one block under a scale whose reciprocal is `reciprocal`.
HWY_INLINE void write_codes(const uint32_t* numbers, size_t count, float reciprocal, const Element& element,
                            uint8_t* codes) {
  const hn::ScalableTag<uint32_t> d;
  const hn::RebindToFloat<decltype(d)> df;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const size_t lanes = hn::Lanes(d);
  const auto scale = hn::Set(df, reciprocal);
  const auto sign = hn::Set(d, 0x80000000u), exponent = hn::Set(d, 0x7f800000u);
  const auto least = hn::Set(d, element.least_field << 23);
  const auto up = hn::Set(d, (23 - element.fraction_bits) << 23);
  const auto greatest = hn::Set(d, element.greatest);
  const auto codes_of = [&](auto bits) HWY_ATTR {
    const auto y = hn::Mul(hn::BitCast(df, hn::AndNot(sign, bits)), scale);
    // An integer's quantum does not grow; what lies beyond its one binade saturates.
    const auto field = element.integer ? least : hn::Max(hn::And(hn::BitCast(d, y), exponent), least);
    const auto magic = hn::Add(field, up);  // 2^(e + 23 - fraction bits): its last bit is the quantum
    const auto steps = hn::Sub(hn::BitCast(d, hn::Add(y, hn::BitCast(df, magic))), magic);
    const auto binade = hn::ShiftRightSame(hn::Sub(field, least), static_cast<int>(23 - element.fraction_bits));
    const auto code = hn::Min(hn::Add(binade, steps), greatest);
    if (element.integer) {
      const auto minus = hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(hn::RebindToSigned<decltype(d)>(), bits)));
      return hn::And(hn::Sub(hn::Xor(code, minus), minus), hn::Set(d, 0xffu));
    }
    return hn::Or(code, hn::ShiftLeftSame(hn::ShiftRight<31>(bits), static_cast<int>(element.sign_shift)));
  };
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::TruncateTo(d8, codes_of(hn::LoadU(d, numbers + i))), d8, codes + i);
  for (; i < count; ++i) codes[i] = static_cast<uint8_t>(hn::GetLane(codes_of(hn::Set(d, numbers[i]))));
}

/// The codes of one block over any scale, in fp64. A quotient of 24 by at most 32 bits that fp64 cannot tell from the
/// middle between two codes is that middle.
void write_codes_over(const uint32_t* numbers, size_t count, double divisor, const Element& element, uint8_t* codes) {
  const uint64_t least = uint64_t{element.least_field + (1023 - 127)} << 52;
  const uint64_t bits_up = uint64_t{52 - element.fraction_bits} << 52;
  for (size_t i = 0; i < count; ++i) {
    const double y = static_cast<double>(std::bit_cast<float>(numbers[i] & 0x7fffffffu)) / divisor;
    const uint64_t exponent = std::bit_cast<uint64_t>(y) & 0x7ff0000000000000u;
    const uint64_t field = element.integer || exponent < least ? least : exponent;
    const uint64_t magic = field + bits_up;
    const uint64_t steps = std::bit_cast<uint64_t>(y + std::bit_cast<double>(magic)) - magic;
    uint64_t code = ((field - least) >> (52 - element.fraction_bits)) + steps;
    code = code < element.greatest ? code : element.greatest;
    const bool negative = (numbers[i] >> 31) != 0;
    codes[i] = static_cast<uint8_t>(element.integer ? (negative ? 256 - code : code)
                                                    : code | uint64_t{negative} << element.sign_shift);
  }
}

/// Returns the indices of the blocks that are left out.
std::vector<size_t> quantize_blocks(const QuantizeSimd& unit, const Batch& batch, Column& results) {
  const Op& op = batch.op();
  const FormatFields& scale = op.scale_a.fields();
  const auto count = static_cast<size_t>(op.k);
  const Element element(op.d.fields(), op.elements_overflow);
  std::vector<uint32_t> widened(unit.widening() ? count : 0);
  std::vector<uint8_t> codes(results.element_bytes() == 1 ? 0 : count);
  std::vector<size_t> left_out;
  const Column& source = batch.inputs()[0];
  for (size_t i = 0; i < batch.size(); ++i) {
    const uint8_t* bytes = source.data() + i * source.stride();
    for (size_t lane = 0; lane < widened.size(); ++lane) {
      uint16_t half;
      std::memcpy(&half, bytes + 2 * lane, 2);
      widened[lane] = (*unit.widening())[half];
    }
    const uint32_t* numbers = widened.empty() ? reinterpret_cast<const uint32_t*>(bytes) : widened.data();
    const uint32_t amax = greatest_magnitude(numbers, count);
    const std::optional<QuantizeSimd::Scale> chosen =
        amax < 0x7f800000u ? unit.scale_of(amax, op.has_tensor_scale() ? batch.inputs()[1].get(i) : 0) : std::nullopt;
    // The exponent field of 2^-e as a float, which as a subnormal number would be slow and lose bits; 1 for others.
    const int field = chosen && scale.fraction_bits == 0
                          ? fp32_fields.bias - (static_cast<int>(scale_rank(scale, chosen->code)) + least_power(scale))
                          : 1;
    if (!chosen || field < 1 || field > 254) {
      left_out.push_back(i);
      continue;
    }
    uint8_t* block_codes = codes.empty() ? results.data() + i * results.stride() + 1 : codes.data();
    if (scale.fraction_bits == 0)
      write_codes(numbers, count, std::bit_cast<float>(static_cast<uint32_t>(field) << 23), element, block_codes);
    else write_codes_over(numbers, count, chosen->divisor, element, block_codes);
    results.set(i, 0, chosen->code);
    for (size_t lane = 0; lane < codes.size(); ++lane) results.set(i, 1 + static_cast<int>(lane), codes[lane]);
  }
  return left_out;
}

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mmafuzz {

HWY_EXPORT(quantize_blocks);

QuantizeSimd::QuantizeSimd(const Op& op)
    : rule_(op.block_rule()),
      element_(op.d.fields()),
      scale_(op.scale_a.fields()),
      tensor_(op.scale_b.fields()),
      step_(scale_step(op.scale_rule, op.d.fields())) {
  if (op.a.storage_bytes() == 2) widening_ = std::make_shared<WideningTable>(op.a.fields());
}

bool QuantizeSimd::supports(const Op& op) {
  const FormatFields &element = op.d.fields(), &scale = op.scale_a.fields();
  const bool has_source = op.a == format("fp32") || op.a == format("bf16") || op.a == format("fp16");
  const bool has_element = element.integer
                               ? element.width == 8
                               : element.subnormals == SubnormalRule::gradual && element.has_negative_zero();
  const int divisor_bits = scale.precision() + (op.has_tensor_scale() ? op.scale_b.fields().precision() : 0);
  return op.kind == OpKind::quantize && has_source && has_element && element.width <= 8 &&
         element.ignored_low_bits == 0 && (scale.fraction_bits > 0 || scale.width <= 8) && divisor_bits <= 32 &&
         op.rounding == Rounding::nearest_even && op.via.fields().width == 0;
}

std::optional<QuantizeSimd::Scale> QuantizeSimd::scale_of(uint32_t amax, uint64_t tensor_code) const {
  const Number greatest = decode(fp32_fields, amax);
  if (scale_.fraction_bits == 0) return Scale{detail::power_of_two_scale(scale_, step_, greatest), 0};
  const Number tensor = tensor_.width ? decode(tensor_, tensor_code) : one_as_number();
  if (tensor.cls != NumberClass::finite || tensor.negative) return std::nullopt;
  const uint64_t code = block_scale(rule_, step_, element_, scale_, greatest, tensor);
  const Number scale = decode(scale_, code);
  if (scale.cls != NumberClass::finite) return std::nullopt;
  return Scale{
      code, std::ldexp(static_cast<double>(scale.significand * tensor.significand), scale.exponent + tensor.exponent)};
}

std::vector<size_t> QuantizeSimd::run(const Batch& batch, Column& results) const {
  return HWY_DYNAMIC_DISPATCH(quantize_blocks)(*this, batch, results);
}

}  // namespace mmafuzz
#endif  // HWY_ONCE
