// A row's kernel over another domain than evaluate_dot() takes: one that changes something on the way.
#pragma once

#include "arithmetic/evaluate_dot.h"

namespace mmafuzz {

/// evaluate_dot() with a domain of the caller's. `evaluate` is called for each instruction as
/// evaluate.operator()<Domain>(kernel, operands, index of the first product, format of c, c), where Domain is the
/// kernel's own one and kernel(domain) is the result by a domain. It returns that, or c where it has none.
template <class Evaluate>
uint64_t evaluate_by_domain(const DotModel& m, const DotOperands& in, const Evaluate& evaluate) {
  return run_instructions(m, in, in.c, [&](const DotOperands& part, int first, const FormatFields& f, uint64_t c) {
    switch (m.kernel) {
#define KERNEL(name, Domain, ...) \
  case Kernel::name:              \
    return evaluate.template operator()<Domain<NoTrace>>([&](const auto& d) { return name(d, c); }, part, first, f, c);
#include "arithmetic/kernels.def.h"
#undef KERNEL
    }
    return c;
  });
}

}  // namespace mmafuzz
