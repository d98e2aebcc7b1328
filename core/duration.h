// Lengths of time as people type them.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace mmafuzz {

/// Seconds of "90", "90s", "15m", "8h", "1.5h", "7d"; nothing for what is no positive length, or of more than 30 years.
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

}  // namespace mmafuzz
