// The family `ozaki:`: parameters of the scheme after `?`, the dot unit that sums the slices after `on=`.
#include <algorithm>

#include "oracles/families.h"
#include "oracles/gemm/gemm_case.h"
#include "oracles/gemm/ozaki_unit.h"
#include "oracles/gemm/scheme_parameters.h"
#include "oracles/gemm/width.h"
#include "core/function_unit.h"

namespace mmafuzz::gemm {
namespace {

const std::vector<SchemeParameter<OzakiPlan>>& plan_parameters() {
  static const std::vector<SchemeParameter<OzakiPlan>> all = {
      number_parameter<&OzakiPlan::slices>("slices", "slices that are multiplied",
                                           "estimated, all or a number of slices", {1, 300}, Lossless{"all"},
                                           {{"all", all_slices}, {"estimated", estimated_slices}}),
      number_parameter<&OzakiPlan::fast>("fast", "1 leaves out products of slices that lie below the last", "0 or 1",
                                         {0, 1}, Lossless{"0"}),
      word_parameter<&OzakiPlan::sum>("sum", "how the slices' products are added", "fp64 or exact", {"fp64", "exact"},
                                      Lossless{"exact"}),
      number_parameter<&OzakiPlan::width_a>("width_a", "bits of a's slices, instead of the widest that is exact",
                                            "a number of bits", {1, 11}, Lossless{""}),
      number_parameter<&OzakiPlan::width_b>("width_b", "bits of b's slices, instead of the widest that is exact",
                                            "a number of bits", {1, 11}, Lossless{""}),
      number_parameter<&OzakiPlan::block>("block", "products along k that one slice product sums",
                                          "a number of products", {1, max_extent}, Lossless{""}),
      unit_k_parameter<&OzakiPlan::unit_k>(),
      number_parameter<&OzakiPlan::threads>("threads", "threads that share the rows of one product", "1 to 64",
                                            {1, 64}),
      number_parameter<&OzakiPlan::extra_width>("extra_width",
                                                "a planted flaw: bits of a slice beyond what is summed exactly",
                                                "a number of bits", {0, 4}, Lossless{"0"}),
      number_parameter<&OzakiPlan::skip_slice>("skip_slice", "a planted flaw: the slice of a that is left out",
                                               "a number", {1, 300}, Lossless{""}),
      word_parameter<&OzakiPlan::subnormals>("subnormals", "how subnormal inputs read", "kept, flushed or halved",
                                             {"kept", "flushed", "halved"}, Lossless{"kept"}),
      word_parameter<&OzakiPlan::drop_specials>("specials", "infinities and NaNs among the inputs", "kept or dropped",
                                                {"kept", "dropped"}, Lossless{"kept"}),
  };
  return all;
}

struct Default {
  const char *slice, *dot_unit;
};
constexpr Default defaults[] = {{"fp16", "model:hopper/mma.m16n8k16.f32.f16.f16.f32"},
                                {"bf16", "model:hopper/mma.m16n8k16.f32.bf16.bf16.f32"},
                                {"tf32", "model:hopper/mma.m16n8k8.f32.tf32.tf32.f32"},
                                {"e4m3", "model:ada/mma.m16n8k32.f32.e4m3.e4m3.f32"},
                                {"e5m2", "model:blackwell/tcgen05.kind::f8f6f4.m128n8k32.f32.e5m2.e5m2.f32"},
                                {"e3m2", "model:blackwell/tcgen05.kind::f8f6f4.m128n8k32.f32.e3m2.e3m2.f32"},
                                {"e2m3", "model:blackwell/tcgen05.kind::f8f6f4.m128n8k32.f32.e2m3.e2m3.f32"},
                                {"s8", "integer"}};

/// "fp16" of "ozaki:dgemm.fp16"; nullopt for names of other families.
std::optional<std::string> slice_of(std::string_view name) {
  for (const std::string_view kind : {"ozaki:dgemm.", "ozaki:sgemm."})
    for (const Default& d : defaults)
      if (name.starts_with(kind) && name.substr(kind.size()) == d.slice) return d.slice;
  return std::nullopt;
}

/// The claims of a plan. Deliberate flaws leave the claims unchanged, so that a search finds them. Products of digits
/// of given widths are possibly not summed exactly; an estimate of the slices depends on the order of the estimate's
/// sums.
std::vector<Claim> claims_of_plan(const OzakiPlan& plan) {
  std::vector<Claim> claims = claims_of({"gemm_specials"});
  const bool has_derived_widths = plan.width_a == 0 && plan.width_b == 0,
             is_order_free = plan.slices != estimated_slices;
  if (is_order_free) claims.push_back({"tile_permutation", ""});
  if (has_derived_widths) claims.insert(claims.end(), {{"exact_slices", ""}, {"gemm_error_bound", ""}});
  if (has_derived_widths && is_order_free && plan.block == 0) claims.push_back({"inner_permutation", ""});
  if (has_derived_widths && rounds_correctly(plan))
    claims.insert(claims.end(), {{"correctly_rounded", ""}, {"equals_model", "exact"}});
  return claims;
}

class OzakiFamily final : public SchemeFamily<NamedPlan> {
 public:
  OzakiFamily()
      : SchemeFamily("ozaki:", plan_parameters, "the unit that sums the slices' products; last in the name") {}

  bool owns(std::string_view name) const override { return slice_of(name).has_value(); }

  /// Every slice format, both summations, few slices, fast mode, blocks.
  std::vector<std::string> searched_by_default(const Op& op) const override {
    if (op.kind != OpKind::gemm) return {};
    return {
        "ozaki:dgemm.fp16",
        "ozaki:dgemm.fp16?sum=exact",
        "ozaki:dgemm.fp16?slices=5,fast=1",
        "ozaki:dgemm.fp16?slices=estimated,fast=1",
        "ozaki:dgemm.fp16?block=8",
        "ozaki:dgemm.bf16?slices=7",
        "ozaki:dgemm.e4m3?slices=14,fast=1",
        "ozaki:dgemm.s8",
        "ozaki:dgemm.s8?sum=exact",
        "ozaki:sgemm.fp16",
        "ozaki:sgemm.fp16?sum=exact",
        "ozaki:sgemm.fp16?slices=3,fast=1",
        "ozaki:sgemm.s8?slices=4",
    };
  }

  std::vector<UnitInfo> list() const override {
    std::vector<UnitInfo> all;
    for (const char* kind : {"dgemm", "sgemm"})
      for (const Default& d : defaults)
        all.push_back({std::string("ozaki:") + kind + "." + d.slice,
                       std::string(kind) + " from " + d.slice + " slices on " + d.dot_unit + " (?on=)",
                       "Mukunoki et al. 2020; docs/ozaki.md", claims_of_plan({}), ""});
    return all;
  }

  /// Summation in fp64 rounds to nearest and does not saturate; sum=exact rounds once, as the op says.
  Attributes honours(const std::string& name, const Op&) const override {
    const Result<NamedPlan> scheme = scheme_of(name);
    const bool exact = scheme && scheme->plan.sum == Summation::exact;
    return {.rounding = exact, .saturate = exact};
  }

 protected:
  Result<NamedPlan> scheme_of(const std::string& name) const override {
    const UnitName parts(name);
    const std::optional<std::string> slice = slice_of(parts.plain());
    if (!slice) return unknown("not a unit of ozaki: " + mmafuzz::in_quotes(name));
    return parse_ozaki_plan(*slice, parts.settings);
  }
  Result<std::unique_ptr<Unit>> bind_scheme(const Registry& registry, const UnitName& name, const NamedPlan& scheme,
                                            const Op& op) const override {
    const Format wide = format(name.path.starts_with("dgemm") ? "fp64" : "fp32");
    if (!is_gemm_of(wide, op)) return takes_gemm_of(wide, name.plain());
    Result<OzakiGemm> engine = make_ozaki(scheme, op, op.k, registry);
    if (!engine) return engine.refusal();
    const std::string full = name.on(engine->dot_unit().name()).text();
    return named(std::make_unique<OzakiUnit>(std::move(*engine), op.k), full, claims_of_plan(scheme.plan));
  }
};

}  // namespace

std::vector<std::string> ozaki_slices() {
  std::vector<std::string> names;
  for (const Default& d : defaults) names.push_back(d.slice);
  return names;
}

Result<NamedPlan> parse_ozaki_plan(const std::string& slice, std::string_view parameters) {
  NamedPlan named;
  named.plan.slice = format(slice);
  for (const Default& d : defaults)
    if (slice == d.slice) named.dot_unit = d.dot_unit;
  const Result<NamedPlan> parsed = with_settings(plan_parameters(), parameters, std::move(named));
  if (!parsed) return parsed.refusal();
  const int max_width = digit_bits(parsed->plan.slice.fields());
  if (std::max(parsed->plan.width_a, parsed->plan.width_b) > max_width)
    return invalid("a digit of " + slice + " has at most " + std::to_string(max_width) + " bits");
  if (parsed->plan.slices > 0 && parsed->plan.skip_slice > parsed->plan.slices)
    return invalid("skip_slice= is one of the slices, 1 to " + std::to_string(parsed->plan.slices));
  return parsed;
}

Result<OzakiGemm> make_ozaki(const NamedPlan& named, const Op& op, int64_t k, const Registry& registry) {
  const int64_t block = named.plan.block > 0 ? std::min<int64_t>(named.plan.block, k) : k;
  const int dot_k = static_cast<int>(std::clamp<int64_t>(block, 1, named.plan.unit_k));
  Result<std::unique_ptr<Unit>> dot = registry.bind(named.dot_unit, OzakiGemm::dot_op(named.plan, dot_k));
  if (!dot) return dot.refusal();
  const bool derives_a_width = named.plan.width_a == 0 || named.plan.width_b == 0;
  if (derives_a_width && exact_integer_bits(OzakiGemm::dot_op(named.plan, dot_k), **dot) == 0)
    return declined((*dot)->name() +
                    " sums no integers without error, whatever the width of slices (docs/semantics.md 13, 14)");
  return OzakiGemm(named.plan, op, std::move(*dot), dot_k);
}

void OzakiUnit::run(const Batch& batch, Outcomes& outcomes) const {
  prepare(batch, outcomes);
  const Op& op = batch.op();
  GemmCase matrices(op);
  if (engine_.plan().threads > 1) {  // rows of one product in parallel
    for (size_t i = 0; i < batch.size(); ++i) {
      matrices.load(batch, i);
      outcomes.results.pack(
          i, engine_.multiply({op.m, op.n, op.k}, matrices.a.data(), matrices.b.data(), matrices.c.data()).data());
    }
    return;
  }
  // Many products at a time, limited by their memory, so that the unit runs their dots in few calls.
  constexpr size_t max_factors = 1 << 16;
  const size_t together = std::max<size_t>(1, max_factors / (size_t(op.m + op.n) * size_t(op.k)));
  std::vector<OzakiGemm::Product> products;
  for (size_t first = 0; first < batch.size(); first += products.size()) {
    products.clear();
    for (size_t i = first; i < std::min(batch.size(), first + together); ++i) {
      matrices.load(batch, i);
      products.push_back({{matrices.a, matrices.b}, matrices.c, {}, /*answered=*/true});
    }
    engine_.multiply_all({op.m, op.n, op.k}, products);
    for (size_t i = 0; i < products.size(); ++i) {
      outcomes.results.pack(first + i, products[i].d.data());
      if (products[i].answered) continue;
      if (outcomes.answered.empty()) outcomes.answered.assign(batch.size(), 1);
      outcomes.answered[first + i] = 0;
    }
  }
}

}  // namespace mmafuzz::gemm

namespace mmafuzz {
std::unique_ptr<Family> make_ozaki_family() { return std::make_unique<gemm::OzakiFamily>(); }
}  // namespace mmafuzz
