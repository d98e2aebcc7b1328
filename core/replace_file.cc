#include "core/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "core/text.h"

namespace mmafuzz {
namespace {

[[noreturn]] void cannot_write(const std::string& name) {
  throw std::runtime_error(name + ": cannot be written: " + std::strerror(errno));
}

/// "FOLDER/" of "FOLDER/file"; empty of "file".
std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

/// The file descriptor that the path names by its number, as /proc/self/fd/1 or /dev/fd/1 does; -1 for a path in that
/// folder that is no number; nullopt for a path elsewhere.
std::optional<int> own_descriptor(const std::string& path) {
  struct stat folder, named;
  if (stat((folder_of(path) + ".").c_str(), &folder) != 0) return std::nullopt;
  const auto is_folder = [&](const char* name) {
    return stat(name, &named) == 0 && folder.st_dev == named.st_dev && folder.st_ino == named.st_ino;
  };
  if (!is_folder("/proc/self/fd") && !is_folder("/proc/thread-self/fd")) return std::nullopt;
  int descriptor = -1;
  // No descriptor has the number -1.
  return parse_number(std::string_view(path).substr(folder_of(path).size()), descriptor) ? descriptor : -1;
}

/// The path at the end of a name's symbolic links. It stops at /proc/self/fd/N, whose own link leads to the file that
/// is open there: to open or replace that file anew would lose its position and text.
std::string end_of_links(const std::string& name) {
  if (name.empty()) throw std::runtime_error("the name of the output is empty");
  std::string end = name;
  for (int links = 0; links <= 40; ++links) {  // Linux follows 40
    char next[PATH_MAX];
    if (own_descriptor(end)) return end;
    const ssize_t length = readlink(end.c_str(), next, sizeof next);
    if (length <= 0) return end;
    end = (next[0] == '/' ? "" : folder_of(end)) + std::string(next, static_cast<size_t>(length));
  }
  throw std::runtime_error(name + ": links that lead to no file; choose another one");
}

/// Writes the whole text. False, with the reason in errno, where that fails.
bool write_all(int file, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(file, text.data() + done, text.size() - done);
    if (n == 0 || (n < 0 && errno != EINTR)) return false;
    if (n > 0) done += static_cast<size_t>(n);
  }
  return true;
}

enum class Durable { no, yes };  ///< whether the new text survives a loss of power

void replace(const std::string& path, const std::string& text, Durable durable) {
  // The temporary file has this process's number in its name: two processes may write the same file.
  const std::string temporary = path + "." + std::to_string(getpid()) + ".new";
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool good = file >= 0 && write_all(file, text);
  if (good && durable == Durable::yes) good = fsync(file) == 0;
  int error = errno;
  if (file >= 0) close(file);
  if (good && std::rename(temporary.c_str(), path.c_str()) != 0) {
    good = false;
    error = errno;
  }
  if (good) return;
  if (file >= 0) unlink(temporary.c_str());
  errno = error;
  cannot_write(path);
}

}  // namespace

void replace_file(const std::string& path, const std::string& text) { replace(path, text, Durable::no); }

void replace_file_if_other(const std::string& path, const std::string& text) {
  std::ifstream in(path, std::ios::binary);
  if (in && std::string((std::istreambuf_iterator<char>(in)), {}) == text) return;
  replace(path, text, Durable::yes);
}

OutputFile output_file(const std::string& name) {
  const std::string end = end_of_links(name);
  if (const std::optional<int> open = own_descriptor(end)) {
    std::fflush(stdout);                                // what was printed comes before what is written to the copy
    const int copy = fcntl(*open, F_DUPFD_CLOEXEC, 3);  // at least 3: above the standard streams
    if (copy < 0) cannot_write(name);
    return {"", copy};
  }
  struct stat file;
  if (stat(end.c_str(), &file) != 0 || S_ISREG(file.st_mode)) return {end, -1};
  const int device = open(end.c_str(), O_WRONLY | O_CLOEXEC);
  if (device < 0) cannot_write(name);
  return {"", device};
}

bool is_standard_output(const std::string& name) {
  return name == "-" || own_descriptor(end_of_links(name)) == STDOUT_FILENO;
}

void write_output(const std::string& name, const std::string& text) {
  const OutputFile file = output_file(name);
  if (file.descriptor < 0) return replace_file(file.path, text);
  const bool good = write_all(file.descriptor, text);
  const int error = errno;
  if (close(file.descriptor) == 0 && good) return;
  if (!good) errno = error;
  cannot_write(name);
}

}  // namespace mmafuzz
