// Functional coverage: names for what happened in the arithmetic of one case. A bin is one cell of a cross of classes
// (docs/coverage.md lists the groups); a search keeps inputs that reach a new bin, as a fuzzer keeps those that reach a
// new edge. The classes descend from the floating-point coverage models of IBM's FPgen (Aharoni et al., 2003).
#pragma once

#include "arithmetic/dot_model.h"
#include "arithmetic/specials.h"
#include "arithmetic/trace.h"

namespace mmafuzz {

/// The bins of a cross of up to five classes: the numbers from `First` to end - 1, of which the last class varies
/// fastest. N0, N1, ... are the numbers of values of each class, whose values count from 0.
template <int First, int N0, int N1 = 1, int N2 = 1, int N3 = 1, int N4 = 1>
struct BinCross {
  static constexpr int first = First;
  static constexpr int count = N0 * N1 * N2 * N3 * N4;
  static constexpr int end = First + count;
  MMAFUZZ_HD static constexpr int at(int i0, int i1 = 0, int i2 = 0, int i3 = 0, int i4 = 0) {
    return First + (((i0 * N1 + i1) * N2 + i2) * N3 + i3) * N4 + i4;
  }
  MMAFUZZ_HD static constexpr int size(int dimension) {
    return dimension == 0 ? N0 : dimension == 1 ? N1 : dimension == 2 ? N2 : dimension == 3 ? N3 : N4;
  }
};

namespace bins {

// Each comment lists the classes of its cross in order. Their labels are in search/coverage.cc, which refuses to start
// where a class has another number of labels. The maximum is the greatest exponent of the nonzero addends of a step.
using Align = BinCross<0, 2, 12, 6, 2>;            // c or product, its shift, its lost bits, its sign
using Loss = BinCross<Align::end, 4, 4, 4, 3>;     // who has the maximum, addends cut to zero, addends cut, net loss
using Floor = BinCross<Loss::end, 8, 2, 3, 2>;     // maximum minus alignment floor, c is zero, zero products, loss
using Carry = BinCross<Floor::end, 6, 6, 2, 3>;    // integer bits used, addends at the maximum, sign, c's sign
using Cancel = BinCross<Carry::end, 10, 2, 2, 2>;  // depth, loss, sign, c is at the maximum
using Round = BinCross<Cancel::end, 2, 2, 8, 4>;   // sign, last bit, remainder, range of the result
using Result = BinCross<Round::end, 10, 4, 2>;     // value, how it came about, sign
using Special = BinCross<Result::end, 15, 5, 4>;   // classes of a factor pair, class of c, what else is special
using Signs = BinCross<Special::end, 5, 3, 4>;     // negative products, sign of c, where the largest addend is
using Block = BinCross<Signs::end, 8, 4>;          // block that holds the maximum, blocks with loss
using Lane = BinCross<Block::end, 16, 3>;          // the maximum's product in its block; c: zero, nonzero or partial
using Container = BinCross<Lane::end, 2, 6>;       // a or b, low bits or scale
using Disagree = BinCross<Container::end, 16, 8>;  // who agrees with the focus unit, gap in ulp
using Property = BinCross<Disagree::end, 40, 3>;   // property by its number, outcome
using Convert = BinCross<Property::end, 10, 8, 2, 2>;  // region of the destination, remainder, last bit, sign
// Bins of matrix products: each element, row or column of a case reaches bins of its own (search/gemm_coverage.cc).
using GemmSlices = BinCross<Convert::end, 8, 8, 4>;      // slices needed by the row, by the column, which has too few
using GemmSpan = BinCross<GemmSlices::end, 2, 9, 6, 2>;  // a or b, bits spanned, remainder below the slices, sign
using GemmSlack = BinCross<GemmSpan::end, 4, 8, 2, 2>;   // pair of leading slices, bits left, sign, last bit
using GemmCancel = BinCross<GemmSlack::end, 8, 3, 4>;    // depth, sum of the first slices, c
using GemmRound = BinCross<GemmCancel::end, 2, 2, 8>;    // sign, last bit, remainder
using GemmSpecial = BinCross<GemmRound::end, 5, 5, 5>;   // specials of the row, of the column, of c
using GemmBlock = BinCross<GemmSpecial::end, 5, 3>;      // block of the greatest product, blocks with nonzero products
using GemmScale = BinCross<GemmBlock::end, 6, 6, 5>;     // spread of the rows' tops, of the columns', greatest product
inline constexpr int count = GemmScale::end;
static_assert(count <= 4096, "engines slow down beyond 4,096 counters");

/// Class 0 to 4 of a factor or addend: zero, subnormal, normal, infinity, NaN.
MMAFUZZ_HD inline int value_kind(const Number& n) {
  switch (n.cls) {
    case NumberClass::zero: return 0;
    case NumberClass::infinity: return 3;
    case NumberClass::nan: return 4;
    default: return n.subnormal ? 1 : 2;
  }
}

/// Class 0 to 5 of a scale: zero or the least number, one, greatest, NaN, below one, above one.
MMAFUZZ_HD inline int scale_kind(const FormatFields& f, uint64_t encoding) {
  const uint64_t code = encoding & ~f.sign_bit(), one = uint64_t(f.bias) << f.fraction_bits;
  return code == 0                        ? 0
         : code == one                    ? 1
         : code == f.greatest_magnitude() ? 2
         : is_special(f, code)            ? 3
         : code < one                     ? 4
                                          : 5;
}

/// Class of a count n: n <= 1, 2, 3-4, 5-8, ... are the classes 0, 1, 2, 3, ...
MMAFUZZ_HD inline int log_class(int n) { return n <= 1 ? 0 : bit_length(static_cast<uint64_t>(n - 1)); }

/// Class 0 to 11 of an alignment shift where `f` = F bits are kept below the maximum: 0, 1, 2, 3-4, 5-8, 9-16, 17..F-2,
/// F-1, F, F+1, F+2, beyond.
MMAFUZZ_HD inline int shift_class(int shift, int f) {
  if (shift > f + 2) return 11;
  if (shift >= f - 1) return 7 + shift - (f - 1);
  if (shift <= 0) return 0;
  return shift > 16 ? 6 : 1 + log_class(shift);
}

/// Class 0 to 8 of the bits by which a sum's leading bit lies below the maximum: 1, 2, 3-4, 5-8, 9-16, to F-2, F-1, F,
/// beyond. Callers use class 9 for a zero sum.
MMAFUZZ_HD inline int depth_class(int depth, int f) {
  if (depth > f) return 8;
  if (depth >= f - 1) return 6 + depth - (f - 1);
  return depth > 16 ? 5 : log_class(depth);
}

/// Class 0 to 5 of the bits of significand * 2^exponent below 2^unit: all zero, only the lowest is 1, less than half of
/// the unit, half, more, all ones.
template <class Word>
MMAFUZZ_HD int lost_class(Word significand, int exponent, int unit) {
  const int dropped = unit - exponent;
  if (dropped <= 0) return 0;
  if (dropped >= static_cast<int>(8 * sizeof(Word))) return significand == 0 ? 0 : significand == 1 ? 1 : 2;
  const Word all_ones = (Word{1} << dropped) - 1, rest = significand & all_ones, half = Word{1} << (dropped - 1);
  if (rest == 0) return 0;
  if (rest == half) return 3;
  if (rest == all_ones) return 5;
  if (rest == 1) return 1;
  return rest < half ? 2 : 4;
}

/// Whether a shift can have this loss: an addend loses bits only if its last bit falls below the unit, and a shift of
/// F+2 or more (F+1 for significands below 2) loses all of them.
MMAFUZZ_HD inline bool possible_alignment(const Addend& t, int shift, int f, bool loses) {
  const int own_bits = t.scale_exponent - t.exponent;
  if (loses) return shift + own_bits > f;
  const int integer_bits = bit_length(t.significand) - own_bits;  // 2 for significands of 2 and more
  return shift <= f + larger(integer_bits - 1, 0);
}

/// Class 0 to 7 of the low `dropped` bits of a magnitude: zero, only the last bit, below half, one below half, half,
/// one above half, above, all ones.
MMAFUZZ_HD inline int remainder_class(uint64_t magnitude, int dropped) {
  if (dropped <= 0) return 0;
  if (dropped >= 64) return magnitude == 0 ? 0 : magnitude == 1 ? 1 : 2;
  const uint64_t rest = magnitude & low_mask(dropped), half = uint64_t{1} << (dropped - 1);
  if (rest == 0) return 0;
  if (rest == half) return 4;
  if (rest == 1) return 1;
  if (rest == low_mask(dropped)) return 7;
  if (rest + 1 == half) return 3;
  if (rest == half + 1) return 5;
  return rest < half ? 2 : 6;
}

/// The class as far as guard and sticky bits tell it: zero, below half, half, above half.
MMAFUZZ_HD inline int remainder_class(bool guard, bool sticky) { return guard ? (sticky ? 6 : 4) : sticky ? 2 : 0; }

/// Class 0 to 9 of a result: +0, -0, least subnormal, subnormal, greatest subnormal, least normal, normal, greatest,
/// infinity, NaN. An integer is 0, 5 for a magnitude of one, 7 for an end of the range, or 6.
MMAFUZZ_HD inline int result_value(const FormatFields& d, int output_fraction_bits, uint64_t encoding) {
  const Number n = decode(d, encoding);
  if (d.integer) {
    const uint64_t ends = d.has_sign() ? uint64_t{1} << (d.width - 1) : 0;  // least integer; code - 1 is the greatest
    const bool end = encoding == ends || encoding == ((ends - 1) & d.container_mask());
    return n.significand == 0 ? 0 : end ? 7 : n.significand == 1 ? 5 : 6;
  }
  if (n.cls == NumberClass::zero) return n.negative ? 1 : 0;
  if (n.cls == NumberClass::infinity) return 8;
  if (n.cls == NumberClass::nan) return 9;
  const int dropped = d.fraction_bits - output_fraction_bits;
  const uint64_t code = ((encoding >> d.ignored_low_bits) & ~d.sign_bit()) >> dropped;
  const uint64_t least_normal = uint64_t{1} << output_fraction_bits;
  if (code == d.greatest_magnitude() >> dropped) return 7;
  if (code < least_normal) return code == 1 ? 2 : code == least_normal - 1 ? 4 : 3;
  return code == least_normal ? 5 : 6;
}

}  // namespace bins

/// A trace that turns steps into bins. Sink has hit(int bin) and impossible(const char* what): the latter means that a
/// kernel broke an invariant of its own arithmetic. Model, operands and sink must outlive the trace. Use:
/// BinTrace t(model, operands, sink); d = evaluate_dot(model, operands, t); t.finish(d).
template <class Sink>
class BinTrace {
 public:
  static constexpr bool enabled = true;

  MMAFUZZ_HD BinTrace(const DotModel& model, const DotOperands& in, Sink& sink) : m_(model), in_(in), sink_(sink) {
    read_operands();
  }

  MMAFUZZ_HD_CALL void operator()(const Step& s) {
    const int position = s.instruction * steps_per_instruction() + s.block;
    last_rounded_ = s.rounded;
    switch (s.kind) {
      case Step::Kind::special: special_step_ = true; return;
      case Step::Kind::fused_sum:
      case Step::Kind::second_stage: aligned_sum(s, position); break;
      case Step::Kind::exact_sum: unaligned_sum(s, position); break;
      case Step::Kind::ieee_add:
      case Step::Kind::ieee_fma: operation(s); break;
      case Step::Kind::ieee_multiply: break;
    }
    rounding(s);
    overflowed_ |= (s.rounded.flags & flag::overflow) != 0;
    ++sums_;
  }

  /// Hits the bins that depend on the whole case; d is the encoding of its result.
  MMAFUZZ_HD_CALL void finish(uint64_t d) {
    const int value = bins::result_value(m_.d, result_fraction_bits(m_), d);
    const bool inexact = last_rounded_.guard || last_rounded_.sticky || (last_rounded_.flags & flag::inexact);
    const bool inner_overflow = overflowed_ && sums_ > 1 && !(last_rounded_.flags & flag::overflow);
    const int how = inner_overflow ? 3 : special_step_ ? 2 : inexact ? 1 : 0;  // else exact
    sink_.hit(bins::Result::at(value, how, (d >> m_.d.ignored_low_bits & m_.d.sign_bit()) != 0));
    if (has_maximum_)
      sink_.hit(bins::Block::at(smaller(maximum_block_, 7), lossy_blocks_ == 0   ? 0
                                                            : first_block_lossy_ ? (lossy_blocks_ > 1 ? 3 : 1)
                                                                                 : 2));
    const int negatives = negative_products_ == 0           ? 0
                          : negative_products_ == 1         ? 1
                          : negative_products_ == in_.k     ? 4
                          : negative_products_ == in_.k - 1 ? 3
                                                            : 2;
    sink_.hit(bins::Signs::at(negatives, c_kind_ == 0 ? 2 : c_negative_, maximum_where_));
  }

 private:
  MMAFUZZ_HD int steps_per_instruction() const { return m_.block > 0 ? (m_.k + m_.block - 1) / m_.block : 1; }

  /// Whether the exponent is at least emax - 1.
  MMAFUZZ_HD static bool is_huge(const FormatFields& f, uint64_t encoding) {
    return static_cast<int>((encoding >> f.ignored_low_bits & ~f.sign_bit()) >> f.fraction_bits) - f.bias >=
           f.emax() - 1;
  }

  /// Reads what depends on the operands alone (specials, signs, low bits, scales, zero products) and hits its bins.
  MMAFUZZ_HD_CALL void read_operands() {
    const uint64_t a_sign = m_.a.in_container(m_.a.sign_bit()), b_sign = m_.b.in_container(m_.b.sign_bit());
    bool special = false;
    for (int i = 0; i < in_.k; ++i) {
      const uint64_t x = in_.a[i], y = in_.b[i];
      negative_products_ += ((x & a_sign) != 0) != ((y & b_sign) != 0);
      special |= is_special(m_.a, x) || is_special(m_.b, y);
      const bool x_zero = is_zero(m_.a, x), y_zero = is_zero(m_.b, y);
      if (x_zero != y_zero && zero_products_ < 2)
        zero_products_ = is_huge(x_zero ? m_.b : m_.a, x_zero ? y : x) ? 2 : 1;
      if (x_zero && y_zero && zero_products_ == 0) zero_products_ = 1;
    }
    const Number c = decode(m_.c, in_.c);
    c_kind_ = bins::value_kind(c);
    c_negative_ = c.negative;
    if (special || c_kind_ >= 3) special_pairs();
    if (m_.a.ignored_low_bits) {
      low_bits(/*operand=*/0, m_.a, in_.a);
      low_bits(/*operand=*/1, m_.b, in_.b);
    }
    if (m_.scale_block) {
      scales(/*operand=*/0, m_.scale_a, in_.scale_a);
      scales(/*operand=*/1, m_.scale_b, in_.scale_b);
    }
  }

  MMAFUZZ_HD_CALL void special_pairs() {
    // NaNs and infinities of each sign among c and all products; those without product i are these less its own.
    int nans = c_kind_ == 4, plus = c_kind_ == 3 && !c_negative_, minus = c_kind_ == 3 && c_negative_;
    for (int i = 0; i < in_.k; ++i) count_special(i, /*weight=*/1, nans, plus, minus);
    for (int i = 0; i < in_.k; ++i) {
      const Number x = decode(m_.a, in_.a[i]), y = decode(m_.b, in_.b[i]);
      const int x_kind = bins::value_kind(x), y_kind = bins::value_kind(y);
      const int first = smaller(x_kind, y_kind), second = larger(x_kind, y_kind);
      if (second < 3 && c_kind_ < 3) continue;
      int other_nans = nans, other_plus = plus, other_minus = minus;
      count_special(i, /*weight=*/-1, other_nans, other_plus, other_minus);
      const bool negative = x.negative != y.negative;
      const int elsewhere = other_nans > 0                              ? 3
                            : (negative ? other_plus : other_minus) > 0 ? 2  // an infinity of the other sign
                            : (negative ? other_minus : other_plus) > 0 ? 1
                                                                        : 0;
      const int pair = first * (9 - first) / 2 + second;  // 0 to 14: the pairs with first <= second, in order
      sink_.hit(bins::Special::at(pair, c_kind_, elsewhere));
    }
  }
  MMAFUZZ_HD void count_special(int i, int weight, int& nans, int& plus, int& minus) const {
    const Exact p = exact_product(m_.a, in_.a[i], m_.b, in_.b[i]);
    if (p.cls == NumberClass::nan) nans += weight;
    if (p.cls == NumberClass::infinity) (p.negative ? minus : plus) += weight;
  }

  /// Low bits of tf32: zero, some set, all set; three more classes where the rest is an infinity, so that low bits
  /// could make a NaN of it.
  MMAFUZZ_HD void low_bits(int operand, const FormatFields& f, const uint64_t* values) {
    for (int i = 0; i < in_.k; ++i) {
      const uint64_t low = values[i] & low_mask(f.ignored_low_bits);
      const uint64_t code = (values[i] >> f.ignored_low_bits) & ~f.sign_bit();
      const bool infinite = code == uint64_t(f.top_exponent_field()) << f.fraction_bits;
      sink_.hit(bins::Container::at(operand, (infinite ? 3 : 0) + (low == 0                              ? 0
                                                                   : low == low_mask(f.ignored_low_bits) ? 2
                                                                                                         : 1)));
    }
  }
  MMAFUZZ_HD void scales(int operand, const FormatFields& f, const uint64_t* values) {
    const int n = (in_.k + m_.scale_block - 1) / m_.scale_block;
    for (int i = 0; i < n; ++i) sink_.hit(bins::Container::at(operand, bins::scale_kind(f, values[i])));
  }

  MMAFUZZ_HD_CALL void aligned_sum(const Step& s, int position) {
    const int f = s.kind == Step::Kind::fused_sum ? s.greatest_exponent - s.unit_exponent : m_.fraction_bits;
    const int cut = s.greatest_exponent - f;
    Maximum max;
    int gone = 0, inexact = 0;
    int64_t net_loss = 0;  // a sum of fraction_of_unit(); only its sign is used
    for (int i = 0; i < s.count; ++i) {
      const Addend& t = s.addend[i];
      if (t.significand == 0) continue;
      max.offer(t, t.scale_exponent);
      const bool is_c = t.source == Addend::Source::c;
      int lost = 0;
      if (t.lost) {
        lost = bins::lost_class(t.significand, t.exponent, cut);
        ++inexact;
        if (t.kept == 0) ++gone;
        const int64_t rest = fraction_of_unit(t.significand, cut - t.exponent);
        net_loss += t.negative ? -rest : rest;
      }
      if (s.kind == Step::Kind::fused_sum && !bins::possible_alignment(t, t.shift, f, t.lost))
        sink_.impossible("align: bits lost and shift contradict each other");
      sink_.hit(bins::Align::at(is_c ? 0 : 1, bins::shift_class(t.shift, f), lost, t.negative));
    }
    const bool any_loss = inexact > 0;
    note_block(position, max, any_loss);
    if (max.count) {
      const int who = max.has_c ? (max.count > 1 ? 2 : 0) : max.count > 1 ? 3 : 1;  // 2: c and products
      sink_.hit(bins::Loss::at(who, smaller(gone ? 1 + bins::log_class(gone) : 0, 3),
                               smaller(inexact ? 1 + bins::log_class(inexact) : 0, 3),
                               net_loss < 0   ? 0
                               : net_loss > 0 ? 2
                                              : 1));
    }
    const int above = max.count ? max.exponent - m_.zero_exponent : 0;
    sink_.hit(bins::Floor::at(max.count == 0 ? 7
                              : above <= -3  ? 0
                              : above >= 3   ? 6
                                             : above + 3,
                              c_kind_ == 0, zero_products_, any_loss));
    const int leading_bit = bit_length(magnitude_of(s.sum)) - 1;
    const int top = leading_bit - (s.greatest_exponent - s.unit_exponent);  // of the sum, above the greatest exponent
    const int sign = s.sum < 0;
    if (max.count && s.sum != 0) {
      if (top >= 0)
        sink_.hit(bins::Carry::at(smaller(top, 5), smaller(bins::log_class(max.count), 5), sign,
                                  c_kind_ == 0 ? 2 : c_negative_ != sign));
      else sink_.hit(bins::Cancel::at(bins::depth_class(-top, f), any_loss, sign, max.has_c));
    } else if (max.count) {
      sink_.hit(bins::Cancel::at(9, any_loss, 0, max.has_c));
    }
  }

  /// Sums without an alignment of their own (exact sums): shifts by leading bits, no loss before the rounding.
  MMAFUZZ_HD_CALL void unaligned_sum(const Step& s, int position) {
    Maximum max;
    for (int i = 0; i < s.count; ++i)
      if (s.addend[i].significand) max.offer(s.addend[i], leading(s.addend[i]));
    for (int i = 0; i < s.count; ++i) {
      const Addend& t = s.addend[i];
      if (t.significand)
        sink_.hit(bins::Align::at(t.source == Addend::Source::c ? 0 : 1,
                                  bins::shift_class(max.exponent - leading(t), m_.d.precision()), 0, t.negative));
    }
    note_block(position, max, s.rounded.guard || s.rounded.sticky);
    if (max.count) cancellation(s, max.exponent, max.has_c);
  }

  /// An IEEE addition, or an FMA whose first two terms are factors. The bins count their first term as a product, the
  /// other one as c; a loss that has no class of its own counts as one below half.
  MMAFUZZ_HD_CALL void operation(const Step& s) {
    const bool fma = s.kind == Step::Kind::ieee_fma;
    const Addend &x = s.addend[0], &factor = s.addend[1], &added = s.addend[fma ? 2 : 1];
    for (int i = 0; i < s.count; ++i)
      if (s.addend[i].significand == 0 || s.addend[i].cls != NumberClass::finite) return;
    const int first = leading(x) + (fma ? leading(factor) : 0), second = leading(added),
              greatest = larger(first, second);
    const int p = step_format(m_).precision();
    const bool inexact = s.rounded.guard || s.rounded.sticky;
    sink_.hit(bins::Align::at(1, bins::shift_class(greatest - first, p), inexact && first < second ? 2 : 0,
                              fma ? x.negative != factor.negative : x.negative));
    sink_.hit(
        bins::Align::at(0, bins::shift_class(greatest - second, p), inexact && second < first ? 2 : 0, added.negative));
    cancellation(s, greatest, true);
  }

  MMAFUZZ_HD void cancellation(const Step& s, int greatest, bool with_c) {
    const FormatFields f = step_format(m_);
    const Number d = decode(f, s.result);
    const bool inexact = s.rounded.guard || s.rounded.sticky;
    if (d.cls == NumberClass::zero) {
      sink_.hit(bins::Cancel::at(9, inexact, d.negative, with_c));
    } else if (d.cls == NumberClass::finite) {
      const int top = d.exponent + bit_length(d.significand) - 1 - greatest;
      if (top < 0) sink_.hit(bins::Cancel::at(bins::depth_class(-top, f.precision()), inexact, d.negative, with_c));
      else sink_.hit(bins::Carry::at(smaller(top, 5), 0, d.negative, c_kind_ == 0 ? 2 : c_negative_ != d.negative));
    }
  }

  MMAFUZZ_HD_CALL void rounding(const Step& s) {
    const Rounded& r = s.rounded;
    const FormatFields d = step_format(m_);
    const uint64_t code = s.result & ~d.sign_bit();
    const uint64_t least_normal = uint64_t{1} << d.fraction_bits, top = static_cast<uint64_t>(d.top_exponent_field())
                                                                        << d.fraction_bits;
    const int where = code < least_normal                ? 0
                      : (code & (least_normal - 1)) == 0 ? 2  // a power of two
                      : code >= top - least_normal       ? 3  // in the greatest binade
                                                         : 1;
    int remainder;
    if (s.aligned && (s.kind == Step::Kind::fused_sum || s.kind == Step::Kind::second_stage)) {
      remainder = bins::remainder_class(magnitude_of(s.sum), r.quantum - s.unit_exponent);
    } else {
      remainder = bins::remainder_class(r.guard, r.sticky);
    }
    sink_.hit(bins::Round::at(r.negative, r.last, remainder, where));
  }

  /// The greatest exponent among nonzero addends; how many addends have it, whether c is one of them, and the index of
  /// the first product that has it.
  struct Maximum {
    int exponent = INT32_MIN / 2, count = 0, lane = 0;
    bool has_c = false;
    MMAFUZZ_HD void offer(const Addend& t, int exponent_of_t) {
      if (exponent_of_t < exponent) return;
      if (exponent_of_t > exponent) {
        exponent = exponent_of_t;
        count = 0;
        has_c = false;
      }
      ++count;
      if (t.source == Addend::Source::c) has_c = true;
      else if (count == 1) lane = t.index;
    }
  };

  MMAFUZZ_HD void note_block(int position, const Maximum& max, bool lossy) {
    if (lossy) {
      ++lossy_blocks_;
      if (position == 0) first_block_lossy_ = true;
    }
    if (max.count == 0) return;
    const int block = m_.block > 0 ? m_.block : 1;
    if (!max.has_c || max.count > 1)
      sink_.hit(bins::Lane::at((max.lane % block) & 15, position > 0 ? 2 : c_kind_ != 0));
    // In a later block c is a partial sum, which stands for addends of earlier blocks.
    const bool partial_sum = position > 0 && max.has_c && max.count == 1;
    if (partial_sum || (has_maximum_ && max.exponent <= maximum_exponent_)) return;
    has_maximum_ = true;
    maximum_exponent_ = max.exponent;
    maximum_block_ = position;
    maximum_where_ = max.has_c ? 3 : max.lane == 0 ? 0 : max.lane == in_.k - 1 ? 2 : 1;
  }

  MMAFUZZ_HD static int leading(const Addend& t) { return t.exponent + bit_length(t.significand) - 1; }

  /// The low `dropped` bits in 2^-30 of the unit above them, at least 1 if one is set.
  MMAFUZZ_HD static int64_t fraction_of_unit(uint64_t significand, int dropped) {
    if (dropped <= 0) return 0;
    const uint64_t rest = significand & low_mask(dropped);
    const int64_t scaled = dropped <= 30        ? static_cast<int64_t>(rest << (30 - dropped))
                           : dropped - 30 >= 64 ? 0
                                                : static_cast<int64_t>(rest >> (dropped - 30));
    return scaled ? scaled : 1;
  }

  const DotModel& m_;
  const DotOperands& in_;
  Sink& sink_;
  Rounded last_rounded_;
  // zero_products_ is 0: none, 1: some, 2: one of them has a huge factor. c_kind_ is value_kind of c.
  int negative_products_ = 0, zero_products_ = 0, c_kind_ = 0;
  bool c_negative_ = false, special_step_ = false;
  bool overflowed_ = false;
  int sums_ = 0;
  int lossy_blocks_ = 0;
  bool first_block_lossy_ = false, has_maximum_ = false;
  // Blocks count over all instructions. maximum_where_ is 0: first product of the case, 1: inner, 2: last, 3: c.
  int maximum_exponent_ = 0, maximum_block_ = 0, maximum_where_ = 0;
};

/// The bins of a conversion or of a scalar operation's rounding to `d`.
template <class Sink>
MMAFUZZ_HD void rounding_bins(const FormatFields& d, const Rounded& r, Sink& sink) {
  const int region = bins::result_value(d, d.fraction_bits, r.encoding);
  // Guard and sticky yield the remainder classes 0, 2, 4 and 6; the odd classes stand for a flag here.
  const int edge = (r.flags & flag::overflow)           ? 1
                   : (r.flags & flag::underflow)        ? 3
                   : (r.flags & flag::invalid)          ? 5
                   : (r.flags & flag::denormal_operand) ? 7
                                                        : -1;
  sink.hit(bins::Convert::at(region, bins::remainder_class(r.guard, r.sticky), r.last, r.negative));
  if (edge >= 0) sink.hit(bins::Convert::at(region, edge, r.last, r.negative));
}

}  // namespace mmafuzz
