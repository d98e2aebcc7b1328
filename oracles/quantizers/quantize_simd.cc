// One vector lane is one element. x times the power of two is exact in fp32, or so small that it rounds to zero; adding
// and subtracting a power of two of the right size rounds it to the element's quantum (arithmetic/quantize_block.h is
// the text).
#include "oracles/quantizers/quantize_simd.h"

#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "oracles/quantizers/quantize_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// What the codes of one block need.
struct Element {
  uint32_t fraction_bits, least_field, greatest, sign_shift;
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
    const auto field = hn::Max(hn::And(hn::BitCast(d, y), exponent), least);
    const auto magic = hn::Add(field, up);  // 2^(e + 23 - fraction bits): its last bit is the quantum
    const auto steps = hn::Sub(hn::BitCast(d, hn::Add(y, hn::BitCast(df, magic))), magic);
    const auto binade = hn::ShiftRightSame(hn::Sub(field, least), static_cast<int>(23 - element.fraction_bits));
    const auto code = hn::Min(hn::Add(binade, steps), greatest);
    return hn::Or(code, hn::ShiftLeftSame(hn::ShiftRight<31>(bits), static_cast<int>(element.sign_shift)));
  };
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::TruncateTo(d8, codes_of(hn::LoadU(d, numbers + i))), d8, codes + i);
  for (; i < count; ++i) codes[i] = static_cast<uint8_t>(hn::GetLane(codes_of(hn::Set(d, numbers[i]))));
}

/// The blocks that it leaves out are the return value.
std::vector<size_t> quantize_blocks(const QuantizeSimd& unit, const Batch& batch, Column& results) {
  const Op& op = batch.op();
  const FormatFields &element = op.d.fields(), &scale = op.scale_a.fields();
  const auto count = static_cast<size_t>(op.k);
  const Element of_element = {element.fraction_bits, static_cast<uint32_t>(element.emin() + fp32_fields.bias),
                              static_cast<uint32_t>(element.greatest_magnitude()),
                              static_cast<uint32_t>(element.width - 1)};
  const bool from_bf16 = op.a.storage_bytes() == 2;
  std::vector<uint32_t> widened(from_bf16 ? count : 0);
  std::vector<size_t> left_out;
  const Column& source = batch.inputs()[0];
  for (size_t i = 0; i < batch.size(); ++i) {
    const uint8_t* bytes = source.data() + i * source.stride();
    for (size_t lane = 0; lane < widened.size(); ++lane) {
      uint16_t half;
      std::memcpy(&half, bytes + 2 * lane, 2);
      widened[lane] = uint32_t{half} << 16;
    }
    const uint32_t* numbers = from_bf16 ? widened.data() : reinterpret_cast<const uint32_t*>(bytes);
    const uint32_t amax = greatest_magnitude(numbers, count);
    const uint64_t code = unit.scale_of(amax);
    // 2^-e as a float; below the normal numbers it would be slow, and lose bits.
    const int field = fp32_fields.bias - (static_cast<int>(code) - scale.bias);
    if (amax >= 0x7f800000u || field < 1 || field > 254) {
      left_out.push_back(i);
      continue;
    }
    uint8_t* to = results.data() + i * results.stride();
    to[0] = static_cast<uint8_t>(code);
    write_codes(numbers, count, std::bit_cast<float>(static_cast<uint32_t>(field) << 23), of_element, to + 1);
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
    : scale_(op.scale_a.fields()), step_(scale_step(op.scale_rule, op.d.fields())) {}

bool QuantizeSimd::supports(const Op& op) {
  const FormatFields &element = op.d.fields(), &scale = op.scale_a.fields();
  const bool from = op.a == format("fp32") || op.a == format("bf16");
  const bool plain = element.subnormals == SubnormalRule::gradual && element.has_negative_zero() && !element.integer;
  return op.kind == OpKind::quantize && from && plain && element.width <= 8 && element.ignored_low_bits == 0 &&
         scale.fraction_bits == 0 && scale.width <= 8 && op.rounding == Rounding::nearest_even &&
         op.via.fields().width == 0;
}

uint64_t QuantizeSimd::scale_of(uint32_t amax) const {
  return detail::power_of_two_scale(scale_, step_, decode(fp32_fields, amax));
}

std::vector<size_t> QuantizeSimd::run(const Batch& batch, Column& results) const {
  return HWY_DYNAMIC_DISPATCH(quantize_blocks)(*this, batch, results);
}

}  // namespace mmafuzz
#endif  // HWY_ONCE
