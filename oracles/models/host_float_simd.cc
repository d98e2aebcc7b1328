// One vector lane is one dot, its numbers the host's. Compiled without contraction.
#include "oracles/models/host_float_simd.h"

#include <bit>

#include "arithmetic/evaluate_dot.h"
#include "core/dot_case.h"
#include "oracles/lanes/host_float.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "oracles/models/host_float_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "oracles/lanes/dot_lanes-inl.h"
#include "oracles/lanes/exact_lanes-inl.h"
#include "oracles/lanes/integer_dots-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if MMAFUZZ_HOST_FMA

/// The domain of chains and trees (arithmetic/kernels/): operands are host numbers, lane j of product i at
/// [i * lanes + j]. A code is the number that it encodes: encodings are read and written by the batch.
template <class D>
class LaneChains {
 public:
  struct Numbers {
    hn::Vec<D> v;
  };
  using Real = Numbers;
  using Code = Numbers;
  using T = hn::TFromD<D>;
  struct Seen {};  // a product that overflows is an infinity as good as an operand

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
  HWY_INLINE Numbers product(int i, Seen&) const { return multiply(a(i), b(i)); }
  HWY_INLINE Numbers joined(Numbers c, Numbers sum, Seen&) const { return add(c, sum); }

 private:
  const DotModel& m_;
  const T *a_, *b_;
};

/// The same under CDNA2's rules, which no processor has: subnormal operands read as +0, subnormal results become zeros
/// of their sign, and zero operands may read as +0.
template <bool Flushes>
class LaneTrees : public LaneChains<DF32> {
 public:
  HWY_INLINE LaneTrees(const DotModel& m, const float* a, const float* b)
      : LaneChains(m, a, b), zeros_are_positive_(m.zero_operands == ZeroOperands::positive) {}

  HWY_INLINE Numbers addend(Numbers c) const { return operand(c, model().c); }
  HWY_INLINE Numbers add(Numbers x, Numbers y) const { return result(LaneChains::add(x, y)); }
  HWY_INLINE Numbers product(int i, Seen&) const {
    return result(multiply(operand(a(i), model().a), operand(b(i), model().b)));
  }
  HWY_INLINE Numbers joined(Numbers c, Numbers sum, Seen&) const { return add(c, sum); }

 private:
  HWY_INLINE Numbers operand(Numbers x, const FormatFields& f) const {
    const DF32 d;
    const auto zero = hn::Eq(x.v, hn::Zero(d));
    if constexpr (Flushes) {
      const VF32 least = hn::Set(d, std::bit_cast<float>(uint32_t(f.emin() + 127) << 23));
      x.v = hn::IfThenZeroElse(hn::AndNot(zero, hn::Lt(hn::Abs(x.v), least)), x.v);
    }
    return zeros_are_positive_ ? Numbers{hn::IfThenZeroElse(zero, x.v)} : x;
  }
  HWY_INLINE Numbers result(Numbers r) const {
    if constexpr (!Flushes) return r;
    const DF32 d;
    const VF32 least = hn::Set(d, 0x1p-126f);
    return {hn::IfThenElse(hn::Lt(hn::Abs(r.v), least), hn::CopySign(hn::Zero(d), r.v), r.v)};
  }

  bool zeros_are_positive_;
};

/// Chains in fp16: the exact sum is rounded to odd, in fp64 and then in fp32, and what rounds it once more rounds the
/// exact sum (oracles/lanes/exact_lanes-inl.h).
class LaneHalfChains : public LaneChains<DF32> {
 public:
  HWY_INLINE LaneHalfChains(const DotModel& m, const float* a, const float* b) : LaneChains(m, a, b) {}

  HWY_INLINE Numbers fma(Numbers x, Numbers y, Numbers z) const {
    const DF32Half half;
    const auto lower = hn::LowerHalf(half, x.v), upper = hn::UpperHalf(half, x.v);
    const VF32 sum = hn::Combine(DF32(), fma(upper, hn::UpperHalf(half, y.v), hn::UpperHalf(half, z.v)),
                                 fma(lower, hn::LowerHalf(half, y.v), hn::LowerHalf(half, z.v)));
    return {FloatDecoder(fp16_fields)(fp16_bits(sum, model().nan))};
  }

 private:
  using Half = hn::Vec<DF32Half>;

  HWY_INLINE static Half fma(Half x, Half y, Half z) {
    const DF64 d;
    const D64 du;
    const VF64 product = hn::Mul(hn::PromoteTo(d, x), hn::PromoteTo(d, y)), c = hn::PromoteTo(d, z);
    const VF64 sum = hn::Add(product, c);
    const auto bits = hn::BitCast(du, hn::IfThenElse(hn::IsFinite(sum), add_to_odd(product, c), sum));
    const auto beyond = hn::Set(du, (uint64_t{1} << 29) - 1);  // what fp32 does not hold of fp64's fraction
    const auto last = hn::Set(du, uint64_t{1} << 29);
    const auto inexact = hn::Ne(hn::And(bits, beyond), hn::Zero(du));
    const auto odd = hn::Or(hn::AndNot(beyond, bits), hn::IfThenElseZero(inexact, last));
    return hn::DemoteTo(DF32Half(), hn::BitCast(d, odd));
  }
};

/// The domain of exact sums: two vectors of fp64 numbers are one of fp32.
template <bool Narrow>
class LaneExactDots {
 public:
  using Code = LaneChains<DF32>::Numbers;
  struct Sum {
    ExactSum<Narrow> lower, upper;
  };

  HWY_INLINE LaneExactDots(const DotModel& m, const float* a, const float* b) : m_(m), a_(a), b_(b) {}

  HWY_INLINE const DotModel& model() const { return m_; }
  HWY_INLINE void begin_block(int) const {}
  HWY_INLINE Sum nothing() const { return {}; }
  HWY_INLINE void add_product(Sum& sum, int i) const {
    const size_t at = size_t(i) * hn::Lanes(DF32()), half = hn::Lanes(DF64());
    sum.lower.add(hn::Mul(load(a_ + at), load(b_ + at)));
    sum.upper.add(hn::Mul(load(a_ + at + half), load(b_ + at + half)));
  }
  HWY_INLINE Code rounded(const Sum& sum, int, int, bool, Code c) const {
    const DF32 d;
    const DF32Half half;
    const auto lower = hn::DemoteTo(half, sum.lower.plus(hn::PromoteTo(DF64(), hn::LowerHalf(half, c.v))));
    const auto upper = hn::DemoteTo(half, sum.upper.plus(hn::PromoteTo(DF64(), hn::UpperHalf(half, c.v))));
    if constexpr (!Narrow)
      lost_ |= mask_bits(DF64(), sum.lower.lost()) | mask_bits(DF64(), sum.upper.lost()) << hn::Lanes(DF64());
    return {hn::Combine(d, upper, lower)};
  }

  /// Bit j: dot j needs the scalar kernel.
  uint64_t lost() const { return lost_; }

 private:
  HWY_INLINE static VF64 load(const float* from) { return hn::PromoteTo(DF64(), hn::Load(DF32Half(), from)); }

  const DotModel& m_;
  const float *a_, *b_;
  mutable uint64_t lost_ = 0;
};

#define MMAFUZZ_KERNEL HWY_INLINE
#include "arithmetic/kernels/exact_sum-inl.h"
#include "arithmetic/kernels/fma_chain-inl.h"
#include "arithmetic/kernels/fma_then_add-inl.h"
#include "arithmetic/kernels/ieee_tree-inl.h"
#undef MMAFUZZ_KERNEL

// One instruction of each kernel: c becomes the sum. Bit j of the answer: dot j needs the scalar kernel.

struct FmaChain {
  template <class V, class T>
  static HWY_INLINE uint64_t run(const DotModel& m, const T* a, const T* b, V& c) {
    using D = hn::DFromV<V>;
    c = fma_chain(LaneChains<D>(m, a, b), typename LaneChains<D>::Numbers{c}).v;
    return 0;
  }
};
struct HalfFmaChain {
  static HWY_INLINE uint64_t run(const DotModel& m, const float* a, const float* b, VF32& c) {
    c = fma_chain(LaneHalfChains(m, a, b), {c}).v;
    return 0;
  }
};
struct FmaThenAdd {
  static HWY_INLINE uint64_t run(const DotModel& m, const float* a, const float* b, VF32& c) {
    c = fma_then_add(LaneChains<DF32>(m, a, b), {c}).v;
    return 0;
  }
};
/// Without rules for subnormal numbers and zeros.
struct PlainTree {
  template <class V, class T>
  static HWY_INLINE uint64_t run(const DotModel& m, const T* a, const T* b, V& c) {
    using D = hn::DFromV<V>;
    c = ieee_tree(LaneChains<D>(m, a, b), typename LaneChains<D>::Numbers{c}).v;
    return 0;
  }
};
template <bool Flushes>
struct IeeeTree {
  static HWY_INLINE uint64_t run(const DotModel& m, const float* a, const float* b, VF32& c) {
    c = ieee_tree(LaneTrees<Flushes>(m, a, b), {c}).v;
    return 0;
  }
};
template <bool Narrow>
struct ExactSums {
  static HWY_INLINE uint64_t run(const DotModel& m, const float* a, const float* b, VF32& c) {
    const LaneExactDots<Narrow> dots(m, a, b);
    c = exact_sum(dots, {c}).v;
    return dots.lost();
  }
};

/// Operands in the row's order.
template <class T>
HWY_INLINE const T* ordered(const DotModel& m, const T* x, size_t lanes, T* to) {
  if (m.order == ProductOrder::ascending) return x;
  for (int i = 0; i < m.k; ++i)
    std::memcpy(to + size_t(i) * lanes, x + size_t(product_at(m, i)) * lanes, lanes * sizeof(T));
  return to;
}

/// Elements that are loaded at once: of as many whole instructions as fit.
int window_of(const DotModel& m) { return max_instruction_k / m.k * m.k; }
/// Elements of a window from `element` on, its padding included.
int loaded_elements(const DotModel& m, int k, int element) {
  return (HWY_MIN(window_of(m), k - element) + m.k - 1) / m.k * m.k;
}

template <class Kernel>
HWY_NOINLINE void run_fp32(const DotModel& m, const Batch& batch, Column& results) {
  const D32 d;
  const size_t lanes = hn::Lanes(d);
  const FloatDecoder number_a(m.a), number_b(m.b), number_c(m.c), number_d(m.d);
  HWY_ALIGN float x[max_instruction_k * max_lanes], y[max_instruction_k * max_lanes];
  HWY_ALIGN float x_in_order[max_instruction_k * max_lanes], y_in_order[max_instruction_k * max_lanes];
  HWY_ALIGN uint32_t result[max_lanes];
  for (size_t first = 0; first < batch.size(); first += lanes) {
    const size_t dots = HWY_MIN(lanes, batch.size() - first);
    VF32 sum = load_float(number_c, batch.c(), first, dots);
    V32 code = hn::Zero(d);
    uint64_t lost = 0;
    for (int element = 0; element < batch.op().k; element += window_of(m)) {
      const int given = HWY_MIN(window_of(m), batch.op().k - element);
      const int count = loaded_elements(m, batch.op().k, element);
      load_floats(number_a, batch.a(), first, dots, element, given, count, x);
      load_floats(number_b, batch.b(), first, dots, element, given, count, y);
      for (int i = 0; i < count; i += m.k) {
        const size_t at = size_t(i) * lanes;
        lost |= Kernel::run(m, ordered(m, x + at, lanes, x_in_order), ordered(m, y + at, lanes, y_in_order), sum);
        if (m.d == fp32_fields) continue;
        code = fp16_bits(sum, m.nan);
        sum = number_d(code);
      }
    }
    if (m.d == fp32_fields) code = canonical_bits(sum, m.nan);
    hn::Store(code, d, result);
    for (lost &= low_mask(int(dots)); lost; lost &= lost - 1) {
      const size_t j = size_t(std::countr_zero(lost));
      result[j] = static_cast<uint32_t>(evaluate_dot(m, DotCase(batch.op()).load(batch, first + j)));
    }
    store_words(result, dots, first, results);
  }
}

/// Elements element.. of the dots from `first` on, `count` of them, of which `given` are there and the others +0: lane
/// j of element i at [i * lanes + j].
HWY_INLINE void load_doubles(const Column& column, size_t first, size_t dots, int element, int given, int count,
                             double* to) {
  const DF64 d;
  const hn::RebindToSigned<DF64> di;
  const size_t lanes = hn::Lanes(d);
  const uint8_t* from = column.data() + first * column.stride() + size_t(element) * 8;
  if (dots == lanes) {
    const auto rows = hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<int64_t>(column.stride())));
    for (int i = 0; i < given; ++i)
      hn::Store(hn::GatherOffset(d, reinterpret_cast<const double*>(from + 8 * i), rows), d, to + size_t(i) * lanes);
  } else {
    for (size_t j = 0; j < lanes; ++j)
      for (int i = 0; i < given; ++i) {
        to[size_t(i) * lanes + j] = 0;
        if (j < dots) std::memcpy(to + size_t(i) * lanes + j, from + j * column.stride() + 8 * i, 8);
      }
  }
  for (size_t i = size_t(given) * lanes; i < size_t(count) * lanes; ++i) to[i] = 0;
}

template <class Kernel>
HWY_NOINLINE void run_fp64(const DotModel& m, const Batch& batch, Column& results) {
  const DF64 d;
  const D64 du;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN double x[max_instruction_k * max_lanes / 2], y[max_instruction_k * max_lanes / 2], c[max_lanes / 2] = {};
  HWY_ALIGN double x_in_order[max_instruction_k * max_lanes / 2], y_in_order[max_instruction_k * max_lanes / 2];
  for (size_t first = 0; first < batch.size(); first += lanes) {
    const size_t dots = HWY_MIN(lanes, batch.size() - first);
    std::memcpy(c, batch.c().data() + 8 * first, 8 * dots);
    auto sum = hn::Load(d, c);
    for (int element = 0; element < batch.op().k; element += window_of(m)) {
      const int given = HWY_MIN(window_of(m), batch.op().k - element);
      const int count = loaded_elements(m, batch.op().k, element);
      load_doubles(batch.a(), first, dots, element, given, count, x);
      load_doubles(batch.b(), first, dots, element, given, count, y);
      for (int i = 0; i < count; i += m.k) {
        const size_t at = size_t(i) * lanes;
        Kernel::run(m, ordered(m, x + at, lanes, x_in_order), ordered(m, y + at, lanes, y_in_order), sum);
      }
    }
    const auto bits = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(sum)), hn::Set(du, m.nan), hn::BitCast(du, sum));
    HWY_ALIGN uint64_t result[max_lanes / 2];
    hn::Store(bits, du, result);
    std::memcpy(results.data() + 8 * first, result, 8 * dots);
  }
}

bool run_rows(const DotModel& m, const Batch& batch, Column& results) {
  if (m.d.width == 64 && m.kernel == Kernel::fma_chain) {
    run_fp64<FmaChain>(m, batch, results);
  } else if (m.d.width == 64) {
    run_fp64<PlainTree>(m, batch, results);
  } else if (m.kernel == Kernel::fma_chain && m.d == fp16_fields) {
    run_fp32<HalfFmaChain>(m, batch, results);
  } else if (m.kernel == Kernel::fma_chain) {
    run_fp32<FmaChain>(m, batch, results);
  } else if (m.kernel == Kernel::fma_then_add) {
    run_fp32<FmaThenAdd>(m, batch, results);
  } else if (m.kernel == Kernel::ieee_tree) {
    m.subnormals == Subnormals::flushed ? run_fp32<IeeeTree<true>>(m, batch, results)
                                        : run_fp32<IeeeTree<false>>(m, batch, results);
  } else if (products_are_narrow(m.a, m.b, smaller(m.block, m.k))) {
    run_fp32<ExactSums<true>>(m, batch, results);
  } else {
    run_fp32<ExactSums<false>>(m, batch, results);
  }
  return true;
}

#else

bool run_rows(const DotModel&, const Batch&, Column&) { return false; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace mmafuzz
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mmafuzz {

HWY_EXPORT(run_rows);

namespace {

/// What all have in common: the host's own rounding and NaN, d in its registers.
bool is_of_the_host(const DotModel& m) {
  return m.output_rounding == Rounding::nearest_even && m.low_bits == LowBits::ignored && m.scale_block == 0 &&
         decode(m.d, m.nan).cls == NumberClass::nan;
}

/// x86 flushes what is subnormal in fp32: of a narrower format nothing.
bool flushes_as_the_host(const DotModel& m) {
  const auto is_as_wide = [](const FormatFields& f) { return f.exponent_bits == 8; };
  return m.subnormals == Subnormals::kept ||
         (m.subnormals == Subnormals::flushed_signed &&
          (m.kernel == Kernel::fma_then_add || (is_as_wide(m.a) && is_as_wide(m.b) && is_as_wide(m.c))));
}

bool overflows_as_the_host(const DotModel& m) {
  return m.product_overflow != ProductOverflow::positive_infinity && m.overflow_rank == OverflowRank::equal;
}

/// Whose sums are normal fp32 numbers before they are rounded.
bool is_chain_of_fp16(const DotModel& m) {
  return m.c == fp16_fields && m.d == fp16_fields && m.a.least_bit() + m.b.least_bit() >= -126;
}

bool is_row_of_fp32(const DotModel& m) {
  if (!is_of_the_host(m) || !fits_fp32(m.a) || !fits_fp32(m.b) || !fits_fp32(m.c)) return false;
  const bool fp32_result = m.d == fp32_fields, fp32_addend = fp32_result && m.c == fp32_fields && m.block > 0;
  switch (m.kernel) {
    case Kernel::fma_chain:
      return (fp32_result && flushes_as_the_host(m)) || (is_chain_of_fp16(m) && m.subnormals == Subnormals::kept);
    case Kernel::fma_then_add: return (fp32_result || m.d == fp16_fields) && m.block > 0 && flushes_as_the_host(m);
    case Kernel::ieee_tree:
      return fp32_addend && (m.subnormals == Subnormals::flushed || flushes_as_the_host(m)) && overflows_as_the_host(m);
    case Kernel::exact_sum:
      return fp32_addend && m.subnormals == Subnormals::kept && m.zero_sign == ZeroSign::ieee &&
             m.overflow != Overflow::saturate;
    default: return false;
  }
}

constexpr FormatFields fp64_fields = ieee_fields(11, 52);

bool is_row_of_fp64(const DotModel& m) {
  const bool formats = m.a == fp64_fields && m.b == fp64_fields && m.c == fp64_fields && m.d == fp64_fields;
  const bool is_tree =
      m.kernel == Kernel::ieee_tree && m.block > 0 && m.zero_operands == ZeroOperands::kept && overflows_as_the_host(m);
  return is_of_the_host(m) && formats && m.subnormals == Subnormals::kept && (m.kernel == Kernel::fma_chain || is_tree);
}

}  // namespace

HostFloatSimd::HostFloatSimd(const DotModel& m) : model_(m), is_supported_(is_row_of_fp32(m) || is_row_of_fp64(m)) {}

bool HostFloatSimd::run(const Batch& batch, Column& results) const {
  if (!is_supported_ || !default_float_environment()) return false;
  const FlushToZero as_the_row_says(model_.subnormals == Subnormals::flushed_signed);
  return HWY_DYNAMIC_DISPATCH(run_rows)(model_, batch, results);
}

}  // namespace mmafuzz
#endif  // HWY_ONCE
