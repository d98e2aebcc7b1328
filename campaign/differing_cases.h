// Cases on which two units differ, found round by round in a guided search, and what one of them says to triage.
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

  /// Those of the next round.
  Batch next();

 private:
  const Op op_;
  const Comparison comparison_;
  GuidedSearch search_;
  uint64_t round_ = 0;
};

/// Somebody's code or a device may crash or hang: only workers run it on cases that nobody has tried.
bool is_safe_here(const std::string& unit);

/// The op of a bucket's witness; nothing where it has none.
std::optional<Op> op_of_witness(const Bucket& bucket);

LoggedDivergence logged(const Divergence& divergence);

/// One case on which the two units of a judge differ.
LoggedDivergence logged_difference(const Judge& judge, const Batch& one, const Verdict& verdict);

}  // namespace mmafuzz
