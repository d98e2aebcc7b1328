// Decides which occurrences of a frequent event are kept: the first 16, then one each time their number has grown by a
// sixteenth. These are few, but spread over the whole time, so that rare kinds of occurrence have a chance, too.
#pragma once

#include <cstdint>

namespace mmafuzz {

class Thinning {
 public:
  /// Counts `count` further occurrences and returns whether one of them is to be kept.
  bool add(uint64_t count) {
    seen_ += count;
    if (seen_ < next_) return false;
    while (next_ <= seen_) next_ += next_ < 16 ? 1 : next_ / 16;
    return true;
  }
  uint64_t seen() const { return seen_; }

 private:
  uint64_t seen_ = 0;
  uint64_t next_ = 1;  ///< the number, from 1, of the next occurrence to keep
};

}  // namespace mmafuzz
