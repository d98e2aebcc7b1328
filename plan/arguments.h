// Checks of command-line arguments that several commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mmafuzz {

/// A check for unsigned options: CLI11 alone reads -1 as 2^64 - 1.
inline CLI::Validator unsigned_number() {
  return CLI::Validator(
      [](std::string& text) {
        const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
        return digits ? std::string() : "'" + text + "' is not a whole number of 0 or more";
      },
      "UINT");
}

}  // namespace mmafuzz
