// Observes what happens in the arithmetic of a case, as bins. A *focus unit* is the model whose arithmetic is traced.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arithmetic/bins.h"
#include "arithmetic/evaluate_dot.h"
#include "core/block_case.h"
#include "core/dot_case.h"
#include "search/gemm_coverage.h"

namespace mmafuzz {

/// The bin's group, then one label for each of its classes: "align.product.shift=F+1.lost=half.negative". Throws
/// std::out_of_range if there is no such bin. docs/coverage.md has the groups and their source.
std::string bin_name(int bin);

/// A cross of classes, whose cells are the bins first .. first+count-1: each class by its labels, in the order of its
/// numbers.
struct BinGroup {
  const char* name;
  int first, count;
  std::vector<std::vector<const char*>> classes;
};
const std::vector<BinGroup>& bin_groups();

/// The rounding of case `index` of a scalar operation or conversion under IEEE 754, in the op's mode.
Rounded round_scalar_case(const Op& op, const Batch& batch, size_t index);

class Coverage {
 public:
  /// `model` is the focus unit's row, which is copied: of a dot, otherwise nullptr. `slicing` says how the focus unit
  /// cuts the matrices of a product; nullptr: as the reference does.
  Coverage(const Op& op, const DotModel* model, const Slicing* slicing = nullptr)
      : op_(op), model_(model ? std::optional(*model) : std::nullopt), dot_(op) {
    if (GemmCoverage::observes(op)) gemm_.emplace(op, slicing ? *slicing : reference_slicing(op.k));
  }

  /// Whether this op has bins at all: a dot needs a model.
  bool observes() const {
    if (op_.kind == OpKind::dot) return model_.has_value();
    return gemm_ || op_.kind == OpKind::convert || op_.kind == OpKind::scalar || op_.kind == OpKind::quantize;
  }

  /// Reports each bin of one case to sink.hit(bin), some more than once, and broken invariants to
  /// sink.impossible(text). Only where observes().
  template <class Sink>
  void observe(const Batch& batch, size_t index, Sink& sink) {
    if (op_.kind == OpKind::dot) {
      const DotOperands& in = dot_.load(batch, index);
      BinTrace<Sink> trace(*model_, in, sink);
      trace.finish(evaluate_dot(*model_, in, trace));
    } else if (gemm_) {
      for (const int bin : gemm_->bins_of(batch, index)) sink.hit(bin);
    } else if (op_.kind == OpKind::quantize) {
      QuantizedBlock(op_).observe(batch, index, [&](const Rounded& r) { rounding_bins(op_.d.fields(), r, sink); });
    } else {
      rounding_bins(op_.d.fields(), round_scalar_case(op_, batch, index), sink);
    }
  }

 private:
  Op op_;
  std::optional<DotModel> model_;
  DotCase dot_;
  std::optional<GemmCoverage> gemm_;
};

}  // namespace mmafuzz
