// One number of the result of an op on blocks as the result of a unit of its own: the scale, a code, or the number that
// a code becomes. What is said of units with one result can so be said of it.
#pragma once

#include "core/unit.h"
#include "triage/unexplained/effect.h"

namespace mmafuzz {

struct BlockPart {
  Op op;            ///< of the blocks
  int element = 0;  ///< of the result; of quantize 0 is the scale, and 1 + i the code of element i

  bool quantizes() const { return op.kind == OpKind::quantize; }
  bool is_scale() const { return quantizes() && element == 0; }
  int lane() const { return element - (quantizes() ? 1 : 0); }  ///< of a scale -1
  /// "the scale", "the code of element 5", "the number of element 5".
  std::string name() const;
  /// The op with the part's format as that of its results. Its inputs are those of the blocks.
  Op op_of_part() const;
  /// The part of each block's result.
  Outcomes of(const Outcomes& blocks) const;
};

/// The part of what a unit makes of blocks. The unit must outlive the part.
std::unique_ptr<Unit> part_of(const Unit& blocks, const BlockPart& part);

/// Effects of quantizers that no other value of the op's attributes has: a scale one step beside, that of fewer
/// elements, elements that lose bits first. Only `other_value`, the text, and `run` are set.
std::vector<ModelVariant> effects_on_block(const BlockPart& part);

}  // namespace mmafuzz
