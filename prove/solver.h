// SMT solvers as programs: SMT-LIB 2 through a pipe, several at once, the first answer wins. A solver keeps running
// from query to query, so that a short query costs milliseconds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/child_process.h"
#include "prove/expression.h"
#include "prove/smt_lib.h"

namespace mmafuzz::prove {

/// How a solver is started. It reads commands from its standard input as they come and answers each at once.
struct SolverCommand {
  std::string name;                  ///< "bitwuzla"
  std::vector<std::string> command;  ///< program and arguments
  std::string version;
};

struct SolverLimits {
  double seconds = 60;          ///< for one query
  int memory_megabytes = 4096;  ///< of address space, each solver
};

enum class Verdict { sat, unsat, unknown };

struct Answer {
  Verdict verdict = Verdict::unknown;
  std::string solver;  ///< that gave it, with its version: "bitwuzla 0.9.1"; of unknown: why
  double seconds = 0;
  std::map<std::string, Bits> model;  ///< of sat
};

/// The solvers that this machine has: bitwuzla, cvc5 and z3 in PATH, and Bitwuzla's Python package of one of the
/// interpreters `python`. Where `given` names some ("bitwuzla", or "name=command with arguments"), those alone.
std::vector<SolverCommand> find_solvers(const std::vector<std::string>& given);

/// Runs queries. Not for several threads at once.
class Solvers {
 public:
  /// Puts questions with known answers to each; one that fails them is left out and named in `refused`. Throws
  /// std::runtime_error where none remains.
  Solvers(std::vector<SolverCommand> commands, const SolverLimits& limits);
  Solvers(Solvers&&);
  ~Solvers();

  const std::vector<std::string>& refused() const { return refused_; }
  std::vector<std::string> names() const;
  size_t count() const { return sessions_.size(); }
  SolverLimits& limits() { return limits_; }

  /// Whether all assertions (one bit each) can be 1 together. `except` names a solver that is not asked, so that an
  /// answer can be confirmed by another one.
  Answer solve(const std::vector<Expression>& assertions, const std::string& comment, const std::string& except = "");

  /// Queries asked so far.
  size_t queries() const { return queries_; }

 private:
  struct Session;
  bool knows_answers(Session& session, std::string& why);
  Answer race(const std::vector<Session*>& runners, const std::string& text, const std::string& ask_model);

  SolverLimits limits_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<std::string> refused_;
  size_t queries_ = 0;
};

}  // namespace mmafuzz::prove
