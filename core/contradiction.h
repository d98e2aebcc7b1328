// mmafuzz contradicts itself: the fast path of `exact` differs from the referee (`exact:mpfr`), a kernel (the code that
// sums a dot) breaks an invariant of its arithmetic, or a formula of prove/ differs from the unit that it describes. No
// result of the run can be trusted then; the command ends with exit code 3.
#pragma once

#include <stdexcept>

namespace mmafuzz {

class Contradiction : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace mmafuzz
