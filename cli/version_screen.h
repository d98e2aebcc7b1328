// What `mmafuzz --version` prints.
#pragma once

#include <string>

namespace mmafuzz::cli {

/// Version and commit; then, a line each, the engines that campaigns run here, and where the corpus is.
std::string version_screen();

}  // namespace mmafuzz::cli
