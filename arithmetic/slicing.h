// How a scheme cuts matrices into slices of integer digits (docs/ozaki.md), for the bins and mutations of matrix
// products.
#pragma once

#include "arithmetic/format_fields.h"

namespace mmafuzz {

/// Bits of a digit of a and of b.
struct SliceWidths {
  int a = 0, b = 0;
  bool operator==(const SliceWidths&) const = default;
};

/// Bits of the digits that a slice format holds: its significand; of integers all but the sign.
inline int digit_bits(const FormatFields& slice) {
  if (slice.integer) return slice.width - (slice.has_sign() ? 1 : 0);
  return slice.precision() < slice.emax() + 1 ? slice.precision() : slice.emax() + 1;  // e2m3 ends below 8
}

/// n * (2^wa - 1) * (2^wb - 1) <= 2^bits, the condition on n products of slices.
MMAFUZZ_HD inline bool sums_exactly(int64_t n, SliceWidths w, int bits) {
  const __int128 sum = static_cast<__int128>(n) * ((int64_t{1} << w.a) - 1) * ((int64_t{1} << w.b) - 1);
  return sum <= static_cast<__int128>(1) << bits;
}

/// The widest slices for which sums_exactly(n, widths, bits) holds, at most `most` bits each; a's may be one bit wider
/// than b's. Both are at least 1, even where 1 does not hold.
MMAFUZZ_HD inline SliceWidths slice_widths(int64_t n, int bits, int most) {
  SliceWidths widths{1, 1};
  for (int total = 2; total <= 2 * most; ++total) {
    const SliceWidths wider{(total + 1) / 2, total / 2};
    if (!sums_exactly(n, wider, bits)) break;
    widths = wider;
  }
  return widths;
}

struct Slicing {
  SliceWidths widths;
  int slices = 0;  ///< for each of a and b; 0: as many as the numbers have
  int bits = 24;   ///< of the accumulator: sums of at most 2^bits are exact
  int block = 16;  ///< products along k that are summed together
  bool operator==(const Slicing&) const = default;
};

/// The slicing that is assumed for a unit without one: digits of fp16 (11 bits) and an fp32 accumulator (24 bits).
MMAFUZZ_HD inline Slicing reference_slicing(int k) { return {.widths = slice_widths(k, Slicing().bits, 11)}; }

/// The number of slices; where the slicing sets no limit, as many slices of `width` bits as hold the significand of one
/// number of `precision` bits.
MMAFUZZ_HD inline int usual_slices(const Slicing& s, int width, int precision) {
  return s.slices > 0 ? s.slices : (precision + width - 1) / width;
}

}  // namespace mmafuzz
