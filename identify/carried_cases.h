// Cases that carry a difference of two rows to the result. Their sums differ after some block of a case, but the
// products of later blocks hide this; other products there propagate it (the classic two halves of a test: excite a
// fault, propagate it).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/batch.h"
#include "identify/evidence.h"

namespace mmafuzz {

/// For each case, the encodings of a row's sums after each block of each instruction, in order. Some rows give other
/// entries (ieee_tree with overflow_rank=below_operands, specials of special_scope=whole_k). So this is only a hint
/// where to look: carried_case() evaluates every case that it returns.
using SumsAfterBlocks = std::vector<std::vector<uint64_t>>;

/// A case on which the results of two rows differ. It begins like one of the first of `cases`. nullopt where none is
/// found before `goes_on` returns false, or where the rows' blocks do not take the same products, or a dot is one
/// block. `sums`, of the first row on the first of `cases`, is filled as far as it is needed.
std::optional<Batch> carried_case(const DotModel& row, const DotModel& other, const DotCases& cases,
                                  SumsAfterBlocks& sums, uint64_t seed, const std::function<bool()>& goes_on);

}  // namespace mmafuzz
