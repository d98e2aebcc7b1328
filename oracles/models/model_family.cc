// The families `model:` (the fast kernels) and `twin:` (the slow twins) over the same rows.
#include <algorithm>
#include <map>

#include "core/function_unit.h"
#include "oracles/families.h"
#include "oracles/ieee/gemm_of_dots.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/model_unit.h"
#include "oracles/models/parameters.h"
#include "oracles/models/slow_twin.h"

namespace mmafuzz {
namespace {

class TwinUnit final : public Unit {
 public:
  explicit TwinUnit(const DotModel& model) : model_(model) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    run_dots(batch, outcomes, [&](const DotOperands& in) { return slow_twin_dot(model_, in); });
  }

  const DotModel* model() const override { return &model_; }

 private:
  DotModel model_;
};

/// Whether the op is a dot of the row's formats, of any k, or a refusal that says what the row takes.
Result<bool> fits(const ModelRow& row, const Op& op) {
  if (op.kind != OpKind::dot || !op.has_formats_of(row.op))
    return declined(row.name() + " takes '" + to_text(row.op) + "' (any k)");
  return true;
}

/// Whether `custom` can have the op's formats.
Result<bool> fits_custom(const Op& op) {
  const auto is_integer = [](const Format* f) { return f->fields().integer; };
  const Format* const inputs[] = {&op.a, &op.b, &op.c, &op.scale_a, &op.scale_b};
  if (op.kind != OpKind::dot || std::any_of(std::begin(inputs), std::end(inputs), is_integer))
    return declined("a row takes dots of floating-point formats");
  if (const std::string why = why_no_results_in(op.d.fields()); !why.empty())
    return declined(why + ", not " + op.d.name());
  return true;
}

class RowFamily final : public Family {
 public:
  /// `role`: model or twin.
  explicit RowFamily(Role role) : prefix_(role == Role::twin ? "twin:" : "model:"), role_(role) {}

  bool owns(std::string_view name) const override {
    return name.starts_with(prefix_) &&
           (name.substr(prefix_.size()) == custom_row || find_model_row(name.substr(prefix_.size())) != nullptr);
  }

  Role role(const std::string&) const override { return role_; }

  /// For each instruction the row with the greatest k; of rows that compute the same the first.
  std::vector<std::string> searched_by_default(const Op& op) const override {
    std::vector<std::string> names;
    if (role_ == Role::twin) return names;
    std::map<std::string, const ModelRow*> widest;
    for (const ModelRow& row : model_rows()) {
      if (!fits(row, op) || row.model.form != Form::s_plus_c) continue;  // others do not compute s + c
      const ModelRow*& best = widest[row.arch + "/" + row.instruction];
      if (!best || row.op.k > best->op.k) best = &row;
    }
    std::vector<const ModelRow*> kept;
    for (const ModelRow& row : model_rows()) {
      if (widest[row.arch + "/" + row.instruction] != &row) continue;
      const auto same = [&](const ModelRow* other) { return same_arithmetic(row.model, other->model); };
      if (std::any_of(kept.begin(), kept.end(), same)) continue;
      kept.push_back(&row);
      names.push_back(prefix_ + row.name());
    }
    return names;
  }

  std::vector<UnitInfo> list() const override {
    std::vector<UnitInfo> all;
    for (const ModelRow& row : model_rows()) {
      UnitInfo info{prefix_ + row.name(), to_text(row.op), row.source, row.claims, ""};
      if (role_ == Role::twin) info.claims = {{"equals_model", "model:" + row.name()}};
      all.push_back(std::move(info));
    }
    const char* const summary = "a row of your own: any parameters, any dot whose d has a sign and infinities";
    all.push_back({prefix_ + custom_row + "?<parameters>", summary});
    return all;
  }

  /// Rows with the same steps compute the same, whatever their k (turing, ampere), on an op that neither pads.
  bool are_one(const std::string& x, const std::string& y, const Op& op) const override {
    if (x == y) return true;
    const Result<std::unique_ptr<Unit>> first = bind(x, op), second = bind(y, op);
    if (op.kind != OpKind::dot || !first || !second) return false;
    const DotModel &a = *(*first)->model(), &b = *(*second)->model();
    return op.k % a.k == 0 && op.k % b.k == 0 && same_arithmetic(a, b);
  }

  FamilyParameters parameters() const override {
    FamilyParameters all{"model:, twin:", {}};
    if (role_ == Role::twin) return all;  // listed with those of model:
    for (const Parameter& p : mmafuzz::parameters()) all.parameters.push_back({p.name, p.meaning, values_text(p)});
    return all;
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    if (op.kind == OpKind::gemm) return bind_gemm(name, op);
    const UnitName parts(name);
    const ModelRow* row = find_model_row(parts.path);  // nullptr: custom_row
    const Result<bool> fit = row ? fits(*row, op) : fits_custom(op);
    if (!fit) return fit.refusal();
    Result<DotModel> model = with_overrides(row ? row->model : custom_model(op), parts.settings);
    if (!model) return invalid("unit " + name + ": " + model.refusal().reason);
    std::unique_ptr<Unit> unit;
    std::vector<Claim> claims;
    if (role_ == Role::twin) {
      unit = std::make_unique<TwinUnit>(*model);
      claims = {{"equals_model", parts.under("model").text()}};
    } else {
      unit = std::make_unique<ModelUnit>(*model, op);
      // An overridden row is a mutant and claims nothing. A k that is padded is not the same dot for a chain of
      // operations: a last -0 becomes +0. Where operands' NaNs are handed on, which one depends on their positions.
      const bool tells_nans_apart = model->nan_from != NanFrom::constant && op.nan == NanPolicy::exact;
      if (row && parts.settings.empty())
        for (const Claim& claim : row->claims) {
          const bool equals = claim.property == "equals_model";
          if (tells_nans_apart && (equals || claim.property == "swap_operands")) continue;
          if (!equals || op.k % row->op.k == 0) claims.push_back(claim);
        }
    }
    return named(std::move(unit), name, std::move(claims));
  }

 private:
  /// A matrix product is the dots of its elements.
  Result<std::unique_ptr<Unit>> bind_gemm(const std::string& name, const Op& op) const {
    if (op.has_alpha_beta()) return declined(name + " takes matrix products without alpha and beta");
    Result<std::unique_ptr<Unit>> dot = bind(name, gemm::dot_op_of(op));
    if (!dot) return dot;
    return named(gemm::make_gemm_of_dots(std::move(*dot), op, nullptr), name);
  }

  std::string prefix_;
  Role role_;
};

}  // namespace

std::unique_ptr<Family> make_model_family() { return std::make_unique<RowFamily>(Role::model); }
std::unique_ptr<Family> make_twin_family() { return std::make_unique<RowFamily>(Role::twin); }

}  // namespace mmafuzz
