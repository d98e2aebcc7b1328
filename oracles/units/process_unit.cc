#include "oracles/units/process_unit.h"

#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "core/function_unit.h"
#include "core/kept_batch.h"
#include "core/quoted.h"
#include "core/unit_name.h"
#include "oracles/units/process_pool.h"

namespace mmafuzz {
namespace {

/// After a failure the batch is given again in parts, so that what can be answered is, and the case that breaks the
/// process stands alone. Once there is one, this much more may break: a process that is started again costs the most.
constexpr int most_cost = 192, most_cost_if_dying = 48, cost_of_saying_so = 1, cost_of_a_start = 16;
/// Large batches come from a search. Where many of them fail, few are searched for the culprit; of the others nothing
/// is known but that they failed.
constexpr size_t large_batch = 512;
constexpr uint64_t always_searched = 16;
/// Batches that are kept as case text.
constexpr uint64_t kept_batches = 4;

class ProcessUnit final : public Unit {
 public:
  ProcessUnit(std::shared_ptr<ProcessPool> pool, int features) : pool_(std::move(pool)), features_(features) {}

  int features() const override { return features_; }

  /// Feedback is no result: where it does not come, the search goes on without it, and a message says so once.
  void observe(const Batch& batch, const std::function<void(size_t, int)>& hit) const override {
    if (batch.size() == 0 || !pool_->tells_features() || !pool_->given_up().empty()) return;
    std::unique_ptr<ProcessChild> child = pool_->borrow();
    try {
      child->observe(batch, features_, hit);
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
    if (!pool_->given_up().empty()) {
      outcomes.answered.assign(batch.size(), 0);
      return;
    }
    std::unique_ptr<ProcessChild> child = pool_->borrow();
    try {
      child->run(batch, 0, batch.size(), outcomes);
      pool_->note_batch(batch.size());
    } catch (const ProcessFailure& e) {
      search(*child, batch, outcomes, e);
    }
    pool_->give_back(std::move(child));
  }

 private:
  struct Part {
    size_t first, count;
  };

  static bool same_case(const Batch& batch, size_t i, size_t j) {
    for (const Column& column : batch.inputs())
      if (std::memcmp(column.data() + i * column.stride(), column.data() + j * column.stride(), column.stride()) != 0)
        return false;
    return true;
  }

  /// Finds the cases that break the process, and has the others answered.
  void search(ProcessChild& child, const Batch& batch, Outcomes& outcomes, const ProcessFailure& first) const {
    prepare(batch, outcomes);
    outcomes.answered.assign(batch.size(), 1);
    outcomes.failed.assign(batch.size(), 0);
    const uint64_t number = pool_->count_failed_batch();
    const bool dying = pool_->is_dying();
    bool says = false;  // that it failed: it is there still
    size_t answered = 0, culprit = batch.size();
    int cost = 0;
    std::vector<Part> parts;  // what is still to do, the next part last
    const auto failed = [&](const Part& part, ProcessFailure::Kind kind) {
      cost += kind == ProcessFailure::said ? cost_of_saying_so : cost_of_a_start;
      says |= kind == ProcessFailure::said;
      pool_->note_failure(kind);
      if (part.count > 1) {
        const size_t half = dying ? 1 : part.count / 2;  // what dies on each case shows it on the first
        parts.push_back({part.first + half, part.count - half});
        parts.push_back({part.first, half});
        return;
      }
      outcomes.answered[part.first] = 0;
      if (kind == ProcessFailure::not_started) return;  // that is not this case's doing
      outcomes.failed[part.first] = 1;
      culprit = std::min(culprit, part.first);
    };
    const bool searched = batch.size() <= large_batch || number <= always_searched || std::has_single_bit(number);
    failed({0, batch.size()}, first.kind);
    while (!parts.empty()) {
      const Part part = parts.back();
      parts.pop_back();
      const bool enough = culprit < batch.size() && cost >= (dying ? most_cost_if_dying : most_cost);
      if (!searched || enough || !pool_->given_up().empty()) {
        for (size_t i = part.first; i < part.first + part.count; ++i) {
          outcomes.answered[i] = 0;
          outcomes.failed[i] = culprit < batch.size() && same_case(batch, i, culprit);
        }
        continue;
      }
      try {
        child.run(batch, part.first, part.count, outcomes);
        answered += part.count;
      } catch (const ProcessFailure& e) {
        failed(part, e.kind);
      }
    }
    const bool all_answered = answered == batch.size();
    const bool slow = all_answered && first.kind == ProcessFailure::late;
    // What does not fail again in parts is still a failure: the last case stands for the batch, and has its result.
    if (all_answered && !slow) outcomes.failed[batch.size() - 1] = 1;
    pool_->note_batch(answered, batch.size() > 1 && culprit < batch.size() && !says);
    tell(batch, number, first.what(),
         slow           ? "; in parts it is in time: give it more with ?timeout=SECONDS"
         : all_answered ? "; run again in parts it is answered"
                        : "");
  }

  void tell(const Batch& batch, uint64_t number, const std::string& reason, const char* then) const {
    const std::string name_of_unit = name();
    if (number <= kept_batches) {
      const std::string kept =
          keep_batch("MMAFUZZ_PROCESS_FAILURES", "process-failed", name_of_unit, batch, "the process " + reason);
      std::fprintf(stderr, "mmafuzz: process failed: %s %s; the batch is %s%s\n", name_of_unit.c_str(), reason.c_str(),
                   kept.c_str(), then);
    }
    if (number == kept_batches)
      std::fprintf(stderr, "mmafuzz: further failures of %s are counted, not told\n", name_of_unit.c_str());
    if (const std::string why = pool_->given_up(); !why.empty())
      std::fprintf(stderr, "mmafuzz: %s takes no further part: %s\n", name_of_unit.c_str(), why.c_str());
  }

  std::shared_ptr<ProcessPool> pool_;
  int features_;
};

}  // namespace

Result<double> parse_timeout(const std::string& unit, const std::string& value) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error != std::errc() || end != value.data() + value.size() || !(seconds >= 0.01 && seconds <= 86400))
    return invalid("unit " + mmafuzz::quoted(unit) + ": timeout takes seconds from 0.01 to 86400, not " +
                   mmafuzz::quoted(value));
  return seconds;
}

Result<std::unique_ptr<Unit>> bind_process(const std::string& name, const std::vector<std::string>& command,
                                           double timeout, bool fresh, const Op& op) {
  const auto pool = ProcessPool::of(command, std::chrono::milliseconds(static_cast<int64_t>(1000 * timeout)), fresh);
  const Result<ProcessTakes> taken = pool->take(op);
  if (!taken) return declined(name + ": " + taken.refusal().reason);
  std::vector<Claim> claims = claims_of({"answers"});
  if (!taken->equals.empty()) claims.push_back({"equals_model", taken->equals});
  return named(std::make_unique<ProcessUnit>(pool, taken->features), name, std::move(claims));
}

std::string begun_anew(const std::string& unit, const Registry& registry) {
  const UnitName name(unit);
  for (const FamilyParameters& family : registry.parameters())
    for (const FamilyParameters::One& parameter : family.parameters)
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
