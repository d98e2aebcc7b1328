// The sum at the heart of the fused kernels: addends are cut at one place below the greatest exponent, added as
// integers and rounded once (docs/semantics.md 1.2 to 1.7).
#pragma once

#include "prove/formula.h"
#include "prove/formulas/numbers.h"

namespace mmafuzz::prove {

/// A number and the exponent that it has in the search for the greatest one.
struct Addend {
  Number number;
  Expression alignment_exponent;
};

/// c as an addend: converted to d's format first, with the least exponent that the row says.
Number c_of(const DotModel& model, Expression c, const FormatFields& c_format, int exponent_width);

/// Bits that hold every exponent of a row and their differences.
int exponent_width_of(const DotModel& model);

/// The encoding of a nonzero sum in units of 2^(greatest - fraction_bits), both of two's complement; of zero, +0.
Expression encoded_sum(const DotModel& model, Expression sum, Expression greatest);

/// Cuts, adds and rounds. `result` and `stages` are those of one block.
Formula aligned_sum(const DotModel& model, const std::vector<Addend>& addends, Expression scales_are_nan);

}  // namespace mmafuzz::prove
