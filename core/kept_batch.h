// The batch that a unit was evaluating when it broke is kept as case text, so that it can be run again.
#pragma once

#include "core/batch.h"

namespace mmafuzz {

/// Writes the batch to a new file `<kind>-<process id>-<number>.cases` in the folder that the environment variable
/// `folder_variable` names, or in the current one. `reason` ends a comment there, "in flight when ...". Returns "kept
/// in FILE", or "not kept: " and why.
std::string keep_batch(const char* folder_variable, const std::string& kind, const std::string& unit,
                       const Batch& batch, const std::string& reason);

}  // namespace mmafuzz
