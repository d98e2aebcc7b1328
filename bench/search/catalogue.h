// The mutant catalogue: wrong-by-one units, each named by its row and what is overridden; and flaws that are drawn.
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

/// Flaws like those of hardware, over all families of units: a unit that equals its original but for the last bit of
/// results whose cases meet a condition, such as four alignments at once or one pair of fractions in one lane. What the
/// condition asks for exactly (lanes, shifts, codes) is drawn from a seed, so that no search can be fitted to the set:
/// another seed makes another one. One flaw of each kind on each unit of a fixed list that the kind makes sense for;
/// names are "flaw:<kind>@<original>#<seed>".
std::vector<Mutant> draw_flaws(uint64_t seed);

/// Flaws of matrix products from slices, one of each kind: a scheme that is right except where a conjunction of facts
/// about a row, a column or an element holds; exponents, slices, places and signs are drawn from the seed. Units of
/// schemes have no rows of parameters that a flaw could be planted in.
std::vector<Mutant> draw_product_flaws(uint64_t seed);

}  // namespace mmafuzz
