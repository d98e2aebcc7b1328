// Files that are written as a whole: their readers see the old text or the new one, never a part.
#pragma once

#include <string>

namespace mmafuzz {

/// Replaces the file. Throws std::runtime_error that names it.
void replace_file(const std::string& path, const std::string& text);

/// The same, but the new text survives a loss of power. A file that has this text already is left alone.
void replace_file_if_other(const std::string& path, const std::string& text);

/// A file that a person named for output: where it is, and how it may be written.
struct OutputFile {
  /// Of a file that may be replaced as a whole, behind all links: they stay, and need not lead to a file that is there.
  std::string path;
  /// Open for writing, to be closed by the caller: of a device or a pipe, and of what this process has open already
  /// (/dev/stdout, whatever the shell made of it: what stands in that file is not ours). -1: replace `path`.
  int descriptor = -1;
};

/// Throws std::runtime_error that names it where it cannot be written.
OutputFile output_file(const std::string& name);

/// Whether it is "-" or leads to the standard output of this process, as /dev/stdout does. Throws as above.
bool is_standard_output(const std::string& name);

/// Writes all of it. A file that was there stays whole where the new text cannot be written. Throws as above.
void write_output(const std::string& name, const std::string& text);

}  // namespace mmafuzz
