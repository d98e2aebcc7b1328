// What the properties share: exact comparison of numbers, the next number of a format, a choice that depends on the
// case alone.
#pragma once

#include "arithmetic/ieee_operations.h"
#include "core/property.h"

namespace mmafuzz {

/// -1, 0 or 1: the exact order of x and y, neither of which is NaN. Both zeros are equal, and so are two infinities of
/// one sign, whose other members are not read.
inline int compare(const Exact& x, const Exact& y) {
  const auto sign = [](const Exact& e) { return e.cls == NumberClass::zero ? 0 : e.negative ? -1 : 1; };
  if (sign(x) != sign(y)) return sign(x) < sign(y) ? -1 : 1;
  if (sign(x) == 0) return 0;
  const auto by_magnitude = [&]() -> int {
    const bool x_infinite = x.cls == NumberClass::infinity, y_infinite = y.cls == NumberClass::infinity;
    if (x_infinite || y_infinite) return int(x_infinite) - int(y_infinite);
    const int x_bits = bit_length128(x.significand), y_bits = bit_length128(y.significand);
    if (x.exponent + x_bits != y.exponent + y_bits) return x.exponent + x_bits < y.exponent + y_bits ? -1 : 1;
    const uint128 x_top = x.significand << (128 - x_bits), y_top = y.significand << (128 - y_bits);
    return x_top == y_top ? 0 : x_top < y_top ? -1 : 1;
  };
  return sign(x) * by_magnitude();
}

/// Whether two results are equal encodings, or zeros of either sign, or any two NaNs.
inline bool same_number(const Op& op, uint64_t x, uint64_t y) {
  if (x == y) return true;
  const NumberClass x_class = decode(op.d.fields(), x).cls, y_class = decode(op.d.fields(), y).cls;
  return x_class == y_class && (x_class == NumberClass::zero || x_class == NumberClass::nan);
}

/// Whether the number `after` is at least the number `before`; true where one of them is NaN.
inline bool does_not_fall(const Op& op, uint64_t before, uint64_t after) {
  const Number x = decode(op.d.fields(), before), y = decode(op.d.fields(), after);
  return x.cls == NumberClass::nan || y.cls == NumberClass::nan || compare(to_exact(x), to_exact(y)) <= 0;
}

/// Whether rounding to a format is monotonic: not where a negative overflow becomes the greatest number, or a negative
/// value its magnitude (docs/cfloat.md).
inline bool has_rising_results(const FormatFields& d) {
  return !d.has(policy::clamp_positive | policy::negative_absolute);
}

/// Whether negating an exact value negates its rounded result in a format.
inline bool has_mirrored_results(const FormatFields& d) {
  return d.has_sign() && !d.integer && !d.has(policy::clamp_positive);
}

/// The finite numbers of a format as integers in the same order, adjacent ones one apart; both zeros are 0.
inline __int128 rank(const FormatFields& f, uint64_t encoding) {
  if (f.integer) return f.has_sign() ? __int128{sign_extended(f, encoding)} : __int128{encoding};
  const uint64_t code = encoding >> f.ignored_low_bits;
  const int64_t magnitude = static_cast<int64_t>(code & f.magnitude_mask());
  return code & f.sign_bit() ? -magnitude : magnitude;
}

/// The encoding of that rank; false where the format has no such finite number.
inline bool encode_rank(const FormatFields& f, __int128 wanted, uint64_t& encoding) {
  const uint64_t magnitude = static_cast<uint64_t>(wanted < 0 ? -wanted : wanted);
  if (f.integer) {
    encoding = static_cast<uint64_t>(wanted) & f.container_mask();
    return rank(f, encoding) == wanted;
  }
  if (magnitude > f.greatest_magnitude() || (wanted < 0 && !f.has_sign())) return false;
  encoding = f.in_container(magnitude | (wanted < 0 ? f.sign_bit() : 0));
  return true;
}

/// A hash of the operands of a case and of nothing else, so that choices made by it can be repeated from the case
/// alone.
inline uint64_t digest(const Batch& cases, size_t index) {
  uint64_t h = 0;
  for (const Column& column : cases.inputs()) {
    const uint8_t* from = column.data() + index * column.stride();
    for (size_t at = 0; at < column.stride(); at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, from + at, std::min<size_t>(8, column.stride() - at));
      h = (h ^ word) * 0x9e3779b97f4a7c15u;
      h ^= h >> 29;
    }
  }
  return h;
}

}  // namespace mmafuzz
