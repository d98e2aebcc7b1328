// What a black box was asked and what it answered: every hypothesis must give the same answers.
#pragma once

#include <optional>
#include <unordered_map>

#include "arithmetic/evaluate_dot.h"
#include "core/batch.h"
#include "core/property.h"

namespace mmafuzz {

/// Cases of one dot op, unpacked, so that many rows can be evaluated on them.
class DotCases {
 public:
  explicit DotCases(const Op& op);

  void add(const Batch& batch, size_t index);
  size_t size() const { return size_; }
  const Op& op() const { return op_; }
  /// Valid until the next add().
  DotOperands operands(size_t index) const;
  /// The case as a batch of one.
  Batch one(size_t index) const;

 private:
  Op op_;
  size_t stride_, size_ = 0;
  std::vector<uint64_t> encodings_;  ///< a, b, c, scales of a, scales of b of each case
};

/// Cases with a unit's answers, in the order in which they were asked.
class Evidence {
 public:
  explicit Evidence(const Op& op) : cases_(op) {}

  /// A case that was asked before is kept once; another answer to it is remembered as two_answers().
  void add(const Batch& batch, size_t index, uint64_t answer, size_t question);

  size_t size() const { return answers_.size(); }
  const Op& op() const { return cases_.op(); }
  const DotCases& cases() const { return cases_; }
  uint64_t answer(size_t index) const { return answers_[index]; }
  size_t question(size_t index) const { return questions_[index]; }

  /// The number of answers that a row contradicts; counting stops at `limit`.
  size_t mismatches(const DotModel& model, size_t limit = SIZE_MAX) const;
  /// The first answer, in the order of asking, that a row contradicts.
  std::optional<size_t> first_mismatch(const DotModel& model) const;
  bool fits(const DotModel& model) const { return mismatches(model, 1) == 0; }

  /// Products evaluated so far by all of these: what searches are limited by, so that a seed decides them.
  uint64_t work() const { return work_; }

  struct TwoAnswers {
    size_t index;  ///< of the case and its first answer
    uint64_t second;
  };
  const std::optional<TwoAnswers>& two_answers() const { return two_answers_; }

 private:
  DotCases cases_;
  std::vector<uint64_t> answers_;
  std::vector<size_t> questions_;
  mutable std::vector<uint32_t> order_;  ///< the cases that told rows apart lately come first
  mutable uint64_t work_ = 0;
  std::unordered_map<std::string, size_t> known_;
  std::optional<TwoAnswers> two_answers_;
};

}  // namespace mmafuzz
