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
  std::string how;                       ///< of the nearest where nothing fits: on which blocks it differs, and how
};

/// Blocks of a kind on which the unit does not do what the reading that fits the ordinary ones says.
struct QuantizerException {
  BlockKind kind;
  std::string part;  ///< "scale", "codes" or "signs of zero codes"
  uint64_t compared = 0, differing = 0;
  BlockWitness example;
};

/// What is known of blocks of one number: every number of the source's format, of both signs, alone among zeros.
struct OneLiveElement {
  /// Of numbers that have one scale and one code by the readings that fit: none if they are too many, or nothing fits.
  uint64_t classes = 0;
  bool every_number = false;             ///< each was asked; else both ends of each class
  uint64_t compared = 0, differing = 0;  ///< where each was asked
  std::optional<BlockWitness> against;   ///< the first that differs
};

struct QuantizerIdentification {
  std::string unit;
  Op op;
  uint64_t asked = 0, unanswered = 0;
  uint64_t of_kind[block_kind_count] = {};
  std::vector<QuantizerReading> scales, elements;  ///< that fit first, then by how little they differ
  std::vector<QuantizerException> exceptions;
  OneLiveElement one;
  double seconds = 0;

  /// The readings that no ordinary block rules out.
  static std::vector<const QuantizerReading*> fitting(const std::vector<QuantizerReading>& readings);
  /// Whether one reading of the scale (and those that are the same) and one of the codes fit.
  bool has_name() const;
  /// Whether they fit blocks of every kind.
  bool is_exact() const;
};

/// Asks `unit`, bound to the quantize op, about every step of every rule, every rounding of an element, specials,
/// `verify` drawn blocks, and both ends of every class of numbers that have one scale and one code. The scale of a rule
/// never falls where amax rises, and under one scale the code never does: what both ends of a class give, all between
/// them give. A unit of which that is not known is proven by `every_number` alone: each number is asked.
QuantizerIdentification identify_quantizer(const Unit& unit, const Op& op, uint64_t verify, uint64_t seed,
                                           bool every_number = false);

std::string identification_text(const QuantizerIdentification& id);
nlohmann::json identification_json(const QuantizerIdentification& id);

}  // namespace mmafuzz
