// mmafuzz accuracy: how far units' products of two given matrices are from the exact product.
#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "arithmetic/ieee_operations.h"
#include "cli/command.h"
#include "core/json_text.h"
#include "core/json_version.h"
#include "oracles/gemm/accuracy.h"
#include "plan/case_arrays.h"

namespace mmafuzz::cli {
namespace {

/// The matrices as the one case of a gemm with c of zeros.
Batch product_of(const std::string& a, const std::string& b, const std::string& op_text) {
  std::vector<NamedArray> fields = {read_npy(a), read_npy(b)};
  const Op op = op_of_arrays(op_text.empty() ? op_line_of_arrays(fields) : op_text, fields);
  if (op.kind != OpKind::gemm) throw BadInput("accuracy is of matrix products: a is (m, k), b is (k, n)");
  Batch batch = cases_of_arrays(op, std::move(fields)).batch;
  if (batch.size() != 1) throw BadInput("accuracy takes one product; here are " + std::to_string(batch.size()));
  return batch;
}

/// The same matrices with other formats, into which they fit.
Batch in_formats(const Batch& product, const Format& operands, const Format& results) {
  Op op = product.op();
  op.a = op.b = operands;
  op.c = op.d = results;
  Batch batch(op);
  batch.resize(1);
  for (size_t field = 0; field < 2; ++field) {
    const FormatFields& from = product.op().input_format(field).fields();
    for (int i = 0; i < batch.inputs()[field].count(); ++i)
      batch.inputs()[field].set(
          0, i, convert_number(operands.fields(), decode(from, product.inputs()[field].get(0, i)), {}).encoding);
  }
  return batch;
}

/// The product as a unit takes it: operands as they are, with results in fp32, or in their own format where that is
/// wider; or all in fp32, or in fp64.
std::pair<std::unique_ptr<Unit>, Batch> bound(const std::string& unit, const Batch& product) {
  const Format &own = product.op().a, fp32 = format("fp32"), fp64 = format("fp64");
  const bool wide = own.fields().precision() > fp32.fields().precision();
  std::string reason;
  if (own == product.op().b) {
    for (const auto& [operands, results] :
         {std::pair{own, wide ? own : fp32}, {own, wide ? fp32 : own}, {fp32, fp32}, {fp64, fp64}}) {
      const bool fits = operands == own || (operands.fields().precision() >= own.fields().precision() &&
                                            operands.fields().width > own.fields().width);
      if (!fits) continue;
      Batch batch = operands == own && product.op().c == results ? product : in_formats(product, operands, results);
      Result<std::unique_ptr<Unit>> one = registry().bind(unit, batch.op());
      if (one) return {std::move(*one), std::move(batch)};
      if (one.refusal().kind != Refusal::Kind::declined) throw BadInput(one.refusal().reason);
      if (reason.empty()) reason = one.refusal().reason;
    }
    throw BadInput(reason);
  }
  return {bind_or_fail(unit, product.op()), product};
}

/// What is measured of one unit.
struct Measured {
  std::string unit;
  Op op;
  gemm::Accuracy accuracy;
  std::optional<int64_t> narrow_products;
};

Measured measured(const std::string& name, const Batch& product, const gemm::ExactProduct& exact) {
  const auto [unit, batch] = bound(name, product);
  Outcomes outcomes;
  unit->run(batch, outcomes);
  if (!outcomes.has_answer(0)) throw BadInput(unit->name() + " gave no answer");
  return {unit->name(), batch.op(), exact.accuracy_of(batch.op().d, outcomes.results, unit->name()),
          gemm::narrow_products(*unit, batch)};
}

/// The setting that says how many products a scheme takes, its least value and its greatest; nothing of other units.
struct Count {
  const char* setting;
  int least, greatest;
};
std::optional<Count> count_of(const std::string& unit) {
  if (unit.starts_with("ozaki2:")) return Count{"moduli", 2, 20};
  if (unit.starts_with("ozaki:") && !unit.starts_with("ozaki:dgemm.cublas")) return Count{"slices", 1, 40};
  return std::nullopt;
}

/// The least count with which a scheme errs by no more than `wanted`, or the best one; another unit as it is.
Measured sufficient(const std::string& name, const Batch& product, const gemm::ExactProduct& exact, double wanted) {
  const std::optional<Count> count = count_of(name);
  if (!count) return measured(name, product, exact);
  std::optional<Measured> best;
  for (int n = count->least; n <= count->greatest; ++n) {
    UnitName with(name);
    with.settings = std::string(count->setting) + "=" + std::to_string(n) +
                    (with.settings.empty() ? "" : "," + with.settings);  // on= stays last
    Measured one = measured(with.text(), product, exact);
    if (!best || one.accuracy.norm < best->accuracy.norm) best = std::move(one);
    if (best->accuracy.norm <= wanted) break;
  }
  return std::move(*best);
}

nlohmann::json as_json(const Measured& m) {
  const gemm::Accuracy& accuracy = m.accuracy;
  nlohmann::json steps = nlohmann::json::array();
  for (const gemm::AccuracyStep& s : accuracy.steps)
    steps.push_back({{"name", s.name}, {"norm", s.norm}, {"share", s.share}});
  nlohmann::json one = {{"unit", m.unit},
                        {"op", to_text(m.op)},
                        {"elements", accuracy.elements},
                        {"not_finite", accuracy.not_finite},
                        {"norm", accuracy.norm},
                        {"greatest", accuracy.greatest},
                        {"row", accuracy.row},
                        {"column", accuracy.column},
                        {"steps", steps}};
  if (m.narrow_products) one["narrow_products"] = *m.narrow_products;
  return one;
}

void print(const Measured& m, const Op& given) {
  const gemm::Accuracy& accuracy = m.accuracy;
  fmt::print("{}\n  error {:.3g} of the product's norm; greatest {:.3g} of |a||b|, in row {}, column {}\n", m.unit,
             accuracy.norm, accuracy.greatest, accuracy.row, accuracy.column);
  if (m.op.a != given.a) fmt::print("  asked with a and b in {}, c and d in {}\n", m.op.a.name(), m.op.d.name());
  if (m.narrow_products) fmt::print("  {} products of narrow matrices\n", *m.narrow_products);
  if (accuracy.not_finite)
    fmt::print("  {} of {} elements are not finite, here or exactly: left out\n", accuracy.not_finite,
               accuracy.elements);
  for (const gemm::AccuracyStep& s : accuracy.steps)
    fmt::print("  {:>14}  {:>9.3g}  {:>6.1f} % of the error\n", s.name, s.norm,
               std::fabs(s.share) < 0.0005 ? 0.0 : 100 * s.share);
}

}  // namespace

void add_accuracy(Arguments& app, int& status) {
  struct Options {
    std::string a, b, op;
    std::vector<std::string> units;
    double within = 0;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub = app.add_subcommand("accuracy", "Measure units' products of two matrices against the exact product");
  sub->add_option("a", options->a, ".npy file of a, (m, k)")->required();
  sub->add_option("b", options->b, ".npy file of b, (k, n)")->required();
  sub->add_option("units", options->units, "units that take matrix products")->required();
  sub->add_option("--op", options->op,
                  "op line, where the files' types do not tell it: 'gemm a=bf16 b=bf16 c=fp32 d=fp32'");
  sub->add_option("--within", options->within,
                  "find the fewest moduli (ozaki2:) or slices (ozaki:) whose error is at most that share of the "
                  "product's norm; exit code 1 where one unit does not reach it")
      ->check(positive_number());
  sub->add_flag("--json", options->json, "print one JSON object");
  add_rows_option(*sub);
  sub->footer(
      "Example: mmafuzz accuracy a.npy b.npy scaled:fp8.tile scaled:mxfp8.e4m3 scaled:nvfp4\n"
      "         mmafuzz accuracy a.npy b.npy --within 1e-6 ozaki:dgemm.fp16 ozaki2:dgemm.s8");
  sub->callback([options, &status] {
    const Batch product = product_of(options->a, options->b, options->op);
    const gemm::ExactProduct exact(registry(), product);
    nlohmann::json all = nlohmann::json::array();
    status = exit_ok;
    for (const std::string& name : split_units(options->units)) {
      const Measured one =
          options->within > 0 ? sufficient(name, product, exact, options->within) : measured(name, product, exact);
      const bool short_of_it = options->within > 0 && !(one.accuracy.norm <= options->within);
      if (short_of_it) status = exit_divergence;
      if (options->json) {
        all.push_back(as_json(one));
        continue;
      }
      print(one, product.op());
      if (short_of_it) fmt::print("  does not reach {:g}\n", options->within);
    }
    if (options->json) fmt::print("{}", json_text(nlohmann::json{{"json_version", json_version}, {"units", all}}));
  });
}

}  // namespace mmafuzz::cli
