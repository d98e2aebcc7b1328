#include "campaign/live_facts.h"

#include <algorithm>
#include <chrono>

#include "core/text.h"
#include "triage/facts/fact_name.h"

namespace mmafuzz {
namespace {

/// The words of a record's property line, "equal X Y": the property and its units.
std::vector<std::string> statement_of(const LoggedDivergence& divergence) {
  constexpr std::string_view word = "property ";
  const std::string_view line = record_line(divergence.text, word);
  return line.empty() ? std::vector<std::string>() : words_of(line.substr(word.size()));
}

}  // namespace

LiveFacts::LiveFacts(const Registry& registry, Knowledge knowledge, std::set<std::string> seen_before)
    : registry_(registry),
      knowledge_(std::move(knowledge)),
      seen_before_(std::move(seen_before)),
      triage_(registry, 1) {}

void LiveFacts::take(const LoggedDivergence& divergence) {
  const std::vector<std::string> statement = statement_of(divergence);
  const auto units = statement.begin() + (statement.empty() ? 0 : 1);
  const bool needs_foreign_code = std::any_of(units, statement.end(), [&](const std::string& unit) {
    const Role role = registry_.role_of(unit);
    return role == Role::plugin || role == Role::device;
  });
  if (divergence.severity == Severity::contract && statement.size() > 1)
    contradictions_.insert(claim_fact(statement[1], statement[0]));
  else if (needs_foreign_code) ++left_to_triage_;
  else waiting_.push_back(divergence);
  counts_.contradictions = contradictions_.size();
  counts_.waiting = waiting_.size() + left_to_triage_;
}

void LiveFacts::seek_causes(double seconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  if (waiting_.empty()) return;
  while (!waiting_.empty() && Clock::now() < end) {
    triage_.add(waiting_.front());
    triage_.find_causes();
    waiting_.pop_front();
  }
  const Conclusions all = conclude(triage_.kinds(), knowledge_, {}, seen_before_);
  for (const Fact& fact : all.contradictions) contradictions_.insert(fact.name);
  counts_ = {contradictions_.size(), all.fresh.size(), all.confirmed.size(), waiting_.size() + left_to_triage_};
}

}  // namespace mmafuzz
