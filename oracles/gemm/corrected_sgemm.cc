#include "oracles/gemm/corrected_sgemm.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "oracles/convert/bulk_convert_simd.h"
#include "oracles/gemm/fp32.h"
#include "oracles/gemm/gemm_case.h"
#include "oracles/lanes/host_float.h"
#include "core/function_unit.h"

namespace mmafuzz::gemm {
namespace {

/// Splits fp32 numbers: main = x rounded to the narrow format, residual = (x - main) * 2^scale rounded to it. x - main
/// is exact in fp32 unless main overflowed, and then the residual is an infinity of the other sign.
class Splitter {
 public:
  Splitter(const Format& narrow, int scale)
      : narrow_(narrow.fields()), bytes_(narrow.storage_bytes()), scale_(scale), bulk_(narrow_, {}) {}

  /// Writes x.size() encodings, of the narrow format's storage_bytes() each, to main and residual.
  void split(const std::vector<uint32_t>& x, bool by_host, uint8_t* main, uint8_t* residual) const {
    if (!by_host) return one_by_one(x, main, residual);
    constexpr uint64_t first = 0;
    constexpr uint8_t* no_flags = nullptr;
    bulk_.run(x.data(), x.size(), first, main, no_flags);
    std::vector<uint32_t> rest(x.size());
    widen(main, rest);
    const float factor = std::ldexp(1.0f, scale_);
    // Subtraction and scaling are exact, or overflow as the rounding to the narrow format would.
    for (size_t i = 0; i < x.size(); ++i)
      rest[i] = std::bit_cast<uint32_t>((std::bit_cast<float>(x[i]) - std::bit_cast<float>(rest[i])) * factor);
    bulk_.run(rest.data(), rest.size(), first, residual, no_flags);
  }

 private:
  /// fp32 encodings of narrow ones, which are of tf32, whose container is fp32's, or of fp16.
  void widen(const uint8_t* narrow, std::vector<uint32_t>& wide) const {
    if (bytes_ == 4) {
      std::memcpy(wide.data(), narrow, 4 * wide.size());
      return;
    }
    static const WideningTable fp16(fp16_fields);  // made where it is first read
    fp16.run(reinterpret_cast<const uint16_t*>(narrow), wide.size(), wide.data());
  }
  void one_by_one(const std::vector<uint32_t>& x, uint8_t* main, uint8_t* residual) const {
    for (size_t i = 0; i < x.size(); ++i) {
      const Exact value = to_exact(decode(fp32_fields, x[i]));
      const uint64_t main_code = rounded(narrow_, value);
      Exact minus_main = to_exact(decode(narrow_, main_code));
      minus_main.negative = !minus_main.negative;
      Exact rest = to_exact(decode(fp32_fields, add_exact(fp32_fields, value, minus_main, {}).encoding));
      rest.exponent += scale_;
      const uint64_t residual_code = rounded(narrow_, rest);
      std::memcpy(main + i * size_t(bytes_), &main_code, size_t(bytes_));
      std::memcpy(residual + i * size_t(bytes_), &residual_code, size_t(bytes_));
    }
  }

  FormatFields narrow_;
  int bytes_, scale_;
  BulkConversion bulk_;
};

class CorrectedSgemm final : public Unit {
 public:
  CorrectedSgemm(const CorrectionPlan& plan, std::unique_ptr<Unit> dot, const Op& op)
      : plan_(plan),
        dot_(std::move(dot)),
        dot_op_(correction_dot(plan)),
        op_(op),
        chunks_((op.k + plan.unit_k - 1) / plan.unit_k),
        splitter_(plan.narrow, plan.scale),
        slicing_{.widths = {narrow_bits(), narrow_bits()}, .slices = 2, .block = plan.unit_k} {}

  /// Main part and residual are two slices.
  const Slicing* slicing() const override { return &slicing_; }

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    const size_t elements = size_t(op_.m) * size_t(op_.n), group = std::max<size_t>(1, max_dots / elements);
    for (size_t first = 0; first < batch.size(); first += group) {
      Group cases = split(batch, first, std::min(group, batch.size() - first));
      evaluate(cases, batch, first, outcomes);
    }
  }

 private:
  static constexpr size_t max_dots = 4096;  ///< in one call of the unit, unless one case has more

  int narrow_bits() const { return plan_.narrow.fields().precision(); }

  /// Encodings of the main parts, or of the residuals, of some cases' operands: the rows of a and the columns of b,
  /// padded with zeros to whole dots.
  struct Parts {
    std::vector<uint8_t> a, b;
  };
  struct Group {
    size_t cases = 0;
    bool by_host = false;
    Parts main, residual;
    Batch dots;
  };
  using Part = Parts Group::*;         ///< main or residual
  using Sums = std::vector<uint32_t>;  ///< one fp32 number for each element of each case

  Group split(const Batch& batch, size_t first, size_t count) const {
    const size_t m = size_t(op_.m), n = size_t(op_.n), k = size_t(op_.k),
                 padded = size_t(chunks_) * size_t(plan_.unit_k);
    std::vector<uint32_t> a(count * m * padded), b(count * n * padded);
    for (size_t index = 0; index < count; ++index) {
      const uint8_t *from_a = batch.a().data() + (first + index) * batch.a().stride(),
                    *from_b = batch.b().data() + (first + index) * batch.b().stride();
      for (size_t i = 0; i < m; ++i) std::memcpy(&a[(index * m + i) * padded], from_a + 4 * i * k, 4 * k);
      for (size_t j = 0; j < n; ++j)
        for (size_t l = 0; l < k; ++l) std::memcpy(&b[(index * n + j) * padded + l], from_b + 4 * (l * n + j), 4);
    }
    Group group;
    group.cases = count;
    group.by_host = default_float_environment();
    group.dots = Batch(dot_op_);
    group.dots.resize(count * m * n);
    const size_t bytes = size_t(plan_.narrow.storage_bytes());
    for (Parts* parts : {&group.main, &group.residual}) {
      parts->a.resize(a.size() * bytes);
      parts->b.resize(b.size() * bytes);
    }
    splitter_.split(a, group.by_host, group.main.a.data(), group.residual.a.data());
    splitter_.split(b, group.by_host, group.main.b.data(), group.residual.b.data());
    return group;
  }

  /// Adds one dot of the unit, over products chunk * unit_k and following, to the sum of each element.
  void add_dots(Group& group, Part part_a, Part part_b, int chunk, Sums& sums) const {
    const size_t m = size_t(op_.m), n = size_t(op_.n),
                 bytes = size_t(plan_.unit_k) * size_t(plan_.narrow.storage_bytes()), line = bytes * size_t(chunks_),
                 skipped = bytes * size_t(chunk);
    std::vector<Column>& inputs = group.dots.inputs();
    size_t dot = 0;
    for (size_t index = 0; index < group.cases; ++index)
      for (size_t i = 0; i < m; ++i)
        for (size_t j = 0; j < n; ++j, ++dot) {
          std::memcpy(inputs[0].data() + dot * bytes, &(group.*part_a).a[(index * m + i) * line + skipped], bytes);
          std::memcpy(inputs[1].data() + dot * bytes, &(group.*part_b).b[(index * n + j) * line + skipped], bytes);
        }
    std::memcpy(inputs[2].data(), sums.data(), 4 * sums.size());
    const Outcomes outcomes = dot_->outcomes_of(group.dots);
    std::memcpy(sums.data(), outcomes.results.data(), 4 * sums.size());
  }

  void chain(Group& group, Part part_a, Part part_b, Sums& sums) const {
    for (int chunk = 0; chunk < chunks_; ++chunk) add_dots(group, part_a, part_b, chunk, sums);
  }

  void evaluate(Group& group, const Batch& batch, size_t first, Outcomes& outcomes) const {
    const Fp32 fp32(group.by_host);
    const size_t elements = size_t(op_.m) * size_t(op_.n), count = group.cases * elements;
    Sums c(count), zero(count, 0);
    std::memcpy(c.data(), batch.c().data() + first * batch.c().stride(), 4 * count);
    const Sums& start = op_.has_alpha_beta() ? zero : c;  // where the chain through the unit starts
    const bool one_chain = !plan_.adds_outside && plan_.scale == 0;
    // Products with a residual. Without a scale they are one chain; otherwise that of the two residuals has the scale
    // twice, and the mixed ones are a chain beside it.
    Sums correction = one_chain ? start : zero;
    if (plan_.residual_product) {
      chain(group, &Group::residual, &Group::residual, correction);
      for (size_t element = 0; element < count; ++element)
        correction[element] = fp32.times_power(correction[element], -plan_.scale);
    }
    Sums mixed = plan_.scale == 0 ? correction : zero;
    chain(group, &Group::main, &Group::residual, mixed);
    chain(group, &Group::residual, &Group::main, mixed);
    for (size_t element = 0; element < count; ++element)
      correction[element] = fp32.times_power(
          plan_.scale == 0 || !plan_.residual_product ? mixed[element] : fp32.add(correction[element], mixed[element]),
          -plan_.scale);

    Sums product = one_chain ? correction : plan_.adds_outside ? zero : start;
    if (plan_.adds_outside) {
      for (int chunk = 0; chunk < chunks_; ++chunk) {
        Sums partial = zero;
        add_dots(group, &Group::main, &Group::main, chunk, partial);
        for (size_t element = 0; element < count; ++element)
          product[element] = chunk == 0 ? partial[element] : fp32.add(product[element], partial[element]);
      }
    } else {
      chain(group, &Group::main, &Group::main, product);
    }
    for (size_t element = 0; element < count; ++element) {
      uint32_t d = one_chain ? product[element] : fp32.add(product[element], correction[element]);
      if (op_.has_alpha_beta()) d = with_scalars(fp32, d, c[element]);
      else if (plan_.adds_outside) d = fp32.add(d, c[element]);
      outcomes.results.set(first + element / elements, static_cast<int>(element % elements), d);
    }
  }

  uint32_t with_scalars(const Fp32& fp32, uint32_t product, uint32_t c) const {
    const auto alpha = static_cast<uint32_t>(op_.alpha.value_or(fp32_one)),
               beta = static_cast<uint32_t>(op_.beta.value_or(fp32_one));
    if (is_zero(fp32_fields, beta)) return is_zero(fp32_fields, alpha) ? 0 : fp32.times(alpha, product);
    if (is_zero(fp32_fields, alpha)) return fp32.times(beta, c);
    return fp32.add(fp32.times(alpha, product), fp32.times(beta, c));
  }

  CorrectionPlan plan_;
  std::unique_ptr<Unit> dot_;
  Op dot_op_, op_;
  int chunks_;
  Splitter splitter_;
  Slicing slicing_;
};

}  // namespace

Op correction_dot(const CorrectionPlan& plan) { return dot_op(plan.narrow.name(), "fp32", "fp32", plan.unit_k); }

std::unique_ptr<Unit> make_corrected_sgemm(const CorrectionPlan& plan, std::unique_ptr<Unit> dot, const Op& op) {
  return std::make_unique<CorrectedSgemm>(plan, std::move(dot), op);
}

}  // namespace mmafuzz::gemm
