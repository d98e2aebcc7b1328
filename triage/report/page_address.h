// The words of a call in the address of the page bits.html (site/), which runs it where it is opened.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace mmafuzz {

/// #VERSION&WORD&WORD...: each word with percent signs where an address needs them.
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
