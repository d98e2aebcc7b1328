// What a search learns from a case: features that it reached. Functional coverage is one source of them; the mutant
// bench has others, to compare with.
#pragma once

#include <memory>

#include "core/unit.h"
#include "search/coverage.h"

namespace mmafuzz {

/// Counts features of one chunk of cases, and remembers the first case of each.
class FeatureCounts {
 public:
  explicit FeatureCounts(int features) : count_(static_cast<size_t>(features)), first_(static_cast<size_t>(features)) {}

  void start_case(size_t index) { index_ = static_cast<uint32_t>(index); }
  void hit(int feature) {
    uint32_t& n = count_[static_cast<size_t>(feature)];
    if (n == 0) {
      first_[static_cast<size_t>(feature)] = index_;
      reached_.push_back(feature);
    }
    ++n;
  }
  [[noreturn]] void impossible(const char* what);

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
  /// Adds the features of every case. May be called from many threads at once.
  virtual void observe(const Batch& batch, FeatureCounts& counts) const = 0;
};

/// The bins of arithmetic/bins.h on one model, or of an op without one; of a matrix product as a slicing cuts it, or
/// as the reference does.
std::unique_ptr<Feedback> make_functional_feedback(const Op& op, const DotModel* model,
                                                   const Slicing* slicing = nullptr);

/// Features of a source, and behind them those that a unit tells of itself (Unit::observe); the unit must outlive it.
std::unique_ptr<Feedback> make_feedback_with_unit(std::unique_ptr<Feedback> source, const Unit& unit);

/// Edges of evaluate_dot on `model` with eight classes of how often each was taken, as libFuzzer counts them: what an
/// engine sees without functional coverage. It exists to be compared with (mmafuzz bench search).
std::unique_ptr<Feedback> make_code_feedback(const Op& op, const DotModel& model);

/// No features: the search keeps nothing.
std::unique_ptr<Feedback> make_no_feedback();

}  // namespace mmafuzz
