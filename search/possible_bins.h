// Which bins an op's formats and a row's parameters rule out, so that coverage is a share of what can be reached. Each
// exclusion has a proof: a class of values that a format does not have, a block or a lane that the dot does not have. A
// bin that is not ruled out may still be impossible.
#pragma once

#include "search/coverage.h"

namespace mmafuzz {

/// `model` is the focus unit's row; nullptr for ops other than dots. Of a dot without a row nothing is ruled out. The
/// bins of groups `disagree` and `property` count as ruled out: one unit's arithmetic does not reach them.
bool ruled_out(const Op& op, const DotModel* model, int bin);

/// Whether a format has no values of class `kind` of bins::value_kind().
bool lacks(const FormatFields& f, int kind);

}  // namespace mmafuzz
