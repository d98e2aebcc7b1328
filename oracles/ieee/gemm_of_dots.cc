#include "oracles/ieee/gemm_of_dots.h"

#include <algorithm>

#include "oracles/gemm/gemm_case.h"
#include "core/function_unit.h"

namespace mmafuzz::gemm {
namespace {

class GemmOfDots final : public Unit {
 public:
  GemmOfDots(std::unique_ptr<Unit> dot, const Op& op, Combine combine)
      : dot_(std::move(dot)), op_(op), dot_op_(dot_op_of(op)), combine_(std::move(combine)) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    GemmCase matrices(op_);
    const size_t n = size_t(op_.n), k = size_t(op_.k), elements = size_t(op_.m) * n;
    const size_t together = std::max<size_t>(1, max_factors / (elements * k));  // a call costs more than a dot
    Batch dots(dot_op_);
    Outcomes sums;
    for (size_t first = 0; first < batch.size(); first += together) {
      const size_t count = std::min(together, batch.size() - first);
      dots.resize(count * elements);
      for (size_t at = 0; at < count; ++at) {
        matrices.load(batch, first + at);
        const std::vector<uint64_t> columns = transposed(matrices.b, op_.n);
        for (size_t element = 0; element < elements; ++element) {
          const size_t dot = at * elements + element;
          dots.inputs()[0].pack(dot, &matrices.a[element / n * k]);
          dots.inputs()[1].pack(dot, &columns[element % n * k]);
          dots.inputs()[2].set(dot, 0, op_.has_alpha_beta() ? 0 : matrices.c[element]);
        }
      }
      dot_->run(dots, sums);
      for (size_t dot = 0; dot < dots.size(); ++dot) {
        const size_t index = first + dot / elements;
        const int element = static_cast<int>(dot % elements);
        const uint64_t sum = sums.results.get(dot);
        outcomes.results.set(index, element,
                             op_.has_alpha_beta() ? combine_(op_, sum, batch.c().get(index, element)) : sum);
      }
    }
  }

 private:
  static constexpr size_t max_factors = 1 << 14;  ///< products in one call of the unit, unless one case has more

  std::unique_ptr<Unit> dot_;
  Op op_, dot_op_;
  Combine combine_;
};

}  // namespace

uint64_t ieee_combined(const Op& op, uint64_t sum, uint64_t c) {
  const FormatFields& d = op.d.fields();
  const RoundingRule rule = op.rounding_rule();
  const Scalars scalars(op);
  const auto read = [&](const Format& f, uint64_t encoding) {
    return to_exact(flushed_operand(f.fields(), decode(f.fields(), encoding), op.flush_to_zero));
  };
  const auto written = [&](const Rounded& r) { return flushed_result(d, r, op.flush_to_zero).encoding; };
  const auto times = [&](const Exact& x, const Exact& y) { return written(round_any(d, exact_product(x, y), rule)); };
  const auto product = [&] { return times(scalars.alpha, read(op.d, sum)); };
  const auto addend = [&] { return times(scalars.beta, read(op.c, c)); };
  if (!scalars.reads_c()) return scalars.reads_products() ? product() : d.encode_zero(false);
  if (!scalars.reads_products()) return addend();
  return written(add_exact(d, read(op.d, product()), read(op.d, addend()), rule));
}

Op dot_op_of(const Op& gemm) {
  Op dot = gemm;
  dot.kind = OpKind::dot;
  dot.m = dot.n = 1;
  dot.alpha.reset();
  dot.beta.reset();
  if (gemm.has_alpha_beta()) dot.c = format("fp32");  // the dot's c is +0, which not every format has
  return dot;
}

std::unique_ptr<Unit> make_gemm_of_dots(std::unique_ptr<Unit> dot, const Op& op, Combine combine) {
  return std::make_unique<GemmOfDots>(std::move(dot), op, std::move(combine));
}

}  // namespace mmafuzz::gemm
