// A share as text for people.
#pragma once

#include <fmt/core.h>

#include <string>

namespace mmafuzz {

/// "0.42 %", "9.2 %", "91 %", "99.7 %", "100 %".
inline std::string percent(size_t part, size_t whole) {
  const double value = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.{}g} %", value, value < 99 ? 2 : 3);
}

}  // namespace mmafuzz
