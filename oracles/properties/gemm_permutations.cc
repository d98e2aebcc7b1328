// A matrix product does not depend on where its rows and columns stand (tile_permutation: which tile, thread or vector
// lane computes an element) nor, where the sum along k is exact or exactly split, on the order of the products
// (inner_permutation) nor on which matrix is a (transposition).
#include <numeric>

#include "arithmetic/counter_rng.h"
#include "oracles/properties/numbers.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

/// The numbers 0..n-1 in ascending order.
std::vector<int> in_order(int n) {
  std::vector<int> at(static_cast<size_t>(n));
  std::iota(at.begin(), at.end(), 0);
  return at;
}
/// A random permutation of 0..n-1. It depends on the shape alone, so that a case that is simplified keeps it.
std::vector<int> drawn_permutation(int n, uint64_t stream) {
  constexpr uint64_t fixed_seed = 1;
  std::vector<int> at = in_order(n);
  CounterRng rng(fixed_seed, stream);
  for (size_t i = at.size(); i > 1; --i) std::swap(at[i - 1], at[rng.below(static_cast<uint32_t>(i))]);
  return at;
}

struct Permuted {
  std::vector<int> rows, columns, inner;  ///< [i]: index in the changed case of row, column or product i
};

/// Writes the changed case: rows, columns and products at their indices in `to`.
void write_changed(const Batch& cases, size_t index, const Permuted& to, Batch& changed) {
  const Op& op = cases.op();
  const auto at = [](const std::vector<int>& list, int i) { return list[static_cast<size_t>(i)]; };
  for (int i = 0; i < op.m; ++i)
    for (int l = 0; l < op.k; ++l)
      changed.inputs()[0].set(index, at(to.rows, i) * op.k + at(to.inner, l), cases.a().get(index, i * op.k + l));
  for (int l = 0; l < op.k; ++l)
    for (int j = 0; j < op.n; ++j)
      changed.inputs()[1].set(index, at(to.inner, l) * op.n + at(to.columns, j), cases.b().get(index, l * op.n + j));
  for (int i = 0; i < op.m; ++i)
    for (int j = 0; j < op.n; ++j)
      changed.inputs()[2].set(index, at(to.rows, i) * op.n + at(to.columns, j), cases.c().get(index, i * op.n + j));
}

class TilePermutation final : public Property {
 public:
  TilePermutation() : Property("tile_permutation", "permuting rows of a and columns of b permutes the result") {}
  bool applies(const Op& op, const Unit&) const override { return op.kind == OpKind::gemm && (op.m > 1 || op.n > 1); }

 protected:
  static Permuted permuted(const Op& op) {
    return {drawn_permutation(op.m, 0), drawn_permutation(op.n, 1), in_order(op.k)};
  }
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    write_changed(of.cases, of.index, permuted(of.op()), changed[0]);
    return Changed{};
  }
  int changed_element(const Op& op, int element) const override {
    const Permuted to = permuted(op);
    return to.rows[static_cast<size_t>(element / op.n)] * op.n + to.columns[static_cast<size_t>(element % op.n)];
  }
};

class InnerPermutation final : public Property {
 public:
  InnerPermutation() : Property("inner_permutation", "permuting the products along k changes nothing") {}
  bool applies(const Op& op, const Unit&) const override { return op.kind == OpKind::gemm && op.k > 1; }

 protected:
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    const Op& op = of.op();
    const Permuted to{in_order(op.m), in_order(op.n), drawn_permutation(op.k, 2)};
    write_changed(of.cases, of.index, to, changed[0]);
    return Changed{};
  }
};

class Transposition final : public Property {
 public:
  Transposition() : Property("transposition", "the product of b's and a's transposes is the product's transpose") {}
  bool applies(const Op& op, const Unit&) const override {
    return op.kind == OpKind::gemm && op.m == op.n && op.a == op.b;
  }

 protected:
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    const Op& op = of.op();
    for (int i = 0; i < op.m; ++i) {
      for (int l = 0; l < op.k; ++l) {
        changed[0].inputs()[0].set(of.index, i * op.k + l, of.cases.b().get(of.index, l * op.n + i));
        changed[0].inputs()[1].set(of.index, l * op.n + i, of.cases.a().get(of.index, i * op.k + l));
      }
      for (int j = 0; j < op.n; ++j)
        changed[0].inputs()[2].set(of.index, i * op.n + j, of.cases.c().get(of.index, j * op.n + i));
    }
    return Changed{};
  }
  int changed_element(const Op& op, int element) const override { return element % op.n * op.n + element / op.n; }
};

}  // namespace

std::unique_ptr<Property> make_transposition() { return std::make_unique<Transposition>(); }
std::unique_ptr<Property> make_tile_permutation() { return std::make_unique<TilePermutation>(); }
std::unique_ptr<Property> make_inner_permutation() { return std::make_unique<InnerPermutation>(); }

}  // namespace mmafuzz
