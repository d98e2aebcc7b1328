// The dots of a matrix product: every row of one operand with every column of another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mmafuzz {

/// Operands packed as in the columns of a batch. c and d have one format.
struct DotGrid {
  const uint8_t* a;  ///< the rows, op.k encodings each
  const uint8_t* b;  ///< the columns, op.k encodings each
  size_t rows, columns;
  uint8_t* results;  ///< rows x columns: c, which becomes d
};

/// An interface of units that can decode an operand once for all dots in which the operand takes part.
class GridUnit {
 public:
  virtual ~GridUnit() = default;
  /// Evaluates all dots, with the results that Unit::run() gives. False, and nothing done, where the op or the calling
  /// thread's floating-point settings do not allow it.
  virtual bool run_grid(const DotGrid& grid) const = 0;
};

}  // namespace mmafuzz
