// Times as people read them, in UTC whatever the machine's zone.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace mmafuzz {

inline constexpr char day_format[] = "%Y-%m-%d", second_format[] = "%Y-%m-%d %H:%M:%S";

/// Seconds since 1970 in a format of strftime.
inline std::string utc_text(int64_t seconds, const char* format) {
  const std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  char text[40] = "";
  if (gmtime_r(&time, &parts)) std::strftime(text, sizeof text, format, &parts);
  return text;
}

}  // namespace mmafuzz
