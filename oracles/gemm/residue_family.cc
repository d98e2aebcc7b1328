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
  const char *on, *source;
};
constexpr char of_s8[] = "Ozaki et al., arXiv 2504.08009; GEMMul8",
               of_fp8[] = "Uchino et al., arXiv 2603.10634; GEMMul8";
constexpr char fp8_unit[] = "model:blackwell/tcgen05.kind::f8f6f4.m128n8k32.f32.e4m3.e4m3.f32";
constexpr ResidueRow residue_rows[] = {{"ozaki2:dgemm.s8", "fp64", "s8", 15, 64, "integer", of_s8},
                                       {"ozaki2:dgemm.e4m3", "fp64", "e4m3", 12, 32, fp8_unit, of_fp8},
                                       {"ozaki2:sgemm.s8", "fp32", "s8", 8, 64, "integer", of_s8},
                                       {"ozaki2:sgemm.e4m3", "fp32", "e4m3", 6, 32, fp8_unit, of_fp8}};

/// "256+255+253".
std::string set_moduli(ResiduePlan& plan, std::string_view text) {
  plan.others.clear();
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find('+', from), text.size());
    int p = 0;
    const auto r = std::from_chars(text.data() + from, text.data() + end, p);
    if (r.ec != std::errc{} || r.ptr != text.data() + end)
      return "moduli= is 2 to 20, or coprime numbers as in 256+255+253";
    plan.others.push_back(p);
    from = end + 1;
  }
  plan.moduli = static_cast<int>(plan.others.size());
  return reason_against_moduli(plan.others, plan.narrow);
}

const std::vector<SchemeParameter<ResiduePlan>>& residue_parameters() {
  static const std::vector<SchemeParameter<ResiduePlan>> all = {
      {"moduli",
       "how many moduli of the papers' list, or other ones",
       "2 to 20, or coprime numbers as in 256+255+253",
       {},
       2,
       20,
       [](ResiduePlan& p, int v) {
         p.moduli = v;
         p.others.clear();
       },
       [](const ResiduePlan& p) { return p.moduli; },
       nullptr,
       [](ResiduePlan& p, std::string_view text) { return set_moduli(p, text); },
       [](const ResiduePlan& p) {
         std::string text;
         for (const int modulus : p.others) text += (text.empty() ? "" : "+") + std::to_string(modulus);
         return text;
       }},
      {"scaling",
       "how rows and columns become integers; the last two are GEMMul8's fast modes of those years",
       "fast, accurate, fast2025 or fast2026",
       {{"fast", 0}, {"accurate", 1}, {"fast2025", 2}, {"fast2026", 3}},
       1,
       0,
       [](ResiduePlan& p, int v) { p.scaling = static_cast<ResidueScaling>(v); },
       [](const ResiduePlan& p) { return static_cast<int>(p.scaling); }},
      {"sum",
       "how residues become the product",
       "fp64, single or exact",
       {{"fp64", 0}, {"single", 1}, {"exact", 2}},
       1,
       0,
       [](ResiduePlan& p, int v) { p.sum = static_cast<ResidueSum>(v); },
       [](const ResiduePlan& p) { return static_cast<int>(p.sum); },
       "exact"},
      {"block",
       "products along k that one chain of the unit sums",
       "a number of products",
       {},
       1,
       max_extent,
       [](ResiduePlan& p, int v) { p.block = v; },
       [](const ResiduePlan& p) { return p.block; },
       ""},
      {"unit_k",
       "products of one dot of the unit",
       "a number of products",
       {},
       1,
       max_extent,
       [](ResiduePlan& p, int v) { p.unit_k = v; },
       [](const ResiduePlan& p) { return p.unit_k; }},
      {"flaw",
       "a planted flaw",
       "one_bit_more, greatest_only, last_left_out, wrong_power, unsigned_residue, lost_modulus, digits_swapped, "
       "truncated_quotient, "
       "one_weight or late_scale",
       {{"none", 0},
        {"one_bit_more", 1},
        {"greatest_only", 2},
        {"last_left_out", 3},
        {"wrong_power", 4},
        {"unsigned_residue", 5},
        {"lost_modulus", 6},
        {"digits_swapped", 7},
        {"truncated_quotient", 8},
        {"one_weight", 9},
        {"late_scale", 10}},
       1,
       0,
       [](ResiduePlan& p, int v) { p.flaw = static_cast<ResidueFlaw>(v); },
       [](const ResiduePlan& p) { return static_cast<int>(p.flaw); },
       "none"},
  };
  return all;
}

class ResidueFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return row_named(residue_rows, name) != nullptr; }
  Role role(const std::string&) const override { return Role::scheme; }

  std::vector<std::string> searched_by_default(const Op& op) const override {
    if (op.kind != OpKind::gemm) return {};
    return {"ozaki2:dgemm.s8",   "ozaki2:dgemm.s8?moduli=8,scaling=accurate",
            "ozaki2:dgemm.e4m3", "ozaki2:dgemm.e4m3?sum=exact",
            "ozaki2:sgemm.s8",   "ozaki2:sgemm.e4m3?scaling=accurate"};
  }

  std::vector<UnitInfo> list() const override {
    std::vector<UnitInfo> all;
    for (const ResidueRow& row : residue_rows)
      all.push_back({row.name,
                     std::string(row.wide) + " product from residues in " + row.narrow + " on " + row.on + " (?on=)",
                     row.source, claims(), ""});
    return all;
  }

  FamilyParameters parameters() const override {
    return scheme_parameters("ozaki2:", residue_parameters(), "the unit of the residues' products; last in the name");
  }

  std::vector<Setting> settings(const std::string& name) const override {
    const Result<NamedResidues> residues = named_residues(name);
    if (!residues) return {};
    return scheme_settings(residue_parameters(), residues->plan, residues->on);
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op&) const override {
    return declined(name + " runs on another unit: it needs a registry");
  }

  Result<std::unique_ptr<Unit>> bind_over(const Registry& registry, const std::string& name,
                                          const Op& op) const override {
    const UnitName parts(name);
    const ResidueRow& row = *row_named(residue_rows, parts.plain());
    const Result<NamedResidues> residues = named_residues(name);
    if (!residues) return invalid("unit " + name + ": " + residues.refusal().reason);
    const Format wide = format(row.wide);
    if (op.kind != OpKind::gemm || op.a != wide || op.b != wide || op.c != wide || op.d != wide)
      return declined(parts.plain() + " takes 'op gemm a=" + wide.name() + " b=" + wide.name() + " c=" + wide.name() +
                      " d=" + wide.name() + "'");
    Result<std::unique_ptr<Unit>> dot = registry.bind(residues->on, residue_dot(residues->plan));
    if (!dot) return dot.refusal();
    const std::string full = parts.on((*dot)->name()).text(), on = (*dot)->name();
    auto unit = std::make_unique<ResidueGemm>(residues->plan, std::move(*dot), op);
    if (const int block = residues->plan.block; block > 0 && block < residues->plan.unit_k)
      return declined("block=" + std::to_string(block) + " ends within a dot of " +
                      std::to_string(residues->plan.unit_k) + " products: give unit_k= of at most " +
                      std::to_string(block));
    if (unit->exact_products() == 0) return declined(on + " sums no products of residues without error");
    if (unit->exact_products() < residues->plan.unit_k)
      return declined(on + " sums " + std::to_string(unit->exact_products()) +
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
  const ResidueRow* row = row_named(residue_rows, parts.plain());
  if (!row) return unknown("not a unit of ozaki2: " + mmafuzz::in_quotes(unit));
  NamedResidues named;
  named.on = row->on;
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
