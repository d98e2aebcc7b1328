// Moves from one case to a neighbour on which an adder takes another path: an exponent at an alignment limit, a
// cancellation to a chosen depth, dropped bits, ties of the output, range ends, specials, scales. The search, the
// engines and `minimize` use the same moves.
#pragma once

#include <optional>

#include "arithmetic/counter_rng.h"
#include "arithmetic/dot_model.h"
#include "arithmetic/slicing.h"
#include "core/batch.h"

namespace mmafuzz {

/// The parameters of the unit under test at whose limits its arithmetic changes. The defaults, for units without a row,
/// are those of Ampere's mma with fp16 factors.
struct CornerHints {
  int fraction_bits = 24;  ///< F: fraction bits that an adder keeps below the greatest exponent
  int block = 8;           ///< products that are summed in one step
  int floor = -132;        ///< the alignment floor: unbiased exponent of a zero term (docs/semantics.md, 1.3)
  std::optional<Slicing> slicing = std::nullopt;  ///< how the unit cuts matrices; nullopt: as the reference does
  std::optional<DotModel> row = std::nullopt;     ///< whose sums a walk solves for

  /// Whether the corners are the same, whatever the rows.
  friend bool operator==(const CornerHints& x, const CornerHints& y) {
    return x.fraction_bits == y.fraction_bits && x.block == y.block && x.floor == y.floor && x.slicing == y.slicing;
  }
};
/// Hints from a row and a slicing; either may be nullptr. A parameter that the row leaves at 0 keeps its default.
CornerHints corner_hints(const DotModel* model, const Slicing* slicing = nullptr);

/// Moves of a dot that can be left out, to measure what they are worth (mmafuzz bench search). mutate() and move() then
/// step an operand by an ulp instead; neighbours() leaves nothing out. solve_sum: c takes a block's sum to a power of
/// two or one unit beside it. ramp: exponents rise or fall from lane to lane. redraw_fractions: random fractions at the
/// same exponents. unbalance: products of the same exponents from a large and a small factor.
enum class DotMove : uint8_t { none, solve_sum, ramp, redraw_fractions, unbalance };

/// The formats of a batch's columns, in the order of Op::inputs(): of a dot a, b, c, scale_a, scale_b.
std::vector<FormatFields> input_formats(const Op& op);

class Mutator {
 public:
  Mutator(const Op& op, const CornerHints& hints, DotMove left_out = DotMove::none)
      : op_(op), hints_(hints), left_out_(left_out), formats_(input_formats(op)) {}

  /// One to three moves on case `index`, in place. Every result is a valid case of the op.
  void mutate(Batch& batch, size_t index, CounterRng& rng) const;
  /// Exactly one move.
  void move(Batch& batch, size_t index, CounterRng& rng) const;
  /// Cases 1, 2, ... of the batch become neighbours of case 0, each by one move; `selector` seeds the random draws.
  void neighbours(Batch& batch, uint64_t selector) const;
  /// Case `index` becomes the neighbour that neighbours() would write as case `number` (from 1) if it were case 0.
  void neighbour(Batch& batch, size_t index, uint64_t selector, size_t number) const;
  /// Replaces some operands of a case by those of another case of the op. Of a dot, factors of a product stay together.
  void cross(Batch& batch, size_t index, const Batch& other, size_t other_index, CounterRng& rng) const;

 private:
  Op op_;
  CornerHints hints_;
  DotMove left_out_;
  std::vector<FormatFields> formats_;
};

}  // namespace mmafuzz
