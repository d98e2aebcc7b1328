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
#include "oracles/lanes/host_dots-inl.h"
#include "oracles/lanes/two_stage_dots-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmafuzz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if MMAFUZZ_HOST_FMA

/// The base of the structs below, each one instruction of a kernel. run() turns c into the result, one dot in each
/// lane, and returns a mask: bit j says that dot j is lost, that is, needs the scalar kernel.
struct NumbersOnly {
  explicit NumbersOnly(const DotModel& model) : m(model) {}
  /// Whether lanes return the NaNs that nan_from asks for; otherwise dots that have a NaN are lost.
  static constexpr bool hands_nans_on = false;
  /// Loads what a kernel needs besides numbers of a and b, as scales, for a window: the arguments of load_floats().
  void load(const Batch&, size_t, size_t, int, int, int) {}

  const DotModel& m;
};

/// Hands, here and below: operations return the NaNs of operands (HandsNansOn).
template <bool Hands, class Domain>
struct FmaChain : NumbersOnly {
  using NumbersOnly::NumbersOnly;
  static constexpr bool hands_nans_on = Hands;
  template <class V, class T>
  HWY_INLINE uint64_t run(size_t, const T* a, const T* b, V& c) const {
    c = fma_chain(WithNans<Hands, Domain>(m, a, b), typename Domain::Numbers{c}).v;
    return 0;
  }
};
template <bool Hands>
struct FmaThenAdd : NumbersOnly {
  using NumbersOnly::NumbersOnly;
  static constexpr bool hands_nans_on = Hands;
  HWY_INLINE uint64_t run(size_t, const float* a, const float* b, VF32& c) const {
    c = fma_then_add(WithNans<Hands, LaneChains<DF32>>(m, a, b), {c}).v;
    return 0;
  }
};
template <bool Hands, class Domain>
struct IeeeTree : NumbersOnly {
  using NumbersOnly::NumbersOnly;
  static constexpr bool hands_nans_on = Hands;
  template <class V, class T>
  HWY_INLINE uint64_t run(size_t, const T* a, const T* b, V& c) const {
    c = ieee_tree(WithNans<Hands, Domain>(m, a, b), typename Domain::Numbers{c}).v;
    return 0;
  }
};
struct OddTree : NumbersOnly {
  using NumbersOnly::NumbersOnly;
  HWY_INLINE uint64_t run(size_t, const float* a, const float* b, VF32& c) const {
    c = ieee_tree(LaneOddTrees(m, a, b), {c}).v;
    return 0;
  }
};
template <bool Narrow, bool Hands>
struct ExactSums : ScaleWindow {
  explicit ExactSums(const DotModel& m)
      : ScaleWindow(m), c_joins_last_(traits_of(m).c == KernelTraits::Joining::last) {}
  static constexpr bool hands_nans_on = Hands;
  HWY_INLINE uint64_t run(size_t offset, const float* a, const float* b, VF32& c) const {
    const LaneExactDots<Narrow, Hands> dots(*this, offset, a, b);
    c = (c_joins_last_ ? sum_then_add(dots, {c}) : exact_sum(dots, {c})).v;
    return dots.lost();
  }

 private:
  bool c_joins_last_;
};
struct TwoStageSums : TwoStageWindow {
  using TwoStageWindow::TwoStageWindow;
  static constexpr bool hands_nans_on = false;
  HWY_INLINE uint64_t run(size_t offset, const float* a, const float* b, VF32& c) const {
    c = two_stage_sum(LaneTwoStageDots(model, a, b, products, offset), {c}).v;
    return 0;
  }
};

/// The k operands x in the row's order: x itself or a copy in `to`.
template <class T>
HWY_INLINE const T* ordered(const DotModel& m, const T* x, size_t lanes, T* to) {
  if (m.order == ProductOrder::ascending) return x;
  for (int i = 0; i < m.k; ++i)
    std::memcpy(to + size_t(i) * lanes, x + size_t(product_at(m, i)) * lanes, lanes * sizeof(T));
  return to;
}

/// The encodings in d of fp32 numbers, rounded if d is fp16; bf16 and fp32 must hold them. Every NaN is the row's.
HWY_INLINE V32 codes_of_numbers(const DotModel& m, VF32 x) {
  if (m.d == fp16_fields) return fp16_bits(x, m.nan);
  if (m.d == fp32_fields) return canonical_bits(x, m.nan);
  return hn::ShiftRight<16>(canonical_bits(x, m.nan << 16));
}

/// The same; a NaN keeps its sign and payload where the row hands those of operands on.
HWY_INLINE V32 codes_of(const DotModel& m, VF32 x) {
  const V32 codes = codes_of_numbers(m, x);
  if (m.nan_from == NanFrom::constant) return codes;
  const D32 d;
  const V32 bits = hn::BitCast(d, x);
  const auto masked = [&](int down, uint64_t mask) HWY_ATTR {
    return hn::And(hn::ShiftRightSame(bits, down), hn::Set(d, static_cast<uint32_t>(mask)));
  };
  const V32 of_number =
      hn::Or(masked(32 - m.d.width, m.d.sign_bit()), masked(23 - m.d.fraction_bits, m.d.fraction_mask()));
  const V32 nan = hn::Or(of_number, hn::Set(d, static_cast<uint32_t>(m.d.encode_infinity(false))));
  return hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(x)), nan, codes);
}

/// The elements of a window, which is loaded at once: as many whole instructions as fit in max_instruction_k.
int window_of(const DotModel& m) { return max_instruction_k / m.k * m.k; }
/// Elements of a window from `element` on, its padding included.
int loaded_elements(const DotModel& m, int k, int element) {
  return (HWY_MIN(window_of(m), k - element) + m.k - 1) / m.k * m.k;
}

template <class Instruction>
HWY_NOINLINE void run_fp32(const DotModel& m, const Batch& batch, Column& results) {
  const D32 d;
  const size_t lanes = hn::Lanes(d);
  const FloatDecoder number_a(read_as(m, m.a), m.low_bits), number_b(read_as(m, m.b), m.low_bits),
      number_c(m.c, m.low_bits), number_d(m.d, m.low_bits);
  HWY_ALIGN float x[max_instruction_k * max_lanes], y[max_instruction_k * max_lanes];
  HWY_ALIGN float x_in_order[max_instruction_k * max_lanes], y_in_order[max_instruction_k * max_lanes];
  Instruction instruction(m);
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
      instruction.load(batch, first, dots, element, given, count);
      for (int i = 0; i < count; i += m.k) {
        const size_t offset = size_t(i) * lanes;
        lost |= instruction.run(offset, ordered(m, x + offset, lanes, x_in_order),
                                ordered(m, y + offset, lanes, y_in_order), sum);
        if (m.d == fp32_fields) continue;
        code = codes_of(m, sum);
        sum = number_d(code);
      }
    }
    if (m.d == fp32_fields) code = codes_of(m, sum);
    if (m.nan_from != NanFrom::constant && !Instruction::hands_nans_on) lost |= mask_bits(DF32(), hn::IsNaN(sum));
    store_words(code, dots, first, results);
    for (lost &= low_mask(int(dots)); lost; lost &= lost - 1) {
      const size_t j = first + size_t(std::countr_zero(lost));
      results.set(j, 0, evaluate_dot(m, DotCase(batch.op()).load(batch, j)));
    }
  }
}

template <class Instruction>
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
        const size_t offset = size_t(i) * lanes;
        Instruction(m).run(offset, ordered(m, x + offset, lanes, x_in_order), ordered(m, y + offset, lanes, y_in_order),
                           sum);
      }
    }
    auto bits = hn::BitCast(du, sum);
    if (!Instruction::hands_nans_on)
      bits = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(sum)), hn::Set(du, m.nan), bits);
    HWY_ALIGN uint64_t result[max_lanes / 2];
    hn::Store(bits, du, result);
    std::memcpy(results.data() + 8 * first, result, 8 * dots);
  }
}

template <bool Hands>
void run_exact_sums(const DotModel& m, const Batch& batch, Column& results) {
  const int together = smaller(m.block, m.k);
  const bool is_narrow = products_are_narrow(read_as(m, m.a), read_as(m, m.b), together) &&
                         (m.scale_block == 0 || m.scale_block % together == 0);
  is_narrow ? run_fp32<ExactSums<true, Hands>>(m, batch, results)
            : run_fp32<ExactSums<false, Hands>>(m, batch, results);
}

/// Kernels of IEEE operations.
template <bool Hands>
void run_operations(const DotModel& m, const Batch& batch, Column& results) {
  if (traits_of(m).widens_to_fp32()) {
    run_fp32<FmaThenAdd<Hands>>(m, batch, results);
  } else if (traits_of(m).additions == KernelTraits::Additions::in_pairs) {
    m.d.width == 64                       ? run_fp64<IeeeTree<Hands, LaneChains<DF64>>>(m, batch, results)
    : m.output_rounding == Rounding::odd  ? run_fp32<OddTree>(m, batch, results)
    : m.subnormals == Subnormals::flushed ? run_fp32<IeeeTree<Hands, LaneTrees<true>>>(m, batch, results)
                                          : run_fp32<IeeeTree<Hands, LaneTrees<false>>>(m, batch, results);
  } else {
    m.d.width == 64      ? run_fp64<FmaChain<Hands, LaneChains<DF64>>>(m, batch, results)
    : m.d == fp16_fields ? run_fp32<FmaChain<Hands, LaneHalfChains>>(m, batch, results)
    : m.d == bf16_fields ? run_fp32<FmaChain<Hands, LaneBfloatChains>>(m, batch, results)
                         : run_fp32<FmaChain<Hands, LaneChains<DF32>>>(m, batch, results);
  }
}

template <bool Hands>
void run_kernels(const DotModel& m, const Batch& batch, Column& results) {
  const KernelTraits traits = traits_of(m);
  if (traits.steps_are_operations()) {
    run_operations<Hands>(m, batch, results);
  } else if (traits.c == KernelTraits::Joining::second_stage) {
    run_fp32<TwoStageSums>(m, batch, results);
  } else {
    run_exact_sums<Hands>(m, batch, results);
  }
}

bool run_rows(const DotModel& m, const Batch& batch, Column& results) {
  m.nan_from == NanFrom::constant ? run_kernels<false>(m, batch, results) : run_kernels<true>(m, batch, results);
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

/// What all rows but odd trees need: rounding to nearest even, low bits that round nothing, a NaN of d as their own.
bool is_of_the_host(const DotModel& m) {
  // FloatDecoder makes quiet the NaNs whose payload is in the low bits.
  const bool keeps_nans = m.nan_from == NanFrom::constant || m.low_bits != LowBits::nan_payload;
  return m.output_rounding == Rounding::nearest_even && m.low_bits != LowBits::rounded && keeps_nans &&
         decode(m.d, m.nan).cls == NumberClass::nan;
}

bool flushes_in_lanes(const DotModel& m) {
  return m.subnormals == Subnormals::kept || (m.flushed == FlushedNumbers::both && m.tininess == Tininess::after);
}

/// Whether the row flushes nothing, or what x86 flushes: what is subnormal in fp32, and of a narrower format nothing.
bool flushes_as_the_host(const DotModel& m) {
  if (m.subnormals == Subnormals::flushed_of_fp16 || !flushes_in_lanes(m)) return false;
  const auto is_as_wide = [](const FormatFields& f) { return f.exponent_bits == 8; };
  return m.subnormals == Subnormals::kept || m.subnormals == Subnormals::flushed_of_fp32 ||
         (m.subnormals == Subnormals::flushed_signed &&
          (traits_of(m).widens_to_fp32() || (is_as_wide(m.a) && is_as_wide(m.b) && is_as_wide(m.c))));
}

bool overflows_as_the_host(const DotModel& m) {
  return m.overflow != Overflow::saturate && m.product_overflow != ProductOverflow::positive_infinity &&
         m.overflow_rank == OverflowRank::equal;
}

/// Rows of fp16 whose nonzero sums are normal fp32 numbers before they are rounded to fp16.
bool is_chain_of_fp16(const DotModel& m) {
  return m.c == fp16_fields && m.d == fp16_fields && m.a.subnormal_bit() + m.b.subnormal_bit() >= -126;
}

/// The same for exact sums that c is part of.
bool is_sum_of_fp16(const DotModel& m) {
  return is_chain_of_fp16(m) && m.block > 0 && m.scale_block == 0 && m.subnormals == Subnormals::kept &&
         traits_of(m).c == KernelTraits::Joining::with_products;
}

bool is_chain_of_bf16(const DotModel& m) { return m.c == bf16_fields && m.d == bf16_fields && flushes_as_the_host(m); }

/// Whether scales are powers of two (e8m0), which change no significand.
bool has_scales_of_lanes(const DotModel& m) {
  const auto is_e8m0 = [](const FormatFields& f) {
    return f.width == 8 && f.exponent_bits == 8 && f.bias == 127 && f.specials == Specials::top_code;
  };
  return is_e8m0(m.scale_a) && is_e8m0(m.scale_b) && m.order == ProductOrder::ascending;
}

/// Sums of cut products fit in 31 bits; products have at most 22 bits, so that fp32 holds them.
bool is_plain_two_stage_sum(const DotModel& m) {
  const auto is_gradual = [](const FormatFields& f) { return f.subnormals == SubnormalRule::gradual; };
  return m.a.width == m.b.width && is_gradual(m.a) && is_gradual(m.b) && is_gradual(m.c) &&
         m.order == ProductOrder::ascending && m.subnormals == Subnormals::kept && m.low_bits == LowBits::ignored &&
         m.overflow != Overflow::saturate && m.zero_rule != ZeroRule::operand && m.c_special == CSpecial::propagates &&
         m.product_overflow == ProductOverflow::infinity && m.overflow_rank == OverflowRank::equal &&
         m.product == ProductRule::unnormalized && m.fraction_bits >= 1 &&
         int64_t{smaller(m.block, m.k)} << (m.fraction_bits + 2) <= int64_t{1} << 30 &&
         m.a.fraction_bits + m.b.fraction_bits <= 22;
}

/// What LaneOddTrees computes: products are exact in fp64.
bool is_odd_tree(const DotModel& m) {
  const auto has_fp32_exponents = [](const FormatFields& f) { return f.emin() == fp32_fields.emin(); };
  return traits_of(m).additions == KernelTraits::Additions::in_pairs && m.output_rounding == Rounding::odd &&
         m.flushed == FlushedNumbers::both && m.overflow == Overflow::infinity &&
         m.subnormals == Subnormals::flushed_signed && m.zero_operands == ZeroOperands::kept &&
         m.overflow_rank == OverflowRank::equal && m.product_overflow != ProductOverflow::positive_infinity &&
         m.c == fp32_fields && m.d == fp32_fields && m.block > 0 && has_fp32_exponents(m.a) &&
         has_fp32_exponents(m.b) && m.low_bits == LowBits::ignored && m.scale_block == 0 &&
         decode(m.d, m.nan).cls == NumberClass::nan;
}

bool is_row_of_fp32(const DotModel& m) {
  if (is_odd_tree(m)) return fits_fp32(m.a) && fits_fp32(m.b);
  if (!is_of_the_host(m) || !fits_fp32(m.a) || !fits_fp32(m.b) || !fits_fp32(m.c)) return false;
  if (m.scale_block && traits_of(m).additions != KernelTraits::Additions::exact) return false;
  const bool gives_fp32 = m.d == fp32_fields, sums_blocks_in_fp32 = gives_fp32 && m.c == fp32_fields && m.block > 0;
  const KernelTraits traits = traits_of(m);
  using Additions = KernelTraits::Additions;
  switch (traits.additions) {
    case Additions::in_order:
      if (traits.widens_to_fp32()) return (gives_fp32 || m.d == fp16_fields) && m.block > 0 && flushes_as_the_host(m);
      return (gives_fp32 && flushes_as_the_host(m)) || (is_chain_of_fp16(m) && m.subnormals == Subnormals::kept) ||
             is_chain_of_bf16(m);
    case Additions::in_pairs:
      return sums_blocks_in_fp32 &&
             ((m.subnormals == Subnormals::flushed && flushes_in_lanes(m)) || flushes_as_the_host(m)) &&
             overflows_as_the_host(m);
    case Additions::exact:
      return (sums_blocks_in_fp32 || is_sum_of_fp16(m)) && flushes_as_the_host(m) &&
             m.zero_sign != ZeroSign::any_negative && m.overflow != Overflow::saturate &&
             (m.scale_block == 0 || has_scales_of_lanes(m));
    case Additions::cut:
    case Additions::floored:
    case Additions::to_odd: break;
  }
  return traits.c == KernelTraits::Joining::second_stage && sums_blocks_in_fp32 && is_plain_two_stage_sum(m);
}

bool is_row_of_fp64(const DotModel& m) {
  const bool is_all_fp64 = m.a == fp64_fields && m.b == fp64_fields && m.c == fp64_fields && m.d == fp64_fields;
  const KernelTraits traits = traits_of(m);
  const bool is_tree = traits.additions == KernelTraits::Additions::in_pairs && m.block > 0 &&
                       m.zero_operands == ZeroOperands::kept && overflows_as_the_host(m);
  return is_of_the_host(m) && is_all_fp64 && m.subnormals == Subnormals::kept &&
         (traits.carried == KernelTraits::Carried::each_product || is_tree);
}

}  // namespace

HostFloatSimd::HostFloatSimd(const DotModel& m) : model_(m), is_supported_(is_row_of_fp32(m) || is_row_of_fp64(m)) {}

bool HostFloatSimd::run(const Batch& batch, Column& results) const {
  if (!is_supported_ || !default_float_environment()) return false;
  const FlushToZero as_the_row_says(keeps_flushed_sign(model_.subnormals));
  return HWY_DYNAMIC_DISPATCH(run_rows)(model_, batch, results);
}

}  // namespace mmafuzz
#endif  // HWY_ONCE
