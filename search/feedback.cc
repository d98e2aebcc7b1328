#include "search/feedback.h"

#include <cstdio>
#include <cstdlib>

namespace mmafuzz {
namespace {

class FunctionalFeedback final : public Feedback {
 public:
  FunctionalFeedback(const Op& op, const DotModel* model, const Slicing* slicing) : coverage_(op, model, slicing) {}
  int features() const override { return bins::count; }
  void observe(const Batch& batch, FeatureCounts& counts) const override {
    if (!coverage_.observes()) return;
    Coverage coverage = coverage_;  // its scratch space is per thread
    for (size_t i = 0; i < batch.size(); ++i) {
      counts.start_case(i);
      coverage.observe(batch, i, counts);
    }
  }

 private:
  Coverage coverage_;
};

class FeedbackWithUnit final : public Feedback {
 public:
  FeedbackWithUnit(std::unique_ptr<Feedback> source, const Unit& unit) : source_(std::move(source)), unit_(unit) {}
  int features() const override { return source_->features() + unit_.features(); }
  void observe(const Batch& batch, FeatureCounts& counts) const override {
    source_->observe(batch, counts);
    unit_.observe(batch, [&, first = source_->features()](size_t index, int feature) {
      counts.start_case(index);
      counts.hit(first + feature);
    });
  }

 private:
  std::unique_ptr<Feedback> source_;
  const Unit& unit_;
};

class NoFeedback final : public Feedback {
 public:
  int features() const override { return 0; }
  void observe(const Batch&, FeatureCounts&) const override {}
};

}  // namespace

void FeatureCounts::impossible(const char* what) {
  std::fprintf(stderr, "mmafuzz: a kernel broke an invariant of its own arithmetic: %s\n", what);
  std::abort();
}

std::unique_ptr<Feedback> make_functional_feedback(const Op& op, const DotModel* model, const Slicing* slicing) {
  return std::make_unique<FunctionalFeedback>(op, model, slicing);
}

std::unique_ptr<Feedback> make_feedback_with_unit(std::unique_ptr<Feedback> source, const Unit& unit) {
  return std::make_unique<FeedbackWithUnit>(std::move(source), unit);
}

std::unique_ptr<Feedback> make_no_feedback() { return std::make_unique<NoFeedback>(); }

}  // namespace mmafuzz
