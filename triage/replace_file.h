// Text files that appear whole or not at all.
#pragma once

#include <string>

namespace mmafuzz {

/// Gives the file this text, at once and on disk when it returns; a file that has it is left alone. Throws std::runtime_error
/// with one line, the file then as it was.
void replace_file_if_other(const std::string& path, const std::string& text);

}  // namespace mmafuzz
