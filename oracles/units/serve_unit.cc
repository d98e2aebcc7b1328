#include "oracles/units/serve_unit.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "core/text.h"
#include "oracles/units/process_child.h"

namespace mmafuzz {
namespace {

/// Reasons and messages travel as one line.
std::string in_one_line(std::string text) {
  for (char& ch : text)
    if (ch == '\n' || ch == '\r') ch = ' ';
  return text;
}

/// Memory that the server shares with the processes that it forks for an `apart` request: they write the outcomes of
/// the cases, it reads them.
class SharedCases {
 public:
  SharedCases(size_t cases, size_t stride)
      : cases_(cases), stride_(stride), bytes_(sizeof(Head) + cases * (stride + 2)) {
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no memory for cases apart");
    head_ = new (memory) Head;
  }
  ~SharedCases() { munmap(head_, bytes_); }
  SharedCases(const SharedCases&) = delete;
  SharedCases& operator=(const SharedCases&) = delete;

  std::atomic<size_t>& next() { return head_->next; }  ///< index of the case that is being evaluated
  bool& with_flags() { return head_->with_flags; }     ///< whether the unit reports flags
  char* results() { return reinterpret_cast<char*>(head_ + 1); }
  uint8_t* flags() { return reinterpret_cast<uint8_t*>(results() + cases_ * stride_); }
  uint8_t* ends() { return flags() + cases_; }  ///< a CaseEnd for each case

  std::string reason() const { return head_->reason; }
  /// Keeps the first reason.
  void set_reason(const std::string& text) {
    if (!head_->reason[0]) std::strncpy(head_->reason, text.c_str(), sizeof head_->reason - 1);
  }

 private:
  struct Head {
    std::atomic<size_t> next{0};
    bool with_flags = false;
    char reason[512] = "";  ///< of the first case that broke the unit
  };
  size_t cases_, stride_, bytes_;
  Head* head_;
};

class Server {
 public:
  using Bind = std::function<Result<std::unique_ptr<Unit>>(const Op&)>;
  Server(const std::string& name, const Bind& bind, std::FILE* answers) : name_(name), bind_(bind), answers_(answers) {}

  /// Answers one line. False if it is no request of the protocol.
  bool answer(const std::string& line) {
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) return false;
    if (words[0] == process_greeting) {
      say(std::string(process_greeting) + " " + std::to_string(process_protocol) + " binary " + name_);
      return true;
    }
    if (words[0] == "op") return take(line);
    if ((words[0] == "batch" || words[0] == "apart") && unit_ && words.size() >= 3) {
      if (!read_batch(words[1], words[2])) return false;
      if (words[0] == "apart") run_apart();
      else run();
      return true;
    }
    return false;
  }

 private:
  void say(const std::string& text) {
    std::fputs((text + "\n").c_str(), answers_);
    std::fflush(answers_);
  }

  bool take(const std::string& line) {
    const Result<Op> op = parse_op(std::string_view(line).substr(std::min<size_t>(3, line.size())));
    Result<std::unique_ptr<Unit>> unit = op ? bind_(*op) : op.refusal();
    if (!unit) {
      say("no " + in_one_line(unit.refusal().reason));
      return true;
    }
    unit_ = std::move(*unit);
    batch_ = Batch(*op);
    const Claim* equals = unit_->claim("equals_model");
    say("yes apart" + (equals ? " equals " + equals->detail : ""));
    return true;
  }

  bool read_batch(const std::string& count, const std::string& size) {
    size_t cases = 0, bytes = 0, expected = 0;
    if (!parse_number(count, cases) || !parse_number(size, bytes)) return false;
    for (const Column& column : batch_.inputs()) expected += cases * column.stride();
    if (bytes != expected) return false;
    batch_.resize(cases);
    for (Column& column : batch_.inputs())
      if (std::fread(column.data(), column.stride(), cases, stdin) != cases) return false;
    return true;
  }

  void run() {
    try {
      unit_->run(batch_, outcomes_);
    } catch (const std::runtime_error& e) {
      say("failed " + in_one_line(e.what()));
      return;
    }
    std::vector<uint8_t> ends = outcomes_.answered;
    for (size_t i = 0; i < ends.size(); ++i)
      if (outcomes_.has_failed(i)) ends[i] = static_cast<uint8_t>(CaseEnd::broke);
    tell(outcomes_.results.data(), outcomes_.flags.empty() ? nullptr : outcomes_.flags.data(),
         ends.empty() ? nullptr : ends.data(), outcomes_.how_failed);
  }

  /// Evaluates the cases one by one in a forked process. If it dies, its results so far stay, the case that it was at
  /// is marked as broken, and another process continues with the next case.
  void run_apart() {
    const size_t stride = result_stride();
    SharedCases shared(batch_.size(), stride);
    for (std::atomic<size_t>& next = shared.next(); next < batch_.size(); ++next) {
      const pid_t worker = fork();
      if (worker < 0) return say("failed cannot start a process");
      if (worker == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_DUMPABLE, 0);  // its death is expected: no core dump
        for (; next < batch_.size(); ++next) run_one(next, shared, stride);
        _exit(0);
      }
      int status = 0;
      waitpid(worker, &status, 0);
      if (next >= batch_.size()) break;
      shared.ends()[next] = static_cast<uint8_t>(CaseEnd::broke);
      shared.set_reason(WIFSIGNALED(status) ? std::string("it died of ") + strsignal(WTERMSIG(status))
                                            : "it exited with code " + std::to_string(WEXITSTATUS(status)));
    }
    tell(shared.results(), shared.with_flags() ? shared.flags() : nullptr, shared.ends(), shared.reason());
  }

  void run_one(size_t i, SharedCases& shared, size_t stride) {
    const Batch single_case = batch_.part(i);
    CaseEnd end = CaseEnd::broke;
    try {
      unit_->run(single_case, outcomes_);
      std::memcpy(shared.results() + i * stride, outcomes_.results.data(), stride);
      if (!outcomes_.flags.empty()) shared.flags()[i] = outcomes_.flags[0];
      shared.with_flags() |= !outcomes_.flags.empty();
      if (outcomes_.has_failed(0)) shared.set_reason(outcomes_.how_failed);
      else end = outcomes_.has_answer(0) ? CaseEnd::answered : CaseEnd::unknown;
    } catch (const std::runtime_error& e) {
      shared.set_reason("says: failed " + in_one_line(e.what()));
    }
    shared.ends()[i] = static_cast<uint8_t>(end);
  }

  size_t result_stride() const {
    const FieldShape result = batch_.op().result();
    return Column(result.format, result.count).stride();
  }

  /// Writes the answer for the batch. nullptr as `flags`: the unit reports none; as `ends`: every case is answered.
  void tell(const void* results, const uint8_t* flags, const uint8_t* ends, const std::string& how_failed) {
    const size_t cases = batch_.size();
    std::fprintf(answers_, "results %zu%s%s\n", cases, flags ? " flags" : "", ends ? " answered" : "");
    std::fwrite(results, result_stride(), cases, answers_);
    if (flags) std::fwrite(flags, 1, cases, answers_);
    if (ends) std::fwrite(ends, 1, cases, answers_);
    if (!how_failed.empty()) say("broke " + in_one_line(how_failed));
    say("end");
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
  for (ssize_t n; code == 0 && (n = getline(&line, &room, stdin)) > 0;) {
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
