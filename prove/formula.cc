#include "prove/formula.h"

#include <algorithm>

#include "core/contradiction.h"
#include "oracles/models/parameters.h"
#include "prove/formulas/kernels.h"

namespace mmafuzz::prove {

Result<bool> covered(const DotModel& model) {
  if (model.order != ProductOrder::ascending && model.scale_block > 0)
    return declined("formulas take products with scales in ascending order (order)");
  for (const FormatFields* f : {&model.a, &model.b, &model.c, &model.scale_a, &model.scale_b})
    if (f->subnormals == SubnormalRule::literal || f->subnormals == SubnormalRule::flushed ||
        f->has(policy::zero_positive))
      return declined("formulas take operands with the zeros and subnormal numbers of IEEE 754");
  const bool bounds_c = find_parameter("c_exponent")->used_by(model.kernel) && model.c_exponent != CExponent::c_format;
  const int least = model.c_exponent == CExponent::fp32 ? fp32_fields.emin() : model.d.emin();
  if (bounds_c && least > std::min(model.c.emin(), model.d.emin()))
    return declined("formulas take a c without exponents below those of the format that bounds it (c_exponent)");
  if (model.d.ignored_low_bits > 0) return declined("formulas give no results with low bits that are ignored (tf32)");
  switch (model.kernel) {
    case Kernel::fused_sum: return fused_sum_covers(model);
    case Kernel::emulated_fp8: return emulated_fp8_covers(model);
    case Kernel::grouped_sum: return grouped_sum_covers(model);
    case Kernel::exact_sum: return exact_sum_covers(model);
    case Kernel::two_stage_sum: return two_stage_covers(model);
    case Kernel::ieee_tree:
    case Kernel::fma_chain:
    case Kernel::fma_then_add: break;
  }
  return ieee_kernel_covers(model);
}

namespace {

Formula instruction_formula(const DotModel& model, const Operands& operands, const FormatFields& c_format) {
  switch (model.kernel) {
    case Kernel::fused_sum: return fused_sum(model, operands, c_format);
    case Kernel::grouped_sum: return grouped_sum(model, operands, c_format);
    case Kernel::emulated_fp8: return emulated_fp8(model, operands, c_format);
    case Kernel::exact_sum: return exact_sum(model, operands, c_format);
    case Kernel::two_stage_sum: return two_stage_sum(model, operands, c_format);
    case Kernel::ieee_tree: return ieee_tree(model, operands, c_format);
    case Kernel::fma_chain: return fma_chain(model, operands, c_format);
    case Kernel::fma_then_add: return fma_then_add(model, operands, c_format);
  }
  throw Contradiction("a formula of a kernel that is not covered");
}

/// The product that takes a place of an instruction (ProductOrder).
int taken_at(const DotModel& m, int place) {
  switch (m.order) {
    case ProductOrder::ascending: break;
    case ProductOrder::descending: return m.k - 1 - place;
    case ProductOrder::swapped_pairs: return (place ^ 1) < m.k ? place ^ 1 : place;
    case ProductOrder::interleaved: return place % m.block * (m.k / m.block) + place / m.block;
  }
  return place;
}

}  // namespace

void append(Formula& all, const std::string& prefix, Formula part) {
  for (Stage& stage : part.stages) {
    stage.name = prefix + stage.name;
    all.stages.push_back(std::move(stage));
  }
  all.result = part.result;
}

Formula dot_formula(const DotModel& model, const Operands& operands) {
  Expressions& in = operands.c.of();
  const int k = static_cast<int>(operands.a.size());
  const auto at = [&](const std::vector<Expression>& x, int i, const FormatFields& f, uint64_t padding) {
    return i < static_cast<int>(x.size()) ? x[size_t(i)] : in.constant(f.width, Bits(padding));
  };
  const auto one = [](const FormatFields& f) { return uint64_t(f.bias) << (f.fraction_bits + f.ignored_low_bits); };

  Formula all;
  all.result = operands.c;
  FormatFields c_format = model.c;
  for (int first = 0; first < k || first == 0; first += model.k) {
    Operands step;
    for (int place = 0; place < model.k; ++place) {
      const int i = first + taken_at(model, place);
      step.a.push_back(at(operands.a, i, model.a, 0));
      step.b.push_back(at(operands.b, i, model.b, 0));
    }
    step.c = all.result;
    if (model.scale_block > 0)
      for (int i = first / model.scale_block; i * model.scale_block < first + model.k; ++i) {
        step.scale_a.push_back(at(operands.scale_a, i, model.scale_a, one(model.scale_a)));
        step.scale_b.push_back(at(operands.scale_b, i, model.scale_b, one(model.scale_b)));
      }
    const std::string name = k > model.k ? "instruction " + std::to_string(first / model.k) + ", " : "";
    append(all, name, instruction_formula(model, step, c_format));
    c_format = model.d;
  }
  return all;
}

Operands dot_variables(Expressions& in, const Op& op, const std::string& suffix) {
  Operands x;
  const auto fill = [&](std::vector<Expression>& field, const char* name, const Format& f, int count) {
    for (int i = 0; i < count; ++i) field.push_back(in.variable(name + std::to_string(i) + suffix, f.fields().width));
  };
  fill(x.a, "a", op.a, op.k);
  fill(x.b, "b", op.b, op.k);
  x.c = in.variable("c" + suffix, op.c.fields().width);
  fill(x.scale_a, "sa", op.scale_a, op.scales());
  fill(x.scale_b, "sb", op.scale_b, op.scales());
  return x;
}

std::vector<Expression> in_case_order(const Operands& operands) {
  std::vector<Expression> all = operands.a;
  all.insert(all.end(), operands.b.begin(), operands.b.end());
  all.push_back(operands.c);
  all.insert(all.end(), operands.scale_a.begin(), operands.scale_a.end());
  all.insert(all.end(), operands.scale_b.begin(), operands.scale_b.end());
  return all;
}

}  // namespace mmafuzz::prove
