// Rows of floating-point numbers as slices of integer digits with one power of two per row: the splitting of the Ozaki
// scheme (Mukunoki et al. 2020, algorithm 1), in fixed point.
#pragma once

#include <cstdint>
#include <vector>

#include "core/format.h"

namespace mmafuzz::gemm {

/// How a subnormal element is read; anything but `kept` is a flaw that implementations have had.
enum class SubnormalReading : uint8_t { kept, flushed, halved };

/// Rows of `length` numbers (rows of a or columns of b): x = sum over slices p = 1, 2, ... of digit(p) *
/// 2^(top - p * width), |digit| < 2^width, each digit with the sign of x. Infinities and NaNs read as zero and mark
/// their row.
struct SlicedRows {
  int rows = 0, length = 0, width = 0, slices = 0;
  std::vector<int> top;          ///< by row: every |x| is below 2^top, the greatest is not below 2^(top-1); 0 for zeros
  std::vector<int> needed;       ///< by row: the number of slices after which nothing is left
  std::vector<uint8_t> special;  ///< by row: whether it holds an infinity or a NaN
  std::vector<int16_t> digits;   ///< [slice][row][length]
  std::vector<uint8_t> filled;   ///< [slice][row]: whether any digit is not zero

  const int16_t* slice(int p, int row) const {
    return &digits[(size_t(p - 1) * size_t(rows) + size_t(row)) * size_t(length)];
  }
  bool is_filled(int p, int row) const { return filled[size_t(p - 1) * size_t(rows) + size_t(row)] != 0; }
  int16_t* slice(int p, int row) { return &digits[(size_t(p - 1) * size_t(rows) + size_t(row)) * size_t(length)]; }
};

/// Element l of row i is at [i * row_stride + l * element_stride].
struct Layout {
  int rows = 0, length = 0;
  size_t row_stride = 0, element_stride = 0;
};

/// Numbers ready to be cut: tops, lengths and specials of the rows, without digits.
class RowSplitter {
 public:
  RowSplitter(const FormatFields& format, const uint64_t* encodings, const Layout& layout, int width,
              SubnormalReading subnormals);

  const SlicedRows& rows() const { return rows_; }
  /// The maximum number of slices that a row needs.
  int max_needed() const;

  /// |x| * 2^-top of an element, rounded to fp64.
  double magnitude(int row, int element) const;
  /// What the first `slices` slices leave of magnitude(), rounded to fp64.
  double remainder(int row, int element, int slices) const;

  /// The first `slices` slices; lower bits are dropped. `digits` stays empty without with_digits.
  SlicedRows cut(int slices, bool with_digits = true) const;

 private:
  struct FiniteNumber {
    uint64_t significand;
    int exponent;
    bool negative;
  };
  const FiniteNumber& number(int row, int element) const {
    return numbers_[size_t(row) * size_t(rows_.length) + size_t(element)];
  }

  SlicedRows rows_;
  std::vector<FiniteNumber> numbers_;
};

}  // namespace mmafuzz::gemm
