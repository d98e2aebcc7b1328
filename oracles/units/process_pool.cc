#include "oracles/units/process_pool.h"

#include <utility>

namespace mmafuzz {

std::shared_ptr<ProcessPool> ProcessPool::shared(const std::vector<std::string>& command, Patience patience) {
  static std::mutex mutex;
  static std::map<std::pair<std::vector<std::string>, int64_t>, std::shared_ptr<ProcessPool>> pools;
  const std::lock_guard lock(mutex);
  std::shared_ptr<ProcessPool>& pool = pools[{command, patience.count()}];
  if (!pool) pool = make(command, patience);
  return pool;
}

Result<ProcessTakes> ProcessPool::take(const Op& op) {
  const std::string line = to_text(op);
  {
    const std::lock_guard lock(mutex_);
    if (unusable_) return *unusable_;
    if (const auto known = taken_.find(line); known != taken_.end()) return known->second;
  }
  std::unique_ptr<ProcessChild> child = borrow();
  try {
    const Result<ProcessTakes> taken = child->take(op);
    give_back(std::move(child));
    const std::lock_guard lock(mutex_);
    return taken_.emplace(line, taken).first->second;
  } catch (const ProcessFailure& e) {
    const std::lock_guard lock(mutex_);
    if (taken_.empty()) unusable_ = declined(std::string("the process ") + e.what());
    return declined(std::string("the process ") + e.what());
  }
}

std::unique_ptr<ProcessChild> ProcessPool::borrow() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::make_unique<ProcessChild>(command_, patience_);
  std::unique_ptr<ProcessChild> child = std::move(idle_.back());
  idle_.pop_back();
  return child;
}

void ProcessPool::give_back(std::unique_ptr<ProcessChild> child) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(child));
}

bool ProcessPool::tells_features() {
  const std::lock_guard lock(mutex_);
  return tells_features_;
}

bool ProcessPool::lose_features() {
  const std::lock_guard lock(mutex_);
  return std::exchange(tells_features_, false);
}

void ProcessPool::note_batch(size_t answered, bool died) {
  const std::lock_guard lock(mutex_);
  unanswered_in_a_row_ = answered ? 0 : unanswered_in_a_row_ + 1;
  died_since_answer_ = answered ? 0 : died_since_answer_ + died;
  if (answered) not_started_in_a_row_ = 0;
}

bool ProcessPool::is_dying() {
  const std::lock_guard lock(mutex_);
  return died_since_answer_ > 0;
}

void ProcessPool::note_failure(ProcessFailure::Kind kind) {
  const std::lock_guard lock(mutex_);
  late_ += kind == ProcessFailure::timed_out;
  not_started_in_a_row_ = kind == ProcessFailure::not_started ? not_started_in_a_row_ + 1 : 0;
}

std::string ProcessPool::why_given_up() {
  constexpr uint64_t max_unanswered = 1000, max_died = 5, max_late = 64, max_not_started = 3;
  const std::lock_guard lock(mutex_);
  if (not_started_in_a_row_ >= max_not_started)
    return "it could not be started " + std::to_string(max_not_started) + " times in a row";
  if (died_since_answer_ >= max_died)
    return "it died in " + std::to_string(max_died) + " batches in a row and answered no case of them";
  if (late_ >= max_late) return "it gave no answer in time " + std::to_string(max_late) + " times";
  if (unanswered_in_a_row_ >= max_unanswered)
    return "it answered nothing in " + std::to_string(max_unanswered) + " batches in a row";
  return "";
}

uint64_t ProcessPool::count_failed_batch() {
  const std::lock_guard lock(mutex_);
  return ++failed_batches_;
}

}  // namespace mmafuzz
