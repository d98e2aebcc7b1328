// Which occurrences of something frequent are kept: the first sixteen, then each that comes when a sixteenth more than at the last one
// have been counted. Few, but from the whole time: what comes rarely among the rest gets in as well.
#pragma once

#include <cstdint>

namespace mmafuzz {

/// Whether one of the occurrences `before` + 1 ... `after` is kept.
constexpr bool is_kept(uint64_t before, uint64_t after) {
  if (before < 16) return after > before;
  uint64_t next = 16;
  while (next <= before) next += next / 16;
  return next <= after;
}

}  // namespace mmafuzz
