#include "prove/formula.h"

#include "arithmetic/evaluate_dot.h"
#include "core/contradiction.h"
#include "prove/formulas/term_chains.h"
#include "prove/formulas/term_dots.h"
#include "prove/formulas/term_sums.h"

namespace mmafuzz::prove {
namespace {

/// The result of one instruction: the kernel's own text (arithmetic/kernels/), whose numbers are expressions.
/// kernels.def.h names the domain of plain numbers; each has a domain of expressions in its place here.
Expression instruction_formula(const DotModel& m, const Operands& x, const FormatFields& c_format,
                               std::vector<Stage>& stages) {
  using OneDot = TermDots;
  using OneEmulatedDot = TermEmulatedDots;
  using OneExactDot = TermExactDots;
  using OneNormalizedDot = TermNormalizedDots;
  using OneTwoStageDot = TermTwoStageDots;
  using OneChain = TermChains;
  switch (m.kernel) {
#define KERNEL(name, domain, ...) \
  case Kernel::name:              \
    return mmafuzz::name(domain(m, x, c_format, stages), x.c);
#include "arithmetic/kernels.def.h"
#undef KERNEL
  }
  throw Contradiction("a formula of an unknown kernel");
}

}  // namespace

Formula dot_formula(const DotModel& model, const Operands& operands) {
  Expressions& table = operands.c.table();
  const int k = static_cast<int>(operands.a.size());
  const auto element = [&](const std::vector<Expression>& x, int i, const FormatFields& f, uint64_t padding) {
    return i < static_cast<int>(x.size()) ? x[size_t(i)] : table.constant(f.width, Bits(padding));
  };
  const auto one = [](const FormatFields& f) { return uint64_t(f.bias) << (f.fraction_bits + f.ignored_low_bits); };

  Formula all;
  all.result = operands.c;
  FormatFields c_format = model.c;
  for (int first = 0; first < k || first == 0; first += model.k) {
    Operands instruction;
    for (int place = 0; place < model.k; ++place) {
      const int i = first + product_at(model, place);
      instruction.a.push_back(element(operands.a, i, model.a, 0));
      instruction.b.push_back(element(operands.b, i, model.b, 0));
    }
    instruction.c = all.result;
    if (model.scale_block > 0)
      for (int i = first / model.scale_block; i * model.scale_block < first + model.k; ++i) {
        instruction.scale_a.push_back(element(operands.scale_a, i, model.scale_a, one(model.scale_a)));
        instruction.scale_b.push_back(element(operands.scale_b, i, model.scale_b, one(model.scale_b)));
      }
    const size_t before = all.stages.size();
    all.result = instruction_formula(model, instruction, c_format, all.stages);
    for (size_t i = before; i < all.stages.size() && k > model.k; ++i)
      all.stages[i].name = "instruction " + std::to_string(first / model.k) + ", " + all.stages[i].name;
    c_format = model.d;
  }
  return all;
}

Operands dot_variables(Expressions& table, const Op& op, const std::string& suffix) {
  Operands x;
  const auto fill = [&](std::vector<Expression>& field, const char* name, const Format& f, int count) {
    for (int i = 0; i < count; ++i)
      field.push_back(table.variable(name + std::to_string(i) + suffix, f.fields().width));
  };
  fill(x.a, "a", op.a, op.k);
  fill(x.b, "b", op.b, op.k);
  x.c = table.variable("c" + suffix, op.c.fields().width);
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
