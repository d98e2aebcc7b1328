// The order in which a black box adds the addends (products and c) of a long dot, from its answers. The questions are
// those of FPRev (Xie et al., "FPRev: Revealing the order of floating-point summation", 2024): addend i is a number M
// so great that it absorbs the others, addend j is -M, all others are the same small number. The result then counts the
// addends outside of the smallest partial sum with i and j. Here a round asks many of these questions at once; a part
// of the tree that looks like a known part is guessed, and the guess only sampled.
#pragma once

#include <optional>

#include "core/unit.h"
#include "oracles/units/summation_tree.h"

namespace mmafuzz {

struct OrderSettings {
  bool asks_one_by_one = false;  ///< FPRev's own way: one question in a round, no part of the tree is guessed
  uint64_t verify = 100'000;     ///< random vectors on which the tree is replayed
  uint64_t seed = 1;
};

struct RevealedOrder {
  std::optional<SummationTree> tree;  ///< nullopt: `reason` says why
  std::string reason;
  size_t questions = 0, rounds = 0;
  size_t fused_questions = 0;              ///< further questions, about which products join unrounded
  size_t replayed = 0, differing = 0;      ///< random vectors; those on which tree and unit give different results
  size_t unstable = 0;                     ///< random vectors to which the unit itself gave two different answers
  double reveal_seconds = 0, seconds = 0;  ///< until the tree stood; in all
};

/// `unit` is bound to `op`, a dot of floating-point formats without scales.
RevealedOrder reveal_order(const Unit& unit, const Op& op, const OrderSettings& settings);

/// The tree as text, in which runs are folded. "chain(c 0..7)": products 0 to 7 are added to c one after the other;
/// "together(c 0..15)": one sum of all at once; "(2 3f)": product 3 joins unrounded, as in a fused multiply-add.
std::string folded_tree(const SummationTree& tree);

/// A drawing of the tree, for browsers.
std::string tree_svg(const SummationTree& tree);

}  // namespace mmafuzz
