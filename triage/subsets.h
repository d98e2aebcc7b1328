// Sets of indices, for searches that try small sets before larger ones.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace mmafuzz {

/// Visits all sets of `size` indices below `count` in lexicographic order, until `visit` returns false; returns whether
/// it did not.
inline bool each_subset(size_t count, size_t size, const std::function<bool(const std::vector<size_t>&)>& visit) {
  std::vector<size_t> set(size);
  for (size_t i = 0; i < size; ++i) set[i] = i;
  if (size > count) return true;
  while (true) {
    if (!visit(set)) return false;
    size_t at = size;
    while (at > 0 && set[at - 1] == count - size + at - 1) --at;
    if (at == 0) return true;
    ++set[at - 1];
    for (size_t i = at; i < size; ++i) set[i] = set[i - 1] + 1;
  }
}

}  // namespace mmafuzz
