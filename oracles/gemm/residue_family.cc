// The family `ozaki2:`: the Ozaki scheme II on s8 and FP8 units.
#include "core/function_unit.h"
#include "core/text.h"
#include "oracles/families.h"
#include "oracles/gemm/residues.h"
#include "oracles/gemm/scheme_parameters.h"

namespace mmafuzz::gemm {
namespace {

struct ResidueRow {
  const char *name, *wide, *narrow;
  int moduli, unit_k;
  const char *dot_unit, *source;
};
constexpr char of_s8[] = "Ozaki et al., arXiv 2504.08009; GEMMul8",
               of_fp8[] = "Uchino et al., arXiv 2603.10634; GEMMul8";
constexpr char fp8_unit[] = "model:blackwell/tcgen05.kind::f8f6f4.m128n8k32.f32.e4m3.e4m3.f32";
constexpr ResidueRow residue_rows[] = {{"ozaki2:dgemm.s8", "fp64", "s8", 15, 64, "integer", of_s8},
                                       {"ozaki2:dgemm.e4m3", "fp64", "e4m3", 12, 32, fp8_unit, of_fp8},
                                       {"ozaki2:sgemm.s8", "fp32", "s8", 8, 64, "integer", of_s8},
                                       {"ozaki2:sgemm.e4m3", "fp32", "e4m3", 6, 32, fp8_unit, of_fp8}};

/// Sets the plan's moduli to those of a text such as "256+255+253"; returns the reason against them, or an empty
/// string.
std::string set_moduli(ResiduePlan& plan, std::string_view text) {
  plan.own_moduli.clear();
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('+', begin), text.size());
    int p = 0;
    if (!parse_number(text.substr(begin, end - begin), p))
      return "moduli= is 2 to 20, or coprime numbers as in 256+255+253";
    plan.own_moduli.push_back(p);
    begin = end + 1;
  }
  plan.moduli = static_cast<int>(plan.own_moduli.size());
  return reason_against_moduli(plan.own_moduli, plan.narrow);
}

const std::vector<SchemeParameter<ResiduePlan>>& residue_parameters() {
  static const std::vector<SchemeParameter<ResiduePlan>> all = {
      {.name = "moduli",
       .meaning = "how many moduli of the papers' list, or other ones",
       .allowed = "2 to 20, or coprime numbers as in 256+255+253",
       .numbers = {2, 20},
       .set =
           [](ResiduePlan& p, int v) {
             p.moduli = v;
             p.own_moduli.clear();
           },
       .get = [](const ResiduePlan& p) { return p.moduli; },
       .set_text = set_moduli,
       .get_text =
           [](const ResiduePlan& p) {
             std::string text;
             for (const int modulus : p.own_moduli) text += (text.empty() ? "" : "+") + std::to_string(modulus);
             return text;
           }},
      word_parameter<&ResiduePlan::scaling>(
          "scaling", "how rows and columns become integers; the last two are GEMMul8's fast modes of those years",
          "fast, accurate, fast2025 or fast2026", {"fast", "accurate", "fast2025", "fast2026"}),
      word_parameter<&ResiduePlan::sum>("sum", "how residues become the product", "fp64, single or exact",
                                        {"fp64", "single", "exact"}, Lossless{"exact"}),
      number_parameter<&ResiduePlan::block>("block", "products along k that one chain of the unit sums",
                                            "a number of products", {1, max_extent}, Lossless{""}),
      unit_k_parameter<&ResiduePlan::unit_k>(),
      word_parameter<&ResiduePlan::flaw>(
          "flaw", "a planted flaw",
          "one_bit_more, greatest_only, last_left_out, wrong_power, unsigned_residue, lost_modulus, digits_swapped, "
          "truncated_quotient, one_weight or late_scale",
          {"none", "one_bit_more", "greatest_only", "last_left_out", "wrong_power", "unsigned_residue", "lost_modulus",
           "digits_swapped", "truncated_quotient", "one_weight", "late_scale"},
          Lossless{"none"}),
  };
  return all;
}

class ResidueFamily final : public SchemeFamily<NamedResidues> {
 public:
  ResidueFamily()
      : SchemeFamily("ozaki2:", residue_parameters, "the unit of the residues' products; last in the name") {}

  bool owns(std::string_view name) const override { return entry_named(residue_rows, name) != nullptr; }

  std::vector<std::string> searched_by_default(const Op& op) const override {
    if (op.kind != OpKind::gemm) return {};
    return {"ozaki2:dgemm.s8",   "ozaki2:dgemm.s8?moduli=8,scaling=accurate",
            "ozaki2:dgemm.e4m3", "ozaki2:dgemm.e4m3?sum=exact",
            "ozaki2:sgemm.s8",   "ozaki2:sgemm.e4m3?scaling=accurate"};
  }

  std::vector<UnitInfo> list() const override {
    std::vector<UnitInfo> all;
    for (const ResidueRow& row : residue_rows)
      all.push_back(
          {row.name,
           std::string(row.wide) + " product from residues in " + row.narrow + " on " + row.dot_unit + " (?on=)",
           row.source, claims(), ""});
    return all;
  }

 protected:
  Result<NamedResidues> scheme_of(const std::string& name) const override { return named_residues(name); }
  Result<std::unique_ptr<Unit>> bind_scheme(const Registry& registry, const UnitName& name, const NamedResidues& scheme,
                                            const Op& op) const override {
    const ResiduePlan& plan = scheme.plan;
    const Format wide = format(entry_named(residue_rows, name.plain())->wide);
    if (!is_gemm_of(wide, op)) return takes_gemm_of(wide, name.plain());
    Result<std::unique_ptr<Unit>> dot = registry.bind(scheme.dot_unit, residue_dot(plan));
    if (!dot) return dot.refusal();
    const std::string dot_name = (*dot)->name(), full = name.on(dot_name).text();
    auto unit = std::make_unique<ResidueGemm>(plan, std::move(*dot), op);
    if (plan.block > 0 && plan.block < plan.unit_k)
      return declined("block=" + std::to_string(plan.block) + " ends within a dot of " + std::to_string(plan.unit_k) +
                      " products: give unit_k= of at most " + std::to_string(plan.block));
    if (unit->exact_products() == 0) return declined(dot_name + " sums no products of residues without error");
    if (unit->exact_products() < plan.unit_k)
      return declined(dot_name + " sums " + std::to_string(unit->exact_products()) +
                      " products of residues without error: give unit_k= of at most that");
    return named(std::move(unit), full, claims());
  }

 private:
  /// Deliberate flaws leave the claims unchanged, so that a search finds them.
  static std::vector<Claim> claims() {
    return claims_of({"gemm_error_bound", "gemm_specials", "inner_permutation", "matrix_scaling", "tile_permutation",
                      "transposition"});
  }
};

}  // namespace

Result<NamedResidues> named_residues(std::string_view unit) {
  const UnitName parts(unit);
  const ResidueRow* row = entry_named(residue_rows, parts.plain());
  if (!row) return unknown("not a unit of ozaki2: " + mmafuzz::in_quotes(unit));
  NamedResidues named;
  named.dot_unit = row->dot_unit;
  named.plan.narrow = format(row->narrow);
  named.plan.moduli = row->moduli;
  named.plan.unit_k = row->unit_k;
  if (std::string_view(row->wide) == "fp32") named.plan.sum = ResidueSum::single;
  return with_settings(residue_parameters(), parts.settings, std::move(named));
}

}  // namespace mmafuzz::gemm

namespace mmafuzz {
std::unique_ptr<Family> make_residue_family() { return std::make_unique<gemm::ResidueFamily>(); }
}  // namespace mmafuzz
