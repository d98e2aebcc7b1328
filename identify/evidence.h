// What a black box was asked and what it answered: every hypothesis must give the same answers.
#pragma once

#include <optional>
#include <unordered_map>

#include "arithmetic/dot_model.h"
#include "core/batch.h"
#include "core/property.h"
#include "oracles/models/model_unit.h"

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
  /// Puts the case into a batch of the op, as its case `to`.
  void pack(size_t index, Batch& batch, size_t to) const;

 private:
  Op op_;
  size_t stride_, size_ = 0;
  std::vector<uint64_t> encodings_;  ///< a, b, c, scales of a, scales of b of each case
};

/// The results of a row on cases, asked for one after the other. Who stops at the first that differs, as most do, stops
/// early: the first ones are computed one by one, then more and more at once where there is vector code.
class ResultsOfRow {
 public:
  /// On the cases in their order, or in that of `order`: what was asked for may change its places meanwhile.
  ResultsOfRow(const DotModel& row, const DotCases& cases, const std::vector<uint32_t>* order = nullptr)
      : row_(row), cases_(cases), order_(order) {}

  /// The result of the case at a place: the next one after that of the call before, or a later one.
  uint64_t at(size_t place);

 private:
  size_t index(size_t place) const { return order_ ? (*order_)[place] : place; }

  const DotModel& row_;
  const DotCases& cases_;
  const std::vector<uint32_t>* order_;
  std::optional<ModelUnit> unit_;  ///< once the first ones are not enough
  Batch batch_;                    ///< the cases at places from first_ on
  Outcomes outcomes_;
  size_t first_ = 0, computed_ = 0;
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
