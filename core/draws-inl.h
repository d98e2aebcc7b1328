// CounterRng in vector lanes. Included once for each instruction set, by files that Highway compiles several times.
#if defined(MMAFUZZ_CORE_DRAWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MMAFUZZ_CORE_DRAWS_INL_H
#undef MMAFUZZ_CORE_DRAWS_INL_H
#else
#define MMAFUZZ_CORE_DRAWS_INL_H
#endif

#include <hwy/highway.h>

#include "arithmetic/counter_rng.h"

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D64 = hn::ScalableTag<uint64_t>;
using V64 = hn::Vec<D64>;

/// The product of the low halves.
HWY_INLINE V64 multiply_halves(V64 x, V64 y) {
#if HWY_TARGET == HWY_SCALAR
  const V64 half = hn::Set(D64(), 0xffffffffu);
  return hn::Mul(hn::And(x, half), hn::And(y, half));
#else
  const hn::Repartition<uint32_t, D64> d;
  return hn::MulEven(hn::BitCast(d, x), hn::BitCast(d, y));
#endif
}

/// The low 64 bits of products, from 32-bit halves where the instruction set has no more.
HWY_INLINE V64 multiply(V64 x, V64 y) {
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_SCALAR
  return hn::Mul(x, y);
#else
  const V64 cross = hn::Add(multiply_halves(hn::ShiftRight<32>(x), y), multiply_halves(x, hn::ShiftRight<32>(y)));
  return hn::Add(multiply_halves(x, y), hn::ShiftLeft<32>(cross));
#endif
}

/// CounterRng::mix.
HWY_INLINE V64 mix(V64 z) {
  const D64 d;
  z = multiply(hn::Xor(z, hn::ShiftRight<30>(z)), hn::Set(d, 0xbf58476d1ce4e5b9u));
  z = multiply(hn::Xor(z, hn::ShiftRight<27>(z)), hn::Set(d, 0x94d049bb133111ebu));
  return hn::Xor(z, hn::ShiftRight<31>(z));
}

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#endif
