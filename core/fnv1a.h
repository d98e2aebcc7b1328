// FNV-1a, 64 bits (Fowler, Noll, Vo): a hash that identifies contents, the same on every machine. It is not safe
// against contents that are chosen to collide.
#pragma once

#include <cstdint>
#include <string_view>

namespace mmafuzz {

inline constexpr uint64_t fnv1a_start = 0xcbf29ce484222325u;

/// The hash of the bytes. A result as `hash` continues that hash; any other start gives another hash.
constexpr uint64_t fnv1a(std::string_view bytes, uint64_t hash = fnv1a_start) {
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace mmafuzz
