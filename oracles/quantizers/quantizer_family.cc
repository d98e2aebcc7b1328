// The units `quantizer:RULE`: blocks quantized by a rule for the scale, whatever rule the op asks for, and
// `quantizer:back`, which turns codes into numbers.
#include "core/block_case.h"
#include "core/function_unit.h"
#include "oracles/lanes/host_float.h"
#include "oracles/properties/properties.h"
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

class Quantizer final : public Unit {
 public:
  explicit Quantizer(const Op& op) : op_(op) {
    if (QuantizeSimd::supports(op)) simd_.emplace(op);
  }
  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    QuantizedBlock block(op_);
    if (simd_ && default_float_environment()) {
      for (const size_t i : simd_->run(batch, outcomes.results)) block.run(batch, i, outcomes.results);
      return;
    }
    for (size_t i = 0; i < batch.size(); ++i) block.run(batch, i, outcomes.results);
  }

 private:
  Op op_;
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
      all.push_back(
          {std::string(prefix) + name_of(row.rule), std::string("quantize: ") + row.summary, row.source, {}, ""});
    all.push_back({back_name, "dequantize: code * scale, rounded once", "OCP MX 1.0, 6.2", {}, ""});
    return all;
  }

  Attributes honours(const std::string&, const Op& op) const override {
    return {.rounding = true, .stochastic = op.kind == OpKind::quantize};
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    const RuleRow* row = find_rule(name);
    if (!UnitName(name).settings.empty()) return invalid("unit " + name + ": a quantizer has no parameters");
    if (op.kind != (row ? OpKind::quantize : OpKind::dequantize))
      return declined(name + " evaluates " + (row ? "quantize" : "dequantize") + " ops only");
    if (!row) return named(std::make_unique<Dequantizer>(), name, claims_of_equality("exact"));
    if (!takes_scale(row->rule, op.scale_a.fields()))
      return declined(name + " gives powers of two, and " + op.scale_a.name() + " has a fraction");
    Op own = op;
    own.scale_rule = row->rule;
    std::vector<Claim> claims;
    if (row->rule == op.scale_rule) claims = claims_of_quantizer(op);
    return named(std::make_unique<Quantizer>(own), name, std::move(claims));
  }

 private:
  static std::vector<Claim> claims_of_equality(const char* unit) { return {{"equals_model", unit}}; }
  static std::vector<Claim> claims_of_quantizer(const Op& op) {
    std::vector<Claim> claims = claims_of_quantizing(op);
    claims.push_back({"equals_model", "exact"});
    return claims;
  }
};

}  // namespace

std::unique_ptr<Family> make_quantizer_family() { return std::make_unique<QuantizerFamily>(); }

}  // namespace mmafuzz
