#include "oracles/gemm/corrected_sgemm.h"

#include <algorithm>

#include "oracles/gemm/gemm_case.h"
#include "core/function_unit.h"

namespace mmafuzz::gemm {
namespace {

uint64_t add(uint64_t x, uint64_t y) {
  return add_exact(fp32_fields, to_exact(decode(fp32_fields, x)), to_exact(decode(fp32_fields, y)), {}).encoding;
}

Exact times_power(Exact x, int exponent) {
  x.exponent += exponent;
  return x;
}

uint64_t rounded(const FormatFields& f, const Exact& x) {
  if (x.cls == NumberClass::nan) return f.encode_nan();
  if (x.cls == NumberClass::infinity) return rounded_infinity(f, x.negative, {}).encoding;
  return round_exact(f, x, {}).encoding;
}

uint64_t times_power(uint64_t x, int exponent) {
  return exponent == 0 ? x : rounded(fp32_fields, times_power(to_exact(decode(fp32_fields, x)), exponent));
}

/// An operand as the unit sees it.
struct Halves {
  uint64_t main, residual;
};

class CorrectedSgemm final : public Unit {
 public:
  CorrectedSgemm(const CorrectionPlan& plan, std::unique_ptr<Unit> dot, const Op& op)
      : plan_(plan),
        dot_(std::move(dot)),
        dot_op_(correction_dot(plan)),
        op_(op),
        chunks_((op.k + plan.unit_k - 1) / plan.unit_k) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    const size_t elements = size_t(op_.m) * size_t(op_.n), group = std::max<size_t>(1, most_dots / elements);
    for (size_t first = 0; first < batch.size(); first += group) {
      Group cases = split(batch, first, std::min(group, batch.size() - first));
      evaluate(cases, batch, first, outcomes);
    }
  }

 private:
  static constexpr size_t most_dots = 16384;

  /// Both parts of the operands of some cases: a by row, b by column, padded with zeros to whole dots.
  struct Group {
    size_t cases = 0;
    std::vector<Halves> a, b;
  };
  using Part = uint64_t Halves::*;
  using Sums = std::vector<uint64_t>;  ///< one fp32 number for each element of each case

  /// main = x rounded to the narrow format, residual = (x - main) * 2^scale rounded to it. x - main is exact in fp32
  /// unless main overflowed, and then the residual is an infinity of the other sign.
  Halves halves(uint64_t x) const {
    const FormatFields& narrow = plan_.narrow.fields();
    const Exact value = to_exact(decode(fp32_fields, x));
    const uint64_t main = rounded(narrow, value);
    Exact minus_main = to_exact(decode(narrow, main));
    minus_main.negative = !minus_main.negative;
    const Exact rest = to_exact(decode(fp32_fields, add_exact(fp32_fields, value, minus_main, {}).encoding));
    return {main, rounded(narrow, times_power(rest, plan_.scale))};
  }

  Group split(const Batch& batch, size_t first, size_t count) const {
    const size_t m = size_t(op_.m), n = size_t(op_.n), k = size_t(op_.k),
                 padded = size_t(chunks_) * size_t(plan_.unit_k);
    Group group{count, std::vector<Halves>(count * m * padded, Halves{}),
                std::vector<Halves>(count * n * padded, Halves{})};
    GemmCase one(op_);
    for (size_t index = 0; index < count; ++index) {
      one.load(batch, first + index);
      for (size_t i = 0; i < m; ++i)
        for (size_t l = 0; l < k; ++l) group.a[(index * m + i) * padded + l] = halves(one.a[i * k + l]);
      for (size_t j = 0; j < n; ++j)
        for (size_t l = 0; l < k; ++l) group.b[(index * n + j) * padded + l] = halves(one.b[l * n + j]);
    }
    return group;
  }

  /// One dot of the unit for each element: products of chunk `chunk`, starting from `sums`, into `sums`.
  void dots(const Group& group, Part of_a, Part of_b, int chunk, Sums& sums) const {
    const size_t m = size_t(op_.m), n = size_t(op_.n), unit_k = size_t(plan_.unit_k), padded = size_t(chunks_) * unit_k;
    Batch batch(dot_op_);
    batch.resize(sums.size());
    for (size_t at = 0; at < sums.size(); ++at) {
      const size_t index = at / (m * n), i = at / n % m, j = at % n;
      const Halves *row = &group.a[(index * m + i) * padded + size_t(chunk) * unit_k],
                   *column = &group.b[(index * n + j) * padded + size_t(chunk) * unit_k];
      for (size_t l = 0; l < unit_k; ++l) {
        batch.inputs()[0].set(at, static_cast<int>(l), row[l].*of_a);
        batch.inputs()[1].set(at, static_cast<int>(l), column[l].*of_b);
      }
      batch.inputs()[2].set(at, 0, sums[at]);
    }
    Outcomes outcomes;
    dot_->run(batch, outcomes);
    for (size_t at = 0; at < sums.size(); ++at) sums[at] = outcomes.results.get(at);
  }

  void chain(const Group& group, Part of_a, Part of_b, Sums& sums) const {
    for (int chunk = 0; chunk < chunks_; ++chunk) dots(group, of_a, of_b, chunk, sums);
  }

  void evaluate(const Group& group, const Batch& batch, size_t first, Outcomes& outcomes) const {
    const size_t elements = size_t(op_.m) * size_t(op_.n), count = group.cases * elements;
    Sums c(count), zero(count, 0);
    for (size_t at = 0; at < count; ++at) c[at] = batch.c().get(first + at / elements, static_cast<int>(at % elements));
    const Sums& start = op_.has_alpha_beta() ? zero : c;  // of the chain through the unit
    const bool one_chain = !plan_.outside && plan_.scale == 0;
    Sums correction = one_chain ? start : zero;
    if (plan_.residual_product) {
      chain(group, &Halves::residual, &Halves::residual, correction);
      for (size_t at = 0; at < count; ++at) correction[at] = times_power(correction[at], -plan_.scale);
    }
    Sums mixed = plan_.scale == 0 ? correction : zero;
    chain(group, &Halves::main, &Halves::residual, mixed);
    chain(group, &Halves::residual, &Halves::main, mixed);
    for (size_t at = 0; at < count; ++at)
      correction[at] = times_power(
          plan_.scale == 0 || !plan_.residual_product ? mixed[at] : add(correction[at], mixed[at]), -plan_.scale);

    Sums product = one_chain ? correction : plan_.outside ? zero : start;
    if (plan_.outside) {
      for (int chunk = 0; chunk < chunks_; ++chunk) {
        Sums part = zero;
        dots(group, &Halves::main, &Halves::main, chunk, part);
        for (size_t at = 0; at < count; ++at) product[at] = chunk == 0 ? part[at] : add(product[at], part[at]);
      }
    } else {
      chain(group, &Halves::main, &Halves::main, product);
    }
    for (size_t at = 0; at < count; ++at) {
      uint64_t d = one_chain ? product[at] : add(product[at], correction[at]);
      if (op_.has_alpha_beta()) d = scaled(d, c[at]);
      else if (plan_.outside) d = add(d, c[at]);
      outcomes.results.set(first + at / elements, static_cast<int>(at % elements), d);
    }
  }

  uint64_t scaled(uint64_t product, uint64_t c) const {
    const Scalars scalars(op_);
    const auto times = [&](const Exact& scalar, uint64_t x) {
      return rounded(fp32_fields, exact_product(scalar, to_exact(decode(fp32_fields, x))));
    };
    if (!scalars.reads_c()) return scalars.reads_products() ? times(scalars.alpha, product) : 0;
    if (!scalars.reads_products()) return times(scalars.beta, c);
    return add(times(scalars.alpha, product), times(scalars.beta, c));
  }

  CorrectionPlan plan_;
  std::unique_ptr<Unit> dot_;
  Op dot_op_, op_;
  int chunks_;
};

}  // namespace

Op correction_dot(const CorrectionPlan& plan) {
  Op op;
  op.a = op.b = plan.narrow;
  op.c = op.d = format("fp32");
  op.k = plan.unit_k;
  return op;
}

std::unique_ptr<Unit> make_corrected_sgemm(const CorrectionPlan& plan, std::unique_ptr<Unit> dot, const Op& op) {
  return std::make_unique<CorrectedSgemm>(plan, std::move(dot), op);
}

}  // namespace mmafuzz::gemm
