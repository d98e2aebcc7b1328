// Splits a text at a separator. An empty part between two separators is not a word.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace mmafuzz {

inline std::vector<std::string> words_of(std::string_view text, char separator = ' ') {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

}  // namespace mmafuzz
