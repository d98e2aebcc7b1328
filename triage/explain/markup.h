// Text as content of HTML and XML.
#pragma once

#include <string>

namespace mmafuzz {

/// & < > " ' escaped; bytes that are no UTF-8 and characters that XML forbids become '?'.
std::string escaped(const std::string& text);

}  // namespace mmafuzz
