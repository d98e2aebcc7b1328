// The words of a command as an address of the page bits.html (site/), which runs the command in the browser.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace mmafuzz {

/// "#VERSION&WORD&WORD...", with blanks of words as "+" and other characters percent-encoded where needed.
inline std::string page_address(const std::string& version, const std::vector<std::string>& words) {
  std::string address = "#" + version;
  for (const std::string& word : words) {
    address += '&';
    for (const unsigned char ch : word) {
      constexpr char digits[] = "0123456789ABCDEF";
      if (std::isalnum(ch) || std::string_view("-._~:/*,=?").find(ch) != std::string_view::npos) address += ch;
      else if (ch == ' ') address += '+';
      else address += {'%', digits[ch >> 4], digits[ch & 15]};
    }
  }
  return address;
}

}  // namespace mmafuzz
