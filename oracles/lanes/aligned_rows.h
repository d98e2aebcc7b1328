// The widths of the integers in a row's sums, and the weights of their last bits. They decide whether vector code
// computes the row (oracles/lanes/integer_dots-inl.h), and in which width.
#pragma once

#include <optional>

#include "arithmetic/emulated_fp8.h"

namespace mmafuzz {

struct AlignedRow {
  /// What holds a block's sum: two partial sums of 32 bits, four of them, or one of 64 bits.
  enum class Sums { two, four, wide };

  DotModel model;
  DotModel summed;  ///< the row of the fused sums: `model`, or of emulated FP8 that of its halves
  Sums sums = Sums::wide;
  int fraction_bits = 0;
  int term_bits = 0;                  ///< a term is significand * 2^(exponent - term_bits)
  int term_left = 0, term_right = 0;  ///< shifts of a significand from term_bits to fraction_bits; one of them is 0
  int c_bits = 0;                     ///< c is significand * 2^(exponent - c_bits)
  int c_below = 0;                    ///< bits kept below c's exponent
  int product_bias = 0;               ///< the sum of the biases of a and b
  int zero_exponent = 0, zero_addend_exponent = 0;  ///< of a zero term and of a zero c; no_exponent under clamp
  uint64_t sum_mask = 0;                            ///< the bits of a sum's magnitude that the adder has; 0: all
  bool may_lose_all = false;                        ///< a sum of 32 bits can lie below the last bit of every result

  static constexpr int no_exponent = -(1 << 20);
};

namespace detail {

/// Formats of up to 32 bits that a vector's decoder reads.
inline bool lanes_read(const FormatFields& f) {
  return f.width <= 32 && !f.integer && f.policy == 0 && f.exponent_bits <= 8 && f.fraction_bits <= 23 &&
         f.specials != Specials::top_infinity;
}
/// Whether exponents of terms and their differences stay far within 32 bits.
inline bool has_small_exponents(const FormatFields& f) { return f.bias >= -10000 && f.bias <= 10000; }

inline int length_of(int n) { return bit_length(static_cast<uint64_t>(n)); }

}  // namespace detail

/// nullopt where only the scalar kernel computes the row.
inline std::optional<AlignedRow> aligned_row(const DotModel& m) {
  const KernelTraits traits = traits_of(m);
  const bool is_grouped = traits.sums_groups(), is_emulated = traits.widens_to_fp16();
  const bool is_odd = traits.cuts_to_odd(), cuts_away = traits.floors() || is_odd;
  if (!traits.cuts_with_c() && !is_emulated && !cuts_away) return std::nullopt;
  AlignedRow row;
  row.model = m;
  row.summed = is_emulated ? half_of_emulated(m) : m;
  const DotModel& s = row.summed;
  for (const FormatFields* f : {&m.a, &m.b, &s.a, &s.b, &m.c, &m.d})
    if (!detail::lanes_read(*f) || !detail::has_small_exponents(*f)) return std::nullopt;
  const bool has_plain_results = m.d.specials == Specials::ieee && m.d.has_sign() && m.d.ignored_low_bits == 0 &&
                                 m.d.subnormals == SubnormalRule::gradual &&
                                 (m.d.width == 8 || m.d.width == 16 || m.d.width == 32);
  if (!has_plain_results || m.block < 1) return std::nullopt;
  if (m.subnormals == Subnormals::flushed_signed) return std::nullopt;  // needs a second rounding, without emin
  if (m.scale_block && (!detail::lanes_read(m.scale_a) || !detail::lanes_read(m.scale_b) ||
                        !detail::has_small_exponents(m.scale_a) || !detail::has_small_exponents(m.scale_b)))
    return std::nullopt;
  // fp32_nearest is supported only with truncation to the upper bits of fp32.
  if (m.output_via == OutputVia::fp32_nearest &&
      (m.output_rounding != Rounding::toward_zero || m.d.exponent_bits != 8 || m.d.bias != 127))
    return std::nullopt;
  // The last addition of emulated FP8 is the host's, in fp32.
  const bool gives_fp32_or_fp16 = m.d == fp32_fields || m.d == fp16_fields;
  if (is_emulated && (!gives_fp32_or_fp16 || m.c != m.d || flushes(m) || m.order != ProductOrder::ascending))
    return std::nullopt;

  // The last addition of a bulk normalization is in fp64, rounded to odd.
  if (is_odd && (m.c != fp32_fields || m.d != fp32_fields || m.output_rounding != Rounding::odd ||
                 m.overflow != Overflow::infinity))
    return std::nullopt;

  const int f = s.fraction_bits;
  const int n = is_grouped ? (s.k + s.group - 1) / s.group : smaller(s.block, s.k);
  const bool is_normalized = s.product == ProductRule::normalized;
  row.term_bits = s.a.fraction_bits + s.b.fraction_bits + (is_normalized ? 1 : 0);
  uint64_t greatest =
      is_normalized ? low_mask(row.term_bits + 1) : low_mask(s.a.precision()) * low_mask(s.b.precision());
  if (is_grouped) {
    for (const FormatFields* x : {&s.a, &s.b})
      if (x->specials != Specials::none || x->subnormals != SubnormalRule::gradual) return std::nullopt;
    const auto integer_bits = [](const FormatFields& x) { return x.emax() + 1 - x.subnormal_bit(); };
    const int group_bits = integer_bits(s.a) + integer_bits(s.b) + detail::length_of(s.group);
    const int scale_bits = s.scale_a.precision() + s.scale_b.precision();
    if (group_bits + scale_bits > 31) return std::nullopt;
    const int unit = s.a.subnormal_bit() + s.b.subnormal_bit();
    row.term_bits = s.scale_a.fraction_bits + s.scale_b.fraction_bits - unit;
    greatest = low_mask(group_bits + scale_bits);
  }
  row.fraction_bits = f;
  row.term_left = larger(0, f - row.term_bits);
  row.term_right = larger(0, row.term_bits - f);
  row.c_bits = larger(m.c.fraction_bits, m.d.fraction_bits);
  row.c_below = f + s.c_guard_bits;
  row.product_bias = s.a.bias + s.b.bias;
  const bool clamps = s.zero_rule == ZeroRule::clamp;
  row.zero_exponent = clamps ? AlignedRow::no_exponent : s.zero_exponent;
  row.zero_addend_exponent = s.zero_rule == ZeroRule::operand ? operand_rule_zero_exponent : row.zero_exponent;
  row.sum_mask = s.integer_bits ? low_mask(s.integer_bits + f) : 0;

  // c takes part in the search for the greatest exponent, with its own or with that of a zero.
  const int least_of_c = smaller(least_exponent_of_c(s, m.c), least_exponent_of_c(s, m.d));
  const int least_greatest = clamps ? s.zero_exponent : smaller(row.zero_addend_exponent, least_of_c);
  const int least_quantum = m.d.emin() - s.output_fraction_bits;
  row.may_lose_all = least_quantum - (least_greatest - f) > 31;

  // A term fits before it is cut; so does the sum of c and of terms that all have the greatest exponent and
  // significand. Flooring or rounding to odd can take each one unit away from zero (`cuts_away`).
  const int kept_bits = bit_length(greatest) + row.term_left;
  const int c_kept_bits = larger(row.c_below, row.c_bits) + 1;
  const auto fits = [&](int parts) {
    const auto terms = static_cast<uint64_t>((n + parts - 1) / parts);
    return kept_bits <= 31 && c_kept_bits <= 31 &&
           terms * ((greatest << row.term_left >> row.term_right) + cuts_away) + low_mask(row.c_below + 1) <=
               low_mask(31);
  };
  if (cuts_away) {
    if (!fits(1)) return std::nullopt;
    return row;
  }
  if (kept_bits + detail::length_of(n + 1) > 62) return std::nullopt;
  if (is_emulated && !fits(2)) return std::nullopt;  // its halves are summed in two parts alone
  row.sums = !is_grouped && fits(2)   ? AlignedRow::Sums::two
             : !is_grouped && fits(4) ? AlignedRow::Sums::four
                                      : AlignedRow::Sums::wide;
  return row;
}

}  // namespace mmafuzz
