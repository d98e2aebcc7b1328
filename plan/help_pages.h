// The help of a command line in other forms: manual pages and completion. Both are made from what --help is made from.
#pragma once

#include <string>
#include <vector>

#include "plan/arguments.h"

namespace mmafuzz {

struct ManualPage {
  std::string name;  ///< "mmafuzz-eval"
  std::string text;  ///< of section 1, in the macros of man(7)
};

/// A page of the program, and one of each subcommand that --help shows.
std::vector<ManualPage> manual_pages(const Arguments& program, const std::string& version);

/// A script for bash-completion: subcommands, options, words that an option takes, units, targets, files.
std::string bash_completion(const Arguments& program);

}  // namespace mmafuzz
