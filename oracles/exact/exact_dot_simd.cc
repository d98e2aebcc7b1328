// One vector lane is one dot. Compiled without contraction, which error-free transformations do not survive.
#include "oracles/exact/exact_dot_simd.h"

#include <bit>

#include "arithmetic/ieee_operations.h"
#include "core/function_unit.h"
#include "oracles/lanes/host_float.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "oracles/exact/exact_dot_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "oracles/lanes/dot_lanes-inl.h"
#include "oracles/lanes/exact_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if MMAFUZZ_HOST_FMA

template <bool Narrow>
void exact_dots(const exact::ExactDotSimd& unit, const exact::FastDot& one_by_one, const Batch& batch,
                Column& results) {
  const DF64 d;
  const size_t lanes = hn::Lanes(DF32()), half = hn::Lanes(d);
  const Op& op = batch.op();
  // fp32 to nearest even is the host's own conversion; all else is rounded one by one.
  const bool host_rounds = op.d.fields() == fp32_fields && op.rounding == Rounding::nearest_even && !op.saturate;
  const FloatDecoder decode_a(op.a.fields()), decode_b(op.b.fields()), decode_c(op.c.fields());
  Scales scales(op.scale_a.fields(), op.scale_b.fields(), op.scale_block);
  HWY_ALIGN float x[max_instruction_k * max_lanes], y[max_instruction_k * max_lanes], c[max_lanes], rounded[max_lanes];
  HWY_ALIGN double odd[max_lanes];
  for (size_t first = 0; first < batch.size(); first += lanes) {
    const size_t dots = HWY_MIN(lanes, batch.size() - first);
    ExactSum<Narrow> lower, upper;
    for (int element = 0; element < op.k; element += max_instruction_k) {
      const int count = HWY_MIN(max_instruction_k, op.k - element);
      load_floats(decode_a, batch.a(), first, dots, element, count, count, x);
      load_floats(decode_b, batch.b(), first, dots, element, count, count, y);
      scales.load(batch, first, dots, element, count);
      const auto add = [&](ExactSum<Narrow>& sum, size_t lane) HWY_ATTR {
        for (int i = 0; i < count; ++i) {
          const size_t at = size_t(i) * lanes + lane;
          const VF64 product =
              hn::Mul(hn::PromoteTo(d, hn::Load(DF32Half(), x + at)), hn::PromoteTo(d, hn::Load(DF32Half(), y + at)));
          sum.add(op.scale_block ? hn::Mul(product, scales.of(i, lane)) : product);
        }
      };
      add(lower, 0);
      add(upper, half);
    }
    hn::Store(load_float(decode_c, batch.c(), first, dots), DF32(), c);
    uint64_t lost = 0;
    const auto finish = [&](const ExactSum<Narrow>& sum, size_t lane) HWY_ATTR {
      const VF64 r = sum.plus(hn::PromoteTo(d, hn::Load(DF32Half(), c + lane)));
      if (host_rounds) {
        hn::Store(hn::DemoteTo(DF32Half(), r), DF32Half(), rounded + lane);
      } else {
        hn::Store(r, d, odd + lane);
      }
      if constexpr (!Narrow) lost |= mask_bits(d, sum.lost()) << lane;
    };
    finish(lower, 0);
    finish(upper, half);
    if (host_rounds) {
      store_words(canonical_bits(hn::Load(DF32(), rounded), op.d.fields().encode_nan()), dots, first, results);
    } else {
      for (size_t j = 0; j < dots; ++j) results.set(first + j, 0, unit.finish(odd[j]));
    }
    for (lost &= low_mask(int(dots)); lost; lost &= lost - 1) {
      const size_t j = first + size_t(std::countr_zero(lost));
      results.set(j, 0, one_by_one(DotCase(batch.op()).load(batch, j)));
    }
  }
}

bool exact_batch(const exact::ExactDotSimd& unit, const exact::FastDot& one_by_one, const Batch& batch,
                 Column& results) {
  const Op& op = batch.op();
  const bool narrow = !op.has_scales() && products_are_narrow(op.a.fields(), op.b.fields(), op.k);
  (narrow ? exact_dots<true> : exact_dots<false>)(unit, one_by_one, batch, results);
  return true;
}

#else

bool exact_batch(const exact::ExactDotSimd&, const exact::FastDot&, const Batch&, Column&) { return false; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mmafuzz {

HWY_EXPORT(exact_batch);

namespace exact {

ExactDotSimd::ExactDotSimd(const Op& op) : d_(op.d.fields()), rule_(op.rounding_rule()), one_by_one_(op) {}

bool ExactDotSimd::supports(const Op& op) {
  // Rounding down alone needs to know more about a zero sum than its sign to nearest even.
  const bool scales_fit =
      !op.has_scales() || scales_fit_fp64(op.a.fields(), op.b.fields(), op.scale_a.fields(), op.scale_b.fields());
  return op.kind == OpKind::dot && scales_fit && !op.flush_to_zero && fits_fp32(op.a.fields()) &&
         fits_fp32(op.b.fields()) && fits_fp32(op.c.fields()) && !op.d.fields().integer &&
         op.d.fields().precision() <= 50 && op.rounding != Rounding::down && op.rounding != Rounding::stochastic;
}

bool ExactDotSimd::run(const Batch& batch, Column& results) const {
  return default_float_environment() && HWY_DYNAMIC_DISPATCH(exact_batch)(*this, one_by_one_, batch, results);
}

uint64_t ExactDotSimd::finish(double odd) const {
  return round_any(d_, to_exact(decode(fp64_fields, std::bit_cast<uint64_t>(odd))), rule_).encoding;
}

}  // namespace exact
}  // namespace mmafuzz
#endif  // HWY_ONCE
