// FNV-1a, 64 bits (Fowler, Noll, Vo): names contents where nobody attacks. The same on every machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace mmafuzz {

inline constexpr uint64_t fnv1a_start = 0xcbf29ce484222325u;

/// `from`: another start gives another hash of the same bytes.
constexpr uint64_t fnv1a(std::string_view bytes, uint64_t from = fnv1a_start) {
  uint64_t hash = from;
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace mmafuzz
