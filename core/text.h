// Texts: reading words, numbers and durations; writing quotes, counts and times.
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace mmafuzz {

/// Splits a text at a separator, and leaves empty parts out.
inline std::vector<std::string> words_of(std::string_view text, char separator = ' ') {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// The words with a separator between each two. Of more than `most` words it has the first `most`, then " and 3 more".
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

/// Parses the whole text as a number and sets `value`. False where the text is no number of that type. `base` is of
/// integers.
template <class Number>
bool parse_number(std::string_view text, Number& value, int base = 10) {
  const char* const last = text.data() + text.size();
  const auto [end, error] = [&] {
    if constexpr (std::is_floating_point_v<Number>) return std::from_chars(text.data(), last, value);
    else return std::from_chars(text.data(), last, value, base);
  }();
  return error == std::errc{} && end == last;
}

inline std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char ch) { return std::tolower(ch); });
  return text;
}

/// Text from a file or a command line, quoted for a message: at most 60 characters, with ? for what is not printable.
inline std::string in_quotes(std::string_view text) {
  constexpr size_t longest = 60;
  std::string shown;
  for (const char ch : text.substr(0, longest)) shown += ch >= ' ' && ch < 127 ? ch : '?';
  return "'" + shown + (text.size() > longest ? "...'" : "'");
}

/// A count with its noun, in the plural (with s or es) unless the count is 1.
inline std::string counted(uint64_t count, const std::string& noun) {
  const bool hisses = noun.ends_with("ch") || noun.ends_with("sh") || noun.ends_with("ss");
  return std::to_string(count) + " " + noun + (count == 1 ? "" : hisses ? "es" : "s");
}

/// The word for a command line: in single quotes where it is empty or has a character with a meaning to the shell.
inline std::string shell_word(std::string_view text) {
  const bool plain = !text.empty() && text.find_first_of(" \t\n*?'\"$&;|<>()[]{}\\`!#~") == std::string_view::npos;
  if (plain) return std::string(text);
  std::string word = "'";
  for (const char ch : text) word += ch == '\'' ? "'\\''" : std::string(1, ch);
  return word + "'";
}

/// The seconds of "90", "90s", "15m", "8h", "1.5h" or "7d"; nullopt for any other text, and for a duration that is not
/// positive or above 1e9 seconds (30 years).
inline std::optional<double> parse_duration(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  const double factor = unit.empty() || unit == "s" ? 1
                        : unit == "m"               ? 60
                        : unit == "h"               ? 3600
                        : unit == "d"               ? 86400
                                                    : 0;
  const double seconds = value * factor;
  return end != text.c_str() && seconds > 0 && seconds <= 1e9 ? std::optional(seconds) : std::nullopt;
}

/// Formats for utc_text().
inline constexpr char day_format[] = "%Y-%m-%d", second_format[] = "%Y-%m-%d %H:%M:%S";

/// A time in seconds since 1970, in a format of strftime (at most 39 characters) and in UTC.
inline std::string utc_text(int64_t seconds, const char* format) {
  const std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  char text[40] = "";
  if (gmtime_r(&time, &parts)) std::strftime(text, sizeof text, format, &parts);
  return text;
}

}  // namespace mmafuzz
