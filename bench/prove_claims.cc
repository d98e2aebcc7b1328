#include "bench/prove_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/case_text.h"
#include "oracles/models/model_rows.h"
#include "oracles/properties/properties.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "prove/inquiry.h"

namespace mmafuzz {
namespace {

/// The models of the table of properties: each kind of arithmetic once, at the k of the instruction.
const char* const proven_units[] = {
    "volta/mma.m8n8k4.f32.f16.f16.f32",
    "volta/mma.m8n8k4.f16.f16.f16.f16",
    "turing/mma.m16n8k8.f32.f16.f16.f32",
    "ampere/mma.m16n8k16.f32.f16.f16.f32",
    "hopper/mma.m16n8k16.f32.f16.f16.f32",
    "hopper/mma.m16n8k16.f16.f16.f16.f16",
    "ampere/mma.m16n8k16.f32.bf16.bf16.f32",
    "hopper/mma.m16n8k16.f32.bf16.bf16.f32",
    "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
    "hopper/mma.m16n8k8.f32.tf32.tf32.f32",
    "ada/mma.m16n8k32.f32.e4m3.e4m3.f32",
    "hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32",
    "blackwell/tcgen05.kind::f8f6f4.m128n8k32.f32.e5m2.e5m2.f32",
    "blackwell/tcgen05.kind::mxf8f6f4.block32.m128n8k32.f32.e4m3.e4m3.f32.ue8m0",
    "blackwell/tcgen05.kind::mxf4nvf4.block16.m128n8k64.f32.e2m1.e2m1.f32.ue4m3",
    "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32",
    "cdna1/mfma.16x16x16.f32.f16.f16.f32",
    "cdna2/mfma.16x16x16.f32.f16.f16.f32",
    "cdna3/mfma.16x16x16.f32.f16.f16.f32",
    "ampere/mma.m8n8k4.f64.f64.f64.f64",
};

bool claims(const ModelRow& row, const std::string& property) {
  return property == "error_bound" ||
         std::any_of(row.claims.begin(), row.claims.end(), [&](const Claim& c) { return c.property == property; });
}

std::set<std::string> claimed_by(const std::vector<const ModelRow*>& rows) {
  std::set<std::string> properties = {"error_bound"};  // checked of every row (docs/bounds.md)
  for (const ModelRow* row : rows)
    for (const Claim& claim : row->claims)
      if (claim.property != "equals_model") properties.insert(claim.property);
  return properties;
}

/// The outcome for a claim. proven: at the instruction's k; proven_of_fewer: at a lower power of two, the greatest that
/// the solvers decide in time; tested_only: at none.
enum class Became { proven, proven_of_fewer, tested_only, does_not_apply, refuted, not_claimed };
struct ClaimVerdict {
  std::string text;
  Became became;
};

ClaimVerdict claim_verdict(prove::Solvers& solvers, const std::string& property, const ModelRow& row, double seconds) {
  if (!claims(row, property)) return {"not claimed", Became::not_claimed};
  const ClaimVerdict tested_only{"tested only", Became::tested_only};
  const std::vector<std::string> asked = prove::provable_properties();
  if (std::find(asked.begin(), asked.end(), property) == asked.end()) return tested_only;
  const std::string unit = "model:" + row.name();
  const auto of_products = [&](int k) {
    Op op = row.op;
    op.k = k;
    return op;
  };
  const auto applies = [&](int k) {
    const Op op = of_products(k);
    const std::unique_ptr<Unit> bound = bind_or_fail(unit, op);
    return BoundProperty::bind(*find_property(property), *bound, op, registry()) &&
           prove::property_question(property, op, row.model);
  };
  const auto ask = [&](int k) {
    prove::InquiryOptions inquiry;
    inquiry.proof.seconds = seconds;
    inquiry.op = op_words(of_products(k));
    return prove::ask_property(solvers, property, unit, inquiry).proof;
  };
  if (!applies(row.op.k)) return {"does not apply", Became::does_not_apply};
  const prove::Proof whole = ask(row.op.k);
  if (whole.outcome == prove::Outcome::witness) return {"WITNESS", Became::refuted};
  if (whole.outcome == prove::Outcome::proven) return {fmt::format("{:.1f} s", whole.seconds), Became::proven};
  ClaimVerdict verdict = tested_only;
  for (int k = 1; k < row.op.k; k *= 2) {
    if (!applies(k)) continue;  // too short for the property
    const prove::Proof part = ask(k);
    if (part.outcome == prove::Outcome::witness) return {"WITNESS", Became::refuted};
    if (part.outcome == prove::Outcome::unknown) break;
    verdict = {fmt::format("k={}: {:.1f} s", k, part.seconds), Became::proven_of_fewer};
  }
  return verdict;
}

/// Prints the verdict as a cell of a table.
Became print_verdict(prove::Solvers& solvers, const std::string& property, const ModelRow& row, double seconds) {
  const ClaimVerdict verdict = claim_verdict(solvers, property, row, seconds);
  fmt::print(" {} |", verdict.text);
  std::fflush(stdout);
  return verdict.became;
}

/// Prints the head of a table: `first` (two columns), a column for each property, and `last` (one column or "").
void print_head(const std::string& first, const std::set<std::string>& properties, const std::string& last) {
  fmt::print("{}", first);
  for (const std::string& p : properties) fmt::print(" {} |", p);
  fmt::print("{}\n|---|---|", last);
  for (size_t i = 0; i < properties.size() + (last.empty() ? 0 : 1); ++i) fmt::print("---|");
  fmt::print("\n");
}

}  // namespace

bool print_claims(prove::Solvers& solvers, const std::string& units, double seconds) {
  std::vector<const ModelRow*> rows;
  for (const char* name : proven_units)
    if (std::string_view(name).find(units) != std::string_view::npos) rows.push_back(find_model_row(name));
  const std::set<std::string> properties = claimed_by(rows);
  print_head("| unit | k |", properties, " integer bits |");
  bool none_refuted = true;
  prove::InquiryOptions inquiry;
  inquiry.proof.seconds = seconds;
  for (const ModelRow* row : rows) {
    fmt::print("| `{}` | {} |", row->name(), row->op.k);
    for (const std::string& p : properties) none_refuted &= print_verdict(solvers, p, *row, seconds) != Became::refuted;
    std::string bits = "-";
    if (traits_of(row->model).is_fused_sum()) {
      const prove::IntegerBits found = prove::ask_integer_bits(solvers, "model:" + row->name(), inquiry);
      if (found.bits > 0)
        bits = fmt::format("{} ({:.1f} s){}", found.bits, found.enough.proof.seconds,
                           found.one_fewer.proof.outcome == prove::Outcome::witness
                               ? fmt::format(", {} are not ({:.1f} s)", found.bits - 1, found.one_fewer.proof.seconds)
                               : "");
      else bits = "unknown";
    }
    fmt::print(" {} |\n", bits);
    std::fflush(stdout);
  }
  return none_refuted;
}

bool print_claims_of_all_rows(prove::Solvers& solvers, const std::string& units, double seconds) {
  // Rows with the same parameters, op and claims are one kind, which is asked once.
  std::vector<const ModelRow*> firsts;
  std::map<std::string, int> alike;  // by kind: its number of rows
  const auto kind_of = [](const ModelRow& row) {
    std::string kind = function_of(row);
    for (const Claim& claim : row.claims)
      if (claim.property != "equals_model") kind += " " + claim.property;
    return kind;
  };
  int count = 0;
  for (const ModelRow& row : model_rows()) {
    if (row.name().find(units) == std::string::npos) continue;
    ++count;
    if (++alike[kind_of(row)] == 1) firsts.push_back(&row);
  }
  const std::set<std::string> properties = claimed_by(firsts);
  print_head("| unit | rows |", properties, "");
  std::map<std::string, std::map<Became, int>> tally;  // by property and outcome: number of rows
  bool none_refuted = true;
  for (const ModelRow* row : firsts) {
    const int rows = alike[kind_of(*row)];
    fmt::print("| `{}` | {} |", row->name(), rows);
    for (const std::string& p : properties) {
      const Became became = print_verdict(solvers, p, *row, seconds);
      none_refuted &= became != Became::refuted;
      tally[p][became] += rows;
    }
    fmt::print("\n");
  }
  fmt::print(
      "\nOf {} rows of {} kinds:\n\n| property | claimed by | proven at the k of the instruction | of fewer products | "
      "tested only | does not apply | refuted |\n|---|---|---|---|---|---|---|\n",
      count, firsts.size());
  for (auto& [property, rows] : tally)
    fmt::print("| {} | {} | {} | {} | {} | {} | {} |\n", property, count - rows[Became::not_claimed],
               rows[Became::proven], rows[Became::proven_of_fewer], rows[Became::tested_only],
               rows[Became::does_not_apply], rows[Became::refuted]);
  return none_refuted;
}

}  // namespace mmafuzz
