// Finds cases on which one row differs from others: the next questions to a black box.
#pragma once

#include "core/dot_case.h"
#include "identify/evidence.h"
#include "search/mutator.h"

namespace mmafuzz {

class Separator {
 public:
  /// `seed_cases`: what was asked so far; its neighbours are tried, too.
  Separator(const DotModel& row, const Evidence& evidence, uint64_t seed);

  /// For each of the others a case from a common pool, none where the row and it agree on all of it. The same case
  /// serves many.
  struct Found {
    std::vector<size_t> of_other;  ///< index into cases; nothing: SIZE_MAX
    std::vector<Batch> cases;      ///< one each
  };
  Found separate(const std::vector<DotModel>& others, size_t pool_size);

  /// A case on which the row differs from the other one, from `tries` cases made for this pair.
  std::optional<Batch> separate_one(const DotModel& other, size_t tries);

 private:
  void fill(const CornerHints& hints, size_t count, uint64_t stream, Batch& batch) const;

  DotModel row_;
  const Evidence& evidence_;
  uint64_t seed_;
  Batch asked_;
};

}  // namespace mmafuzz
