// The mutant catalogue: wrong-by-one units, each named by its row and what is overridden.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plan/registry.h"
#include "plan/request.h"

namespace mmafuzz {

/// A unit with a deliberate mistake. `hard`: as the list marks it, 10^7 random cases of each kind and the published
/// vectors do not show it; as --hard-after measures it, so many cases of the structured generator do not.
struct Mutant {
  std::string name;      ///< "model:hopper/...?fraction_bits=24"
  std::string original;  ///< the same without overrides
  Op op;                 ///< the row's own
  bool hard = false;
  /// Binds it; without, its name does.
  std::function<std::unique_ptr<Unit>(const Op&)> make;
};

/// Reads a catalogue: one name a line, `hard` after it where that was measured; blank lines and lines that start with #
/// are skipped. Throws BadInput that names file and line.
std::vector<Mutant> read_mutants(const std::string& file);

}  // namespace mmafuzz
