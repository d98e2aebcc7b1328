// The order in which a black box adds the addends of a long dot, from its answers. The questions are those of FPRev
// (Xie et al., "FPRev: Revealing the order of floating-point summation", 2024): with M in addend i, -M in addend j and
// units elsewhere, the result counts the addends that are outside of the smallest partial sum with both. Here a round
// asks many of them at once, and parts that look like parts known already are only sampled.
#pragma once

#include <optional>

#include "core/unit.h"
#include "oracles/units/summation_tree.h"

namespace mmafuzz {

struct OrderSettings {
  bool one_by_one = false;    ///< FPRev's own way: each question alone, no part is taken for like another
  uint64_t verify = 100'000;  ///< random vectors on which the tree is replayed
  uint64_t seed = 1;
};

struct RevealedOrder {
  std::optional<SummationTree> tree;  ///< none: `reason` says why
  std::string reason;
  size_t questions = 0, rounds = 0;
  size_t fused_questions = 0;          ///< further ones, about which products join unrounded
  size_t replayed = 0, differing = 0;  ///< random vectors, and those that the tree gives another result of
  size_t unstable = 0;                 ///< of them answered in two ways by the unit itself
  double reveal_seconds = 0, seconds = 0;
};

/// The unit is bound to the op, a dot of floating-point formats.
RevealedOrder reveal_order(const Unit& unit, const Op& op, const OrderSettings& settings);

/// The tree in a few words: runs of additions are folded, "((c + p0..p7) ...".
std::string folded_tree(const SummationTree& tree);

/// A drawing of the tree, for browsers.
std::string tree_svg(const SummationTree& tree);

}  // namespace mmafuzz
