#include "identify/asker.h"

#include <algorithm>
#include <stdexcept>

namespace mmafuzz {
namespace {

constexpr size_t max_failures = 8;  ///< number of failed cases at which a unit is given up

}  // namespace

Asker::Asker(const Unit& unit, const Op& op, const Limits& limits)
    : unit_(unit), op_(op), limits_(limits), start_(std::chrono::steady_clock::now()) {}

double Asker::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

double Asker::seconds_left() const { return limits_.seconds - seconds(); }

size_t Asker::at_once() const { return rate_ > 0 ? std::max<size_t>(1, static_cast<size_t>(std::min(rate_, 1e9))) : 1; }

bool Asker::answers(const Batch& batch, Outcomes& outcomes) {
  if (!stopped_.empty()) return false;
  if (dots_ + batch.size() > limits_.dots) {
    stopped_ = "the limit of " + std::to_string(limits_.dots) + " dots is reached";
    return false;
  }
  const double before = seconds();
  try {
    if (batch.op() == op_) {
      unit_.run(batch, outcomes);
    } else {
      Batch of_unit(op_, batch.size());
      of_unit.inputs() = batch.inputs();
      unit_.run(of_unit, outcomes);
    }
  } catch (const std::exception& error) {
    stopped_ = std::string("the unit failed: ") + error.what();
    return false;
  }
  dots_ += batch.size();
  rate_ = static_cast<double>(batch.size()) / std::max(1e-9, seconds() - before);
  for (size_t i = 0; i < batch.size(); ++i) {
    unanswered_ += !outcomes.has_answer(i);
    failed_ += outcomes.has_failed(i);
  }
  if (failed_ >= max_failures) stopped_ = "the unit broke on " + std::to_string(failed_) + " cases";
  return stopped_.empty();
}

bool Asker::ask(const Questions& questions, size_t first_question, Evidence& evidence) {
  ++rounds_;
  const size_t count = questions.cases.size();
  const FormatFields& d = evidence.op().d.fields();
  for (size_t done = 0; done < count;) {
    // A batch of a slow unit takes about a second, so that the end of the time is noticed.
    const size_t n = std::min(count - done, at_once());
    Outcomes outcomes;
    const bool goes_on = answers(questions.cases.part(done, n), outcomes);
    for (size_t i = 0; i < outcomes.results.cases() && i < n; ++i) {
      if (!outcomes.has_answer(i) || outcomes.has_failed(i)) continue;
      const uint64_t answer = outcomes.results.get(i);
      if (answer & ~d.container_mask()) {
        stopped_ = "the unit answered with bits above its format's width";
        return false;
      }
      evidence.add(questions.cases, done + i, answer, first_question + questions.of_case[done + i]);
    }
    if (!goes_on) return false;
    done += n;
    if (done < count && seconds_left() <= 0) {
      stopped_ = "the time is over";
      return false;
    }
  }
  return true;
}

}  // namespace mmafuzz
