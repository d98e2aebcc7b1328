// One gemm case unpacked from a batch's columns, its elements, and its scalars.
#pragma once

#include <bit>

#include "arithmetic/ieee_operations.h"
#include "core/batch.h"

namespace mmafuzz::gemm {

/// One case as 64-bit encodings, reusable from case to case.
class GemmCase {
 public:
  explicit GemmCase(const Op& op)
      : a(size_t(op.m) * size_t(op.k)), b(size_t(op.k) * size_t(op.n)), c(size_t(op.m) * size_t(op.n)) {}

  void load(const Batch& batch, size_t index) {
    batch.a().unpack(index, a.data());
    batch.b().unpack(index, b.data());
    batch.c().unpack(index, c.data());
  }

  std::vector<uint64_t> a, b, c;  ///< row-major
};

/// The operands of one element of d: its row of a, its column of b, its c. Reusable.
struct Element {
  std::vector<uint64_t> a, b;
  uint64_t c = 0;

  /// `index`: the element's, in row-major order.
  void load(const Op& op, const GemmCase& matrices, size_t index) {
    const size_t n = size_t(op.n), k = size_t(op.k), i = index / n, j = index % n;
    a.resize(k);
    b.resize(k);
    for (size_t l = 0; l < k; ++l) {
      a[l] = matrices.a[i * k + l];
      b[l] = matrices.b[l * n + j];
    }
    c = matrices.c[index];
  }
};
inline Element element_of(const Op& op, const GemmCase& matrices, size_t index) {
  Element element;
  element.load(op, matrices, index);
  return element;
}

/// A row-major matrix of `columns` columns with its columns as rows.
template <class T>
std::vector<T> transposed(const std::vector<T>& matrix, int columns) {
  std::vector<T> result;
  result.reserve(matrix.size());
  for (size_t j = 0; j < size_t(columns); ++j)
    for (size_t at = j; at < matrix.size(); at += size_t(columns)) result.push_back(matrix[at]);
  return result;
}

/// A number of f, which is fp64 or fp32.
inline double host_value(const FormatFields& f, uint64_t encoding) {
  return f.width == 64 ? std::bit_cast<double>(encoding) : std::bit_cast<float>(static_cast<uint32_t>(encoding));
}

/// alpha and beta of an op, each 1 where it is not given. As in the BLAS, a zero alpha or beta means that a*b or c is
/// not read.
struct Scalars {
  explicit Scalars(const Op& op) {
    const auto value = [&](const std::optional<uint64_t>& scalar) {
      if (!scalar) return Exact{NumberClass::finite, false, 1, 0};
      return to_exact(flushed_operand(op.d.fields(), decode(op.d.fields(), *scalar), op.flush_to_zero));
    };
    alpha = value(op.alpha);
    beta = value(op.beta);
  }
  bool reads_products() const { return alpha.cls != NumberClass::zero; }
  bool reads_c() const { return beta.cls != NumberClass::zero; }
  /// Whether an element reads an infinity or a NaN. `special_factors`: its row of a or its column of b has one.
  bool meets_special(bool special_factors, const Exact& c) const {
    return (special_factors && reads_products()) || (!is_number(c.cls) && reads_c()) || !is_number(alpha.cls) ||
           !is_number(beta.cls);
  }
  Exact alpha, beta;
};

}  // namespace mmafuzz::gemm
