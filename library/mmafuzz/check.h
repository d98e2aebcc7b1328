// A unit against the expected results of cases.
#pragma once

#include <mmafuzz/unit.h>

namespace mmafuzz::v1 {

/// A case on which the unit's result is not the expected one, or, where `expected` and `got` are equal, its status
/// flags are not those at the end of `line`.
struct Mismatch {
  std::string op, line;                      ///< the case
  std::vector<std::uint64_t> expected, got;  ///< encodings, as many as the result has
};

/// Compares a unit's results with expected ones: encodings must be equal, but with nan=any in the op any NaN equals any
/// NaN. Status flags count where a case has them and the unit reports them.
class Check {
 public:
  explicit Check(Unit unit);

  /// Runs the unit on a batch and compares the cases that have an expected result. Throws Error where the batch is of
  /// another op.
  void add(const Batch& batch);

  std::size_t compared() const { return compared_; }
  std::size_t without_result() const { return without_result_; }  ///< cases without an expected result
  std::size_t unanswered() const { return unanswered_; }          ///< cases for which the unit has no answer or fails
  const std::vector<Mismatch>& mismatches() const { return mismatches_; }

 private:
  Unit unit_;
  std::size_t compared_ = 0, without_result_ = 0, unanswered_ = 0;
  std::vector<Mismatch> mismatches_;
};

}  // namespace mmafuzz::v1
