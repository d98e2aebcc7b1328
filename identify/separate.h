// Finds cases on which a row differs from others: the next questions to a black box. All others are compared with the
// row on the first cases of one pool. A *deep* comparison takes the whole pool, then cases that are made for both rows.
#pragma once

#include <functional>

#include "identify/carried_cases.h"
#include "identify/evidence.h"
#include "identify/targeted_cases.h"
#include "search/mutator.h"

namespace mmafuzz {

class Separator {
 public:
  static constexpr size_t quick_cases = 512;         ///< the first cases of the pool, for comparisons that are not deep
  static constexpr size_t all_cases = 1 << 13;       ///< the pool
  static constexpr size_t targeted_cases = 1 << 14;  ///< TargetedCases of the row
  static constexpr size_t cases_of_other = 2048;     ///< TargetedCases of the other row
  static constexpr size_t deep_cases = all_cases + targeted_cases + cases_of_other;

  /// The pool has mutations of the evidence's cases, too. Where `goes_on` returns false, the search ends.
  Separator(const DotModel& row, const Evidence& evidence, uint64_t seed, std::function<bool()> goes_on);

  struct Other {
    DotModel model;
    bool is_deep;
  };
  /// A case for each of the other rows on which a difference was found. One case may serve many.
  struct Found {
    std::vector<size_t> case_of_other;  ///< for each other row, an index into `cases`; SIZE_MAX: none differs
    std::vector<size_t> agreed_on;      ///< for such a row, on how many cases at least both agreed; 0: none was tried
    std::vector<Batch> cases;           ///< one case in each batch
  };
  Found separate(const std::vector<Other>& others);

 private:
  /// Draws `count` cases; each `stream` gives others.
  void fill(const CornerHints& hints, size_t count, uint64_t stream, Batch& batch) const;
  /// Cases with the row's results.
  struct Pool {
    explicit Pool(const Op& op) : cases(op) {}
    DotCases cases;
    std::vector<uint64_t> results;
  };
  /// Adds a batch to an empty pool.
  void add_all(const Batch& batch, Pool& pool) const;
  /// A targeted case of either row, or a carried case, on which the results differ; nullopt where none is found.
  std::optional<Batch> targeted(const DotModel& other);

  DotModel row_;
  const Evidence& evidence_;
  uint64_t seed_;
  std::function<bool()> goes_on_;
  Batch asked_;
  Pool pool_, targeted_;  ///< targeted_ is filled when it is first needed
  SumsAfterBlocks sums_;  ///< of the row on the first targeted cases; filled when they are first needed
};

}  // namespace mmafuzz
