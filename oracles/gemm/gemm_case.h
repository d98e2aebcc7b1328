// One gemm case unpacked from a batch's columns, its elements, and its scalars.
#pragma once

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

/// The operands of element `at` of d, in row-major order: its row of a, its column of b, its c. Reusable.
struct Element {
  std::vector<uint64_t> a, b;
  uint64_t c = 0;

  void load(const Op& op, const GemmCase& one, size_t at) {
    const size_t n = size_t(op.n), k = size_t(op.k), i = at / n, j = at % n;
    a.resize(k);
    b.resize(k);
    for (size_t l = 0; l < k; ++l) {
      a[l] = one.a[i * k + l];
      b[l] = one.b[l * n + j];
    }
    c = one.c[at];
  }
};
inline Element element_of(const Op& op, const GemmCase& one, size_t at) {
  Element element;
  element.load(op, one, at);
  return element;
}

/// alpha and beta of an op, each 1 where it is not given. As in the BLAS, a zero alpha or beta means that a*b or c is
/// not read.
struct Scalars {
  explicit Scalars(const Op& op) {
    const auto value = [&](const std::optional<uint64_t>& given) {
      if (!given) return Exact{NumberClass::finite, false, 1, 0};
      return to_exact(flushed_operand(op.d.fields(), decode(op.d.fields(), *given), op.flush_to_zero));
    };
    alpha = value(op.alpha);
    beta = value(op.beta);
  }
  bool reads_products() const { return alpha.cls != NumberClass::zero; }
  bool reads_c() const { return beta.cls != NumberClass::zero; }
  Exact alpha, beta;
};

}  // namespace mmafuzz::gemm
