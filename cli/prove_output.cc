#include "cli/prove_output.h"

#include <fmt/core.h>

#include <map>

#include "cli/command.h"
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

nlohmann::json json_of(const Reply& reply) {
  const nlohmann::json steps = json_list(reply.proof.steps, [](const prove::ProofStep& s) -> nlohmann::json {
    return {{"name", s.name}, {"solver", s.solver}, {"seconds", s.seconds}};
  });
  nlohmann::json all = {{"question", reply.question},
                        {"op", to_text(reply.op)},
                        {"outcome", word_of(reply.proof.outcome)},
                        {"seconds", reply.proof.seconds},
                        {"confirmed", reply.proof.confirmed},
                        {"steps", steps}};
  if (reply.proof.outcome == Outcome::proven && !reply.argument.empty()) all["argument"] = reply.argument;
  if (reply.proof.outcome == Outcome::unknown) all["reason"] = reply.proof.reason;
  if (reply.proof.outcome == Outcome::witness) {
    all["case"] = case_line(reply.witness, 0);
    all["results"] = reply.results;
  }
  return all;
}

void print_proof(const Reply& reply, bool verbose) {
  fmt::print("{}: {} on all cases of '{}'\n", reply.proof.steps.empty() ? "proved by hand" : "proven", reply.question,
             to_text(reply.op));
  if (!reply.argument.empty()) fmt::print("  {}\n", reply.argument);
  std::map<std::string, std::pair<int, double>> work_of_solvers;  // number of queries, seconds
  for (const prove::ProofStep& s : reply.proof.steps) {
    ++work_of_solvers[s.solver].first;
    work_of_solvers[s.solver].second += s.seconds;
  }
  for (const auto& [solver, work] : work_of_solvers)
    fmt::print("  {}: {} unsat in {:.2f} s\n", solver, work.first, work.second);
  if (verbose)
    for (const prove::ProofStep& s : reply.proof.steps)
      fmt::print("  {}: unsat, {}, {:.3f} s\n", s.name, s.solver, s.seconds);
  fmt::print("  {:.2f} s in all{}\n", reply.proof.seconds,
             reply.proof.confirmed ? ", confirmed by a second solver" : "");
}

void print_witness(const Reply& reply) {
  fmt::print("a witness against: {}\n{}\n{}\n", reply.question, to_text(reply.op), case_line(reply.witness, 0));
  for (const std::string& result : reply.results) fmt::print("  = {}\n", result);
  if (reply.proof.steps.empty()) return fmt::print("  run on the units\n");
  fmt::print("  found by {} in {:.2f} s, {:.2f} s in all; replayed on the units\n", reply.proof.steps.back().solver,
             reply.proof.steps.back().seconds, reply.proof.seconds);
}

}  // namespace

int ProveOutput::add(const Reply& reply) {
  if (is_json_) {
    questions_.push_back(json_of(reply));
  } else {
    switch (reply.proof.outcome) {
      case Outcome::proven: print_proof(reply, is_verbose_); break;
      case Outcome::witness: print_witness(reply); break;
      case Outcome::unknown:
        fmt::print("unknown after {:.0f} s: {}\n  {}\n", reply.proof.seconds, reply.question, reply.proof.reason);
    }
    std::fflush(stdout);
  }
  return exit_code_of(reply.proof.outcome);
}

void ProveOutput::add_mutant(const std::string& mutant, const Reply& reply) {
  if (is_json_) {
    questions_.push_back(json_of(reply));
    questions_.back()["mutant"] = mutant;
    return;
  }
  const double seconds = reply.proof.seconds;
  switch (reply.proof.outcome) {
    case Outcome::proven: return say(fmt::format("{} equivalent, {:.1f} s", mutant, seconds));
    case Outcome::witness:
      return say(fmt::format("{} killed, {:.1f} s: {}", mutant, seconds, case_line(reply.witness, 0)));
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
  if (is_json_) return;
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

int ProveOutput::end(int status) const {
  if (!is_json_) return status;
  const Outcome whole = status == exit_ok           ? Outcome::proven
                        : status == exit_divergence ? Outcome::witness
                                                    : Outcome::unknown;
  nlohmann::json all = {
      {"command", command_}, {"outcome", word_of(whole)}, {"solvers", solvers_.names()}, {"questions", questions_}};
  all.update(conclusions_);
  print_object(std::move(all));
  return status;
}

}  // namespace mmafuzz::cli
