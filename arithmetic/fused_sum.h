// The kernels of aligned sums on one dot at a time (arithmetic/kernels/): the domain in which they run on hosts and
// devices, with or without a trace.
#pragma once

#include "arithmetic/kernel_table.h"
#include "arithmetic/specials.h"
#include "arithmetic/one_instruction.h"

namespace mmafuzz {

/// A number read without specials: an all-ones exponent is an ordinary one (SpecialScope::whole_k, D12).
MMAFUZZ_HD inline Number without_specials(const FormatFields& f, uint64_t encoding, Number n) {
  if (is_number(n.cls)) return n;
  FormatFields finite = f;
  finite.specials = Specials::none;
  return decode(finite, encoding);
}

/// Wraps a sum's magnitude as an adder of m.integer_bits integer bits does.
MMAFUZZ_HD inline int64_t wrap_sum(const DotModel& m, int64_t sum) {
  if (m.integer_bits == 0) return sum;
  const int64_t magnitude = static_cast<int64_t>(magnitude_of(sum) & low_mask(m.integer_bits + m.fraction_bits));
  return sum < 0 ? -magnitude : magnitude;
}

template <class Trace>
class OneDot : public OneInstruction<Trace> {
 public:
  using Int = int;
  using Mask = bool;
  using Seen = bool;  ///< whether a term is an infinity or NaN
  using Term = Product;
  using Sum = int64_t;

  using OneInstruction<Trace>::OneInstruction;

  MMAFUZZ_HD bool nothing_seen() const { return false; }
  MMAFUZZ_HD bool specials(bool seen) const { return seen; }

  MMAFUZZ_HD Product product(int i, bool& seen) const {
    const Product p = scaled_product(m_, in_, i);
    seen |= p.cls > NumberClass::finite;
    return p;
  }

  /// The products first..last-1 as one scaled term.
  MMAFUZZ_HD Product group(int first, int last, bool& seen) const {
    Product g{};
    const Number sx = scale_of_a(m_, in_, first), sy = scale_of_b(m_, in_, first);
    // Products as multiples of 2^unit, the least product of the formats; of e2m1 their sum is at most 576 * 4.
    const int unit = m_.a.subnormal_bit() + m_.b.subnormal_bit();
    int64_t sum = 0;
    bool any_product = false;
    SpecialTerms specials;  // of formats that have them; e2m1 has none
    for (int i = first; i < last; ++i) {
      const Number x = decode(m_.a, in_.a[i]), y = decode(m_.b, in_.b[i]);
      if (x.cls > NumberClass::finite || y.cls > NumberClass::finite) {
        const Product p = multiply(m_, x, y);
        specials.add(p.cls, p.negative);
        continue;
      }
      const uint64_t significand = x.significand * y.significand;  // the exponent of a zero has no meaning
      const uint64_t product = significand ? significand << (x.exponent + y.exponent - unit) : 0;
      any_product |= product != 0;
      sum += x.negative != y.negative ? -static_cast<int64_t>(product) : static_cast<int64_t>(product);
    }
    const bool scales_zero = sx.significand == 0 || sy.significand == 0;
    const bool infinite = specials.plus_infinity || specials.minus_infinity;
    const bool no_infinity = scales_zero || (specials.plus_infinity && specials.minus_infinity);
    if (specials.nan || sx.cls == NumberClass::nan || sy.cls == NumberClass::nan || (infinite && no_infinity))
      g.cls = NumberClass::nan;
    else if (infinite) g.cls = NumberClass::infinity;
    g.negative = infinite ? specials.minus_infinity : sum < 0;
    g.significand = magnitude_of(sum) * sx.significand * sy.significand;
    g.exponent = unit + sx.exponent + sy.exponent;
    g.scale_exponent = (sx.significand ? sx.scale_exponent : operand_rule_zero_exponent) +
                       (sy.significand ? sy.scale_exponent : operand_rule_zero_exponent);
    g.zero = scales_zero || (m_.zero_group == ZeroGroup::sum_zero ? sum == 0 : !any_product);
    seen |= g.cls > NumberClass::finite;
    return g;
  }

  /// The products first..last-1, each cut below the greatest exponent among them, as one term.
  MMAFUZZ_HD Product first_sum(int first, int last, bool& seen) const {
    Product term[max_instruction_k], g{};
    g.cls = NumberClass::finite;
    g.zero = true;
    g.scale_exponent = no_exponent;
    for (int i = first; i < last; ++i) {
      Product& p = term[i - first] = product(i, seen);
      if (p.zero) continue;
      g.zero = false;
      g.scale_exponent = larger(g.scale_exponent, p.scale_exponent);
    }
    g.exponent = g.scale_exponent - m_.fraction_bits;
    int64_t sum = 0;
    bool lost;
    for (int i = 0; !g.zero && i < last - first; ++i)
      sum += align_floor(term[i].negative, term[i].significand, term[i].exponent, g.exponent, lost);
    g.negative = sum < 0;
    g.significand = magnitude_of(sum);
    return g;
  }

  /// c as a term. Under SpecialScope::whole_k it is read without specials: look_at_addend has found those.
  MMAFUZZ_HD Product addend(bool c_is_operand, uint64_t code, bool& seen) const {
    Number c = read_operand(m_, c_format(c_is_operand), code);
    if (m_.special_scope == SpecialScope::block) seen |= c.cls > NumberClass::finite;
    c = without_specials(c_format(c_is_operand), code, c);
    Product p;
    p.cls = c.cls;
    p.negative = c.negative;
    p.zero = c.significand == 0;
    p.significand = c.significand;
    p.exponent = c.exponent;
    p.scale_exponent = alignment_exponent_of_c(m_, c_format(c_is_operand), c);
    return p;
  }
  MMAFUZZ_HD void look_at_addend(uint64_t code, bool& seen) const {
    seen |= read_operand(m_, c_format_, code).cls > NumberClass::finite;
  }

  /// The exponent with which a term takes part in the search for the greatest one.
  MMAFUZZ_HD int alignment_exponent(const Product& p) const {
    if (!p.zero || m_.zero_rule == ZeroRule::operand) return p.scale_exponent;
    return m_.zero_rule == ZeroRule::constant ? m_.zero_exponent : no_exponent;
  }

  /// The step in which infinities and NaNs decide.
  template <class Terms>
  MMAFUZZ_HD uint64_t special_result(Terms, const Product* term, int first, int n, bool c_is_operand,
                                     uint64_t c_code) const {
    const Number c = read_operand(m_, c_format(c_is_operand), c_code);
    uint64_t result;
    if (floors_) {
      RankedSpecials specials;
      for (int i = first * m_.first_sum; i < smaller((first + n) * m_.first_sum, m_.k); ++i)
        specials.add_product(read_operand(m_, m_.a, in_.a[i]), read_operand(m_, m_.b, in_.b[i]));
      result = specials.result(m_, c_format(c_is_operand), c, c_code);
    } else {
      SpecialTerms specials;
      for (int i = 0; i < n; ++i) specials.add(term[i].cls, term[i].negative);
      specials.add(c.cls, c.negative);
      result = specials.result(m_.d, m_.nan);
    }
    if constexpr (Trace::enabled) {
      step_.kind = Step::Kind::special;
      step_.count = 0;
      step_.result = result;
      trace_(step_);
    }
    return result;
  }

  /// The sum of all terms, each cut at fraction_bits below the greatest exponent.
  MMAFUZZ_HD int64_t cut_and_summed(const Product* term, int n, const Product& c, int greatest) const {
    int64_t sum = cut(c, c, greatest);
    for (int i = 0; i < n; ++i) sum += cut(term[i], c, greatest);
    return wrap_sum(m_, sum);
  }

  template <class Terms>
  MMAFUZZ_HD uint64_t rounded(Terms, const Product* term, int first, int n, const Product& c, int greatest,
                              int64_t sum) const {
    bool all_negative = c.negative, all_positive = !c.negative;
    for (int i = 0; i < n; ++i) (term[i].negative ? all_positive : all_negative) = false;
    const Rounded r =
        round_output(m_, sum, greatest - m_.fraction_bits, zero_is_negative(m_, all_negative, all_positive));
    if constexpr (Trace::enabled) {
      step_.kind = Step::Kind::fused_sum;
      step_.count = n + 1;
      step_.greatest_exponent = greatest;
      step_.floor_decided = m_.zero_rule == ZeroRule::clamp && greatest == m_.zero_exponent;
      step_.unit_exponent = greatest - m_.fraction_bits;
      step_.aligned = true;
      step_.sum = sum;
      step_.rounded = r;
      step_.result = r.encoding;
      bool found_greatest = step_.floor_decided;
      const int origin = Terms::source == Addend::Source::product ? first_index_ : 0;
      for (int i = 0; i < n; ++i) show(step_.addend[i], Terms::source, origin + first + i, term[i], c, found_greatest);
      show(step_.addend[n], Addend::Source::c, 0, c, c, found_greatest);
      trace_(step_);
    }
    return r.encoding;
  }

 private:
  using Base = OneInstruction<Trace>;
  using Base::m_, Base::in_, Base::first_index_, Base::c_format, Base::c_format_, Base::trace_, Base::step_;

  static constexpr int no_exponent = INT32_MIN / 2;  ///< of a zero term that does not count for the greatest exponent

  /// Term p (which may be c itself) as a signed multiple of the unit, cut as the row says.
  MMAFUZZ_HD int64_t cut(const Product& p, const Product& c, int greatest) const {
    const int unit = greatest - m_.fraction_bits;
    bool lost;
    const int64_t kept = static_cast<int64_t>(align(p.significand, p.exponent, unit, lost));
    if (!floors_) {
      const int64_t magnitude = cuts_to_odd_ && lost ? kept | 1 : kept;
      return p.negative ? -magnitude : magnitude;
    }
    if (m_.cut == Cut::opposed_complement) {
      const int64_t in_frame = p.negative == c.negative ? kept : -kept - 1;
      return c.negative ? -in_frame : in_frame;
    }
    const bool is_dropped = &p == &c && kept == 0 && m_.lost_c == LostC::dropped && unit > m_.d.emin();
    return p.negative ? -kept - (lost && !is_dropped) : kept;
  }

  /// Writes a term to the trace. `found_greatest`: an earlier term has the greatest exponent, or the clamp does.
  MMAFUZZ_HD void show(Addend& t, Addend::Source source, int index, const Product& p, const Product& c,
                       bool& found_greatest) const {
    const int aligned_at =
        p.significand == 0 && m_.zero_rule == ZeroRule::constant ? m_.zero_exponent : p.scale_exponent;
    t = make_addend(source, index, p.significand ? NumberClass::finite : NumberClass::zero, p.negative, p.significand,
                    p.exponent, aligned_at);
    bool lost;
    align(p.significand, p.exponent, step_.unit_exponent, lost);
    t.shift = step_.greatest_exponent - aligned_at;
    t.kept = cut(p, c, step_.greatest_exponent);
    t.lost = lost;
    if (found_greatest || alignment_exponent(p) != step_.greatest_exponent) return;
    found_greatest = true;
    step_.floor_decided = p.zero;
  }

  bool floors_ = traits_of(m_).floors(), cuts_to_odd_ = traits_of(m_).cuts_to_odd();
};

#define MMAFUZZ_KERNEL MMAFUZZ_HD_CALL
#include "arithmetic/kernels/fused_sum-inl.h"
#include "arithmetic/kernels/grouped_sum-inl.h"
#include "arithmetic/kernels/floored_sum-inl.h"
#undef MMAFUZZ_KERNEL

}  // namespace mmafuzz
