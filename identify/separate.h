// Finds cases on which one row differs from others: the next questions to a black box.
#pragma once

#include "identify/evidence.h"
#include "search/mutator.h"

namespace mmafuzz {

class Separator {
 public:
  static constexpr size_t quick_cases = 4096;   ///< on which every other row is tried
  static constexpr size_t all_cases = 1 << 14;  ///< ... and each that is worth more
  static constexpr size_t own_cases = 2048;     ///< ... and these at the other row's own corners

  /// Neighbours of what was asked so far are tried, too.
  Separator(const DotModel& row, const Evidence& evidence, uint64_t seed);

  struct Other {
    DotModel model;
    bool deep;  ///< whether it is worth more than the quick cases
  };
  /// For each of the others a case on which the row differs from it, where one was found. One case serves many.
  struct Found {
    std::vector<size_t> of_other;  ///< index into cases; none: SIZE_MAX
    std::vector<Batch> cases;      ///< one each
  };
  Found separate(const std::vector<Other>& others) const;

 private:
  void fill(const CornerHints& hints, size_t count, uint64_t stream, Batch& batch) const;
  /// A case at the other row's corners.
  std::optional<Batch> at_its_corners(const DotModel& other) const;

  DotModel row_;
  const Evidence& evidence_;
  uint64_t seed_;
  Batch asked_;
  DotCases pool_;
  std::vector<uint64_t> row_results_;
};

}  // namespace mmafuzz
