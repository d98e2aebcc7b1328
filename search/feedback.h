// What a search learns from a case: the features that the case reaches, each a number from 0 to features() - 1.
// Functional coverage is one source of features (a bin is a feature); the mutant bench compares it with others.
#pragma once

#include <memory>

#include "core/unit.h"
#include "search/coverage.h"

namespace mmafuzz {

/// Counts the hits of each feature in one chunk (successive cases of a search) and keeps the first case of each.
class FeatureCounts {
 public:
  explicit FeatureCounts(int features) : count_(static_cast<size_t>(features)), first_(static_cast<size_t>(features)) {}

  /// Feedback::observe calls this before the hits of case `index` of the chunk.
  void start_case(size_t index) { index_ = static_cast<uint32_t>(index); }
  void hit(int feature) {
    if (count_[static_cast<size_t>(feature)]++ > 0) return;
    first_[static_cast<size_t>(feature)] = index_;
    reached_.push_back(feature);
  }
  /// For traces (arithmetic/bins.h), when a kernel broke the invariant `what`. Ends the process.
  [[noreturn]] static void impossible(const char* what);

  const std::vector<int>& reached() const { return reached_; }  ///< in order of their first case
  uint32_t count(int feature) const { return count_[static_cast<size_t>(feature)]; }
  size_t first_case(int feature) const { return first_[static_cast<size_t>(feature)]; }

 private:
  std::vector<uint32_t> count_, first_;
  std::vector<int> reached_;
  uint32_t index_ = 0;
};

class Feedback {
 public:
  virtual ~Feedback() = default;
  virtual int features() const = 0;
  /// Adds the features of every case. Thread-safe.
  virtual void observe(const Batch& batch, FeatureCounts& counts) const = 0;
};

/// The bins of arithmetic/bins.h on a row; of a matrix product as `slicing` cuts it (nullptr: reference_slicing).
/// Without a row, ops such as conversions have bins, a dot has none.
std::unique_ptr<Feedback> make_functional_feedback(const Op& op, const DotModel* model,
                                                   const Slicing* slicing = nullptr);

/// The features of `source`, followed by those that the unit itself reports (Unit::observe), which are numbered from
/// source->features() on. The unit must outlive the result.
std::unique_ptr<Feedback> make_feedback_with_unit(std::unique_ptr<Feedback> source, const Unit& unit);

/// Edges of evaluate_dot on `model` with eight classes of how often each was taken, as libFuzzer counts them: what an
/// engine sees without functional coverage. It exists to be compared with (mmafuzz bench search).
std::unique_ptr<Feedback> make_code_feedback(const Op& op, const DotModel& model);

/// No features: the search keeps nothing.
std::unique_ptr<Feedback> make_no_feedback();

}  // namespace mmafuzz
