// Words as a shell takes them.
#pragma once

#include <string>
#include <string_view>

namespace mmafuzz {

/// The word, in single quotes where the shell would see more in it than a word.
inline std::string shell_word(std::string_view text) {
  const bool plain = !text.empty() && text.find_first_of(" \t\n*?'\"$&;|<>()[]{}\\`!#~") == std::string_view::npos;
  if (plain) return std::string(text);
  std::string word = "'";
  for (const char ch : text) word += ch == '\'' ? "'\\''" : std::string(1, ch);
  return word + "'";
}

}  // namespace mmafuzz
