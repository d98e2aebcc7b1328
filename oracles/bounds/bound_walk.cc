// The bound of one case: the walk over a row's blocks, or over a reference's operations, in the order in which the unit
// takes them (docs/bounds.md has the derivations; the section numbers are its).
#include "arithmetic/evaluate_dot.h"
#include "oracles/bounds/bound_steps.h"
#include "oracles/bounds/error_bound.h"

namespace mmafuzz {
namespace {

using namespace bounds;

double quotient(const exact::Mpfr& x, const exact::Mpfr& y) {
  exact::Mpfr q(bound_precision);
  mpfr_div(q.get(), x.get(), y.get(), MPFR_RNDN);
  return mpfr_get_d(q.get(), MPFR_RNDN);
}

/// Walks a case through a row's steps in the order in which the kernel would, with bounds instead of values.
class Walk {
 public:
  Walk(const Op& op, const DotModel& model, const DotOperands& in, ErrorBound& out)
      : op_(op), m_(model), in_(in), out_(out), precision_(mpfr_get_prec(out.exact.get())), held_(precision_) {
    held_.set(op.c, in.c);
    held_.fits_d = model.c == model.d;
    output_.format = model.d;
    output_.rule.rounding = model.output_rounding;
    if (!traits_.in_operations() || traits_.products == KernelTraits::Products::rounded)
      output_.rule.overflow = model.overflow;
    output_.flushes = flushes(model.subnormals, model.d);
  }

  void run(std::optional<ErrorBounds::Reference> reference) {
    if (reference) {
      this->reference(*reference);
    } else {
      for (first_ = 0; first_ < in_.k; first_ += m_.k) instruction();
    }
    out_.parts = held_.error_is_zero() ? 0 : quotient(held_.error, held_.greatest_part);
    out_.may_overflow = output_.overflow;
    const bool misread = m_.special_scope == SpecialScope::whole_k || m_.c_special == CSpecial::reads_minus_one;
    out_.unproven = output_.clamped || (output_.overflow && misread);
    mpfr_set(out_.exact.get(), held_.exact.get(), MPFR_RNDN);
    mpfr_set(out_.bound.get(), held_.error.get(), MPFR_RNDU);
  }

 private:
  void instruction() {
    switch (m_.kernel) {
#define KERNEL(name, ...) \
  case Kernel::name:      \
    return name();
#include "arithmetic/kernels.def.h"
#undef KERNEL
    }
  }

  // ---- operands ----

  struct Operand {
    Number number;
    bool dropped = false;  ///< a subnormal that the unit reads as zero
  };

  /// The index of the product that this instruction takes as its number i.
  int place(int i) const { return first_ + product_at(m_, i); }
  bool is_padding(int i) const { return place(i) >= in_.k; }

  Operand operand(const FormatFields& f, const uint64_t* encodings, int i) const {
    Operand x;
    if (is_padding(i)) return x;
    x.number = decode(f, encodings[place(i)]);
    const bool is_read_so =
        traits_.of_fp32() ? flushes(m_) && f.emin() == fp32_fields.emin() : flushes(m_.subnormals, f);
    x.dropped = is_read_so && x.number.subnormal && x.number.cls == NumberClass::finite;
    return x;
  }

  /// The scale of product i of this instruction: one where all of its products are padding.
  Number scale(const FormatFields& f, const uint64_t* encodings, int i) const {
    if (first_ + i - i % m_.scale_block >= in_.k) return decode(f, uint64_t(f.bias) << f.fraction_bits);
    return decode(f, encodings[first_ / m_.scale_block + i / m_.scale_block]);
  }

  static int read_exponent(const Number& n) {
    return n.cls == NumberClass::zero ? operand_rule_zero_exponent : n.scale_exponent;
  }

  /// Product i as the fused kernels align it. fp8 operands that become fp16 first have the exponent that they have
  /// there.
  Term product(int i) const {
    const Operand x = operand(m_.a, in_.a, i), y = operand(m_.b, in_.b, i);
    Term t;
    t.negative = x.number.negative != y.number.negative;
    t.significand = x.number.significand * y.number.significand;
    t.exponent = x.number.exponent + y.number.exponent;
    t.dropped = x.dropped || y.dropped;
    t.zero = t.significand == 0 || t.dropped;
    const auto exponent = [&](const Operand& o) {
      if (o.dropped || o.number.cls == NumberClass::zero) return operand_rule_zero_exponent;
      const int leading = o.number.exponent + fast_bit_length(o.number.significand) - 1;
      return traits_.of_fp16() ? std::max(leading, fp16_fields.emin()) : o.number.scale_exponent;
    };
    t.aligned_by = m_.product == ProductRule::normalized && !t.zero ? t.leading() : exponent(x) + exponent(y);
    if (m_.scale_block) {
      const Number sx = scale(m_.scale_a, in_.scale_a, i), sy = scale(m_.scale_b, in_.scale_b, i);
      t.significand *= sx.significand * sy.significand;
      t.exponent += sx.exponent + sy.exponent;
      t.aligned_by += sx.scale_exponent + sy.scale_exponent;
    }
    t.normalize();
    return t;
  }

  std::vector<Term> products(int first, int n) const {
    std::vector<Term> terms;
    for (int i = first; i < first + n; ++i) terms.push_back(product(i));
    return terms;
  }

  /// The groups of grouped_sum: exact sums of products times their scales, aligned by the scales.
  std::vector<Term> groups() const {
    std::vector<Term> terms;
    const int unit = m_.a.subnormal_bit() + m_.b.subnormal_bit();
    for (int first = 0; first < m_.k; first += m_.group) {
      const Number sx = scale(m_.scale_a, in_.scale_a, first), sy = scale(m_.scale_b, in_.scale_b, first);
      int64_t sum = 0;
      bool any = false;
      for (int i = first; i < std::min(first + m_.group, m_.k); ++i) {
        const Number x = operand(m_.a, in_.a, i).number, y = operand(m_.b, in_.b, i).number;
        const uint64_t significand = x.significand * y.significand;
        const auto p = static_cast<int64_t>(significand ? significand << (x.exponent + y.exponent - unit) : 0);
        any |= p != 0;
        sum += x.negative != y.negative ? -p : p;
      }
      Term g;
      g.negative = sum < 0;
      g.significand = static_cast<uint64_t>(sum < 0 ? -sum : sum) * sx.significand * sy.significand;
      g.exponent = unit + sx.exponent + sy.exponent;
      g.aligned_by = read_exponent(sx) + read_exponent(sy);
      g.zero = sx.significand == 0 || sy.significand == 0 || (m_.zero_group == ZeroGroup::sum_zero ? sum == 0 : !any);
      g.normalize();
      terms.push_back(g);
    }
    return terms;
  }

  /// Product i, exact, for the kernels that round it or add it to a wide sum.
  void set_product(Held& p, int i) const {
    if (is_padding(i)) return;
    const Operand x = operand(m_.a, in_.a, i), y = operand(m_.b, in_.b, i);
    p.set(op_.a, in_.a[place(i)]);
    multiply_exactly(p, op_.b, in_.b[place(i)]);
    if (op_.has_scales()) {
      multiply_exactly(p, op_.scale_a, in_.scale_a[(first_ + i) / op_.scale_block]);
      multiply_exactly(p, op_.scale_b, in_.scale_b[(first_ + i) / op_.scale_block]);
    }
    if (x.dropped || y.dropped) p.drop();
  }

  /// c as a kernel that flushes subnormals reads it; a result that was flushed already is none.
  void flush_c(Held& c) const {
    const FormatFields& f = traits_.of_fp32() ? fp32_fields : c.rounded ? m_.d : m_.c;
    if (flushes(m_.subnormals, f) && !c.flushed) lose_subnormal(c, f.emin());
  }

  // ---- kernels; the sections are those of docs/bounds.md ----

  /// What is known of c's alignment exponent.
  struct CRange {
    bool can_be_zero, exact_when_greatest;
    int greatest, least, last_bit;  ///< of a nonzero c; last_bit: c is a multiple of 2^last_bit
  };

  CRange c_range(const Held& c) const {
    const FormatFields format = c.fits_d ? m_.d : m_.c;
    const bool is_narrow =
        c.rounded && traits_.c != KernelTraits::Joining::second_stage;  // which knows no output_fraction_bits
    const int fraction_bits = is_narrow ? m_.output_fraction_bits : format.fraction_bits;
    const int floor = m_.c_exponent == CExponent::fp32       ? fp32_fields.emin()
                      : m_.c_exponent == CExponent::c_format ? format.subnormal_exponent()
                                                             : m_.d.emin();
    CRange r;
    const int low = c.least_exponent(), high = c.greatest_exponent();
    r.can_be_zero = low == never;
    r.greatest = high == never ? never : std::max(high, floor);
    r.least = low == never ? never : std::max(low, floor);
    r.last_bit = std::max(c.unit, low == never ? never : low - fraction_bits);
    r.exact_when_greatest = m_.fraction_bits >= fraction_bits && floor <= format.subnormal_exponent();
    return r;
  }

  template <class Block>
  void for_blocks(Block block) {
    for (int first = 0; first < m_.k; first += m_.block) block(first, std::min(m_.block, m_.k - first));
  }

  /// Sections 2 and 3.
  void fused_sum() {
    for_blocks([&](int first, int n) { fused_block(held_, products(first, n)); });
  }
  void grouped_sum() { fused_block(held_, groups()); }
  void fused_block(Held& c, const std::vector<Term>& terms) {
    flush_c(c);
    const CRange range = c_range(c);
    int products = m_.zero_rule == ZeroRule::clamp ? m_.zero_exponent : never;
    for (const Term& t : terms) {
      if (!t.zero || m_.zero_rule == ZeroRule::operand) products = std::max(products, t.aligned_by);
      if (t.zero && m_.zero_rule == ZeroRule::constant) products = std::max(products, m_.zero_exponent);
    }
    int greatest = std::max(products, range.greatest), least = std::max(products, range.least);
    if (range.can_be_zero && m_.zero_rule != ZeroRule::clamp)
      greatest = std::max(greatest, m_.zero_rule == ZeroRule::constant ? m_.zero_exponent : operand_rule_zero_exponent);
    const int cut = greatest - m_.fraction_bits;
    const int cut_of_c = (range.exact_when_greatest ? products : greatest) - m_.fraction_bits;
    if (range.greatest != never && range.last_bit < cut_of_c)
      lose_below(c, cut_of_c, range.last_bit, c.magnitude().get());
    for (const Term& t : terms) {
      if (!t.dropped && t.significand && t.exponent < cut) lose_part(c, cut, t);
      add_exactly(c, t);
    }
    c.unit = std::max(c.unit, least - m_.fraction_bits);
    round_sum(c);
  }

  void round_sum(Held& c) {
    if (m_.output_via != OutputVia::direct) {
      const bool to_nearest = m_.output_via == OutputVia::fp32_nearest;
      RoundTo via;
      via.format = fp32_fields;
      via.rule.rounding = to_nearest ? Rounding::nearest_even : Rounding::toward_zero;
      via.rule.overflow = Overflow::infinity;
      via.flushes = to_nearest && flushes(m_.subnormals, fp32_fields);
      round(c, via);
      output_.overflow |= via.overflow;
    }
    RoundTo narrow = output_;
    narrow.format.fraction_bits = static_cast<uint8_t>(m_.output_fraction_bits);
    round(c, narrow);
    output_.overflow |= narrow.overflow;
    output_.clamped |= narrow.clamped;
  }

  /// Section 12.
  void floored_sum() {
    for_blocks([&](int first, int n) { floored_block(held_, products(first, n)); });
  }
  void floored_block(Held& c, const std::vector<Term>& terms) {
    flush_c(c);
    const CRange range = c_range(c);
    int least = m_.zero_exponent;  // of the sum's alignment
    for (const Term& t : terms)
      if (!t.zero) least = std::max(least, t.aligned_by);
    const int greatest = range.greatest == never ? least : std::max(least, range.greatest - m_.c_guard_bits);
    if (range.least != never) least = std::max(least, range.least - m_.c_guard_bits);
    const int cut = greatest - m_.fraction_bits;
    if (range.greatest != never && range.last_bit < cut) lose_below(c, cut, range.last_bit, nullptr);
    const bool complements = m_.cut == Cut::opposed_complement;
    for (const Term& t : terms) {
      // A complement is one unit less than the negative, a product that is zero no less so.
      if (complements) lose_below(c, cut + 1, cut, nullptr);
      else if (t.significand && !t.dropped && t.exponent < cut) lose_below(c, cut, t.exponent, nullptr);
      add_exactly(c, t);
    }
    // Sums of products are cut once more, at the common unit.
    for (size_t first = 0; m_.first_sum > 1 && first < terms.size(); first += size_t(m_.first_sum))
      lose_below(c, cut + 1, cut, nullptr);
    c.unit = complements ? least - m_.fraction_bits : std::max(c.unit, least - m_.fraction_bits);
    round_sum(c);
  }

  /// Section 4.
  void emulated_fp8() {
    Held sum(precision_);
    sum.fits_d = true;
    for (int half = 0; half < 2; ++half) {
      std::vector<Term> block;
      const auto flush = [&] {
        if (!block.empty()) fused_block(sum, block);
        block.clear();
      };
      for (int i = 0; i < m_.k; ++i) {
        if (i % 4 / 2 != half) continue;
        block.push_back(product(i));
        if (int(block.size()) == m_.block) flush();
      }
      flush();
    }
    RoundTo nearest = output_;
    nearest.rule = RoundingRule{};
    add_and_round(held_, sum, nearest);
    output_.overflow |= nearest.overflow;
  }

  /// Section 5.
  void exact_sum() {
    for_blocks([&](int first, int n) {
      flush_c(held_);
      for (const Term& t : products(first, n)) add_exactly(held_, t);
      round(held_, output_);
    });
  }
  /// The sum of the products is rounded before c joins.
  void sum_then_add() {
    for_blocks([&](int first, int n) {
      flush_c(held_);
      Held sum(precision_);
      for (const Term& t : products(first, n)) add_exactly(sum, t);
      round(sum, output_);
      add_and_round(held_, sum, output_);
    });
  }
  void fma_chain() {
    flush_c(held_);
    for (int i = 0; i < m_.k; ++i) {
      Held p(precision_);
      set_product(p, i);
      add_and_round(held_, p, output_);
    }
  }

  /// Section 6.
  void ieee_tree() {
    for_blocks([&](int first, int n) { tree_block(first, n); });
  }
  void tree_block(int first, int n) {
    std::vector<std::unique_ptr<Held>> node;
    for (int i = first; i < first + n; ++i) {
      node.push_back(std::make_unique<Held>(precision_));
      set_product(*node.back(), i);
      if (!node.back()->flushed) round(*node.back(), output_);
    }
    while (node.size() > 1) {
      std::vector<std::unique_ptr<Held>> next;
      for (size_t i = 0; i + 1 < node.size(); i += 2) {
        add_and_round(*node[i], *node[i + 1], output_);
        next.push_back(std::move(node[i]));
      }
      if (node.size() % 2) next.push_back(std::move(node.back()));
      node = std::move(next);
    }
    flush_c(held_);
    add_and_round(held_, *node[0], output_);
  }

  /// Section 5: chains of fp32 FMAs from zero, each or their sum added to c in fp32, and at last a rounding to d.
  void fma_then_add() {
    RoundTo fp32 = output_;
    fp32.format = fp32_fields;
    flush_c(held_);
    Held of_chains(precision_);
    of_chains.fits_d = true;
    for (int first = 0; first < m_.k; first += m_.block) {
      Held chain(precision_);
      chain.fits_d = true;
      for (int i = first; i < std::min(first + m_.block, m_.k); ++i) {
        Held p(precision_);
        set_product(p, i);
        add_and_round(chain, p, fp32);
      }
      held_.fits_d = true;  // c is fp16 or fp32, a sum is fp32
      add_and_round(m_.chain_join == ChainJoin::in_turn ? held_ : of_chains, chain, fp32);
    }
    if (m_.chain_join == ChainJoin::summed_first) add_and_round(held_, of_chains, fp32);
    output_.overflow |= fp32.overflow;
    output_.clamped |= fp32.clamped;
    if (m_.d != fp32_fields) {
      RoundTo conversion = output_;
      conversion.flushes = false;
      round(held_, conversion);
      output_.overflow |= conversion.overflow;
      output_.clamped |= conversion.clamped;
    }
    held_.fits_d = true;
  }

  /// Section 7.
  void two_stage_sum() {
    for_blocks([&](int first, int n) { two_stage_block(products(first, n)); });
  }
  void two_stage_block(const std::vector<Term>& terms) {
    flush_c(held_);
    const CRange range = c_range(held_);
    const int f = m_.fraction_bits, groups = m_.odd_even ? 2 : 1;
    int own[2] = {never, never}, last_bit[2] = {multiple_of_all, multiple_of_all};
    for (size_t i = 0; i < terms.size(); ++i) {
      const Term& t = terms[i];
      if (m_.product_overflow != ProductOverflow::none && !t.zero && t.leading() >= 128) output_.overflow = true;
      if (!t.zero || m_.zero_rule == ZeroRule::operand) own[i % groups] = std::max(own[i % groups], t.aligned_by);
      if (t.significand && !t.dropped) last_bit[i % groups] = std::min(last_bit[i % groups], t.exponent);
    }
    const int products = std::max(own[0], own[1]);
    const int greatest = std::max({products, range.greatest, range.can_be_zero ? operand_rule_zero_exponent : never});
    const int least = std::max(products, range.least);
    const bool fine = m_.second_stage == SecondStage::floor32_then_31;
    const int below = f + 7 + (fine ? 1 : 0);
    // c first: its loss is bounded by its magnitude before the products join.
    const int cut_of_c = (range.exact_when_greatest ? products : greatest) - f;
    if (range.greatest != never && range.last_bit < cut_of_c) lose_below(held_, cut_of_c, range.last_bit, nullptr);
    int sum_last_bit = multiple_of_all;
    for (int g = 0; g < groups; ++g) {
      if (last_bit[g] == multiple_of_all) continue;
      int last = std::max(last_bit[g], own[g] - f);
      if (last < products - f) {  // the lesser of odd and even, floored at the common exponent
        lose_below(held_, products - f, last, nullptr);
        last = products - f;
      }
      sum_last_bit = std::min(sum_last_bit, last);
    }
    if (sum_last_bit < greatest - below) lose_below(held_, greatest - below, sum_last_bit, nullptr);
    for (size_t i = 0; i < terms.size(); ++i) {
      const int cut = own[i % groups] - f;
      if (!terms[i].dropped && terms[i].significand && terms[i].exponent < cut) lose_part(held_, cut, terms[i]);
      add_exactly(held_, terms[i]);
    }
    // A multiple of the second stage's unit, or of whatever all terms are multiples of.
    held_.unit = std::max(held_.unit, least == never ? never : least - below);
    if (fine) {
      const int leading = held_.greatest_exponent();
      const int floored = std::max(leading, m_.d.emin()) - (f + 7);
      if (leading != never && held_.unit < floored) lose_below(held_, floored, held_.unit, nullptr);
    }
    round(held_, output_);
  }

  /// Section 8.
  void reference(ErrorBounds::Reference order) {
    using R = ErrorBounds::Reference;
    output_.rule = op_.rounding_rule();
    if (order == R::pairwise) {
      Held sum(precision_);
      half_sum(sum, 0, in_.k);
      add_and_round(held_, sum, output_);
      return;
    }
    for (int i = 0; i < in_.k; ++i) {
      Held p(precision_);
      set_product(p, i);
      if (order == R::serial) round(p, output_);
      if (order == R::exact) {
        add_exactly(held_, p);
      } else {
        add_and_round(held_, p, output_);
      }
    }
    if (order == R::exact) round(held_, output_);
  }

  void half_sum(Held& sum, int first, int last) {
    if (last - first == 1) {
      set_product(sum, first);
      round(sum, output_);
      return;
    }
    const int middle = first + (last - first) / 2;
    half_sum(sum, first, middle);
    Held upper(precision_);
    half_sum(upper, middle, last);
    add_and_round(sum, upper, output_);
  }

  const Op& op_;
  const DotModel& m_;
  const KernelTraits traits_ = traits_of(m_);
  const DotOperands& in_;
  ErrorBound& out_;
  mpfr_prec_t precision_;
  Held held_;  ///< the accumulator
  RoundTo output_;
  int first_ = 0;  ///< index of the instruction's first product
};

}  // namespace

void ErrorBounds::evaluate(const DotOperands& in, ErrorBound& bound) const {
  Walk(op_, model_, in, bound).run(reference_);
}

}  // namespace mmafuzz
