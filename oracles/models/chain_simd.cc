// One vector lane is one dot, its numbers the host's. Compiled without contraction.
#include "oracles/models/chain_simd.h"

#include "arithmetic/evaluate_dot.h"
#include "oracles/lanes/host_float.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "oracles/models/chain_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "oracles/lanes/dot_lanes-inl.h"
#include "oracles/lanes/integer_dots-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if MMAFUZZ_HOST_FMA

/// The domain of chains (arithmetic/kernels/): operands are host numbers, lane j of product i at [i * lanes + j].
/// A code is the number that it encodes: encodings are read and written by the batch.
template <class D>
class LaneChains {
 public:
  struct Numbers {
    hn::Vec<D> v;
  };
  using Real = Numbers;
  using Code = Numbers;
  using T = hn::TFromD<D>;

  HWY_INLINE LaneChains(const DotModel& m, const T* a, const T* b) : m_(m), a_(a), b_(b) {}

  HWY_INLINE const DotModel& model() const { return m_; }
  HWY_INLINE void begin_block(int) const {}
  HWY_INLINE Numbers zero() const { return {hn::Zero(D())}; }
  HWY_INLINE Numbers a(int i) const { return {hn::Load(D(), a_ + size_t(i) * hn::Lanes(D()))}; }
  HWY_INLINE Numbers b(int i) const { return {hn::Load(D(), b_ + size_t(i) * hn::Lanes(D()))}; }
  HWY_INLINE Numbers addend(Numbers c) const { return c; }
  HWY_INLINE Numbers stored(Numbers x) const { return x; }
  HWY_INLINE Numbers fma(Numbers x, Numbers y, Numbers z) const { return {hn::MulAdd(x.v, y.v, z.v)}; }
  HWY_INLINE Numbers multiply(Numbers x, Numbers y) const { return {hn::Mul(x.v, y.v)}; }
  HWY_INLINE Numbers add(Numbers x, Numbers y) const { return {hn::Add(x.v, y.v)}; }

 private:
  const DotModel& m_;
  const T *a_, *b_;
};

#define MMAFUZZ_KERNEL HWY_INLINE
#include "arithmetic/kernels/fma_chain-inl.h"
#include "arithmetic/kernels/fma_then_add-inl.h"
#undef MMAFUZZ_KERNEL

template <class D>
HWY_INLINE hn::Vec<D> instruction(D, const DotModel& m, const hn::TFromD<D>* a, const hn::TFromD<D>* b, hn::Vec<D> c) {
  const LaneChains<D> chains(m, a, b);
  const typename LaneChains<D>::Numbers sum{c};
  return m.kernel == Kernel::fma_chain ? fma_chain(chains, sum).v : fma_then_add(chains, sum).v;
}

/// Operands in the row's order.
template <class T>
HWY_INLINE const T* ordered(const DotModel& m, const T* x, size_t lanes, T* to) {
  if (m.order == ProductOrder::ascending) return x;
  for (int i = 0; i < m.k; ++i)
    std::memcpy(to + size_t(i) * lanes, x + size_t(product_at(m, i)) * lanes, lanes * sizeof(T));
  return to;
}

void run_fp32(const DotModel& m, const Batch& batch, Column& results) {
  const D32 d;
  const DF32 df;
  const size_t lanes = hn::Lanes(d);
  const FloatDecoder number_a(m.a), number_b(m.b), number_c(m.c), number_d(m.d);
  HWY_ALIGN float x[max_instruction_k * max_lanes], y[max_instruction_k * max_lanes];
  HWY_ALIGN float x_in_order[max_instruction_k * max_lanes], y_in_order[max_instruction_k * max_lanes];
  HWY_ALIGN uint32_t result[max_lanes];
  for (size_t first = 0; first < batch.size(); first += lanes) {
    const size_t dots = HWY_MIN(lanes, batch.size() - first);
    VF32 sum = load_float(number_c, batch.c(), first, dots);
    V32 code = hn::Zero(d);
    for (int element = 0; element < batch.op().k; element += m.k) {
      if (element) sum = number_d(code);
      const int given = HWY_MIN(m.k, batch.op().k - element);
      load_floats(number_a, batch.a(), first, dots, element, given, m.k, x);
      load_floats(number_b, batch.b(), first, dots, element, given, m.k, y);
      sum = instruction(df, m, ordered(m, x, lanes, x_in_order), ordered(m, y, lanes, y_in_order), sum);
      code = m.d == fp32_fields ? canonical_bits(sum, m.nan) : fp16_bits(sum, m.nan);
    }
    hn::Store(code, d, result);
    store_words(result, dots, first, results);
  }
}

void run_fp64(const DotModel& m, const Batch& batch, Column& results) {
  using DF64 = hn::ScalableTag<double>;
  const DF64 d;
  const D64 du;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN double x[max_instruction_k * max_lanes / 2], y[max_instruction_k * max_lanes / 2], c[max_lanes / 2] = {};
  HWY_ALIGN double x_in_order[max_instruction_k * max_lanes / 2], y_in_order[max_instruction_k * max_lanes / 2];
  // 8 bytes of each dot at a time.
  const auto load = [&](const Column& column, size_t first, size_t dots, int element, int given, double* to) {
    for (size_t j = 0; j < dots; ++j) {
      const uint8_t* from = column.data() + (first + j) * column.stride() + size_t(element) * 8;
      for (int i = 0; i < given; ++i) std::memcpy(to + size_t(i) * lanes + j, from + 8 * i, 8);
    }
    for (size_t i = size_t(given) * lanes; i < size_t(m.k) * lanes; ++i) to[i] = 0;
    for (size_t j = dots; j < lanes; ++j)
      for (int i = 0; i < given; ++i) to[size_t(i) * lanes + j] = 0;
  };
  for (size_t first = 0; first < batch.size(); first += lanes) {
    const size_t dots = HWY_MIN(lanes, batch.size() - first);
    std::memcpy(c, batch.c().data() + 8 * first, 8 * dots);
    auto sum = hn::Load(d, c);
    for (int element = 0; element < batch.op().k; element += m.k) {
      const int given = HWY_MIN(m.k, batch.op().k - element);
      load(batch.a(), first, dots, element, given, x);
      load(batch.b(), first, dots, element, given, y);
      sum = instruction(d, m, ordered(m, x, lanes, x_in_order), ordered(m, y, lanes, y_in_order), sum);
    }
    const auto bits = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(sum)), hn::Set(du, m.nan), hn::BitCast(du, sum));
    HWY_ALIGN uint64_t result[max_lanes / 2];
    hn::Store(bits, du, result);
    std::memcpy(results.data() + 8 * first, result, 8 * dots);
  }
}

bool run_chains(const DotModel& m, const Batch& batch, Column& results) {
  if (m.d.width == 64) {
    run_fp64(m, batch, results);
  } else {
    run_fp32(m, batch, results);
  }
  return true;
}

#else

bool run_chains(const DotModel&, const Batch&, Column&) { return false; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mmafuzz {

HWY_EXPORT(run_chains);

namespace {

bool is_chain(const DotModel& m) {
  return (m.kernel == Kernel::fma_chain || (m.kernel == Kernel::fma_then_add && m.block > 0)) &&
         m.output_rounding == Rounding::nearest_even && m.low_bits == LowBits::ignored &&
         decode(m.d, m.nan).cls == NumberClass::nan;
}

/// x86 flushes what is subnormal in fp32: of a narrower format nothing.
bool flushes_as_the_host(const DotModel& m) {
  const auto is_as_wide = [](const FormatFields& f) { return f.exponent_bits == 8; };
  return m.subnormals == Subnormals::kept ||
         (m.subnormals == Subnormals::flushed_signed &&
          (m.kernel == Kernel::fma_then_add || (is_as_wide(m.a) && is_as_wide(m.b) && is_as_wide(m.c))));
}

constexpr FormatFields fp64_fields = ieee_fields(11, 52);

}  // namespace

ChainSimd::ChainSimd(const DotModel& m)
    : model_(m),
      is_fp32_(is_chain(m) && fits_fp32(m.a) && fits_fp32(m.b) && fits_fp32(m.c) && flushes_as_the_host(m) &&
               (m.d == fp32_fields || (m.d == fp16_fields && m.kernel == Kernel::fma_then_add))),
      is_fp64_(is_chain(m) && m.kernel == Kernel::fma_chain && m.a == fp64_fields && m.b == fp64_fields &&
               m.c == fp64_fields && m.d == fp64_fields && m.subnormals == Subnormals::kept) {}

bool ChainSimd::run(const Batch& batch, Column& results) const {
  if (!supported() || !default_float_environment()) return false;
  const FlushToZero as_the_row_says(flushes(model_));
  return HWY_DYNAMIC_DISPATCH(run_chains)(model_, batch, results);
}

}  // namespace mmafuzz
#endif  // HWY_ONCE
