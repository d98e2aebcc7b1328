// A relative: a case made from the case before it, as a loop over k, a repeated call or a switched mode makes them. A
// unit that wrongly keeps something of the case before (its sum, an operand, a mode) shows that on such pairs alone.
#pragma once

#include "core/batch.h"
#include "search/mutator.h"
#include "search/structured_generator.h"

namespace mmafuzz {

class Relatives {
 public:
  /// `model` computes the result of a floating-point dot, which becomes the next c; it must outlive this. nullptr: no
  /// such result becomes a c. Results of integer dots need no model.
  Relatives(const Op& op, const DotModel* model) : op_(op), model_(model), formats_(input_formats(op)) {}

  /// Makes case `index`, which is not 0, a relative of the case before it. Some relatives are case `number` of the
  /// generator with c or other operands from the case before; some are the case before, moved by `mutator`.
  void make(Batch& batch, size_t index, const StructuredGenerator& generator, uint64_t number, const Mutator& mutator,
            CounterRng& rng) const;

 private:
  bool can_hand_on_result() const;
  /// The result of the case before becomes c, as in a loop over k.
  void hand_on_result(Batch& batch, size_t index, CounterRng& rng) const;
  /// Negates one element, or all elements of a column.
  void negate(Batch& batch, size_t index, CounterRng& rng) const;
  void flip_bit(Batch& batch, size_t index, CounterRng& rng) const;
  /// Exchanges two products: the same sum in another order.
  void swap_products(Batch& batch, size_t index, CounterRng& rng) const;

  Op op_;
  const DotModel* model_;
  std::vector<FormatFields> formats_;  ///< of the columns
};

}  // namespace mmafuzz
