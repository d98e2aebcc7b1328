// Cases that carry a difference to the end of a dot: two rows leave different sums after some block, later blocks hide
// it, and other products in these show it (the classic two halves of a test: excite a fault, propagate it).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/batch.h"
#include "identify/evidence.h"

namespace mmafuzz {

/// What a row leaves after each block of each instruction, in order, of some cases. A hint where to look, for some rows
/// have other entries (ieee_tree with overflow_rank=below_operands, specials of special_scope=whole_k): carried_case()
/// evaluates every case that it returns.
using SumsAfterBlocks = std::vector<std::vector<uint64_t>>;

/// A case that begins like one of the first of `cases` and ends so that the rows' results differ, if one is found
/// before `goes_on` says no. Only of two rows with the same products in each block, more than one: others have no
/// blocks that correspond. `sums`, of the first row and of these cases, gets what is not there yet.
std::optional<Batch> carried_case(const DotModel& row, const DotModel& other, const DotCases& cases,
                                  SumsAfterBlocks& sums, uint64_t seed, const std::function<bool()>& goes_on);

}  // namespace mmafuzz
