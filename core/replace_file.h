// Files whose readers see the old text or the new one, never a part.
#pragma once

#include <string>

namespace mmafuzz {

/// Replaces the file. Throws std::runtime_error that names it.
void replace_file(const std::string& path, const std::string& text);

/// The same, but the new text survives a loss of power. A file that has this text already is left alone.
void replace_file_if_other(const std::string& path, const std::string& text);

}  // namespace mmafuzz
