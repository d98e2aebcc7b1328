#include "plan/request.h"

#include <algorithm>

#include "core/quoted.h"
#include "core/unit_name.h"
#include "oracles/models/gpu_names.h"
#include "plan/registry.h"
#include "plan/unit_alias.h"

namespace mmafuzz {

Op op_from_text(const std::string& text) {
  size_t column = 0;
  const std::string words = text.starts_with("op ") ? text.substr(3) : text;
  Result<Op> op = parse_op(words, column);
  if (!op) throw BadInput("op '" + text + "', column " + std::to_string(column + 1) + ": " + op.refusal().reason);
  return *op;
}

namespace {

/// The GPUs that a word that is none may mean, "mi300a, mi300x": those that it begins, else those nearest to it; empty
/// where none is near.
std::string gpus_like(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char ch) { return std::tolower(ch); });
  constexpr size_t farthest = 2;
  const auto distance = [&](const GpuName& gpu) {
    return std::string_view(gpu.name).starts_with(word) ? 0 : edit_distance(word, gpu.name);
  };
  size_t least = farthest;
  for (const GpuName& gpu : gpu_names()) least = std::min(least, distance(gpu));
  std::string names;
  for (const GpuName& gpu : gpu_names())
    if (distance(gpu) == least) names += (names.empty() ? "" : ", ") + std::string(gpu.name);
  return names;
}

}  // namespace

std::unique_ptr<Unit> bind_or_fail(const std::string& name, const Op& op) { return bind_or_fail(registry(), name, op); }

std::unique_ptr<Unit> bind_or_fail(const Registry& units, const std::string& text, const Op& op) {
  const std::string name = unit_of_alias(text, op);
  Result<std::unique_ptr<Unit>> unit = units.bind(name, op);
  if (unit) return std::move(*unit);
  if (is_alias(name)) throw BadInput("no unit of " + name + " takes '" + to_text(op) + "'");
  const std::string plain = name.substr(0, name.find_first_of("/?"));
  if (const std::string gpus = plain.empty() || plain.size() > 32 ? "" : gpus_like(plain);
      !gpus.empty() && unit.refusal().kind == Refusal::Kind::unknown && plain.find(':') == std::string::npos)
    throw BadInput("unknown unit " + mmafuzz::quoted(name) + "; nearest: " + gpus);
  const bool declined = unit.refusal().kind == Refusal::Kind::declined;
  throw BadInput((declined ? "unit " + name + " declines: " : "") + unit.refusal().reason);
}

}  // namespace mmafuzz
