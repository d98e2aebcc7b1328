// How wide the terminal is.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

namespace mmafuzz::cli {

/// Columns of the terminal behind a file descriptor, or what COLUMNS says; `otherwise` for a file.
inline size_t terminal_width(int descriptor, size_t otherwise = 80) {
  if (const char* columns = std::getenv("COLUMNS"); columns && std::atoi(columns) > 0)
    return static_cast<size_t>(std::atoi(columns));
  winsize size{};
  const bool known = isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : otherwise;
}

}  // namespace mmafuzz::cli
