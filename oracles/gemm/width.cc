#include "oracles/gemm/width.h"

#include <algorithm>

namespace mmafuzz::gemm {

int exact_integer_bits(const Op& dot, const Unit& unit) {
  const FormatFields& d = dot.d.fields();
  if (d.integer) return d.width - 1;
  const DotModel* model = unit.model();
  if (!model) return d.precision();
  const int output = model->output_fraction_bits > 0
                         ? std::min(model->output_fraction_bits, static_cast<int>(d.fraction_bits)) + 1
                         : d.precision();
  switch (model->kernel) {
    case Kernel::fused_sum:
    case Kernel::grouped_sum:
    case Kernel::emulated_fp8:
    case Kernel::two_stage_sum: return std::min(model->fraction_bits + 1, output);
    default: return output;
  }
}

int digit_bits(const FormatFields& slice) {
  return slice.integer ? slice.width - (slice.has_sign() ? 1 : 0) : slice.precision();
}

bool sums_exactly(int64_t n, SliceWidths w, int bits) {
  const __int128 sum = static_cast<__int128>(n) * ((int64_t{1} << w.a) - 1) * ((int64_t{1} << w.b) - 1);
  return sum <= static_cast<__int128>(1) << bits;
}

SliceWidths slice_widths(int64_t n, int bits, int most) {
  SliceWidths widths{1, 1};
  for (int total = 2; total <= 2 * most; ++total) {
    const SliceWidths wider{(total + 1) / 2, total / 2};
    if (!sums_exactly(n, wider, bits)) break;
    widths = wider;
  }
  return widths;
}

}  // namespace mmafuzz::gemm
