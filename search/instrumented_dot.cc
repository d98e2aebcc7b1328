// A copy of the kernels that reports its basic blocks: this file alone is compiled with -fsanitize-coverage=trace-pc,
// under another namespace, so that no other code shares its inline functions.
#define mmafuzz mmafuzz_instrumented
#include "arithmetic/evaluate_dot.h"
#undef mmafuzz

/// Both structs are those of mmafuzz, member for member: the same headers, another namespace.
extern "C" uint64_t mmafuzz_instrumented_dot(const void* model, const void* operands) {
  return mmafuzz_instrumented::evaluate_dot(*static_cast<const mmafuzz_instrumented::DotModel*>(model),
                                            *static_cast<const mmafuzz_instrumented::DotOperands*>(operands));
}
