// The order in which a dot adds its addends, as a tree: leaves are the products and c, an inner node is one rounded
// addition of two, or one rounded sum of more. The unit `tree:<file>` evaluates one.
#pragma once

#include <string>
#include <vector>

#include "core/unit.h"

namespace mmafuzz {

struct SummationTree {
  struct Node {
    int leaf = -1;       ///< number of a product; op.k: c; -1: an inner node
    bool fused = false;  ///< a product that joins its sibling unrounded, as in a fused multiply-add
    std::vector<int> children;
  };
  Op op;
  Format accumulator;  ///< to which products and sums are rounded, to nearest even
  std::vector<Node> nodes;
  int root = -1;

  int add_leaf(int leaf);
  int add_sum(std::vector<int> children);
};

/// The file format: `mmafuzz-tree 1`, the op line, `accumulator FORMAT`, and the tree: a product's number, `c`, or
/// addends in brackets, `0f` for a fused product: ((c 0f) 1f).
std::string tree_file_text(const SummationTree& tree);
Result<SummationTree> parse_tree_file(const std::string& text);

/// The unit that adds in this order; bound to the tree's op.
std::unique_ptr<Unit> make_tree_unit(const SummationTree& tree);

}  // namespace mmafuzz
