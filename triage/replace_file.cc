#include "triage/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace mmafuzz {

void replace_file_if_other(const std::string& path, const std::string& text) {
  std::ifstream in(path, std::ios::binary);
  if (in && std::string((std::istreambuf_iterator<char>(in)), {}) == text) return;
  // Of this process alone: two may write the same witness.
  const std::string temporary = path + "." + std::to_string(getpid()) + ".new";
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool good = file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(file) == 0;
  int error = errno;
  if (file >= 0) close(file);
  if (good && std::rename(temporary.c_str(), path.c_str()) != 0) {
    good = false;
    error = errno;
  }
  if (good) return;
  if (file >= 0) unlink(temporary.c_str());
  throw std::runtime_error(path + ": cannot be written: " + std::strerror(error));
}

}  // namespace mmafuzz
