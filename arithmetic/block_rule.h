// The rules of block quantizers by name (docs/quantizers.md).
#pragma once

#include "arithmetic/round.h"

namespace mmafuzz {

/// How the scale follows from the greatest magnitude of a block. All but the last three are of powers of two.
enum class ScaleRule : uint8_t {
  floor,         ///< 2^(floor(log2 amax) - emax) (OCP MX 1.0, 6.3)
  ceil,          ///< 2^(ceil(log2 amax) - emax)
  even,          ///< floor, of amax rounded to the element's fraction, halves up
  threshold,     ///< floor, one more from 1.75 * 2^floor(log2 amax) on
  nearest_log2,  ///< 2^round(log2(amax / greatest))
  rceil,         ///< amax / greatest rounded up
  nearest,       ///< amax / greatest rounded to nearest, ties to even
};
inline constexpr int scale_rule_count = 7;

/// What an infinity or NaN among the numbers does.
enum class BlockSpecials : uint8_t {
  nan_scale,  ///< the scale is NaN, every code zero
  elements,   ///< it converts alone; the scale is that of the finite numbers
};

struct BlockRule {
  ScaleRule rule = ScaleRule::floor;
  BlockSpecials specials = BlockSpecials::nan_scale;
  FormatFields via;            ///< amax is rounded to this format first; of width 0: it is not
  RoundingRule elements = {};  ///< of the elements
};

}  // namespace mmafuzz
