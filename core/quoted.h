// Text from a file or a command line as it stands in messages: short, one line, printable.
#pragma once

#include <string>
#include <string_view>

namespace mmafuzz {

inline std::string in_quotes(std::string_view text) {
  constexpr size_t longest = 60;
  std::string shown;
  for (const char ch : text.substr(0, longest)) shown += ch >= ' ' && ch < 127 ? ch : '?';
  return "'" + shown + (text.size() > longest ? "...'" : "'");
}

}  // namespace mmafuzz
