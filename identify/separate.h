// Finds cases on which one row differs from others: the next questions to a black box.
#pragma once

#include <functional>

#include "identify/carried_cases.h"
#include "identify/evidence.h"
#include "identify/targeted_cases.h"
#include "search/mutator.h"

namespace mmafuzz {

class Separator {
 public:
  static constexpr size_t quick_cases = 512;         ///< on which every other row is tried
  static constexpr size_t all_cases = 1 << 13;       ///< ... and each that is worth more
  static constexpr size_t targeted_cases = 1 << 14;  ///< ... on these, where a parameter of the row shows
  static constexpr size_t own_cases = 2048;          ///< ... and on these at the other row's own corners
  static constexpr size_t deep_cases = all_cases + targeted_cases + own_cases;

  /// Neighbours of what was asked so far are tried, too. Where `goes_on` says no, the rest is left out.
  Separator(const DotModel& row, const Evidence& evidence, uint64_t seed, std::function<bool()> goes_on);

  struct Other {
    DotModel model;
    bool deep;  ///< whether it is worth more than the quick cases
  };
  /// For each of the others a case on which the row differs from it, where one was found. One case serves many.
  struct Found {
    std::vector<size_t> of_other;  ///< index into cases; none: SIZE_MAX
    std::vector<size_t> compared;  ///< of each other, the least number of cases that it was compared on
    std::vector<Batch> cases;      ///< one each
  };
  Found separate(const std::vector<Other>& others);

 private:
  void fill(const CornerHints& hints, size_t count, uint64_t stream, Batch& batch) const;
  /// Cases with the row's results.
  struct Pool {
    explicit Pool(const Op& op) : cases(op) {}
    DotCases cases;
    std::vector<uint64_t> results;
  };
  /// Fills an empty pool.
  void add_all(const Batch& batch, Pool& pool) const;
  /// A targeted case, or one at the other row's corners.
  std::optional<Batch> targeted(const DotModel& other);

  DotModel row_;
  const Evidence& evidence_;
  uint64_t seed_;
  std::function<bool()> goes_on_;
  Batch asked_;
  Pool pool_, targeted_;  ///< the second is filled when it is needed
  SumsAfterBlocks sums_;  ///< of the row and the targeted cases; when needed
};

}  // namespace mmafuzz
