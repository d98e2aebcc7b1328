// Kernels in which the result of one step, or of each step of a kind, is another one: rounded by another row, or a
// changed encoding. Later steps are computed anew.
#pragma once

#include <functional>
#include <initializer_list>
#include <type_traits>

#include "triage/unexplained/kernel_by_domain.h"

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
  /// The encoding that a step has by the kernel's row (`own`) or by that of the change. `is_special`: infinities and
  /// NaNs decide it, and it stays. `of`: returns the encoding by a domain.
  template <class Dot, class Of>
  uint64_t result(StepRole role, bool is_special, const Dot& own, const Dot& other, const Of& of) {
    if (!change_.is_for(number_++, role) || is_special) return of(own);
    const uint64_t code = of(change_.row ? other : own);
    return change_.result ? change_.result(code) : code;
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
  template <class Of>
  uint64_t changed(StepRole role, bool is_special, const Of& of) const {
    return steps_.result<Base>(role, is_special, *this, other_, of);
  }

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
  template <class... Arguments>
  uint64_t rounded(const Arguments&... arguments) const {
    return this->changed(StepRole::sum, false, [&](const Base& row) { return row.rounded(arguments...); });
  }
};

class ChangedSecondStages final : public OfTwoRows<OneTwoStageDot<NoTrace>> {
 public:
  using OfTwoRows::OfTwoRows;

  template <class Stages>
  uint64_t rounded(const Stages& s, const Wide& total, const Product* term, int first, int n, const Seen& seen) const {
    return changed(StepRole::sum, seen.specials.any(),
                   [&](const OneTwoStageDot& row) { return row.rounded(s, total, term, first, n, seen); });
  }
};

class ChangedExactSums final : public OfTwoRows<OneExactDot<NoTrace>> {
 public:
  using OfTwoRows::OfTwoRows;

  template <class SumOrConst, class... C>
  uint64_t rounded(SumOrConst& sum, int first, int n, C... c) const {
    return changed(StepRole::sum, sum.specials.any() || is_special(c...),
                   [&](const OneExactDot& row) { return row.rounded(sum, first, n, c...); });
  }
  uint64_t added(bool c_is_operand, uint64_t c, uint64_t sum) const {
    return changed(StepRole::addition, is_special(c_is_operand, c) || !is_number(decode(model().d, sum).cls),
                   [&](const OneExactDot& row) { return row.added(c_is_operand, c, sum); });
  }

 private:
  bool is_special() const { return false; }
  bool is_special(bool c_is_operand, uint64_t c) const {
    return !is_number(decode(OneInstruction<NoTrace>::c_format(c_is_operand), c).cls);
  }
};

class ChangedOperations final : public OfTwoRows<OneChain<NoTrace>> {
 public:
  using OfTwoRows::OfTwoRows;

  Real fma(const Real& x, const Real& y, const Real& z) const {
    return changed(StepRole::sum, {x, y, z}, [&](const OneChain& row) { return row.fma(x, y, z); });
  }
  Real multiply(const Real& x, const Real& y) const {
    return changed(StepRole::product, {x, y}, [&](const OneChain& row) { return row.multiply(x, y); });
  }
  Real add(const Real& x, const Real& y) const {
    return changed(StepRole::addition, {x, y}, [&](const OneChain& row) { return row.add(x, y); });
  }
  Real product(int i, Seen& seen) const {
    return changed(StepRole::product, {a(i), b(i)}, [&](const OneChain& row) { return row.product(i, seen); });
  }
  Real joined(const Real& c, const Real& sum, Seen& seen) const {
    return changed(StepRole::addition, {c, sum}, [&](const OneChain& row) { return row.joined(c, sum, seen); });
  }

 private:
  template <class Of>
  Real changed(StepRole role, std::initializer_list<Real> operands, const Of& of) const {
    bool is_special = false;
    for (const Real& x : operands) is_special |= !is_number(x.number.cls);
    return real(OfTwoRows::changed(role, is_special, [&](const OneChain& row) { return of(row).encoding; }));
  }
};

/// Of emulated FP8.
class ChangedHalves {
 public:
  using Code = uint64_t;
  using Dot = OneEmulatedDot<NoTrace>;

  ChangedHalves(ChangedSteps& steps, const Dot& own, const Dot& other) : steps_(steps), own_(own), other_(other) {}

  ChangedAlignedSums<Dot::Half> half(int which) const { return {steps_, own_.half(which), other_.half(which)}; }
  uint64_t joined(uint64_t c, uint64_t sum) const {
    return steps_.result(StepRole::addition, false, own_, other_, [&](const Dot& row) { return row.joined(c, sum); });
  }

 private:
  ChangedSteps& steps_;
  const Dot own_, other_;
};

/// The domain with changed steps over a kernel's domain of one dot; void where none is.
template <class Domain>
struct ChangedStepsOf {
  using type = void;
};
template <>
struct ChangedStepsOf<OneDot<NoTrace>> {
  using type = ChangedAlignedSums<OneDot<NoTrace>>;
};
template <>
struct ChangedStepsOf<OneTwoStageDot<NoTrace>> {
  using type = ChangedSecondStages;
};
template <>
struct ChangedStepsOf<OneExactDot<NoTrace>> {
  using type = ChangedExactSums;
};
template <>
struct ChangedStepsOf<OneChain<NoTrace>> {
  using type = ChangedOperations;
};
template <>
struct ChangedStepsOf<OneEmulatedDot<NoTrace>> {
  using type = ChangedHalves;
};

/// Whether the steps of a row can be changed so.
inline bool has_changed_steps(const DotModel& m) {
  return !traits_of(m).sums_groups() && !traits_of(m).cuts_to_odd() && !m.d.integer;
}

/// As evaluate_dot(), with the change.
inline uint64_t evaluate_changed(const DotModel& m, const DotOperands& in, const StepChange& change) {
  NoTrace trace;
  Step step;
  ChangedSteps steps(change);
  const DotModel& row = change.row ? *change.row : m;
  return evaluate_by_domain(m, in,
                            [&]<class Domain>(const auto& kernel, const DotOperands& part, int first,
                                              const FormatFields& f, uint64_t c) -> uint64_t {
                              using Changed = typename ChangedStepsOf<Domain>::type;
                              if constexpr (std::is_void_v<Changed>) return c;
                              else
                                return kernel(Changed(steps, Domain(m, part, first, f, trace, step),
                                                      Domain(row, part, first, f, trace, step)));
                            });
}

}  // namespace mmafuzz
