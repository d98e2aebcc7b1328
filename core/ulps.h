// How far two results are apart.
#pragma once

#include "arithmetic/decode.h"

namespace mmafuzz {

/// The distance of two encodings in ulp (units in the last place): the number of steps from one number of the format to
/// the next. 0 between +0 and -0; UINT64_MAX where one of them is an infinity or NaN.
inline uint64_t ulp_gap(const FormatFields& f, uint64_t x, uint64_t y) {
  if (is_special(f, x) || is_special(f, y)) return UINT64_MAX;
  if (f.integer) {
    const bool x_is_less = f.has_sign() ? sign_extended(f, x) < sign_extended(f, y) : x < y;
    return (x_is_less ? y - x : x - y) & f.container_mask();
  }
  const auto ordered = [&](uint64_t v) {
    const int64_t magnitude =
        static_cast<int64_t>((v >> f.ignored_low_bits) & ~f.sign_bit() & low_mask(f.width - f.ignored_low_bits));
    return ((v >> f.ignored_low_bits) & f.sign_bit()) ? -magnitude : magnitude;
  };
  return magnitude_of(ordered(x) - ordered(y));
}

/// Classes of the distances of results that differ, for bins and histograms: a distance of 0 is then one of two zeros.
inline constexpr int ulp_class_count = 8;
inline constexpr const char* ulp_class_names[ulp_class_count] = {"zero_sign", "1",       "2",     "3-4",
                                                                 "5-16",      "17-4096", ">4096", "special"};
inline int ulp_class(uint64_t gap) {
  if (gap <= 2) return static_cast<int>(gap);
  return gap <= 4 ? 3 : gap <= 16 ? 4 : gap <= 4096 ? 5 : gap != UINT64_MAX ? 6 : 7;
}

}  // namespace mmafuzz
