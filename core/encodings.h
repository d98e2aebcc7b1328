// Encodings placed where arithmetic has corners: near a chosen exponent, with fractions that carries and roundings care
// about, or special. Shared by the generator and the mutator.
#pragma once

#include "arithmetic/counter_rng.h"
#include "arithmetic/decode.h"

namespace mmafuzz {

/// A fraction field with a pattern that roundings and carries care about.
uint64_t draw_fraction(const FormatFields& f, CounterRng& rng);

/// An encoding whose leading bit weighs about 2^exponent: subnormal below the range, greatest above it.
uint64_t encode_near(const FormatFields& f, bool negative, int exponent, uint64_t fraction);

/// Zero, infinity, NaN, greatest, least normal, least or greatest subnormal, of either sign.
uint64_t draw_special(const FormatFields& f, CounterRng& rng);

/// Weight of a number's leading bit; of zero and specials: the format's least exponent.
int leading_exponent(const FormatFields& f, uint64_t encoding);

/// The encoding with its leading bit moved to about 2^exponent; sign and fraction bits stay.
uint64_t with_exponent(const FormatFields& f, uint64_t encoding, int exponent);

/// The sign bit as it travels in the container; 0 for formats without signs.
inline uint64_t travelling_sign(const FormatFields& f) { return f.in_container(f.sign_bit()); }

}  // namespace mmafuzz
