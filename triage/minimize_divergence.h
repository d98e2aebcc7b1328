// One divergence in its normal form.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/registry.h"
#include "triage/bucket.h"
#include "triage/judge.h"

namespace mmafuzz {

struct MinimizedDivergence {
  Bucket bucket;  ///< key, severity, cause, detail and witness (a whole file of case text)
  Batch witness;  ///< one case
  Verdict verdict;
};

/// A property and the units that it is about.
inline std::vector<std::string> statement_of(const std::string& property, std::vector<std::string> units) {
  units.insert(units.begin(), property);
  return units;
}

/// Case 0 of `one` in its normal form. `statement` is what statement_of() gives. Nothing where the case
/// does not fail. `twin` receives the line of the case's twin under a property that has one. Throws std::runtime_error
/// where the statement cannot be judged.
std::optional<MinimizedDivergence> minimized(const std::vector<std::string>& statement, const Batch& one,
                                             const Registry& registry, std::string* twin = nullptr);

}  // namespace mmafuzz
