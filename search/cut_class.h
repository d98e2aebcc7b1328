// What of a significand of up to 128 bits falls off, in the classes of bins::lost_class.
#pragma once

#include "arithmetic/host_device.h"

namespace mmafuzz {

/// Nothing, only the lowest bit, less than half of a unit, half, more, all ones: of the `dropped` lowest bits.
inline int cut_class(uint128 significand, int dropped) {
  if (dropped <= 0) return 0;
  if (dropped > 120) return significand == 1 ? 1 : 2;
  const uint128 all = (uint128{1} << dropped) - 1, rest = significand & all, half = uint128{1} << (dropped - 1);
  if (rest == 0) return 0;
  if (rest == half) return 3;
  if (rest == all) return 5;
  return rest == 1 ? 1 : rest < half ? 2 : 4;
}

}  // namespace mmafuzz
