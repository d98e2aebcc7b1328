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
  CorrectionPlan plan;  ///< with the products of the instruction that the published code uses, or its successor
  const char *dot_unit, *source;
};

constexpr char markidis[] = "Markidis et al. 2018", ootomo[] = "Ootomo and Yokota 2022";

const std::vector<SplitRow>& split_rows() {
  static const std::vector<SplitRow> all = {
      {"split:markidis.fp16", {.narrow = format("fp16")}, "model:ampere/mma.m16n8k16.f32.f16.f16.f32", markidis},
      {"split:ootomo.fp16",
       {.narrow = format("fp16"), .scale = 11, .adds_outside = true},
       "model:ampere/mma.m16n8k16.f32.f16.f16.f32",
       ootomo},
      {"split:ootomo.tf32",
       {.narrow = format("tf32"), .scale = 11, .adds_outside = true, .unit_k = 8},
       "model:ampere/mma.m16n8k8.f32.tf32.tf32.f32",
       ootomo}};
  return all;
}

const std::vector<SchemeParameter<CorrectionPlan>>& correction_parameters() {
  static const std::vector<SchemeParameter<CorrectionPlan>> all = {
      number_parameter<&CorrectionPlan::scale>("scale", "the residual is multiplied by two to this power", "0 to 24",
                                               {0, 24}),
      unit_k_parameter<&CorrectionPlan::unit_k>(),
      number_parameter<&CorrectionPlan::residual_product>("residual_product", "1 adds the product of the two residuals",
                                                          "0 or 1", {0, 1}),
      word_parameter<&CorrectionPlan::adds_outside>("accumulate",
                                                    "where partial sums are added: in the unit or in fp32 beside it",
                                                    "inside or outside", {"inside", "outside"}),
  };
  return all;
}

class SplitFamily final : public SchemeFamily<NamedCorrection> {
 public:
  SplitFamily() : SchemeFamily("split:", correction_parameters, "the unit that computes the dots; last in the name") {}

  bool owns(std::string_view name) const override { return entry_named(split_rows(), name) != nullptr; }

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
    for (const SplitRow& row : split_rows())
      all.push_back({row.name, "error-corrected SGEMM in " + row.plan.narrow.name() + " on " + row.dot_unit + " (?on=)",
                     row.source, claims(), ""});
    return all;
  }

 protected:
  Result<NamedCorrection> scheme_of(const std::string& name) const override { return named_correction(name); }
  Result<std::unique_ptr<Unit>> bind_scheme(const Registry& registry, const UnitName& name,
                                            const NamedCorrection& scheme, const Op& op) const override {
    const Format fp32 = format("fp32");
    if (!is_gemm_of(fp32, op)) return takes_gemm_of(fp32, name.plain());
    Result<std::unique_ptr<Unit>> dot = registry.bind(scheme.dot_unit, correction_dot(scheme.plan));
    if (!dot) return dot.refusal();
    const std::string full = name.on((*dot)->name()).text();
    return named(make_corrected_sgemm(scheme.plan, std::move(*dot), op), full, claims());
  }

 private:
  static std::vector<Claim> claims() { return claims_of({"tile_permutation"}); }
};

}  // namespace

Result<NamedCorrection> named_correction(std::string_view unit) {
  const UnitName parts(unit);
  const SplitRow* row = entry_named(split_rows(), parts.plain());
  if (!row) return unknown("not a unit of split: " + mmafuzz::in_quotes(unit));
  return with_settings(correction_parameters(), parts.settings, NamedCorrection{row->plan, row->dot_unit});
}

}  // namespace mmafuzz::gemm

namespace mmafuzz {
std::unique_ptr<Family> make_split_family() { return std::make_unique<gemm::SplitFamily>(); }
}  // namespace mmafuzz
