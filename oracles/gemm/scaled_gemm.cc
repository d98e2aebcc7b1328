#include "oracles/gemm/scaled_gemm.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/block_case.h"
#include "core/function_unit.h"
#include "core/host_number.h"
#include "oracles/gemm/gemm_case.h"
#include "oracles/lanes/host_float.h"

namespace mmafuzz::gemm {
namespace {

/// The least multiple of n that is not below x.
int next_multiple(int x, int n) { return (x + n - 1) / n * n; }

/// The op that quantizes one block of `count` numbers.
Op block_op(const ScaledPlan& plan, const Format& wide, int count) {
  Op op;
  op.kind = OpKind::quantize;
  op.a = wide;
  op.d = plan.element;
  op.scale_a = plan.scale;
  if (plan.has_tensor_scale) op.scale_b = format("fp32");
  op.k = count;
  op.scale_rule = plan.rule;
  return op;
}

/// amax / (greatest element * greatest scale), the nearest number of fp32, so that the greatest block's scale is the
/// greatest; at least the least positive number, and 1 for a matrix of zeros (NVIDIA, NVFP4).
uint32_t tensor_scale(const ScaledPlan& plan, const Format& wide, const std::vector<uint64_t>& numbers) {
  double amax = 0;
  for (const uint64_t encoding : numbers) {
    const double x = std::fabs(to_double(wide.fields(), encoding));
    if (std::isfinite(x)) amax = std::max(amax, x);
  }
  if (amax == 0) return fp32_one;
  const FormatFields &e = plan.element.fields(), &s = plan.scale.fields();
  const double greatest = to_double(greatest_element(e)) * to_double(s, s.encode_greatest(false));
  return std::bit_cast<uint32_t>(std::max(static_cast<float>(amax / greatest), std::bit_cast<float>(1u)));
}

class ScaledGemm final : public Unit {
 public:
  ScaledGemm(const ScaledPlan& plan, std::unique_ptr<Unit> dot, const Op& op)
      : plan_(plan), dot_(std::move(dot)), dot_op_(scaled_dot(plan)), op_(op) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    GemmCase matrices(op_);
    for (size_t i = 0; i < batch.size(); ++i) {
      matrices.load(batch, i);
      multiply(matrices, i, outcomes.results);
    }
  }

 private:
  static constexpr size_t max_dots = 4096;  ///< in one call of the unit

  void multiply(const GemmCase& matrices, size_t index, Column& results) const {
    const QuantizedMatrix a = quantized_matrix(plan_, op_.a, matrices.a, op_.m, op_.k, plan_.rows_a),
                          b = quantized_matrix(plan_, op_.b, transposed(matrices.b, op_.n), op_.n, op_.k,
                                               plan_.columns_b);
    const size_t elements = size_t(op_.m) * size_t(op_.n);
    const Fp32 fp32(default_float_environment());
    for (size_t first = 0; first < elements; first += max_dots) {
      const size_t count = std::min(max_dots, elements - first);
      const std::vector<uint32_t> sums = chains(fp32, a, b, first, count);
      for (size_t dot = 0; dot < count; ++dot) {
        const auto row = int((first + dot) / size_t(op_.n)), column = int((first + dot) % size_t(op_.n));
        uint32_t sum = sums[dot], factor = fp32.times(a.tensor_scale, b.tensor_scale);
        if (plan_.scaled_by == ScaledBy::end && plan_.applies_scales_in_turn()) {
          sum = fp32.times(sum, scale_in_fp32(b, column, 0));
          factor = scale_in_fp32(a, row, 0);
        } else if (plan_.scaled_by == ScaledBy::end) {
          factor = product_of_scales(fp32, a, row, b, column, 0);
        }
        results.set(index, int(first + dot), fp32.fma(sum, factor, uint32_t(matrices.c[first + dot])));
      }
    }
  }

  uint32_t scale_in_fp32(const QuantizedMatrix& m, int row, int block) const {
    const uint32_t code = m.scales[size_t(row) * size_t(m.blocks) + size_t(block)];
    return static_cast<uint32_t>(rounded(fp32_fields, to_exact(decode(plan_.scale.fields(), code))));
  }

  uint32_t product_of_scales(const Fp32& fp32, const QuantizedMatrix& a, int row, const QuantizedMatrix& b, int column,
                             int block) const {
    return fp32.times(scale_in_fp32(a, row, block), scale_in_fp32(b, column, block));
  }

  /// The sums of the products of `count` elements from `first` on, with the scales of ScaledBy::unit and interval.
  std::vector<uint32_t> chains(const Fp32& fp32, const QuantizedMatrix& a, const QuantizedMatrix& b, size_t first,
                               size_t count) const {
    Batch dots(dot_op_, count);
    std::vector<uint32_t> partial(count, 0), sums(count, 0);
    Outcomes outcomes;
    for (int begin = 0; begin < a.length; begin += plan_.unit_k) {
      fill(dots, a, b, first, begin);
      std::memcpy(dots.inputs()[2].data(), partial.data(), 4 * count);
      dot_->run(dots, outcomes);
      std::memcpy(partial.data(), outcomes.results.data(), 4 * count);
      const int end = begin + plan_.unit_k;
      if (plan_.promote == 0 || (end % plan_.promote != 0 && end < a.length)) continue;
      for (size_t dot = 0; dot < count; ++dot) {
        const auto row = int((first + dot) / size_t(op_.n)), column = int((first + dot) % size_t(op_.n));
        if (plan_.scaled_by != ScaledBy::interval) {
          sums[dot] = fp32.add(sums[dot], partial[dot]);
          continue;
        }
        const int block = begin / plan_.block;
        uint32_t term = partial[dot], factor;
        if (plan_.applies_scales_in_turn()) {
          term = fp32.times(term, scale_in_fp32(a, row, block));
          factor = scale_in_fp32(b, column, block);
        } else {
          factor = product_of_scales(fp32, a, row, b, column, block);
        }
        sums[dot] = fp32.fma(term, factor, sums[dot]);
      }
      partial.assign(count, 0);
    }
    return plan_.promote == 0 ? partial : sums;
  }

  /// Writes the operands and scales of dots of the elements from `first` on, which begin at product `begin` along k.
  void fill(Batch& dots, const QuantizedMatrix& a, const QuantizedMatrix& b, size_t first, int begin) const {
    const auto k = size_t(plan_.unit_k);
    for (size_t dot = 0; dot < dots.size(); ++dot) {
      const size_t element = first + dot, row = element / size_t(op_.n), column = element % size_t(op_.n);
      std::memcpy(dots.inputs()[0].data() + dot * k, &a.codes[row * size_t(a.length) + size_t(begin)], k);
      std::memcpy(dots.inputs()[1].data() + dot * k, &b.codes[column * size_t(b.length) + size_t(begin)], k);
      for (int s = 0; s < dot_op_.scales(); ++s) {
        const size_t block = size_t(begin / plan_.block + s);
        dots.inputs()[3].set(dot, s, a.scales[row * size_t(a.blocks) + block]);
        dots.inputs()[4].set(dot, s, b.scales[column * size_t(b.blocks) + block]);
      }
    }
  }

  ScaledPlan plan_;
  std::unique_ptr<Unit> dot_;
  Op dot_op_, op_;
};

}  // namespace

double QuantizedMatrix::number(const ScaledPlan& plan, int row, int element) const {
  const size_t block = plan.block ? size_t(element / plan.block) : 0;
  const double scale = to_double(plan.scale.fields(), scales[size_t(row) * size_t(blocks) + block]);
  return to_double(plan.element.fields(), codes[size_t(row) * size_t(length) + size_t(element)]) * scale *
         double{std::bit_cast<float>(tensor_scale)};
}

QuantizedMatrix quantized_matrix(const ScaledPlan& plan, const Format& wide, const std::vector<uint64_t>& numbers,
                                 int rows, int length, int shared) {
  QuantizedMatrix q;
  q.rows = rows;
  q.length = next_multiple(next_multiple(length, plan.unit_k), std::max(plan.block, 1));
  const int block = plan.block ? plan.block : q.length;
  const int group = shared ? shared : rows;  // as in frameworks, the last group of rows can be shorter
  q.blocks = q.length / block;
  q.codes.assign(size_t(rows) * size_t(q.length), 0);
  q.scales.assign(size_t(rows) * size_t(q.blocks), 0);
  if (plan.has_tensor_scale) q.tensor_scale = tensor_scale(plan, wide, numbers);
  const Op op = block_op(plan, wide, block * group);
  QuantizedBlock quantizer(op);
  Batch input(op, 1);
  Column result(op.result().format, op.result().count);
  result.resize(1);
  for (int first = 0; first < rows; first += group) {
    const int rows_here = std::min(group, rows - first);
    for (int block_index = 0; block_index < q.blocks; ++block_index) {
      for (int i = 0; i < group; ++i)
        for (int l = 0; l < block; ++l) {
          const int element = block_index * block + l;
          const bool inside = i < rows_here && element < length;
          input.inputs()[0].set(0, i * block + l,
                                inside ? numbers[size_t(first + i) * size_t(length) + size_t(element)] : 0);
        }
      if (plan.has_tensor_scale) input.inputs()[1].set(0, 0, q.tensor_scale);
      quantizer.run(input, 0, result);
      for (int i = 0; i < rows_here; ++i) {
        q.scales[size_t(first + i) * size_t(q.blocks) + size_t(block_index)] = static_cast<uint32_t>(result.get(0, 0));
        for (int l = 0; l < block; ++l)
          q.codes[size_t(first + i) * size_t(q.length) + size_t(block_index * block + l)] =
              static_cast<uint8_t>(result.get(0, 1 + i * block + l));
      }
    }
  }
  return q;
}

Op scaled_dot(const ScaledPlan& plan) {
  Op op = dot_op(plan.element.name(), "fp32", "fp32", plan.unit_k);
  if (plan.scaled_by == ScaledBy::unit) {
    op.scale_a = op.scale_b = plan.unit_scale;
    op.scale_block = plan.block;
  }
  return op;
}

std::unique_ptr<Unit> make_scaled_gemm(const ScaledPlan& plan, std::unique_ptr<Unit> dot, const Op& op) {
  return std::make_unique<ScaledGemm>(plan, std::move(dot), op);
}

}  // namespace mmafuzz::gemm
