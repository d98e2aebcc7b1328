// mmafuzz accuracy: how far units' products of two given matrices are from the exact product.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "arithmetic/ieee_operations.h"
#include "cli/command.h"
#include "core/json_text.h"
#include "core/text.h"
#include "oracles/gemm/accuracy.h"
#include "oracles/gemm/schemes_of_gpu.h"
#include "oracles/models/gpu_names.h"
#include "plan/case_arrays.h"

namespace mmafuzz::cli {
namespace {

/// The matrices of two .npy files as the one case of a gemm whose c is zero.
Batch product_of(const std::string& a, const std::string& b, const std::string& op_text) {
  std::vector<NamedArray> fields = {read_npy(a), read_npy(b)};
  const Op op = op_of_arrays(op_text.empty() ? op_line_of_arrays(fields) : op_text, fields);
  if (op.kind != OpKind::gemm) throw BadInput("accuracy is of matrix products: a is (m, k), b is (k, n)");
  Batch batch = cases_of_arrays(op, std::move(fields)).batch;
  if (batch.size() != 1) throw BadInput("accuracy takes one product; here are " + std::to_string(batch.size()));
  return batch;
}

/// The same matrices in other formats: a and b in `operands`, which must hold their values, c and d in `results`.
Batch in_formats(const Batch& product, const Format& operands, const Format& results) {
  Op op = product.op();
  op.a = op.b = operands;
  op.c = op.d = results;
  Batch batch(op, 1);
  for (size_t field = 0; field < 2; ++field) {
    const FormatFields& from = product.op().input_format(field).fields();
    for (int i = 0; i < batch.inputs()[field].count(); ++i)
      batch.inputs()[field].set(
          0, i, convert_number(operands.fields(), decode(from, product.inputs()[field].get(0, i)), {}).encoding);
  }
  return batch;
}

/// Why a scheme does not take the product in its own format, fp64 or fp32; "" where it does.
std::string refusal_of(const std::string& unit, const Batch& product) {
  const bool is_wide = unit.find(":dgemm") != std::string::npos;
  Op op = product.op();
  op.a = op.b = op.c = op.d = format(is_wide ? "fp64" : "fp32");
  const Result<std::unique_ptr<Unit>> bound = registry().bind(unit, op);
  return bound ? "" : bound.refusal().reason;
}

/// The unit, and the product in the first formats that the unit takes: operands as they are, with results in the wider
/// of fp32 and their own format, then in the other of the two; then all in fp32; then all in fp64. A product of a and b
/// in unlike formats stays as it is. Throws BadInput where the unit takes none.
std::pair<std::unique_ptr<Unit>, Batch> bind_to_product(const std::string& unit, const Batch& product) {
  const Format &given = product.op().a, fp32 = format("fp32"), fp64 = format("fp64");
  const bool is_wide = given.fields().precision() > fp32.fields().precision();
  std::string reason;
  if (given == product.op().b) {
    for (const auto& [operands, results] :
         {std::pair{given, is_wide ? given : fp32}, {given, is_wide ? fp32 : given}, {fp32, fp32}, {fp64, fp64}}) {
      const bool fits = operands == given || (operands.fields().precision() >= given.fields().precision() &&
                                              operands.fields().width > given.fields().width);
      if (!fits) continue;
      Batch batch = operands == given && product.op().c == results ? product : in_formats(product, operands, results);
      Result<std::unique_ptr<Unit>> bound = registry().bind(unit, batch.op());
      if (bound) return {std::move(*bound), std::move(batch)};
      if (bound.refusal().kind != Refusal::Kind::declined) throw BadInput(bound.refusal().reason);
      if (reason.empty()) reason = bound.refusal().reason;
    }
    throw BadInput(reason);
  }
  return {bind_or_fail(unit, product.op()), product};
}

/// The number of products m * n * k up to which an error bound is computed, in about a second.
constexpr int64_t max_bounded = int64_t{1} << 22;
bool may_be_bounded(const Op& op) { return int64_t{op.m} * op.n * op.k <= max_bounded; }

/// What is measured of one unit.
struct Measured {
  std::string unit;
  Op op;
  gemm::Accuracy accuracy;
  std::optional<int64_t> narrow_products;
  std::optional<gemm::ExactProduct::Proven> proven;
};

enum class Bound { computed, left_out };

Measured measured(const Unit& unit, const Batch& batch, const gemm::ExactProduct& exact, Bound bound) {
  const Outcomes outcomes = unit.outcomes_of(batch);
  if (!outcomes.has_answer(0)) throw BadInput(unit.name() + " gave no answer");
  Measured m = {unit.name(), batch.op(), exact.accuracy_of(unit, batch, outcomes.results),
                gemm::narrow_products(unit, batch), std::nullopt};
  if (bound == Bound::computed && may_be_bounded(m.op)) m.proven = exact.proven(unit, batch, outcomes.results);
  return m;
}
Measured measured(const std::string& name, const Batch& product, const gemm::ExactProduct& exact,
                  Bound bound = Bound::computed) {
  const auto [unit, batch] = bind_to_product(name, product);
  return measured(*unit, batch, exact, bound);
}

/// The setting of a scheme that decides the number of its narrow products, with the range of its values.
struct CountSetting {
  const char* name;
  int least, greatest;
};
/// That of a unit's scheme; nullopt for other units.
std::optional<CountSetting> count_setting_of(const std::string& unit) {
  if (unit.starts_with("ozaki2:")) return CountSetting{"moduli", 2, 20};
  if (unit.starts_with("ozaki:") && !unit.starts_with("ozaki:dgemm.cublas")) return CountSetting{"slices", 1, 40};
  return std::nullopt;
}

/// The error that --within asks for, as a share of the product's norm or, with --componentwise, of |a||b| at each
/// element. Every accuracy satisfies a wish that was not made.
struct Wish {
  bool is_made = false;
  double error = 0;
  bool of_each_element = false;
  std::string words;

  double error_of(const Measured& m) const { return of_each_element ? m.accuracy.greatest : m.accuracy.norm; }
  /// An element that the unit loses to an overflow has no error that a number says: no wish is satisfied.
  bool is_met_by(const Measured& m) const { return !is_made || (m.accuracy.lost == 0 && error_of(m) <= error); }
  bool is_nearer(const Measured& x, const Measured& y) const {
    return std::pair(x.accuracy.lost, error_of(x)) < std::pair(y.accuracy.lost, error_of(y));
  }
  const char* unit() const { return of_each_element ? "of |a||b|" : "of the product's norm"; }
};

/// The wish of --within: a number, or fp32 or fp64, the error of a chain of FMAs in it on this product; "" is no wish.
Wish wish_of(const std::string& text, bool of_each_element, const Batch& product, const gemm::ExactProduct& exact) {
  Wish wish;
  wish.is_made = !text.empty();
  wish.of_each_element = of_each_element;
  if (text == "fp64" || text == "fp32") {
    const Batch batch = in_formats(product, format(text), format(text));
    wish.error = wish.error_of(measured(*bind_or_fail("ieee:fma", batch.op()), batch, exact, Bound::left_out));
    wish.words = ", as a chain of fused multiply-adds in " + text + " errs";
  } else if (!text.empty()) {
    if (!parse_number(text, wish.error) || !(wish.error > 0))
      throw BadInput("--within takes a positive number, fp64 or fp32, not " + mmafuzz::in_quotes(text));
  }
  return wish;
}

/// A scheme measured with more and more narrow products, up to the first number that satisfies the wish, or, where none
/// does, up to the best. Without a wish, for other units, or where the name says how many, one measurement.
std::vector<Measured> measured_until_met(const std::string& name, const Batch& product, const gemm::ExactProduct& exact,
                                         const Wish& wish) {
  const std::optional<CountSetting> count = wish.is_made ? count_setting_of(name) : std::nullopt;
  const auto settings = UnitName(name).each_setting();
  const bool is_counted = count && std::any_of(settings.begin(), settings.end(),
                                               [&](const auto& setting) { return setting.first == count->name; });
  if (!count || is_counted) return {measured(name, product, exact)};
  std::vector<Measured> all;
  size_t best = 0;
  for (int n = count->least; n <= count->greatest; ++n) {
    UnitName counted(name);
    counted.settings = std::string(count->name) + "=" + std::to_string(n) +
                       (counted.settings.empty() ? "" : "," + counted.settings);  // on= stays last
    all.push_back(measured(counted.text(), product, exact, Bound::left_out));
    if (wish.is_nearer(all.back(), all[best])) best = all.size() - 1;
    if (wish.is_met_by(all.back())) break;
  }
  all.resize(best + 1);
  if (may_be_bounded(product.op())) all.back() = measured(all.back().unit, product, exact);
  return all;
}

nlohmann::json as_json(const std::vector<Measured>& growing, const Wish& wish) {
  const Measured& m = growing.back();
  const gemm::Accuracy& accuracy = m.accuracy;
  const nlohmann::json steps = json_list(accuracy.steps, [](const gemm::AccuracyStep& s) -> nlohmann::json {
    return {{"name", s.name}, {"norm", s.norm}, {"share", s.share}};
  });
  nlohmann::json one = {{"unit", m.unit},
                        {"op", to_text(m.op)},
                        {"elements", accuracy.elements},
                        {"not_finite", accuracy.not_finite},
                        {"lost", accuracy.lost},
                        {"norm", accuracy.norm},
                        {"greatest", accuracy.greatest},
                        {"row", accuracy.row},
                        {"column", accuracy.column},
                        {"steps", steps}};
  if (m.narrow_products) one["narrow_products"] = *m.narrow_products;
  if (m.proven) one["proven"] = {{"norm", m.proven->norm}, {"greatest", m.proven->greatest}};
  if (!wish.is_made) return one;
  one["reaches"] = wish.is_met_by(m);
  one["curve"] = nlohmann::json::array();
  for (const Measured& point : growing)
    if (point.narrow_products)
      one["curve"].push_back({{"narrow_products", *point.narrow_products},
                              {"norm", point.accuracy.norm},
                              {"greatest", point.accuracy.greatest}});
  return one;
}

void print(const Measured& m, const Op& op_of_files) {
  const gemm::Accuracy& accuracy = m.accuracy;
  fmt::print("{}\n  error {:.3g} of the product's norm; greatest {:.3g} of |a||b|, in row {}, column {}\n", m.unit,
             accuracy.norm, accuracy.greatest, accuracy.row, accuracy.column);
  if (m.proven)
    fmt::print("  proven at most {:.3g} and {:.3g} for these matrices\n", m.proven->norm, m.proven->greatest);
  if (m.op.a != op_of_files.a) fmt::print("  asked with a and b in {}, c and d in {}\n", m.op.a.name(), m.op.d.name());
  if (m.narrow_products) fmt::print("  {} products of narrow matrices\n", *m.narrow_products);
  if (accuracy.not_finite)
    fmt::print("  {} of {} elements are left out: {} not finite exactly, {} in the result alone\n", accuracy.not_finite,
               accuracy.elements, accuracy.not_finite - accuracy.lost, accuracy.lost);
  for (const gemm::AccuracyStep& s : accuracy.steps)
    fmt::print("  {:>14}  {:>9.3g}  {:>6.1f} % of the error\n", s.name, s.norm,
               std::fabs(s.share) < 0.0005 ? 0.0 : 100 * s.share);
}

/// Prints the schemes of a GPU: those that satisfy the wish first, from the fewest narrow products on.
void print_choice(std::vector<Measured> all, const std::string& gpu, const Wish& wish) {
  std::stable_sort(all.begin(), all.end(), [&](const Measured& x, const Measured& y) {
    const bool meets = wish.is_met_by(x), other_meets = wish.is_met_by(y);
    return meets != other_meets ? meets : meets && x.narrow_products < y.narrow_products;
  });
  fmt::print("on {}, error at most {:.3g} {}{}:\n\n{:>8}  {:>9}  {:>9}  scheme\n", gpu, wish.error, wish.unit(),
             wish.words, "products", "error", "proven");
  for (const Measured& m : all) {
    const auto& proven = m.proven;
    fmt::print("{:>8}  {:>9.3g}  {:>9}  {}{}\n", m.narrow_products.value_or(0), wish.error_of(m),
               proven ? fmt::format("{:.3g}", wish.of_each_element ? proven->greatest : proven->norm) : "-", m.unit,
               wish.is_met_by(m) ? "" : "  (the best it does)");
  }
  fmt::print(
      "\nproducts: of narrow matrices as large as these; error: on models of the units; proven: at most "
      "that (not asked of more than {} products a * b)\n",
      max_bounded);
}

}  // namespace

void add_accuracy(Arguments& app, int& status) {
  struct Options {
    std::string a, b, op, within, gpu;
    std::vector<std::string> units;
    bool of_each_element = false, json = false;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub = app.add_subcommand("accuracy", "Measure units' products of two matrices against the exact product");
  sub->add_option("a", options->a, ".npy file of a, (m, k)")->required();
  sub->add_option("b", options->b, ".npy file of b, (k, n)")->required();
  auto* units = sub->add_option("units", options->units, "units that take matrix products");
  sub->add_option("--op", options->op,
                  "op line, where the files' types do not tell it: 'gemm a=bf16 b=bf16 c=fp32 d=fp32'");
  sub->add_option("--for", options->gpu,
                  "the schemes of a GPU ('mmafuzz list gpus') instead of units, as good as the operands' "
                  "own format where --within does not say otherwise")
      ->excludes(units);
  sub->add_option("--within", options->within,
                  "find the fewest moduli (ozaki2:) or slices (ozaki:) whose error is at most that share of the "
                  "product's norm, or that of a chain of fused multiply-adds in fp64 or fp32; exit code 1 where one "
                  "unit, or of a GPU every scheme, does not reach it");
  sub->add_flag("--componentwise", options->of_each_element,
                "--within is of each element's error, as a share of the sum of its products' magnitudes");
  sub->add_flag("--json", options->json, "print one JSON object");
  add_rows_option(*sub);
  sub->footer(
      "Example: mmafuzz accuracy a.npy b.npy scaled:fp8.tile scaled:mxfp8.e4m3 scaled:nvfp4\n"
      "         mmafuzz accuracy a.npy b.npy --within 1e-6 ozaki:dgemm.fp16 ozaki2:dgemm.s8\n"
      "         mmafuzz accuracy a.npy b.npy --for h100");
  sub->callback([options, &status] {
    const bool chooses = !options->gpu.empty();
    if (options->of_each_element && !chooses && options->within.empty())
      throw BadInput("--componentwise is of what --within or --for asks for");
    if (!chooses && options->units.empty()) throw BadInput("accuracy needs units, or --for with a GPU");
    const char* arch = chooses ? arch_of_gpu(options->gpu) : nullptr;
    if (chooses && !arch)
      throw BadInput("no rows describe the GPU " + mmafuzz::in_quotes(options->gpu) + "; see 'mmafuzz list gpus'");
    const Batch product = product_of(options->a, options->b, options->op);
    const gemm::ExactProduct exact(registry(), product);
    const bool is_wide = product.op().a.fields().precision() > format("fp32").fields().precision();
    if (chooses && options->within.empty()) options->within = is_wide ? "fp64" : "fp32";
    const Wish wish = wish_of(options->within, options->of_each_element, product, exact);
    const std::vector<std::string> names =
        chooses ? gemm::schemes_on(arch, is_wide ? "dgemm" : "sgemm") : split_units(options->units);
    nlohmann::json all = nlohmann::json::array();
    std::vector<Measured> found;
    std::vector<std::string> declined;
    for (const std::string& name : names) {
      if (const std::string why = chooses ? refusal_of(name, product) : ""; !why.empty()) {
        declined.push_back(why);
        continue;
      }
      std::vector<Measured> grown = measured_until_met(name, product, exact, wish);
      if (options->json) all.push_back(as_json(grown, wish));
      found.push_back(std::move(grown.back()));
    }
    const size_t reach =
        size_t(std::count_if(found.begin(), found.end(), [&](const Measured& m) { return wish.is_met_by(m); }));
    status = reach == 0 || (!chooses && reach < found.size()) ? exit_divergence : exit_ok;
    if (options->json) {
      nlohmann::json whole = {{"units", all}};
      if (wish.is_made) whole.update({{"within", wish.error}, {"componentwise", wish.of_each_element}});
      if (chooses) whole["left_out"] = declined;
      print_object(std::move(whole));
    } else if (chooses) {
      print_choice(std::move(found), options->gpu, wish);
      for (const std::string& why : declined) fmt::print("left out: {}\n", why);
    } else {
      for (const Measured& m : found) {
        print(m, product.op());
        if (!wish.is_met_by(m)) fmt::print("  does not reach {:g}\n", wish.error);
      }
    }
  });
}

}  // namespace mmafuzz::cli
