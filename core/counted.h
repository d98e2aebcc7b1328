// Counts in sentences: "1 case", "2 cases", "1 mismatch".
#pragma once

#include <cstdint>
#include <string>

namespace mmafuzz {

/// A count with its noun, which takes an s or an es where it is not one.
inline std::string counted(uint64_t count, const std::string& noun) {
  const bool hisses = noun.ends_with("ch") || noun.ends_with("sh") || noun.ends_with("ss");
  return std::to_string(count) + " " + noun + (count == 1 ? "" : hisses ? "es" : "s");
}

}  // namespace mmafuzz
