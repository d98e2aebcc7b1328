// SMT solvers as child processes that speak SMT-LIB 2. Several get the same query at once, and the first answer wins. A
// solver keeps running from query to query, so that a short query costs milliseconds.
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
  std::string version;               ///< "0.9.1", or "of unknown version"
};

struct SolverLimits {
  double seconds = 60;          ///< of one query, in wall-clock time
  int memory_megabytes = 4096;  ///< of each solver's address space, set when its process starts
};

enum class Verdict { sat, unsat, unknown };

struct Answer {
  Verdict verdict = Verdict::unknown;
  std::string solver = {};                 ///< of sat and unsat: name and version, "bitwuzla 0.9.1"
  std::string reason = {};                 ///< of unknown
  double seconds = 0;                      ///< time to the answer
  std::map<std::string, Bits> model = {};  ///< for sat: the variables' values, by name
};

/// The solvers that this machine has: Bitwuzla's Python package (in `venv` in or beside this program's folder, or in
/// PATH's python3), then cvc5 and z3 in PATH. If `wanted` is not empty, only the solvers in it: a text is one of these
/// three names, or "name=command with arguments". Throws std::runtime_error for any other text.
std::vector<SolverCommand> find_solvers(const std::vector<std::string>& wanted);

/// Runs queries. One thread at a time may use an object.
class Solvers {
 public:
  /// Tests each solver on queries whose answers are known. A solver that fails is left out, and refused() has a
  /// sentence that says why. Throws std::runtime_error where no solver remains.
  Solvers(std::vector<SolverCommand> commands, const SolverLimits& limits);
  Solvers(Solvers&&);
  ~Solvers();

  const std::vector<std::string>& refused() const { return refused_; }
  std::vector<std::string> names() const;  ///< with versions, as in Answer::solver
  size_t count() const { return sessions_.size(); }
  SolverLimits& limits() { return limits_; }  ///< may be changed between queries

  /// Whether all assertions (one bit each, at least one assertion) can be 1 together. `except` is the Answer::solver of
  /// a solver that is not asked, so that another one confirms its answer. `comment` opens the text of the query.
  Answer solve(const std::vector<Expression>& assertions, const std::string& comment, const std::string& except = "");

  /// The number of calls of solve() so far.
  size_t queries() const { return queries_; }

 private:
  struct Session;
  /// Whether the solver passes the test of the constructor. If it does not, `why` gets the reason.
  bool knows_answers(Session& session, std::string& why);
  /// `ask_model` is the command that is sent after a sat, (get-value ...).
  Answer race(const std::vector<Session*>& runners, const std::string& text, const std::string& ask_model);

  SolverLimits limits_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<std::string> refused_;
  size_t queries_ = 0;
};

}  // namespace mmafuzz::prove
