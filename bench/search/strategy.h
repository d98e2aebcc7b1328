// The strategies that a mutant bench compares: ways to produce inputs, with the same information and measured alike.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plan/registry.h"
#include "plan/request.h"

namespace mmafuzz {

/// One search, started afresh from a seed.
struct InputStream {
  /// Writes about `wanted` cases to the batch, of any op to which both units can be bound. False: there are no more.
  std::function<bool(size_t wanted, Batch& batch)> next;

  /// Called after the original has run the batch, for searches with feedback.
  std::function<void(const Batch& batch)> observe = [](const Batch&) {};
};

struct Strategy {
  std::string name;
  /// Starts a search for inputs on which units bound to `op` differ from `original`. It depends on the original alone,
  /// so that all mutants of an original can share it.
  std::function<InputStream(const Unit& original, const Op& op, uint64_t seed)> start;
  bool is_random = true;  ///< whether the seed matters; if not, only seed 1 runs
};

/// The strategies of these names in this order, all if there are none. `published` is the folder of published vectors.
/// Throws BadInput for an unknown name.
std::vector<Strategy> make_strategies(const std::vector<std::string>& names, const std::string& published);

}  // namespace mmafuzz
