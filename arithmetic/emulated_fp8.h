// The domain of kernels/emulated_fp8-inl.h for one dot at a time: FP8 operands as fp16, divided between two fused sums,
// the halves 0 and 1 (product_of_half).
#pragma once

#include "arithmetic/chains.h"
#include "arithmetic/fused_sum.h"

namespace mmafuzz {

/// The row of each of the two fused sums.
MMAFUZZ_HD inline DotModel half_of_emulated(const DotModel& m) {
  DotModel half = m;
  half.kernel = Kernel::fused_sum;
  half.a = half.b = ieee_fields(5, 10);
  half.c = m.d;
  half.k = m.k / 2;
  return half;
}

template <class Trace>
class OneEmulatedDot {
 public:
  using Code = uint64_t;

  MMAFUZZ_HD OneEmulatedDot(const DotModel& m, const DotOperands& in, int first_index, const FormatFields& c_format,
                            Trace& trace, Step& step)
      : m_(m), half_(half_of_emulated(m)), first_index_(first_index), c_format_(c_format), trace_(trace), step_(step) {
    for (int half = 0; half < 2; ++half) {
      for (int i = 0; i < half_.k; ++i) {
        const int product = product_of_half(half, i);
        // Exact: fp16 holds every fp8 value.
        a_[half][i] = convert_number(half_.a, decode(m.a, in.a[product]), {}).encoding;
        b_[half][i] = convert_number(half_.b, decode(m.b, in.b[product]), {}).encoding;
      }
      part_[half].a = a_[half];
      part_[half].b = b_[half];
      part_[half].k = half_.k;
    }
  }

  /// A half, whose blocks are counted on from those of the half before.
  class Half : public OneDot<Trace> {
   public:
    MMAFUZZ_HD Half(const OneDot<Trace>& half, int first_block) : OneDot<Trace>(half), first_block_(first_block) {}
    MMAFUZZ_HD void begin_block(int block) const { OneDot<Trace>::begin_block(first_block_ + block); }

   private:
    int first_block_;
  };
  MMAFUZZ_HD Half half(int which) const {
    return {{half_, part_[which], first_index_ + which * half_.k, m_.d, trace_, step_}, which * blocks_of_half()};
  }

  MMAFUZZ_HD uint64_t joined(uint64_t c, uint64_t sum) const {
    DotModel row = m_;
    row.output_rounding = Rounding::nearest_even;
    if constexpr (Trace::enabled) step_.block = 2 * blocks_of_half();
    // The addition reads no operands of part_[0].
    const OneChain<Trace> ieee(row, part_[0], 0, c_format_, trace_, step_);
    return ieee.stored(ieee.add(ieee.addend(c), ieee.real(sum)));
  }

 private:
  MMAFUZZ_HD int blocks_of_half() const { return (half_.k + half_.block - 1) / half_.block; }

  const DotModel& m_;
  DotModel half_;
  int first_index_;
  FormatFields c_format_;
  uint64_t a_[2][max_instruction_k / 2], b_[2][max_instruction_k / 2];
  DotOperands part_[2];
  Trace& trace_;
  Step& step_;
};

#define MMAFUZZ_KERNEL MMAFUZZ_HD_CALL
#include "arithmetic/kernels/emulated_fp8-inl.h"
#undef MMAFUZZ_KERNEL

}  // namespace mmafuzz
