// Cases on which two units differ, found round by round in a guided search, and their form as records for triage.
#pragma once

#include "core/divergence_log.h"
#include "search/comparison.h"
#include "search/guided_search.h"
#include "triage/bucket.h"
#include "triage/judge.h"

namespace mmafuzz {

class DifferingCases {
 public:
  static constexpr uint64_t round_cases = 1024;

  /// Units that do not bind throw std::runtime_error.
  DifferingCases(const Op& op, const std::vector<std::string>& units, uint64_t seed);

  /// Those of the next round_cases cases on which the units differ.
  Batch next();

 private:
  const Op op_;
  const Comparison comparison_;
  GuidedSearch search_;
  uint64_t round_ = 0;
};

/// Whether a unit may run on untried cases in this process: false for plugins, processes and devices, which may crash
/// or hang and are run by workers only, and for recordings.
bool is_safe_here(const std::string& unit);

/// The op of a bucket's witness; nullopt where the bucket has none.
std::optional<Op> op_of_witness(const Bucket& bucket);

/// A divergence as a record of a segment.
LoggedDivergence logged(const Divergence& divergence);

/// The record of the only case of `single`, on which the two units of a judge differ; `verdict` is the judge's.
LoggedDivergence logged_difference(const Judge& judge, const Batch& single, const Verdict& verdict);

}  // namespace mmafuzz
