// What was in flight when a unit broke is kept as case text, so that it can be run again.
#pragma once

#include "core/batch.h"

namespace mmafuzz {

/// Writes the batch to a new file `<kind>-<process id>-<number>.cases`, in the folder that the environment variable
/// names, or in the current one. Returns "kept in FILE", or why it is not.
std::string keep_batch(const char* folder_variable, const std::string& kind, const std::string& unit,
                       const Batch& batch, const std::string& reason);

}  // namespace mmafuzz
