// The neighbour of a row, and cases on which the two differ. Candidates are all rows of the catalogue that take the
// row's op, and all changes of one parameter of the row. The neighbour is the candidate whose results differ from the
// row's on the fewest of the same structured cases, but on at least one.
#pragma once

#include <optional>
#include <vector>

#include "core/batch.h"
#include "oracles/models/model_rows.h"

namespace mmafuzz {

/// Number of cases of each row against its neighbour.
inline constexpr size_t cases_of_a_neighbour = 10;

/// How two results differ: nans: both are NaNs with different encodings; numbers: otherwise. A row can have a neighbour
/// of each kind.
enum class Differs { numbers, nans };

/// How results x and y, encodings in d's format, differ; nullopt where they are equal.
std::optional<Differs> how_they_differ(const FormatFields& d, uint64_t x, uint64_t y);

/// The rows for which such cases are written: all but those of NVIDIA and AMD's CDNA, which published vectors
/// distinguish.
std::vector<const ModelRow*> rows_with_neighbours();

/// The cases for a unit that adds s + c whatever the row's form is: the exact sum of each new case is what the row
/// rounds on the old one. The signs of a and c change as the form says; for s_alone c is -0, which adds nothing.
Batch as_plain_sums(const DotModel& row, const Batch& cases);

}  // namespace mmafuzz
