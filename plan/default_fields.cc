#include "plan/default_fields.h"

#include <algorithm>

#include "core/unit_name.h"
#include "oracles/models/model_rows.h"
#include "plan/request.h"

namespace mmafuzz {
namespace {

/// Dots: the formats of NVIDIA's recorded GPUs with the k of a wide instruction, a format of Tesla's, and fp32 and
/// fp64, which CPUs have too. Of the other kinds a few ops each, in several formats, roundings and sizes. nan=any:
/// which NaN a unit gives is not compared. The alpha and beta of products are -1/3, rounded to d's format, and 3.
constexpr const char* op_lines[] = {
    "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16",
    "dot a=bf16 b=bf16 c=fp32 d=fp32 k=16",
    "dot a=tf32 b=tf32 c=fp32 d=fp32 k=8",
    "dot a=fp16 b=fp16 c=fp16 d=fp16 k=16",
    "dot a=e4m3 b=e4m3 c=fp32 d=fp32 k=32",
    "dot a=e5m2 b=e5m2 c=fp32 d=fp32 k=32",
    "dot a=cfloat8_1_4_3:7 b=cfloat8_1_4_3:7 c=fp32 d=fp32 k=16",
    "dot a=fp32 b=fp32 c=fp32 d=fp32 k=4 nan=any",
    "dot a=fp64 b=fp64 c=fp64 d=fp64 k=16 nan=any",
    "scalar fma format=fp32 round=nearest_even nan=any",
    "scalar fma format=fp64 round=toward_zero nan=any",
    "scalar add format=fp64 round=up nan=any",
    "scalar mul format=fp32 round=down nan=any",
    "scalar rem format=fp64 round=nearest_even nan=any",
    "convert from=fp32 to=fp16 round=nearest_even nan=any",
    "convert from=fp32 to=e4m3 round=nearest_even nan=any saturate=1",
    "convert from=fp32 to=cfloat8_1_4_3:7 round=nearest_even nan=any",
    "convert from=bf16 to=cfloat8_1_5_2:15 round=stochastic nan=any seed=1",
    "convert from=fp64 to=fp16 round=nearest_even nan=any",
    "gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=16",
    "gemm a=fp64 b=fp64 c=fp64 d=fp64 m=2 n=2 k=8 alpha=bfd5555555555555 beta=4008000000000000",
    "gemm a=fp64 b=fp64 c=fp64 d=fp64 m=3 n=2 k=33",
    "gemm a=fp64 b=fp64 c=fp64 d=fp64 m=8 n=8 k=64",
    "gemm a=fp32 b=fp32 c=fp32 d=fp32 m=1 n=1 k=4",
    "gemm a=fp32 b=fp32 c=fp32 d=fp32 m=2 n=3 k=20",
    "gemm a=fp32 b=fp32 c=fp32 d=fp32 m=2 n=2 k=8 alpha=beaaaaab beta=40400000",
    "gemm a=fp32 b=fp32 c=fp32 d=fp32 m=8 n=8 k=64",
    "quantize from=fp32 to=e2m1 block=32 scale=e8m0 rule=floor special=nan_scale nan=any",
    "quantize from=fp32 to=e4m3 block=32 scale=e8m0 rule=rceil special=nan_scale nan=any",
    "quantize from=bf16 to=e5m2 block=32 scale=e8m0 rule=even special=elements nan=any",
    "quantize from=fp32 to=e2m3 block=32 scale=e8m0 rule=ceil special=nan_scale nan=any",
    "quantize from=fp16 to=e3m2 block=32 scale=e8m0 rule=threshold special=nan_scale nan=any",
    "quantize from=fp32 to=s8 block=32 scale=e8m0 rule=floor special=nan_scale nan=any",
    "quantize from=fp32 to=e2m1 block=16 scale=e4m3 tensor=fp32 rule=nearest special=nan_scale nan=any",
    "quantize from=fp32 to=e4m3 block=128 scale=fp32 rule=nearest special=nan_scale nan=any",
    "dequantize from=e2m1 to=fp32 block=32 scale=e8m0 nan=any",
    "dequantize from=e4m3 to=bf16 block=32 scale=e8m0 nan=any",
    "dequantize from=s8 to=fp32 block=32 scale=e8m0 nan=any",
    "dequantize from=e2m1 to=fp32 block=16 scale=e4m3 tensor=fp32 nan=any",
};

std::vector<Op> parsed_op_lines() {
  std::vector<Op> ops;
  for (const char* line : op_lines) {
    ops.push_back(*parse_op(line));
  }
  return ops;
}

}  // namespace

std::vector<Op> default_ops(OpKind kind) {
  static const std::vector<Op> all = parsed_op_lines();
  std::vector<Op> ops = all;
  std::erase_if(ops, [&](const Op& op) { return op.kind != kind; });
  return ops;
}

UnitIndex::UnitIndex(const Registry& registry) : registry_(registry) {
  for (const UnitInfo& info : registry.list()) {
    const Role role = registry.role_of(info.name);
    if (role != Role::model && role != Role::twin && info.unavailable.empty() &&
        info.name.find('<') == std::string::npos)
      names_.push_back(info.name);
  }
}

std::vector<std::string> UnitIndex::accepting(const Op& op) const {
  std::vector<std::string> names;
  const auto offer = [&](const std::string& name) {
    if (registry_.bind(name, op)) names.push_back(name);
  };
  for (const std::string& name : names_) offer(name);
  for (const ModelRow& row : model_rows())
    if (op.kind == row.op.kind && op.a == row.op.a && op.b == row.op.b && op.c == row.op.c && op.d == row.op.d)
      offer("model:" + row.name());
  return names;
}

std::vector<Op> ops_of_models() {
  std::vector<Op> ops;
  for (const ModelRow& row : model_rows())
    if (std::find(ops.begin(), ops.end(), row.op) == ops.end()) ops.push_back(row.op);
  return ops;
}

namespace {

/// A glob and the settings behind it. A `?` begins settings where a name and = follow ("?block=8"); any other `?` is
/// part of the glob and stands for one character.
struct Pattern {
  explicit Pattern(const std::string& text) : glob(text) {
    for (size_t at = text.find('?'); at != std::string::npos; at = text.find('?', at + 1)) {
      const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", at + 1);
      if (end == std::string::npos || end == at + 1 || text[end] != '=') continue;
      glob = text.substr(0, at);
      settings = text.substr(at + 1);
      return;
    }
  }
  /// A listed name that matches, with the settings.
  std::string unit(const std::string& listed) const {
    return settings.empty() ? listed : UnitName(listed).with(settings).text();
  }
  std::string glob, settings;
};

}  // namespace

std::vector<std::string> matching_units(const Registry& registry, const Op& op,
                                        const std::vector<std::string>& patterns) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  const std::vector<UnitInfo> listed = registry.list();
  for (const std::string& text : patterns) {
    if (!is_glob(text)) {
      add(text);
      continue;
    }
    const Pattern pattern(text);
    for (const UnitInfo& info : listed)
      if (matches_glob(pattern.glob, info.name) && info.unavailable.empty() &&
          registry.bind(pattern.unit(info.name), op))
        add(pattern.unit(info.name));
  }
  return names;
}

void check_patterns(const Registry& registry, const std::vector<Op>& ops, const std::vector<std::string>& patterns) {
  const std::vector<UnitInfo> listed = registry.list();
  for (const std::string& text : patterns) {
    if (!is_glob(text)) continue;
    const bool found = std::any_of(ops.begin(), ops.end(),
                                   [&](const Op& op) { return !matching_units(registry, op, {text}).empty(); });
    if (found) continue;
    const Pattern pattern(text);
    std::string why;
    for (const UnitInfo& info : listed) {
      if (!why.empty() || !matches_glob(pattern.glob, info.name)) continue;
      const Result<std::unique_ptr<Unit>> unit = registry.bind(pattern.unit(info.name), ops.front());
      why = !info.unavailable.empty() ? info.name + ": " + info.unavailable : unit ? "" : unit.refusal().reason;
    }
    throw BadInput(why.empty() ? "no unit matches '" + text + "'; 'mmafuzz list' has all of them"
                               : "no unit that matches '" + text + "' can be compared here: " + why);
  }
}

}  // namespace mmafuzz
