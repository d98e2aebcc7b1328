// Sets of indices, for searches that try small sets before larger ones.
#pragma once

#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

namespace mmafuzz {

/// Visits all sets of `size` indices below `count` in lexicographic order, until `visit` returns false.
inline void each_subset(size_t count, size_t size, const std::function<bool(const std::vector<size_t>&)>& visit) {
  if (size > count) return;
  std::vector<size_t> set(size);
  std::iota(set.begin(), set.end(), size_t{0});
  while (visit(set)) {
    size_t moved = size;  // the last index that is not at its greatest value moves on, and those behind it with it
    while (moved > 0 && set[moved - 1] == count - size + moved - 1) --moved;
    if (moved == 0) return;
    std::iota(set.begin() + static_cast<std::ptrdiff_t>(moved) - 1, set.end(), set[moved - 1] + 1);
  }
}

}  // namespace mmafuzz
