// Which bins a search has reached, on each of its focus units. Workers of one op exchange these sets, so that a
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

  /// Adds a bin of focus unit number `focus`; returns whether it is new.
  bool add(size_t focus, int bin) {
    const size_t place = focus * bins_of_a_focus + static_cast<size_t>(bin);
    if (taken_[place / 8] >> (place % 8) & 1) return false;
    taken_[place / 8] |= static_cast<uint8_t>(1u << (place % 8));
    ++count_;
    return true;
  }
  size_t count() const { return count_; }

  /// One bit for each focus unit and bin, the lowest bit of a byte first, for a file.
  std::string bytes() const { return {taken_.begin(), taken_.end()}; }
  /// Adds what another search of the same units reached; returns whether anything of it was new.
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
  static constexpr size_t bins_of_a_focus = (static_cast<size_t>(bins::count) + 7) / 8 * 8;  ///< whole bytes
  std::vector<uint8_t> taken_;
  size_t count_ = 0;
};

}  // namespace mmafuzz
