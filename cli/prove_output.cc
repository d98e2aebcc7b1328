#include "cli/prove_output.h"

#include <fmt/core.h>

#include <map>

#include "core/case_text.h"
#include "core/json_text.h"
#include "core/unit.h"
#include "plan/request.h"

namespace mmafuzz::cli {
namespace {

using prove::Outcome;
using prove::Reply;

const char* word_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::proven: return "proven";
    case Outcome::witness: return "witness";
    case Outcome::unknown: break;
  }
  return "unknown";
}

int exit_code_of(Outcome outcome) {
  return outcome == Outcome::proven ? exit_ok : outcome == Outcome::witness ? exit_divergence : exit_unknown;
}

nlohmann::json json_of(const Reply& f) {
  nlohmann::json steps = nlohmann::json::array();
  for (const prove::ProofStep& s : f.proof.steps)
    steps.push_back({{"name", s.name}, {"solver", s.solver}, {"seconds", s.seconds}});
  nlohmann::json all = {{"question", f.question},
                        {"op", to_text(f.op)},
                        {"outcome", word_of(f.proof.outcome)},
                        {"seconds", f.proof.seconds},
                        {"confirmed", f.proof.confirmed},
                        {"steps", steps}};
  if (f.proof.outcome == Outcome::proven && !f.argument.empty()) all["argument"] = f.argument;
  if (f.proof.outcome == Outcome::unknown) all["reason"] = f.proof.reason;
  if (f.proof.outcome == Outcome::witness) {
    all["case"] = case_line(f.witness, 0);
    all["results"] = f.results;
  }
  return all;
}

void print_proof(const Reply& f, bool verbose) {
  fmt::print("{}: {} on all cases of '{}'\n", f.proof.steps.empty() ? "proved by hand" : "proven", f.question,
             to_text(f.op));
  if (!f.argument.empty()) fmt::print("  {}\n", f.argument);
  std::map<std::string, std::pair<int, double>> by;
  for (const prove::ProofStep& s : f.proof.steps) {
    ++by[s.solver].first;
    by[s.solver].second += s.seconds;
  }
  for (const auto& [solver, work] : by) fmt::print("  {}: {} unsat in {:.2f} s\n", solver, work.first, work.second);
  if (verbose)
    for (const prove::ProofStep& s : f.proof.steps)
      fmt::print("  {}: unsat, {}, {:.3f} s\n", s.name, s.solver, s.seconds);
  fmt::print("  {:.2f} s in all{}\n", f.proof.seconds, f.proof.confirmed ? ", confirmed by a second solver" : "");
}

void print_witness(const Reply& f) {
  fmt::print("a witness against: {}\n{}\n{}\n", f.question, to_text(f.op), case_line(f.witness, 0));
  for (const std::string& result : f.results) fmt::print("  = {}\n", result);
  if (f.proof.steps.empty()) return fmt::print("  run on the units\n");
  fmt::print("  found by {} in {:.2f} s, {:.2f} s in all; replayed on the units\n", f.proof.steps.back().solver,
             f.proof.steps.back().seconds, f.proof.seconds);
}

}  // namespace

int ProveOutput::add(const Reply& f) {
  if (json_) {
    questions_.push_back(json_of(f));
  } else {
    switch (f.proof.outcome) {
      case Outcome::proven: print_proof(f, verbose_); break;
      case Outcome::witness: print_witness(f); break;
      case Outcome::unknown:
        fmt::print("unknown after {:.0f} s: {}\n  {}\n", f.proof.seconds, f.question, f.proof.reason);
    }
    std::fflush(stdout);
  }
  return exit_code_of(f.proof.outcome);
}

void ProveOutput::add_mutant(const std::string& mutant, const Reply& f) {
  if (json_) {
    questions_.push_back(json_of(f));
    questions_.back()["mutant"] = mutant;
    return;
  }
  const double seconds = f.proof.seconds;
  switch (f.proof.outcome) {
    case Outcome::proven: return say(fmt::format("{} equivalent, {:.1f} s", mutant, seconds));
    case Outcome::witness: return say(fmt::format("{} killed, {:.1f} s: {}", mutant, seconds, case_line(f.witness, 0)));
    case Outcome::unknown: return say(fmt::format("{} unknown after {:.0f} s", mutant, seconds));
  }
}

void ProveOutput::add_declined_mutant(const std::string& mutant, const std::string& reason) {
  questions_.push_back(
      {{"mutant", mutant}, {"question", mutant + " equals its original"}, {"outcome", "declined"}, {"reason", reason}});
  say(fmt::format("{} declined: {}", mutant, reason));
}

void ProveOutput::conclude(const std::string& key, int64_t value, const std::string& text) {
  conclusions_[key] = value;
  say(text);
}

void ProveOutput::say(const std::string& line) const {
  if (json_) return;
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

int ProveOutput::end(int status) const {
  if (!json_) return status;
  const Outcome whole = status == exit_ok           ? Outcome::proven
                        : status == exit_divergence ? Outcome::witness
                                                    : Outcome::unknown;
  nlohmann::json all = {{"json_version", json_version},
                        {"command", command_},
                        {"outcome", word_of(whole)},
                        {"solvers", solvers_.names()},
                        {"questions", questions_}};
  all.update(conclusions_);
  fmt::print("{}", json_text(all));
  return status;
}

}  // namespace mmafuzz::cli
