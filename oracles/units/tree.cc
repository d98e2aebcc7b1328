// The family `tree:<file>`: a dot whose additions are those of a file (oracles/units/summation_tree.h), as `identify
// --order` writes it.
#include <fstream>
#include <sstream>

#include "arithmetic/exact_sum.h"
#include "core/function_unit.h"
#include "oracles/families.h"
#include "oracles/units/summation_tree.h"

namespace mmafuzz {
namespace {

constexpr std::string_view tree_prefix = "tree:";

/// One step of an evaluation in postfix order: a leaf is pushed on a stack, or a sum replaces its addends there.
struct TreeStep {
  int leaf = -1;       ///< as of SummationTree::Node
  bool fused = false;  ///< as of SummationTree::Node
  int addends = 0;     ///< of a sum: values that it takes from the stack
};

std::vector<TreeStep> steps_of(const SummationTree& tree) {
  std::vector<TreeStep> steps;
  std::vector<std::pair<int, bool>> pending = {{tree.root, false}};  // node, and whether its children are done
  while (!pending.empty()) {
    const auto [index, are_children_done] = pending.back();
    pending.pop_back();
    const SummationTree::Node& node = tree.nodes[static_cast<size_t>(index)];
    if (node.leaf >= 0) {
      steps.push_back({.leaf = node.leaf, .fused = node.fused});
    } else if (are_children_done) {
      steps.push_back({.addends = static_cast<int>(node.children.size())});
    } else {
      pending.push_back({index, true});
      for (size_t i = node.children.size(); i-- > 0;) pending.push_back({node.children[i], false});
    }
  }
  return steps;
}

/// A value on the stack: a number, or a product that the next addition fuses.
struct TreeValue {
  uint64_t encoding = 0;  ///< of a number in the accumulator's format
  int product = -1;       ///< index of a product not computed yet; -1: a number
};

/// Evaluates a tree by IEEE operations in the accumulator's format.
class TreeArithmetic {
 public:
  TreeArithmetic(const SummationTree& tree)
      : a_(tree.op.a.fields()),
        b_(tree.op.b.fields()),
        c_(tree.op.c.fields()),
        d_(tree.op.d.fields()),
        accumulator_(tree.accumulator.fields()),
        k_(tree.op.k),
        steps_(steps_of(tree)) {}

  uint64_t operator()(const DotOperands& in) const {
    std::vector<TreeValue> stack;
    for (const TreeStep& step : steps_) {
      if (step.leaf >= 0) {
        stack.push_back(leaf(in, step));
        continue;
      }
      const size_t first = stack.size() - static_cast<size_t>(step.addends);
      const TreeValue sum = step.addends == 2 ? add(in, stack[first], stack[first + 1]) : add_all(in, stack, first);
      stack.resize(first);
      stack.push_back(sum);
    }
    return convert_number(d_, number(in, stack[0]), {}).encoding;
  }

 private:
  TreeValue leaf(const DotOperands& in, const TreeStep& step) const {
    if (step.leaf == k_) return {convert_number(accumulator_, decode(c_, in.c), {}).encoding};
    if (step.fused) return {.product = step.leaf};
    return {rounded_product(in, step.leaf)};
  }
  uint64_t rounded_product(const DotOperands& in, int i) const {
    return ieee_multiply(accumulator_, decode(a_, in.a[i]), decode(b_, in.b[i]), {}).encoding;
  }
  Number number(const DotOperands& in, const TreeValue& v) const {
    return decode(accumulator_, v.product >= 0 ? rounded_product(in, v.product) : v.encoding);
  }
  TreeValue add(const DotOperands& in, const TreeValue& x, const TreeValue& y) const {
    const bool fuses_y = y.product >= 0;
    const int product = fuses_y ? y.product : x.product;
    if (product < 0) return {ieee_add(accumulator_, number(in, x), number(in, y), {}).encoding};
    const Number addend = number(in, fuses_y ? x : y);
    return {ieee_fma(accumulator_, decode(a_, in.a[product]), decode(b_, in.b[product]), addend, {}).encoding};
  }
  /// The addends on the stack from index `first` on: their exact sum, rounded once.
  TreeValue add_all(const DotOperands& in, const std::vector<TreeValue>& stack, size_t first) const {
    OneExactDot<NoTrace>::Sum sum;
    for (size_t i = first; i < stack.size(); ++i) {
      const int p = stack[i].product;
      const Exact x = p >= 0 ? exact_product(a_, in.a[p], b_, in.b[p]) : to_exact(number(in, stack[i]));
      sum.add(x.cls, x.negative, static_cast<uint64_t>(x.significand), x.exponent);
    }
    if (sum.specials.any()) return {sum.specials.result(accumulator_, accumulator_.encode_nan())};
    const bool negative = zero_sum_sign(sum.all_negative, sum.all_positive, Rounding::nearest_even);
    return {round_wide(accumulator_, sum.finite, product_accumulator_unit, negative, {}).encoding};
  }

  FormatFields a_, b_, c_, d_, accumulator_;
  int k_;
  std::vector<TreeStep> steps_;
};

class TreeFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return has_more_after(tree_prefix, name); }
  Role role(const std::string&) const override { return Role::plugin; }
  std::vector<UnitInfo> list() const override {
    return {{"tree:<file>", "a dot that adds in the order of a file, as `identify --order` writes it"}};
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    const std::string path = name.substr(tree_prefix.size());
    std::ifstream file(path);
    if (!file) return invalid(path + ": cannot be read");
    std::ostringstream text;
    text << file.rdbuf();
    const Result<SummationTree> tree = parse_tree_file(text.str());
    if (!tree) return invalid(path + ": " + tree.refusal().reason);
    Op of_tree = tree->op;
    of_tree.nan = op.nan;
    if (to_text(of_tree) != to_text(op)) return declined(name + " is a tree of '" + to_text(tree->op) + "'");
    for (const SummationTree::Node& node : tree->nodes)
      if (node.children.size() > 2 && op.a.fields().precision() + op.b.fields().precision() > 24)
        return declined(name + " adds more than two products at once, and these are wider than 24 bits");
    return named(make_dot_unit(TreeArithmetic(*tree)), name);
  }
};

}  // namespace

std::unique_ptr<Unit> make_tree_unit(const SummationTree& tree) { return make_dot_unit(TreeArithmetic(tree)); }

std::unique_ptr<Family> make_tree_family() { return std::make_unique<TreeFamily>(); }

}  // namespace mmafuzz
