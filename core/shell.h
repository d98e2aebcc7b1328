// Words as a shell takes them, and programs as it finds them.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <sstream>
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

/// The file of a program that is in a folder of PATH; empty where none has it.
inline std::string find_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string file = folder + "/" + program; access(file.c_str(), X_OK) == 0) return file;
  return "";
}

}  // namespace mmafuzz
