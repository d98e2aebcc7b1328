#include "oracles/units/process_unit.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "core/case_text.h"
#include "core/function_unit.h"
#include "core/kept_batch.h"
#include "core/text.h"
#include "core/unit_name.h"
#include "oracles/units/process_pool.h"

namespace mmafuzz {
namespace {

/// Cases in one `apart` request, whose timeout must suffice even if each of them breaks the process.
constexpr size_t cases_apart = 256;
/// search() asks for a failed batch in parts until a case fails alone (the culprit). Each failed request costs 1 if the
/// process reports the failure itself, 16 if it must be started again; the sum includes the failure of the whole batch.
/// Once there is a culprit, the search ends at a maximum cost: the lowest if the process was dying before the batch
/// (ProcessPool::is_dying), else a higher one while no case is answered, else the highest.
constexpr int max_cost = 512, max_cost_before_an_answer = 192, max_cost_if_dying = 48;
constexpr int cost_of_reported_failure = 1, cost_of_a_start = 16;
/// Once there is a culprit, a part that ends the process is divided only if it has more cases than the batch's size
/// over this: starts take the most time, and most of the other cases get results anyway.
constexpr size_t smallest_part_divisor = 64;
/// How many failed batches of a pool get a message, with the failing case or with the batch as a file of case text.
constexpr uint64_t kept_batches = 4;

class ProcessUnit final : public Unit {
 public:
  ProcessUnit(std::shared_ptr<ProcessPool> pool, const ProcessTakes& takes) : pool_(std::move(pool)), takes_(takes) {}

  int features() const override { return takes_.features; }

  /// Features only guide a search: where the process fails to tell them, the search goes on without, and one message
  /// says so.
  void observe(const Batch& batch, const std::function<void(size_t, int)>& hit) const override {
    if (batch.size() == 0 || !pool_->tells_features() || !pool_->why_given_up().empty()) return;
    std::unique_ptr<ProcessChild> child = pool_->borrow();
    try {
      child->observe(batch, takes_.features, hit);
    } catch (const ProcessFailure& e) {
      if (pool_->lose_features())
        std::fprintf(stderr, "mmafuzz: %s tells no features any more: asked for them the process %s\n", name().c_str(),
                     e.what());
    }
    pool_->give_back(std::move(child));
  }

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    if (batch.size() == 0) return;
    if (!pool_->why_given_up().empty()) {
      outcomes.answered.assign(batch.size(), 0);
      return;
    }
    std::unique_ptr<ProcessChild> child = pool_->borrow();
    try {
      child->run(batch, 0, batch.size(), outcomes);
      pool_->note_batch(batch.size());
    } catch (const ProcessFailure& e) {
      // A case that hangs makes an `apart` request late, too: only parts of the batch isolate it.
      if (!takes_.supports_apart || e.kind == ProcessFailure::timed_out || !run_apart(*child, batch, outcomes, e))
        search(*child, batch, outcomes, e);
    }
    pool_->give_back(std::move(child));
  }

 private:
  /// The `count` cases of a batch from index `first` on.
  struct Part {
    size_t first, count;
  };

  static bool same_case(const Batch& batch, size_t i, size_t j) {
    for (const Column& column : batch.inputs())
      if (std::memcmp(column.data() + i * column.stride(), column.data() + j * column.stride(), column.stride()) != 0)
        return false;
    return true;
  }

  /// Has each case evaluated apart after the batch failed. False if an `apart` request fails, too.
  bool run_apart(ProcessChild& child, const Batch& batch, Outcomes& outcomes,
                 const ProcessFailure& batch_failure) const {
    prepare(batch, outcomes);
    size_t asked = 0, broke = 0;
    try {
      while (asked < batch.size() && (asked == 0 || broke < asked)) {  // not if every case so far broke it
        const size_t count = std::min(cases_apart, batch.size() - asked);
        child.run_apart(batch, asked, count, outcomes);
        for (const size_t end = asked + count; asked < end; ++asked) broke += outcomes.has_failed(asked);
      }
    } catch (const ProcessFailure&) {
      return false;
    }
    if (outcomes.answered.empty()) outcomes.answered.assign(batch.size(), 1);
    std::fill(outcomes.answered.begin() + static_cast<std::ptrdiff_t>(asked), outcomes.answered.end(), 0);
    pool_->note_failure(batch_failure.kind);
    pool_->note_batch(asked - broke,
                      batch.size() > 1 && broke == asked && batch_failure.kind != ProcessFailure::reported);
    if (broke == 0) last_case_stands_for(outcomes, batch_failure);
    if (broke > 0) tell_of_case(batch, outcomes);
    else tell_of_batch(batch, batch_failure.what(), "; case by case it is answered");
    return true;
  }

  /// Records the failure of a batch whose cases all have results when they are asked again: it is noted on the last
  /// case, which keeps its result.
  static void last_case_stands_for(Outcomes& outcomes, const ProcessFailure& failure) {
    outcomes.failed.assign(outcomes.results.cases(), 0);
    outcomes.failed.back() = 1;
    outcomes.how_failed = failure.what();
  }

  /// Finds cases that break the process, by asking for parts of the failed batch, and has the others answered. Cases of
  /// parts that are given up have no answer; those that equal the culprit are marked as failed.
  void search(ProcessChild& child, const Batch& batch, Outcomes& outcomes, const ProcessFailure& batch_failure) const {
    prepare(batch, outcomes);
    outcomes.answered.assign(batch.size(), 1);
    outcomes.failed.assign(batch.size(), 0);
    const bool is_dying = pool_->is_dying();
    bool any_reported = false;                    // whether the process reported a failure itself
    size_t answered = 0, culprit = batch.size();  // the least index of a case that failed alone; the size: none yet
    int cost = 0;
    std::vector<Part> parts;  // still to be asked for, the next one last
    const auto leave_out = [&](const Part& part) {
      for (size_t i = part.first; i < part.first + part.count; ++i) {
        outcomes.answered[i] = 0;
        outcomes.failed[i] = culprit < batch.size() && same_case(batch, i, culprit);
      }
    };
    const auto note_failed = [&](const Part& part, const ProcessFailure& failure) {
      const bool is_reported = failure.kind == ProcessFailure::reported;
      cost += is_reported ? cost_of_reported_failure : cost_of_a_start;
      any_reported |= is_reported;
      pool_->note_failure(failure.kind);
      if (part.count > 1 &&
          (is_reported || culprit == batch.size() || part.count > batch.size() / smallest_part_divisor)) {
        const size_t head = is_dying ? 1 : part.count / 2;  // where each case ends the process, one shows it
        parts.push_back({part.first + head, part.count - head});
        parts.push_back({part.first, head});
        return;
      }
      leave_out(part);
      if (part.count > 1 || failure.kind == ProcessFailure::not_started) return;  // no single case caused it
      outcomes.failed[part.first] = 1;
      if (culprit == batch.size()) outcomes.how_failed = failure.what();
      culprit = std::min(culprit, part.first);
    };
    note_failed({0, batch.size()}, batch_failure);
    while (!parts.empty()) {
      const Part part = parts.back();
      parts.pop_back();
      const bool enough = culprit < batch.size() && cost >= (is_dying        ? max_cost_if_dying
                                                             : answered == 0 ? max_cost_before_an_answer
                                                                             : max_cost);
      if (enough || !pool_->why_given_up().empty()) {
        leave_out(part);
        continue;
      }
      try {
        child.run(batch, part.first, part.count, outcomes);
        answered += part.count;
      } catch (const ProcessFailure& e) {
        note_failed(part, e);
      }
    }
    const bool all_answered = answered == batch.size();
    const bool is_slow = all_answered && batch_failure.kind == ProcessFailure::timed_out;
    if (all_answered && !is_slow) last_case_stands_for(outcomes, batch_failure);
    pool_->note_batch(answered, batch.size() > 1 && culprit < batch.size() && !any_reported);
    tell_of_batch(batch, batch_failure.what(),
                  is_slow        ? "; in parts it is in time: give it more with ?timeout=SECONDS"
                  : all_answered ? "; run again in parts it is answered"
                                 : "");
  }

  /// Prints a message about a failed batch whose first failed case alone reproduces the failure.
  void tell_of_case(const Batch& batch, const Outcomes& outcomes) const {
    tell([&] {
      const auto first = std::find(outcomes.failed.begin(), outcomes.failed.end(), 1) - outcomes.failed.begin();
      return ": " + outcomes.how_failed + " on " + case_line(batch, static_cast<size_t>(first));
    });
  }
  /// Keeps a failed batch as a file, and prints a message that ends in `advice`.
  void tell_of_batch(const Batch& batch, const std::string& reason, const char* advice) const {
    tell([&] {
      return " " + reason + "; the batch is " +
             keep_batch("MMAFUZZ_PROCESS_FAILURES", "process-failed", name(), batch, "the process " + reason) + advice;
    });
  }
  /// Counts a failed batch, and prints `what()` of the first ones.
  template <class What>
  void tell(const What& what) const {
    const uint64_t number = pool_->count_failed_batch();
    if (number <= kept_batches) std::fprintf(stderr, "mmafuzz: process failed: %s%s\n", name().c_str(), what().c_str());
    if (number == kept_batches)
      std::fprintf(stderr, "mmafuzz: further failures of %s are counted, not told\n", name().c_str());
    if (const std::string why = pool_->why_given_up(); !why.empty())
      std::fprintf(stderr, "mmafuzz: %s takes no further part: %s\n", name().c_str(), why.c_str());
  }

  std::shared_ptr<ProcessPool> pool_;
  ProcessTakes takes_;  ///< what the process said of the op
};

}  // namespace

Result<bool> ProcessSettings::take(const std::string& unit, const std::string& setting, const std::string& value) {
  if (setting == fresh_setting && (value == "0" || value == "1")) {
    is_fresh = value == "1";
    return true;
  }
  if (setting != timeout_setting) return false;
  if (!parse_number(value, timeout) || !(timeout >= 0.01 && timeout <= 86400))
    return invalid("unit " + mmafuzz::in_quotes(unit) + ": timeout takes seconds from 0.01 to 86400, not " +
                   mmafuzz::in_quotes(value));
  return true;
}

Result<std::unique_ptr<Unit>> bind_process(const std::string& name, const std::vector<std::string>& command,
                                           const ProcessSettings& settings, const Op& op) {
  const auto patience = std::chrono::milliseconds(static_cast<int64_t>(1000 * settings.timeout));
  const auto pool = settings.is_fresh ? ProcessPool::make(command, patience) : ProcessPool::shared(command, patience);
  const Result<ProcessTakes> taken = pool->take(op);
  if (!taken) return declined(name + ": " + taken.refusal().reason);
  std::vector<Claim> claims = claims_of({"answers"});
  if (!taken->equals.empty()) claims.push_back({"equals_model", taken->equals});
  return named(std::make_unique<ProcessUnit>(pool, *taken), name, std::move(claims));
}

std::string begun_anew(const std::string& unit, const Registry& registry) {
  const UnitName name(unit);
  for (const FamilyParameters& family : registry.parameters())
    for (const FamilyParameters::Description& parameter : family.parameters)
      if (family.units == name.backend + ":" && parameter.name == fresh_setting)
        return name.with(std::string(fresh_setting) + "=1").text();
  return unit;
}

std::string encode_command(std::string_view command) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=+@~^-";
  std::string text;
  for (const char ch : command) {
    char code[4];
    std::snprintf(code, sizeof code, "%%%02x", static_cast<unsigned char>(ch));
    text += plain.find(ch) != plain.npos ? std::string(1, ch) : code;
  }
  return text;
}

Result<std::string> decode_command(std::string_view text) {
  std::string command;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    if (text[i] == '%') {
      const char* end = text.data() + std::min(text.size(), i + 3);
      const auto [stop, error] = std::from_chars(text.data() + i + 1, end, code, 16);
      if (error != std::errc() || stop != text.data() + i + 3 || code == 0)
        return invalid("in a command or a plugin's file % begins two hexadecimal digits; a percent sign itself is %25");
      i += 2;
    }
    command += code ? static_cast<char>(code) : text[i];
  }
  return command;
}

}  // namespace mmafuzz
