// Evaluation of bound units on arrays: many cases of one op, and matrix products whose elements are chains of dots.
#pragma once

#include <optional>

#include "core/unit.h"
#include "python/module/arrays.h"

namespace mmafuzz::python {

/// A unit bound to an op. The registry that bound it must outlive it.
struct BoundUnit {
  std::shared_ptr<const Unit> unit;
  Op op;
};

/// Evaluates `cases` cases. `fields` has one array for each input field. `results` gets one entry per case, and
/// `flags`, unless nullptr, one byte per case. Returns the number of cases that the unit has no answer for. Throws
/// BadInput where `flags` is given and the unit reports none.
size_t evaluate(const BoundUnit& bound, const std::vector<FieldArray>& fields, size_t cases, uint8_t* results,
                uint8_t* flags, unsigned threads);

/// One step of a chain: a dot of the products first .. first + op.k - 1 of an element, whose c is the d of the step
/// before it. The first step begins at 0.
struct ChainStep {
  const BoundUnit& bound;
  int first;
};

/// An array of matrices of encodings: batch axes, then an axis of rows and one of columns. The array must outlive it.
class Matrices {
 public:
  explicit Matrices(const Codes& codes);

  int bytes;  ///< per element
  Axis rows, columns;
  /// Element (0, 0) of matrix `index`, in C order of the batch axes.
  const uint8_t* matrix(size_t index) const { return data_ + Cursor(batch_axes_, index).offset(); }

 private:
  const uint8_t* data_;
  std::vector<Axis> batch_axes_;
};

/// The products d = c + a * b of `batches` matrices: a is M x K, b is K x N, and the scales are M x S and S x N, with S
/// scales along K.
struct MatrixProducts {
  Matrices a, b;
  std::optional<Matrices> c, scale_a, scale_b;  ///< without c the chain starts from +0
  size_t batches;
  uint8_t* results;  ///< batches x M x N
};
/// Computes the products, each element as a chain of dots. Returns the number of dots without an answer.
size_t multiply(const std::vector<ChainStep>& chain, const MatrixProducts& products, unsigned threads);

}  // namespace mmafuzz::python
