// A unit's row of parameters: everything that the kernels need to know about one instruction.
// One plain struct serves all kernels, so that an override, an ablation or a mutant is one changed member.
// D and N with a number (D7, N5) name the questions that sources disagree on (docs/units.md).
#pragma once

#include "arithmetic/round.h"

namespace mmafuzz {

/// The kernels, in the order of arithmetic/kernels.def.h.
enum class Kernel : uint8_t {
#define KERNEL(name, ...) name,
#include "arithmetic/kernels.def.h"
#undef KERNEL
};

/// Which exponent a zero term reads when the greatest exponent of a block is sought (docs/semantics.md 1.3).
enum class ZeroRule : uint8_t {
  constant,  ///< zero products and a zero c read zero_exponent (MMA-Sim 2026, FPy)
  clamp,     ///< zero terms read nothing, the maximum is never below zero_exponent (MATLAB-tensor-core)
  operand,   ///< a zero factor reads -126, to which the other's exponent is added; c = 0 reads -126 (MMA-Sim 2025)
};

enum class ProductRule : uint8_t {
  unnormalized,  ///< significand product in [0,4) with exponent ea+eb (all hardware data, docs/units.md, D7)
  normalized,    ///< aligned by its true leading bit (SMT model, D7 and D30)
};

/// The format whose least exponent bounds c's alignment exponent from below (D4, D37, docs/units.md).
enum class CExponent : uint8_t { d_format, c_format, fp32 };

enum class OutputVia : uint8_t {
  direct,          ///< one rounding from the sum
  fp32_truncated,  ///< toward zero to fp32 first, then rounded again (SMT model, D8)
  fp32_nearest,    ///< to nearest even to fp32 first, under the row's rules for results there, then rounded again
};

enum class UnderflowSign : uint8_t { kept, positive };  ///< sign of a nonzero sum that rounds to zero (D5)

enum class ZeroSign : uint8_t {
  positive,      ///< an exactly zero sum is +0
  any_negative,  ///< -0 if any term is negative (SMT model, D6 and D35)
  ieee,          ///< terms of one sign keep it, otherwise + except rounding down (IEEE 754-2019, 6.3; N5)
};

enum class SpecialScope : uint8_t {
  block,    ///< infinities and NaNs are looked for in each block with its own c
  whole_k,  ///< once over the instruction's whole k; later an all-ones exponent reads as a number (MATLAB, D12)
};

/// The low 13 bits of a tf32 operand are dropped, or dropped except that they make a NaN of an infinity, or rounded,
/// ties away (D14, D36).
enum class LowBits : uint8_t { ignored, nan_payload, rounded };

enum class ProductOverflow : uint8_t {
  none,               ///< products may exceed the output's range and cancel (NVIDIA, CDNA1), or are rounded as sums are
  infinity,           ///< a product at or above 2^128 becomes an infinity of its sign (CDNA2, CDNA3)
  positive_infinity,  ///< ... becomes +infinity whatever its sign (MATLAB MI300 and MI210, D19)
};

/// Whether an infinity made by product overflow counts like those of operands, or not at all where an operand or c is
/// an infinity or NaN (D20, D20b).
enum class OverflowRank : uint8_t { equal, below_operands };

enum class SecondStage : uint8_t {
  floor31,          ///< product sum floored at 31 bits below the maximum (MMA-Sim 2025, MATLAB, D21)
  floor32_then_31,  ///< at 32 bits, then the sum at 31 below its leading bit or d's emin (MMA-Sim 2026, D21, N7)
};

/// Which group counts as zero for the maximum exponent (D28).
enum class ZeroGroup : uint8_t { all_products_zero, sum_zero };

/// What an infinite or NaN c does on CDNA3 fp8: it decides the result, or is read with the exponent -1 and dropped
/// where finite products are large enough (D31).
enum class CSpecial : uint8_t { propagates, reads_minus_one };

enum class Subnormals : uint8_t {
  kept,
  flushed,          ///< operands to +0, results to a zero of their sign (CDNA2)
  flushed_signed,   ///< operands and results to zeros of their sign, results that are tiny after rounding with an
                    ///< unbounded exponent (x86: DAZ and FTZ)
  flushed_of_fp32,  ///< the same for what is subnormal in fp32; fp16 and narrower formats keep theirs (RDNA3, AMX-FP8)
  flushed_of_fp16,  ///< the same for fp16 alone (Arm: FPCR.FZ16)
};

/// Whether `Subnormals` applies to operands, to results or to both.
enum class FlushedNumbers : uint8_t {
  both,
  operands,  ///< Arm: FPCR.FIZ
  results,   ///< Arm: FPCR.FZ where FPCR.AH is set
};

/// How floored_sum cuts a term to the unit of the sum.
enum class Cut : uint8_t {
  opposed_complement,  ///< magnitudes toward zero; in the frame of c's sign, m of the other sign joins as -m - 1
                       ///< (RDNA3)
  floor,               ///< toward minus infinity (RDNA4)
};

/// What cut=floor makes of a negative c whose bits all lie below the unit.
enum class LostC : uint8_t {
  dropped,  ///< zero where the unit lies above the least exponent of d's normal numbers, else minus one unit (RDNA4)
  floored,  ///< minus one unit
};

/// The result of a NaN c where the products make no NaN.
enum class NanOfC : uint8_t {
  replaced,  ///< DotModel::nan
  quieted,   ///< c's NaN made quiet, with its sign and payload
};

/// Which NaN an IEEE operation of a chain, a tree or a rounded sum returns: DotModel::nan, or the first NaN among its
/// operands in the named order, made quiet. In x + y of products, x is a and y is b; where c is added to a sum of
/// products, the sum is a.
enum class NanFrom : uint8_t {
  constant,
  a_b_c,
  a_c_b,  ///< POWER10
  b_a_c,
  b_c_a,  ///< FP64 of NVIDIA
  c_a_b,
  c_b_a,
  signalling_c_a_b,  ///< signalling NaNs first; then infinity * 0, then quiet NaNs (Arm ARM, FPMulAdd, FPProcessNaNs3)
  signalling_c_as_bs,  ///< the same; in a block of products all a before all b (FPProcessNaNs4, SVE2.1's FDOT)
};

MMAFUZZ_HD constexpr bool signalling_first(NanFrom rule) { return rule >= NanFrom::signalling_c_a_b; }

enum class ZeroOperands : uint8_t { kept, positive };  ///< sign that a zero in a, b or c reads on CDNA2 (N6)

/// What a chain of fma_then_add starts with.
enum class ChainStart : uint8_t {
  positive_zero,  ///< an FMA of the first product and +0 (FFMA)
  first_product,  ///< the rounded first product (FMUL)
};

/// How the chains of fma_then_add and the blocks of sum_then_add are added to c.
enum class ChainJoin : uint8_t {
  in_turn,       ///< each is added to c
  summed_first,  ///< they are added to each other, their sum to c (AMX: Intel SDM, TDPBF16PS; Arm's FMMLA of fp16)
};

/// What a step makes of the sum s of its products and of c. NaNs keep their signs. PN, NP and NN are POWER10's.
enum class Form : uint8_t {
  s_plus_c,
  s_minus_c,          ///< PN
  c_minus_s,          ///< NP of 16-bit operands, where s is rounded before c is added
  minus_s_minus_c,    ///< NN of 16-bit operands
  negated_s_minus_c,  ///< NP of fused multiply-adds: the result is negated
  negated_s_plus_c,   ///< NN of fused multiply-adds
  s_alone,            ///< POWER10's forms that do not accumulate
};

/// How an infinity or NaN among a and b is read.
enum class OperandSpecials : uint8_t {
  kept,
  numbers,  ///< as the number that an exponent of all ones stands for (x86 ACE's FP8)
};

/// The order in which an instruction's products fill its blocks, or join its chain.
enum class ProductOrder : uint8_t {
  ascending,
  descending,
  swapped_pairs,   ///< 1, 0, 3, 2, ...: the odd one of a pair first (AVX512-BF16, Intel SDM, VDPBF16PS)
  interleaved,     ///< with n blocks, block j has the products j, j + n, j + 2n, ...
  halves_in_turn,  ///< blocks of the first and the second half of the products in turn (RDNA4 in waves of 32 lanes)
};

/// One row. Members beyond the formats are the named parameters of core's override syntax; each kernel uses those that
/// its line of arithmetic/kernels.def.h names and ignores the others. Exponents are unbiased.
struct DotModel {
  FormatFields a, b, c, d, scale_a, scale_b;
  int scale_block = 0;  ///< products per scale; 0: the operation has no scales
  Kernel kernel{};
  int k = 0;       ///< products per instruction
  int block = 0;   ///< products per block (L of T-FDPA, P of FTZ-AddMul)
  int group = 16;  ///< products per group of grouped_sum
  ProductOrder order = ProductOrder::ascending;
  int fraction_bits = 0;  ///< F: bits kept below the weight of the greatest exponent
  ZeroRule zero_rule = ZeroRule::constant;
  int zero_exponent = 0;  ///< the alignment floor (docs/semantics.md 1.3)
  ZeroGroup zero_group = ZeroGroup::all_products_zero;
  ProductRule product = ProductRule::unnormalized;
  CExponent c_exponent = CExponent::d_format;
  int integer_bits = 0;  ///< the sum's magnitude wraps modulo 2^(integer_bits) * 2^(greatest exponent); 0: never
  int output_fraction_bits = 0;  ///< fraction bits of the rounded result inside d's container (e8m13: 13 in fp32)
  Rounding output_rounding = Rounding::toward_zero;
  Overflow overflow = Overflow::infinity;
  OutputVia output_via = OutputVia::direct;
  UnderflowSign underflow_sign = UnderflowSign::kept;
  ZeroSign zero_sign = ZeroSign::positive;
  uint64_t nan = 0;  ///< encoding in d of NaN results, except those of nan_from, nan_of_c and invalid_nan
  NanFrom nan_from = NanFrom::constant;
  SpecialScope special_scope = SpecialScope::block;
  LowBits low_bits = LowBits::ignored;
  Subnormals subnormals = Subnormals::kept;
  FlushedNumbers flushed = FlushedNumbers::both;
  Tininess tininess = Tininess::after;  ///< how a result is judged that may be flushed to a zero of its sign
  ZeroOperands zero_operands = ZeroOperands::kept;
  ChainStart chain_start = ChainStart::positive_zero;
  ChainJoin chain_join = ChainJoin::in_turn;
  ProductOverflow product_overflow = ProductOverflow::none;
  OverflowRank overflow_rank = OverflowRank::equal;
  bool odd_even = false;  ///< even and odd products are aligned apart (CDNA3 fp8)
  SecondStage second_stage = SecondStage::floor32_then_31;
  CSpecial c_special = CSpecial::propagates;
  int first_sum = 1;  ///< products, a divisor of block, cut below their own greatest exponent and added first; 1: none
  int c_guard_bits = 0;  ///< bits kept below c's exponent beyond the fraction_bits below a product's
  Cut cut = Cut::floor;
  LostC lost_c = LostC::dropped;
  uint64_t invalid_nan = 0;  ///< encoding of the result of infinity * 0 and of infinities of both signs
  NanOfC nan_of_c = NanOfC::replaced;
  OperandSpecials operand_specials = OperandSpecials::kept;
  Form form = Form::s_plus_c;

  friend bool operator==(const DotModel&, const DotModel&) = default;
};

/// The format of an operand a or b as the unit reads it.
MMAFUZZ_HD constexpr FormatFields read_as(const DotModel& m, FormatFields f) {
  if (m.operand_specials == OperandSpecials::numbers) f.specials = Specials::none;
  return f;
}

MMAFUZZ_HD constexpr bool negates_sum(const DotModel& m) {
  return m.form == Form::c_minus_s || m.form == Form::minus_s_minus_c;
}
MMAFUZZ_HD constexpr bool negates_c(const DotModel& m) {
  return m.form == Form::s_minus_c || m.form == Form::minus_s_minus_c || m.form == Form::negated_s_minus_c;
}
MMAFUZZ_HD constexpr bool negates_result(const DotModel& m) {
  return m.form == Form::negated_s_minus_c || m.form == Form::negated_s_plus_c;
}

MMAFUZZ_HD constexpr bool flushes(const DotModel& m) { return m.subnormals != Subnormals::kept; }
/// Whether subnormal numbers of format f are flushed.
MMAFUZZ_HD constexpr bool flushes(Subnormals rule, const FormatFields& f) {
  if (rule == Subnormals::flushed_of_fp32) return f.emin() <= ieee_fields(8, 23).emin();
  if (rule == Subnormals::flushed_of_fp16) return f == ieee_fields(5, 10);
  return rule != Subnormals::kept;
}
/// Whether a flushed number keeps its sign, and results are judged before their exponent is bounded.
MMAFUZZ_HD constexpr bool keeps_flushed_sign(Subnormals rule) {
  return rule != Subnormals::kept && rule != Subnormals::flushed;
}
MMAFUZZ_HD constexpr bool flushes_operands(const DotModel& m, const FormatFields& f) {
  return m.flushed != FlushedNumbers::results && flushes(m.subnormals, f);
}
MMAFUZZ_HD constexpr bool flushes_results(const DotModel& m, const FormatFields& f) {
  return m.flushed != FlushedNumbers::operands && flushes(m.subnormals, f);
}

/// Every finite scaled product is a multiple of 2^least_bit_of_products and below 2^beyond_products.
MMAFUZZ_HD constexpr int least_bit_of_products(const DotModel& m) {
  const int of_scales = m.scale_block ? m.scale_a.subnormal_bit() + m.scale_b.subnormal_bit() : 0;
  return m.a.subnormal_bit() + m.b.subnormal_bit() + of_scales;
}
MMAFUZZ_HD constexpr int beyond_products(const DotModel& m) {
  const int of_scales = m.scale_block ? m.scale_a.emax() + m.scale_b.emax() : 0;
  return read_as(m, m.a).emax() + read_as(m, m.b).emax() + 2 + of_scales;
}

/// One case of a dot: k encodings of a and b, c, and one scale per side for every scale_block products. The arrays are
/// the caller's; the scales are null where the row has none.
struct DotOperands {
  const uint64_t* a = nullptr;
  const uint64_t* b = nullptr;
  uint64_t c = 0;
  const uint64_t* scale_a = nullptr;
  const uint64_t* scale_b = nullptr;
  int k = 0;
};

/// The maximum of DotModel::k (mxf4nvf4: 64).
inline constexpr int max_instruction_k = 64;

}  // namespace mmafuzz
