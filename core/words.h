// Words and numbers of a text.
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mmafuzz {

/// Splits a text at a separator. An empty part between two separators is not a word.
inline std::vector<std::string> words_of(std::string_view text, char separator = ' ') {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// The words with a separator between each two; of more than `most` the first ones "and 3 more".
template <class Words>
std::string joined(const Words& words, std::string_view separator, size_t most = SIZE_MAX) {
  std::string text;
  size_t count = 0;
  for (const auto& word : words) {
    if (count++ == most) return text + " and " + std::to_string(std::size(words) - most) + " more";
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

/// Whether all of the text is a number of that type, which `value` then is.
template <class Number>
bool parse_number(std::string_view text, Number& value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc{} && end == text.data() + text.size();
}

inline std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char ch) { return std::tolower(ch); });
  return text;
}

}  // namespace mmafuzz
