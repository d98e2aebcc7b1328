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

/// What both families share: a name and its settings become a command, whose process decides which ops it takes.
class ProcessFamilyBase : public Family {
 public:
  explicit ProcessFamilyBase(std::string backend) : backend_(std::move(backend)) {}

  bool owns(std::string_view name) const override { return has_more_after(backend_ + ":", name); }
  Role role(const std::string&) const override { return Role::plugin; }
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
    const Result<std::vector<std::string>> command = command_of(*decoded);
    if (!command) return command.refusal();
    return bind_process(name.text(), *command, process, op);
  }

 protected:
  virtual Result<std::vector<std::string>> command_of(const std::string& decoded) const = 0;

 private:
  std::string backend_;
};

class ProcessFamily final : public ProcessFamilyBase {
 public:
  ProcessFamily() : ProcessFamilyBase("process") {}
  std::vector<UnitInfo> list() const override {
    return {{"process:<command>", "a unit in a process of its own, in any language (docs/processes.md)"}};
  }

 protected:
  Result<std::vector<std::string>> command_of(const std::string& decoded) const override {
    std::vector<std::string> words = words_of(decoded);
    if (words.empty()) return invalid("process: names no command");
    return words;
  }
};

class PythonFamily final : public ProcessFamilyBase {
 public:
  PythonFamily() : ProcessFamilyBase("python") {}
  std::vector<UnitInfo> list() const override {
    return {{"python:<file.py>:<function>", "a Python function on batches of cases (docs/processes.md)"}};
  }

 protected:
  Result<std::vector<std::string>> command_of(const std::string& decoded) const override {
    const size_t colon = decoded.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == decoded.size())
      return invalid("a Python unit is written python:FILE.py:FUNCTION");
    const char* python = std::getenv("MMAFUZZ_PYTHON");
    return std::vector<std::string>{python ? python : "python3", "-c", python_runner, decoded.substr(0, colon),
                                    decoded.substr(colon + 1)};
  }
};

}  // namespace

std::unique_ptr<Family> make_process_family() { return std::make_unique<ProcessFamily>(); }
std::unique_ptr<Family> make_python_family() { return std::make_unique<PythonFamily>(); }

}  // namespace mmafuzz
