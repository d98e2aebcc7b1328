// A bound unit on arrays: many cases of one op, and matrix products as dots.
#pragma once

#include <optional>

#include "core/unit.h"
#include "python/module/arrays.h"

namespace mmafuzz::python {

/// A unit bound to an op. What it was bound by must outlive it.
struct BoundUnit {
  std::shared_ptr<const Unit> unit;
  Op op;
};

/// Evaluates `cases` cases. `fields`: one array for each input field; `results`, `flags` (one byte per case, may be
/// null): one entry per case. Returns the number of cases that the unit has no answer for. Throws BadInput where it
/// reports no flags and they are wanted.
size_t evaluate(const BoundUnit& bound, const std::vector<FieldArray>& fields, size_t cases, uint8_t* results,
                uint8_t* flags, unsigned threads);

/// One step of a chain: products first .. first + op.k, to which the last step's d is added.
struct ChainStep {
  const BoundUnit& bound;
  int first;
};

/// Matrices of encodings: batch axes, then rows and columns.
class Matrices {
 public:
  explicit Matrices(const Codes& codes);

  int bytes;
  Axis rows, columns;
  const uint8_t* of_batch(size_t index) const { return data_ + Walk(batch_, index).offset(); }

 private:
  const uint8_t* data_;
  std::vector<Axis> batch_;
};

/// d = c + a * b of `batches` matrices, each element as a chain of dots. a is M x K, b K x N, the scales M x S and S x
/// N.
struct ProductOf {
  Matrices a, b;
  std::optional<Matrices> c, scale_a, scale_b;  ///< without c the chain starts from +0
  size_t batches;
  uint8_t* results;  ///< batches x M x N
};
size_t multiply(const std::vector<ChainStep>& chain, const ProductOf& product, unsigned threads);

}  // namespace mmafuzz::python
