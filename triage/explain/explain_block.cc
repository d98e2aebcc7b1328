// The table of a block and of a quantizer's result (explained_block).
#include <fmt/core.h>

#include <cmath>

#include "core/block_case.h"
#include "core/host_number.h"
#include "core/text.h"
#include "triage/explain/explain.h"

namespace mmafuzz {
namespace {

/// An encoding times 2^unit as fp64, which is exact for scales, codes and numbers of every format.
double value_of(const FormatFields& f, uint64_t encoding, int unit = 0) {
  return std::ldexp(to_double(f, encoding), unit);
}

std::string figure(double x) { return std::isnan(x) ? "NaN" : fmt::format("{:.9g}", x); }

}  // namespace

std::vector<std::string> explained_block(const Batch& single, const Outcomes& outcomes, size_t index) {
  const Op& op = single.op();
  if (!op.is_of_blocks()) return {};
  const bool quantizes = op.kind == OpKind::quantize;
  const FormatFields &numbers = (quantizes ? op.a : op.d).fields(), &element = (quantizes ? op.d : op.a).fields();
  const Format& codes = quantizes ? op.d : op.a;
  const uint64_t scale_code = quantizes ? outcomes.results.get(index, 0) : single.inputs()[1].get(0);
  const double scale = value_of(op.scale_a.fields(), scale_code);
  const double tensor =
      op.has_tensor_scale() ? value_of(op.scale_b.fields(), single.inputs()[quantizes ? 1 : 2].get(0)) : 1;
  std::vector<std::string> lines;
  lines.push_back(fmt::format("scale {} = {}", to_hex(op.scale_a, scale_code), figure(scale)));
  if (op.has_tensor_scale()) lines.back() += fmt::format("; tensor's scale {}", figure(tensor));
  lines.push_back(fmt::format("{:>4}  {:>16}  {:>16}  {:>5}  {:>16}  {}", "lane", "number",
                              op.has_tensor_scale() ? "number / scales" : "number / scale", "code", "stands for",
                              "error"));
  uint64_t zeros = 0;
  for (int lane = 0; lane < op.k; ++lane) {
    const uint64_t x_code = quantizes ? single.inputs()[0].get(0, lane) : outcomes.results.get(index, lane);
    const uint64_t code = quantizes ? outcomes.results.get(index, 1 + lane) : single.inputs()[0].get(0, lane);
    const double x = value_of(numbers, x_code);
    const double stands_for = value_of(element, code, element_unit(element)) * scale * tensor;
    if (x == 0 && stands_for == 0) {
      ++zeros;
      continue;
    }
    lines.push_back(fmt::format("{:>4}  {:>16}  {:>16}  {:>5}  {:>16}  {}", lane, figure(x),
                                figure(x / (scale * tensor)), to_hex(codes, code), figure(stands_for),
                                std::isfinite(stands_for - x) ? fmt::format("{:.3g}", stands_for - x) : ""));
  }
  if (zeros) lines.push_back("and " + counted(zeros, "zero"));
  return lines;
}

}  // namespace mmafuzz
