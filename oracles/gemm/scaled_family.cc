// The family `scaled:`: products of quantized matrices, one row for each published recipe and element.
#include "core/function_unit.h"
#include "core/text.h"
#include "oracles/families.h"
#include "oracles/gemm/scaled_gemm.h"
#include "oracles/gemm/scheme_parameters.h"

namespace mmafuzz::gemm {
namespace {

constexpr char mx[] = "OCP MX 1.0", nvfp4[] = "NVIDIA, NVFP4", rows_scaled[] = "torch, _scaled_mm",
               tiles[] = "DeepSeek-V3 technical report, 3.3; DeepGEMM";
constexpr char mx_unit[] = "model:blackwell/tcgen05.kind::mxf8f6f4.block32.m128n8k32.f32.",
               hopper[] = "model:hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32";

struct ScaledRow {
  const char* name;
  ScaledPlan plan;
  std::string dot_unit;
  const char* source;
};

const std::vector<ScaledRow>& scaled_rows() {
  static const std::vector<ScaledRow> all = [] {
    std::vector<ScaledRow> list;
    const Format e8m0 = format("e8m0"), e4m3 = format("e4m3"), e2m1 = format("e2m1");
    const auto add_mx = [&](const char* name, const std::string& element) {
      list.push_back({name,
                      {.element = format(element), .scale = e8m0, .unit_scale = e8m0, .block = 32},
                      mx_unit + element + "." + element + ".f32.ue8m0",
                      mx});
    };
    add_mx("scaled:mxfp8.e4m3", "e4m3");
    add_mx("scaled:mxfp8.e5m2", "e5m2");
    add_mx("scaled:mxfp6.e3m2", "e3m2");
    add_mx("scaled:mxfp6.e2m3", "e2m3");
    list.push_back({"scaled:mxfp4",
                    {.element = e2m1, .scale = e8m0, .unit_scale = e8m0, .block = 32, .unit_k = 64},
                    "model:blackwell/tcgen05.kind::mxf4.block32.m128n8k64.f32.e2m1.e2m1.f32.ue8m0",
                    mx});
    list.push_back({"scaled:nvfp4",
                    {.element = e2m1,
                     .scale = e4m3,
                     .unit_scale = format("ue4m3"),
                     .block = 16,
                     .has_tensor_scale = true,
                     .rule = ScaleRule::nearest,
                     .unit_k = 64},
                    "model:blackwell/tcgen05.kind::mxf4nvf4.block16.m128n8k64.f32.e2m1.e2m1.f32.ue4m3",
                    nvfp4});
    const auto add_fp8 = [&](const char* name, ScaledPlan plan, const char* source) {
      plan.element = e4m3;
      plan.scale = format("fp32");
      plan.rule = ScaleRule::nearest;
      list.push_back({name, plan, hopper, source});
    };
    const ScaledPlan of_tiles = {.block = 128, .scaled_by = ScaledBy::interval, .promote = 128};
    ScaledPlan of_square_tiles = of_tiles;
    of_square_tiles.columns_b = 128;
    add_fp8("scaled:fp8.tensor", {.rows_a = 0, .columns_b = 0, .scaled_by = ScaledBy::end}, rows_scaled);
    add_fp8("scaled:fp8.row", {.scaled_by = ScaledBy::end}, rows_scaled);
    add_fp8("scaled:fp8.tile", of_square_tiles, tiles);
    add_fp8("scaled:fp8.tile1", of_tiles, rows_scaled);
    return list;
  }();
  return all;
}

const std::vector<SchemeParameter<ScaledPlan>>& scaled_parameters() {
  static const std::vector<SchemeParameter<ScaledPlan>> all = [] {
    std::vector<const char*> rules;
    for (int i = 0; i < scale_rule_count; ++i) rules.push_back(name_of(static_cast<ScaleRule>(i)));
    return std::vector<SchemeParameter<ScaledPlan>>{
        word_parameter<&ScaledPlan::rule>("rule", "how a block's scale follows from its greatest magnitude",
                                          "a rule of quantize", rules),
        {.name = "scale",
         .meaning = "the format of scales that fp32 applies",
         .allowed = "fp32 or e8m0",
         .words = {{"fp32", 0}, {"e8m0", 1}},
         .set = [](ScaledPlan& p, int v) { p.scale = format(v ? "e8m0" : "fp32"); },
         .get = [](const ScaledPlan& p) { return p.scale == format("e8m0") ? 1 : 0; }},
        {.name = "apply",
         .meaning = "what applies the blocks' scales: the unit, or fp32 beside it after each block",
         .allowed = "unit or outside",
         .words = {{"unit", 0}, {"outside", 1}},
         .set = [](ScaledPlan& p, int v) { p.scaled_by = v ? ScaledBy::interval : ScaledBy::unit; },
         .get = [](const ScaledPlan& p) { return p.scaled_by == ScaledBy::unit ? 0 : 1; }},
        number_parameter<&ScaledPlan::promote>("promote", "products after which the unit's sum is added to one in fp32",
                                               "never or a number of products", {1, max_extent}, {}, {{"never", 0}}),
        unit_k_parameter<&ScaledPlan::unit_k>(),
    };
  }();
  return all;
}

/// The reason why a plan with the settings of its name is impossible; empty where it is possible.
std::string conflict_in(const ScaledRow& row, const ScaledPlan& p) {
  const std::string k = std::to_string(p.unit_k);
  if (!takes_scale(p.rule, p.scale.fields()))
    return std::string("rule=") + name_of(p.rule) + " gives powers of two, and " + p.scale.name() + " has a fraction";
  if (row.plan.scaled_by == ScaledBy::unit && p.scale != row.plan.scale)
    return std::string(row.name) + " has scales of " + row.plan.scale.name();
  if (row.plan.scaled_by == ScaledBy::end && p.scaled_by != ScaledBy::end)
    return std::string(row.name) + " applies its scales at the end; apply= is of blocks";
  if (row.plan.scaled_by == ScaledBy::interval && p.scaled_by == ScaledBy::unit)
    return std::string("no unit takes the scales of ") + row.name;
  if (p.scaled_by == ScaledBy::unit && p.unit_k % p.block != 0 && p.block % p.unit_k != 0)
    return "unit_k=" + k + " and blocks of " + std::to_string(p.block) + " do not divide";
  if (p.promote % p.unit_k != 0) return "promote= is a multiple of unit_k=" + k;
  if (p.scaled_by == ScaledBy::interval && (p.promote == 0 || p.block % p.promote != 0))
    return "scales outside the unit need promote= to divide the block of " + std::to_string(p.block);
  return "";
}

class ScaledFamily final : public SchemeFamily<NamedScaled> {
 public:
  ScaledFamily() : SchemeFamily("scaled:", scaled_parameters, "the unit that computes the dots; last in the name") {}

  bool owns(std::string_view name) const override { return entry_named(scaled_rows(), name) != nullptr; }

  std::vector<UnitInfo> list() const override {
    std::vector<UnitInfo> all;
    for (const ScaledRow& row : scaled_rows())
      all.push_back({row.name,
                     "product of matrices quantized to " + row.plan.element.name() + " on " + row.dot_unit + " (?on=)",
                     row.source,
                     {},
                     ""});
    return all;
  }

 protected:
  Result<NamedScaled> scheme_of(const std::string& name) const override { return named_scaled(name); }
  Result<std::unique_ptr<Unit>> bind_scheme(const Registry& registry, const UnitName& name, const NamedScaled& scheme,
                                            const Op& op) const override {
    const Format fp32 = format("fp32");
    const FormatFields &a = op.a.fields(), &b = op.b.fields();
    if (op.kind != OpKind::gemm || op.c != fp32 || op.d != fp32 || a.integer || b.integer || !a.has_sign() ||
        !b.has_sign())
      return declined(name.plain() + " takes 'op gemm' with a and b of a format of numbers, c=fp32 d=fp32");
    if (op.has_alpha_beta()) return declined(name.plain() + " has no alpha and beta: its scales stand for them");
    Result<std::unique_ptr<Unit>> dot = registry.bind(scheme.dot_unit, scaled_dot(scheme.plan));
    if (!dot) return dot.refusal();
    const std::string full = name.on((*dot)->name()).text();
    return named(make_scaled_gemm(scheme.plan, std::move(*dot), op), full);
  }
};

}  // namespace

Result<NamedScaled> named_scaled(std::string_view unit) {
  const UnitName parts(unit);
  const ScaledRow* row = entry_named(scaled_rows(), parts.plain());
  if (!row) return unknown("not a unit of scaled: " + mmafuzz::in_quotes(unit));
  Result<NamedScaled> scheme =
      with_settings(scaled_parameters(), parts.settings, NamedScaled{row->plan, row->dot_unit});
  if (!scheme) return scheme;
  if (scheme->plan.scaled_by == ScaledBy::interval && row->plan.scaled_by == ScaledBy::unit &&
      scheme->plan.promote == 0)
    scheme->plan.promote = scheme->plan.block;
  if (const std::string what = conflict_in(*row, scheme->plan); !what.empty()) return invalid(what);
  return scheme;
}

}  // namespace mmafuzz::gemm

namespace mmafuzz {
std::unique_ptr<Family> make_scaled_family() { return std::make_unique<gemm::ScaledFamily>(); }
}  // namespace mmafuzz
