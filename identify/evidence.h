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

  void add(const Batch& batch, size_t index);  ///< appends case `index` of a batch of the op
  size_t size() const { return size_; }
  const Op& op() const { return op_; }
  /// Valid until the next add().
  DotOperands operands(size_t index) const;
  /// The case as a batch of one.
  Batch one(size_t index) const;
  /// Writes the case over case `to` of a batch of the op.
  void pack(size_t index, Batch& batch, size_t to) const;

 private:
  Op op_;
  size_t stride_, size_ = 0;
  std::vector<uint64_t> encodings_;  ///< of each case stride_ many: a, b, c, scales of a, scales of b
};

/// The results of a row on cases, computed as they are asked for. Most callers stop at a difference among the first
/// few. So these are computed one by one, later ones in growing batches where the row has vector code.
class ResultsOfRow {
 public:
  /// `order` has the indices of the cases in the order in which they are asked for; nullptr: 0, 1, 2, ... The entries
  /// up to the last one that was asked for may change meanwhile.
  ResultsOfRow(const DotModel& row, const DotCases& cases, const std::vector<uint32_t>* order = nullptr)
      : row_(row), cases_(cases), order_(order) {}

  /// The result of the case at position `place` of the order. Positions have to rise from call to call.
  uint64_t at(size_t place);

 private:
  size_t index(size_t place) const { return order_ ? (*order_)[place] : place; }

  const DotModel& row_;
  const DotCases& cases_;
  const std::vector<uint32_t>* order_;
  std::optional<ModelUnit> unit_;  ///< made after the first results
  Batch batch_;                    ///< the cases at the positions from first_ to first_ + computed_ - 1
  Outcomes outcomes_;              ///< of the batch
  size_t first_ = 0, computed_ = 0;
};

/// Cases with a unit's answers, in the order in which they were asked.
class Evidence {
 public:
  explicit Evidence(const Op& op) : cases_(op) {}

  /// A case that was asked before is kept once; a different answer to it is kept as two_answers(). `question` is the
  /// number of the question that the case is about.
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

  /// The products that mismatches() and fits() have evaluated so far, and 8 more for each case, about what a case costs
  /// besides its products. Searches are limited by this number and not by time, so that the seed determines their
  /// results.
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
  mutable std::vector<uint32_t> order_;  ///< indices of all cases; those that lately contradicted rows come first
  mutable uint64_t work_ = 0;
  std::unordered_map<std::string, size_t> known_;  ///< the index of a case, by its encodings
  std::optional<TwoAnswers> two_answers_;
};

}  // namespace mmafuzz
