// Python callables as units.
#pragma once

#include <nanobind/nanobind.h>

#include "core/registry.h"

namespace mmafuzz::python {

/// A callable for the unit "callable:NAME". It is called with an op line, a list with the bytes of each input field and
/// the number of cases, and returns the bytes of the results. mmafuzz/_callables.py makes it of the user's function. An
/// exception that it raises ends the search and reaches the caller.
struct NamedCallable {
  std::string name;
  nanobind::object call;
  std::vector<std::string> equals;  ///< names of the units that it claims to equal
};

/// A registry of every unit of mmafuzz and of these callables, which it owns. It must be destroyed under the
/// interpreter's lock (GIL).
class AllUnits final : public Registry {
 public:
  explicit AllUnits(std::vector<NamedCallable> callables);
  AllUnits(const AllUnits&) = delete;
  AllUnits& operator=(const AllUnits&) = delete;
};

}  // namespace mmafuzz::python
