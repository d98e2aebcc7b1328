// The bins of a matrix product (arithmetic/bins.h, groups gemm_*): how a scheme would cut it into slices of digits
// (docs/ozaki.md), how near the slices' products come to the accumulator's limit, what cancels, where it rounds. They
// follow from the operands alone.
#pragma once

#include <vector>

#include "arithmetic/bins.h"
#include "arithmetic/slicing.h"
#include "core/batch.h"

namespace mmafuzz {

class GemmCoverage {
 public:
  GemmCoverage(const Op& op, const Slicing& slicing);

  /// Whether an op is a product of matrices of floating-point numbers; only these have such bins.
  static bool observes(const Op& op) { return op.kind == OpKind::gemm && !op.a.fields().integer; }

  /// The bins of one case, some more than once; valid until the next call.
  const std::vector<int>& bins_of(const Batch& batch, size_t index);

 private:
  /// A row of a or a column of b.
  struct Line {
    bool filled = false;     ///< some number of it is finite and not zero
    int top = 0, least = 0;  ///< every |x| is below 2^top; the last bit weighs 2^least
    int kind = 0;            ///< the greatest bins::value_kind of its numbers
    bool negative = false;   ///< sign of a number of greatest exponent
    int needed = 0;          ///< slices that hold all bits from top to least
    bool cut = false;        ///< it needs more slices than the slicing takes
    int left = 0;            ///< bins::lost_class of what is below the slices: the greatest of its numbers'
    std::vector<Number> numbers;
    std::vector<int> digits[2];  ///< by slice, of the first two: the digit of each number
  };
  void read(const Batch& batch, size_t index);
  /// Bits of a slice, and how many slices there are, of a row (side 0: a) or a column (side 1: b).
  int width_of(int side) const;
  int slices_of(int side) const;
  void describe(int side, Line& line) const;
  void note_line(int side, Line& line);
  void note_scale();
  void note_element(const Line& row, const Line& column, const Number& c);
  /// `first_sign`: sign of the sum of the first slices' products, -1, 0 or 1.
  void note_sum(const Line& row, const Line& column, const Number& c, int first_sign);
  void hit(int bin) { bins_.push_back(bin); }

  Op op_;
  Slicing slicing_;
  std::vector<Line> rows_, columns_;
  std::vector<uint64_t> codes_;
  std::vector<Number> c_;
  std::vector<int> bins_;
};

}  // namespace mmafuzz
