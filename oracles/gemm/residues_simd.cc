// Every step is exact or one fused operation of IEEE 754, so that all targets give the same bits.
#include "oracles/gemm/residues_simd.h"

#include <cmath>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "oracles/gemm/residues_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mmafuzz::gemm {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Wide = hn::ScalableTag<double>;
using Vec = hn::Vec<Wide>;
constexpr size_t max_lanes = HWY_MAX_BYTES / sizeof(double);

/// x * y + z, rounded once.
HWY_INLINE Vec fused(Vec x, Vec y, Vec z) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(x, y, z);
#else
  const Wide d;
  HWY_ALIGN double xs[max_lanes], ys[max_lanes], zs[max_lanes];
  hn::Store(x, d, xs);
  hn::Store(y, d, ys);
  hn::Store(z, d, zs);
  for (size_t i = 0; i < hn::Lanes(d); ++i) zs[i] = std::fma(xs[i], ys[i], zs[i]);
  return hn::Load(d, zs);
#endif
}

/// Calls `block(first)` for each vector of `count` elements, the last of which can overlap the one before it; calls
/// `few()` instead if a vector has more lanes than there are elements.
template <class Block, class Few>
HWY_INLINE void each_vector(size_t count, const Block& block, const Few& few) {
  const size_t lanes = hn::Lanes(Wide());
  if (count < lanes) return few();
  for (size_t i = 0; i + lanes <= count; i += lanes) block(i);
  if (count % lanes) block(count - lanes);
}

void integers_of(const double* numbers, size_t count, int exponent, double* integers) {
  const Wide d;
  // In two steps: 2^exponent can be out of fp64's range, but its halves are not. An underflow loses less than 1.
  const int half = exponent / 2;
  const Vec first = hn::Set(d, std::ldexp(1.0, half)), second = hn::Set(d, std::ldexp(1.0, exponent - half));
  each_vector(
      count,
      [&](size_t i) HWY_ATTR {
        hn::StoreU(hn::Trunc(hn::Mul(hn::Mul(hn::LoadU(d, numbers + i), first), second)), d, integers + i);
      },
      [&] {
        for (size_t i = 0; i < count; ++i) integers[i] = std::trunc(std::ldexp(numbers[i], exponent));
      });
}

/// The integer less the multiple of p nearest to it. The difference is exact: both terms are multiples of the
/// quotient's last bit, and the difference is a small multiple.
HWY_INLINE Vec reduced(Vec x, Vec inverse, Vec minus_p) { return fused(hn::Round(hn::Mul(x, inverse)), minus_p, x); }

void centred_residues(const double* integers, size_t count, int p, int* residues) {
  const Wide d;
  const hn::Rebind<int32_t, Wide> d32;
  const Vec inverse = hn::Set(d, 1.0 / p), minus_p = hn::Set(d, -p), most = hn::Set(d, 0.5 * (p - 1));
  const auto residue = [&](Vec x) HWY_ATTR {
    // The first quotient of a long integer is not the nearest one, the second is.
    const Vec r = reduced(reduced(x, inverse, minus_p), inverse, minus_p);
    return hn::DemoteTo(d32, hn::IfThenElse(hn::Gt(r, most), hn::Add(r, minus_p), r));
  };
  each_vector(
      count, [&](size_t i) HWY_ATTR { hn::StoreU(residue(hn::LoadU(d, integers + i)), d32, residues + i); },
      [&]() HWY_ATTR {
        for (size_t i = 0; i < count; ++i) residues[i] = hn::GetLane(residue(hn::Set(d, integers[i])));
      });
}

void weighted_sums(const WeightedSum& sum, const int* const* residues, size_t count, double* numbers) {
  const Wide d;
  const hn::Rebind<int32_t, Wide> d32;
  const auto number = [&](const auto& residue_of) HWY_ATTR {
    Vec high = hn::Zero(d), low = hn::Zero(d);
    for (size_t p = 0; p < sum.moduli; ++p) {
      const Vec residue = residue_of(residues[p]);
      high = fused(hn::Set(d, sum.high[p]), residue, high);
      if (sum.low) low = fused(hn::Set(d, sum.low[p]), residue, low);
    }
    const Vec quotient = hn::Mul(high, hn::Set(d, sum.inverse));
    const Vec multiple = hn::Neg(sum.truncates ? hn::Trunc(quotient) : hn::Round(quotient));
    const Vec rest = fused(multiple, hn::Set(d, sum.product_high), high);
    return sum.low ? fused(multiple, hn::Set(d, sum.product_low), hn::Add(rest, low)) : rest;
  };
  each_vector(
      count,
      [&](size_t i) HWY_ATTR {
        const auto residue_of = [&](const int* of_modulus)
                                    HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(d32, of_modulus + i)); };
        hn::StoreU(number(residue_of), d, numbers + i);
      },
      [&]() HWY_ATTR {
        for (size_t i = 0; i < count; ++i) {
          const auto residue_of = [&](const int* of_modulus) HWY_ATTR { return hn::Set(d, of_modulus[i]); };
          numbers[i] = hn::GetLane(number(residue_of));
        }
      });
}

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz::gemm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mmafuzz::gemm {

HWY_EXPORT(integers_of);
HWY_EXPORT(centred_residues);
HWY_EXPORT(weighted_sums);

void integers_of(const double* numbers, size_t count, int exponent, double* integers) {
  HWY_DYNAMIC_DISPATCH(integers_of)(numbers, count, exponent, integers);
}
void centred_residues(const double* integers, size_t count, int p, int* residues) {
  HWY_DYNAMIC_DISPATCH(centred_residues)(integers, count, p, residues);
}
void weighted_sums(const WeightedSum& sum, const int* const* residues, size_t count, double* numbers) {
  HWY_DYNAMIC_DISPATCH(weighted_sums)(sum, residues, count, numbers);
}

}  // namespace mmafuzz::gemm
#endif  // HWY_ONCE
