// How far a unit's result may be from the exact value of a case: an upper bound that is proven for every kernel and
// reference order (docs/bounds.md). It is computed from the operands and the row's parameters, by the kernel's text
// over values with bounds (bound_walk.cc). A result beyond it is a mistake whatever the unit's bits were expected to
// be.
#pragma once

#include <string_view>

#include "core/unit.h"
#include "oracles/exact/mpfr_reference.h"

namespace mmafuzz {

/// What is proven of one case's result.
struct ErrorBound {
  explicit ErrorBound(const Op& op);

  exact::Mpfr exact;          ///< the exact value of the dot
  exact::Mpfr bound;          ///< |result - exact| of a finite result is at most this, rounded up
  double parts = 0;           ///< the bound over its greatest summand: how many cuts and roundings count in it
  bool may_overflow = false;  ///< the exact value, or a partial sum with its bound, reaches the end of d's range
  bool unproven = false;      ///< nothing is known: an overflow may have been clamped or read as a number

  /// Whether a result (an encoding of the op's d) obeys the bound. Infinities and NaNs do only where may_overflow.
  bool admits(const Format& d, uint64_t result) const;
  /// |result - exact| / bound; infinite where a nonzero error meets a bound of 0 or an infinity came from nowhere.
  double ratio(const Format& d, uint64_t result) const;
};

/// The arithmetic of one unit on one op, as far as a bound is proven for it.
class ErrorBounds {
 public:
  /// Declined with the reason where no bound is proven: sums that wrap, operands that are rounded on the way in.
  static Result<ErrorBounds> of_model(const Op& op, const DotModel& model);
  /// `exact`, `exact:mpfr`, `exact:bigint`, `ieee:fma`, `ieee:serial`, `ieee:pairwise`.
  static Result<ErrorBounds> of_reference(const Op& op, std::string_view name);
  /// By the unit's own model, by its name, or by the unit that it claims to equal.
  static Result<ErrorBounds> of_unit(const Op& op, const Unit& unit);

  /// Whether the bound speaks about a case: there is no infinity or NaN among its operands.
  static bool speaks_about(const Op& op, const DotOperands& in);
  /// The bound of a case that it speaks about; `bound` is made for the same op.
  void evaluate(const DotOperands& in, ErrorBound& bound) const;

 private:
  ErrorBounds(const Op& op, const DotModel& model) : op_(op), model_(model) {}

  Op op_;
  DotModel model_;       ///< of a reference: a row of its formats and its order
  bool halves_ = false;  ///< but of `ieee:pairwise`, whose tree no row has
};

}  // namespace mmafuzz
