#include "oracles/ieee/gemm_of_dots.h"

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
    GemmCase one(op_);
    Batch dots(dot_op_);
    dots.resize(size_t(op_.m) * size_t(op_.n));
    Outcomes sums;
    for (size_t index = 0; index < batch.size(); ++index) {
      one.load(batch, index);
      for (int i = 0; i < op_.m; ++i) {
        for (int j = 0; j < op_.n; ++j) {
          const size_t at = size_t(i) * size_t(op_.n) + size_t(j);
          dots.inputs()[0].pack(at, &one.a[size_t(i) * size_t(op_.k)]);
          for (int l = 0; l < op_.k; ++l) dots.inputs()[1].set(at, l, one.b[size_t(l) * size_t(op_.n) + size_t(j)]);
          dots.inputs()[2].set(at, 0, op_.has_alpha_beta() ? 0 : one.c[at]);
        }
      }
      dot_->run(dots, sums);
      for (size_t at = 0; at < dots.size(); ++at) {
        const uint64_t sum = sums.results.get(at);
        outcomes.results.set(index, static_cast<int>(at), op_.has_alpha_beta() ? combine_(op_, sum, one.c[at]) : sum);
      }
    }
  }

 private:
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
  const auto times = [&](const Exact& x, const Exact& y) {
    const Exact p = exact_product(x, y);
    if (p.cls == NumberClass::nan) return d.encode_nan();
    if (p.cls == NumberClass::infinity) return rounded_infinity(d, p.negative, rule).encoding;
    return written(round_exact(d, p, rule));
  };
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
  if (gemm.has_alpha_beta()) dot.c = format("fp32");  // c joins later; not every format has a zero to stand in for it
  return dot;
}

std::unique_ptr<Unit> make_gemm_of_dots(std::unique_ptr<Unit> dot, const Op& op, Combine combine) {
  return std::make_unique<GemmOfDots>(std::move(dot), op, std::move(combine));
}

}  // namespace mmafuzz::gemm
