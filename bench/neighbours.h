// The arithmetic that is nearest to a row, and cases that tell the two apart. Which one is nearest is counted: of all
// rows of the catalogue that take the row's op, and of all changes of one parameter of the row, it is the one whose
// results differ on the fewest of the same structured cases, but on one at least.
#pragma once

#include <optional>
#include <vector>

#include "core/batch.h"
#include "oracles/models/model_rows.h"

namespace mmafuzz {

/// Cases of each row against its neighbour.
inline constexpr size_t cases_of_a_neighbour = 10;

/// Where two results differ: in a number, or in nothing but which NaN they are. A row has a neighbour of each kind.
enum class Differs { numbers, nans };

/// How results x and y of d's format differ; nothing where they are the same.
std::optional<Differs> how_they_differ(const FormatFields& d, uint64_t x, uint64_t y);

/// The rows that have such cases: of all makers but NVIDIA and AMD's CDNA, whose published vectors tell them apart.
std::vector<const ModelRow*> rows_with_neighbours();

/// The cases whose exact sums are what a row's form makes of the operands: those that it negates are negated, and of
/// s_alone c is -0.
Batch as_plain_sums(const DotModel& row, const Batch& cases);

}  // namespace mmafuzz
