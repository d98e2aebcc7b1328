// The families `process:COMMAND`, a unit in a process of its own (docs/processes.md), and `python:FILE:FUNCTION`, a
// Python function in a process that runs the program of python_runner.h.
#include <cstdlib>

#include "core/unit_name.h"
#include "core/text.h"
#include "oracles/families.h"
#include "oracles/units/process_unit.h"
#include "oracles/units/python_runner.h"

namespace mmafuzz {
namespace {

/// A name and its settings become a command, whose process decides which ops it takes.
class ProcessFamily final : public Family {
 public:
  using Command = Result<std::vector<std::string>>;
  /// `path`: what follows the backend in a unit's name. `command_of` makes a command of it.
  ProcessFamily(std::string backend, const char* path, const char* summary, Command (*command_of)(const std::string&))
      : backend_(std::move(backend)), path_(path), summary_(summary), command_of_(command_of) {}

  bool owns(std::string_view name) const override { return has_more_after(backend_ + ":", name); }
  Role role(const std::string&) const override { return Role::plugin; }
  std::vector<UnitInfo> list() const override { return {{backend_ + ":" + path_, summary_}}; }
  FamilyParameters parameters() const override {
    return {backend_ + ":",
            {{timeout_setting, timeout_meaning, "0.01 to 86400 (10)"}, {fresh_setting, fresh_meaning, "0 or 1 (0)"}}};
  }
  /// The process gets the whole op line and refuses a word that it does not know.
  Attributes honours(const std::string&, const Op&) const override { return every_attribute; }

  Result<std::unique_ptr<Unit>> bind(const std::string& text, const Op& op) const override {
    UnitName name(text);
    ProcessSettings process;
    for (const auto& [setting, value] : name.each_setting()) {
      const Result<bool> is_taken = process.take(text, setting, value);
      if (!is_taken) return is_taken.refusal();
      if (!*is_taken)
        return invalid("unit " + mmafuzz::in_quotes(text) + " has no parameter " + mmafuzz::in_quotes(setting) +
                       ", only " + timeout_setting + " and " + fresh_setting +
                       "=0 or 1; a ? that belongs to the command is written %3f");
    }
    const Result<std::string> decoded = decode_command(name.path);
    if (!decoded) return invalid("unit " + mmafuzz::in_quotes(text) + ": " + decoded.refusal().reason);
    name.path = encode_command(*decoded);
    const Command command = command_of_(*decoded);
    if (!command) return command.refusal();
    return bind_process(name.text(), *command, process, op);
  }

 private:
  std::string backend_;
  const char *path_, *summary_;
  Command (*command_of_)(const std::string& decoded);
};

Result<std::vector<std::string>> command_of_words(const std::string& decoded) {
  std::vector<std::string> words = words_of(decoded);
  if (words.empty()) return invalid("process: names no command");
  return words;
}

Result<std::vector<std::string>> command_of_python(const std::string& decoded) {
  const size_t colon = decoded.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == decoded.size())
    return invalid("a Python unit is written python:FILE.py:FUNCTION");
  const char* python = std::getenv("MMAFUZZ_PYTHON");
  return std::vector<std::string>{python ? python : "python3", "-c", python_runner, decoded.substr(0, colon),
                                  decoded.substr(colon + 1)};
}

}  // namespace

std::unique_ptr<Family> make_process_family() {
  return std::make_unique<ProcessFamily>(
      "process", "<command>", "a unit in a process of its own, in any language (docs/processes.md)", command_of_words);
}
std::unique_ptr<Family> make_python_family() {
  return std::make_unique<ProcessFamily>(
      "python", "<file.py>:<function>", "a Python function on batches of cases (docs/processes.md)", command_of_python);
}

}  // namespace mmafuzz
