#include "search/relatives.h"

#include "arithmetic/corner_encodings.h"
#include "arithmetic/evaluate_dot.h"
#include "core/dot_case.h"
#include "search/integer_dot.h"

namespace mmafuzz {

bool Relatives::can_hand_on_result() const {
  return op_.kind == OpKind::dot && op_.c == op_.d && (is_integer_dot(op_) || model_);
}

void Relatives::hand_on_result(Batch& batch, size_t index, CounterRng& rng) const {
  batch.inputs()[2].set(index, 0,
                        is_integer_dot(op_) ? IntegerDot(op_, batch, index - 1, rng).sum()
                                            : evaluate_dot(*model_, DotCase(op_).load(batch, index - 1)));
}

void Relatives::negate(Batch& batch, size_t index, CounterRng& rng) const {
  const size_t column = rng.below(static_cast<uint32_t>(formats_.size()));
  const FormatFields& f = formats_[column];
  Column& values = batch.inputs()[column];
  const int chosen = rng.between(0, values.count() - 1);
  const bool all = rng.one_in(4);
  for (int i = 0; i < values.count(); ++i) {
    if (!all && i != chosen) continue;
    const uint64_t value = values.get(index, i);
    values.set(index, i, f.integer ? (0 - value) & f.container_mask() : value ^ travelling_sign(f));
  }
}

void Relatives::flip_bit(Batch& batch, size_t index, CounterRng& rng) const {
  const size_t column = rng.below(static_cast<uint32_t>(formats_.size()));
  Column& values = batch.inputs()[column];
  const int i = rng.between(0, values.count() - 1);
  values.set(index, i, values.get(index, i) ^ uint64_t{1} << rng.below(static_cast<uint32_t>(formats_[column].width)));
}

void Relatives::swap_products(Batch& batch, size_t index, CounterRng& rng) const {
  const int k = batch.inputs()[0].count();
  const int x = rng.between(0, k - 1);
  const int y = rng.between(0, k - 1);
  for (size_t column = 0; column < 2; ++column) swap_elements(batch.inputs()[column], index, x, y);
}

void Relatives::make(Batch& batch, size_t index, const StructuredGenerator& generator, uint64_t number,
                     const Mutator& mutator, CounterRng& rng) const {
  const uint32_t kind = rng.below(8);
  if (kind == 1 || (kind == 0 && can_hand_on_result())) generator.draw(number, batch, index);
  else copy_case(batch, index - 1, batch, index);
  switch (kind) {
    case 0:
    case 2:
      if (can_hand_on_result()) hand_on_result(batch, index, rng);  // else the same case again
      break;
    case 1: mutator.cross(batch, index, batch, index - 1, rng); break;
    case 3:
    case 4: negate(batch, index, rng); break;
    case 5: flip_bit(batch, index, rng); break;
    case 6:
      if (op_.kind == OpKind::dot) return swap_products(batch, index, rng);
      [[fallthrough]];
    default: mutator.move(batch, index, rng); break;
  }
}

}  // namespace mmafuzz
