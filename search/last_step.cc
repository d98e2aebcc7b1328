#include "search/last_step.h"

#include <algorithm>

#include "arithmetic/bins.h"
#include "arithmetic/evaluate_dot.h"

namespace mmafuzz {
namespace {

constexpr int sum_bits = 120;

/// Notes each step over the one before, so that the last one remains.
class Observer {
 public:
  static constexpr bool enabled = true;
  Observer(const DotModel& row, LastStep& last) : row_(row), last_(last) {}

  void operator()(const Step& step) {
    if (step.kind == Step::Kind::ieee_multiply) return;
    last_ = {};
    switch (step.kind) {
      case Step::Kind::special: return;
      case Step::Kind::ieee_add:
      case Step::Kind::ieee_fma: return note_operation(step);
      case Step::Kind::exact_sum: return note_exact_sum(step);
      default: note_aligned_sum(step);
    }
  }

 private:
  static Exact exact(const Addend& t) { return {t.cls, t.negative, t.significand, t.exponent}; }
  static int leading(const Addend& t) { return t.exponent + bit_length(t.significand) - 1; }
  void note_exponent(int exponent) { last_.greatest = std::max(last_.greatest, exponent); }

  void note_aligned_sum(const Step& step) {
    int lost = 0;
    for (int i = 0; i < step.count; ++i) {
      const Addend& t = step.addend[i];
      if (t.significand == 0) continue;
      note_exponent(t.scale_exponent);
      if (t.lost) lost = std::max(lost, t.kept == 0 ? 2 : 1);
    }
    if (last_.greatest == LastStep::no_greatest) return;
    // A first sum of 0 has been aligned by its products.
    if (row_.first_sum > 1 && !step.floor_decided) last_.greatest = step.greatest_exponent;
    last_.lost = lost;
    if (!step.aligned) return note_result(step);
    last_.sum = step.sum;
    last_.unit = step.unit_exponent;
    const uint64_t magnitude = magnitude_of(step.sum);
    last_.has_sum = true;
    note_rounding(step, magnitude == 0, bit_length(magnitude) - 1 + step.unit_exponent,
                  bins::remainder_class(magnitude, step.rounded.quantum - step.unit_exponent));
  }

  void note_exact_sum(const Step& step) {
    Exact addend[Step::max_addends];
    int n = 0;
    for (int i = 0; i < step.count; ++i) {
      const Addend& t = step.addend[i];
      if (t.significand == 0) continue;
      note_exponent(leading(t));
      addend[n++] = exact(t);
    }
    if (n == 0) return;
    note_result(step);
    note_sum(addend, n);
  }

  void note_operation(const Step& step) {
    for (int i = 0; i < step.count; ++i)
      if (!is_number(step.addend[i].cls)) return;
    const bool fma = step.kind == Step::Kind::ieee_fma;
    const Addend &x = step.addend[0], &factor = step.addend[1], &added = step.addend[fma ? 2 : 1];
    const Exact addends[] = {fma ? exact_product(exact(x), exact(factor)) : exact(x), exact(added)};
    if (addends[0].significand) note_exponent(leading(x) + (fma ? leading(factor) : 0));
    if (addends[1].significand) note_exponent(leading(added));
    if (last_.greatest == LastStep::no_greatest) return;
    note_result(step);
    note_sum(addends, 2);
  }

  void note_sum(const Exact* addend, int n) {
    int unit = INT32_MAX;
    for (int i = 0; i < n; ++i)
      if (addend[i].significand) unit = std::min(unit, addend[i].exponent);
    last_.unit = unit;
    last_.has_sum = true;
    for (int i = 0; i < n; ++i) {
      const Exact& t = addend[i];
      if (!t.significand) continue;
      if (bit_length128(t.significand) + t.exponent - unit > sum_bits) return void(last_.has_sum = false);
      const auto term = static_cast<int128>(t.significand << (t.exponent - unit));
      last_.sum += t.negative ? -term : term;
    }
  }

  /// Reads the sum of a step off its result.
  void note_result(const Step& step) {
    const Number d = decode(step_format(row_), step.result);
    if (is_number(d.cls))
      note_rounding(step, d.cls == NumberClass::zero, d.exponent + bit_length(d.significand) - 1,
                    bins::remainder_class(step.rounded.guard, step.rounded.sticky));
  }
  void note_rounding(const Step& step, bool zero, int leading, int remainder) {
    last_.rounds = true;
    last_.zero = zero;
    last_.above = leading - last_.greatest;
    last_.remainder = remainder;
    last_.last = step.rounded.last;
  }

  const DotModel& row_;
  LastStep& last_;
};

}  // namespace

LastStep last_step(const DotModel& row, const DotOperands& in) {
  LastStep last;
  Observer observer(row, last);
  last.result = evaluate_dot(row, in, observer);
  return last;
}

}  // namespace mmafuzz
