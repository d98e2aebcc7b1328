// A unit against the expected results of cases.
#pragma once

#include <mmafuzz/unit.h>

namespace mmafuzz::v1 {

/// A case on which a unit does not give what is expected.
struct Mismatch {
  std::string op, line;                      ///< the case
  std::vector<std::uint64_t> expected, got;  ///< encodings; `got` is empty where the unit failed
};

/// Compares under the op's rules: encodings, any NaN for any NaN where the op says nan=any.
class Check {
 public:
  explicit Check(Unit unit);

  /// Takes the cases of a batch that have an expected result. Throws Error where the batch is of another op.
  void add(const Batch& batch);

  std::size_t compared() const { return compared_; }
  std::size_t without_result() const { return without_result_; }  ///< cases without an expected result
  std::size_t unanswered() const { return unanswered_; }          ///< cases for which the unit has no answer
  const std::vector<Mismatch>& mismatches() const { return mismatches_; }

 private:
  Unit unit_;
  std::size_t compared_ = 0, without_result_ = 0, unanswered_ = 0;
  std::vector<Mismatch> mismatches_;
};

}  // namespace mmafuzz::v1
