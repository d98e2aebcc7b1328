#include "plan/unit_alias.h"

#include <algorithm>

#include "core/unit_name.h"
#include "core/text.h"
#include "oracles/models/gpu_names.h"
#include "oracles/models/model_rows.h"
#include "plan/named_rows.h"

namespace mmafuzz {
namespace {

/// The parts of a short name: of "h100/wgmma?x=1" the architecture "hopper", "wgmma" and "x=1". `arch` is "" where the
/// text begins with no GPU or architecture.
struct Alias {
  explicit Alias(const std::string& text) {
    std::string plain = text.substr(0, text.find('?'));
    if (plain.size() < text.size()) settings = text.substr(plain.size() + 1);
    if (const size_t slash = plain.find('/'); slash != std::string::npos) {
      instruction = plain.substr(slash + 1);
      plain.resize(slash);
    }
    plain = lower_case(plain);
    if (const char* known = arch_of_gpu(plain)) arch = known;
    for (const ModelRow& row : model_rows())
      if (row.arch == plain) arch = plain;
  }
  std::string arch, instruction, settings;
};

/// The unit "quantizer:floor?..." of the text "rule=floor?..."; "" where the text names no rule of block quantizers.
std::string unit_of_rule(const std::string& text) {
  constexpr std::string_view prefix = "rule=";
  const std::string rule = text.starts_with(prefix) ? text.substr(prefix.size()) : "";
  for (int i = 0; i < scale_rule_count; ++i)
    if (rule.substr(0, rule.find('?')) == name_of(static_cast<ScaleRule>(i))) return "quantizer:" + rule;
  return "";
}

/// Whether a text has a backend before a colon, as "model:hopper/..." has and "b200/tcgen05.kind::mxf4" has not.
bool names_backend(const std::string& text) { return text.find(':') < text.find_first_of("/?"); }

bool takes(const ModelRow& row, const Op& op) {
  const bool product_of_dots = row.op.kind == OpKind::dot && op.kind == OpKind::gemm;
  return (row.op.kind == op.kind || product_of_dots) && op.has_formats_of(row.op);
}

/// Whether a program would rather use row x than row y for a dot of `products`: rows of the matrix unit before rows of
/// the CUDA cores, then the largest k that is at most `products`, then the smallest k.
bool fits_better(const ModelRow& x, const ModelRow& y, int products) {
  const auto is_on_cores = [](const ModelRow& row) { return traits_of(row.model).widens_to_fp32(); };
  if (is_on_cores(x) != is_on_cores(y)) return is_on_cores(y);
  if ((x.op.k <= products) != (y.op.k <= products)) return x.op.k <= products;
  return x.op.k <= products ? x.op.k > y.op.k : x.op.k < y.op.k;
}

enum class Named { exactly, by_beginning };

/// The best row (fits_better) for an op whose instruction has the alias's name or begins with it. Of equally good rows
/// it is the first in the table; nullptr where there is none.
const ModelRow* find_row(const Alias& alias, const Op& op, Named how) {
  const ModelRow* best = nullptr;
  for (const ModelRow& row : model_rows()) {
    const bool is_named =
        how == Named::exactly ? row.instruction == alias.instruction : row.instruction.starts_with(alias.instruction);
    if (row.arch != alias.arch || !is_named || !takes(row, op)) continue;
    if (!best || fits_better(row, *best, op.k)) best = &row;
  }
  return best;
}

/// The GPUs that a mistyped name may mean, "mi300a, mi300x": those that begin with it, else those at the smallest edit
/// distance of at most 2; "" where there is none.
std::string gpus_like(std::string word) {
  word = lower_case(word);
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

bool is_alias(const std::string& text) {
  return !names_backend(text) && (find_named_row(text) || !unit_of_rule(text).empty() || !Alias(text).arch.empty());
}

std::string unit_of_alias(const std::string& text, const Op& op) {
  if (names_backend(text)) return text;
  if (const std::string unit = unit_of_named_row(text, op); !unit.empty()) return unit;
  if (const std::string unit = unit_of_rule(text); !unit.empty()) return unit;
  const Alias alias(text);
  if (alias.arch.empty()) return text;
  const ModelRow* best = find_row(alias, op, Named::exactly);
  if (!best) best = find_row(alias, op, Named::by_beginning);
  if (!best) return text;
  const std::string unit = "model:" + best->name();
  return alias.settings.empty() ? unit : unit + "?" + alias.settings;
}

std::optional<Refusal> refusal_of_alias(const std::string& text, const Op& op) {
  if (is_alias(text)) return declined("no unit of " + text + " takes '" + to_text(op) + "'");
  if (const UnitName name(text); name.backend == "model" && is_alias(name.path))
    return unknown("unknown unit " + in_quotes(text) + ": a GPU's name stands alone, " + name.path);
  const std::string plain = text.substr(0, text.find_first_of("/?"));
  const bool maybe = !plain.empty() && plain.size() <= 32 && plain.find(':') == std::string::npos;
  const std::string gpus = maybe ? gpus_like(plain) : "";
  if (gpus.empty()) return {};
  return unknown("unknown unit " + in_quotes(text) + "; nearest: " + gpus);
}

}  // namespace mmafuzz
