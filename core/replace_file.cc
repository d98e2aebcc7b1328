#include "core/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace mmafuzz {

namespace {

void replace(const std::string& path, const std::string& text, bool durable) {
  // The temporary file is of this process alone: two may write the same file.
  const std::string temporary = path + "." + std::to_string(getpid()) + ".new";
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool good = file >= 0;
  for (size_t done = 0; good && done < text.size();) {
    const ssize_t n = write(file, text.data() + done, text.size() - done);
    good = n > 0;
    done += good ? static_cast<size_t>(n) : 0;
  }
  if (good && durable) good = fsync(file) == 0;
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

}  // namespace

void replace_file(const std::string& path, const std::string& text) { replace(path, text, false); }

void replace_file_if_other(const std::string& path, const std::string& text) {
  std::ifstream in(path, std::ios::binary);
  if (in && std::string((std::istreambuf_iterator<char>(in)), {}) == text) return;
  replace(path, text, true);
}

}  // namespace mmafuzz
