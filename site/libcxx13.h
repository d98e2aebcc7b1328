// What C++20 has and libc++ 13 (emscripten 3.1.6) lacks, before every file of the module.
#pragma once

#include <charconv>
#include <compare>
#include <cstdlib>
#include <string>
#include <vector>

namespace std {

template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

inline strong_ordering operator<=>(const string& x, const string& y) { return x.compare(y) <=> 0; }

template <class T>
auto operator<=>(const vector<T>& x, const vector<T>& y) {
  for (size_t i = 0; i < x.size() && i < y.size(); ++i)
    if (const auto order = x[i] <=> y[i]; order != 0) return order;
  return x.size() <=> y.size();
}

/// Reads what strtod reads of the characters, which a 0 must follow.
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  char* end = nullptr;
  const double read = strtod(first, &end);
  if (end == first || end > last) return {first, errc::invalid_argument};
  value = read;
  return {end, errc{}};
}

}  // namespace std
