#include "oracles/gemm/accuracy.h"

#include <bit>
#include <cmath>
#include <stdexcept>

#include "core/host_number.h"
#include "oracles/gemm/product_bound.h"
#include "oracles/gemm/scaled_gemm.h"

namespace mmafuzz::gemm {
namespace {

/// The numbers of a column's first case.
std::vector<double> numbers_of(const Format& f, const Column& column) {
  std::vector<double> numbers(static_cast<size_t>(column.count()));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = to_double(f.fields(), column.get(0, static_cast<int>(i)));
  return numbers;
}

std::vector<double> negated(std::vector<double> numbers) {
  for (double& x : numbers) x = -x;
  return numbers;
}

/// In long double, because a double holds the squares of few doubles.
long double dot(const std::vector<double>& x, const std::vector<double>& y) {
  long double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += static_cast<long double>(x[i]) * y[i];
  return sum;
}

long double norm_of(const std::vector<double>& x) { return std::sqrt(dot(x, x)); }

/// `part` over `whole`; nothing over nothing is 0.
double ratio_of(long double part, long double whole) { return static_cast<double>(part == 0 ? 0 : part / whole); }

void fill(Column& column, const std::vector<double>& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) column.set(0, static_cast<int>(i), std::bit_cast<uint64_t>(numbers[i]));
}

/// The numbers that rows of `length` encodings represent once they are quantized; `shared` rows share a scale.
std::vector<double> quantized(const ScaledPlan& plan, const Format& wide, const std::vector<uint64_t>& encodings,
                              int rows, int length, int shared) {
  const QuantizedMatrix matrix = quantized_matrix(plan, wide, encodings, rows, length, shared);
  std::vector<double> numbers;
  for (int i = 0; i < rows; ++i)
    for (int l = 0; l < length; ++l) numbers.push_back(matrix.number(plan, i, l));
  return numbers;
}

}  // namespace

std::optional<int64_t> narrow_products(const Unit& unit, const Batch& product) {
  const Op& op = product.op();
  if (const ResidueGemm* residues = residues_of(unit)) {
    const ResiduePlan& plan = residues->plan();
    return int64_t{plan.moduli} * products_of_modulus(plan.narrow);
  }
  const auto* ozaki = dynamic_cast<const OzakiUnit*>(&unit);
  if (!ozaki) return std::nullopt;
  GemmCase matrices(op);
  matrices.load(product, 0);
  return ozaki->engine().describe({op.m, op.n, op.k}, matrices.a.data(), matrices.b.data()).record.slice_products;
}

ExactProduct::ExactProduct(const Registry& registry, const Batch& product)
    : registry_(registry),
      product_(product),
      a_(numbers_of(product.op().a, product.a())),
      b_(numbers_of(product.op().b, product.b())) {
  const Op& op = product.op();
  const auto m = size_t(op.m), n = size_t(op.n), k = size_t(op.k);
  exact_ = exact(a_, b_, Matrix(m * n, 0.0));
  if (std::none_of(exact_.begin(), exact_.end(), [](double x) { return std::isfinite(x); }))
    throw std::runtime_error("no element of the exact product is finite: there is no error to measure");
  magnitudes_.assign(m * n, 0);
  for (size_t i = 0; i < m; ++i)
    for (size_t l = 0; l < k; ++l)
      for (size_t j = 0; j < n; ++j)
        magnitudes_[i * n + j] += std::fabs(static_cast<long double>(a_[i * k + l]) * b_[l * n + j]);
}

ExactProduct::Matrix ExactProduct::exact(const Matrix& a, const Matrix& b, const Matrix& c) const {
  Op op = product_.op();
  op.a = op.b = op.c = op.d = format("fp64");
  Batch batch(op, 1);
  fill(batch.inputs()[0], a);
  fill(batch.inputs()[1], b);
  fill(batch.inputs()[2], c);
  const Result<std::unique_ptr<Unit>> unit = registry_.bind("exact", op);
  if (!unit) throw std::runtime_error(unit.refusal().reason);
  return numbers_of(op.d, (*unit)->outcomes_of(batch).results);
}

Accuracy ExactProduct::accuracy_of(const Unit& unit, const Batch& inputs, const Column& results) const {
  Accuracy accuracy;
  const Matrix result = numbers_of(inputs.op().d, results);
  accuracy.elements = result.size();
  // With the negated result as c, the exact product is the negated error, rounded only once however small it is.
  Matrix errors = negated(exact(a_, b_, negated(result))), finite_exact = exact_;
  for (size_t i = 0; i < result.size(); ++i) {
    if (!std::isfinite(errors[i]) || !std::isfinite(exact_[i])) {
      ++accuracy.not_finite;
      if (std::isfinite(exact_[i])) ++accuracy.lost;
      errors[i] = finite_exact[i] = 0;
    }
    const double ratio = ratio_of(std::fabs(errors[i]), magnitudes_[i]);
    if (!(ratio > accuracy.greatest)) continue;
    accuracy.greatest = ratio;
    accuracy.row = i / size_t(product_.op().n);
    accuracy.column = i % size_t(product_.op().n);
  }
  accuracy.norm = ratio_of(norm_of(errors), norm_of(finite_exact));
  if (accuracy.not_finite == 0 && unit.name().starts_with("scaled:")) accuracy.steps = steps_of(unit.name(), result);
  return accuracy;
}

std::optional<ExactProduct::Proven> ExactProduct::proven(const Unit& unit, const Batch& inputs,
                                                         const Column& results) const {
  if (!ProductBound::knows(unit)) return std::nullopt;
  ProductBound bound(unit, inputs.op());
  bound.load(inputs, 0);
  Proven proven = {0, 0};
  Matrix bounds;
  for (size_t i = 0; i < exact_.size(); ++i) {
    JudgedError error;
    bound.holds(i, results.get(0, static_cast<int>(i)), error);
    if (error.bound < 0) return std::nullopt;
    bounds.push_back(error.bound);
    if (magnitudes_[i] > 0) proven.greatest = std::max(proven.greatest, ratio_of(error.bound, magnitudes_[i]));
  }
  proven.norm = ratio_of(norm_of(bounds), norm_of(exact_));
  return proven;
}

std::vector<AccuracyStep> ExactProduct::steps_of(const std::string& unit, const Matrix& result) const {
  const Result<NamedScaled> scaled = named_scaled(unit);
  if (!scaled) return {};
  const Op& op = product_.op();
  const ScaledPlan& plan = scaled->plan;
  GemmCase matrices(op);
  matrices.load(product_, 0);
  const Matrix quantized_a = quantized(plan, op.a, matrices.a, op.m, op.k, plan.rows_a),
               columns = quantized(plan, op.b, transposed(matrices.b, op.n), op.n, op.k, plan.columns_b),
               quantized_b = transposed(columns, op.k);
  const Matrix zero(result.size(), 0.0), with_a = exact(quantized_a, b_, zero),
                                         with_both = exact(quantized_a, quantized_b, zero);

  // The result of the same scheme on dots that are exact and rounded once.
  const Result<std::unique_ptr<Unit>> ideal = registry_.bind(UnitName(unit).with("on=exact").text(), op);
  if (!ideal) return {};
  const Matrix rounded = numbers_of(op.d, (*ideal)->outcomes_of(product_).results);

  std::vector<AccuracyStep> steps = {{"a quantized"}, {"b quantized"}, {"sums in fp32"}, {"the unit"}};
  const Matrix* products_by_step[] = {&exact_, &with_a, &with_both, &rounded, &result};
  Matrix total(result.size());
  for (size_t i = 0; i < total.size(); ++i) total[i] = result[i] - exact_[i];
  const long double size = norm_of(exact_), whole = dot(total, total);
  for (size_t s = 0; s < steps.size(); ++s) {
    Matrix added(total.size());
    for (size_t i = 0; i < added.size(); ++i) added[i] = (*products_by_step[s + 1])[i] - (*products_by_step[s])[i];
    steps[s].norm = ratio_of(norm_of(added), size);
    steps[s].share = ratio_of(dot(added, total), whole);
  }
  return steps;
}

}  // namespace mmafuzz::gemm
