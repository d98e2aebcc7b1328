// Which bins an op's formats and a row's parameters rule out, so that coverage is a share of what can be reached. A
// proof stands behind each: a class of values that a format does not have, a block or a lane that the dot does not
// have. What is not ruled out may still be impossible; nobody knows yet.
#pragma once

#include "search/coverage.h"

namespace mmafuzz {

/// `model` is the focus unit's row (of a dot), or nullptr for conversions and scalar operations. Bins of units that
/// agree and of properties count as ruled out: one unit's arithmetic does not reach them.
bool ruled_out(const Op& op, const DotModel* model, int bin);

/// Whether a format has no values of a class of bins::value_kind().
bool lacks(const FormatFields& f, int kind);

}  // namespace mmafuzz
