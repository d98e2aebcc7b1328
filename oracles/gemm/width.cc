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

}  // namespace mmafuzz::gemm
