// The scalar kernels without a trace, compiled once.
#include "arithmetic/evaluate_dot.h"

namespace mmafuzz {

template uint64_t evaluate_dot(const DotModel& m, const DotOperands& in, NoTrace& trace);

}  // namespace mmafuzz
