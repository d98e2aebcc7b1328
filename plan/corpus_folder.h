// Where this executable is, and the data that belong to it.
#pragma once

#include <string>

namespace mmafuzz {

/// This executable's path; empty where there is no /proc.
std::string own_executable();

/// Folder of corpora and evidence, of the checkout that the executable was built in or of its installation; a target's
/// seeds are in <target>/seeds. Empty if there is none.
std::string default_corpus_folder();

}  // namespace mmafuzz
