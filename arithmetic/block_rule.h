// The rules of block quantizers by name (docs/quantizers.md). amax is the greatest magnitude of a block, `greatest` the
// greatest number of the element's format, emax the exponent of `greatest`.
#pragma once

#include "arithmetic/round.h"

namespace mmafuzz {

/// How the scale follows from amax. All but the last two define a power of two.
enum class ScaleRule : uint8_t {
  floor,         ///< 2^(floor(log2 amax) - emax) (OCP MX 1.0, 6.3)
  ceil,          ///< 2^(ceil(log2 amax) - emax)
  even,          ///< as floor, of amax rounded to the element's fraction bits, ties up
  threshold,     ///< as floor, twice that if amax is at least 1.75 * 2^floor(log2 amax)
  nearest_log2,  ///< 2^round(log2(amax / greatest))
  rceil,         ///< amax / greatest rounded up
  nearest,       ///< amax / greatest rounded to nearest, ties to even
};
inline constexpr int scale_rule_count = 7;

/// What an infinity or NaN among the numbers of a block does.
enum class BlockSpecials : uint8_t {
  nan_scale,  ///< the scale is NaN, every code zero
  elements,   ///< only its own code is special; the scale is that of the finite numbers
};

struct BlockRule {
  ScaleRule rule = ScaleRule::floor;
  BlockSpecials specials = BlockSpecials::nan_scale;
  FormatFields via;            ///< the format to which amax is rounded first; width 0: none
  RoundingRule elements = {};  ///< how elements are rounded
};

}  // namespace mmafuzz
