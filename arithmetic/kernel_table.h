// What the table of kernels (arithmetic/kernels.def.h) says of a row: how its kernel adds, and how many products make a
// step.
#pragma once

#include "arithmetic/dot_model.h"

namespace mmafuzz {

struct KernelTraits {
  enum class Products : uint8_t {
    exact,
    rounded,    ///< by IEEE multiplications
    in_groups,  ///< exact; those of a group are summed exactly and multiplied by the group's scales
    of_fp16,    ///< exact, of operands that become fp16 first
    of_fp32,    ///< exact, of operands that become fp32 first; all sums are in fp32, too
  };
  enum class Additions : uint8_t {
    cut,      ///< all at once, cut toward zero below one greatest exponent
    floored,  ///< ... cut downwards, or as one's complements
    to_odd,   ///< ... each rounded to odd as it is cut
    exact,    ///< all at once
    in_pairs,
    in_order,
  };
  /// When c is added: with the products; after them, where both are cut anew; last, to their rounded sum.
  enum class Joining : uint8_t { with_products, second_stage, last };
  /// How many products are added before the sum is rounded to d's format and becomes the c of the next products.
  enum class Carried : uint8_t {
    each_product,
    each_block,
    each_chain,  ///< a block where each chain is added to c in turn and d is the format of the steps; else an
                 ///< instruction
    each_instruction,
  };

  Products products = Products::exact;
  Additions additions = Additions::cut;
  Joining c = Joining::with_products;
  Carried carried = Carried::each_block;

  /// Steps are IEEE operations, each rounded, without a greatest exponent.
  MMAFUZZ_HD constexpr bool steps_are_operations() const {
    return additions == Additions::in_pairs || additions == Additions::in_order;
  }
  /// A step is one integer sum of c and of products or groups, all cut toward zero.
  MMAFUZZ_HD constexpr bool cuts_with_c() const { return additions == Additions::cut && c == Joining::with_products; }
  /// The products of a block are one sum, so that their order changes no rounding.
  MMAFUZZ_HD constexpr bool adds_blocks_at_once() const {
    return carried == Carried::each_block && !steps_are_operations();
  }
  MMAFUZZ_HD constexpr bool is_fused_sum() const { return cuts_with_c() && carried == Carried::each_block; }
  /// The addends of a sum, or of one of its stages, are cut below their greatest exponent.
  MMAFUZZ_HD constexpr bool aligns() const { return additions == Additions::cut || floors() || cuts_to_odd(); }
  /// A fused sum whose terms are cut downwards or join as one's complements (`Cut`).
  MMAFUZZ_HD constexpr bool floors() const { return additions == Additions::floored; }
  MMAFUZZ_HD constexpr bool cuts_to_odd() const { return additions == Additions::to_odd; }
  MMAFUZZ_HD constexpr bool sums_groups() const { return products == Products::in_groups; }
  MMAFUZZ_HD constexpr bool widens_to_fp16() const { return products == Products::of_fp16; }
  MMAFUZZ_HD constexpr bool widens_to_fp32() const { return products == Products::of_fp32; }
};

MMAFUZZ_HD constexpr KernelTraits traits_of(Kernel kernel) {
  using T = KernelTraits;
  switch (kernel) {
#define KERNEL(name, domain, products, additions, c, carried, settings, does) \
  case Kernel::name:                                                          \
    return {T::Products::products, T::Additions::additions, T::Joining::c, T::Carried::carried};
#include "arithmetic/kernels.def.h"
#undef KERNEL
  }
  return {};
}
MMAFUZZ_HD constexpr KernelTraits traits_of(const DotModel& m) { return traits_of(m.kernel); }

/// The format of the steps' results: d's, or fp32 where sums stay in fp32 until one conversion to d, which is no step.
MMAFUZZ_HD constexpr FormatFields step_format(const DotModel& m) {
  return traits_of(m).widens_to_fp32() ? ieee_fields(8, 23) : m.d;
}

/// Fraction bits that the row's results have in d's format.
MMAFUZZ_HD constexpr int result_fraction_bits(const DotModel& m) {
  return m.output_fraction_bits ? m.output_fraction_bits : m.d.fraction_bits;
}

/// Whether an instruction ends with that conversion (of no effect if d is fp32), which turns every NaN into the row's.
/// Rows that hand on the NaNs of operands have an fp32 d.
MMAFUZZ_HD constexpr bool converts_last(const DotModel& m) {
  return traits_of(m).widens_to_fp32() && m.nan_from == NanFrom::constant;
}

/// The number of products that are added, in the row's order, before the sum is rounded to d's format and becomes the
/// next c.
MMAFUZZ_HD constexpr int products_per_step(const DotModel& m) {
  using Carried = KernelTraits::Carried;
  const Carried carried = traits_of(m).carried;
  if (carried == Carried::each_product) return 1;
  const bool by_chains = carried == Carried::each_chain && m.chain_join == ChainJoin::in_turn && m.d == step_format(m);
  const bool by_blocks = carried == Carried::each_block && m.chain_join == ChainJoin::in_turn;
  return (by_blocks || by_chains) && m.block < m.k ? m.block : m.k;
}

/// The index in an instruction of emulated FP8 of product i of a fused sum. The fused sum of half 0 takes
/// the indices that are 0 or 1 modulo 4, that of half 1 those that are 2 or 3.
MMAFUZZ_HD constexpr int product_of_half(int half, int i) { return i / 2 * 4 + half * 2 + i % 2; }

/// Whether every step of an instruction treats its products and c as the first one does. A row does not if it looks for
/// specials once per instruction, or drops the sign of a zero of the instruction's own c only.
MMAFUZZ_HD constexpr bool has_like_steps(const DotModel& m) {
  return m.special_scope == SpecialScope::block && m.zero_operands == ZeroOperands::kept;
}

/// A number n such that calls of n products each, in a chain, return the same bits as one call of m.k products: the
/// least one that order and steps show, at most m.k.
MMAFUZZ_HD constexpr int products_per_call(const DotModel& m) {
  const int step = products_per_step(m);
  int n = m.k;
  if (m.order == ProductOrder::ascending) n = step;
  if (m.order == ProductOrder::swapped_pairs) n = step % 2 ? 2 * step : step;
  return n > 0 && has_like_steps(m) && m.k % n == 0 ? n : m.k;
}

}  // namespace mmafuzz
