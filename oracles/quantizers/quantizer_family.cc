// The units `quantizer:RULE`: blocks quantized by a rule for the scale, whatever rule the op asks for, and
// `quantizer:back`, which turns codes into numbers.

#include "core/block_case.h"
#include "core/function_unit.h"
#include "core/text.h"
#include "oracles/lanes/host_float.h"
#include "oracles/properties/properties.h"
#include "oracles/quantizers/fp32_recipes.h"
#include "oracles/quantizers/quantize_simd.h"
#include "oracles/families.h"

namespace mmafuzz {
namespace {

struct RuleRow {
  ScaleRule rule;
  const char* summary;
  const char* source;
};
constexpr RuleRow rule_rows[] = {
    {ScaleRule::floor, "scale 2^(floor(log2 amax) - emax): large elements saturate", "OCP MX 1.0, 6.3"},
    {ScaleRule::ceil, "scale 2^(ceil(log2 amax) - emax): nothing saturates", "torchao, ScaleCalculationMode.CEIL"},
    {ScaleRule::rceil, "scale amax / greatest, rounded up: nothing saturates",
     "cuBLAS, 1D block scaling with UE8M0; arXiv 2506.08027"},
    {ScaleRule::even, "floor, of amax rounded to the element's fraction, halves up",
     "torchao, ScaleCalculationMode.EVEN; amd-quark, even_round"},
    {ScaleRule::threshold, "floor, and one step more from 1.75 * 2^n on", "vllm, pull request 43557"},
    {ScaleRule::nearest, "scale amax / greatest, rounded to nearest even: NVFP4's rule for e4m3",
     "NVIDIA, NVFP4; IEEE 754-2019, 4.3.1"},
    {ScaleRule::nearest_log2, "scale 2^round(log2(amax / greatest))", "mlx, pull request 4353 (what it replaces)"},
};
static_assert(std::size(rule_rows) == scale_rule_count);

constexpr const char* back_name = "quantizer:back";
constexpr std::string_view prefix = "quantizer:";

const RuleRow* find_rule(std::string_view name) {
  for (const RuleRow& row : rule_rows)
    if (name.starts_with(prefix) && name.substr(prefix.size()) == name_of(row.rule)) return &row;
  return nullptr;
}

/// The recipes that the settings of a name ask for; nullptr: the exact quotient, rounded once.
struct Recipes {
  const ScaleRecipe* scale = nullptr;
  const CodeRecipe* codes = nullptr;
};

constexpr const char *scale_setting = "scale_by", *codes_setting = "codes_by", *exact_word = "exact";

/// The recipe of that name in a table; nullptr for `exact`, nullopt for another word.
template <class Recipe>
std::optional<const Recipe*> find_recipe(std::span<const Recipe> rows, std::string_view name) {
  const Recipe* const row = entry_named(rows, name);
  return row || name == exact_word ? std::optional(row) : std::nullopt;
}

template <class Recipe>
std::string names_of(std::span<const Recipe> rows) {
  std::string names = exact_word;
  for (const Recipe& row : rows) names += std::string(&row == &rows.back() ? " or " : ", ") + row.name;
  return names;
}

Result<Recipes> recipes_of(const UnitName& name, ScaleRule rule, const Op& op) {
  Recipes recipes;
  const auto refused = [&](const std::string& why) { return invalid("unit " + name.text() + ": " + why); };
  for (const auto& [setting, value] : name.each_setting()) {
    if (setting == scale_setting) {
      const auto found = find_recipe(scale_recipes(), value);
      if (!found) return refused("scale_by= is " + names_of(scale_recipes()));
      recipes.scale = *found;
    } else if (setting == codes_setting) {
      const auto found = find_recipe(code_recipes(), value);
      if (!found) return refused("codes_by= is " + names_of(code_recipes()));
      recipes.codes = *found;
    } else {
      return refused("unknown parameter " + mmafuzz::in_quotes(setting) + "; known: scale_by codes_by");
    }
  }
  std::string why = recipes.scale ? reason_against(*recipes.scale, rule, op) : "";
  if (why.empty() && recipes.codes) why = reason_against(*recipes.codes, op);
  if (!why.empty()) return declined(why);
  return recipes;
}

class Quantizer final : public Unit {
 public:
  Quantizer(const Op& op, const Recipes& recipes) : op_(op), recipes_(recipes) {
    if (!has_recipe() && QuantizeSimd::supports(op)) simd_.emplace(op);
  }
  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    QuantizedBlock block(op_);
    if (simd_ && default_float_environment()) {
      for (const size_t i : simd_->run(batch, outcomes.results)) block.run(batch, i, outcomes.results);
      return;
    }
    std::optional<DefaultFloatEnvironment> rounding;
    if (has_recipe()) rounding.emplace();
    for (size_t i = 0; i < batch.size(); ++i)
      if (block.run(batch, i, outcomes.results) && has_recipe()) take_steps(batch, i, outcomes.results);
  }

 private:
  bool has_recipe() const { return recipes_.scale || recipes_.codes; }
  /// Replaces a block's exact results by those of the recipes.
  void take_steps(const Batch& batch, size_t index, Column& results) const {
    const auto input = [&](size_t field, int i) { return batch.inputs()[field].get(index, i); };
    if (recipes_.scale) results.set(index, 0, scale_by(*recipes_.scale, op_.scale_rule, op_, batch, index));
    const uint64_t scale = results.get(index, 0), tensor = op_.has_tensor_scale() ? input(1, 0) : 0;
    const Number s = decode(op_.scale_a.fields(), scale),
                 t = op_.has_tensor_scale() ? decode(op_.scale_b.fields(), tensor) : one_as_number();
    for (int i = 0; i < op_.k; ++i) {
      const uint64_t x = input(0, i);
      const RoundingRule rule = op_.rounding_rule_of(x);
      const uint64_t code = recipes_.codes
                                ? code_by(*recipes_.codes, op_, x, scale, tensor, rule)
                                : block_element(op_.d.fields(), decode(op_.a.fields(), x), s, t, rule).encoding;
      results.set(index, 1 + i, code);
    }
  }

  Op op_;
  Recipes recipes_;
  std::optional<QuantizeSimd> simd_;
};

class Dequantizer final : public Unit {
 public:
  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    for (size_t i = 0; i < batch.size(); ++i) dequantize_case(batch, i, outcomes.results);
  }
};

class QuantizerFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return name == back_name || find_rule(name); }

  Role role(const std::string&) const override { return Role::other; }

  std::vector<std::string> searched_by_default(const Op& op) const override {
    std::vector<std::string> names;
    if (op.kind == OpKind::dequantize) names.push_back(back_name);
    for (const RuleRow& row : rule_rows)
      if (op.kind == OpKind::quantize && takes_scale(row.rule, op.scale_a.fields()))
        names.push_back(std::string(prefix) + name_of(row.rule));
    return names;
  }

  std::vector<UnitInfo> list() const override {
    std::vector<UnitInfo> all;
    for (const RuleRow& row : rule_rows)
      all.push_back({std::string(prefix) + name_of(row.rule), std::string("quantize: ") + row.summary, row.source});
    all.push_back({back_name, "dequantize: code * scale, rounded once", "OCP MX 1.0, 6.2"});
    return all;
  }

  FamilyParameters parameters() const override {
    return {std::string(prefix),
            {{scale_setting, "the steps in fp32 to a scale of rule=rceil or rule=nearest", names_of(scale_recipes())},
             {codes_setting, "the steps in fp32 to a code under a scale with a fraction", names_of(code_recipes())}}};
  }

  Attributes honours(const std::string&, const Op& op) const override {
    return {.rounding = true, .stochastic = op.kind == OpKind::quantize};
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    const UnitName parts(name);
    const RuleRow* row = find_rule(parts.plain());
    if (!row && !parts.settings.empty()) return invalid("unit " + name + ": " + back_name + " has no parameters");
    if (op.kind != (row ? OpKind::quantize : OpKind::dequantize))
      return declined(name + " evaluates " + (row ? "quantize" : "dequantize") + " ops only");
    if (!row) return named(std::make_unique<Dequantizer>(), name, {{"equals_model", "exact"}});
    if (!takes_scale(row->rule, op.scale_a.fields()))
      return declined(name + " gives powers of two, and " + op.scale_a.name() + " has a fraction");
    const Result<Recipes> recipes = recipes_of(parts, row->rule, op);
    if (!recipes) return recipes.refusal();
    Op op_of_rule = op;
    op_of_rule.scale_rule = row->rule;
    std::vector<Claim> claims;
    if (row->rule == op.scale_rule && !recipes->scale && !recipes->codes)
      claims = with_equal(claims_of_quantizing(op), "exact");
    return named(std::make_unique<Quantizer>(op_of_rule, *recipes), name, std::move(claims));
  }
};

}  // namespace

std::unique_ptr<Family> make_quantizer_family() { return std::make_unique<QuantizerFamily>(); }

}  // namespace mmafuzz
