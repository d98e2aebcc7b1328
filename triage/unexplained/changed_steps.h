// Kernels in which the result of one step, or of each step of a kind, is another one: rounded by another row, or a
// changed encoding. Later steps are computed anew.
#pragma once

#include <functional>
#include <initializer_list>

#include "arithmetic/evaluate_dot.h"

namespace mmafuzz {

/// What a step does: it rounds a product, adds up products (and c, where the kernel adds that with them), or adds sums.
enum class StepRole { product, sum, addition };

/// Steps are counted from 0, as a trace shows them.
struct StepChange {
  const DotModel* row = nullptr;                            ///< rounds the steps that change; nullptr: as before
  std::function<uint64_t(uint64_t)> result{};               ///< changes their encoding; an empty function leaves it
  std::function<bool(int number, StepRole role)> is_for{};  ///< asked once for each step, in their order
};

/// The steps of one evaluation.
class ChangedSteps {
 public:
  explicit ChangedSteps(const StepChange& change) : change_(change) {}

  void skip() { ++number_; }
  /// The result of the next step. `is_special`: infinities and NaNs decide it, and it stays. `own`, `other`: compute it
  /// by the kernel's row and by the one of the change. `with_code`: makes a result of an encoding.
  template <class Own, class Other, class CodeOf, class WithCode>
  auto result(StepRole role, bool is_special, const Own& own, const Other& other, const CodeOf& code_of,
              const WithCode& with_code) {
    if (!change_.is_for(number_++, role) || is_special) return own();
    const auto result = change_.row ? other() : own();
    const uint64_t code = code_of(result), changed = change_.result ? change_.result(code) : code;
    return with_code(changed);
  }
  template <class Own, class Other>
  uint64_t code(StepRole role, bool is_special, const Own& own, const Other& other) {
    const auto same = [](uint64_t code) { return code; };
    return result(role, is_special, own, other, same, same);
  }

 private:
  const StepChange& change_;
  int number_ = 0;
};

/// A domain over one dot, and the same with the row of the change.
template <class Base>
class OfTwoRows : public Base {
 public:
  OfTwoRows(ChangedSteps& steps, const Base& own, const Base& other) : Base(own), steps_(steps), other_(other) {}

 protected:
  ChangedSteps& steps_;
  const Base other_;
};

/// Of aligned sums.
template <class Base>
class ChangedAlignedSums final : public OfTwoRows<Base> {
 public:
  using OfTwoRows<Base>::OfTwoRows;

  template <class... Arguments>
  uint64_t special_result(const Arguments&... arguments) const {
    this->steps_.skip();
    return Base::special_result(arguments...);
  }
  template <class Terms>
  uint64_t rounded(Terms, const Product* term, int first, int n, const Product& c, int greatest, int64_t sum) const {
    const auto of = [&](const Base& row) { return row.rounded(Terms{}, term, first, n, c, greatest, sum); };
    return this->steps_.code(
        StepRole::sum, false, [&] { return of(*this); }, [&] { return of(this->other_); });
  }
};

class ChangedSecondStages final : public OfTwoRows<OneTwoStageDot<NoTrace>> {
 public:
  using OfTwoRows::OfTwoRows;

  template <class Stages>
  uint64_t rounded(const Stages& s, const Wide& total, const Product* term, int first, int n, const Seen& seen) const {
    const auto of = [&](const OneTwoStageDot& row) { return row.rounded(s, total, term, first, n, seen); };
    return steps_.code(
        StepRole::sum, seen.specials.any(), [&] { return of(*this); }, [&] { return of(other_); });
  }
};

class ChangedExactSums final : public OfTwoRows<OneExactDot<NoTrace>> {
 public:
  using OfTwoRows::OfTwoRows;

  uint64_t rounded(Sum& sum, int first, int n, bool c_is_operand, uint64_t c) const {
    const bool is_special =
        sum.specials.any() || !is_number(decode(OneInstruction<NoTrace>::c_format(c_is_operand), c).cls);
    const auto of = [&](const OneExactDot& row) { return row.rounded(sum, first, n, c_is_operand, c); };
    return steps_.code(
        StepRole::sum, is_special, [&] { return of(*this); }, [&] { return of(other_); });
  }
  uint64_t rounded(const Sum& sum, int first, int n) const {
    const auto of = [&](const OneExactDot& row) { return row.rounded(sum, first, n); };
    return steps_.code(
        StepRole::sum, sum.specials.any(), [&] { return of(*this); }, [&] { return of(other_); });
  }
  uint64_t added(bool c_is_operand, uint64_t c, uint64_t sum) const {
    const bool is_special = !is_number(decode(OneInstruction<NoTrace>::c_format(c_is_operand), c).cls) ||
                            !is_number(decode(model().d, sum).cls);
    const auto of = [&](const OneExactDot& row) { return row.added(c_is_operand, c, sum); };
    return steps_.code(
        StepRole::addition, is_special, [&] { return of(*this); }, [&] { return of(other_); });
  }
};

class ChangedOperations final : public OfTwoRows<OneChain<NoTrace>> {
 public:
  using OfTwoRows::OfTwoRows;

  Real fma(const Real& x, const Real& y, const Real& z) const {
    return changed(StepRole::sum, {&x, &y, &z}, [&](const OneChain& row) { return row.fma(x, y, z); });
  }
  Real multiply(const Real& x, const Real& y) const {
    return changed(StepRole::product, {&x, &y}, [&](const OneChain& row) { return row.multiply(x, y); });
  }
  Real add(const Real& x, const Real& y) const {
    return changed(StepRole::addition, {&x, &y}, [&](const OneChain& row) { return row.add(x, y); });
  }
  Real product(int i, Seen& seen) const {
    const Real x = a(i), y = b(i);
    return changed(StepRole::product, {&x, &y}, [&](const OneChain& row) { return row.product(i, seen); });
  }
  Real joined(const Real& c, const Real& sum, Seen& seen) const {
    return changed(StepRole::addition, {&c, &sum}, [&](const OneChain& row) { return row.joined(c, sum, seen); });
  }

 private:
  template <class Of>
  Real changed(StepRole role, std::initializer_list<const Real*> operands, const Of& of) const {
    bool is_special = false;
    for (const Real* x : operands) is_special |= !is_number(x->number.cls);
    return steps_.result(
        role, is_special, [&] { return of(*this); }, [&] { return of(other_); },
        [](const Real& x) { return x.encoding; }, [&](uint64_t code) { return real(code); });
  }
};

/// Of emulated FP8.
class ChangedHalves {
 public:
  using Code = uint64_t;
  using Dot = OneEmulatedDot<NoTrace>;

  /// The dots must outlive this object.
  ChangedHalves(ChangedSteps& steps, const Dot& own, const Dot& other) : steps_(steps), own_(own), other_(other) {}

  ChangedAlignedSums<Dot::Half> half(int which) const { return {steps_, own_.half(which), other_.half(which)}; }
  uint64_t joined(uint64_t c, uint64_t sum) const {
    return steps_.code(
        StepRole::addition, false, [&] { return own_.joined(c, sum); }, [&] { return other_.joined(c, sum); });
  }

 private:
  ChangedSteps& steps_;
  const Dot &own_, &other_;
};

/// Whether the steps of a row can be changed so.
inline bool has_changed_steps(const DotModel& m) {
  return m.kernel != Kernel::grouped_sum && m.kernel != Kernel::bulk_normalized && !m.d.integer;
}

/// As evaluate_dot(), with the change.
inline uint64_t evaluate_changed(const DotModel& m, const DotOperands& in, const StepChange& change) {
  NoTrace trace;
  Step step;
  ChangedSteps steps(change);
  const DotModel& row = change.row ? *change.row : m;
  return run_instructions(m, in, in.c, [&](const DotOperands& part, int first, const FormatFields& f, uint64_t c) {
    const auto changed = [&]<class Changed, class Domain>() {
      return Changed(steps, Domain(m, part, first, f, trace, step), Domain(row, part, first, f, trace, step));
    };
    const auto sums = [&] { return changed.operator()<ChangedAlignedSums<OneDot<NoTrace>>, OneDot<NoTrace>>(); };
    const auto exact = [&] { return changed.operator()<ChangedExactSums, OneExactDot<NoTrace>>(); };
    const auto operations = [&] { return changed.operator()<ChangedOperations, OneChain<NoTrace>>(); };
    switch (m.kernel) {
      case Kernel::fused_sum: return fused_sum(sums(), c);
      case Kernel::floored_sum: return floored_sum(sums(), c);
      case Kernel::two_stage_sum:
        return two_stage_sum(changed.operator()<ChangedSecondStages, OneTwoStageDot<NoTrace>>(), c);
      case Kernel::exact_sum: return exact_sum(exact(), c);
      case Kernel::sum_then_add: return sum_then_add(exact(), c);
      case Kernel::fma_chain: return fma_chain(operations(), c);
      case Kernel::fma_then_add: return fma_then_add(operations(), c);
      case Kernel::ieee_tree: return ieee_tree(operations(), c);
      case Kernel::emulated_fp8: {
        const OneEmulatedDot<NoTrace> own(m, part, first, f, trace, step), other(row, part, first, f, trace, step);
        return emulated_fp8(ChangedHalves(steps, own, other), c);
      }
      default: return c;
    }
  });
}

}  // namespace mmafuzz
