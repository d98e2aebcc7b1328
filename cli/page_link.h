// The address of a call in the page bits.html (site/), which runs it where it is opened.
#pragma once

#include <cctype>
#include <string>
#include <vector>

#include "plan/version.h"

namespace mmafuzz::cli {

/// bits.html#VERSION&WORD&WORD...: the words of a call, each with percent signs where an address needs them.
inline std::string page_link(const std::vector<std::string>& words) {
  std::string link = std::string("bits.html#") + version_number();
  for (const std::string& word : words) {
    link += '&';
    for (const unsigned char ch : word) {
      constexpr char digits[] = "0123456789ABCDEF";
      if (std::isalnum(ch) || std::string_view("-._~:/*,=?").find(ch) != std::string_view::npos) link += ch;
      else if (ch == ' ') link += '+';
      else link += {'%', digits[ch >> 4], digits[ch & 15]};
    }
  }
  return link;
}

}  // namespace mmafuzz::cli
