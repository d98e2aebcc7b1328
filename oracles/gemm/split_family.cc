// The family `split:`: error-corrected SGEMM, one row for each published method and narrow format.
#include <charconv>

#include "core/quoted.h"
#include "oracles/families.h"
#include "oracles/gemm/corrected_sgemm.h"
#include "oracles/units/function_unit.h"

namespace mmafuzz::gemm {
namespace {

struct Row {
  const char* name;
  const char* narrow;
  int scale;
  bool outside;
  int unit_k;  ///< of the instruction that the published code uses, or its successor
  const char* on;
  const char* source;
};

constexpr char markidis[] = "Markidis et al. 2018", ootomo[] = "Ootomo and Yokota 2022";
constexpr Row rows[] = {
    {"split:markidis.fp16", "fp16", 0, false, 16, "model:ampere/mma.m16n8k16.f32.f16.f16.f32", markidis},
    {"split:ootomo.fp16", "fp16", 11, true, 16, "model:ampere/mma.m16n8k16.f32.f16.f16.f32", ootomo},
    {"split:ootomo.tf32", "tf32", 11, true, 8, "model:ampere/mma.m16n8k8.f32.tf32.tf32.f32", ootomo}};

const Row* find_row(std::string_view name) {
  for (const Row& row : rows)
    if (name == row.name) return &row;
  return nullptr;
}

bool parse_number(std::string_view text, int least, int greatest, int& value) {
  const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && r.ec == std::errc{} && r.ptr == text.data() + text.size() && value >= least && value <= greatest;
}

Result<CorrectionPlan> parse_plan(const Row& row, std::string_view parameters, std::string& on) {
  CorrectionPlan plan;
  plan.narrow = format(row.narrow);
  plan.scale = row.scale;
  plan.outside = row.outside;
  plan.unit_k = row.unit_k;
  on = row.on;
  while (!parameters.empty()) {
    if (parameters.starts_with("on=")) {
      on = parameters.substr(3);
      break;
    }
    const std::string_view one = parameters.substr(0, parameters.find(','));
    parameters.remove_prefix(std::min(parameters.size(), one.size() + 1));
    const size_t equals = std::min(one.find('='), one.size());
    const std::string_view name = one.substr(0, equals), text = one.substr(std::min(equals + 1, one.size()));
    int value = 0;
    if (name == "scale") {
      if (!parse_number(text, 0, 24, plan.scale)) return invalid("parameter scale is 0 to 24");
    } else if (name == "unit_k") {
      if (!parse_number(text, 1, max_extent, plan.unit_k)) return invalid("parameter unit_k is a number of products");
    } else if (name == "residual_product") {
      if (!parse_number(text, 0, 1, value)) return invalid("parameter residual_product is 0 or 1");
      plan.residual_product = value != 0;
    } else if (name == "accumulate") {
      if (text != "inside" && text != "outside") return invalid("parameter accumulate is inside or outside");
      plan.outside = text == "outside";
    } else {
      return invalid("unknown parameter " + quoted(name) + "; known: scale unit_k residual_product accumulate and last, on=<dot unit>");
    }
  }
  return plan;
}

class SplitFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return find_row(name) != nullptr; }

  std::vector<UnitInfo> list() const override {
    std::vector<UnitInfo> all;
    for (const Row& row : rows)
      all.push_back({row.name, std::string("error-corrected SGEMM in ") + row.narrow + " on " + row.on + " (?on=)", row.source, claims(), ""});
    return all;
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op&) const override { return declined(name + " runs on another unit: it needs a registry"); }

  Result<std::unique_ptr<Unit>> bind_over(const Registry& registry, const std::string& name, const Op& op) const override {
    const size_t question = std::min(name.find('?'), name.size());
    const Row& row = *find_row(std::string_view(name).substr(0, question));
    std::string on;
    const Result<CorrectionPlan> plan = parse_plan(row, std::string_view(name).substr(std::min(question + 1, name.size())), on);
    if (!plan) return invalid("unit " + name + ": " + plan.refusal().reason);
    const Format fp32 = format("fp32");
    if (op.kind != OpKind::gemm || op.a != fp32 || op.b != fp32 || op.c != fp32 || op.d != fp32)
      return declined(std::string(row.name) + " takes 'op gemm a=fp32 b=fp32 c=fp32 d=fp32'");
    Result<std::unique_ptr<Unit>> dot = registry.bind(on, correction_dot(*plan));
    if (!dot) return dot.refusal();
    return named(make_corrected_sgemm(*plan, std::move(*dot), op), name, claims());
  }

 private:
  static std::vector<Claim> claims() { return claims_of({"tile_permutation"}); }
};

}  // namespace
}  // namespace mmafuzz::gemm

namespace mmafuzz {
std::unique_ptr<Family> make_split_family() { return std::make_unique<gemm::SplitFamily>(); }
}  // namespace mmafuzz
