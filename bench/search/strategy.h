// What a mutant bench compares: ways to produce inputs, all told the same and measured the same.
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
  /// Writes about `wanted` cases; the batch's op may be any that the unit pair binds to. False: there are no more.
  std::function<bool(size_t wanted, Batch& batch)> next;

  /// The original has run the last batch, for searches with feedback. Where a mutant differs, its search ends.
  std::function<void(const Batch& batch)> observe = [](const Batch&) {};
};

struct Strategy {
  std::string name;
  /// Starts a search for inputs on which units bound to `op` differ from `original`. It looks at the original alone,
  /// and so serves all mutants of a row.
  std::function<InputStream(const Unit& original, const Op& op, uint64_t seed)> start;
  bool is_random = true;  ///< whether seeds make a difference; without, one run stands for all
};

/// The strategies of these names in this order, all if there are none. `published` is the folder of published vectors.
/// Throws BadInput for an unknown name.
std::vector<Strategy> make_strategies(const std::vector<std::string>& names, const std::string& published);

}  // namespace mmafuzz
