// The order in which a dot adds its addends, as a tree: leaves are the products and c, an inner node is one rounded
// addition of two, or one rounded sum of more than two. The unit `tree:<file>` evaluates such a tree.
#pragma once

#include <string>
#include <vector>

#include "core/unit.h"

namespace mmafuzz {

struct SummationTree {
  struct Node {
    int leaf = -1;              ///< index of a product, from 0; op.k: c; -1: an inner node
    bool fused = false;         ///< the product joins its sibling unrounded, as in a fused multiply-add
    std::vector<int> children;  ///< indices in `nodes`, in order; empty for a leaf, else at least two
  };
  Op op;
  Format accumulator;  ///< the format to which c, products and sums are rounded, to nearest even
  std::vector<Node> nodes;
  int root = -1;  ///< index in `nodes`; -1: none yet

  /// Appends a leaf and returns its index in `nodes`.
  int add_leaf(int leaf);
  /// Appends an inner node and returns its index in `nodes`.
  int add_sum(std::vector<int> children);
};

/// The text of a tree file: `mmafuzz-tree 1`, the op line, `accumulator FORMAT`, and the tree. The tree is a product's
/// index, `c`, or addends in brackets; an f marks a fused product: ((c 0f) 1f).
std::string tree_file_text(const SummationTree& tree);
/// Parses that text. Empty lines and lines that begin with # are skipped.
Result<SummationTree> parse_tree_file(const std::string& text);

/// The unit that adds in this order, bound to the tree's op, without a name or claims. A sum of more than two addends
/// needs a and b whose precisions add up to at most 24 bits; the caller checks that.
std::unique_ptr<Unit> make_tree_unit(const SummationTree& tree);

}  // namespace mmafuzz
