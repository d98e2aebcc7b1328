#include "oracles/gemm/width.h"

#include <algorithm>

#include "arithmetic/kernel_table.h"

namespace mmafuzz::gemm {

int exact_integer_bits(const Op& dot, const Unit& unit) {
  const FormatFields& d = dot.d.fields();
  if (d.integer) return d.width - 1;
  const DotModel* model = unit.model();
  if (!model) return d.precision();
  const int output = model->output_fraction_bits > 0
                         ? std::min(model->output_fraction_bits, static_cast<int>(d.fraction_bits)) + 1
                         : d.precision();
  const KernelTraits kernel = traits_of(*model);
  if ((kernel.floors() && model->cut == Cut::opposed_complement) || model->form != Form::s_plus_c) return 0;
  return kernel.aligns() ? std::min(model->fraction_bits + 1, output) : output;
}

}  // namespace mmafuzz::gemm
