// Which occurrences of something frequent are kept: the first sixteen, then each that comes when a sixteenth more than
// at the last one have been counted. Few, but from the whole time: what comes rarely among the rest gets in as well.
#pragma once

#include <cstdint>

namespace mmafuzz {

class Thinning {
 public:
  /// Counts further occurrences; whether one of them is kept.
  bool add(uint64_t count) {
    seen_ += count;
    if (seen_ < next_) return false;
    while (next_ <= seen_) next_ += next_ < 16 ? 1 : next_ / 16;
    return true;
  }
  uint64_t seen() const { return seen_; }

 private:
  uint64_t seen_ = 0;
  uint64_t next_ = 1;  ///< the number of the next one to keep
};

}  // namespace mmafuzz
