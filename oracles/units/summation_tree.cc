#include "oracles/units/summation_tree.h"

#include <sstream>

#include "core/case_text.h"
#include "core/text.h"

namespace mmafuzz {
namespace {

constexpr std::string_view greeting = "mmafuzz-tree 1";

void print_node(const SummationTree& tree, int index, std::string& text) {
  const SummationTree::Node& node = tree.nodes[static_cast<size_t>(index)];
  if (node.leaf >= 0) {
    text += node.leaf == tree.op.k ? "c" : std::to_string(node.leaf) + (node.fused ? "f" : "");
    return;
  }
  text += "(";
  for (size_t i = 0; i < node.children.size(); ++i) {
    if (i) text += " ";
    print_node(tree, node.children[i], text);
  }
  text += ")";
}

/// Reads a tree with an explicit stack instead of recursion: a chain of 4096 additions is 4096 levels deep.
class TreeReader {
 public:
  TreeReader(SummationTree& tree, std::string_view text) : tree_(tree), text_(text) {}

  /// Adds the nodes to the tree. Returns what is wrong with the text; "": nothing.
  std::string read() {
    std::vector<std::vector<int>> open;  // of each open bracket the addends so far, the innermost last
    std::vector<bool> seen(static_cast<size_t>(tree_.op.k) + 1);
    for (size_t at = 0; at < text_.size();) {
      const char ch = text_[at];
      if (ch == ' ' || ch == '\n' || ch == '\r') {
        ++at;
      } else if (ch == '(') {
        open.emplace_back();
        ++at;
      } else if (ch == ')') {
        if (open.empty() || open.back().size() < 2) return "a ) that closes no two addends";
        const int node = tree_.add_sum(std::move(open.back()));
        open.pop_back();
        if (!place(node, open)) return "more than one tree";
        ++at;
      } else {
        const size_t end = std::min(text_.find_first_of(" ()\n\r", at), text_.size());
        std::string_view word = text_.substr(at, end - at);
        int leaf = tree_.op.k;
        const bool fused = word.ends_with('f');
        if (fused) word.remove_suffix(1);
        if (word != "c" && (!parse_number(word, leaf) || leaf < 0 || leaf >= tree_.op.k))
          return "'" + std::string(word) + "' is neither c nor a product's number below " + std::to_string(tree_.op.k);
        if (seen[static_cast<size_t>(leaf)]) return "an addend stands twice: " + std::string(word);
        seen[static_cast<size_t>(leaf)] = true;
        const int node = tree_.add_leaf(leaf);
        tree_.nodes[static_cast<size_t>(node)].fused = fused;
        if (!place(node, open)) return "more than one tree";
        at = end;
      }
    }
    if (!open.empty() || tree_.root < 0) return "a bracket is not closed";
    for (size_t i = 0; i < seen.size(); ++i)
      if (!seen[i]) return std::string("no leaf for ") + (i + 1 == seen.size() ? "c" : "product " + std::to_string(i));
    return "";
  }

 private:
  /// Adds a node to the innermost open bracket, or makes it the root. False if there is a root already.
  bool place(int node, std::vector<std::vector<int>>& open) {
    if (!open.empty()) {
      open.back().push_back(node);
      return true;
    }
    if (tree_.root >= 0) return false;
    tree_.root = node;
    return true;
  }

  SummationTree& tree_;
  std::string_view text_;
};

}  // namespace

int SummationTree::add_leaf(int leaf) {
  nodes.push_back({leaf, false, {}});
  return static_cast<int>(nodes.size()) - 1;
}

int SummationTree::add_sum(std::vector<int> children) {
  nodes.push_back({-1, false, std::move(children)});
  return static_cast<int>(nodes.size()) - 1;
}

std::string tree_file_text(const SummationTree& tree) {
  std::string text =
      std::string(greeting) + "\n" + to_text(tree.op) + "\naccumulator " + tree.accumulator.name() + "\n";
  print_node(tree, tree.root, text);
  return text + "\n";
}

Result<SummationTree> parse_tree_file(const std::string& text) {
  std::istringstream lines(text);
  std::string line, body;
  SummationTree tree;
  bool has_op = false, has_accumulator = false;
  if (!std::getline(lines, line) || line != greeting)
    return invalid("line 1: expected '" + std::string(greeting) + "'");
  for (size_t number = 2; std::getline(lines, line); ++number) {
    const auto refuse = [&](const std::string& why) { return invalid("line " + std::to_string(number) + ": " + why); };
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("op ")) {
      const Result<Op> op = parse_op(line.substr(3));
      if (!op) return refuse(op.refusal().reason);
      if (op->kind != OpKind::dot || op->a.fields().integer || op->has_scales())
        return refuse("a tree is of a dot of floating-point formats without scales");
      tree.op = *op;
      has_op = true;
    } else if (line.starts_with("accumulator ")) {
      const Result<Format> format = parse_format(line.substr(12));
      if (!format) return refuse(format.refusal().reason);
      tree.accumulator = *format;
      has_accumulator = true;
    } else {
      body += line + "\n";
    }
  }
  if (!has_op || !has_accumulator) return invalid("a tree file has an op line and an accumulator line");
  if (const std::string why = TreeReader(tree, body).read(); !why.empty()) return invalid(why);
  return tree;
}

}  // namespace mmafuzz
