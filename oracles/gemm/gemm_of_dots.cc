#include "oracles/gemm/gemm_of_dots.h"

#include "oracles/gemm/gemm_case.h"
#include "oracles/units/function_unit.h"

namespace mmafuzz::gemm {
namespace {

class GemmOfDots final : public Unit {
 public:
  GemmOfDots(std::unique_ptr<Unit> dot, const Op& op) : dot_(std::move(dot)), op_(op), dot_op_(dot_op_of(op)) {}

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
          dots.inputs()[2].set(at, 0, op_.has_alpha_beta ? 0 : one.c[at]);
        }
      }
      dot_->run(dots, sums);
      for (size_t at = 0; at < dots.size(); ++at) {
        const uint64_t sum = sums.results.get(at);
        outcomes.results.set(index, static_cast<int>(at), op_.has_alpha_beta ? combined(sum, one.c[at]) : sum);
      }
    }
  }

 private:
  uint64_t combined(uint64_t sum, uint64_t c) const {
    const FormatFields& d = op_.d.fields();
    const RoundingRule rule = op_.rounding_rule();
    const Scalars scalars(op_);
    const auto times = [&](const Exact& x, const Exact& y) {
      const Exact p = exact_product(x, y);
      const uint64_t rounded = p.cls == NumberClass::nan        ? d.encode_nan()
                               : p.cls == NumberClass::infinity ? rounded_infinity(d, p.negative, rule).encoding
                                                                : round_exact(d, p, rule).encoding;
      return rounded;
    };
    const auto product = [&] { return times(scalars.alpha, to_exact(decode(d, sum))); };
    const auto addend = [&] { return times(scalars.beta, to_exact(decode(op_.c.fields(), c))); };
    if (!scalars.reads_c()) return scalars.reads_products() ? product() : d.encode_zero(false);
    if (!scalars.reads_products()) return addend();
    return add_exact(d, to_exact(decode(d, product())), to_exact(decode(d, addend())), rule).encoding;
  }

  std::unique_ptr<Unit> dot_;
  Op op_, dot_op_;
};

}  // namespace

Op dot_op_of(const Op& gemm) {
  Op dot = gemm;
  dot.kind = OpKind::dot;
  dot.m = dot.n = 1;
  dot.alpha = dot.beta = 0;
  dot.has_alpha_beta = false;
  return dot;
}

std::unique_ptr<Unit> make_gemm_of_dots(std::unique_ptr<Unit> dot, const Op& op) { return std::make_unique<GemmOfDots>(std::move(dot), op); }

}  // namespace mmafuzz::gemm
