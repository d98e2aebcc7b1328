// A number as the host's double: exact for every format of at most 53 bits of precision, and without a NaN's payload.
#pragma once

#include <cmath>

#include "arithmetic/decode.h"

namespace mmafuzz {

inline double to_double(const Number& n) {
  if (n.cls == NumberClass::nan) return std::nan("");
  const double magnitude =
      n.cls == NumberClass::infinity ? HUGE_VAL : std::ldexp(static_cast<double>(n.significand), n.exponent);
  return n.negative ? -magnitude : magnitude;
}

inline double to_double(const FormatFields& f, uint64_t encoding) { return to_double(decode(f, encoding)); }

}  // namespace mmafuzz
