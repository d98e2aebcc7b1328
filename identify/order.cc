#include "identify/order.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include "arithmetic/corner_encodings.h"
#include "arithmetic/ieee_operations.h"
#include "core/property.h"
#include "search/random_generators.h"

namespace mmafuzz {
namespace {

struct OrderRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Node = SummationTree::Node;

const Node& node_of(const SummationTree& tree, int index) { return tree.nodes[static_cast<size_t>(index)]; }

/// "7", "7f" of a fused product, "c".
std::string leaf_text(const SummationTree& tree, const Node& node) {
  return node.leaf == tree.op.k ? "c" : std::to_string(node.leaf) + (node.fused ? "f" : "");
}

/// Asks how many addends the smallest partial sum with two given addends has. Addend i is product i, addend k is c.
class PairQuestions {
 public:
  using Pair = std::pair<int, int>;

  PairQuestions(const Unit& unit, const Op& op, RevealedOrder& counts, size_t at_once)
      : unit_(unit), op_(op), counts_(counts), at_once_(at_once) {
    const FormatFields &a = op.a.fields(), &b = op.b.fields(), &c = op.c.fields(), &d = op.d.fields();
    const int room = static_cast<int>(std::bit_width(static_cast<unsigned>(op.k))) + 2;  // bits of a count of addends
    great_ = std::min({a.emax() + b.emax() - 2, c.emax() - 1, d.emax() - 1, 110});
    unit_exponent_ = std::max({a.emin() + b.emin(), c.emin(), d.emin(), great_ - 200});
    // As far apart as the formats allow, so that a wide accumulator absorbs the small numbers, too.
    if (great_ - unit_exponent_ < d.precision() + room)
      throw OrderRefused("the formats are too narrow for a number that absorbs " + std::to_string(op.k + 1) +
                         " others: from 2^" + std::to_string(unit_exponent_) + " to 2^" + std::to_string(great_));
    if (room > d.precision() + 2)
      throw OrderRefused("the result's format cannot count " + std::to_string(op.k + 1) + " addends");
  }

  int addends() const { return op_.k + 1; }

  /// One number for each pair.
  std::vector<int> sizes(const std::vector<Pair>& pairs) {
    std::vector<int> all;
    for (size_t done = 0; done < pairs.size(); done += at_once_) {
      const size_t n = std::min(at_once_, pairs.size() - done);
      Batch batch(op_, n);
      for (size_t i = 0; i < n; ++i) fill(batch, i, pairs[done + i]);
      const Outcomes outcomes = unit_.outcomes_of(batch);
      for (size_t i = 0; i < n; ++i) all.push_back(size_of(outcomes, i));
      if (at_once_ == 1) ++counts_.rounds;
    }
    counts_.questions += pairs.size();
    if (at_once_ > 1 && !pairs.empty()) ++counts_.rounds;
    return all;
  }

 private:
  void set(Batch& batch, size_t index, int addend, bool negative, int e) const {
    if (addend == op_.k) {
      batch.inputs()[2].set(index, 0, encode_near(op_.c.fields(), negative, e, 0));
      return;
    }
    const FormatFields &a = op_.a.fields(), &b = op_.b.fields();
    const int ea = FactorShare(a, b, e).nearest(e / 2);
    batch.inputs()[0].set(index, addend, encode_near(a, negative, ea, 0));
    batch.inputs()[1].set(index, addend, encode_near(b, false, e - ea, 0));
  }
  void fill(Batch& batch, size_t index, const Pair& pair) const {
    for (int addend = 0; addend <= op_.k; ++addend) set(batch, index, addend, false, unit_exponent_);
    set(batch, index, pair.first, false, great_);
    set(batch, index, pair.second, true, great_);
  }
  int size_of(const Outcomes& outcomes, size_t index) const {
    if (!outcomes.has_answer(index) || outcomes.has_failed(index)) throw OrderRefused("the unit gave no answer");
    const Number n = decode(op_.d.fields(), outcomes.results.get(index));
    if (n.cls == NumberClass::zero) return addends();
    const int shift = n.exponent - unit_exponent_;
    const bool is_count = n.cls == NumberClass::finite && !n.negative && shift <= 20 && shift >= -60;
    const uint64_t count = !is_count ? 0 : shift >= 0 ? n.significand << shift : n.significand >> -shift;
    const bool is_whole = is_count && (shift >= 0 || count << -shift == n.significand);
    if (!is_whole || count > static_cast<uint64_t>(addends() - 2))
      throw OrderRefused("an answer is no count of addends (" + to_hex(op_.d, outcomes.results.get(index)) +
                         "): the box does more than add");
    return addends() - static_cast<int>(count);
  }

  const Unit& unit_;
  const Op op_;
  RevealedOrder& counts_;
  size_t at_once_;
  int great_ = 0, unit_exponent_ = 0;  ///< exponents of M and of the small numbers
};

/// Builds the tree from the sizes of partial sums.
class Revealer {
 public:
  Revealer(const Unit& unit, const Op& op, const OrderSettings& settings, RevealedOrder& result)
      : settings_(settings),
        questions_(unit, op, result,
                   settings.asks_one_by_one ? 1 : std::max<size_t>(1, (size_t{1} << 20) / size_t(op.k))),
        rng_(settings.seed, 0) {
    tree_.op = op;
    tree_.accumulator = op.d;
  }

  SummationTree reveal() {
    std::vector<int> all;
    for (int i = 0; i <= tree_.op.k; ++i) all.push_back(i);
    for (;;) {
      tree_.nodes.clear();
      guesses_.clear();
      const std::vector<int> roots = forest(all, static_cast<int>(all.size()) + 1);
      if (roots.size() != 1) throw OrderRefused("the answers belong to no tree of additions");
      tree_.root = roots[0];
      if (guesses_hold()) {
        arrange();
        return tree_;
      }
    }
  }

 private:
  /// A subtree that was not asked about.
  struct Guess {
    std::vector<int> leaves;  ///< its addends
    int root;                 ///< its node
  };

  std::vector<int> leaves_of(int root) const {
    std::vector<int> leaves, open = {root};
    while (!open.empty()) {
      const Node& node = node_of(tree_, open.back());
      open.pop_back();
      if (node.leaf >= 0) leaves.push_back(node.leaf);
      for (const int child : node.children) open.push_back(child);
    }
    std::sort(leaves.begin(), leaves.end());
    return leaves;
  }

  /// Addition commutes; so that a tree reads well, a lone addend joins from the right, c stands before a product, and
  /// parts stand in the order of their first products.
  void arrange() {
    std::vector<int> least(tree_.nodes.size());
    for (size_t index = 0; index < least.size(); ++index) {  // children stand before their sum
      Node& node = tree_.nodes[index];
      if (node.leaf >= 0) {
        least[index] = node.leaf == tree_.op.k ? -1 : node.leaf;
        continue;
      }
      const auto rank = [&](int child) {
        return std::pair(node_of(tree_, child).leaf >= 0, least[static_cast<size_t>(child)]);
      };
      std::sort(node.children.begin(), node.children.end(), [&](int x, int y) { return rank(x) < rank(y); });
      least[index] = tree_.op.k;
      for (const int child : node.children) least[index] = std::min(least[index], least[static_cast<size_t>(child)]);
    }
  }

  /// A copy of the subtree with other leaves.
  int copy(int root, const std::map<int, int>& leaf_of) {
    const Node node = node_of(tree_, root);
    if (node.leaf >= 0) return tree_.add_leaf(leaf_of.at(node.leaf));
    std::vector<int> children;
    for (const int child : node.children) children.push_back(copy(child, leaf_of));
    return tree_.add_sum(std::move(children));
  }

  /// A copy of the subtree `model`, with the given leaves in the order of its own.
  int copy_of_shape(int model, const std::vector<int>& leaves) {
    const std::vector<int> from = leaves_of(model);
    std::map<int, int> leaf_of;
    for (size_t i = 0; i < from.size(); ++i) leaf_of[from[i]] = leaves[i];
    return copy(model, leaf_of);
  }

  /// The subtrees that these leaves form below a partial sum of `parent` addends: several where it adds several numbers
  /// at once.
  std::vector<int> forest(std::vector<int> leaves, int parent) {
    std::vector<int> roots;
    while (!leaves.empty()) {
      std::vector<int> rest;
      roots.push_back(part(leaves, parent, rest));
      leaves = std::move(rest);
    }
    return roots;
  }

  /// The subtree that contains the pivot, one of the leaves. `rest` gets the leaves that join it only in the parent.
  int part(const std::vector<int>& leaves, int parent, std::vector<int>& rest) {
    if (leaves.size() == 1) return tree_.add_leaf(leaves[0]);
    size_t pivot = 0;
    std::map<int, std::vector<int>> by_size;
    for (int attempt = 0; attempt < 3; ++attempt) {
      pivot = attempt == 0 ? 0 : attempt == 1 ? leaves.size() - 1 : leaves.size() / 2;
      std::vector<PairQuestions::Pair> pairs;
      for (size_t i = 0; i < leaves.size(); ++i)
        if (i != pivot) pairs.push_back({leaves[pivot], leaves[i]});
      const std::vector<int> sizes = questions_.sizes(pairs);
      by_size.clear();
      for (size_t i = 0; i < pairs.size(); ++i) by_size[sizes[i]].push_back(pairs[i].second);
      // A pivot that joins last says nothing about the others: another one may.
      if (settings_.asks_one_by_one || leaves.size() < 8 || by_size.size() > 1) break;
    }
    int spine = tree_.add_leaf(leaves[pivot]);
    int count = 1;
    std::vector<int> known;  // subtrees that have joined the spine, to guess from
    for (auto& [size, group] : by_size) {
      if (size >= parent) {
        rest.insert(rest.end(), group.begin(), group.end());
        continue;
      }
      if (size != count + static_cast<int>(group.size()))
        throw OrderRefused("the answers belong to no tree of additions");
      std::sort(group.begin(), group.end());
      std::vector<int> children = {spine};
      const int guess = guess_for(spine, count, known, group);
      if (guess >= 0) {
        children.push_back(guess);
        guesses_.push_back({group, guess});  // sampled at the end; one that is refuted is not made again
      } else {
        for (const int root : forest(group, size)) children.push_back(root);
      }
      if (children.size() > 1) known.push_back(children[1]);
      spine = tree_.add_sum(std::move(children));
      count = size;
    }
    std::sort(rest.begin(), rest.end());
    return spine;
  }

  /// Guesses the subtree of a group: two leaves are added to each other, and more form a copy of a known subtree of the
  /// same size. -1: no guess.
  int guess_for(int spine, int count, const std::vector<int>& known, const std::vector<int>& group) {
    if (settings_.asks_one_by_one || group.size() < 2 || group.size() == 3 || refuted_.contains(group)) return -1;
    if (group.size() == 2) {
      const int first = tree_.add_leaf(group[0]), second = tree_.add_leaf(group[1]);
      return tree_.add_sum({first, second});
    }
    if (static_cast<size_t>(count) == group.size()) return copy_of_shape(spine, group);
    for (const int part : known)
      if (leaves_of(part).size() == group.size()) return copy_of_shape(part, group);
    return -1;
  }

  bool guesses_hold() {
    std::vector<PairQuestions::Pair> pairs;
    std::vector<int> expected;
    std::vector<size_t> guess_of;
    constexpr int samples = 6;
    for (size_t g = 0; g < guesses_.size(); ++g) {
      const std::vector<int>& leaves = guesses_[g].leaves;
      for (int i = 0; i < (leaves.size() == 2 ? 1 : samples); ++i) {
        const size_t x = rng_.below(static_cast<uint32_t>(leaves.size()));
        const size_t y = i < 2 ? (x + 1) % leaves.size() : rng_.below(static_cast<uint32_t>(leaves.size()));
        if (x == y) continue;
        pairs.push_back({leaves[x], leaves[y]});
        expected.push_back(size_in(guesses_[g].root, leaves[x], leaves[y]));
        guess_of.push_back(g);
      }
    }
    const std::vector<int> sizes = questions_.sizes(pairs);
    bool hold = true;
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (sizes[i] == expected[i]) continue;
      refuted_.insert(guesses_[guess_of[i]].leaves);
      hold = false;
    }
    return hold;
  }

  /// The number of addends of the smallest partial sum with x and y, by the tree.
  int size_in(int root, int x, int y) const {
    for (;;) {
      int next = -1;
      for (const int child : node_of(tree_, root).children) {
        const std::vector<int> leaves = leaves_of(child);
        if (std::binary_search(leaves.begin(), leaves.end(), x) && std::binary_search(leaves.begin(), leaves.end(), y))
          next = child;
      }
      if (next < 0) return static_cast<int>(leaves_of(root).size());
      root = next;
    }
  }

  const OrderSettings& settings_;
  PairQuestions questions_;
  CounterRng rng_;
  SummationTree tree_;
  std::vector<Guess> guesses_;
  std::set<std::vector<int>> refuted_;
};

/// The number of a product below a node; -1: there is only c.
int some_product(const SummationTree& tree, int root) {
  const Node& node = node_of(tree, root);
  if (node.leaf >= 0) return node.leaf < tree.op.k ? node.leaf : -1;
  for (const int child : node.children)
    if (const int p = some_product(tree, child); p >= 0) return p;
  return -1;
}

/// Finds the products that are fused. A question adds x * y, which the accumulator cannot hold, and minus its rounded
/// value: the result is zero if and only if the product is rounded.
void find_fused(const Unit& unit, SummationTree& tree, RevealedOrder& result) {
  const Op& op = tree.op;
  const FormatFields &a = op.a.fields(), &b = op.b.fields();
  if (a.precision() + b.precision() <= tree.accumulator.fields().precision()) return;
  std::vector<int> nodes;
  Batch batch(op);
  const uint64_t x = encode_near(a, false, 0, 1), y = encode_near(b, false, 0, 1);
  const Rounded rounded = ieee_multiply(tree.accumulator.fields(), decode(a, x), decode(b, y), {});
  const uint64_t minus =
      convert_number(a, decode(tree.accumulator.fields(), rounded.encoding), {}).encoding ^ travelling_sign(a);
  for (const Node& node : tree.nodes) {
    for (size_t i = 0; node.children.size() == 2 && i < 2; ++i) {
      const int leaf = node_of(tree, node.children[i]).leaf;
      if (leaf < 0 || leaf == op.k) continue;
      const int other = some_product(tree, node.children[1 - i]);
      const bool beside_c = other < 0;
      const size_t index = batch.size();
      batch.resize(index + 1);
      for (int lane = 0; lane < op.k; ++lane) {
        batch.inputs()[0].set(index, lane, 0);
        batch.inputs()[1].set(index, lane, 0);
      }
      batch.inputs()[2].set(index, 0, 0);
      batch.inputs()[0].set(index, leaf, x);
      batch.inputs()[1].set(index, leaf, y);
      if (beside_c) {
        const Number n = decode(a, minus);
        batch.inputs()[2].set(index, 0, convert_number(op.c.fields(), n, {}).encoding);
      } else {
        batch.inputs()[0].set(index, other, minus);
        batch.inputs()[1].set(index, other, encode_near(b, false, 0, 0));
      }
      nodes.push_back(node.children[i]);
    }
  }
  const Outcomes outcomes = unit.outcomes_of(batch);
  result.fused_questions += batch.size();
  ++result.rounds;
  const FormatFields& d = op.d.fields();
  for (size_t i = 0; i < nodes.size(); ++i)
    tree.nodes[static_cast<size_t>(nodes[i])].fused = decode(d, outcomes.results.get(i)).cls != NumberClass::zero;
}

/// Compares the unit and the tree on random vectors.
void replay(const Unit& unit, const SummationTree& tree, const Unit& of_tree, const OrderSettings& settings,
            RevealedOrder& result) {
  const Op& op = tree.op;
  Op any_nan = op;
  any_nan.nan = NanPolicy::any;
  const RandomGenerator normal(op, RandomKind::normal, settings.seed);
  const size_t chunk = std::max<size_t>(1, (size_t{1} << 20) / static_cast<size_t>(op.k));
  result.replayed = result.differing = result.unstable = 0;
  for (size_t first = 0; first < settings.verify; first += chunk) {
    Batch batch;
    normal.fill(first, std::min(chunk, settings.verify - first), batch);
    Outcomes once, again, replayed;
    unit.run(batch, once);
    unit.run(batch, again);
    of_tree.run(batch, replayed);
    for (size_t i = 0; i < batch.size(); ++i) {
      ++result.replayed;
      result.unstable += !same_result(any_nan, once.results.get(i), again.results.get(i));
      result.differing += !same_result(any_nan, once.results.get(i), replayed.results.get(i));
    }
  }
}

std::vector<Format> accumulators(const Op& op) {
  std::vector<Format> all = {op.d};
  for (const char* name : {"fp32", "fp64"})
    if (format(name).fields().precision() > op.d.fields().precision()) all.push_back(format(name));
  return all;
}

/// Products in a row, folded: "0..7", "0..56 by 8".
std::string run_text(const SummationTree& tree, const std::vector<int>& nodes) {
  std::string text;
  for (size_t i = 0; i < nodes.size();) {
    const Node& first = node_of(tree, nodes[i]);
    size_t end = i + 1;
    int step = 0;
    while (end < nodes.size() && first.leaf != tree.op.k) {
      const Node &x = node_of(tree, nodes[end - 1]), &y = node_of(tree, nodes[end]);
      if (y.leaf == tree.op.k || y.fused != first.fused || (step && y.leaf - x.leaf != step)) break;
      step = y.leaf - x.leaf;
      ++end;
    }
    if (end - i < 3) end = i + 1;
    const Node& last = node_of(tree, nodes[end - 1]);
    text += (text.empty() ? "" : " ") + leaf_text(tree, first);
    if (end > i + 1) text += ".." + leaf_text(tree, last) + (step == 1 ? "" : " by " + std::to_string(step));
    i = end;
  }
  return text;
}

}  // namespace

RevealedOrder reveal_order(const Unit& unit, const Op& op, const OrderSettings& settings) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  RevealedOrder result;
  try {
    SummationTree tree = Revealer(unit, op, settings, result).reveal();
    result.reveal_seconds = seconds();
    if (settings.verify) {
      OrderSettings first = settings;
      first.verify = std::min<size_t>(settings.verify, 256);
      for (const Format& accumulator : accumulators(op)) {
        tree.accumulator = accumulator;
        for (Node& node : tree.nodes) node.fused = false;
        find_fused(unit, tree, result);
        replay(unit, tree, *make_tree_unit(tree), first, result);
        if (result.differing == 0) break;
      }
      if (result.differing == 0) replay(unit, tree, *make_tree_unit(tree), settings, result);
    }
    result.tree = std::move(tree);
  } catch (const OrderRefused& refused) {
    result.reason = refused.what();
  }
  result.seconds = seconds();
  return result;
}

std::string folded_tree(const SummationTree& tree) {
  const std::function<std::string(int)> text_of = [&](int root) -> std::string {
    // Down the spine of one-leaf additions, without recursion: a chain may be thousands long.
    std::vector<int> joined;
    int at = root;
    for (;;) {
      const Node& node = node_of(tree, at);
      if (node.leaf >= 0) {
        joined.push_back(at);
        std::reverse(joined.begin(), joined.end());
        const std::string run = run_text(tree, joined);
        return joined.size() == 1 ? run : (joined.size() == 2 ? "(" : "chain(") + run + ")";
      }
      const bool adds_one_leaf = node.children.size() == 2 && node_of(tree, node.children[1]).leaf >= 0;
      if (!adds_one_leaf) break;
      joined.push_back(node.children[1]);
      at = node.children[0];
    }
    std::reverse(joined.begin(), joined.end());
    std::string text;
    const Node& node = node_of(tree, at);
    const bool all_leaves = std::all_of(node.children.begin(), node.children.end(),
                                        [&](int child) { return node_of(tree, child).leaf >= 0; });
    if (all_leaves) text = run_text(tree, node.children);
    else
      for (const int child : node.children) text += (text.empty() ? "" : " + ") + text_of(child);
    text = (node.children.size() > 2 ? "together(" : "(") + text + ")";
    return joined.empty() ? text : "chain(" + text + " " + run_text(tree, joined) + ")";
  };
  return text_of(tree.root);
}

std::string tree_svg(const SummationTree& tree) {
  struct Place {
    double x = 0;
    int height = 0;
  };
  std::vector<Place> places(tree.nodes.size());
  std::vector<std::pair<int, bool>> open = {{tree.root, false}};
  std::vector<int> order;
  int leaves = 0;
  while (!open.empty()) {
    const auto [index, visited] = open.back();
    open.pop_back();
    const Node& node = node_of(tree, index);
    Place& place = places[static_cast<size_t>(index)];
    if (node.leaf >= 0) {
      place.x = leaves++;
      order.push_back(index);
    } else if (!visited) {
      open.push_back({index, true});
      for (size_t i = node.children.size(); i-- > 0;) open.push_back({node.children[i], false});
    } else {
      double sum = 0;
      for (const int child : node.children) {
        sum += places[static_cast<size_t>(child)].x;
        place.height = std::max(place.height, places[static_cast<size_t>(child)].height + 1);
      }
      place.x = sum / static_cast<double>(node.children.size());
      order.push_back(index);
    }
  }
  const int depth = places[static_cast<size_t>(tree.root)].height;
  const double width = std::max(400.0, 14.0 * leaves), height = std::clamp(16.0 * depth, 120.0, 900.0);
  const auto x_of = [&](const Place& p) { return 10 + (p.x + 0.5) * (width - 20) / leaves; };
  const auto y_of = [&](const Place& p) { return 14 + (height - 40) * (depth - p.height) / std::max(1, depth); };
  const auto number = [](double v) { return std::to_string(static_cast<int>(v * 10) / 10.0).substr(0, 7); };
  std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(width) + " " + number(height) +
                     "\" font-family=\"sans-serif\" font-size=\"8\">\n";
  for (const int index : order) {
    const Node& node = node_of(tree, index);
    const Place& place = places[static_cast<size_t>(index)];
    for (const int child : node.children) {
      const Place& to = places[static_cast<size_t>(child)];
      text += "<line x1=\"" + number(x_of(place)) + "\" y1=\"" + number(y_of(place)) + "\" x2=\"" + number(x_of(to)) +
              "\" y2=\"" + number(y_of(to)) + "\" stroke=\"#567\" stroke-width=\"0.6\"/>\n";
    }
    if (node.leaf < 0) continue;
    text += "<text text-anchor=\"middle\" x=\"" + number(x_of(place)) + "\" y=\"" + number(y_of(place) + 9) + "\">" +
            leaf_text(tree, node) + "</text>\n";
  }
  return text + "</svg>\n";
}

}  // namespace mmafuzz
