// Which rule a block quantizer follows, found by asking it. Scale and codes are judged apart: the scale against every
// rule, the codes against every way to round a number over the unit's own scale.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/unit.h"

namespace mmafuzz {

/// The blocks of one kind. Rules agree or part on ordinary ones; what happens at the ends is often decided elsewhere.
enum class BlockKind : uint8_t { ordinary, zeros, subnormal, least_scale, greatest_scale, greatest_numbers, special };
inline constexpr int block_kind_count = 7;
const char* name_of(BlockKind kind);

/// A block on which two readings part, or on which the unit is alone.
struct BlockWitness {
  std::string block;     ///< "1.75 in lane 0, else +0", or the case's encodings
  std::string line;      ///< the case line
  std::string given;     ///< what the unit gave
  std::string expected;  ///< what the other reading gives
};

/// One reading of one side of the unit.
struct QuantizerReading {
  std::string name;                      ///< "rule=rceil", "rule=floor via=bf16", "round=nearest_even"
  std::string meaning;                   ///< in words
  uint64_t compared = 0, differing = 0;  ///< on ordinary blocks
  std::optional<BlockWitness> against;   ///< the simplest block that rules it out
  bool is_recipe = false;                ///< of rounded steps; else one rounding of the exact value
  std::string same_as;                   ///< a reading that gives the same on every block of this op; empty: none
};

/// Blocks of a kind on which the unit does not do what the reading that fits the ordinary ones says.
struct QuantizerException {
  BlockKind kind;
  std::string part;  ///< "scale", "codes" or "signs of zero codes"
  uint64_t compared = 0, differing = 0;
  BlockWitness example;
};

struct QuantizerIdentification {
  std::string unit;
  Op op;
  uint64_t asked = 0, unanswered = 0;
  uint64_t of_kind[block_kind_count] = {};
  std::vector<QuantizerReading> scales, elements;  ///< that fit first, then by how little they differ
  std::vector<QuantizerException> exceptions;
  double seconds = 0;

  /// The readings that no ordinary block rules out.
  static std::vector<const QuantizerReading*> fitting(const std::vector<QuantizerReading>& readings);
  /// Whether one reading of the scale (and those that are the same) and one of the codes fit.
  bool has_name() const;
  /// Whether they fit blocks of every kind.
  bool is_exact() const { return has_name() && exceptions.empty(); }
};

/// Asks `unit`, bound to the quantize op, about every step of every rule, every rounding of an element, specials, and
/// `verify` drawn blocks.
QuantizerIdentification identify_quantizer(const Unit& unit, const Op& op, uint64_t verify, uint64_t seed);

std::string identification_text(const QuantizerIdentification& id);
nlohmann::json identification_json(const QuantizerIdentification& id);

}  // namespace mmafuzz
