// How wide the terminal is.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

namespace mmafuzz::cli {

/// The environment variable COLUMNS where it is a positive number, else the columns of the terminal of standard output;
/// `otherwise` where that is no terminal.
inline size_t terminal_width(size_t otherwise = 80) {
  if (const char* columns = std::getenv("COLUMNS"); columns && std::atoi(columns) > 0)
    return static_cast<size_t>(std::atoi(columns));
  winsize size{};
  const bool known = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : otherwise;
}

}  // namespace mmafuzz::cli
