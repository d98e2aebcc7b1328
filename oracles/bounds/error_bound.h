// How far a unit's result may be from the exact value of a case: an upper bound, proved by hand for every kernel and
// reference order (docs/bounds.md). It is computed from the operands and the row's parameters, by the kernel's text
// over values with bounds (bound_walk.cc). A result beyond it is wrong, whatever bits were expected.
#pragma once

#include <string_view>

#include "core/unit.h"
#include "oracles/exact/mpfr_reference.h"

namespace mmafuzz {

/// The bound of one case's result.
struct ErrorBound {
  explicit ErrorBound(const Op& op);

  exact::Mpfr exact;          ///< the exact value of the dot
  exact::Mpfr bound;          ///< |result - exact| of a finite result is at most this, rounded up
  double parts = 0;           ///< the bound over its greatest summand: how many cuts and roundings count in it
  bool may_overflow = false;  ///< the exact value, or a partial sum with its bound, reaches the end of d's range
  bool has_no_bound = false;  ///< there is no bound: an overflow may have been clamped or read as a number

  /// Whether a result (an encoding of the op's d) obeys the bound. Infinities and NaNs do only where may_overflow.
  bool admits(const Format& d, uint64_t result) const;
  /// |result - exact| / bound; 0 where there is no bound. Infinite for an error beside a bound of 0; for an infinity or
  /// NaN 0 where may_overflow, else infinite.
  double ratio(const Format& d, uint64_t result) const;
};

/// The arithmetic of one unit on one op, for which there is a bound.
class ErrorBounds {
 public:
  /// Declined with the reason where there is no bound, as for sums that wrap.
  static Result<ErrorBounds> of_model(const Op& op, const DotModel& model);
  /// `exact`, `exact:mpfr`, `exact:bigint`, `ieee:fma`, `ieee:serial`, `ieee:pairwise`.
  static Result<ErrorBounds> of_reference(const Op& op, std::string_view name);
  /// By the unit's own model, by its name, or by the unit that it claims to equal.
  static Result<ErrorBounds> of_unit(const Op& op, const Unit& unit);

  /// Whether a case has a bound: no operand is an infinity or NaN.
  static bool has_bound_for(const Op& op, const DotOperands& in);
  /// Computes the bound of a case that has one into `bound`, which was made for the same op.
  void evaluate(const DotOperands& in, ErrorBound& bound) const;

 private:
  ErrorBounds(const Op& op, const DotModel& model) : op_(op), model_(model) {}

  Op op_;
  DotModel model_;               ///< the unit's row; of a reference a row that adds in its order
  bool sums_by_halves_ = false;  ///< `ieee:pairwise`, whose order, sums of halves, no row has
};

}  // namespace mmafuzz
