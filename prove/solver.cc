#include "prove/solver.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "core/program.h"
#include "core/text.h"
#include "prove/evaluate.h"

namespace mmafuzz::prove {
namespace {

using Clock = std::chrono::steady_clock;

/// A program that reads SMT-LIB 2 as other solvers do, and hands it to Bitwuzla's Python package (PyPI `bitwuzla`).
constexpr const char* bitwuzla_in_python = R"python(
import sys
try: import bitwuzla
except ImportError: sys.exit(1)
def session():
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    return bitwuzla.Parser(bitwuzla.TermManager(), options)
if sys.argv[1:] == ["--version"]:
    print(bitwuzla.version())
    sys.exit()
parser, text = session(), ""
for line in sys.stdin:
    if line.startswith("(echo "):
        try:
            parser.parse(text, False, False)
        except Exception as e:
            print('(error "' + str(e).replace('"', "'") + '")')
        print(line.strip()[6:-1], flush=True)
        text = ""
    elif line.startswith("(reset)"):
        parser, text = session(), ""
    else:
        text += line
)python";

constexpr const char* end_of_answer = "mmafuzz-end-of-answer";
constexpr const char* echo_end = "(echo \"mmafuzz-end-of-answer\")\n";
/// A solver that has lost a race may finish for so long before it is ended: to start it again takes as long.
constexpr int grace_milliseconds = 100;
/// For so long the first solver computes alone. Most queries are answered by then, and sooner than if all compute.
constexpr int head_start_milliseconds = 50;

/// What a program prints with --version in at most 10 s; empty where it cannot be run or fails.
std::string version_text(std::vector<std::string> program) {
  program.push_back("--version");
  try {
    ChildProcess child;
    child.start(program, ChildProcess::Output::socket);
    std::string text;
    try {
      shutdown(child.socket(), SHUT_WR);
      const auto never = [] { return false; };  // the child's end, which talk() reports as an error, completes the text
      talk(child.socket(), "", text, never, Clock::now() + std::chrono::seconds(10));
    } catch (const std::runtime_error&) {}
    return child.end() == "it exited with code 0" ? text : "";
  } catch (const std::runtime_error&) {
    return "";
  }
}

/// The first word of a text that begins with a digit: the version in "This is cvc5 version 1.0.3 ...".
std::string version_in(const std::string& text) {
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (std::isdigit(static_cast<unsigned char>(word[0]))) return word;
  return "of unknown version";
}

/// Quotes around a line, and spaces or a carriage return at its end, do not count.
bool contains_line(const std::string& text, std::string_view line) {
  std::istringstream lines(text);
  for (std::string candidate; std::getline(lines, candidate);) {
    while (candidate.ends_with('\r') || candidate.ends_with(' ')) candidate.pop_back();
    if (candidate.size() > 1 && candidate.front() == '"' && candidate.back() == '"')
      candidate = candidate.substr(1, candidate.size() - 2);
    if (candidate == line) return true;
  }
  return false;
}

/// The solver of "name=command with arguments".
SolverCommand solver_of_command(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals + 1 == text.size())
    throw std::runtime_error("a solver is given as name=command, not as '" + text + "'");
  const std::vector<std::string> command = words_of(text.substr(equals + 1));
  return {text.substr(0, equals), command, version_in(version_text(command))};
}

/// The solvers that this machine has.
std::vector<SolverCommand> known_solvers() {
  std::vector<SolverCommand> found;
  const auto add = [&](const std::string& name, std::vector<std::string> program,
                       const std::vector<std::string>& options) {
    const std::string version = version_text(program);
    if (version.empty()) return;
    program.insert(program.end(), options.begin(), options.end());
    found.push_back({name, program, version_in(version)});
  };
  // Bitwuzla's program wants a whole file: its package is used instead.
  const std::string command = own_command();
  const std::string folder = command.substr(0, command.rfind('/'));
  for (const std::string& place : {folder + "/venv/bin/", folder + "/../venv/bin/", std::string()})
    if (found.empty()) add("bitwuzla", {place + "python3", "-c", bitwuzla_in_python}, {});
  add("cvc5", {"cvc5"}, {"--lang", "smt2", "--produce-models"});
  add("z3", {"z3"}, {"-in"});
  return found;
}

std::string ask_values(const std::vector<Expression>& variables) {
  std::string names;
  for (const Expression& v : variables) names += " " + v.table().name(v.table().node(v));
  return "(get-value (" + (names.empty() ? "#b1" : names) + "))";
}

}  // namespace

std::vector<SolverCommand> find_solvers(const std::vector<std::string>& wanted) {
  if (wanted.empty()) return known_solvers();
  std::vector<SolverCommand> found;
  for (const std::string& text : wanted) {
    if (text.find('=') != std::string::npos) {
      found.push_back(solver_of_command(text));
      continue;
    }
    const std::vector<SolverCommand> known = known_solvers();
    const auto named = [&](const SolverCommand& s) { return s.name == text; };
    const auto at = std::find_if(known.begin(), known.end(), named);
    if (at == known.end())
      throw std::runtime_error("there is no solver '" + text +
                               "' here: bitwuzla, cvc5 and z3 are looked for, others are "
                               "given as name=command");
    found.push_back(*at);
  }
  return found;
}

struct Solvers::Session {
  SolverCommand command;
  ChildProcess child;
  std::string received;
  bool owes_an_answer = false;  ///< to a query that another solver has answered

  std::string full_name() const { return command.name + " " + command.version; }

  /// Sends text, to a new process where none is running; a shell limits its address space. `seconds`: for the sending,
  /// at most 30. Throws std::runtime_error.
  void send(const std::string& text, const SolverLimits& limits, double seconds) {
    if (!child.is_running()) {
      // A solver that computes does not notice that this program has ended: the operating system has to kill it.
      const std::string limit = "ulimit -v " + std::to_string(int64_t{1024} * limits.memory_megabytes) +
                                "; exec 2>/dev/null; command -v setpriv >/dev/null && exec setpriv --pdeathsig KILL -- "
                                "\"$@\"; exec \"$@\"";
      std::vector<std::string> words = {"sh", "-c", limit, "sh"};
      words.insert(words.end(), command.command.begin(), command.command.end());
      child.start(words, ChildProcess::Output::socket);
    }
    received.clear();
    const std::chrono::duration<double> longest(std::clamp(seconds, 0.0, 30.0));
    const auto once_sent = [] { return true; };
    talk(child.socket(), text, received, once_sent,
         Clock::now() + std::chrono::duration_cast<Clock::duration>(longest));
  }
  enum class State { computing, answered, gone, endless };  ///< endless: over 4 MiB without the end of an answer

  /// Reads once from the socket, on which something has arrived.
  State listen() {
    char piece[1 << 14];
    const ssize_t n = recv(child.socket(), piece, sizeof piece, MSG_DONTWAIT);
    if (n <= 0) return State::gone;
    received.append(piece, static_cast<size_t>(n));
    if (answered()) return State::answered;
    return received.size() > size_t{1} << 22 ? State::endless : State::computing;
  }
  bool answered() const { return contains_line(received, end_of_answer); }

  Verdict verdict() const {
    if (received.find("(error") != std::string::npos) return Verdict::unknown;
    const bool sat = contains_line(received, "sat"), unsat = contains_line(received, "unsat");
    return sat == unsat ? Verdict::unknown : sat ? Verdict::sat : Verdict::unsat;
  }

  /// Asks for the values of the variables after a sat. False where the answer cannot be read.
  bool model(const std::string& ask, const SolverLimits& limits, std::map<std::string, Bits>& values) {
    try {
      send(ask + "\n" + echo_end, limits, 20);
      const auto complete = [this] { return answered(); };
      talk(child.socket(), "", received, complete, Clock::now() + std::chrono::seconds(20));
    } catch (const std::runtime_error&) {
      return false;
    }
    const std::string text = received.substr(0, received.find(end_of_answer));
    return parse_values(text.substr(0, text.find_last_of(')') + 1), values) && !values.empty();
  }

  void stop() {
    child.end(ChildProcess::Why::not_behaving);
    owes_an_answer = false;
  }
};

Solvers::Solvers(std::vector<SolverCommand> commands, const SolverLimits& limits) : limits_(limits) {
  for (SolverCommand& command : commands) {
    auto session = std::make_unique<Session>();
    session->command = std::move(command);
    std::string why;
    if (knows_answers(*session, why)) sessions_.push_back(std::move(session));
    else refused_.push_back(session->full_name() + " (" + session->command.command[0] + ") is not used: " + why);
  }
  if (sessions_.empty()) {
    std::string all = "no solver to ask";
    for (const std::string& r : refused_) all += "; " + r;
    throw std::runtime_error(all +
                             " (ci/setup-solvers installs bitwuzla, cvc5 and z3; --solver name=command names one)");
  }
}

Solvers::Solvers(Solvers&&) = default;

Solvers::~Solvers() {
  for (const auto& session : sessions_) session->stop();
}

std::vector<std::string> Solvers::names() const {
  std::vector<std::string> all;
  for (const auto& session : sessions_) all.push_back(session->full_name());
  return all;
}

/// Four queries whose answers are known, two of each: a solver that always answers the same fails. The values after a
/// sat have to satisfy the query.
bool Solvers::knows_answers(Session& session, std::string& why) {
  struct Known {
    Verdict verdict;
    std::vector<Expression> (*ask)(Expressions&, Expression x, Expression y);
  };
  const Known known[] = {
      {Verdict::sat,
       [](Expressions& table, Expression x, Expression y) {
         return std::vector{equal(x * y, table.constant(8, 35)), unsigned_below(x, y),
                            unsigned_below(y, table.constant(8, 16)), unsigned_below(table.constant(8, 1), x)};
       }},
      {Verdict::unsat, [](Expressions&, Expression x, Expression y) { return std::vector{~equal(x * y, y * x)}; }},
      {Verdict::unsat,
       [](Expressions& table, Expression x, Expression y) {
         return std::vector{equal(shift_right(shift_left(x, y), y), x), equal(y, table.constant(8, 3)), bit(x, 7)};
       }},
      {Verdict::sat,
       [](Expressions& table, Expression x, Expression y) {
         return std::vector{equal(x - y, table.constant(8, 200)), signed_below(x, y), equal(y, table.constant(8, 77))};
       }},
  };
  for (const Known& question : known) {
    Expressions table;
    const Expression x = table.variable("x", 8), y = table.variable("y", 8);
    const std::vector<Expression> assertions = question.ask(table, x, y);
    const std::vector<Expression> variables = variables_of(assertions);
    const double limit = std::exchange(limits_.seconds, 20);  // that of queries may be too short to start a solver
    const Answer answer = race({&session}, to_smt_lib(assertions), ask_values(variables));
    limits_.seconds = limit;
    if (answer.verdict == Verdict::unknown) {
      why = "it does not answer a question whose answer is known (" + answer.reason + ")";
      return false;
    }
    bool right = answer.verdict == question.verdict;
    if (right && answer.verdict == Verdict::sat) {
      std::vector<uint64_t> values, results;
      for (const Expression& v : variables) {
        const auto at = answer.model.find(table.name(table.node(v)));
        values.push_back(at == answer.model.end() ? 0 : static_cast<uint64_t>(at->second));
      }
      Evaluator(variables, assertions).run(values, results);
      right = std::all_of(results.begin(), results.end(), [](uint64_t r) { return r == 1; });
    }
    if (right) continue;
    why = "it gives a wrong answer to a question whose answer is known";
    return false;
  }
  return true;
}

/// Asks the first solver, after head_start_milliseconds all of them, and takes the first sat or unsat. The other
/// solvers go on computing; one that has not finished by grace_milliseconds after the start of the next query is ended.
Answer Solvers::race(const std::vector<Session*>& runners, const std::string& text, const std::string& ask_model) {
  const auto begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const std::string question = text + "(check-sat)\n" + echo_end;
  std::string failures;
  const auto fail = [&](Session& s, const std::string& what) {
    failures += (failures.empty() ? "" : "; ") + s.full_name() + " " + what;
    s.stop();
  };
  const auto ask = [&](Session& s) {
    try {
      s.send((s.child.is_running() ? "(reset)\n" : "") + question, limits_, limits_.seconds - elapsed());
      return true;
    } catch (const std::runtime_error& e) {
      fail(s, e.what());
      return false;
    }
  };
  std::vector<Session*> running, waiting;
  for (Session* s : runners) (s->owes_an_answer ? running : waiting).push_back(s);
  const auto ask_first_waiting = [&] {
    Session* first = waiting.front();
    waiting.erase(waiting.begin());
    if (ask(*first)) running.push_back(first);
  };
  Answer answer;
  while (!(running.empty() && waiting.empty()) && elapsed() < limits_.seconds) {
    const auto computes = [](const Session* s) { return !s->owes_an_answer; };
    while (!waiting.empty() &&
           (1000 * elapsed() >= head_start_milliseconds || std::none_of(running.begin(), running.end(), computes)))
      ask_first_waiting();
    if (running.empty()) continue;
    const int until_all_are_asked =  // milliseconds
        waiting.empty() ? grace_milliseconds : std::max(1, head_start_milliseconds - int(1000 * elapsed()));
    std::vector<pollfd> ends;
    for (Session* s : running) ends.push_back({s->child.socket(), POLLIN, 0});
    const int left = static_cast<int>(std::clamp(1000 * (limits_.seconds - elapsed()) + 1, 0.0, 1000.0));
    // An answer may have come while the question was still being sent.
    const bool some_answered = std::any_of(running.begin(), running.end(), [](Session* s) { return s->answered(); });
    poll(ends.data(), ends.size(), some_answered ? 0 : std::min({left, grace_milliseconds, until_all_are_asked}));
    for (size_t i = ends.size(); i-- > 0;) {
      Session& s = *running[i];
      const bool heard = ends[i].revents != 0;
      const Session::State state = s.answered() ? Session::State::answered
                                   : heard      ? s.listen()
                                                : Session::State::computing;
      if (s.owes_an_answer) {  // to the query before
        if (state == Session::State::computing && 1000 * elapsed() < grace_milliseconds) continue;
        if (state != Session::State::answered) s.stop();
        s.owes_an_answer = false;
        waiting.push_back(&s);
      } else if (state == Session::State::gone) {
        fail(s, "ended without an answer: " + s.child.end());
      } else if (state == Session::State::endless) {
        fail(s, "prints without an end");
      } else if (state == Session::State::answered) {
        answer.verdict = s.verdict();
        if (answer.verdict == Verdict::sat && !s.model(ask_model, limits_, answer.model)) answer = {};
        if (answer.verdict != Verdict::unknown) {
          answer.solver = s.full_name();
          answer.seconds = elapsed();
          for (Session* loser : running)
            if (loser != &s) loser->owes_an_answer = true;
          return answer;
        }
        fail(s, "says '" + s.received.substr(0, std::min<size_t>(s.received.find('\n'), 120)) + "'");
      } else {
        continue;  // it computes
      }
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  for (Session* s : running) fail(*s, "gave no answer in time");
  answer.reason = failures;
  answer.seconds = elapsed();
  return answer;
}

Answer Solvers::solve(const std::vector<Expression>& assertions, const std::string& comment,
                      const std::string& except) {
  ++queries_;
  std::vector<Session*> runners;
  for (const auto& session : sessions_)
    if (session->full_name() != except) runners.push_back(session.get());
  if (runners.empty()) return {.reason = "there is no other solver"};
  return race(runners, to_smt_lib(assertions, comment), ask_values(variables_of(assertions)));
}

}  // namespace mmafuzz::prove
