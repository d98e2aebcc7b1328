// The bins of a matrix product (arithmetic/bins.h, groups gemm_*): how a scheme of slices would cut it, how near its
// slice products come to the accumulator's limit, what cancels, where it rounds. They follow from the operands alone.
#pragma once

#include <vector>

#include "arithmetic/bins.h"
#include "arithmetic/slicing.h"
#include "core/batch.h"

namespace mmafuzz {

class GemmCoverage {
 public:
  GemmCoverage(const Op& op, const Slicing& slicing);

  /// Whether an op's matrices are floating-point numbers.
  static bool observes(const Op& op) { return op.kind == OpKind::gemm && !op.a.fields().integer; }

  /// The bins of one case, some more than once; valid until the next call.
  const std::vector<int>& bins_of(const Batch& batch, size_t index);

 private:
  /// A row of a or a column of b.
  struct Line {
    bool filled = false;     ///< some number of it is finite and not zero
    int top = 0, least = 0;  ///< every |x| is below 2^top; the last bit weighs 2^least
    int kind = 0;            ///< as value_kind, the gravest of it
    bool negative = false;   ///< sign of a greatest number
    int needed = 0;          ///< slices
    bool cut = false;        ///< has more than the slicing takes
    int left = 0;            ///< lost_class of what is below the slices, the greatest class of its numbers
    std::vector<Number> number;
    std::vector<int> digit[2];  ///< of the first two slices
  };
  void read(const Batch& batch, size_t index);
  void describe(Line& line, int width) const;
  void note_line(int side, const Line& line, int width);
  void note_scale();
  void note_element(const Line& row, const Line& column, const Number& c);
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
