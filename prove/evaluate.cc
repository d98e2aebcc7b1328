#include "prove/evaluate.h"

#include <algorithm>

#include "arithmetic/wide_int.h"
#include "core/contradiction.h"

namespace mmafuzz::prove {
namespace {

/// 2^width - 1. A width of all bits of Word is allowed, by which 1 cannot be shifted.
template <class Word>
Word mask_of(int width) {
  const Word top = static_cast<Word>(Word(1) << (width - 1));
  return static_cast<Word>(top - Word(1) + top);
}

}  // namespace

/// The value of one step. `slots` has the values of all slots, whose bits beyond their width are 0. A shift by the
/// width or more gives 0.
template <class Word>
Word Evaluator::value_of(const Step& s, const Word* slots) {
  const auto x = [&]() -> const Word& { return slots[s.argument[0]]; };
  const auto y = [&]() -> const Word& { return slots[s.argument[1]]; };
  const auto kept = [&](const Word& value) { return static_cast<Word>(value & mask_of<Word>(s.width)); };
  switch (s.operation) {
    case Operation::bvnot: return kept(static_cast<Word>(~x()));
    case Operation::bvand: return x() & y();
    case Operation::bvor: return x() | y();
    case Operation::bvxor: return x() ^ y();
    case Operation::bvneg: return kept(static_cast<Word>(~x() + Word(1)));
    case Operation::bvadd: return kept(static_cast<Word>(x() + y()));
    case Operation::bvmul: return kept(static_cast<Word>(x() * y()));
    case Operation::bvshl:
      return y() >= Word(unsigned(s.width)) ? Word(0) : kept(static_cast<Word>(x() << static_cast<unsigned>(y())));
    case Operation::bvlshr:
      return y() >= Word(unsigned(s.width)) ? Word(0) : static_cast<Word>(x() >> static_cast<unsigned>(y()));
    case Operation::concat: return static_cast<Word>(Word(x() << s.second_width) | y());
    case Operation::extract: return kept(static_cast<Word>(x() >> s.low));
    case Operation::sign_extend: {
      const bool negative = static_cast<bool>((x() >> (s.first_width - 1)) & Word(1));
      return negative ? kept(static_cast<Word>(x() | ~mask_of<Word>(s.first_width))) : x();
    }
    case Operation::ite: return x() != Word(0) ? y() : slots[s.argument[2]];
    case Operation::equal: return Word(x() == y() ? 1u : 0u);
    case Operation::bvult: return Word(x() < y() ? 1u : 0u);
    case Operation::bvslt: {
      const Word sign = static_cast<Word>(Word(1) << (s.first_width - 1));  // flipped, the order is the unsigned one
      return Word(static_cast<Word>(x() ^ sign) < static_cast<Word>(y() ^ sign) ? 1u : 0u);
    }
    case Operation::variable:
    case Operation::constant: break;
  }
  throw Contradiction("a step without an operation");
}

template <class Word>
void Evaluator::run_with(const std::vector<uint64_t>& values, std::vector<uint64_t>& results) const {
  static thread_local std::vector<Word> slots;
  const size_t first_step = constants_.size();
  slots.resize(first_step + steps_.size());
  for (size_t i = 0; i < first_step; ++i) slots[i] = static_cast<Word>(constants_[i]);
  for (size_t i = 0; i < variables_.size(); ++i) slots[variables_[i]] = Word(values[i]);
  for (size_t i = 0; i < steps_.size(); ++i) slots[first_step + i] = value_of<Word>(steps_[i], slots.data());
  results.resize(results_.size());
  for (size_t i = 0; i < results_.size(); ++i) results[i] = static_cast<uint64_t>(slots[results_[i]]);
}

std::vector<uint32_t> in_order(const std::vector<Expression>& results) {
  std::vector<uint32_t> order, waiting;
  if (results.empty()) return order;
  const Expressions& table = results[0].table();
  std::vector<bool> seen(table.size());
  for (const Expression& result : results) waiting.push_back(result.index());
  while (!waiting.empty()) {
    const uint32_t index = waiting.back();
    waiting.pop_back();
    if (seen[index]) continue;
    seen[index] = true;
    order.push_back(index);
    const Expressions::Node& n = table.node(index);
    for (int i = 0; i < arity(n.operation); ++i) waiting.push_back(n.argument[i]);
  }
  std::sort(order.begin(), order.end());  // a node is made after its arguments
  return order;
}

Evaluator::Evaluator(const std::vector<Expression>& variables, const std::vector<Expression>& results) {
  const Expressions& table = results.at(0).table();
  const std::vector<uint32_t> order = in_order(results);
  std::vector<uint32_t> slot(table.size(), UINT32_MAX);
  const auto add = [&](uint32_t index, const Bits& value) {
    slot[index] = static_cast<uint32_t>(constants_.size());
    constants_.push_back(value);
  };
  for (const Expression& variable : variables) {
    add(variable.index(), 0);
    variables_.push_back(slot[variable.index()]);
  }
  for (const uint32_t index : order) {
    const Expressions::Node& n = table.node(index);
    widest_ = std::max(widest_, n.width);
    if (n.operation == Operation::constant) add(index, table.value(n));
    if (n.operation == Operation::variable && slot[index] == UINT32_MAX)
      throw Contradiction("a variable without a value: " + table.name(n));
  }
  for (const uint32_t index : order) {
    const Expressions::Node& n = table.node(index);
    if (arity(n.operation) == 0) continue;
    Step s{n.operation, n.width, n.low, 0, 0, {}};
    for (int i = 0; i < arity(n.operation); ++i) s.argument[i] = slot[n.argument[i]];
    s.first_width = table.node(n.argument[0]).width;
    if (arity(n.operation) > 1) s.second_width = table.node(n.argument[1]).width;
    slot[index] = static_cast<uint32_t>(constants_.size() + steps_.size());
    steps_.push_back(s);
  }
  for (const Expression& result : results) results_.push_back(slot[result.index()]);
}

void Evaluator::run(const std::vector<uint64_t>& values, std::vector<uint64_t>& results) const {
  if (widest_ <= 64) run_with<uint64_t>(values, results);
  else if (widest_ <= 128) run_with<uint128>(values, results);
  else run_with<Bits>(values, results);
}

}  // namespace mmafuzz::prove
