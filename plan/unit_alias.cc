#include "plan/unit_alias.h"

#include <algorithm>

#include "core/unit_name.h"
#include "oracles/models/gpu_names.h"
#include "oracles/models/model_rows.h"

namespace mmafuzz {
namespace {

/// "h100/wgmma?x=1": the architecture, "wgmma" and "x=1".
struct Alias {
  explicit Alias(const std::string& text) {
    std::string plain = text.substr(0, text.find('?'));
    if (plain.size() < text.size()) settings = text.substr(plain.size() + 1);
    if (const size_t slash = plain.find('/'); slash != std::string::npos) {
      instruction = plain.substr(slash + 1);
      plain.resize(slash);
    }
    std::transform(plain.begin(), plain.end(), plain.begin(), [](unsigned char c) { return std::tolower(c); });
    if (const char* known = arch_of_gpu(plain)) arch = known;
    for (const ModelRow& row : model_rows())
      if (row.arch == plain) arch = plain;
  }
  std::string arch, instruction, settings;
};

}  // namespace

bool is_alias(const std::string& text) { return text.find(':') == std::string::npos && !Alias(text).arch.empty(); }

std::string unit_of_alias(const std::string& text, const Op& op) {
  if (text.find(':') != std::string::npos) return text;
  const Alias alias(text);
  if (alias.arch.empty()) return text;
  const ModelRow* best = nullptr;
  for (const ModelRow& row : model_rows()) {
    if (row.arch != alias.arch || !row.instruction.starts_with(alias.instruction)) continue;
    const Op& own = row.op;
    if (own.kind != op.kind || own.a != op.a || own.b != op.b || own.c != op.c || own.d != op.d) continue;
    if (own.scale_block != op.scale_block || (op.has_scales() && own.scale_a != op.scale_a)) continue;
    if (!best || (row.instruction == best->instruction && own.k > best->op.k)) best = &row;
  }
  if (!best) return text;
  const std::string unit = "model:" + best->name();
  return alias.settings.empty() ? unit : unit + "?" + alias.settings;
}

}  // namespace mmafuzz
