// How many random cases a test takes: a short default, more under the label `nightly`.
#pragma once

#include <cstdlib>

namespace mmafuzz {

inline bool nightly() { return std::getenv("MMAFUZZ_NIGHTLY") != nullptr; }

inline size_t case_count(size_t by_default, size_t by_night) { return nightly() ? by_night : by_default; }

}  // namespace mmafuzz
