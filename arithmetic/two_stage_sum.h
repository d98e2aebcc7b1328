// The domain of kernels/two_stage_sum-inl.h for one dot at a time, with or without a trace.
#pragma once

#include "arithmetic/specials.h"
#include "arithmetic/one_instruction.h"

namespace mmafuzz {

/// floor(value * 2^(from - to)), exact for to <= from.
MMAFUZZ_HD inline int64_t floor_to(int64_t value, int from, int to) {
  const int shift = to - from;
  if (shift <= 0) return -shift >= 62 ? 0 : value * (int64_t{1} << -shift);
  return shift >= 63 ? (value < 0 ? -1 : 0) : value >> shift;
}

template <class Trace>
class OneTwoStageDot : public OneInstruction<Trace> {
 public:
  using Int = int;
  using Term = Product;
  struct Seen {
    SpecialTerms specials, operands;  ///< with and without the infinities of products that overflow
  };
  struct Partial {
    int64_t sum = 0;         ///< in units of 2^(greatest - fraction_bits)
    int greatest = -100000;  ///< greatest exponent; if there is no term, far below every product's
  };
  struct Addend {
    Number number;
    int exponent;
  };
  struct Wide {
    int64_t value;
    int unit;
  };

  using OneInstruction<Trace>::OneInstruction;

  MMAFUZZ_HD Seen nothing_seen() const { return {}; }

  MMAFUZZ_HD Product product(int i, Seen& seen) const {
    Product p = multiply(m_, read_operand(m_, m_.a, in_.a[i]), read_operand(m_, m_.b, in_.b[i]));
    seen.operands.add(p.cls, p.negative);
    if (m_.product_overflow != ProductOverflow::none && overflows_fp32(p)) {
      p.cls = NumberClass::infinity;
      if (m_.product_overflow == ProductOverflow::positive_infinity) p.negative = false;
    }
    seen.specials.add(p.cls, p.negative);
    return p;
  }

  /// Sums the terms first, first + stride, ... below n, each cut toward zero.
  MMAFUZZ_HD Partial cut_and_summed(const Product* term, int first, int stride, int n) const {
    Partial p;
    for (int i = first; i < n; i += stride)
      if (!term[i].zero || m_.zero_rule == ZeroRule::operand) p.greatest = larger(p.greatest, term[i].scale_exponent);
    for (int i = first; i < n; i += stride) {
      const int64_t kept = cut(term[i], p.greatest);
      p.sum += term[i].negative ? -kept : kept;
    }
    return p;
  }
  MMAFUZZ_HD Partial joined(const Partial& x, const Partial& y) const {
    const int greatest = larger(x.greatest, y.greatest);
    return {floor_to(x.sum, x.greatest, greatest) + floor_to(y.sum, y.greatest, greatest), greatest};
  }

  MMAFUZZ_HD Addend addend(bool c_is_operand, uint64_t code, const Partial& products, Seen& seen) const {
    const FormatFields& f = c_format(c_is_operand);
    Number c = read_operand(m_, f, code);
    // D31: such a c is read with the exponent -1 and dropped like any c that is too small.
    const bool is_dropped = !is_number(c.cls) && m_.c_special == CSpecial::reads_minus_one && !seen.specials.any() &&
                            -1 < larger(products.greatest, -1) - (m_.fraction_bits + 1);
    if (is_dropped) c = Number{};
    seen.specials.add(c.cls, c.negative);
    seen.operands.add(c.cls, c.negative);
    return {c, c.significand ? alignment_exponent_of_c(m_, f, c) : operand_rule_zero_exponent};
  }

  MMAFUZZ_HD Wide floored(const Partial& p, int greatest, int below) const {
    return {floor_to(p.sum, p.greatest - m_.fraction_bits, greatest - below), greatest - below};
  }
  /// c, floored at fraction_bits below the greatest exponent, in units of 2^(greatest - below).
  MMAFUZZ_HD Wide floored(const Addend& c, int greatest, int below) const {
    const int unit = greatest - m_.fraction_bits;
    bool lost;
    const int64_t kept = align_floor(c.number.negative, c.number.significand, c.number.exponent, unit, lost);
    return {floor_to(kept, unit, greatest - below), greatest - below};
  }
  MMAFUZZ_HD Wide zero_where_below(const Wide& x, int exponent, int greatest, int bits) const {
    return {exponent < greatest - bits ? 0 : x.value, x.unit};
  }
  MMAFUZZ_HD Wide plus(const Wide& x, const Wide& y) const { return {x.value + y.value, x.unit}; }
  /// x floored at `kept` bits below its leading bit, or below d's emin where the leading bit lies below that (N7). The
  /// greatest exponent and the bits below it are for domains whose Wide has no unit.
  MMAFUZZ_HD Wide floored_below_leading(const Wide& x, int /*greatest*/, int /*below*/, int kept) const {
    const int leading = larger(x.unit + bit_length(magnitude_of(x.value)) - 1, m_.d.emin());
    const int unit = larger(leading - kept, x.unit);
    return {floor_to(x.value, x.unit, unit), unit};
  }

  template <class Stages>
  MMAFUZZ_HD uint64_t rounded(const Stages& s, const Wide& total, const Product* term, int first, int n,
                              const Seen& seen) const {
    const bool special = seen.specials.any();
    Rounded r;
    if (special) {
      const bool yields = m_.overflow_rank == OverflowRank::below_operands && seen.operands.any();
      r.encoding = (yields ? seen.operands : seen.specials).result(m_.d, m_.nan);
    } else {
      r = round_once(m_.d, total.value < 0, magnitude_of(total.value), total.unit,
                     {.rounding = m_.output_rounding, .overflow = m_.overflow});
      r.encoding = flush_result(m_, r);
    }
    if constexpr (Trace::enabled) {
      show(s, total, term, first, n, special);
      step_.rounded = r;
      step_.result = r.encoding;
      trace_(step_);
    }
    return r.encoding;
  }

 private:
  using Base = OneInstruction<Trace>;
  using Base::m_, Base::in_, Base::first_index_, Base::c_format, Base::trace_, Base::step_;

  MMAFUZZ_HD int64_t cut(const Product& p, int greatest) const {
    bool lost;
    return static_cast<int64_t>(align(p.significand, p.exponent, greatest - m_.fraction_bits, lost));
  }

  template <class Stages>
  MMAFUZZ_HD void show(const Stages& s, const Wide& total, const Product* term, int first, int n, bool special) const {
    const int unit = s.greatest - s.below;
    step_.kind = special ? Step::Kind::special : Step::Kind::second_stage;
    step_.count = n + 1;
    step_.aligned = !special;
    step_.greatest_exponent = special ? 0 : s.greatest;
    step_.unit_exponent = special ? 0 : unit;
    // Where the last floor is 62 or more bits above the step's unit, the trace has the sum before it.
    step_.sum = special                  ? 0
                : total.unit - unit < 62 ? floor_to(total.value, total.unit, unit)
                                         : s.product_part.value + s.c_part.value;
    for (int i = 0; i <= n; ++i) {
      mmafuzz::Addend& t = step_.addend[i];
      t = i == n ? addend_of(s.c.number, mmafuzz::Addend::Source::c, 0) : addend_of(term[i], first_index_ + first + i);
      if (special || t.significand == 0) continue;
      t.shift = s.greatest - t.scale_exponent;
      const int greatest = i == n ? s.greatest : s.products.greatest;
      bool lost;
      const int64_t kept = static_cast<int64_t>(align(t.significand, t.exponent, greatest - m_.fraction_bits, lost));
      t.kept = i == n ? s.c_part.value : floor_to(t.negative ? -kept : kept, greatest - m_.fraction_bits, unit);
      t.lost = lost;
    }
  }
};

#define MMAFUZZ_KERNEL MMAFUZZ_HD_CALL
#include "arithmetic/kernels/two_stage_sum-inl.h"
#undef MMAFUZZ_KERNEL

}  // namespace mmafuzz
