// Finds out which rule a block quantizer follows, by asking it. A block is k numbers, which get one scale and a code
// each. Scale and codes are judged apart. A *reading* is a hypothesis about one of the two: a rule for the scale, or a
// way to round x / scale to a code, under the scale that the unit itself gave.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/unit.h"

namespace mmafuzz {

/// Readings are judged on ordinary blocks. The others are at the ends of the formats' ranges, for which units often
/// have code of their own.
enum class BlockKind : uint8_t { ordinary, zeros, subnormal, least_scale, greatest_scale, greatest_numbers, special };
inline constexpr int block_kind_count = 7;
const char* name_of(BlockKind kind);

/// A block on which the unit does not give what a reading says.
struct BlockWitness {
  std::string block;     ///< the numbers that are not zero, "1.75 in lane 0", or "a block of many numbers"
  std::string line;      ///< the case as a line of case text
  std::string given;     ///< what the unit gave: encoding and value
  std::string expected;  ///< what the reading gives
};

/// One reading of the scale or of the codes.
struct QuantizerReading {
  std::string name;                       ///< "rule=rceil", "rule=floor via=bf16", "round=nearest_even"
  std::string meaning;                    ///< in words
  uint64_t compared = 0, differing = 0;   ///< ordinary blocks
  std::optional<BlockWitness> against{};  ///< the simplest ordinary block that rules it out
  bool is_recipe = false;  ///< false: one rounding of the exact value; true: several rounded steps, or another way
  std::string same_as{};   ///< a reading that gives the same on every block of this op; empty: none
  std::string how{};       ///< for the nearest where nothing fits: on which blocks it differs, and how
};

/// Blocks of one kind on which the unit does not do what the best reading of the ordinary ones says.
struct QuantizerException {
  BlockKind kind;    ///< ordinary for "signs of zero codes", which are compared on all kinds but special
  std::string part;  ///< "scale", "codes" or "signs of zero codes"
  uint64_t compared = 0, differing = 0;  ///< blocks
  BlockWitness example;                  ///< the simplest
};

/// Blocks with one number of the source's format, of either sign, among zeros. A *class* is a range of magnitudes that
/// get the same scale and the same code by the readings that fit.
struct OneLiveElement {
  uint64_t classes = 0;                  ///< their number; 0 where there are too many, or no reading fits
  bool asked_every_number = false;       ///< else only both ends of each class
  uint64_t compared = 0, differing = 0;  ///< blocks, where each number was asked
  uint64_t unanswered = 0;               ///< further blocks there, without an answer
  std::optional<BlockWitness> against;   ///< the first block that differs
};

struct QuantizerIdentification {
  std::string unit;
  Op op;
  uint64_t asked = 0, unanswered = 0;              ///< blocks
  uint64_t of_kind[block_kind_count] = {};         ///< blocks with an answer, by BlockKind
  std::vector<QuantizerReading> scales, elements;  ///< those of the scale and of the codes, the best first
  std::vector<QuantizerException> exceptions;
  OneLiveElement one;
  double seconds = 0;

  /// The readings that no ordinary block rules out. They point into `readings`.
  static std::vector<const QuantizerReading*> fitting(const std::vector<QuantizerReading>& readings);
  /// Their names, "rule=even or rule=rceil", without recipes beside a rule and readings that are the same.
  static std::string names_of(const std::vector<QuantizerReading>& readings);
  /// Whether readings of the scale and of the codes fit. Of several, no block told one from the others.
  bool has_name() const;
  /// Whether it has a name, every block was answered, and none of any kind differs.
  bool is_exact() const;
  /// Whether the unit answered less than half of the blocks: what fits the others is no name.
  bool has_too_few() const { return 2 * unanswered > asked; }
};

/// Asks `unit`, bound to the quantize op, about every step of every rule, every rounding of an element, specials,
/// `verify` drawn blocks, and both ends of every class of OneLiveElement. In a rule the scale never falls where amax
/// rises, nor does the code under one scale: what both ends of a class give, all numbers between give. Where this is
/// not known of a unit, only `every_number` is exhaustive: it asks each number, as is always done up to 16 bits.
QuantizerIdentification identify_quantizer(const Unit& unit, const Op& op, uint64_t verify, uint64_t seed,
                                           bool every_number = false);

std::string identification_text(const QuantizerIdentification& id);
nlohmann::json identification_json(const QuantizerIdentification& id);

}  // namespace mmafuzz
