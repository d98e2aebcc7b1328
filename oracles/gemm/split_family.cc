// The family `split:`: error-corrected SGEMM, one row for each published method and narrow format.
#include "core/text.h"
#include "oracles/families.h"
#include "oracles/gemm/corrected_sgemm.h"
#include "oracles/gemm/scheme_parameters.h"
#include "core/function_unit.h"

namespace mmafuzz::gemm {
namespace {

struct SplitRow {
  const char* name;
  const char* narrow;
  int scale;
  bool outside;
  int unit_k;  ///< of the instruction that the published code uses, or its successor
  const char* on;
  const char* source;
};

constexpr char markidis[] = "Markidis et al. 2018", ootomo[] = "Ootomo and Yokota 2022";
constexpr SplitRow split_rows[] = {
    {"split:markidis.fp16", "fp16", 0, false, 16, "model:ampere/mma.m16n8k16.f32.f16.f16.f32", markidis},
    {"split:ootomo.fp16", "fp16", 11, true, 16, "model:ampere/mma.m16n8k16.f32.f16.f16.f32", ootomo},
    {"split:ootomo.tf32", "tf32", 11, true, 8, "model:ampere/mma.m16n8k8.f32.tf32.tf32.f32", ootomo}};

const std::vector<SchemeParameter<CorrectionPlan>>& correction_parameters() {
  static const std::vector<SchemeParameter<CorrectionPlan>> all = {
      {"scale",
       "the residual is multiplied by two to this power",
       "0 to 24",
       {},
       0,
       24,
       [](CorrectionPlan& p, int v) { p.scale = v; },
       [](const CorrectionPlan& p) { return p.scale; }},
      {"unit_k",
       "products of one dot of the unit",
       "a number of products",
       {},
       1,
       max_extent,
       [](CorrectionPlan& p, int v) { p.unit_k = v; },
       [](const CorrectionPlan& p) { return p.unit_k; }},
      {"residual_product",
       "1 adds the product of the two residuals",
       "0 or 1",
       {},
       0,
       1,
       [](CorrectionPlan& p, int v) { p.residual_product = v != 0; },
       [](const CorrectionPlan& p) { return int(p.residual_product); }},
      {"accumulate",
       "where partial sums are added: in the unit or in fp32 beside it",
       "inside or outside",
       {{"inside", 0}, {"outside", 1}},
       1,
       0,
       [](CorrectionPlan& p, int v) { p.outside = v != 0; },
       [](const CorrectionPlan& p) { return int(p.outside); }},
  };
  return all;
}

Result<NamedCorrection> parse_plan(const SplitRow& row, std::string_view parameters) {
  NamedCorrection named;
  CorrectionPlan& plan = named.plan;
  plan.narrow = format(row.narrow);
  plan.scale = row.scale;
  plan.outside = row.outside;
  plan.unit_k = row.unit_k;
  named.on = row.on;
  return with_settings(correction_parameters(), parameters, std::move(named));
}

class SplitFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return row_named(split_rows, name) != nullptr; }

  Role role(const std::string&) const override { return Role::scheme; }

  std::vector<std::string> searched_by_default(const Op& op) const override {
    if (op.kind != OpKind::gemm) return {};
    return {
        "split:markidis.fp16",
        "split:ootomo.fp16",
        "split:ootomo.fp16?residual_product=0",
        "split:ootomo.tf32",
    };
  }

  std::vector<UnitInfo> list() const override {
    std::vector<UnitInfo> all;
    for (const SplitRow& row : split_rows)
      all.push_back({row.name, std::string("error-corrected SGEMM in ") + row.narrow + " on " + row.on + " (?on=)",
                     row.source, claims(), ""});
    return all;
  }

  FamilyParameters parameters() const override {
    return scheme_parameters("split:", correction_parameters(), "the unit that computes the dots; last in the name");
  }

  std::vector<Setting> settings(const std::string& name) const override {
    const UnitName parts(name);
    const SplitRow* row = row_named(split_rows, parts.plain());
    if (!row) return {};
    const Result<NamedCorrection> correction = parse_plan(*row, parts.settings);
    if (!correction) return {};
    return scheme_settings(correction_parameters(), correction->plan, correction->on);
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op&) const override {
    return declined(name + " runs on another unit: it needs a registry");
  }

  Result<std::unique_ptr<Unit>> bind_over(const Registry& registry, const std::string& name,
                                          const Op& op) const override {
    const UnitName parts(name);
    const SplitRow& row = *row_named(split_rows, parts.plain());
    const Result<NamedCorrection> correction = parse_plan(row, parts.settings);
    if (!correction) return invalid("unit " + name + ": " + correction.refusal().reason);
    const CorrectionPlan& plan = correction->plan;
    const Format fp32 = format("fp32");
    if (op.kind != OpKind::gemm || op.a != fp32 || op.b != fp32 || op.c != fp32 || op.d != fp32)
      return declined(std::string(row.name) + " takes 'op gemm a=fp32 b=fp32 c=fp32 d=fp32'");
    Result<std::unique_ptr<Unit>> dot = registry.bind(correction->on, correction_dot(plan));
    if (!dot) return dot.refusal();
    const std::string full = parts.on((*dot)->name()).text();
    return named(make_corrected_sgemm(plan, std::move(*dot), op), full, claims());
  }

 private:
  static std::vector<Claim> claims() { return claims_of({"tile_permutation"}); }
};

}  // namespace

Result<NamedCorrection> named_correction(std::string_view unit) {
  const UnitName parts(unit);
  const SplitRow* row = row_named(split_rows, parts.plain());
  if (!row) return unknown("not a unit of split: " + mmafuzz::in_quotes(unit));
  return parse_plan(*row, parts.settings);
}

}  // namespace mmafuzz::gemm

namespace mmafuzz {
std::unique_ptr<Family> make_split_family() { return std::make_unique<gemm::SplitFamily>(); }
}  // namespace mmafuzz
