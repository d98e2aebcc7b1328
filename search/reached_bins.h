// Which bins a search has reached, on each of its focus units: what workers of one op tell each other, so that a
// campaign counts their union.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arithmetic/bins.h"

namespace mmafuzz {

class ReachedBins {
 public:
  explicit ReachedBins(size_t focuses = 0) : taken_(focuses * bins_of_a_focus / 8) {}

  /// Whether it is new.
  bool add(size_t focus, int bin) {
    const size_t place = focus * bins_of_a_focus + static_cast<size_t>(bin);
    if (taken_[place / 8] >> (place % 8) & 1) return false;
    taken_[place / 8] |= static_cast<uint8_t>(1u << (place % 8));
    ++count_;
    return true;
  }
  size_t count() const { return count_; }

  /// A bit for each focus unit and bin, for a file.
  std::string bytes() const { return {taken_.begin(), taken_.end()}; }
  /// Takes in what another search of the same units reached; returns whether there was anything new.
  bool unite(const std::string& bytes) {
    if (taken_.size() < bytes.size()) taken_.resize(bytes.size());
    const size_t before = count_;
    for (size_t i = 0; i < bytes.size(); ++i) {
      const uint8_t fresh = static_cast<uint8_t>(static_cast<uint8_t>(bytes[i]) & ~taken_[i]);
      count_ += static_cast<size_t>(__builtin_popcount(fresh));
      taken_[i] |= fresh;
    }
    return count_ > before;
  }

 private:
  static constexpr size_t bins_of_a_focus = (static_cast<size_t>(bins::count) + 7) / 8 * 8;
  std::vector<uint8_t> taken_;
  size_t count_ = 0;
};

}  // namespace mmafuzz
