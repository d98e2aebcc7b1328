// Explains cases: evaluates them on units and turns the kernels' traces into an explanation.
#pragma once

#include "core/registry.h"
#include "triage/explain/explanation.h"

namespace mmafuzz {

/// One case of a batch on units bound to the batch's op.
ExplainedCase explain_case(const Batch& batch, size_t index, const std::vector<const Unit*>& units);

/// The last case of a sequence on which the units differ, which each of them evaluates as a whole, once; its last case
/// if they agree on all. `shown` receives its index.
ExplainedCase explain_sequence(const Batch& sequence, const std::vector<const Unit*>& units, size_t* shown = nullptr);

/// The cases after a witness's property line on the units that it names: one case on two units, or a sequence of
/// cases, or a case and its changed case on one. A unit that cannot be bound here is shown with the reason. Throws
/// std::runtime_error where the text has no such cases.
Explanation explain_witness(const std::string& case_text, const Registry& registry);

/// The rounding of a conversion or of a scalar operation (defined in explain_rounding.cc).
ExplainedRounding explain_rounding(const Batch& one, std::string& exact_value);

/// One block and what a quantizer made of it, as a table to read (defined in explain_block.cc). The lines of the table,
/// without a line's end: the scale, then each number that is not zero with its code, what that stands for, and how far
/// off it is. Figures are rounded to what a line holds. Empty for ops that are not on blocks.
std::vector<std::string> explained_block(const Batch& single, const Outcomes& outcomes, size_t index);

}  // namespace mmafuzz
