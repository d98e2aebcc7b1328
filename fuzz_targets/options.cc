#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "core/unit_name.h"
#include "core/words.h"
#include "fuzz_targets/target.h"

namespace mmafuzz {
TargetOptions TargetOptions::parse(int argc, const char* const* argv) {
  TargetOptions options;
  const auto take = [&](std::string_view name, std::string_view value) {
    if (name == "ops") options.ops = words_of(value, ';');
    else if (name == "units") options.units = split_units({std::string(value)});
    else if (name == "segment") options.segment = value;
    else if (name == "status") options.status = value;
    else if (name == "keep-going") options.keep_going = value != "0";
    else return false;
    return true;
  };
  for (const auto& [variable, name] : {std::pair{"MMAFUZZ_OPS", "ops"},
                                       {"MMAFUZZ_UNITS", "units"},
                                       {"MMAFUZZ_SEGMENT", "segment"},
                                       {"MMAFUZZ_STATUS", "status"},
                                       {"MMAFUZZ_KEEP_GOING", "keep-going"}})
    if (const char* value = std::getenv(variable)) take(name, value);
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (!argument.starts_with("--") || argument == "--") continue;
    argument.remove_prefix(2);
    const size_t equals = argument.find('=');
    const std::string_view value = equals == std::string_view::npos ? std::string_view() : argument.substr(equals + 1);
    if (!take(argument.substr(0, equals), value))
      throw std::runtime_error("unknown option --" + std::string(argument) +
                               "; known: --ops= --units= --segment= --status= --keep-going");
  }
  return options;
}

}  // namespace mmafuzz
