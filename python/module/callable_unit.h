// A Python callable as a unit, in batches.
#pragma once

#include <nanobind/nanobind.h>

#include "core/registry.h"

namespace mmafuzz::python {

/// A callable under the name "callable:NAME". It is called with the op's text, a list with the bytes of each input
/// field and the number of cases, and returns the bytes of the results; mmafuzz/_callables.py stands between it and the
/// user's function. What it raises ends the search and reaches the caller.
struct NamedCallable {
  std::string name;
  nanobind::object call;
  std::vector<std::string> equals;  ///< units that it is measured against: its claims
};

/// Every unit of mmafuzz, and these callables. They live as long as this, which is destroyed under the interpreter's
/// lock.
class AllUnits final : public Registry {
 public:
  explicit AllUnits(std::vector<NamedCallable> callables);
  AllUnits(const AllUnits&) = delete;
  AllUnits& operator=(const AllUnits&) = delete;
};

}  // namespace mmafuzz::python
