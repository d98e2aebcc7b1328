// The mutant catalogue: units with one deliberate mistake, which a row's override, a plugin or a random draw makes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plan/registry.h"
#include "plan/request.h"

namespace mmafuzz {

/// A unit with a deliberate mistake (a flaw). It is hard, in a list, where neither 10^7 random cases of each kind nor
/// the published vectors show the flaw; with --hard-after N, where N cases of the structured generator do not.
struct Mutant {
  std::string name;      ///< "model:hopper/...?fraction_bits=24"
  std::string original;  ///< the unit without the flaw
  Op op;                 ///< the op on which both run
  /// Makes the mutant for an op; empty: it is bound by its name.
  std::function<std::unique_ptr<Unit>(const Op&)> make = {};
  bool is_hard = false;
};

/// Reads a catalogue: one name per line, followed by `hard` where that was measured; blank lines and lines that start
/// with # are skipped. Throws BadInput with file and line.
std::vector<Mutant> read_mutants(const std::string& file);

/// Flaws like those of hardware, over all families of units. Such a unit inverts the last bit of its original's result
/// where a case satisfies a condition, such as four alignments at once or one pair of fractions in one lane. The
/// details of the condition (lanes, shifts, codes) are drawn from the seed, so that no search can be fitted to the set.
/// There is one flaw of each kind on each unit of a fixed list to which the kind applies; names are
/// "flaw:<kind>@<original>#<seed>".
std::vector<Mutant> draw_flaws(uint64_t seed);

/// Flaws of matrix products from slices, one of each kind: a scheme that is right except where a conjunction of
/// conditions on a row, a column or an element holds. Exponents, slices, positions and signs are drawn from the seed.
/// (Units of schemes have no row of parameters, so that no override makes a flaw.)
std::vector<Mutant> draw_product_flaws(uint64_t seed);

}  // namespace mmafuzz
