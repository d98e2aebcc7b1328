// Files that are replaced as a whole: readers see the old text or the new one, never a part. And outputs by the names
// that a person gives, which may be devices or pipes: these are written in pieces.
#pragma once

#include <string>

namespace mmafuzz {

/// Replaces the file, or creates it. Throws std::runtime_error, which names the file, where it cannot be written.
void replace_file(const std::string& path, const std::string& text);

/// The same, but the new text survives a loss of power, and a file that has this text already is not touched.
void replace_file_if_other(const std::string& path, const std::string& text);

/// How to write to an output that a person named.
struct OutputFile {
  /// The file to replace as a whole, at the end of all symbolic links, which stay as they are; it may not exist yet. ""
  /// where `descriptor` is to be used.
  std::string path;
  /// A file descriptor to write to, which the caller closes: of a device or a pipe, or a copy of one that this process
  /// has open, as /dev/stdout names it. The latter may be a regular file of the shell's, which may have other text that
  /// must stay. -1: replace `path`.
  int descriptor = -1;
};

/// How to write to `name`. "-" is a file of that name here: callers that take "-" for standard output test it first.
/// Throws std::runtime_error, which names the output, where it cannot be opened or its links are a loop.
OutputFile output_file(const std::string& name);

/// Whether `name` is "-" or leads to the standard output of this process, as /dev/stdout does. Throws as output_file()
/// does where the name is empty or its links are a loop.
bool is_standard_output(const std::string& name);

/// Writes the text to output_file(name). Where that fails, a regular file keeps its old text. Throws as output_file()
/// and replace_file() do.
void write_output(const std::string& name, const std::string& text);

}  // namespace mmafuzz
