// Explains cases: evaluates them on units and turns the kernels' traces into an explanation.
#pragma once

#include "core/registry.h"
#include "triage/explain/explanation.h"

namespace mmafuzz {

/// Explains case `index` of a batch. The units are bound to the batch's op.
ExplainedCase explain_case(const Batch& batch, size_t index, const std::vector<const Unit*>& units);

/// Explains one case of a sequence: the last on which the two units differ, else the last of the sequence. Each unit
/// evaluates the whole sequence once. `shown` receives the index of the case.
ExplainedCase explain_sequence(const Batch& sequence, const std::vector<const Unit*>& units, size_t* shown = nullptr);

/// Explains the cases after the property line of a witness on the units that this line names: one case or a sequence on
/// two units, or a case and its changed case on one. A unit that does not bind is shown with the reason. Throws
/// std::runtime_error where the text has no property line with cases.
Explanation explain_witness(const std::string& case_text, const Registry& registry);

/// The rounding of case 0, of a conversion or a scalar operation. `exact_value` receives the exact result in decimal,
/// 25 digits, with "..." where bits beyond MPFR's were cut. Defined in explain_rounding.cc.
ExplainedRounding explain_rounding(const Batch& single, std::string& exact_value);

/// The block of case 0 of `single` and a quantizer's result at `index` of `outcomes`, as lines of a table without line
/// ends: the scale, then each nonzero number with its code, the value of the code and the error. Numbers are rounded
/// to 9 digits. Empty for ops that are not on blocks. Defined in explain_block.cc.
std::vector<std::string> explained_block(const Batch& single, const Outcomes& outcomes, size_t index);

}  // namespace mmafuzz
