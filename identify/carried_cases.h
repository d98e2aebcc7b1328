// Cases that carry a difference to the end of a dot: two rows leave different sums after some block, later blocks hide
// it, and other products in these show it (the classic two halves of a test: excite a fault, propagate it).
#pragma once

#include <optional>
#include <vector>

#include "arithmetic/counter_rng.h"
#include "core/batch.h"
#include "identify/evidence.h"

namespace mmafuzz {

/// What a row leaves after each block of each instruction, in order. A hint where to look, for some rows have other
/// entries (ieee_tree with overflow_rank=below_operands, specials of special_scope=whole_k): carry() evaluates every
/// case that it returns.
std::vector<uint64_t> sums_after_blocks(const DotModel& row, const DotOperands& in);

class CarriedCases {
 public:
  /// Two rows with the same products in each block; others have no blocks that correspond.
  CarriedCases(const Op& op, const DotModel& row, const DotModel& other);

  /// Whether the two have blocks that correspond, more than one of them.
  bool possible() const;

  /// How well a difference after a block can be carried: 0 if there is none, more where one of the two sums has another
  /// exponent or sign than the other.
  int worth(const std::vector<uint64_t>& sums, const std::vector<uint64_t>& of_other) const;

  /// A case that begins like case `index` of `cases` and ends so that the results differ, if one is found in `tries`.
  std::optional<Batch> carry(const DotCases& cases, size_t index, int tries, CounterRng& rng) const;

 private:
  std::vector<int> lanes_of(size_t block) const;
  void draw_block(class SweepCase& s, const std::vector<int>& lanes, uint64_t sum, CounterRng& rng) const;

  const Op& op_;
  const DotModel &row_, &other_;
  int step_;  ///< products that a block adds
};

}  // namespace mmafuzz
