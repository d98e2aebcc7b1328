// Cases whose every operand bit is a coin toss: all encodings of a format, specials among them, equally often.
#pragma once

#include "arithmetic/counter_rng.h"
#include "core/batch.h"

namespace mmafuzz {

inline Batch uniform_bits(const Op& op, uint64_t seed, size_t cases) {
  Batch batch(op);
  batch.resize(cases);
  const std::vector<FieldShape> fields = op.inputs();
  for (size_t i = 0; i < cases; ++i) {
    CounterRng rng(seed, i);
    for (size_t column = 0; column < fields.size(); ++column)
      for (int j = 0; j < fields[column].count; ++j)
        batch.inputs()[column].set(i, j, rng.next() & fields[column].format.fields().container_mask());
  }
  return batch;
}

}  // namespace mmafuzz
