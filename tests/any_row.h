// Random rows of one's own: any formats that `model:custom` takes, with any parameters that it takes there.
#pragma once

#include <optional>

#include "arithmetic/counter_rng.h"
#include "core/op.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/parameters.h"
#include "plan/registry.h"

namespace mmafuzz {

/// A format with any bias and any switches; every second one is of those that matrix units have.
inline Format any_format(CounterRng& rng) {
  static const std::vector<FormatForms> table = format_forms();
  constexpr const char* usual[] = {"fp16", "bf16", "tf32", "e5m2", "e4m3", "e2m1", "fp32", "fp64"};
  if (rng.one_in(2)) return format(usual[rng.below(std::size(usual))]);
  for (;;) {
    const FormatForms& forms = table[rng.below(static_cast<uint32_t>(table.size()))];
    std::string name = forms.name;
    if (forms.takes_bias) name += ":" + std::to_string(rng.between(0, greatest_bias));
    char separator = '?';
    for (const std::string& one : forms.switches) {
      if (!rng.one_in(4)) continue;
      name += separator + one;
      separator = ',';
    }
    if (Result<Format> made = parse_format(name)) return *made;  // two values of one switch are refused
  }
}

/// A dot of any formats that `model:custom` takes, and any parameters that it takes there.
struct AnyRow {
  Op op;
  DotModel model;
};

/// Row `number`; none where no unit has these parameters together.
inline std::optional<AnyRow> any_row(uint64_t seed, uint64_t number) {
  CounterRng rng(seed, number);
  AnyRow row;
  Op& op = row.op;
  op.kind = OpKind::dot;
  op.a = any_format(rng);
  op.b = rng.one_in(2) ? op.a : any_format(rng);
  op.c = any_format(rng);
  op.d = rng.one_in(3) ? op.c : any_format(rng);
  op.k = rng.between(1, rng.one_in(4) ? 70 : 12);
  if (rng.one_in(4)) {
    op.scale_a = rng.one_in(2) ? format("e8m0") : any_format(rng);
    op.scale_b = rng.one_in(2) ? op.scale_a : any_format(rng);
    op.scale_block = rng.between(1, 8);
  }
  if (!registry().bind("model:custom", op)) return std::nullopt;
  DotModel& m = row.model;
  m = custom_model(op);
  m.kernel = static_cast<Kernel>(rng.below(static_cast<uint32_t>(find_parameter("kernel")->words.size())));
  if (op.has_scales()) m.k = op.scale_block * rng.between(1, std::max(1, max_instruction_k / op.scale_block));
  if (m.kernel == Kernel::emulated_fp8) m.k = 4 * rng.between(1, max_instruction_k / 4);
  m.group = op.has_scales() ? rng.between(1, op.scale_block) : 1;
  if (!contradiction_in(m).empty()) return std::nullopt;
  // Few settings at a time, or all of them: what one hides another does not.
  const uint32_t share = 1 + rng.below(4);
  for (const Parameter& p : parameters()) {
    if (!p.used_by(m.kernel) || std::string_view(p.name) == "kernel" || !rng.one_in(share)) continue;
    DotModel changed = m;
    const int64_t greatest = p.words.empty() ? p.greatest : static_cast<int64_t>(p.words.size()) - 1;
    if (p.hexadecimal) p.set(changed, static_cast<int64_t>(rng.next() & op.d.fields().container_mask()));
    else p.set(changed, rng.between(static_cast<int>(p.least), static_cast<int>(greatest)));
    if (contradiction_in(changed).empty()) m = changed;
  }
  return row;
}

}  // namespace mmafuzz
