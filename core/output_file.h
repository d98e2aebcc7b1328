// A file that a person named for output: where it is, and how it may be written.
#pragma once

#include <string>

namespace mmafuzz {

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
