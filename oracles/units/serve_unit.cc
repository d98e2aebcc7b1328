#include "oracles/units/serve_unit.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "core/words.h"
#include "oracles/units/process_child.h"

namespace mmafuzz {
namespace {

/// Reasons and messages travel as one line.
std::string in_one_line(std::string text) {
  for (char& ch : text)
    if (ch == '\n' || ch == '\r') ch = ' ';
  return text;
}

class Server {
 public:
  using Bind = std::function<Result<std::unique_ptr<Unit>>(const Op&)>;
  Server(const std::string& name, const Bind& bind, std::FILE* answers) : name_(name), bind_(bind), answers_(answers) {}

  /// False where the request is none.
  bool answer(const std::string& line) {
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) return false;
    if (words[0] == process_greeting) {
      say(std::string(process_greeting) + " " + std::to_string(process_protocol) + " binary " + name_);
      return true;
    }
    if (words[0] == "op") return take(line);
    if (words[0] == "batch" && unit_ && words.size() >= 3) return run(words[1], words[2]);
    return false;
  }

 private:
  void say(const std::string& text) {
    std::fputs((text + "\n").c_str(), answers_);
    std::fflush(answers_);
  }

  bool take(const std::string& line) {
    size_t column = 0;
    const Result<Op> op = parse_op(line.substr(3), column);
    Result<std::unique_ptr<Unit>> unit = op ? bind_(*op) : op.refusal();
    if (!unit) {
      say("no " + in_one_line(unit.refusal().reason));
      return true;
    }
    unit_ = std::move(*unit);
    batch_ = Batch(*op);
    for (const Claim& claim : unit_->claims()) {
      if (claim.property != "equals_model") continue;
      say("yes equals " + claim.detail);
      return true;
    }
    say("yes");
    return true;
  }

  bool run(const std::string& count, const std::string& size) {
    size_t cases = 0, bytes = 0, expected = 0;
    std::from_chars(count.data(), count.data() + count.size(), cases);
    std::from_chars(size.data(), size.data() + size.size(), bytes);
    for (const Column& column : batch_.inputs()) expected += cases * column.stride();
    if (bytes != expected) return false;
    batch_.resize(cases);
    for (Column& column : batch_.inputs())
      if (std::fread(column.data(), column.stride(), cases, stdin) != cases) return false;
    try {
      unit_->run(batch_, outcomes_);
    } catch (const std::runtime_error& e) {
      say("failed " + in_one_line(e.what()));
      return true;
    }
    const bool with_flags = !outcomes_.flags.empty(), with_answered = !outcomes_.answered.empty();
    const std::string words = std::string(with_flags ? " flags" : "") + (with_answered ? " answered" : "");
    std::fprintf(answers_, "results %zu%s\n", cases, words.c_str());
    std::fwrite(outcomes_.results.data(), outcomes_.results.stride(), cases, answers_);
    if (with_flags) std::fwrite(outcomes_.flags.data(), 1, cases, answers_);
    if (with_answered) std::fwrite(outcomes_.answered.data(), 1, cases, answers_);
    say("end");
    return true;
  }

  std::string name_;
  const Bind& bind_;
  std::FILE* answers_;
  std::unique_ptr<Unit> unit_;
  Batch batch_;
  Outcomes outcomes_;
};

}  // namespace

int serve_unit(const std::string& name, const std::function<Result<std::unique_ptr<Unit>>(const Op&)>& bind) {
  std::FILE* answers = fdopen(dup(1), "wb");
  if (!answers) throw std::runtime_error("cannot write to standard output");
  dup2(2, 1);
  Server server(name, bind, answers);
  char* line = nullptr;
  size_t room = 0;
  int code = 0;
  for (ssize_t n = getline(&line, &room, stdin); n > 0 && code == 0; n = getline(&line, &room, stdin)) {
    while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r')) line[--n] = 0;
    if (!server.answer(line)) {
      std::fprintf(stderr, "mmafuzz: serve: expected a request of docs/processes.md, found '%.60s'\n", line);
      code = 2;
    }
  }
  std::free(line);
  std::fclose(answers);
  return code;
}

}  // namespace mmafuzz
