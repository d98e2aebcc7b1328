// Arrays of encodings with any strides, read in place. Their first axes are those of the batch, over cases; the last
// axes are those of one case.
#pragma once

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include <vector>

#include "core/batch.h"

namespace mmafuzz::python {

namespace nb = nanobind;

/// Unsigned integers, one per encoding. The Python side has checked dtypes and broadcast the batch axes.
using Codes = nb::ndarray<nb::ro, nb::device::cpu>;
/// Where results are written.
using Results = nb::ndarray<nb::c_contig, nb::device::cpu>;

/// One axis of an array.
struct Axis {
  int64_t extent, stride;  ///< stride in bytes
};

/// Byte offsets of consecutive positions in an array of these axes, in C order (the last axis varies fastest). `axes`
/// must outlive the cursor.
class Cursor {
 public:
  /// Starts at position `index`, from 0.
  Cursor(const std::vector<Axis>& axes, size_t index);
  int64_t offset() const { return offset_; }
  void next();

 private:
  const std::vector<Axis>& axes_;
  std::vector<int64_t> indices_;  ///< along each axis
  int64_t offset_ = 0;
};

/// A field of many cases. The array must outlive it.
class FieldArray {
 public:
  /// The last `case_dimensions` axes are those of one case.
  FieldArray(const Codes& codes, size_t case_dimensions);

  /// Copies the cases first .. first + count - 1, in C order of the batch axes, to the column's beginning.
  void copy(size_t first, size_t count, Column& to) const;

 private:
  const uint8_t* data_;
  int64_t bytes_;  ///< per element
  std::vector<Axis> batch_axes_, case_axes_;
};

/// Copies `count` elements of `bytes` bytes each, which are `stride` bytes apart, to adjacent places.
void gather(const uint8_t* from, int64_t stride, size_t count, int bytes, uint8_t* to);

/// Repeats the first `bytes` bytes of `block`, so that they are there `times` times.
void repeat(uint8_t* block, size_t bytes, size_t times);

}  // namespace mmafuzz::python
