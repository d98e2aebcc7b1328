// Changes operands of a walk's case until the last step of its sum (search/last_step.h) adds up to what is wanted. The
// step is observed after each change, so whatever a row does before it, no algebra of the row is needed.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "search/last_step.h"
#include "search/walk_case.h"

namespace mmafuzz {

/// What the last step shall add up to.
struct WantedSum {
  static constexpr int sizes = 16;
  int size;       ///< 0 zero; 1 to 9 ever smaller ones; from 10 on its leading bit lies 0, 1, .. above the greatest
                  ///< exponent
  int above;      ///< bits from the greatest exponent up to the leading bit
  int rest;       ///< what rounding drops, 0 to 7 as bins::remainder_class; 8: as drawn
  bool as_it_is;  ///< only what rounding drops shall change, not the size
  bool end;       ///< a sum at an end of the results' range
  bool negative;
  uint64_t draws[2];

  /// Whether its leading bit lies two bits and more above the greatest exponent.
  bool is_big() const { return size >= 12; }
};

class SumSolver {
 public:
  /// Whether a lane may change: those of `first` do before others.
  enum class Spare : uint8_t { never, at_need, first };

  /// Without a row (nullptr) nothing is solved. It must outlive the object.
  SumSolver(WalkCase& s, const DotModel* row) : s_(s), row_(row) {}

  /// Draws a sum of a size, 0 to WantedSum::sizes - 1, or of another one where the row has none of that.
  WantedSum draw(int size) const;
  /// Changes c, where it may, and up to three lanes, or lanes alone. Scales must be 1.
  void solve(const WantedSum& wanted, bool c_may_change, const std::function<Spare(int lane)>& spare) const;

  /// Whether products leave such a rest only far below a c of the other sign: an odd one, after a second stage.
  bool needs_c_to_lead(const WantedSum& wanted) const {
    return row_ && traits_of(*row_).c == KernelTraits::Joining::second_stage && wanted.rest % 2 == 1;
  }
  /// Whether the last step is an IEEE operation.
  bool adds_two() const { return row_ && (c_is_last() || traits_of(*row_).steps_are_operations()); }

 private:
  bool c_is_last() const { return traits_of(*row_).c == KernelTraits::Joining::last; }
  int precision() const;
  std::optional<int128> sum_for(const WantedSum& w, const LastStep& step) const;
  bool add_to_c(int128& units, int& unit) const;
  void add_to_lanes(int128 units, int unit, const std::vector<int>& lanes) const;

  WalkCase& s_;
  const DotModel* row_;
};

}  // namespace mmafuzz
