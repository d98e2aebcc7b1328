// Random rows of one's own: any formats that `model:custom` takes, with any parameters that it takes there.
#pragma once

#include <optional>

#include "arithmetic/counter_rng.h"
#include "core/batch.h"
#include "core/op.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/parameters.h"
#include "plan/registry.h"
#include "search/op_generator.h"
#include "search/structured_generator.h"

namespace mmafuzz {

/// How many there are.
inline constexpr uint32_t kernels = 0
#define KERNEL(...) +1
#include "arithmetic/kernels.def.h"
#undef KERNEL
    ;

/// A format with any bias and any switches; every second one is of those that matrix units have.
inline Format any_format(CounterRng& rng) {
  constexpr const char* usual[] = {"fp16", "bf16", "tf32", "e5m2", "e4m3", "e2m1", "fp32", "fp64"};
  if (rng.one_in(2)) return format(usual[rng.below(std::size(usual))]);
  return random_format(rng);
}

/// Most often one of those that rows take.
inline Format any_scale_format(CounterRng& rng) {
  if (rng.one_in(8)) return any_format(rng);
  return format(rng.one_in(2) ? "e8m0" : "ue4m3");
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
  while (op.d.fields().specials != Specials::ieee) op.d = any_format(rng);  // rows take no other
  op.k = rng.between(1, rng.one_in(4) ? 70 : 12);
  if (rng.one_in(4)) {
    op.scale_a = any_scale_format(rng);
    op.scale_b = rng.one_in(2) ? op.scale_a : any_scale_format(rng);
    op.scale_block = rng.between(1, 8);
    if (rng.one_in(2)) op.a = op.b = format("e2m1");  // what units scale is narrow
  }
  if (!registry().bind("model:custom", op)) return std::nullopt;
  DotModel& m = row.model;
  m = custom_model(op);
  m.kernel = static_cast<Kernel>(rng.below(static_cast<uint32_t>(find_parameter("kernel")->words.size())));
  if (op.has_scales()) m.kernel = rng.one_in(2) ? Kernel::grouped_sum : Kernel::fused_sum;  // no others know scales
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
    if (p.is_nan) p.set(changed, static_cast<int64_t>(rng.next() & op.d.fields().container_mask()));
    else p.set(changed, rng.between(static_cast<int>(p.least), static_cast<int>(greatest)));
    if (contradiction_in(changed).empty()) m = changed;
  }
  return row;
}

/// Structured cases of a row; every fourth has scales of any encoding, every other one of these a NaN among them.
inline Batch cases_of(const AnyRow& row, uint64_t seed, size_t count) {
  Batch batch;
  StructuredGenerator(row.op, seed).fill(0, count, batch);
  if (!row.op.has_scales()) return batch;
  for (size_t i = 0; i < count; i += 4) {
    CounterRng rng(seed, i);
    for (const size_t column : {size_t{3}, size_t{4}}) {
      const FormatFields& f = (column == 3 ? row.op.scale_a : row.op.scale_b).fields();
      for (int at = 0; at < row.op.scales(); ++at) batch.inputs()[column].set(i, at, rng.next() & f.container_mask());
      const int at = rng.between(0, row.op.scales() - 1);
      if (rng.one_in(4) && f.has_nan()) batch.inputs()[column].set(i, at, f.encode_nan());
    }
  }
  return batch;
}

/// How many scales of a case are NaN.
inline int nan_scales(const Op& op, const DotOperands& in) {
  int count = 0;
  for (int at = 0; at < op.scales(); ++at) {
    count += decode(op.scale_a.fields(), in.scale_a[at]).cls == NumberClass::nan;
    count += decode(op.scale_b.fields(), in.scale_b[at]).cls == NumberClass::nan;
  }
  return count;
}

}  // namespace mmafuzz
