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

/// Case 0 of `single`, on which these units break the property, in its normal form. Nothing where the case does not
/// fail. `changed` receives the line of the changed case of `single`, or "" under a property without one. Throws
/// std::runtime_error where a unit or the property is unknown or declines the op.
std::optional<MinimizedDivergence> minimized(const std::string& property, const std::vector<std::string>& units,
                                             const Batch& single, const Registry& registry,
                                             std::string* changed = nullptr);

}  // namespace mmafuzz
