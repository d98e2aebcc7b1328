// Moves from one case to a neighbour that an adder would tell apart: an exponent onto an alignment limit, a
// cancellation to a chosen depth, dropped bits, ties of the output, range ends, specials, scales. One implementation
// serves every front end.
#pragma once

#include <optional>

#include "arithmetic/counter_rng.h"
#include "arithmetic/dot_model.h"
#include "arithmetic/slicing.h"
#include "core/batch.h"

namespace mmafuzz {

/// Where the corners of the unit under test are thought to be. Without a model: typical values.
struct CornerHints {
  int fraction_bits = 24;                         ///< F
  int block = 8;                                  ///< products per fused step
  int floor = -132;                               ///< exponent that zero terms read
  std::optional<Slicing> slicing = std::nullopt;  ///< of a matrix product
  friend bool operator==(const CornerHints&, const CornerHints&) = default;
};
CornerHints corner_hints(const DotModel* model, const Slicing* slicing = nullptr);

/// Moves that can be left out, to measure what they are worth (mmafuzz bench search).
enum class DotMove : uint8_t { none, solve_sum, ramp, redraw_fractions, unbalance };

/// Formats of the columns of a batch.
std::vector<FormatFields> input_formats(const Op& op);

class Mutator {
 public:
  Mutator(const Op& op, const CornerHints& hints, DotMove left_out = DotMove::none)
      : op_(op), hints_(hints), left_out_(left_out), formats_(input_formats(op)) {}

  /// One to three moves on case `index`, in place. Every result is a valid case of the op.
  void mutate(Batch& batch, size_t index, CounterRng& rng) const;
  /// Exactly one move.
  void move(Batch& batch, size_t index, CounterRng& rng) const;
  /// Cases 1 and following of the batch become neighbours of case 0, each by one move; the selector picks which.
  void neighbours(Batch& batch, uint64_t selector) const;
  /// Case `index` becomes its own neighbour `number`, as neighbours() would make it.
  void neighbour(Batch& batch, size_t index, uint64_t selector, size_t number) const;
  /// Takes part of the operands of another case of the same op.
  void cross(Batch& batch, size_t index, const Batch& other, size_t other_index, CounterRng& rng) const;

 private:
  Op op_;
  CornerHints hints_;
  DotMove left_out_;
  std::vector<FormatFields> formats_;
};

/// Copies case `from` of a batch over case `to` of another of the same op.
void copy_case(const Batch& source, size_t from, Batch& target, size_t to);

}  // namespace mmafuzz
