// What is said of a unit that differs from the model which it claims to equal. A failure means that the sentence is
// wrong about a flaw that is known here.
#include "triage/unexplained/unit_without_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>

#include "arithmetic/evaluate_dot.h"
#include "arithmetic/ieee_operations.h"
#include "core/block_case.h"
#include "core/case_text.h"
#include "core/function_unit.h"
#include "core/recording_trace.h"
#include "oracles/families.h"
#include "oracles/models/model_rows.h"
#include "triage/operands.h"
#include "triage/unexplained/changed_kernel.h"
#include "triage/unexplained/changed_steps.h"

namespace mmafuzz {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char claimed[] = "hopper/mma.m16n8k16.f32.f16.f16.f32";

DotModel hopper(int block) {
  DotModel model = find_model_row(claimed)->model;
  model.block = block;
  return model;
}

/// Whether each product is greater than the one before it.
bool rises(const DotOperands& in) {
  const auto exponent = [&](int i) { return static_cast<int>((in.a[i] >> 10 & 31) + (in.b[i] >> 10 & 31)); };
  for (int i = 1; i < in.k; ++i)
    if (exponent(i) <= exponent(i - 1)) return false;
  return true;
}

uint64_t blocks_of_4(const DotOperands& in) { return evaluate_dot(hopper(4), in); }
/// As if the last product came later, but only where the products rise.
uint64_t late_maximum(const DotOperands& in) { return evaluate_dot(hopper(rises(in) ? 15 : 16), in); }
uint64_t bit_4_of_b12_is_stuck(const DotOperands& in) {
  std::vector<uint64_t> b(in.b, in.b + in.k);
  b[12] |= 0x10;
  DotOperands changed = in;
  changed.b = b.data();
  return evaluate_dot(hopper(16), changed);
}
uint64_t bit_13_of_the_result_flips(const DotOperands& in) { return evaluate_dot(hopper(16), in) ^ 0x2000; }
uint64_t lane_3_is_dropped_after_equal_factors(const DotOperands& in) {
  std::vector<uint64_t> a(in.a, in.a + in.k);
  if (in.a[0] == in.b[0] && in.a[0]) a[3] = 0;
  DotOperands changed = in;
  changed.a = a.data();
  return evaluate_dot(hopper(16), changed);
}
uint64_t lane_2_is_dropped(const DotOperands& in) {
  std::vector<uint64_t> a(in.a, in.a + in.k);
  a[2] = 0;
  DotOperands changed = in;
  changed.a = a.data();
  return evaluate_dot(hopper(16), changed);
}

/// Lane 9 loses 2^3 where its exponent fields are 0x15 and 0x0f.
uint64_t two_fields_meet(const DotOperands& in) {
  std::vector<uint64_t> a(in.a, in.a + in.k);
  if ((in.a[9] >> 10 & 31) == 0x15 && (in.b[9] >> 10 & 31) == 0x0f) a[9] -= 3 << 10;
  DotOperands changed = in;
  changed.a = a.data();
  return evaluate_dot(hopper(16), changed);
}
/// A factor 0x1.ad4p+n times 0x1.d68p+m loses its product, in any lane.
uint64_t two_fractions_meet(const DotOperands& in) {
  std::vector<uint64_t> a(in.a, in.a + in.k);
  for (int i = 0; i < in.k; ++i)
    if ((in.a[i] & 0x3ff) == 0x2b5 && (in.b[i] & 0x3ff) == 0x35a) a[static_cast<size_t>(i)] = 0;
  DotOperands changed = in;
  changed.a = a.data();
  return evaluate_dot(hopper(16), changed);
}
/// A sum of exactly 1.5 times the greatest exponent's power of two is one unit of the result too small.
uint64_t one_sum_is_wrong(const DotOperands& in) {
  RecordingTrace trace;
  const uint64_t d = evaluate_dot(hopper(16), in, trace);
  const Step& step = trace.steps.back();
  return step.kind == Step::Kind::fused_sum && step.sum == 3 << 24 ? d - 1 : d;
}
/// Of lanes 5 and 13, which alone have the greatest exponent, the aligner sees neither.
uint64_t a_tie_is_not_seen(const DotOperands& in) {
  RecordingTrace trace;
  const uint64_t d = evaluate_dot(hopper(16), in, trace);
  const Step& s = trace.steps.back();
  if (s.kind != Step::Kind::fused_sum) return d;
  int next = INT32_MIN;
  for (int i = 0; i < s.count; ++i) {
    if (s.addend[i].significand == 0) continue;
    if ((s.addend[i].shift == 0) != (i == 5 || i == 13)) return d;
    if (s.addend[i].shift != 0) next = std::max(next, s.addend[i].scale_exponent);
  }
  if (next == INT32_MIN || s.addend[5].significand == 0 || s.addend[13].significand == 0) return d;
  const int unit = s.unit_exponent - (s.greatest_exponent - next);
  if (s.greatest_exponent - next > 20) return d;
  int64_t sum = 0;
  for (int i = 0; i < s.count; ++i) {
    const int up = s.addend[i].exponent - unit;
    const uint64_t kept = up >= 0 ? s.addend[i].significand << up : -up < 64 ? s.addend[i].significand >> -up : 0;
    sum += s.addend[i].negative ? -static_cast<int64_t>(kept) : static_cast<int64_t>(kept);
  }
  return round_output(hopper(16), sum, unit, false).encoding;
}
uint64_t three_classes_meet(const DotOperands& in) {
  const uint64_t d = evaluate_dot(hopper(16), in);
  const bool nan = (in.a[2] & 0x7fff) > 0x7c00, infinity = (in.b[11] & 0x7fff) == 0x7c00;
  return nan && infinity && in.c == 0x80000000 ? d ^ 0x80000000 : d;
}

constexpr char nvfp4[] = "blackwell/tcgen05.kind::mxf4nvf4.block16.m128n8k64.f32.e2m1.e2m1.f32.ue4m3";
/// The second block of a is scaled as the first where that one's scale is above 1 and its own is below.
uint64_t a_scale_is_the_neighbours(const DotOperands& in) {
  std::vector<uint64_t> scales(in.scale_a, in.scale_a + 4);
  if (scales[0] > 0x38 && scales[1] < 0x38) scales[1] = scales[0];
  DotOperands changed = in;
  changed.scale_a = scales.data();
  return evaluate_dot(find_model_row(nvfp4)->model, changed);
}

/// The scales of b's second and third block change places where the first of a is 1.
uint64_t two_scales_changed_places(const DotOperands& in) {
  std::vector<uint64_t> scales(in.scale_b, in.scale_b + 4);
  if (in.scale_a[0] == 0x38) std::swap(scales[1], scales[2]);
  DotOperands changed = in;
  changed.scale_b = scales.data();
  return evaluate_dot(find_model_row(nvfp4)->model, changed);
}

constexpr char mxfp8[] = "rtx_blackwell/mma.kind::mxf8f6f4.block32.m16n8k32.f32.e4m3.e4m3.f32.ue8m0";
/// The biased exponents of both scales are added in eight bits, and saturate.
uint64_t scales_saturate(const DotOperands& in) {
  const uint64_t one = 127, sum = in.scale_a[0] + in.scale_b[0];
  const uint64_t scale = std::clamp<uint64_t>(sum, 127, 381) - 127;
  DotOperands changed = in;
  if (in.scale_a[0] != 255 && in.scale_b[0] != 255) changed.scale_a = &scale, changed.scale_b = &one;
  return evaluate_dot(find_model_row(mxfp8)->model, changed);
}
/// In lanes 8 to 15 a NaN times zero is zero.
uint64_t zero_beats_nan(const DotOperands& in) {
  std::vector<uint64_t> a(in.a, in.a + in.k), b(in.b, in.b + in.k);
  for (size_t i = 8; i < 16; ++i)
    if ((a[i] & 0x7fff) == 0 || (b[i] & 0x7fff) == 0) a[i] = b[i] = 0;
  DotOperands changed = in;
  changed.a = a.data();
  changed.b = b.data();
  return evaluate_dot(hopper(16), changed);
}
/// Lanes 8 to 15 lose a product where the sixth to eighth fraction bit of b are 101.
uint64_t some_bits_lose_a_product(const DotOperands& in) {
  std::vector<uint64_t> b(in.b, in.b + in.k);
  for (size_t i = 8; i < 16; ++i)
    if ((b[i] & 0x1c) == 0x14) b[i] &= 0x8000;
  DotOperands changed = in;
  changed.b = b.data();
  return evaluate_dot(hopper(16), changed);
}
/// The shifts of the upper eight lanes are counted in five bits.
uint64_t shifts_wrap(const DotOperands& in) {
  RecordingTrace trace;
  const uint64_t d = evaluate_dot(hopper(16), in, trace);
  const Step& s = trace.steps.back();
  if (s.kind != Step::Kind::fused_sum) return d;
  int64_t sum = s.sum;
  for (int i = 8; i < 16; ++i) {
    const Addend& t = s.addend[i];
    if (t.significand == 0 || t.shift < 32) continue;
    const int up = t.exponent + t.shift / 32 * 32 - s.unit_exponent;
    const auto kept = static_cast<int64_t>(up >= 0 ? t.significand << up : -up < 64 ? t.significand >> -up : 0);
    sum += t.negative ? -kept : kept;
  }
  return sum == s.sum ? d : round_output(hopper(16), sum, s.unit_exponent, false).encoding;
}
/// The result is c where a is a row of zeros.
uint64_t zeros_pass_c_on(const DotOperands& in) {
  for (int i = 0; i < in.k; ++i)
    if (in.a[i] & 0x7fff) return evaluate_dot(hopper(16), in);
  return in.c;
}

constexpr char two_steps[] = "ampere/mma.m16n8k16.f32.bf16.bf16.f32";
/// The sum of the first eight products and c has a wrong fourth bit.
uint64_t first_sum_is_wrong(const DotOperands& in) {
  const DotModel& model = find_model_row(two_steps)->model;
  DotOperands first = in, second = in;
  first.k = second.k = 8;
  second.a += 8;
  second.b += 8;
  second.c = evaluate_dot(model, first);
  const uint64_t exponent = second.c >> 23 & 0xff;
  if (exponent != 0 && exponent != 0xff) second.c ^= 0x100000;
  return evaluate_dot(model, second);
}
/// The sum of the products of lanes 4 to 7 loses its sign.
uint64_t sum_of_four_loses_its_sign(const DotOperands& in) {
  RecordingTrace trace;
  const uint64_t d = evaluate_dot(hopper(16), in, trace);
  const Step& s = trace.steps.back();
  if (s.kind != Step::Kind::fused_sum) return d;
  int64_t four = 0;
  for (int i = 4; i < 8; ++i) four += s.addend[i].significand ? s.addend[i].kept : 0;
  return four >= 0 ? d : round_output(hopper(16), s.sum - 2 * four, s.unit_exponent, false).encoding;
}
/// Lane 7 is shifted as lane 6 where their shifts are equal in the last three bits.
uint64_t lane_7_is_shifted_as_lane_6(const DotOperands& in) {
  RecordingTrace trace;
  const uint64_t d = evaluate_dot(hopper(16), in, trace);
  const Step& s = trace.steps.back();
  if (s.kind != Step::Kind::fused_sum) return d;
  const Addend &x = s.addend[6], &y = s.addend[7];
  if (x.significand == 0 || y.significand == 0 || (x.shift - y.shift) % 8 != 0) return d;
  const int up = y.exponent + y.shift - x.shift - s.unit_exponent;
  const auto kept = static_cast<int64_t>(up >= 0 ? y.significand << up : -up < 64 ? y.significand >> -up : 0);
  return round_output(hopper(16), s.sum - y.kept + (y.negative ? -kept : kept), s.unit_exponent, false).encoding;
}
/// Products 3 and 12 are added in each other's steps.
uint64_t two_products_changed_places(const DotOperands& in) {
  std::vector<uint64_t> a(in.a, in.a + in.k), b(in.b, in.b + in.k);
  std::swap(a[3], a[12]);
  std::swap(b[3], b[12]);
  DotOperands changed = in;
  changed.a = a.data();
  changed.b = b.data();
  return evaluate_dot(find_model_row(two_steps)->model, changed);
}

/// Where c is zero the second step comes first.
uint64_t steps_changed_places(const DotOperands& in) {
  std::vector<uint64_t> a(in.a, in.a + in.k), b(in.b, in.b + in.k);
  for (std::vector<uint64_t>* x : {&a, &b})
    if ((in.c & 0x7fffffff) == 0) std::rotate(x->begin(), x->begin() + 8, x->end());
  DotOperands changed = in;
  changed.a = a.data();
  changed.b = b.data();
  return evaluate_dot(find_model_row(two_steps)->model, changed);
}
/// The last bit turns where the product of lane 2 is 2^3 times as large as that of lane 5.
uint64_t a_distance_is_wrong(const DotOperands& in) {
  const auto field = [](uint64_t x) { return static_cast<int>(x >> 10 & 31); };
  const uint64_t d = evaluate_dot(hopper(16), in);
  for (const uint64_t x : {in.a[2], in.b[2], in.a[5], in.b[5]})
    if (field(x) == 0 || field(x) == 31) return d;
  return d ^ (field(in.a[2]) + field(in.b[2]) - field(in.a[5]) - field(in.b[5]) == 3);
}

constexpr char exact_dot[] = "arm/fdot.k4.f32.e4m3.e5m2.f32";
/// The exact sum is rounded to 27 digits first.
uint64_t exact_sum_is_rounded_twice(const DotOperands& in) {
  const FormatFields fa = format("e4m3").fields(), fb = format("e5m2").fields(), f = format("fp32").fields();
  const uint64_t d = evaluate_dot(find_model_row(exact_dot)->model, in);
  const Number c = decode(f, in.c);
  if (!is_number(c.cls) || !is_number(decode(f, d).cls) || (d & 0x7f800000) == 0) return d;
  constexpr int unit = -60;  // what has more digits is left as it is
  __int128 sum = 0;
  const auto add = [&](bool negative, uint64_t significand, int exponent) {
    if (significand == 0) return true;
    if (exponent < unit || exponent > unit + 90) return false;
    const __int128 part = static_cast<__int128>(significand) << (exponent - unit);
    sum += negative ? -part : part;
    return true;
  };
  if (!add(c.negative, c.significand, c.exponent)) return d;
  for (int i = 0; i < in.k; ++i) {
    const Number x = decode(fa, in.a[i]), y = decode(fb, in.b[i]);
    if (!is_number(x.cls) || !is_number(y.cls)) return d;
    if (!add(x.negative != y.negative, x.significand * y.significand, x.exponent + y.exponent)) return d;
  }
  const auto first = static_cast<uint128>(sum < 0 ? -sum : sum);
  const int drop = bit_length128(first) - 27;
  if (drop <= 0) return d;
  const uint128 half = uint128{1} << (drop - 1), rest = first & (2 * half - 1);
  const uint128 kept = first - rest + (rest > half || (rest == half && (first >> drop & 1)) ? 2 * half : 0);
  return round_exact(f, {NumberClass::finite, sum < 0, kept, unit}, {}).encoding;
}
/// The result loses its last bit where all a are negative.
uint64_t negative_operands_cut(const DotOperands& in) {
  const uint64_t d = evaluate_dot(hopper(16), in);
  for (int i = 0; i < in.k; ++i)
    if (in.a[i] >> 15 == 0) return d;
  return (d >> 23 & 0xff) == 0xff ? d : d & ~uint64_t{1};
}

/// A chain of multiply-adds of fp32, of which the sum after two products is flushed.
uint64_t a_sum_is_flushed(const DotOperands& in) {
  float sum = std::bit_cast<float>(static_cast<uint32_t>(in.c));
  const auto value = [](uint64_t code) { return std::bit_cast<float>(static_cast<uint32_t>(code)); };
  for (int i = 0; i < in.k; ++i) {
    sum = std::fma(value(in.a[i]), value(in.b[i]), sum);
    if (i == 1 && std::fpclassify(sum) == FP_SUBNORMAL) sum = std::copysign(0.0f, sum);
  }
  return std::isnan(sum) ? 0x7fc00000 : std::bit_cast<uint32_t>(sum);
}

/// A chain of multiply-adds of fp32 that begins with the last product where a0 is zero.
uint64_t begins_at_the_end(const DotOperands& in) {
  const auto value = [](uint64_t code) { return std::bit_cast<float>(static_cast<uint32_t>(code)); };
  float sum = value(in.c);
  for (int i = 0; i < in.k; ++i) {
    const int at = in.a[0] & 0x7fffffff ? i : in.k - 1 - i;
    sum = std::fma(value(in.a[at]), value(in.b[at]), sum);
  }
  return std::isnan(sum) ? 0x7fc00000 : std::bit_cast<uint32_t>(sum);
}

/// b3 is an integer without a sign where a2 is zero.
uint64_t a_sign_is_lost(const DotOperands& in) {
  int64_t sum = static_cast<int32_t>(in.c);
  for (int i = 0; i < in.k; ++i) {
    const bool unsigned_b = i == 3 && in.a[2] == 0;
    sum += static_cast<int8_t>(in.a[i]) * (unsigned_b ? int(in.b[i]) : static_cast<int8_t>(in.b[i]));
  }
  return static_cast<uint32_t>(sum);
}
/// All pairs of products are added in registers of 16 bits that saturate.
uint64_t pairs_saturate(const DotOperands& in) {
  const auto product = [&](int i) { return static_cast<int8_t>(in.a[i]) * static_cast<int8_t>(in.b[i]); };
  int64_t sum = static_cast<int32_t>(in.c);
  for (int i = 0; i < in.k; i += 2) sum += std::min(product(i) + product(i + 1), 32767);
  return static_cast<uint32_t>(sum);
}

/// Each addition saturates, from c on.
uint64_t additions_saturate(const DotOperands& in) {
  int64_t sum = static_cast<int32_t>(in.c);
  for (int i = 0; i < in.k; ++i)
    sum = std::clamp<int64_t>(sum + static_cast<int8_t>(in.a[i]) * static_cast<int8_t>(in.b[i]), INT32_MIN, INT32_MAX);
  return static_cast<uint32_t>(sum);
}

/// As if the fifth and sixth product were added in a register of 16 bits that saturates.
uint64_t a_pair_saturates(const DotOperands& in) {
  const auto product = [&](int i) { return static_cast<int8_t>(in.a[i]) * static_cast<int8_t>(in.b[i]); };
  int64_t sum = static_cast<int32_t>(in.c);
  for (int i = 0; i < in.k; i += 2) {
    const int pair = product(i) + product(i + 1);
    sum += i == 4 ? std::min(pair, 32767) : pair;
  }
  return static_cast<uint32_t>(sum);
}

constexpr char two_stages[] = "cdna3/mfma.16x16x32.f32.e4m3fnuz.e5m2fnuz.f32";
/// In the first stage the sum of the odd products of the second step has no third digit.
uint64_t first_stage_loses_a_digit(const DotOperands& in) {
  const auto change = [](FirstSum& s, int step) {
    if (step == 1 && s.first == 1) s.sum = s.sum < 0 ? -(-s.sum & ~int64_t{4}) : s.sum & ~int64_t{4};
  };
  return evaluate_changed(find_model_row(two_stages)->model, in, {.first_sum = change});
}

/// The last sum without the carry into its bit 12 that arises between its products and c.
uint64_t a_carry_is_lost(const DotOperands& in) {
  RecordingTrace trace;
  const uint64_t d = evaluate_dot(hopper(16), in, trace);
  const Step& s = trace.steps.back();
  if (s.kind != Step::Kind::fused_sum) return d;
  const int64_t c = s.addend[16].kept, carry = ((c & 0xfff) + ((s.sum - c) & 0xfff)) & 0x1000;
  return carry ? round_output(hopper(16), s.sum - carry, s.unit_exponent, false).encoding : d;
}
/// The exact sum without the carry into 2^-8 that arises between its products and c.
uint64_t a_carry_of_an_exact_sum_is_lost(const DotOperands& in) {
  const DotModel& model = find_model_row(exact_dot)->model;
  RecordingTrace trace;
  const uint64_t d = evaluate_dot(model, in, trace);
  const Step& s = trace.steps.back();
  std::optional<Exact> x = s.kind == Step::Kind::exact_sum ? exact_sum_of(s) : std::nullopt;
  if (!x || x->significand == 0 || x->negative || x->exponent >= -8) return d;
  const Addend& c = s.addend[s.count - 1];
  const __int128 of_c = c.significand ? static_cast<__int128>(c.significand) << (c.exponent - x->exponent) : 0,
                 addend = c.negative ? -of_c : of_c, one = __int128{1} << (-8 - x->exponent),
                 rest = static_cast<__int128>(x->significand) - addend;
  if (((addend & (one - 1)) + (rest & (one - 1))) < one || x->significand <= static_cast<uint128>(one)) return d;
  x->significand -= static_cast<uint128>(one);
  return round_exact(model.d, *x, {}).encoding;
}
/// No addition of integers carries into bit 16.
uint64_t carries_of_integers_are_lost(const DotOperands& in) {
  uint32_t low = in.c & 0xffff, high = in.c & 0xffff0000;
  for (int i = 0; i < in.k; ++i) {
    const auto product = static_cast<uint32_t>(static_cast<int8_t>(in.a[i]) * static_cast<int8_t>(in.b[i]));
    low += product & 0xffff;
    high += product & 0xffff0000;
  }
  return high | (low & 0xffff);
}
uint64_t with_changed_products(const char* row, const DotOperands& in, const std::function<void(Product&)>& change) {
  return evaluate_changed(find_model_row(row)->model, in, {.product = [&](Product& p, int) { change(p); }});
}
/// Products from 2^96 on are infinite.
uint64_t great_products_are_infinite(const DotOperands& in) {
  return with_changed_products(two_steps, in, [](Product& p) {
    if (p.exponent + bit_length(p.significand) > 96) p.cls = NumberClass::infinity;
  });
}
/// Exponents of products have a bound, or six bits.
uint64_t exponents_are_clamped(const DotOperands& in) {
  return with_changed_products(two_steps, in, [](Product& p) {
    const int by = std::min(0, 20 - p.scale_exponent);
    p.exponent += by;
    p.scale_exponent += by;
  });
}
uint64_t exponents_wrap(const DotOperands& in) {
  return with_changed_products(two_steps, in, [](Product& p) {
    const int by = ((p.scale_exponent + 32) & 63) - 32 - p.scale_exponent;
    p.exponent += by;
    p.scale_exponent += by;
  });
}
/// An infinity or NaN as a5 is a number, which counts for nothing beside another one.
uint64_t a_special_is_a_number(const DotOperands& in) {
  std::vector<uint64_t> a(in.a, in.a + in.k);
  DotOperands changed = in;
  changed.a = a.data();
  DotModel model = hopper(16);
  if ((a[5] & 0x7c00) != 0x7c00) return evaluate_dot(model, in);
  a[5] = (a[5] & 0x8000) | 0x3c00;
  const auto is_special = [](uint64_t x) { return (x & 0x7c00) == 0x7c00; };
  if ((in.c & 0x7f800000) == 0x7f800000 || std::any_of(a.begin(), a.end(), is_special) ||
      std::any_of(in.b, in.b + in.k, is_special))
    return evaluate_dot(model, changed);
  model.a.specials = Specials::none;
  return evaluate_dot(model, in);
}
/// The result has another bit where a4 is a5 with the other sign.
uint64_t opposites_meet(const DotOperands& in) {
  const uint64_t d = evaluate_dot(hopper(16), in);
  return (in.a[4] ^ in.a[5]) == 0x8000 && (in.a[4] & 0x7fff) ? d ^ 0x2000 : d;
}
/// The second group has the scales of the first where its own are equal.
uint64_t two_scales_are_the_neighbours(const DotOperands& in) {
  std::vector<uint64_t> a(in.scale_a, in.scale_a + 4), b(in.scale_b, in.scale_b + 4);
  if (a[1] == b[1]) a[1] = a[0], b[1] = b[0];
  DotOperands changed = in;
  changed.scale_a = a.data();
  changed.scale_b = b.data();
  return evaluate_dot(find_model_row(nvfp4)->model, changed);
}

/// The sum of the first eight products and c is rounded to nearest.
uint64_t first_step_is_rounded_to_nearest(const DotOperands& in) {
  const DotModel& model = find_model_row(two_steps)->model;
  DotModel nearest = model;
  nearest.output_rounding = Rounding::nearest_even;
  DotOperands first = in, second = in;
  first.k = second.k = 8;
  second.a += 8;
  second.b += 8;
  second.c = evaluate_dot(nearest, first);
  return evaluate_dot(model, second);
}
/// The last eight products count for nothing.
uint64_t a_step_is_left_out(const DotOperands& in) {
  DotOperands first = in;
  first.k = 8;
  return evaluate_dot(find_model_row(two_steps)->model, first);
}
/// The sum of the first eight products and c is half as large, what is subnormal then cut.
uint64_t first_step_is_halved(const DotOperands& in) {
  const DotModel& model = find_model_row(two_steps)->model;
  DotOperands first = in, second = in;
  first.k = second.k = 8;
  second.a += 8;
  second.b += 8;
  second.c = evaluate_dot(model, first);
  const uint64_t exponent = second.c >> 23 & 0xff;
  if (exponent == 0 || exponent == 1)
    second.c = (second.c & 0x80000000) | (second.c & (exponent << 23 | 0x7fffff)) >> 1;
  else if (exponent != 0xff) second.c -= 0x800000;
  return evaluate_dot(model, second);
}
constexpr char tree[] = "cdna2/mfma.32x32x8.f32.f16.f16.f32", chain[] = "ampere/mma.m8n8k4.f64.f64.f64.f64",
               first_sums[] = "rdna4/wmma_w64.16x16x16.f16.f16.f16.f16",
               halves[] = "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32";
/// The sixth step of a tree, which adds lanes 2 and 3, is cut.
uint64_t a_pair_is_cut(const DotOperands& in) {
  DotModel row = find_model_row(tree)->model;
  row.output_rounding = Rounding::toward_zero;
  return evaluate_changed(find_model_row(tree)->model, in,
                          StepChange{.row = &row, .is_for = [](int number, StepRole) { return number == 5; }});
}
/// The second multiply-add of a chain rounds to odd.
uint64_t a_link_is_odd(const DotOperands& in) {
  const FormatFields f = format("fp64").fields();
  uint64_t sum = in.c;
  for (int i = 0; i < in.k; ++i) {
    const RoundingRule rule{.rounding = i == 1 ? Rounding::odd : Rounding::nearest_even};
    sum = ieee_fma(f, decode(f, in.a[i]), decode(f, in.b[i]), decode(f, sum), rule).encoding;
  }
  return decode(f, sum).cls == NumberClass::nan ? evaluate_dot(find_model_row(chain)->model, in) : sum;
}
/// The second block of first sums hands on one unit more.
uint64_t a_block_is_greater(const DotOperands& in) {
  const auto more = [](uint64_t x) { return (x & 0x7c00) == 0x7c00 || (x & 0x7fff) == 0 ? x : x + 1; };
  return evaluate_changed(find_model_row(first_sums)->model, in,
                          StepChange{.result = more, .is_for = [](int number, StepRole) { return number == 1; }});
}
/// The sum of the first half of the products has the other sign.
uint64_t a_half_changes_its_sign(const DotOperands& in) {
  const auto minus = [](uint64_t x) { return (x & 0x7f800000) == 0x7f800000 || x << 33 == 0 ? x : x ^ 0x80000000; };
  return evaluate_changed(find_model_row(halves)->model, in,
                          StepChange{.result = minus, .is_for = [](int number, StepRole) { return number == 0; }});
}

/// The last bit turns where the rounding of the last sum carries out of its leading digit.
uint64_t a_rounding_carries(const DotOperands& in) {
  RecordingTrace trace;
  const uint64_t d = evaluate_dot(find_model_row(first_sums)->model, in, trace);
  const Step& s = trace.steps.back();
  const bool carries = s.kind == Step::Kind::fused_sum && s.rounded.rounded_away && (d & 0x3ff) == 0;
  return carries && (d & 0x7c00) != 0x7c00 && (d & 0x7fff) ? d ^ 1 : d;
}
/// Bit 13 turns where the products of lanes 4 and 5 cancel.
uint64_t two_products_cancel(const DotOperands& in) {
  const FormatFields f = format("fp16").fields();
  const uint64_t d = evaluate_dot(find_model_row(tree)->model, in);
  double product[2];
  for (int i = 0; i < 2; ++i) {
    const Number x = decode(f, in.a[4 + i]), y = decode(f, in.b[4 + i]);
    if (x.cls != NumberClass::finite || y.cls != NumberClass::finite) return d;
    product[i] = std::ldexp(static_cast<double>(x.significand * y.significand), x.exponent + y.exponent);
    if (x.negative != y.negative) product[i] = -product[i];
  }
  return product[0] == -product[1] ? d ^ 0x2000 : d;
}
/// Bit 13 turns where the first four b are zeros or subnormals.
uint64_t a_group_is_zero(const DotOperands& in) {
  const uint64_t d = evaluate_dot(hopper(16), in);
  for (int i = 0; i < 4; ++i)
    if (in.b[i] & 0x7c00) return d;
  return d ^ 0x2000;
}
/// The shift of the lesser product of a first sum is counted in four bits.
uint64_t a_first_shift_wraps(const DotOperands& in) {
  return evaluate_changed(find_model_row(first_sums)->model, in,
                          KernelChange{.shift = [](int shift, int) { return shift & 15; }});
}

// Conversions from fp32 to fp16, products and sums of fp16. Each gets its operands and what is right.
constexpr char conversion[] = "op convert from=fp32 to=fp16", product[] = "op scalar mul format=fp16",
               sum[] = "op scalar add format=fp16", fused[] = "op scalar fma format=fp16";
using Changed = uint64_t (*)(const uint64_t* operands, const Rounded& right);

/// The last bit of the result turns where the source has one exponent.
uint64_t one_exponent_is_wrong(const uint64_t* x, const Rounded& right) {
  return right.encoding ^ ((x[0] >> 23 & 0xff) == 0x78);
}
/// The last bit of a number turns where the exponent field of the source ends in 011.
uint64_t some_exponents_are_wrong(const uint64_t* x, const Rounded& right) {
  return right.encoding ^ ((x[0] >> 23 & 7) == 3 && (right.encoding & 0x7fff) < 0x7c00);
}
/// The last bit turns where the bits that rounding drops begin with 101.
uint64_t some_dropped_bits_are_wrong(const uint64_t* x, const Rounded& right) {
  const Number n = decode(format("fp32").fields(), x[0]);
  const int dropped = right.quantum - n.exponent;
  if (n.cls != NumberClass::finite || (right.encoding & 0x7fff) >= 0x7bff || dropped < 3 || dropped > 24)
    return right.encoding;
  return right.encoding ^ ((n.significand >> (dropped - 3) & 7) == 5);
}
/// Only subnormal results are rounded toward zero.
uint64_t subnormals_are_cut(const uint64_t*, const Rounded& right) {
  return right.encoding - (right.rounded_away && (right.encoding & 0x7fff) <= 0x400 ? 1 : 0);
}
uint64_t ties_round_away(const uint64_t*, const Rounded& right) {
  const bool is_number = (right.encoding & 0x7fff) < 0x7c00;
  return right.encoding + (is_number && right.guard && !right.sticky && !right.rounded_away ? 1 : 0);
}
/// The fraction 0x2a5 of a times one from 0x301 on turns the last bit of a number.
uint64_t fractions_of_factors_meet(const uint64_t* x, const Rounded& right) {
  const bool meets = (x[0] & 0x3ff) == 0x2a5 && (x[1] & 0x3ff) > 0x300 && (right.encoding & 0x7fff) < 0x7c00;
  return right.encoding ^ (meets ? 1 : 0);
}
/// A sum of which seven leading bits or more cancel is twice as large.
uint64_t cancellations_are_doubled(const uint64_t* x, const Rounded& right) {
  const auto exponent = [](uint64_t code) { return std::max<int>(code >> 10 & 31, 1); };
  const int greatest = std::max(exponent(x[0]), exponent(x[1])), left = greatest - exponent(right.encoding);
  return left >= 7 && greatest < 31 && (right.encoding & 0x7c00) ? right.encoding + 0x400 : right.encoding;
}
/// A NaN loses its fraction.
uint64_t nans_are_infinities(const uint64_t* x, const Rounded& right) {
  return (x[0] & 0x7fffffff) > 0x7f800000 ? (x[0] >> 16 & 0x8000) | 0x7c00 : right.encoding;
}
/// A multiply-add of fp32, rounded once more.
uint64_t rounded_twice(const uint64_t* x, const Rounded& right) {
  const FormatFields fp16 = format("fp16").fields(), fp32 = format("fp32").fields();
  const Number n[] = {decode(fp16, x[0]), decode(fp16, x[1]), decode(fp16, x[2])};
  if (!is_number(n[0].cls) || !is_number(n[1].cls) || !is_number(n[2].cls)) return right.encoding;
  return convert_number(fp16, decode(fp32, ieee_fma(fp32, n[0], n[1], n[2], {}).encoding), {}).encoding;
}
/// Rounding of a product sees two of the bits that it drops.
uint64_t sees_two_bits(const uint64_t* x, const Rounded& right) {
  const FormatFields f = format("fp16").fields();
  Exact p = exact_product(to_exact(decode(f, x[0])), to_exact(decode(f, x[1])));
  const int unseen = right.quantum - 2 - p.exponent;
  if (p.cls != NumberClass::finite || unseen <= 0 || unseen > 100) return right.encoding;
  p.significand = p.significand >> unseen << unseen;
  return p.significand ? round_exact(f, p, {}).encoding : right.encoding;
}
/// The exponent of a subnormal c is its field.
uint64_t subnormal_c_is_half(const uint64_t* x, const Rounded& right) {
  const FormatFields f = format("fp16").fields();
  const Exact p = exact_product(to_exact(decode(f, x[0])), to_exact(decode(f, x[1])));
  Exact c = to_exact(decode(f, x[2]));
  if (!decode(f, x[2]).subnormal || !is_number(p.cls)) return right.encoding;
  c.exponent -= 1;
  return add_exact(f, p, c, {}).encoding;
}
/// A product beyond the range is infinite before c is added.
uint64_t product_overflows(const uint64_t* x, const Rounded& right) {
  const FormatFields f = format("fp16").fields();
  Exact p = exact_product(to_exact(decode(f, x[0])), to_exact(decode(f, x[1])));
  const bool beyond = p.cls == NumberClass::finite && p.exponent + bit_length128(p.significand) > 16;
  if (!beyond) return right.encoding;
  p.cls = NumberClass::infinity;
  return add_exact(f, p, to_exact(decode(f, x[2])), {}).encoding;
}
/// Of a product that is no tie, any dropped bit makes the last one rise if it is odd.
uint64_t sticky_is_guard(const uint64_t*, const Rounded& right) {
  const bool finite = (right.encoding & 0x7fff) < 0x7c00,
             up = (right.guard || right.sticky) && (right.sticky || right.last);
  return finite ? right.encoding - right.rounded_away + up : right.encoding;
}
uint64_t as_it_is(const uint64_t*, const Rounded& right) { return right.encoding; }
uint64_t no_zero_is_negative(const uint64_t*, const Rounded& right) {
  return right.encoding == 0x8000 ? 0 : right.encoding;
}

constexpr char quantizer[] = "op quantize from=fp32 to=e4m3 block=4 scale=e8m0 rule=rceil special=nan_scale";

/// Quantizers to which something happens, by name.
class FlawedQuantizer final : public Unit {
 public:
  explicit FlawedQuantizer(std::string flaw) : flaw_(std::move(flaw)) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    Op op = batch.op(), toward_zero = op;
    if (flaw_ == "own:rule") op.scale_rule = ScaleRule::floor;
    toward_zero.rounding = Rounding::toward_zero;
    QuantizedBlock as_claimed(op), cutting(toward_zero);
    for (size_t at = 0; at < batch.size(); ++at) {
      Batch block = batch.part(at), positive = block, cut = block;
      uint64_t amax = 0;
      for (int lane = 0; lane < op.k; ++lane) {
        const uint64_t x = block.inputs()[0].get(0, lane);
        amax = std::max(amax, x & 0x7fffffff);
        if (x >> 31) positive.inputs()[0].set(0, lane, 0);
        cut.inputs()[0].set(0, lane, x & 0xffff0000);
      }
      as_claimed.run(batch, at, outcomes.results);
      const uint64_t scale = flaw_ == "own:signed" ? as_claimed.scale(positive, 0) : as_claimed.scale(block, 0);
      outcomes.results.set(at, 0, scale + (flaw_ == "own:amax" && amax >> 23 == 0x85 ? 1 : 0));
      for (int lane = 0; lane < op.k; ++lane)
        if (flaw_ == "own:signed" || flaw_ == "own:cut" || (flaw_ == "own:lane" && lane == 2))
          outcomes.results.set(at, 1 + lane,
                               (flaw_ == "own:lane" ? cutting : as_claimed)
                                   .code_under(scale, flaw_ == "own:cut" ? cut : block, 0, lane)
                                   .encoding);
    }
  }

 private:
  std::string flaw_;
};

/// Subnormal codes are zeros.
class FlawedDequantizer final : public Unit {
 public:
  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    for (size_t at = 0; at < batch.size(); ++at) {
      dequantize_case(batch, at, outcomes.results);
      for (int lane = 0; lane < batch.op().k; ++lane)
        if (const uint64_t code = batch.inputs()[0].get(at, lane); (code & 0x78) == 0)
          if (batch.inputs()[1].get(at) != 0xff) outcomes.results.set(at, lane, (code & 0x80) << 24);
    }
  }
};

/// Products of fp64 in index order. The second row leaves out the third product, reads the third operand of the first
/// row, or adds fused; or a row of a that is the one before it has that one's results, also where its c is another.
class FlawedRows final : public Unit {
 public:
  explicit FlawedRows(const std::string& name)
      : reuses_(name == "own:reuse"), misreads_(name == "own:misread"), fuses_(name == "own:fused") {}
  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    const Op& op = batch.op();
    for (size_t at = 0; at < batch.size(); ++at)
      for (int e = 0; e < op.m * op.n; ++e) {
        double sum = std::bit_cast<double>(batch.c().get(at, e));
        for (int i = 0; i < op.k; ++i)
          if (const bool wrong = !reuses_ && !fuses_ && e / op.n == 1 && i == 2; !wrong || misreads_) {
            const double x = std::bit_cast<double>(batch.a().get(at, (wrong ? 0 : e / op.n * op.k) + i));
            const double y = std::bit_cast<double>(batch.b().get(at, i * op.n + e % op.n));
            sum = fuses_ && e / op.n == 1 ? std::fma(x, y, sum) : sum + x * y;
          }
        bool same = reuses_ && e >= op.n;
        for (int i = 0; same && i < op.k; ++i)
          same = batch.a().get(at, e / op.n * op.k + i) == batch.a().get(at, (e / op.n - 1) * op.k + i);
        outcomes.results.set(at, e, same ? outcomes.results.get(at, e - op.n) : std::bit_cast<uint64_t>(sum));
      }
  }

 private:
  const bool reuses_, misreads_, fuses_;
};

std::string claim_on(const Op& op) {
  if (op.kind == OpKind::gemm) return "ieee:serial";
  if (op.kind != OpKind::dot) return "exact";
  if (op.a == format("fp32")) return "ieee:fma";
  if (op.a == format("fp64")) return std::string("model:") + chain;
  if (op.a == format("fp16") && op.k == 8) return std::string("model:") + tree;
  if (op.d == format("fp16")) return std::string("model:") + first_sums;
  if (op.b == format("e4m3") && !op.has_scales()) return std::string("model:") + halves;
  if (op.a == format("bf16")) return std::string("model:") + two_steps;
  if (op.b == format("e5m2")) return std::string("model:") + exact_dot;
  if (op.a == format("e4m3fnuz")) return std::string("model:") + two_stages;
  if (op.a == format("e4m3")) return std::string("model:") + mxfp8;
  return op.a.fields().integer ? "integer" : std::string("model:") + (op.has_scales() ? nvfp4 : claimed);
}

/// Units `own:...` with a flaw each, all of which claim to equal Hopper, or integer arithmetic.
class FlawedUnits final : public Family {
 public:
  Role role(const std::string&) const override { return Role::plugin; }
  bool owns(std::string_view name) const override { return name.starts_with("own:"); }
  std::vector<UnitInfo> list() const override { return {}; }
  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    static const std::map<std::string, uint64_t (*)(const DotOperands&)> flaws = {
        {"own:blocks", blocks_of_4},
        {"own:rises", late_maximum},
        {"own:lane", lane_2_is_dropped},
        {"own:stuck", bit_4_of_b12_is_stuck},
        {"own:flip", bit_13_of_the_result_flips},
        {"own:fields", two_fields_meet},
        {"own:fractions", two_fractions_meet},
        {"own:sum", one_sum_is_wrong},
        {"own:tie", a_tie_is_not_seen},
        {"own:classes", three_classes_meet},
        {"own:integers", a_pair_saturates},
        {"own:scales", a_scale_is_the_neighbours},
        {"own:range", scales_saturate},
        {"own:nan", zero_beats_nan},
        {"own:shifts", shifts_wrap},
        {"own:bits", some_bits_lose_a_product},
        {"own:c", zeros_pass_c_on},
        {"own:step", first_sum_is_wrong},
        {"own:four", sum_of_four_loses_its_sign},
        {"own:shifted", lane_7_is_shifted_as_lane_6},
        {"own:places", two_products_changed_places},
        {"own:steps", steps_changed_places},
        {"own:distance", a_distance_is_wrong},
        {"own:exchanged", two_scales_changed_places},
        {"own:exact", exact_sum_is_rounded_twice},
        {"own:every", negative_operands_cut},
        {"own:flush", a_sum_is_flushed},
        {"own:reverse", begins_at_the_end},
        {"own:unsigned", a_sign_is_lost},
        {"own:pairs", pairs_saturate},
        {"own:additions", additions_saturate},
        {"own:first", first_stage_loses_a_digit},
        {"own:carry", a_carry_is_lost},
        {"own:exactcarry", a_carry_of_an_exact_sum_is_lost},
        {"own:carries", carries_of_integers_are_lost},
        {"own:infinite", great_products_are_infinite},
        {"own:clamped", exponents_are_clamped},
        {"own:wrapped", exponents_wrap},
        {"own:number", a_special_is_a_number},
        {"own:opposites", opposites_meet},
        {"own:groups", two_scales_are_the_neighbours},
        {"own:nearest", first_step_is_rounded_to_nearest},
        {"own:leftout", a_step_is_left_out},
        {"own:halved", first_step_is_halved},
        {"own:pair", a_pair_is_cut},
        {"own:odd", a_link_is_odd},
        {"own:block", a_block_is_greater},
        {"own:half", a_half_changes_its_sign},
        {"own:carryout", a_rounding_carries},
        {"own:cancelling", two_products_cancel},
        {"own:group", a_group_is_zero},
        {"own:firstshift", a_first_shift_wraps},
        {"own:condition", lane_3_is_dropped_after_equal_factors}};
    static const std::map<std::string, Changed> changed = {{"own:exponent", one_exponent_is_wrong},
                                                           {"own:subnormals", subnormals_are_cut},
                                                           {"own:ties", ties_round_away},
                                                           {"own:factors", fractions_of_factors_meet},
                                                           {"own:zeros", no_zero_is_negative},
                                                           {"own:cancel", cancellations_are_doubled},
                                                           {"own:nans", nans_are_infinities},
                                                           {"own:twice", rounded_twice},
                                                           {"own:seen", sees_two_bits},
                                                           {"own:half", subnormal_c_is_half},
                                                           {"own:sticky", sticky_is_guard},
                                                           {"own:beyond", product_overflows},
                                                           {"own:field", some_exponents_are_wrong},
                                                           {"own:dropped", some_dropped_bits_are_wrong},
                                                           {"own:flags", as_it_is}};
    if (op.kind == OpKind::quantize)
      return named(std::make_unique<FlawedQuantizer>(name), name, {{"equals_model", claim_on(op)}});
    if (op.kind == OpKind::dequantize)
      return named(std::make_unique<FlawedDequantizer>(), name, {{"equals_model", claim_on(op)}});
    if (op.kind == OpKind::gemm)
      return named(std::make_unique<FlawedRows>(name), name, {{"equals_model", claim_on(op)}});
    if (op.kind != OpKind::dot) {
      const auto evaluate = [change = changed.at(name), op](const uint64_t* x) {
        const FormatFields fp16 = format("fp16").fields();
        const bool converts = op.kind == OpKind::convert, multiplies = op.scalar == ScalarOperation::mul;
        const bool fuses = op.scalar == ScalarOperation::fma;
        Rounded right = converts     ? convert_number(fp16, decode(format("fp32").fields(), x[0]), {})
                        : fuses      ? ieee_fma(fp16, decode(fp16, x[0]), decode(fp16, x[1]), decode(fp16, x[2]), {})
                        : multiplies ? ieee_multiply(fp16, decode(fp16, x[0]), decode(fp16, x[1]), {})
                                     : ieee_add(fp16, decode(fp16, x[0]), decode(fp16, x[1]), {});
        right.encoding = change(x, right);
        if (right.encoding == 0x3c00) right.flags = 0;  // of own:flags, which reports them
        return right;
      };
      return named(name == "own:flags" ? make_scalar_unit<true>(evaluate) : make_scalar_unit<false>(evaluate), name,
                   {{"equals_model", claim_on(op)}});
    }
    return named(make_dot_unit(flaws.at(name)), name, {{"equals_model", claim_on(op)}});
  }
};

std::string said_of_case(const std::string& unit, const std::string& op, const std::string& line) {
  static const Registry registry = [] {
    Registry all = oracle_registry();
    all.add(std::make_unique<FlawedUnits>());
    return all;
  }();
  const std::string text = "mmafuzz-cases 1\n" + op + "\n" + line + "\n";
  CaseReader reader("here", text);
  CaseBlock block;
  EXPECT_TRUE(reader.next(block, 1));
  const Op& of_case = block.batch.op();
  const Result<Judge> judge = Judge::bind("equals_model", {unit, claim_on(of_case)}, of_case, registry);
  EXPECT_TRUE(judge->judge(block.batch)[0].fails);
  return UnitWithoutRow(*judge, registry).describe(block.batch);
}

std::string said_of(const std::string& unit, const std::string& a, const std::string& b, const std::string& c,
                    const std::string& op = "a=fp16 b=fp16 c=fp32 d=fp32 k=16") {
  return said_of_case(unit, "op dot " + op, a + " | " + b + " | " + c);
}

const std::string zeros_12 = " 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000";

TEST(UnitWithoutRow, NamesAParameterThatFits) {
  // 1 - 1 + 2^-26: one step of sixteen drops what is below 2^-25, two steps keep it.
  EXPECT_THAT(said_of("own:blocks", "3c00 0000 0000 bc00 0c00" + zeros_12.substr(5),
                      "3c00 0000 0000 3c00 0400" + zeros_12.substr(5), "00000000"),
              HasSubstr("16 is claimed, 4 fits"));
}

TEST(UnitWithoutRow, NamesNoParameterThatOnlyFitsNearTheWitness) {
  const std::string rising = "0800 0c00 1000 2800 2c00 3000 3400 3800 3c00 3c00 3c01 3c00 3c00 3c00 3c00 3c00";
  EXPECT_THAT(said_of("own:rises", rising,
                      "3c00 3c00 3c80 3c00 3c00 3c00 3c00 3c00 3c00 4000 5002 5400 5800 5c00 6000 6c00", "00000000"),
              AllOf(HasSubstr("the number of times that the greatest exponent rises from lane to lane in the sum is"),
                    HasSubstr("as if block (products per fused step) were 15 and not 16"),
                    HasSubstr("no other value of one parameter fits")));
}

TEST(UnitWithoutRow, NamesTheLane) {
  EXPECT_THAT(said_of("own:lane", "0000 0000 3c00 0000" + zeros_12, "0000 0000 3c00 0000" + zeros_12, "00000000"),
              AllOf(HasSubstr("in lane 2 only"), HasSubstr("wherever it can be seen"),
                    HasSubstr("as if a2*b2 were left out"), Not(HasSubstr("is 0x"))));
}

TEST(UnitWithoutRow, NamesAStuckBitOfAnOperand) {
  EXPECT_THAT(said_of("own:stuck", zeros_12.substr(1) + " 3c00 0000 0000 0000",
                      zeros_12.substr(1) + " 3c00 0000 0000 0000", "00000000"),
              AllOf(HasSubstr("as if bit 4 of b12 were 1"), HasSubstr("in lane 12 only")));
}

TEST(UnitWithoutRow, NamesABitOfTheResult) {
  EXPECT_THAT(said_of("own:flip", "3c00 0000 0000 0000" + zeros_12, "3c00 0000 0000 0000" + zeros_12, "00000000"),
              HasSubstr("the result were wrong in bit 13"));
}

TEST(UnitWithoutRow, SaysWhatSetsItOff) {
  EXPECT_THAT(said_of("own:condition", "3c00 0000 0000 3c00" + zeros_12, "3c00 0000 0000 4200" + zeros_12, "00000000"),
              AllOf(HasSubstr("a0 is the same as b0"), HasSubstr("as if a3*b3 were left out")));
}

TEST(UnitWithoutRow, NamesTheFieldsOfTwoOperands) {
  // 2^6 in lane 9, as 2^(0x15 - 15) times 2^(0x0f - 15).
  EXPECT_THAT(said_of("own:fields", "0000" + zeros_12.substr(0, 40) + " 5400" + zeros_12.substr(0, 30),
                      "0000" + zeros_12.substr(0, 40) + " 3c00" + zeros_12.substr(0, 30), "00000000"),
              AllOf(HasSubstr("the exponent field of a9 is 0x15"), HasSubstr("the exponent field of b9 is 0xf"),
                    HasSubstr("as if a9*b9 were 2^-3 times as large"), HasSubstr("in lane 9 only")));
}

TEST(UnitWithoutRow, NamesFractionsInAnyLane) {
  EXPECT_THAT(said_of("own:fractions", "3eb5 0000 0000 0000" + zeros_12, "3f5a 0000 0000 0000" + zeros_12, "00000000"),
              AllOf(HasSubstr("in some lane"), HasSubstr("the fraction of a is 0x2b5"),
                    HasSubstr("the fraction of b is 0x35a"), HasSubstr("in any lane")));
}

TEST(UnitWithoutRow, NamesTheSum) {
  // 1.5 = 3 * 2^24 units of 2^-25.
  EXPECT_THAT(said_of("own:sum", "3e00 0000 0000 0000" + zeros_12, "3c00 0000 0000 0000" + zeros_12, "00000000"),
              AllOf(HasSubstr("the number of zeros that end the sum is 24"),
                    HasSubstr("as if the sum's magnitude were less by")));
}

TEST(UnitWithoutRow, NamesAWrongAlignment) {
  // Lanes 5 and 13 tie above all others: their exponent is not seen.
  EXPECT_THAT(said_of("own:tie", "0000 0000 0000 0000 3c01 4c00 0000 0000 0000 0000 0000 0000 0000 cc00 0000 0000",
                      "0000 0000 0000 0000 3c01 4c00 0000 0000 0000 0000 0000 0000 0000 4c00 0000 0000", "00000000"),
              AllOf(HasSubstr("as if all were aligned at the greatest exponent but one"),
                    HasSubstr("the number of addends at the greatest exponent in the sum is 2")));
}

TEST(UnitWithoutRow, NamesClassesOfThreeOperands) {
  EXPECT_THAT(said_of("own:classes", "0000 0000 7e00 0000" + zeros_12,
                      "0000 0000 3c00 0000" + zeros_12.substr(0, 35) + " 7c00" + zeros_12.substr(0, 20), "80000000"),
              AllOf(HasSubstr("a2 is NaN"), HasSubstr("b11 is infinity"), HasSubstr("as if the result were")));
}

TEST(UnitWithoutRow, NamesARegisterOfIntegers) {
  // The least integer twice: the sum of both products is 2^15.
  EXPECT_THAT(said_of("own:integers", "00 00 00 00 80 80 00 00", "00 00 00 00 80 80 00 00", "00000000",
                      "a=s8 b=s8 c=s32 d=s32 k=8"),
              AllOf(HasSubstr("it differs wherever it can be seen"),
                    HasSubstr("as if the sum of products 4 to 5 were saturated at 16 bits")));
}

/// Codes of e2m1 for 64 lanes: 1 in the second block of scales, else 0.
std::string one_in_the_second_block() {
  std::string codes = "0";
  for (int i = 1; i < 64; ++i) codes += i == 16 ? " 2" : " 0";
  return codes;
}

TEST(UnitWithoutRow, NamesAScaleThatIsReadFromItsNeighbour) {
  const std::string ones = one_in_the_second_block();
  EXPECT_THAT(said_of("own:scales", ones, ones, "00000000 | 40 30 38 38 | 38 38 38 38",
                      "a=e2m1 b=e2m1 c=fp32 d=fp32 k=64 sa=ue4m3 sb=ue4m3 sblock=16"),
              AllOf(HasSubstr("as if scale 1 of a were read from scale 0 of a"), HasSubstr("the scale of a 0 is"),
                    HasSubstr("the scale of a 1 is")));
}

TEST(UnitWithoutRow, NamesTheRangeOfAProductOfScales) {
  const std::string one =
      "38" + std::string(" 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00") +
      " 00 00 00 00";
  EXPECT_THAT(
      said_of("own:range", one, one, "00000000 | 10 | 10",
              "a=e4m3 b=e4m3 c=fp32 d=fp32 k=32 sa=e8m0 sb=e8m0 sblock=32"),
      HasSubstr("it differs wherever it can be seen; as if the product of two scales kept to the range of one"));
}

TEST(UnitWithoutRow, NamesHalfOfTheLanes) {
  EXPECT_THAT(said_of("own:nan", zeros_12.substr(1) + " 7e00 0000 0000 0000",
                      zeros_12.substr(1) + " 0000 0000 0000 0000", "3f800000"),
              AllOf(HasSubstr("as if one of the products were left out"), HasSubstr("in lanes 8 to 15 only")));
}

TEST(UnitWithoutRow, NamesACountOfShiftsThatIsTooShort) {
  // 2^20 and 2^-13, which is 33 exponents below.
  EXPECT_THAT(
      said_of("own:shifts", "6400 0000 0000 0000 0000 0000 0000 0000 0000 2000 0000 0000 0000 0000 0000 0000",
              "6400 0000 0000 0000 0000 0000 0000 0000 0000 2400 0000 0000 0000 0000 0000 0000", "00000000"),
      HasSubstr("wherever it can be seen; as if the shift of an addend kept only its last 5 bits (upper lanes)"));
}

TEST(UnitWithoutRow, NamesBitsOfAnyLane) {
  EXPECT_THAT(said_of("own:bits", zeros_12.substr(1) + " 3c00 0000 0000 0000",
                      zeros_12.substr(1) + " 3e94 0000 0000 0000", "00000000"),
              AllOf(HasSubstr("in some lane ["), HasSubstr("the fraction of b is x{5}101"),
                    HasSubstr("in lanes 8 to 15 only")));
}

TEST(UnitWithoutRow, NamesAResultThatIsC) {
  EXPECT_THAT(said_of("own:c", "0000 0000 0000 0000" + zeros_12, "7c00 0000 fc00 0000" + zeros_12, "3f800000"),
              HasSubstr("as if the result were c"));
}

TEST(UnitWithoutRow, NamesADigitOfAnEarlierStep) {
  EXPECT_THAT(said_of("own:step", "3f80" + zeros_12 + " 0000 0000 3f80", "3f80" + zeros_12 + " 0000 0000 3f80",
                      "00000000", "a=bf16 b=bf16 c=fp32 d=fp32 k=16"),
              HasSubstr("digit 3 after the leading one of the sum were the other one"));
}

TEST(UnitWithoutRow, NamesTheSumOfSomeProducts) {
  EXPECT_THAT(said_of("own:four", "0000 0000 0000 0000 3c00 bc00" + zeros_12.substr(10),
                      "0000 0000 0000 0000 3c00 4000" + zeros_12.substr(10), "3f800000"),
              HasSubstr("wherever it can be seen; as if the sum of 4 adjacent products lost its sign (lanes 4 to 7)"));
}

TEST(UnitWithoutRow, NamesAShiftOfTheNeighbour) {
  EXPECT_THAT(said_of("own:shifted", "3c00 0000 0000 0000 0000 0000 1c00 3c00" + zeros_12.substr(20),
                      "3c00 0000 0000 0000 0000 0000 3800 3801" + zeros_12.substr(20), "00000000"),
              HasSubstr("as if a product were shifted as its neighbour (lane 7 that of lane 6)"));
}

TEST(UnitWithoutRow, NamesProductsThatChangedPlaces) {
  // 2^25 + 1 - 2^25: a step loses the 1 beside 2^25.
  EXPECT_THAT(said_of("own:places", "4c00 0000 0000 3f80 cc00 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000",
                      "3f80 0000 0000 3f80 3f80 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000", "00000000",
                      "a=bf16 b=bf16 c=fp32 d=fp32 k=16"),
              HasSubstr("it differs wherever it can be seen; as if a3*b3 and a12*b12 changed places"));
}

TEST(UnitWithoutRow, NamesStepsThatChangedPlaces) {
  EXPECT_THAT(said_of("own:steps", "3f80 0000 0000 0000 0000 0000 0000 0000 4c00 cc00 0000 0000 0000 0000 0000 0000",
                      "3f80 0000 0000 0000 0000 0000 0000 0000 3f80 3f80 0000 0000 0000 0000 0000 0000", "00000000",
                      "a=bf16 b=bf16 c=fp32 d=fp32 k=16"),
              AllOf(HasSubstr("c is +0 or -0"), HasSubstr("as if steps 1 and 2 changed places")));
}

TEST(UnitWithoutRow, NamesTheDistanceOfTwoLanes) {
  EXPECT_THAT(said_of("own:distance", "0000 0000 4800 0000 0000 3c00" + zeros_12.substr(10),
                      "0000 0000 3c00 0000 0000 3c00" + zeros_12.substr(10), "3f800001"),
              HasSubstr("the exponent of a2*b2 less that of a5*b5 is 3"));
}

TEST(UnitWithoutRow, NamesScalesThatChangedPlaces) {
  const std::string ones = one_in_the_second_block();
  EXPECT_THAT(
      said_of("own:exchanged", ones, ones, "00000000 | 38 38 38 38 | 38 30 40 38",
              "a=e2m1 b=e2m1 c=fp32 d=fp32 k=64 sa=ue4m3 sb=ue4m3 sblock=16"),
      AllOf(HasSubstr("the scale of a 0 is one"), HasSubstr("as if scale 1 of b and scale 2 of b changed places")));
}

TEST(UnitWithoutRow, NamesBitsOfAnExponentField) {
  EXPECT_THAT(said_of_case("own:field", conversion, "3d802000"),
              HasSubstr("the exponent field, in binary, of the source is x{5}011"));
}

TEST(UnitWithoutRow, NamesTheBitsThatRoundingDrops) {
  EXPECT_THAT(said_of_case("own:dropped", conversion, "3f801400"),
              HasSubstr("the bits that rounding drops of the exact result is 101"));
}

TEST(UnitWithoutRow, NamesARoundingOfAnExactSumBeforeTheLast) {
  // 1 + 2^-24 + 2^-28: a tie once it has 27 digits.
  EXPECT_THAT(said_of("own:exact", "38 00 00 00", "3c 00 00 00", "33880000", "a=e4m3 b=e5m2 c=fp32 d=fp32 k=4"),
              HasSubstr("as if the sum were rounded twice, to 27 digits first"));
}

TEST(UnitWithoutRow, NamesWhatAllLanesHave) {
  std::string a = "bc01", b = "3c01";
  for (int i = 1; i < 16; ++i) a += " bc01", b += " 3c01";
  EXPECT_THAT(said_of("own:every", a, b, "3f800001"), HasSubstr("in every lane [a is negative]"));
}

TEST(UnitWithoutRow, NamesASubnormalThatCountsHalf) {
  EXPECT_THAT(said_of_case("own:half", fused, "3c00 0001 0200"),
              HasSubstr("it differs wherever it can be seen; as if c were half as large where it is subnormal"));
}

TEST(UnitWithoutRow, NamesASumBetweenTwoProducts) {
  EXPECT_THAT(said_of("own:flush", "00800000 00000000 3f800000 00000000", "3f000000 00000000 00800000 00000000",
                      "00000000", "a=fp32 b=fp32 c=fp32 d=fp32 k=4"),
              HasSubstr("it differs wherever it can be seen; as if the sum after the first 2 products were zero where "
                        "it is subnormal"));
}

TEST(UnitWithoutRow, NamesTheOrderOfProducts) {
  // 2^25 + 1 - 2^25: the order decides whether the 1 is lost.
  EXPECT_THAT(said_of("own:reverse", "00000000 3f800000 4c000000 cc000000", "3f800000 3f800000 3f800000 3f800000",
                      "00000000", "a=fp32 b=fp32 c=fp32 d=fp32 k=4"),
              AllOf(HasSubstr("a0 is +0 or -0"), HasSubstr("as if the products came in the reverse order")));
}

TEST(UnitWithoutRow, NamesASignThatIsLost) {
  EXPECT_THAT(said_of("own:unsigned", "00 00 00 01", "00 00 00 ff", "00000000", "a=s8 b=s8 c=s32 d=s32 k=4"),
              AllOf(HasSubstr("a2 is 0"), HasSubstr("as if b3 were read without a sign")));
}

TEST(UnitWithoutRow, NamesRegistersOfAllPairs) {
  EXPECT_THAT(said_of("own:pairs", "00 00 00 00 80 80 00 00", "00 00 00 00 80 80 00 00", "00000000",
                      "a=s8 b=s8 c=s32 d=s32 k=8"),
              HasSubstr("it differs wherever it can be seen; as if each sum of 2 products were saturated at 16 bits"));
}

TEST(UnitWithoutRow, NamesASaturationOfEachAddition) {
  EXPECT_THAT(said_of("own:additions", "01 ff 00 00", "01 01 00 00", "7fffffff", "a=s8 b=s8 c=s32 d=s32 k=4"),
              HasSubstr("it differs wherever it can be seen; as if each addition were saturated, that of c first"));
}

TEST(UnitWithoutRow, NamesADigitOfAFirstStage) {
  // 2^9 and 2^-13, four units of 2^-15, in odd lanes of the second step.
  std::string zeros;
  for (int i = 0; i < 16; ++i) zeros += " 00";
  EXPECT_THAT(
      said_of("own:first", zeros.substr(1) + " 00 58 00 04 00 00 00 00 00 00 00 00 00 00 00 00",
              zeros.substr(1) + " 00 58 00 2c 00 00 00 00 00 00 00 00 00 00 00 00", "00000000",
              "a=e4m3fnuz b=e5m2fnuz c=fp32 d=fp32 k=32"),
      HasSubstr("it differs wherever it can be seen; as if in the first stage digit 2 of the sum, from the last one "
                "that is kept, were 0 (odd lanes, step 2)"));
}

TEST(UnitWithoutRow, NamesACarryThatIsLost) {
  // 2^-14 and 2^-14: both have bit 11 of a sum whose last one is 2^-25.
  EXPECT_THAT(said_of("own:carry", "3c00 0000 0000 0000 0400" + zeros_12.substr(5),
                      "3c00 0000 0000 0000 3c00" + zeros_12.substr(5), "38800000"),
              HasSubstr("as if the carry into bit 12 of the sum were lost (between products and c)"));
  EXPECT_THAT(
      said_of("own:carries", "40 00 40 00", "40 00 40 00", "0000f000", "a=s8 b=s8 c=s32 d=s32 k=4"),
      HasSubstr("it differs wherever it can be seen; as if the carry into bit 16 of the sum were lost (wherever "
                "there was one)"));
}

TEST(UnitWithoutRow, NamesAStickyBitInTheWrongPlace) {
  EXPECT_THAT(said_of_case("own:sticky", product, "3c01 3c01"),
              HasSubstr("it differs wherever it can be seen; as if the sticky bit of the product were ORed into its "
                        "guard bit"));
}

TEST(UnitWithoutRow, NamesExponentsOfProducts) {
  const std::string bf16 = "a=bf16 b=bf16 c=fp32 d=fp32 k=16";
  EXPECT_THAT(said_of("own:infinite", "6f80" + zeros_12 + " 0000 0000 0000", "3f80" + zeros_12 + " 0000 0000 0000",
                      "00000000", bf16),
              HasSubstr("it differs wherever it can be seen; as if products of an exponent 96 or more were infinite"));
  EXPECT_THAT(said_of("own:clamped", "4b00" + zeros_12 + " 0000 0000 0000", "3f80" + zeros_12 + " 0000 0000 0000",
                      "00000000", bf16),
              HasSubstr("it differs wherever it can be seen; as if products of exponents that add up to 20 or more had "
                        "20"));
  EXPECT_THAT(said_of("own:wrapped", "5000" + zeros_12 + " 0000 0000 0000", "3f80" + zeros_12 + " 0000 0000 0000",
                      "00000000", bf16),
              HasSubstr("it differs wherever it can be seen; as if the exponent of a product kept only its last 6 "
                        "bits"));
}

TEST(UnitWithoutRow, NamesAProductThatIsTakenForAnInfinity) {
  // 2^16 - 2^15.
  EXPECT_THAT(said_of_case("own:beyond", fused, "7800 4000 f800"),
              HasSubstr("it differs wherever it can be seen; as if a product beyond the range were infinite"));
}

TEST(UnitWithoutRow, NamesAnInfinityThatIsANumber) {
  EXPECT_THAT(said_of("own:number", "0000 0000 0000 0000 0000 7c00" + zeros_12.substr(10),
                      "0000 0000 0000 0000 0000 3c00" + zeros_12.substr(10), "00000000"),
              HasSubstr("it differs wherever it can be seen; as if infinities and NaNs of a were the numbers of their "
                        "bits (lane 5)"));
}

TEST(UnitWithoutRow, NamesHowTwoLanesStandToEachOther) {
  EXPECT_THAT(said_of("own:opposites", "0000 0000 0000 0000 3c00 bc00" + zeros_12.substr(10),
                      "0000 0000 0000 0000 3c00 3c00" + zeros_12.substr(10), "3f800000"),
              HasSubstr("it differs where a4 is minus a5; as if the result were wrong in bit 13"));
}

TEST(UnitWithoutRow, NamesScalesOfAnotherGroup) {
  const std::string ones = one_in_the_second_block();
  EXPECT_THAT(said_of("own:groups", ones, ones, "00000000 | 40 38 38 38 | 40 38 38 38",
                      "a=e2m1 b=e2m1 c=fp32 d=fp32 k=64 sa=ue4m3 sb=ue4m3 sblock=16"),
              AllOf(HasSubstr("the scale of a 1 is the same as that of b"),
                    HasSubstr("as if both scales 1 were read from scales 0")));
}

TEST(UnitWithoutRow, NamesANaNThatIsAnInfinity) {
  EXPECT_THAT(said_of_case("own:nans", conversion, "7f800001"),
              HasSubstr("as if the source were infinity where it is NaN"));
}

TEST(UnitWithoutRow, NamesARoundingToAWiderFormat) {
  // Half a unit of fp16 and a little, which fp32 drops.
  EXPECT_THAT(said_of_case("own:twice", fused, "d600 be06 0080"),
              HasSubstr("one rounding is claimed, a rounding to fp32 first fits"));
}

TEST(UnitWithoutRow, NamesDroppedBitsThatAreNotSeen) {
  EXPECT_THAT(said_of_case("own:seen", product, "3c01 3e01"),
              HasSubstr("as if rounding saw only the first 2 of the bits that it drops"));
}

TEST(UnitWithoutRow, NamesTheExponentOfASource) {
  EXPECT_THAT(said_of_case("own:exponent", conversion, "3c002000"),
              AllOf(HasSubstr("where the exponent field of the source is 0x78; as if the result were wrong in bit 0"),
                    HasSubstr("and 0 of 4096 that agree")));
}

TEST(UnitWithoutRow, NamesTheRoundingOfSubnormalsAlone) {
  EXPECT_THAT(said_of_case("own:subnormals", conversion, "33000001"),
              AllOf(HasSubstr("the result is "), HasSubstr("subnormal"),
                    HasSubstr("what rounding drops of the exact result is half or one above half or more than half"),
                    HasSubstr("it had round=toward_zero (another rounding mode)")));
}

TEST(UnitWithoutRow, NamesARoundingModeThatFits) {
  EXPECT_THAT(said_of_case("own:ties", conversion, "3f801000"),
              HasSubstr("rounding (another rounding mode): round=nearest_even is claimed, round=nearest_away fits"));
}

TEST(UnitWithoutRow, NamesTheFractionsOfTwoFactors) {
  EXPECT_THAT(said_of_case("own:factors", product, "3ea5 3f01"),
              AllOf(HasSubstr("the fraction of a is 0x2a5"), HasSubstr("the fraction of b is 11 (the first of 10 bits"),
                    HasSubstr("as if the result were wrong in bit 0")));
}

TEST(UnitWithoutRow, NamesTheSignOfAZero) {
  EXPECT_THAT(said_of_case("own:zeros", product, "8000 3c00"),
              AllOf(HasSubstr("it differs where the result is -0"), HasSubstr("the result were of the other sign")));
}

TEST(UnitWithoutRow, NamesHowManyBitsCancel) {
  // 1.00390625 - 1 = 2^-8.
  EXPECT_THAT(said_of_case("own:cancel", sum, "3c04 bc00"),
              AllOf(HasSubstr("the number of leading bits that cancel in the sum is at least 7"),
                    HasSubstr("as if the result were 2^1 times as large")));
}

TEST(UnitWithoutRow, NamesFlagsThatAreMissing) {
  EXPECT_THAT(said_of_case("own:flags", conversion, "3f800001"),
              AllOf(HasSubstr("the exponent field of the result is 0xf"), HasSubstr("the source is positive"),
                    HasSubstr("its flags are others, its result is the same")));
}

TEST(UnitWithoutRow, NamesTheElementAndTheLaneOfAProduct) {
  const std::string one = "3ff0000000000000", zero = " 0000000000000000", zeros = zero + zero + zero;
  EXPECT_THAT(
      said_of_case("own:row", "op gemm m=2 n=1 k=3 a=fp64 b=fp64 c=fp64 d=fp64 nan=any",
                   zeros.substr(1) + zero + zero + " " + one + " |" + zero + zero + " " + one + " |" + zero + zero),
      AllOf(HasSubstr("of the element in row 1 and column 0 of 2 by 1, from 0, in this place only: "),
            HasSubstr("as if a2*b2 were left out; in lane 2 only")));
}

TEST(UnitWithoutRow, NamesAnOperandOfAnotherRow) {
  const std::string one = "3ff0000000000000", zero = " 0000000000000000";
  EXPECT_THAT(
      said_of_case("own:misread", "op gemm m=2 n=1 k=3 a=fp64 b=fp64 c=fp64 d=fp64 nan=any",
                   one + zero + zero + zero + zero + " " + one + " |" + zero + zero + " " + one + " |" + zero + zero),
      HasSubstr("as if a2 were read from lane 2 of row 0"));
}

TEST(UnitWithoutRow, NamesTheOrderOfARow) {
  // (1 + 2^-30)^2 - 1: rounded, the product loses its 2^-60.
  const std::string one = "3ff0000000000000", next = "3ff0000000400000", zero = "0000000000000000",
                    less = "bff0000000000000";
  EXPECT_THAT(
      said_of_case("own:fused", "op gemm m=2 n=1 k=2 a=fp64 b=fp64 c=fp64 d=fp64 nan=any",
                   zero + " " + zero + " " + next + " " + zero + " | " + next + " " + one + " | " + zero + " " + less),
      AllOf(HasSubstr("of the element in row 1 and column 0 of 2 by 1, from 0, in this place only: "),
            HasSubstr("it differs wherever it can be seen; as if the result were that of ieee:fma")));
}

TEST(UnitWithoutRow, NamesAnotherElementOfTheProduct) {
  const std::string one = "3ff0000000000000", two = "4000000000000000", three = "4008000000000000";
  EXPECT_THAT(said_of_case("own:reuse", "op gemm m=2 n=1 k=1 a=fp64 b=fp64 c=fp64 d=fp64 nan=any",
                           one + " " + one + " | " + one + " | " + two + " " + three),
              AllOf(HasSubstr("of the element in row 1 and column 0 of 2 by 1"), HasSubstr("a0 is 0x3ff"),
                    HasSubstr("it had the result of row 0 and column 0 (another element)")));
}

TEST(UnitWithoutRow, NamesTheRuleOfAScale) {
  EXPECT_THAT(
      said_of_case("own:rule", quantizer, "43f00000 bf800000 00000000 3f800000"),
      HasSubstr("of the scale: scale_as_floor (the scale of rule=floor): rule=rceil is claimed, rule=floor fits"));
}

TEST(UnitWithoutRow, NamesTheExponentOfAmax) {
  EXPECT_THAT(said_of_case("own:amax", quantizer, "42c00000 bf800000 00000000 3f800000"),
              AllOf(HasSubstr("of the scale: it differs where the exponent field of amax is 0x85"),
                    HasSubstr("as if the scale were one step greater")));
}

TEST(UnitWithoutRow, NamesAScaleThatOverlooksNegativeElements) {
  EXPECT_THAT(said_of_case("own:signed", quantizer, "c2c00000 3f800000 00000000 3f800000"),
              AllOf(HasSubstr("of the scale: it differs wherever it can be seen"),
                    HasSubstr("as if the scale were that of the positive elements alone")));
}

TEST(UnitWithoutRow, NamesElementsThatLoseBitsFirst) {
  // 17.0001 / 16 rounds up, 17 / 16 is a tie.
  EXPECT_THAT(said_of_case("own:cut", quantizer, "43e00000 41880100 00000000 00000000"),
              AllOf(HasSubstr("of the code of element 1: "), HasSubstr("as if elements were cut to bf16 first"),
                    HasSubstr("in any lane")));
}

TEST(UnitWithoutRow, NamesTheLaneOfARounding) {
  EXPECT_THAT(
      said_of_case("own:lane", quantizer, "43e00000 00000000 419e0000 419f0000"),
      AllOf(HasSubstr("of the code of element 2: "), HasSubstr("round=toward_zero fits"), HasSubstr("in lane 2 only")));
}

TEST(UnitWithoutRow, NamesTheCodesOfADequantizer) {
  EXPECT_THAT(said_of_case("own:codes", "op dequantize from=e4m3 to=fp32 block=4 scale=e8m0", "03 41 00 00 | 7f"),
              AllOf(HasSubstr("of the number of element 0: "), HasSubstr("were zero where it is subnormal"),
                    HasSubstr("in any lane")));
}

TEST(UnitWithoutRow, StepsAreThoseOfTheKernel) {
  for (const ModelRow& row : model_rows()) {
    const DotModel& m = row.model;
    if (!has_changed_steps(m) || m.scale_block) continue;
    DotModel cut = m;
    cut.output_rounding = Rounding::toward_zero;
    CounterRng random(1, 0);
    std::vector<uint64_t> a(static_cast<size_t>(2 * m.k)), b(a.size());
    for (int n = 0; n < 20; ++n) {
      for (uint64_t& x : a) x = random.next() & m.a.container_mask();
      for (uint64_t& x : b) x = random.next() & m.b.container_mask();
      const DotOperands in{.a = a.data(), .b = b.data(), .c = random.next() & m.c.container_mask(), .k = m.k};
      size_t steps = 0;
      const auto none = [&](int, StepRole) { return ++steps == 0; };
      const auto all = [](int, StepRole) { return true; };
      EXPECT_EQ(evaluate_changed(m, in, StepChange{.is_for = none}), evaluate_dot(m, in)) << row.name();
      if (step_format(m) == m.d) {  // no conversion follows, which is no step
        EXPECT_EQ(evaluate_changed(m, in, StepChange{.row = &cut, .is_for = all}), evaluate_dot(cut, in)) << row.name();
      }
      const std::vector<Step> own = recorded_steps(m, in);
      const auto is_special = [](const Step& s) { return s.kind == Step::Kind::special; };
      if (std::none_of(own.begin(), own.end(), is_special)) {
        EXPECT_EQ(steps, own.size()) << row.name();
      }
    }
  }
}

TEST(UnitWithoutRow, NamesTheResultOfAStep) {
  // 1 + 2^-23 + 2^-24: a tie that rounds up, and is cut as the row says.
  EXPECT_THAT(said_of("own:nearest", "3980" + zeros_12 + " 0000 0000 0000", "3980" + zeros_12 + " 0000 0000 0000",
                      "3f800001", "a=bf16 b=bf16 c=fp32 d=fp32 k=16"),
              HasSubstr("as if the result of a step were rounded to nearest, ties to even (step 1 of 2)"));
  EXPECT_THAT(said_of("own:odd", "3ff0000000000000 3ff0000000000000 0000000000000000 0000000000000000",
                      "3ff0000000000000 3ca0000000000000 0000000000000000 0000000000000000", "0000000000000000",
                      "a=fp64 b=fp64 c=fp64 d=fp64 k=4"),
              HasSubstr("as if the result of a step were rounded to odd (step 2 of 4)"));
}

TEST(UnitWithoutRow, NamesAStepThatIsLeftOut) {
  const std::string bf16 = "a=bf16 b=bf16 c=fp32 d=fp32 k=16", one = "3f80" + zeros_12 + " 0000 0000 3f80";
  EXPECT_THAT(said_of("own:leftout", one, one, "00000000", bf16),
              HasSubstr("as if the products of a step were left out (step 2 of 2)"));
  EXPECT_THAT(said_of("own:halved", one, one, "00000000", bf16),
              HasSubstr("as if the result of a step were half as large (step 1 of 2)"));
}

TEST(UnitWithoutRow, NamesTheResultOfAPair) {
  // 1 + 2^-11 + 2^-22, and three quarters of what rounding drops of that sum.
  EXPECT_THAT(said_of("own:pair", "0000 0000 3c01 0c00 0000 0000 0000 0000", "0000 0000 3c01 1200 0000 0000 0000 0000",
                      "00000000", "a=fp16 b=fp16 c=fp32 d=fp32 k=8"),
              HasSubstr("as if the result of a step were rounded toward zero (step 6 of "));
}

TEST(UnitWithoutRow, NamesTheResultOfABlock) {
  EXPECT_THAT(
      said_of("own:block", "3c00 0000 0000 0000" + zeros_12, "3c00 0000 0000 0000" + zeros_12, "0000",
              "a=fp16 b=fp16 c=fp16 d=fp16 k=16"),
      HasSubstr("as if the result of a step were one unit of its last digit greater in magnitude (step 2 of 4)"));
  std::string zeros;
  for (int i = 0; i < 31; ++i) zeros += " 00";
  EXPECT_THAT(said_of("own:half", "38" + zeros, "38" + zeros, "00000000", "a=e4m3 b=e4m3 c=fp32 d=fp32 k=32"),
              HasSubstr("as if the result of a step were of the other sign (step 1 of "));
}

TEST(UnitWithoutRow, NamesARoundingThatCarriesOut) {
  // 0x1.ffcp+0 and 2^-11: all ones and half a unit.
  EXPECT_THAT(said_of("own:carryout", zeros_12.substr(1) + " 3fff 1000 0000 0000",
                      zeros_12.substr(1) + " 3c00 3c00 0000 0000", "0000", "a=fp16 b=fp16 c=fp16 d=fp16 k=16"),
              HasSubstr("is one that carries out"));
}

TEST(UnitWithoutRow, NamesProductsThatCancel) {
  EXPECT_THAT(said_of("own:cancelling", "3c00 0000 0000 0000 3c00 bc00 0000 0000",
                      "3c00 0000 0000 0000 3c00 3c00 0000 0000", "00000000", "a=fp16 b=fp16 c=fp32 d=fp32 k=8"),
              HasSubstr("the sum of the two products from lane 4 is zero"));
}

TEST(UnitWithoutRow, NamesAGroupOfZeros) {
  EXPECT_THAT(said_of("own:group", "3c00 3c00 3c00 3c00 3c00" + zeros_12.substr(5),
                      "0000 0001 0000 0000 3c00" + zeros_12.substr(5), "00000000"),
              HasSubstr("the greatest b of the 4 lanes from lane 0 is zero or subnormal"));
}

TEST(UnitWithoutRow, NamesAShiftInAFirstSum) {
  // 2^0 and 2^-17, one place below instead.
  EXPECT_THAT(said_of("own:firstshift", "3c00 1000 0000 0000" + zeros_12, "3c00 2400 0000 0000" + zeros_12, "0000",
                      "a=fp16 b=fp16 c=fp16 d=fp16 k=16"),
              HasSubstr("it differs wherever it can be seen; as if in a first sum the shift of a product kept only its "
                        "last 4 bits"));
}

TEST(UnitWithoutRow, TheLeastIntegerIsAnAddend) {
  CaseReader reader("here", "mmafuzz-cases 1\nop dot a=s8 b=s8 c=s32 d=s32 k=2\n80 00 | 01 01 | 00000000\n");
  CaseBlock block;
  ASSERT_TRUE(reader.next(block, 1));
  EXPECT_THAT(Operands(block.batch.op(), block.batch, 0).nonzero_addends(), testing::ElementsAre(0));
}

}  // namespace
}  // namespace mmafuzz
