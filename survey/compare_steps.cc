// Steps that compare units with references on drawn cases: CUDA cores, conversions on the device, Ozaki products,
// cuBLAS.
#include "core/property.h"
#include "gpu_bridge/instructions/core_instructions.h"
#include "gpu_bridge/instructions/cublas_gemm.h"
#include "search/structured_generator.h"
#include "survey/survey.h"

namespace mmafuzz::survey {
namespace {

struct Comparison {
  std::string unit, op, reference;
  bool is_claimed = false;  ///< a difference is a divergence
  uint64_t most_cases = 100000;
};

/// Compares drawn cases until the deadline or the maximum number; batches grow while they are quick.
void compare(Context& context, const Comparison& c, const std::string& step, Json& result, Clock::time_point deadline) {
  Json row = {{"op", c.op}, {"reference", c.reference}, {"claimed", c.is_claimed}, {"cases", 0}, {"differs", 0}};
  const Result<Op> op = parse_op(c.op);
  if (!op) throw std::runtime_error(c.op + ": " + op.refusal().reason);
  const Result<std::unique_ptr<Unit>> unit = context.registry.bind(c.unit, *op),
                                      reference = context.registry.bind(c.reference, *op);
  if (!unit || !reference) {
    row["status"] = "declined";
    row["why"] = (unit ? reference : unit).refusal().reason;
    result["rows"].push_back(std::move(row));
    return;
  }
  const StructuredGenerator generator(*op, context.options.seed);
  uint64_t cases = 0, differs = 0;
  size_t size = op->kind == OpKind::gemm ? 1 : 16;
  const auto report = [&](const Divergence& d, uint64_t count) {
    if (differs == 0) {
      const std::string text = difference_text(d.cases, 0, d.results[0], c.reference, d.results.back());
      row["first"] = text;
      if (c.is_claimed) context.book.note_finding("divergence", step, c.unit, text);
    }
    if (c.is_claimed) context.book.keep_cases("divergent.cases", c.unit, d.cases, nullptr);
    differs += count;
  };
  const auto end = [&](const char* status) {
    row["cases"] = cases;
    row["differs"] = differs;
    row["status"] = status;
    result["rows"].push_back(std::move(row));
  };
  try {
    while (cases < c.most_cases && Clock::now() < deadline) {
      Batch batch;
      generator.fill(cases, static_cast<size_t>(std::min<uint64_t>(size, c.most_cases - cases)), batch);
      Outcomes got, expected;
      const auto begin = Clock::now();
      run_or_lose(context, **unit, batch, got);
      (*reference)->run(batch, expected);
      compare_units("equals_model", c.is_claimed ? Severity::contract : Severity::semantic, batch, c.unit, got,
                    c.reference, expected, report);
      cases += batch.size();
      if (seconds_since(begin) < 0.05) size = std::min<size_t>(2 * size, 16384);
    }
  } catch (...) {
    end("cut short");  // the step's own entry says why
    throw;
  }
  end(cases ? "done" : "out of time");
}

Step comparison_step(Context& context, const std::string& name, const std::string& unit, double seconds_each,
                     std::vector<Comparison> all) {
  const double limit = seconds_each * double(all.size());
  return {name, "compare", unit, limit,
          [&context, name, seconds_each, all = std::move(all)](Json& result, Clock::time_point deadline) {
            result["rows"] = Json::array();
            for (const Comparison& one : all)
              compare(context, one, name, result, std::min(deadline, seconds_after(Clock::now(), seconds_each)));
          }};
}

std::string with_any_nan(const Op& op) {
  Op any = op;
  any.nan = NanPolicy::any;
  return op_words(any);
}

std::string gemm(const std::string& operands, const std::string& result) {
  return "gemm a=" + operands + " b=" + operands + " c=" + result + " d=" + result + " m=4 n=4 k=32 nan=any";
}

}  // namespace

std::vector<Step> core_steps(Context& context) {
  std::vector<Step> steps;
  std::vector<std::string> order;
  std::map<std::string, std::vector<Comparison>> by_unit;
  for (const CoreInstruction& i : core_instructions()) {
    const std::string unit = "cuda:" + i.unit;
    if (!(i.archs & context.arch) || !selected(context, unit)) continue;
    if (by_unit[unit].empty()) order.push_back(unit);
    by_unit[unit].push_back({unit, with_any_nan(i.op), reference_of(i), equals_its_reference(i)});
  }
  for (const std::string& unit : order)
    steps.push_back(comparison_step(context, "CUDA cores", unit, context.scaled(0.4), by_unit[unit]));
  return steps;
}

std::vector<Step> conversion_steps(Context& context) {
  if (!selected(context, "cuda:bulk")) return {};
  std::vector<Comparison> all;
  for (const char* to : {"e4m3", "e5m2", "fp16", "tf32", "cfloat8_1_4_3:7", "cfloat8_1_5_2:15", "shp:15"})
    for (const char* round : {"nearest_even", "stochastic"})
      all.push_back({"cuda:bulk", std::string("convert from=fp32 to=") + to + " round=" + round, "bulk", true});
  return {comparison_step(context, "conversions", "cuda:bulk", context.scaled(0.4), all)};
}

std::vector<Step> ozaki_steps(Context& context) {
  struct SlicedProduct {
    const char *slice, *unit;  ///< format of the slices; the unit that multiplies them
  };
  constexpr SlicedProduct products[] = {{"fp16", "cuda:mma.m16n8k16.f32.f16.f16.f32"},
                                        {"bf16", "cuda:mma.m16n8k16.f32.bf16.bf16.f32"},
                                        {"tf32", "cuda:mma.m16n8k8.f32.tf32.tf32.f32"},
                                        {"e4m3", "cuda:wgmma.m64n8k32.f32.e4m3.e4m3.f32"},
                                        {"fp16", "cuda:wgmma.m64n8k16.f32.f16.f16.f32"},
                                        {"s8", "cuda:mma.m16n8k32.s32.s8.s8.s32"},
                                        {"fp16", "cublas:gemmex.fp16"},
                                        {"s8", "cublas:gemmex.s8"}};
  std::vector<Step> steps;
  for (const auto& [slice, unit] : products) {
    if (!selected(context, unit)) continue;
    const std::string name = std::string("ozaki:dgemm.") + slice + "?sum=exact,on=" + unit;
    steps.push_back(comparison_step(context, "Ozaki products", unit, context.scaled(3),
                                    {{name, gemm("fp64", "fp64"), "exact", true}}));
  }
  return steps;
}

std::vector<Step> cublas_steps(Context& context) {
  std::vector<Step> steps;
  for (const CublasRow& row : cublas_rows()) {
    const std::string unit = "cublas:" + row.name, a = row.operand.name(), d = row.result.name();
    if (!selected(context, unit)) continue;
    const bool integer = row.result.fields().integer;
    std::vector<Comparison> all;
    for (const char* k : {"16", "512"}) {
      const std::string op = "dot a=" + a + " b=" + a + " c=" + d + " d=" + d + " k=" + k + (integer ? "" : " nan=any");
      all.push_back({unit, op, integer ? "integer" : "exact", false, 4096});
      if (!integer) all.push_back({unit, op, "ieee:fma", false, 4096});
    }
    if (!integer)  // no oracle multiplies matrices of integers
      for (const char* reference : {"exact", "ieee:fma"}) all.push_back({unit, gemm(a, d), reference, false, 4096});
    steps.push_back(comparison_step(context, "cuBLAS", unit, context.scaled(0.6), all));
  }
  return steps;
}

}  // namespace mmafuzz::survey
