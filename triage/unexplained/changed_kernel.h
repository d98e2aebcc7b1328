// Kernels in which a product, or the sum that a first stage makes, is another one; what comes after it is computed
// anew.
#pragma once

#include <functional>
#include <type_traits>

#include "triage/unexplained/kernel_by_domain.h"

namespace mmafuzz {

/// The sum that the first of two stages makes of the products first, first + stride, ... below n of a block.
struct FirstSum {
  const DotModel& model;
  const Product* term;  ///< of the block
  int first, stride, n;
  int64_t sum;   ///< in units of 2^(greatest - fraction_bits)
  int greatest;  ///< exponent at which the products are aligned

  int unit() const { return greatest - model.fraction_bits; }
};

/// What is changed; an empty function changes nothing.
struct KernelChange {
  std::function<void(Product&, int lane)> product{};
  std::function<void(FirstSum&, int step)> first_sum{};
  std::function<int(int shift, int lane)> shift{};  ///< of the products below the greatest one of a first sum of RDNA4
};

/// A domain of kernels over one dot with changed products.
template <class Base>
class WithChange : public Base {
 public:
  WithChange(const KernelChange& change, const DotModel& m, const DotOperands& in, int first_index,
             const FormatFields& c_format, NoTrace& trace, Step& step)
      : Base(m, in, first_index, c_format, trace, step), change_(change), operands_(in), first_product_(first_index) {}

  template <class Seen>
  Product product(int i, Seen& seen) const {
    Product p = Base::product(i, seen);
    const bool was_number = is_number(p.cls);
    alter(p, i);
    if (!was_number || is_number(p.cls)) return p;
    if constexpr (std::is_same_v<Seen, bool>) {
      seen = true;
    } else {
      seen.specials.add(p.cls, p.negative);
      seen.operands.add(p.cls, p.negative);
    }
    return p;
  }
  /// Of sums that are exact.
  template <class Sum>
  void add_product(Sum& sum, int i) const {
    Product p = scaled_product(this->model(), operands_, i);
    alter(p, i);
    sum.add(p.cls, p.negative, p.significand, p.exponent);
  }

 protected:
  const KernelChange& change_;
  const DotOperands& operands_;
  const int first_product_;

 private:
  void alter(Product& p, int i) const {
    if (change_.product && p.cls == NumberClass::finite)
      change_.product(p, first_product_ + added_at(this->model(), i));
  }
};

/// The same with changed sums of the first stage.
class ChangedTwoStages final : public WithChange<OneTwoStageDot<NoTrace>> {
 public:
  using WithChange::WithChange;

  void begin_block(int block) const { block_ = block; }
  Partial cut_and_summed(const Product* term, int first, int stride, int n) const {
    Partial p = OneTwoStageDot::cut_and_summed(term, first, stride, n);
    if (!change_.first_sum) return p;
    FirstSum sum{model(), term, first, stride, n, p.sum, p.greatest};
    change_.first_sum(sum, first_product_ / model().block + block_);
    p.sum = sum.sum;
    p.greatest = sum.greatest;
    return p;
  }

 private:
  mutable int block_ = 0;
};

/// The same with changed shifts of products in the first sums of floored sums.
class ChangedFirstSums final : public WithChange<OneDot<NoTrace>> {
 public:
  using WithChange::WithChange;

  Product first_sum(int first, int last, bool& seen) const {
    Product g = OneDot::first_sum(first, last, seen);
    int64_t sum = g.negative ? -static_cast<int64_t>(g.significand) : static_cast<int64_t>(g.significand);
    for (int i = first; change_.shift && !seen && i < last; ++i) {
      const Product p = product(i, seen);
      const int shift = g.scale_exponent - p.scale_exponent, lane = first_product_ + added_at(model(), i);
      if (p.zero || shift == 0) continue;
      const int exponent = p.exponent + shift - change_.shift(shift, lane);
      bool lost;
      sum += align_floor(p.negative, p.significand, exponent, g.exponent, lost) -
             align_floor(p.negative, p.significand, p.exponent, g.exponent, lost);
    }
    g.negative = sum < 0;
    g.significand = magnitude_of(sum);
    return g;
  }
};

/// The domain with changes over a kernel's domain of one dot; void where none is.
template <class Domain>
struct ChangedDomain {
  using type = void;
};
template <>
struct ChangedDomain<OneDot<NoTrace>> {
  using type = ChangedFirstSums;
};
template <>
struct ChangedDomain<OneTwoStageDot<NoTrace>> {
  using type = ChangedTwoStages;
};
template <>
struct ChangedDomain<OneExactDot<NoTrace>> {
  using type = WithChange<OneExactDot<NoTrace>>;
};

/// Whether products of a row can be changed so: those that are added exactly, and not as first sums.
inline bool has_changed_kernel(const DotModel& m) {
  const KernelTraits traits = traits_of(m);
  return traits.products == KernelTraits::Products::exact && !traits.steps_are_operations() && !traits.floors() &&
         !traits.cuts_to_odd();
}

/// As evaluate_dot(), with the change.
inline uint64_t evaluate_changed(const DotModel& m, const DotOperands& in, const KernelChange& change) {
  NoTrace trace;
  Step step;
  return evaluate_by_domain(m, in,
                            [&]<class Domain>(const auto& kernel, const DotOperands& part, int first,
                                              const FormatFields& f, uint64_t c) -> uint64_t {
                              using Changed = typename ChangedDomain<Domain>::type;
                              if constexpr (std::is_void_v<Changed>) return c;
                              else return kernel(Changed(change, m, part, first, f, trace, step));
                            });
}

}  // namespace mmafuzz
