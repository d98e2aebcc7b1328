// The help of a command line as manual pages and as completion for bash, made of the same descriptions as --help.
#pragma once

#include <string>
#include <vector>

#include "plan/arguments.h"

namespace mmafuzz {

struct ManualPage {
  std::string name;  ///< "mmafuzz-eval"
  std::string text;  ///< of section 1, in the macros of man(7)
};

/// The page of the program, and a page for each subcommand that --help shows.
std::vector<ManualPage> manual_pages(const Arguments& program, const std::string& version);

/// A script for bash-completion, which completes subcommands, options, the words of options, units, targets and files.
std::string bash_completion(const Arguments& program);

}  // namespace mmafuzz
