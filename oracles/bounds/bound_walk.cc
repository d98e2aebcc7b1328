// The bound of one case. The text of each kernel (arithmetic/kernels/) is a template over a domain: the types and the
// operations that it calls, which arithmetic/ has for encodings. The domains here have them for exact values with error
// bounds. Section numbers are those of README.md, which derives the bounds.
#include <optional>

#include "arithmetic/evaluate_dot.h"
#include "oracles/bounds/bound_steps.h"
#include "oracles/bounds/error_bound.h"

namespace mmafuzz {
namespace bounds {

/// What the kernels' texts call a code, a number or a sum: the value that the unit holds then. nullptr: a zero.
using Value = std::shared_ptr<Held>;
inline Value select(bool mask, const Value& yes, const Value& no) { return mask ? yes : no; }

/// What is known of the greatest exponent of some terms: `least` and `most` bound it.
struct Exponent {
  Exponent() = default;
  explicit Exponent(int x) : Exponent(x, x, x) {}
  Exponent(int of_others, int at_least, int at_most) : others(of_others), least(at_least), most(at_most) {}
  int others = never;  ///< the greatest exponent of the terms other than c
  int least = never, most = never;
};
inline Exponent greater_of(const Exponent& x, const Exponent& y) {
  return {std::max(x.others, y.others), std::max(x.least, y.least), std::max(x.most, y.most)};
}

/// What the instructions of one case share.
struct Shared {
  Shared(const Op& o, const DotModel& m, mpfr_prec_t bits) : op(o), whole(m), precision(bits) {
    whole.subnormals = Subnormals::kept;
  }
  Value zero() const { return std::make_shared<Held>(precision); }

  const Op& op;
  DotModel whole;  ///< the row, but for subnormal numbers, which it keeps
  mpfr_prec_t precision;
  Overflows overflows;
  NoTrace trace;  ///< this and `step`: arguments of the domains of arithmetic/, which read the operands
  Step step;
};

/// What the domains below have in common.
class BoundDomain {
 public:
  using Code = Value;

  const DotModel& model() const { return m_; }
  void begin_block(int) const {}

 protected:
  BoundDomain(const DotModel& m, const FormatFields& c_format, Shared& one)
      : m_(m), c_format_(c_format), case_(one), to_{step_format(m), {}, flushes_results(m, step_format(m))} {
    to_.rule.rounding = m.output_rounding;
    to_.rule.overflow = one.op.rounding_rule().overflow;
  }

  const FormatFields& c_format(bool c_is_operand) const { return c_is_operand ? c_format_ : m_.d; }
  /// A copy of c as the row reads it: a subnormal number may be flushed, unless it is a result that was flushed before.
  /// c_is_operand: it is the instruction's c, not the result of the block before.
  Value read_c(bool c_is_operand, const Value& code) const {
    const Value c = code ? std::make_shared<Held>(*code) : case_.zero();
    const FormatFields& f = traits_of(m_).widens_to_fp32() ? fp32_fields : c_format(c_is_operand);
    if (flushes_operands(m_, f) && !c->is_flushed) lose_subnormal(*c, f.emin());
    return c;
  }
  /// Rounds where the row says what an overflow becomes.
  void round_output(Held& h, RoundTo to) const {
    to.rule.overflow = m_.overflow;
    round(h, to, case_.overflows);
  }

  const DotModel& m_;
  FormatFields c_format_;
  Shared& case_;
  RoundTo to_;
};

/// IEEE operations and exact sums (sections 5, 6 and 8), as OneChain and OneExactDot (arithmetic/) compute encodings.
class BoundChains : public BoundDomain {
 public:
  using Real = Value;
  using Sum = Value;
  struct Seen {};
  struct Operand {
    int index;
    bool is_dropped;  ///< a subnormal that the unit reads as zero
    bool is_negated = false;
  };

  BoundChains(const DotModel& m, const DotOperands& in, const FormatFields& c_format, Shared& one)
      : BoundDomain(m, c_format, one), in_(in), read_(m, in, 0, c_format, one.trace, one.step) {}

  Real zero() const {
    const Value zero = case_.zero();
    zero->fits_d = true;
    return zero;
  }
  Operand a(int i) const { return {i, read_.a(i).number.significand == 0 && decode(m_.a, in_.a[i]).significand != 0}; }
  Operand b(int i) const { return {i, read_.b(i).number.significand == 0 && decode(m_.b, in_.b[i]).significand != 0}; }
  Real addend(const Value& code) const {
    const Value c = read_c(true, code);
    c->fits_d |= traits_of(m_).widens_to_fp32();
    return c;
  }
  Operand negated(Operand x) const {
    x.is_negated = true;
    return x;
  }
  Real negated(const Real& x) const {
    const Value y = x ? std::make_shared<Held>(*x) : case_.zero();
    mpfr_neg(y->exact.get(), y->exact.get(), MPFR_RNDN);
    return y;
  }
  Value negated(bool, const Value& code) const { return negated(code); }
  Real fma(const Operand& x, const Operand& y, const Real& z) const { return sum(z, exact_product(x, y)); }
  Real multiply(const Operand& x, const Operand& y) const {
    const Value p = std::make_shared<Held>(exact_product(x, y));
    if (!p->is_flushed) round(*p, to_, case_.overflows);
    return as_operand(p);
  }
  Real add(const Real& x, const Real& y) const { return sum(x, *y); }
  Real product(int i, Seen&) const { return multiply(a(i), b(i)); }
  Real joined(const Real& c, const Real& sum, Seen&) const { return add(c, sum); }
  Value stored(const Real& x) const {
    const Value d = std::make_shared<Held>(*x);
    if (to_.format != m_.d) round(*d, {m_.d, to_.rule}, case_.overflows);
    d->fits_d = true;
    return d;
  }

  Sum nothing() const { return case_.zero(); }
  void add_product(const Sum& sum, int i) const { add_exactly(*sum, exact_product(a(i), b(i))); }
  Value rounded(const Sum& sum, int, int) const {
    const Value alone = std::make_shared<Held>(*sum);
    round_output(*alone, to_);
    return as_operand(alone);
  }
  Value added(bool c_is_operand, const Value& code, const Value& sum) const {
    const Value c = read_c(c_is_operand, code);
    RoundTo to = to_;
    to.rule.overflow = m_.overflow;
    add_and_round(*c, *sum, to, case_.overflows);
    return c;
  }
  Value rounded(const Sum& sum, int, int, bool c_is_operand, const Value& code) const {
    const Value c = read_c(c_is_operand, code);
    add_exactly(*c, *sum);
    round_output(*c, to_);
    return c;
  }

 private:
  /// A result as the next operation reads it: where operands alone are flushed, a subnormal result may become zero.
  Value as_operand(const Value& x) const {
    if (m_.flushed == FlushedNumbers::operands && flushes_operands(m_, to_.format))
      lose_subnormal(*x, to_.format.emin());
    return x;
  }
  Held exact_product(const Operand& x, const Operand& y) const {
    Held p(case_.precision);
    exact::set_product(p.exact.get(), case_.op, in_, x.index);
    if (x.is_negated) mpfr_neg(p.exact.get(), p.exact.get(), MPFR_RNDN);
    p.set_unit();
    if (x.is_dropped || y.is_dropped) p.drop();
    return p;
  }
  Real sum(const Real& x, const Held& y) const {
    const Value sum = std::make_shared<Held>(*x);
    add_and_round(*sum, y, to_, case_.overflows);
    return as_operand(sum);
  }

  const DotOperands& in_;
  OneChain<NoTrace> read_;
};

/// Sums of aligned terms (sections 2, 3, 7 and 12), as OneDot and OneTwoStageDot compute encodings.
class BoundDots : public BoundDomain {
 public:
  using Int = Exponent;
  using Mask = bool;
  using Seen = bool;
  using Sum = Value;
  using Wide = Value;
  /// (-1)^negative * significand * 2^exponent, whose last bit is a one.
  struct Term {
    bool is_negative = false;
    bool is_zero = true;      ///< the unit reads zero
    bool is_dropped = false;  ///< it does, but the term is not zero
    uint64_t significand = 0;
    int exponent = 0;
    int aligned_by = never;  ///< the exponent that takes part in the search for the greatest
    Value sum{};             ///< of a first sum, in place of the significand
  };
  struct Addend {
    Value held;
    Exponent exponent;
    int last_bit;                 ///< a c that is not zero is a multiple of 2^last_bit
    bool is_exact_when_greatest;  ///< no bit of it is cut where its own exponent is the greatest
  };
  struct Partial {
    Value sum;
    Exponent greatest;
  };

  BoundDots(const DotModel& m, const DotOperands& in, const FormatFields& c_format, Shared& one)
      : BoundDots(m, {m, in, 0, c_format, one.trace, one.step}, {one.whole, in, 0, c_format, one.trace, one.step},
                  c_format, one) {}
  BoundDots(const DotModel& m, const OneDot<NoTrace>& read, const OneDot<NoTrace>& whole, const FormatFields& c_format,
            Shared& one)
      : BoundDomain(m, c_format, one), read_(read), whole_(whole) {}

  bool nothing_seen() const { return false; }
  bool specials(bool) const { return false; }
  void look_at_addend(const Value&, bool&) const {}
  template <class Terms>
  Value special_result(Terms, const Term*, int, int, bool, const Value&) const {
    return {};
  }

  Term product(int i, bool& seen) const {
    const Product p = read_.product(i, seen);
    return term(p, flushes(m_) ? whole_.product(i, seen) : p);
  }
  Term group(int first, int last, bool& seen) const {
    const Product g = read_.group(first, last, seen);
    return term(g, g);
  }
  Term first_sum(int first, int last, bool& seen) const {
    std::vector<Term> all;
    Term sum{.sum = case_.zero()};
    for (int i = first; i < last; ++i) {
      all.push_back(product(i, seen));
      if (all.back().is_zero) continue;
      sum.is_zero = false;
      sum.aligned_by = std::max(sum.aligned_by, all.back().aligned_by);
    }
    for (const Term& t : all) add_cut(*sum.sum, t, sum.aligned_by);
    return sum;
  }
  Exponent alignment_exponent(const Term& t) const {
    if (!t.is_zero || m_.zero_rule == ZeroRule::operand) return Exponent(t.aligned_by);
    return Exponent(m_.zero_rule == ZeroRule::constant ? m_.zero_exponent : never);
  }
  Exponent alignment_exponent(const Addend& c) const { return c.exponent; }

  Addend addend(bool c_is_operand, const Value& code, bool&) const {
    const Exponent of_zero = alignment_exponent(Term{.aligned_by = operand_rule_zero_exponent});
    return addend(c_is_operand, code, of_zero.most, m_.output_fraction_bits);
  }
  Sum cut_and_summed(const Term* term, int n, const Addend& c, const Exponent& greatest) const {
    if (floors_) return cut_by_sign(term, n, c, greatest);
    cut(*c.held, c, greatest, c.held->magnitude().get());
    for (int i = 0; i < n; ++i) add_cut(*c.held, term[i], greatest.most);
    c.held->unit = std::max(c.held->unit, greatest.least - m_.fraction_bits);
    return c.held;
  }
  template <class Terms>
  Value rounded(Terms, const Term*, int, int, const Addend&, const Exponent&, const Sum& sum) const {
    if (m_.output_via == OutputVia::fp32_truncated)
      round(*sum, {fp32_fields, {.rounding = Rounding::toward_zero, .overflow = Overflow::infinity}}, case_.overflows);
    if (m_.output_via == OutputVia::fp32_nearest)
      round(*sum, {fp32_fields, {.overflow = Overflow::infinity}, flushes(m_.subnormals, fp32_fields)},
            case_.overflows);
    RoundTo narrow = to_;
    narrow.format.fraction_bits = static_cast<uint8_t>(m_.output_fraction_bits);
    round_output(*sum, narrow);
    return sum;
  }

  // Two stages.

  Partial cut_and_summed(const Term* term, int first, int stride, int n) const {
    Partial p{case_.zero(), {}};
    for (int i = first; i < n; i += stride) {
      const Term& t = term[i];
      if (!t.is_zero || m_.zero_rule == ZeroRule::operand) p.greatest = greater_of(p.greatest, Exponent(t.aligned_by));
      case_.overflows.happened |=
          m_.product_overflow != ProductOverflow::none && !t.is_zero && leading(t) > fp32_fields.emax();
    }
    for (int i = first; i < n; i += stride) add_cut(*p.sum, term[i], p.greatest.most);
    p.sum->unit = std::max(p.sum->unit, p.greatest.most - m_.fraction_bits);
    return p;
  }
  Partial joined(const Partial& x, const Partial& y) const {
    const Exponent greatest = greater_of(x.greatest, y.greatest);
    return {plus(floored(x, greatest, m_.fraction_bits), floored(y, greatest, m_.fraction_bits)), greatest};
  }
  Addend addend(bool c_is_operand, const Value& code, const Partial&, bool&) const {
    return addend(c_is_operand, code, operand_rule_zero_exponent, m_.d.fraction_bits);
  }
  Wide floored(const Partial& p, const Exponent& greatest, int below) const {
    lose_below(*p.sum, greatest.most - below, p.sum->unit);
    p.sum->unit = std::max(p.sum->unit, greatest.least - below);
    return p.sum;
  }
  Wide floored(const Addend& c, const Exponent& greatest, int below) const {
    cut(*c.held, c, greatest, nullptr);
    c.held->unit = std::max(c.held->unit, greatest.least - below);
    return c.held;
  }
  /// A c that counts as zero is less than the loss that floored() counts for it.
  Wide zero_where_below(const Wide& x, const Exponent&, const Exponent&, int) const { return x; }
  Wide plus(const Wide& x, const Wide& y) const {
    add_exactly(*x, *y);
    return x;
  }
  Wide floored_below_leading(const Wide& x, const Exponent&, int, int kept) const {
    const int top = x->greatest_exponent();
    if (top != never) lose_below(*x, std::max(top, m_.d.emin()) - kept, x->unit);
    return x;
  }
  template <class Stages>
  Value rounded(const Stages&, const Wide& total, const Term*, int, int, bool) const {
    round_output(*total, to_);
    return total;
  }

 private:
  static int leading(const Term& t) { return t.exponent + bit_length(t.significand) - 1; }
  /// A term that the unit reads as `read`, and that is `whole`.
  static Term term(const Product& read, const Product& whole) {
    const int zeros = whole.significand ? __builtin_ctzll(whole.significand) : 0;
    return {whole.negative,         read.zero,          read.zero && whole.significand, whole.significand >> zeros,
            whole.exponent + zeros, read.scale_exponent};
  }

  Addend addend(bool c_is_operand, const Value& code, int exponent_of_zero, int result_fraction_bits) const {
    const FormatFields& f = c_format(c_is_operand);
    Addend c{read_c(c_is_operand, code), {}, 0, false};
    const int fraction_bits = c.held->is_rounded ? result_fraction_bits : f.fraction_bits;
    const int floor = least_exponent_of_c(m_, f), low = c.held->least_exponent(), high = c.held->greatest_exponent();
    const int guard = m_.c_guard_bits;
    c.exponent.least = low == never ? never : std::max(low, floor) - guard;
    c.exponent.most =
        std::max(high == never ? never : std::max(high, floor) - guard, low == never ? exponent_of_zero : never);
    c.last_bit = std::max(c.held->unit, low == never ? never : low - fraction_bits);
    c.is_exact_when_greatest = m_.fraction_bits >= fraction_bits && floor <= f.subnormal_exponent();
    return c;
  }
  /// c is cut below the greatest exponent: below that of the others where its own cuts nothing (section 2, point 3).
  void cut(Held& h, const Addend& c, const Exponent& greatest, mpfr_srcptr at_most) const {
    const int exponent = c.is_exact_when_greatest ? greatest.others : greatest.most;
    if (!h.is_zero()) lose_below(h, exponent - m_.fraction_bits, c.last_bit, at_most);
  }
  /// Section 12: a term may lose 2^unit though it is less. With one's complements each loses as much, and a first sum,
  /// whose products were cut before, loses it once more.
  Sum cut_by_sign(const Term* term, int n, const Addend& c, const Exponent& greatest) const {
    const int unit = greatest.most - m_.fraction_bits;
    Held& h = *c.held;
    cut(h, c, greatest, nullptr);
    const bool takes_complements = m_.cut == Cut::opposed_complement;
    for (int i = 0; i < n; ++i) {
      if (takes_complements || term[i].sum) lose_below(h, unit + 1, unit);
      if (term[i].sum) add_exactly(h, *term[i].sum);
      else add_cut(h, term[i], greatest.most);
    }
    const int least_unit = greatest.least - m_.fraction_bits;
    h.unit = takes_complements ? least_unit : std::max(h.unit, least_unit);
    return c.held;
  }
  /// A term loses at most itself, unless it is floored or rounded to odd.
  void add_cut(Held& h, const Term& t, int greatest) const {
    if (!t.significand) return;
    exact::Mpfr value(bound_precision);
    mpfr_set_uj_2exp(value.get(), t.significand, t.exponent, MPFR_RNDN);
    if (t.is_dropped) {
      h.lose(value.get());
    } else {
      lose_below(h, greatest - m_.fraction_bits, t.exponent, cuts_away_ ? nullptr : value.get());
      h.unit = std::min(h.unit, t.exponent);
    }
    exact::must_be_exact((t.is_negative ? mpfr_sub : mpfr_add)(h.exact.get(), h.exact.get(), value.get(), MPFR_RNDN));
  }

  OneDot<NoTrace> read_, whole_;  ///< the operands as the unit reads them, and with all subnormal numbers
  /// cuts_away_: a cut may take a term away from zero.
  bool floors_ = traits_of(m_).floors(), cuts_away_ = floors_ || traits_of(m_).cuts_to_odd();
};

/// Bulk normalization (docs/semantics.md 15): a sum of terms cut to odd, and the addition of c.
class BoundNormalizedDots : public BoundChains {
 public:
  BoundNormalizedDots(const DotModel& m, const DotOperands& in, const FormatFields& c_format, Shared& one)
      : BoundChains(m, in, c_format, one), products_(m, in, c_format, one) {}
  const BoundDots& products_alone() const { return products_; }

 private:
  BoundDots products_;
};

/// Emulated FP8: two fused sums, to which an IEEE addition joins c (section 4).
class BoundEmulatedDots : public BoundDomain {
 public:
  BoundEmulatedDots(const DotModel& m, const DotOperands& in, const FormatFields& c_format, Shared& one)
      : BoundDomain(m, c_format, one),
        in_(in),
        half_(half_of_emulated(m)),
        read_(m, in, 0, c_format, one.trace, one.step) {
    if (flushes(m)) whole_.emplace(one.whole, in, 0, c_format, one.trace, one.step);
  }

  BoundDots half(int which) const {
    return {half_, read_.half(which), (whole_ ? *whole_ : read_).half(which), m_.d, case_};
  }
  Value joined(const Value& c, const Value& sum) const {
    DotModel add = m_;
    add.output_rounding = Rounding::nearest_even;
    const BoundChains ieee(add, in_, c_format_, case_);
    return ieee.stored(ieee.add(ieee.addend(c), sum));
  }

 private:
  const DotOperands& in_;
  DotModel half_;
  OneEmulatedDot<NoTrace> read_;
  std::optional<OneEmulatedDot<NoTrace>> whole_;
};

/// One instruction, from its c: the text of the row's kernel, with a domain of this file for that of the kernel's line.
Value instruction(const DotModel& m, const DotOperands& in, const FormatFields& c_format, const Value& c, Shared& one) {
  using OneDot = BoundDots;
  using OneEmulatedDot = BoundEmulatedDots;
  using OneExactDot = BoundChains;
  using OneNormalizedDot = BoundNormalizedDots;
  using OneTwoStageDot = BoundDots;
  using OneChain = BoundChains;
  switch (m.kernel) {
#define KERNEL(name, Domain, ...) \
  case Kernel::name:              \
    return mmafuzz::name(Domain(m, in, c_format, one), c);
#include "arithmetic/kernels.def.h"
#undef KERNEL
  }
  return c;
}

/// The sum of products `first` to `last` - 1: of the sums of both halves.
Value half_sum(const BoundChains& d, int first, int last) {
  BoundChains::Seen seen;
  if (last - first == 1) return d.product(first, seen);
  const int middle = first + (last - first) / 2;
  const Value lower = half_sum(d, first, middle), upper = half_sum(d, middle, last);
  return d.add(lower, upper);
}

}  // namespace bounds

void ErrorBounds::evaluate(const DotOperands& in, ErrorBound& bound) const {
  using namespace bounds;
  Shared one(op_, model_, mpfr_get_prec(bound.exact.get()));
  const Value c = one.zero();
  exact::set_from_encoding(c->exact.get(), op_.c, in.c);
  c->set_unit();
  c->fits_d = model_.c == model_.d;
  const auto run = [&](const DotOperands& part, int, const FormatFields& c_format, const Value& addend) {
    if (!sums_by_halves_) return instruction(model_, part, c_format, addend, one);
    const BoundChains tree(model_, part, c_format, one);
    return tree.add(addend, half_sum(tree, 0, part.k));
  };
  const Value held = run_instructions(model_, in, c, run);
  exact::Mpfr parts(bound_precision);
  mpfr_div(parts.get(), held->error.get(), held->greatest_part.get(), MPFR_RNDN);
  bound.parts = held->error_is_zero() ? 0 : mpfr_get_d(parts.get(), MPFR_RNDN);
  bound.may_overflow = one.overflows.happened;
  const bool infinity_may_be_misread =
      model_.special_scope == SpecialScope::whole_k || model_.c_special == CSpecial::reads_minus_one;
  bound.has_no_bound = one.overflows.were_clamped || (one.overflows.happened && infinity_may_be_misread);
  mpfr_set(bound.exact.get(), held->exact.get(), MPFR_RNDN);
  mpfr_set(bound.bound.get(), held->error.get(), MPFR_RNDU);
}

}  // namespace mmafuzz
