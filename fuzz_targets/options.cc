#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "fuzz_targets/target.h"

namespace mmafuzz {
namespace {

/// Splits at `separator`; a comma inside the overrides of one unit ("a?x=1,y=2") does not separate.
std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    const std::string part(text.substr(0, end));
    const bool override = separator == ',' && !parts.empty() && parts.back().find('?') != std::string::npos &&
                          part.find('=') < part.find(':');  // on=model:... overrides too
    if (override) parts.back() += "," + part;
    else if (!part.empty()) parts.push_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace

TargetOptions TargetOptions::parse(int argc, const char* const* argv) {
  TargetOptions options;
  const auto take = [&](std::string_view name, std::string_view value) {
    if (name == "ops") options.ops = split(value, ';');
    else if (name == "units") options.units = split(value, ',');
    else if (name == "segment") options.segment = value;
    else if (name == "status") options.status = value;
    else if (name == "keep-going") options.keep_going = value != "0";
    else return false;
    return true;
  };
  for (const auto& [variable, name] : {std::pair{"MMAFUZZ_OPS", "ops"}, {"MMAFUZZ_UNITS", "units"}, {"MMAFUZZ_SEGMENT", "segment"},
                                       {"MMAFUZZ_STATUS", "status"}, {"MMAFUZZ_KEEP_GOING", "keep-going"}})
    if (const char* value = std::getenv(variable)) take(name, value);
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (!argument.starts_with("--") || argument == "--") continue;
    argument.remove_prefix(2);
    const size_t equals = argument.find('=');
    const std::string_view value = equals == std::string_view::npos ? std::string_view() : argument.substr(equals + 1);
    if (!take(argument.substr(0, equals), value))
      throw std::runtime_error("unknown option --" + std::string(argument) + "; known: --ops= --units= --segment= --status= --keep-going");
  }
  return options;
}

}  // namespace mmafuzz
