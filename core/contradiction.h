// mmafuzz contradicts itself: a fast path differs from the referee, or a kernel breaks an invariant of its arithmetic.
// No result of the run can be trusted then; the command ends with exit code 3.
#pragma once

#include <stdexcept>

namespace mmafuzz {

class Contradiction : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace mmafuzz
