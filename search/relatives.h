// A relative: a case made from the case before it, as a loop over k, a repeated call or a switched mode makes them.
// Flaws of what a unit remembers (a stale accumulator, a gated operand, a mode that leaks) show on such pairs alone.
#pragma once

#include "core/batch.h"
#include "search/mutator.h"
#include "search/structured_generator.h"

namespace mmafuzz {

class Relatives {
 public:
  /// `model` computes a dot's result, which a loop over k hands on as the next c; it must outlive this. nullptr:
  /// results of floating-point dots are not handed on.
  Relatives(const Op& op, const DotModel* model) : op_(op), model_(model), formats_(input_formats(op)) {}

  /// Makes case `index`, which is not 0, a relative of the case before it. A relative that needs operands of its own
  /// takes those of case `number` of the generator.
  void make(Batch& batch, size_t index, const StructuredGenerator& generator, uint64_t number, const Mutator& mutator,
            CounterRng& rng) const;

 private:
  bool can_hand_on_result() const;
  void hand_on_result(Batch& batch, size_t index, CounterRng& rng) const;
  void turn_signs(Batch& batch, size_t index, CounterRng& rng) const;
  void turn_bit(Batch& batch, size_t index, CounterRng& rng) const;
  void swap_lanes(Batch& batch, size_t index, CounterRng& rng) const;

  Op op_;
  const DotModel* model_;
  std::vector<FormatFields> formats_;  ///< of the columns
};

}  // namespace mmafuzz
