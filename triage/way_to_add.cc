#include "triage/way_to_add.h"

#include <algorithm>
#include <numeric>

#include "arithmetic/evaluate_dot.h"
#include "oracles/exact/mpfr_reference.h"
#include "oracles/models/parameters.h"

namespace mmafuzz {
namespace {

using exact::Mpfr;
using Additions = WayToAdd::Additions;
using Cuts = WayToAdd::Cuts;
using Joining = WayToAdd::Joining;
using CutParts = WayToAdd::CutParts;

/// Indices of the products in the order of a row's instructions. Indices from the op's k on, which are zeros, are kept
/// for floored sums, where a zero of the other sign is -1 unit and -0 becomes +0, and for chains that are added to each
/// other, which begin at fixed positions of the instruction.
std::vector<int> order_of(const DotModel& row, const Op& op) {
  const bool zeros_count = traits_of(row).floors() || row.chain_join == ChainJoin::summed_first;
  std::vector<int> order;
  for (int first = 0; first < op.k; first += row.k)
    for (int position = 0; position < row.k; ++position)
      if (const int at = first + added_at(row, position); at < op.k || zeros_count) order.push_back(at);
  return order;
}

/// The decisions of a row: those of its kernel's line in arithmetic/kernels.def.h, and its parameters. Nothing where a
/// kernel of fp32 steps has another d.
std::optional<WayToAdd> way_of_row(const DotModel& row, const Op& op) {
  const KernelTraits kernel = traits_of(row);
  const auto reads = [&](const char* setting) { return find_parameter(setting)->used_by(row.kernel); };
  if (kernel.widens_to_fp32() && row.d.width != 32) return std::nullopt;
  WayToAdd way;
  way.order = order_of(row, op);
  way.rounds_products = kernel.products == KernelTraits::Products::rounded;
  way.additions = kernel.additions == KernelTraits::Additions::in_pairs   ? Additions::in_pairs
                  : kernel.additions == KernelTraits::Additions::in_order ? Additions::in_order
                                                                          : Additions::once;
  way.c_joins = kernel.c;
  way.cut_parts = kernel.sums_groups()                ? CutParts::groups
                  : reads("odd_even") && row.odd_even ? CutParts::odd_and_even
                                                      : CutParts::whole;
  if (kernel.sums_groups()) way.group_size = row.group;
  if (kernel.floors()) {
    way.cuts = row.cut == Cut::floor ? Cuts::downwards : Cuts::as_complement;
    way.guard_of_c = row.c_guard_bits;
    way.drops_lost_c = row.cut == Cut::floor && row.lost_c == LostC::dropped;
    if (row.cut == Cut::floor && row.first_sum > 1) {
      way.cut_parts = CutParts::first_sums;
      way.group_size = row.first_sum;
    }
    way.via_fp32 = row.output_via == OutputVia::fp32_nearest;
  }
  if (kernel.cuts_to_odd()) way.cuts = Cuts::to_odd;
  if (reads("form")) way.form = row.form;
  way.block = way.products_before_c = reads("block") ? row.block : kernel.steps_are_operations() ? op.k : row.k;
  if (kernel.widens_to_fp16()) way.products_before_c = row.k;
  if (reads("chain_join") && row.chain_join == ChainJoin::summed_first && row.block < row.k)
    way.summed_together = row.k;
  way.sums_from_zero = kernel.widens_to_fp32() && row.chain_start == ChainStart::positive_zero;
  if (reads("fraction_bits")) way.kept_bits = row.fraction_bits;
  if (reads("zero_exponent") && row.zero_rule == ZeroRule::constant) way.zero_exponent = row.zero_exponent;
  way.reads_as_fp16 = kernel.widens_to_fp16();
  way.cuts_downwards = kernel.c == Joining::second_stage;
  way.cuts_sum = way.cuts_downwards && row.second_stage == SecondStage::floor32_then_31;
  way.subnormals = row.subnormals;
  // A kernel of fp32 steps flushes its operands as fp32 numbers.
  if (kernel.widens_to_fp32() && row.subnormals == Subnormals::flushed_signed)
    way.subnormals = Subnormals::flushed_of_fp32;
  way.flushed = row.flushed;
  way.tininess = row.tininess;
  way.reads_positive_zeros = reads("zero_operands") && row.zero_operands == ZeroOperands::positive;
  way.zero_is_positive =
      kernel.c == Joining::second_stage || (!kernel.steps_are_operations() && row.zero_sign == ZeroSign::positive);
  way.underflow_is_positive = reads("underflow_sign") && row.underflow_sign == UnderflowSign::positive;
  way.output_bits = reads("output_fraction_bits") ? row.output_fraction_bits : row.d.fraction_bits;
  way.rounding = row.output_rounding;
  way.last_rounding = kernel.widens_to_fp16() ? Rounding::nearest_even : row.output_rounding;
  way.overflow = reads("overflow") ? row.overflow : Overflow::by_rounding;
  return way;
}

/// An addend as it is aligned.
struct Term {
  explicit Term(mpfr_prec_t bits) : value(bits) {}
  Mpfr value;
  int exponent = 0;  ///< by which the greatest exponent is found
  bool is_zero = false;
};

constexpr int below_all = -1'000'000;  ///< the greatest exponent where no term has one
constexpr int more_bits_of_sum = 7;    ///< bits of the products' sum beyond those of c in the second stage

/// Evaluates one dot as a way says, in MPFR numbers of `bits_` bits, which hold every sum exactly.
class StepwiseDot {
 public:
  StepwiseDot(const WayToAdd& way, const Op& op, const DotOperands& in)
      : way_(way), op_(op), in_(in), bits_(exact::sum_precision_of(op) + 64) {
    for (const int i : way.order) add_term(i);
  }

  uint64_t result() {
    Mpfr c(bits_);
    const FormatFields& f = op_.c.fields();
    exact::set_operand(c.get(), op_, op_.c, in_.c);
    if (const Number n = read(f, in_.c); n.cls == NumberClass::zero) mpfr_set_zero(c.get(), n.negative ? -1 : 1);
    uint64_t encoding = in_.c;
    const int products_of_a_term = way_.cut_parts == CutParts::groups ? way_.group_size : 1;
    const size_t count = terms_.size(), block = static_cast<size_t>(std::max(1, way_.block / products_of_a_term));
    const bool joins_last = way_.c_joins == Joining::last || way_.additions == Additions::in_pairs;
    const bool joins_nothing = joins_last && !way_.sums_from_zero;
    const size_t span = joins_last ? static_cast<size_t>(way_.products_before_c) : count;
    Mpfr before(bits_);  // the sums of an instruction that c has not joined yet
    for (size_t start = 0; start < count; start += span) {
      const size_t stop = std::min(count, start + span), together = static_cast<size_t>(way_.summed_together);
      Mpfr partial(bits_);
      mpfr_set_zero(partial.get(), 1);
      mpfr_ptr sum = joins_last ? partial.get() : c.get();
      for (size_t first = start; first < stop; first += block)
        encoding = step(first, std::min(stop, first + block), joins_nothing && first == start ? nullptr : sum, sum);
      if (!joins_last) continue;
      if (together) {
        if (start % together) {
          add(partial.get(), before.get());
          rounded(partial.get(), way_.rounding, way_.output_bits);
        }
        mpfr_set(before.get(), partial.get(), MPFR_RNDN);
        if (stop % together && stop < count) continue;
      }
      if (way_.form == Form::s_alone) mpfr_set(c.get(), partial.get(), MPFR_RNDN);
      else encoding = joined(c.get(), partial.get(), way_.last_rounding, op_.d.fields().fraction_bits);
    }
    return encoding;
  }

 private:
  /// An operand, flushed where the way flushes it.
  Number read(const FormatFields& format, uint64_t encoding) const {
    DotModel rule;
    rule.subnormals = way_.subnormals;
    rule.flushed = way_.flushed;
    Number n = read_operand(rule, format, encoding);
    if (way_.reads_positive_zeros && n.cls == NumberClass::zero) n.negative = false;
    return n;
  }

  /// Replaces c by the form of s and c, rounded. Returns its encoding.
  uint64_t joined(mpfr_ptr c, mpfr_srcptr s, Rounding rounding, int fraction_bits) const {
    DotModel row;
    row.form = way_.form;
    if (negates_c(row)) mpfr_neg(c, c, MPFR_RNDN);
    negates_sum(row) ? mpfr_sub(c, c, s, MPFR_RNDN) : mpfr_add(c, c, s, MPFR_RNDN);
    const uint64_t encoding = rounded(c, rounding, fraction_bits);
    if (!negates_result(row)) return encoding;
    mpfr_neg(c, c, MPFR_RNDN);
    return encoding ^ op_.d.fields().sign_bit();
  }

  Term& add_zero_term(int sign) {
    Term& term = terms_.emplace_back(bits_);
    mpfr_set_zero(term.value.get(), sign);
    term.is_zero = true;
    return term;
  }

  Mpfr copy_of(mpfr_srcptr x) const {
    Mpfr copy(bits_);
    mpfr_set(copy.get(), x, MPFR_RNDN);
    return copy;
  }

  /// Appends product i as a term, or adds it to the exact sum of its group.
  void add_term(int i) {
    if (i >= op_.k) {
      add_zero_term(1);
      return;
    }
    const FormatFields &a = op_.a.fields(), &b = op_.b.fields();
    const Number x = read(a, in_.a[i]), y = read(b, in_.b[i]);
    Mpfr product(bits_);
    exact::set_product(product.get(), op_, in_, i);
    bool zero = x.cls == NumberClass::zero || y.cls == NumberClass::zero;
    if (zero) mpfr_set_zero(product.get(), x.negative != y.negative ? -1 : 1);
    int scale = 0;
    if (op_.has_scales()) {
      const Number sx = decode(op_.scale_a.fields(), in_.scale_a[i / op_.scale_block]);
      const Number sy = decode(op_.scale_b.fields(), in_.scale_b[i / op_.scale_block]);
      scale = sx.scale_exponent + sy.scale_exponent;
      zero |= sx.significand == 0 || sy.significand == 0;
    }
    const auto exponent = [&](const Number& n) {
      const int leading = n.exponent + bit_length(n.significand) - 1;
      return way_.reads_as_fp16 ? std::max(leading, fp16_fields.emin()) : n.scale_exponent;
    };
    if (way_.cut_parts == CutParts::groups) {
      Term& group = terms_.empty() || i % way_.group_size == 0 ? add_zero_term(-1) : terms_.back();
      add(group.value.get(), product.get());
      group.exponent = scale;
      group.is_zero &= zero;
      return;
    }
    Term& term = terms_.emplace_back(bits_);
    mpfr_set(term.value.get(), product.get(), MPFR_RNDN);
    term.is_zero = zero;
    term.exponent = zero ? 0 : exponent(x) + exponent(y) + scale;
    if (way_.rounds_products) rounded(term.value.get(), way_.rounding, way_.output_bits);
  }

  /// Rounds x to d. Returns the encoding; x becomes its value.
  uint64_t rounded(mpfr_ptr x, Rounding rounding, int fraction_bits) const {
    const FormatFields& f = op_.d.fields();
    const bool zero = mpfr_zero_p(x);
    RoundingRule rule;
    rule.rounding = rounding;
    rule.tininess = way_.tininess;
    rule.overflow = way_.overflow;
    // A result of fewer bits is cut before it is encoded: add_in_that_way() takes such results only if truncated.
    if (fraction_bits < f.fraction_bits && !zero) {
      const int leading = std::max(static_cast<int>(mpfr_get_exp(x)) - 1, f.emin());
      cut(x, leading - fraction_bits, false);
    }
    if (way_.via_fp32 && !zero) {
      round_and_flush(format("fp32"), x, {});
      if (way_.underflow_is_positive && mpfr_zero_p(x)) mpfr_set_zero(x, 1);
    }
    uint64_t encoding = round_and_flush(op_.d, x, rule);
    if (way_.underflow_is_positive && !zero && !way_.via_fp32 && mpfr_zero_p(x)) {
      encoding = f.encode_zero(false);
      mpfr_set_zero(x, 1);
    }
    return encoding;
  }

  /// Rounds x once to a format and flushes a subnormal result. Where flushed numbers keep their signs, so is a result
  /// that underflows, even if it rounds to a normal number. Where only operands are flushed, x alone becomes zero.
  uint64_t round_and_flush(const Format& to, mpfr_ptr x, const RoundingRule& rule) const {
    const FormatFields& f = to.fields();
    exact::MpfrRounded r = exact::round_mpfr(to, x, rule);
    const bool tiny = keeps_flushed_sign(way_.subnormals) && (r.flags & flag::underflow);
    if (way_.flushed != FlushedNumbers::operands && flushes(way_.subnormals, f) &&
        (tiny || decode(f, r.encoding).subnormal))
      r.encoding = f.encode_zero(mpfr_signbit(x) != 0);
    exact::set_from_encoding(x, to, r.encoding);
    const bool read_as_zero = way_.flushed == FlushedNumbers::operands && flushes(way_.subnormals, f);
    if (read_as_zero && decode(f, r.encoding).subnormal) mpfr_set_zero(x, mpfr_signbit(x) ? -1 : 1);
    return r.encoding;
  }

  /// Drops the bits below 2^unit, toward minus infinity or toward zero.
  static void cut(mpfr_ptr x, int unit, bool downwards) {
    mpfr_mul_2si(x, x, -unit, MPFR_RNDN);
    downwards ? mpfr_floor(x, x) : mpfr_trunc(x, x);
    mpfr_mul_2si(x, x, unit, MPFR_RNDN);
  }

  /// The same toward zero, but where a dropped bit is 1, the last bit that is kept becomes 1.
  void cut_to_odd(mpfr_ptr x, int unit) const {
    const Mpfr whole = copy_of(x);
    cut(x, unit, false);
    if (mpfr_equal_p(whole.get(), x)) return;
    Mpfr half = copy_of(x);
    cut(half.get(), unit + 1, false);
    if (!mpfr_equal_p(half.get(), x)) return;
    mpfr_set_si_2exp(half.get(), mpfr_signbit(whole.get()) ? -1 : 1, unit, MPFR_RNDN);
    add(x, half.get());
  }

  static int exponent_of_value(mpfr_srcptr x) { return static_cast<int>(mpfr_get_exp(x)) - 1; }
  /// The exponent of c, or that of d's least normal number where it is greater.
  int exponent_of_c(mpfr_srcptr c) const { return std::max(exponent_of_value(c), op_.d.fields().emin()); }

  /// Raises `greatest` to the exponent of a term.
  void offer(int& greatest, const Term& term) const {
    if (!term.is_zero) greatest = std::max(greatest, term.exponent);
    else if (way_.zero_exponent) greatest = std::max(greatest, *way_.zero_exponent);
  }

  static void add(mpfr_ptr sum, mpfr_srcptr x) { mpfr_add(sum, sum, x, MPFR_RNDN); }

  /// Sets `sum` to the sum of every stride-th term, cut below their greatest exponent, at least `greatest`; returns
  /// that.
  int sum_of_terms(size_t first, size_t last, size_t stride, int greatest, mpfr_ptr sum) const {
    for (size_t i = first; i < last; i += stride) offer(greatest, terms_[i]);
    mpfr_set_zero(sum, -1);
    for (size_t i = first; i < last; i += stride) {
      Mpfr term = terms_[i].value;
      if (way_.kept_bits && greatest > below_all) cut(term.get(), greatest - *way_.kept_bits, false);
      add(sum, term.get());
    }
    return greatest;
  }

  /// Adds terms and c with no rounding in between. `c`: nullptr where c joins later.
  void add_at_once(size_t first, size_t last, mpfr_srcptr c, mpfr_ptr sum) const {
    const bool in_stages = way_.cut_parts == CutParts::odd_and_even || (c && way_.c_joins == Joining::second_stage);
    in_stages ? add_in_stages(first, last, c, sum) : add_below_one_exponent(first, last, c, sum);
  }

  /// Adds c and the terms, or the sums of their groups, all cut at one weight.
  void add_below_one_exponent(size_t first, size_t last, mpfr_srcptr c, mpfr_ptr sum) const {
    const size_t together = way_.cut_parts == CutParts::first_sums ? static_cast<size_t>(way_.group_size) : 1;
    const bool c_is_zero = !c || mpfr_zero_p(c), c_is_negative = c && mpfr_signbit(c);
    int greatest = !c_is_zero ? exponent_of_c(c) - way_.guard_of_c : way_.zero_exponent.value_or(below_all);
    std::vector<int> greatest_of_group;
    for (size_t group = first; group < last; group += together) {
      int exponent = below_all;
      for (size_t i = group; i < std::min(last, group + together); ++i)
        if (!terms_[i].is_zero) exponent = std::max(exponent, terms_[i].exponent);
      greatest_of_group.push_back(exponent);
      greatest = std::max(greatest, exponent > below_all ? exponent : way_.zero_exponent.value_or(below_all));
    }
    const auto cut_below = [&](mpfr_ptr x, int exponent, bool is_c = false) {
      if (!way_.kept_bits || exponent == below_all) return;
      const int unit = exponent - *way_.kept_bits;
      const bool is_opposed = way_.cuts == Cuts::as_complement && !is_c && (mpfr_signbit(x) != 0) != c_is_negative;
      way_.cuts == Cuts::to_odd ? cut_to_odd(x, unit) : cut(x, unit, way_.cuts == Cuts::downwards);
      if (!is_opposed) return;
      Mpfr one(bits_);
      mpfr_set_si_2exp(one.get(), c_is_negative ? 1 : -1, unit, MPFR_RNDN);
      add(x, one.get());
    };
    Mpfr all(bits_);
    mpfr_set_zero(all.get(), -1);
    for (size_t group = first; group < last; group += together) {
      Mpfr sum_of_group(bits_);
      mpfr_set_zero(sum_of_group.get(), -1);
      for (size_t i = group; i < std::min(last, group + together); ++i) {
        Mpfr term = terms_[i].value;
        cut_below(term.get(), together > 1 ? greatest_of_group[(group - first) / together] : greatest);
        add(sum_of_group.get(), term.get());
      }
      if (together > 1) cut_below(sum_of_group.get(), greatest);
      add(all.get(), sum_of_group.get());
    }
    if (c) {
      Mpfr joined = copy_of(c);
      const bool is_lost = !c_is_zero && way_.kept_bits && exponent_of_value(c) < greatest - *way_.kept_bits;
      if (is_lost && way_.drops_lost_c && greatest - *way_.kept_bits > op_.d.fields().emin())
        mpfr_set_zero(joined.get(), 1);
      else cut_below(joined.get(), greatest, true);
      add(all.get(), joined.get());
    }
    mpfr_set(sum, all.get(), MPFR_RNDN);
  }

  /// Adds odd and even products apart, or c after the products' sum.
  void add_in_stages(size_t first, size_t last, mpfr_srcptr c, mpfr_ptr sum) const {
    int greatest = below_all;
    const bool odd_and_even = way_.cut_parts == CutParts::odd_and_even;
    const bool joins_at_once = way_.c_joins != Joining::second_stage;
    if (c && joins_at_once) {
      if (!mpfr_zero_p(c)) greatest = exponent_of_c(c);
      else if (way_.zero_exponent) greatest = *way_.zero_exponent;
    }
    if (!c && joins_at_once && way_.zero_exponent) greatest = *way_.zero_exponent;  // the sum starts from a zero
    Mpfr products(bits_);
    int exponent = sum_of_terms(first, last, odd_and_even ? 2 : 1, greatest, products.get());
    if (odd_and_even) {
      Mpfr odd(bits_);
      exponent = std::max(exponent, sum_of_terms(std::min(first + 1, last), last, 2, greatest, odd.get()));
      if (way_.kept_bits && exponent > below_all) {
        cut(products.get(), exponent - *way_.kept_bits, way_.cuts_downwards);
        cut(odd.get(), exponent - *way_.kept_bits, way_.cuts_downwards);
      }
      add(products.get(), odd.get());
    }
    if (!c) {
      mpfr_set(sum, products.get(), MPFR_RNDN);
      return;
    }
    Mpfr joined = copy_of(c);
    if (!joins_at_once) cut_for_second_stage(products.get(), joined.get(), exponent);
    else if (way_.kept_bits && exponent > below_all) cut(joined.get(), exponent - *way_.kept_bits, false);
    add(products.get(), joined.get());
    if (!joins_at_once) cut_sum(products.get());
    mpfr_set(sum, products.get(), MPFR_RNDN);
  }

  /// Cuts both addends of the second stage of CDNA3 (docs/semantics.md 7): more bits are kept of the products' sum.
  void cut_for_second_stage(mpfr_ptr products, mpfr_ptr c, int greatest_product) const {
    if (!way_.kept_bits) return;
    const int of_c = mpfr_zero_p(c) ? op_.d.fields().emin() : exponent_of_c(c);
    const int greatest = std::max(greatest_product, of_c), last_of_c = greatest - *way_.kept_bits;
    cut(products, last_of_c - more_bits_of_sum - (way_.cuts_sum ? 1 : 0), way_.cuts_downwards);
    if (way_.cut_parts == CutParts::odd_and_even && of_c < last_of_c - 1) mpfr_set_zero(c, 1);
    cut(c, last_of_c, way_.cuts_downwards);
  }
  void cut_sum(mpfr_ptr sum) const {
    if (!way_.kept_bits || !way_.cuts_sum || mpfr_zero_p(sum)) return;
    cut(sum, exponent_of_c(sum) - *way_.kept_bits - more_bits_of_sum, way_.cuts_downwards);
  }

  /// Sets `sum` to the rounded sum of c and the terms from `first` up to `last`; returns its encoding. `c`: nullptr
  /// where only terms are added; it may be `sum` itself.
  uint64_t step(size_t first, size_t last, mpfr_srcptr c, mpfr_ptr sum) {
    if (way_.additions == Additions::once) {
      Mpfr all(bits_);
      add_at_once(first, last, c, all.get());
      if (mpfr_zero_p(all.get()) && way_.zero_is_positive) mpfr_set_zero(all.get(), 1);
      mpfr_set(sum, all.get(), MPFR_RNDN);
      return rounded(sum, way_.rounding, way_.output_bits);
    }
    if (way_.additions == Additions::in_pairs) {
      Mpfr products = halves(first, last);
      if (c) add(products.get(), c);
      mpfr_set(sum, products.get(), MPFR_RNDN);
      return rounded(sum, way_.rounding, way_.output_bits);
    }
    uint64_t encoding = 0;
    const Form form = way_.c_joins == Joining::last ? Form::s_plus_c : way_.form;  // of the c that joins last
    for (size_t i = first; i < last; ++i) {
      mpfr_srcptr term = terms_[i].value.get();
      const bool is_alone = form == Form::s_alone || (i == first && !c);
      if (is_alone) mpfr_set(sum, term, MPFR_RNDN);
      if (is_alone || form == Form::s_plus_c) {
        if (!is_alone) add(sum, term);
        encoding = rounded(sum, way_.rounding, way_.output_bits);
      } else {
        encoding = joined(sum, term, way_.rounding, way_.output_bits);
      }
    }
    return encoding;
  }

  /// The sum of terms in a tree of halves, each addition rounded.
  Mpfr halves(size_t first, size_t last) const {
    if (last - first == 1) return terms_[first].value;
    const size_t middle = first + (last - first + 1) / 2;
    Mpfr sum = halves(first, middle);
    const Mpfr right = halves(middle, last);
    add(sum.get(), right.get());
    rounded(sum.get(), way_.rounding, way_.output_bits);
    return sum;
  }

  const WayToAdd& way_;
  const Op& op_;
  const DotOperands& in_;
  const mpfr_prec_t bits_;
  std::vector<Term> terms_;
};

}  // namespace

std::optional<WayToAdd> way_of(const Unit& unit, const DotModel* row, const Op& op) {
  if (row) return way_of_row(*row, op);
  WayToAdd way;
  way.order.resize(static_cast<size_t>(op.k));
  std::iota(way.order.begin(), way.order.end(), 0);
  way.block = way.products_before_c = op.k;
  way.output_bits = op.d.fields().fraction_bits;
  way.rounding = way.last_rounding = op.rounding;
  if (unit.role() == Role::exact || unit.role() == Role::referee) return way;
  const std::string& name = unit.name();
  if (name == "ieee:pairwise") {
    way.rounds_products = true;
    way.c_joins = Joining::last;
    way.additions = Additions::in_pairs;
    return way;
  }
  way.additions = Additions::in_order;
  way.rounds_products = name == "ieee:serial";
  return name == "ieee:serial" || name == "ieee:fma" ? std::optional(way) : std::nullopt;
}

bool is_finite_case(const Op& op, const DotOperands& in) {
  const auto finite = [](const Format& format, uint64_t encoding) {
    const NumberClass cls = decode(format.fields(), encoding).cls;
    return cls != NumberClass::nan && cls != NumberClass::infinity;
  };
  for (int i = 0; i < in.k; ++i)
    if (!finite(op.a, in.a[i]) || !finite(op.b, in.b[i])) return false;
  for (int i = 0; i < op.scales(); ++i)
    if (!finite(op.scale_a, in.scale_a[i]) || !finite(op.scale_b, in.scale_b[i])) return false;
  return finite(op.c, in.c);
}

std::optional<uint64_t> add_in_that_way(const WayToAdd& way, const Op& op, const DotOperands& in) {
  const bool at_once = way.additions == Additions::once && !way.rounds_products;
  const bool fewer_bits = way.output_bits < op.d.fields().fraction_bits && way.rounding != Rounding::toward_zero;
  if (fewer_bits || (!at_once && (way.kept_bits || way.cut_parts != CutParts::whole))) return std::nullopt;
  const bool in_stages = way.cut_parts == CutParts::odd_and_even || way.c_joins == Joining::second_stage;
  if (in_stages && way.kept_bits && (way.cuts != Cuts::toward_zero || way.guard_of_c)) return std::nullopt;
  const bool joins = way.c_joins == Joining::last || way.additions != Additions::once;
  if (way.form != Form::s_plus_c && !joins) return std::nullopt;
  return StepwiseDot(way, op, in).result();
}

}  // namespace mmafuzz
