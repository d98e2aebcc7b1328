// The product disagrees with itself: a fast path with the referee, a kernel with an invariant of its own arithmetic.
// Whatever it says is then not to be trusted; the command ends with exit code 3.
#pragma once

#include <stdexcept>

namespace mmafuzz {

class Contradiction : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace mmafuzz
