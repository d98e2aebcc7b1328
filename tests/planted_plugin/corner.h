// The corner in which the planted plugin is wrong: the sum of a block cancels down to its last kept bit and is
// negative, c stands at the greatest exponent, and some addend lost exactly half a unit. A designer who rounds ties of
// the alignment away from zero "when nothing else is left" would build this. Random operands do not get there
// (planted_plugin_test).
#pragma once

#include "arithmetic/evaluate_dot.h"

namespace mmafuzz {

struct PlantedCorner {
  static constexpr bool enabled = true;
  bool reached = false;

  void operator()(const Step& step) {
    if (step.kind != Step::Kind::fused_sum || step.sum != -1) return;
    bool c_is_greatest = false, half_lost = false;
    for (int i = 0; i < step.count; ++i) {
      const Addend& t = step.addend[i];
      if (t.significand == 0) continue;
      if (t.source == Addend::Source::c && t.shift == 0) c_is_greatest = true;
      const int dropped = step.unit_exponent - t.exponent;
      if (t.lost && dropped < 64 && (t.significand & low_mask(dropped)) == uint64_t{1} << (dropped - 1))
        half_lost = true;
    }
    reached = reached || (c_is_greatest && half_lost);
  }
};

}  // namespace mmafuzz
