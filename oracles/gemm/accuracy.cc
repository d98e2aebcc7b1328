#include "oracles/gemm/accuracy.h"

#include <bit>
#include <cmath>
#include <stdexcept>

#include "core/host_number.h"
#include "oracles/gemm/product_bound.h"
#include "oracles/gemm/scaled_gemm.h"

namespace mmafuzz::gemm {
namespace {

std::vector<double> numbers_of(const Format& f, const Column& column) {
  std::vector<double> all(static_cast<size_t>(column.count()));
  for (size_t i = 0; i < all.size(); ++i) all[i] = to_double(f.fields(), column.get(0, static_cast<int>(i)));
  return all;
}

std::vector<double> negated(std::vector<double> all) {
  for (double& x : all) x = -x;
  return all;
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

Batch gemm_of_doubles(const Op& sizes) {
  Op op = sizes;
  op.a = op.b = op.c = op.d = format("fp64");
  Batch batch(op);
  batch.resize(1);
  return batch;
}

void fill(Column& column, const std::vector<double>& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) column.set(0, static_cast<int>(i), std::bit_cast<uint64_t>(numbers[i]));
}

/// The numbers that a quantized matrix represents, row-major. `transposed`: its rows are the matrix's columns.
std::vector<double> meant_by(const ScaledPlan& plan, const QuantizedMatrix& q, int length, bool transposed) {
  std::vector<double> all(static_cast<size_t>(q.rows) * static_cast<size_t>(length));
  for (int i = 0; i < q.rows; ++i)
    for (int l = 0; l < length; ++l)
      all[transposed ? size_t(l) * size_t(q.rows) + size_t(i) : size_t(i) * size_t(length) + size_t(l)] =
          q.number(plan, i, l);
  return all;
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
  GemmCase in(op);
  in.load(product, 0);
  return ozaki->engine().describe({op.m, op.n, op.k}, in.a.data(), in.b.data()).record.slice_products;
}

ExactProduct::ExactProduct(const Registry& registry, const Batch& product)
    : registry_(registry),
      product_(product),
      a_(numbers_of(product.op().a, product.a())),
      b_(numbers_of(product.op().b, product.b())) {
  const Op& op = product.op();
  const auto m = size_t(op.m), n = size_t(op.n), k = size_t(op.k);
  exact_ = exact(a_, b_, Matrix(m * n, 0.0));
  magnitudes_.assign(m * n, 0);
  for (size_t i = 0; i < m; ++i)
    for (size_t l = 0; l < k; ++l)
      for (size_t j = 0; j < n; ++j) magnitudes_[i * n + j] += std::fabs(a_[i * k + l] * b_[l * n + j]);
}

ExactProduct::Matrix ExactProduct::exact(const Matrix& a, const Matrix& b, const Matrix& c) const {
  Batch batch = gemm_of_doubles(product_.op());
  fill(batch.inputs()[0], a);
  fill(batch.inputs()[1], b);
  fill(batch.inputs()[2], c);
  const Result<std::unique_ptr<Unit>> unit = registry_.bind("exact", batch.op());
  if (!unit) throw std::runtime_error(unit.refusal().reason);
  Outcomes outcomes;
  (*unit)->run(batch, outcomes);
  return numbers_of(batch.op().d, outcomes.results);
}

Accuracy ExactProduct::accuracy_of(const Unit& unit, const Batch& asked, const Column& results) const {
  Accuracy all;
  const Matrix result = numbers_of(asked.op().d, results);
  all.elements = result.size();
  // With the negated result as c, the exact product is the negated error, rounded only once however small it is.
  Matrix errors = negated(exact(a_, b_, negated(result))), finite_exact = exact_;
  for (size_t i = 0; i < result.size(); ++i) {
    if (!std::isfinite(errors[i]) || !std::isfinite(exact_[i])) {
      ++all.not_finite;
      errors[i] = finite_exact[i] = 0;
    }
    const double ratio = errors[i] == 0 ? 0 : std::fabs(errors[i]) / magnitudes_[i];
    if (!(ratio > all.greatest)) continue;
    all.greatest = ratio;
    all.row = i / size_t(product_.op().n);
    all.column = i % size_t(product_.op().n);
  }
  const double size = std::sqrt(dot(finite_exact, finite_exact)), error = std::sqrt(dot(errors, errors));
  all.norm = error == 0 ? 0 : error / size;
  if (all.not_finite == 0 && unit.name().starts_with("scaled:")) all.steps = steps_of(unit.name(), result);
  return all;
}

std::optional<ExactProduct::Proven> ExactProduct::proven(const Unit& unit, const Batch& asked,
                                                         const Column& results) const {
  if (!ProductBound::knows(unit)) return std::nullopt;
  ProductBound bound(unit, asked.op());
  bound.load(asked, 0);
  Proven proven = {0, 0};
  double squares = 0;
  for (size_t i = 0; i < exact_.size(); ++i) {
    JudgedError error;
    bound.holds(i, results.get(0, static_cast<int>(i)), error);
    if (error.bound < 0) return std::nullopt;
    squares += error.bound * error.bound;
    if (magnitudes_[i] > 0) proven.greatest = std::max(proven.greatest, error.bound / magnitudes_[i]);
  }
  const double size = std::sqrt(dot(exact_, exact_));
  proven.norm = size > 0 ? std::sqrt(squares) / size : 0;
  return proven;
}

std::vector<AccuracyStep> ExactProduct::steps_of(const std::string& unit, const Matrix& result) const {
  const Result<NamedScaled> scaled = named_scaled(unit);
  if (!scaled) return {};
  const Op& op = product_.op();
  const ScaledPlan& plan = scaled->plan;
  std::vector<uint64_t> a(a_.size()), columns(b_.size());
  product_.a().unpack(0, a.data());
  for (int l = 0; l < op.k; ++l)
    for (int j = 0; j < op.n; ++j) columns[size_t(j) * size_t(op.k) + size_t(l)] = product_.b().get(0, l * op.n + j);
  const Matrix meant_a = meant_by(plan, quantized_matrix(plan, op.a, a, op.m, op.k, plan.rows_a), op.k, false),
               meant_b = meant_by(plan, quantized_matrix(plan, op.b, columns, op.n, op.k, plan.columns_b), op.k, true);
  const Matrix zero(result.size(), 0.0), of_a = exact(meant_a, b_, zero), of_both = exact(meant_a, meant_b, zero);

  // The result of the same scheme on dots that are exact and rounded once.
  const Result<std::unique_ptr<Unit>> ideal = registry_.bind(UnitName(unit).with("on=exact").text(), op);
  if (!ideal) return {};
  Outcomes outcomes;
  (*ideal)->run(product_, outcomes);
  const Matrix rounded = numbers_of(op.d, outcomes.results);

  std::vector<AccuracyStep> steps = {{"a quantized"}, {"b quantized"}, {"sums in fp32"}, {"the unit"}};
  const Matrix* reached[] = {&exact_, &of_a, &of_both, &rounded, &result};
  Matrix total(result.size());
  for (size_t i = 0; i < total.size(); ++i) total[i] = result[i] - exact_[i];
  const double size = std::sqrt(dot(exact_, exact_)), whole = dot(total, total);
  for (size_t s = 0; s < steps.size(); ++s) {
    Matrix added(total.size());
    for (size_t i = 0; i < added.size(); ++i) added[i] = (*reached[s + 1])[i] - (*reached[s])[i];
    const double norm = std::sqrt(dot(added, added));
    steps[s].norm = norm == 0 ? 0 : norm / size;
    steps[s].share = whole == 0 ? 0 : dot(added, total) / whole;
  }
  return steps;
}

}  // namespace mmafuzz::gemm
