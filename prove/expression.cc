#include "prove/expression.h"

#include <iterator>

#include "core/contradiction.h"

namespace mmafuzz::prove {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw Contradiction(std::string("a formula is ill-formed: ") + what);
}

Expression binary(Operation operation, Expression x, Expression y) {
  require(x.width() == y.width(), "arguments of two widths");
  return x.table().make(operation, x.width(), {x, y});
}

Expression comparison(Operation operation, Expression x, Expression y) {
  require(x.width() == y.width(), "a comparison of two widths");
  return x.table().make(operation, 1, {x, y});
}

bool is_value(Expression x, const Bits& value) {
  const Expressions& table = x.table();
  return table.is_constant(x) && table.value(table.node(x)) == value;
}

struct OperationRow {
  const char* smt_lib_name;
  int arity;
};
/// Indexed by Operation.
constexpr OperationRow operation_rows[] = {
    {"", 0},      {"", 0},      {"bvnot", 1}, {"bvand", 2},  {"bvor", 2},   {"bvxor", 2},   {"bvneg", 1},
    {"bvadd", 2}, {"bvmul", 2}, {"bvshl", 2}, {"bvlshr", 2}, {"concat", 2}, {"extract", 1}, {"sign_extend", 1},
    {"ite", 3},   {"=", 2},     {"bvult", 2}, {"bvslt", 2}};
static_assert(std::size(operation_rows) == size_t(Operation::bvslt) + 1);

}  // namespace

Bits ones(int width) { return (Bits(1) << width) - 1; }
int arity(Operation operation) { return operation_rows[size_t(operation)].arity; }
const char* smt_lib_name(Operation operation) { return operation_rows[size_t(operation)].smt_lib_name; }

size_t Expressions::Hash::operator()(const Node& n) const {
  uint64_t h = (uint64_t(n.operation) << 32) ^ uint64_t(n.width) ^ (uint64_t(n.low) << 16) ^ (uint64_t(n.extra) << 40);
  for (const uint32_t a : n.argument) h = (h ^ a) * 0x9e3779b97f4a7c15u + (h >> 29);  // 2^64 / golden ratio: mixes
  return h;
}

Expression Expressions::add(const Node& node) {
  require(node.width > 0 && node.width <= greatest_width, "a width that is zero or too large");
  const auto [at, is_new] = index_of_node_.try_emplace(node, static_cast<uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back(node);
  return {this, at->second};
}

Expression Expressions::variable(const std::string& name, int width) {
  Node n{Operation::variable, width, {}, 0, static_cast<uint32_t>(names_.size())};
  names_.push_back(name);
  return add(n);
}

Expression Expressions::constant(int width, const Bits& value) {
  const Bits kept = value & ones(width);
  const std::string key = std::to_string(width) + ":" + kept.str(0, std::ios_base::hex);
  const auto [at, is_new] = index_of_constant_.try_emplace(key, static_cast<uint32_t>(constants_.size()));
  if (is_new) constants_.push_back(kept);
  return add({Operation::constant, width, {}, 0, at->second});
}

Expression Expressions::number(int width, int64_t value) {
  return constant(
      width, value < 0 ? ones(width) - Bits(static_cast<uint64_t>(-(value + 1))) : Bits(static_cast<uint64_t>(value)));
}

Expression Expressions::make(Operation operation, int width, std::initializer_list<Expression> arguments, int low) {
  Node n{operation, width, {}, low, 0};
  int i = 0;
  for (const Expression& argument : arguments) {
    require(&argument.table() == this, "arguments of two formulas");
    n.argument[i++] = argument.index();
  }
  return add(n);
}

Expression operator~(Expression x) {
  const Expressions::Node n = x.table().node(x);
  if (n.operation == Operation::bvnot) return {&x.table(), n.argument[0]};
  return x.table().make(Operation::bvnot, x.width(), {x});
}

Expression operator&(Expression x, Expression y) {
  if (is_value(x, 0) || is_value(y, ones(y.width()))) return x;
  if (is_value(y, 0) || is_value(x, ones(x.width()))) return y;
  return binary(Operation::bvand, x, y);
}

Expression operator|(Expression x, Expression y) {
  if (is_value(x, 0) || is_value(y, ones(y.width()))) return y;
  if (is_value(y, 0) || is_value(x, ones(x.width()))) return x;
  return binary(Operation::bvor, x, y);
}

Expression operator^(Expression x, Expression y) { return binary(Operation::bvxor, x, y); }

Expression operator-(Expression x) {
  const Expressions::Node n = x.table().node(x);
  if (n.operation == Operation::bvneg) return {&x.table(), n.argument[0]};
  return x.table().make(Operation::bvneg, x.width(), {x});
}

Expression operator+(Expression x, Expression y) {
  if (is_value(x, 0)) return y;
  if (is_value(y, 0)) return x;
  return binary(Operation::bvadd, x, y);
}

Expression operator-(Expression x, Expression y) { return x + (-y); }
Expression operator*(Expression x, Expression y) { return binary(Operation::bvmul, x, y); }

Expression shift_left(Expression x, Expression by) { return is_value(by, 0) ? x : binary(Operation::bvshl, x, by); }
Expression shift_right(Expression x, Expression by) { return is_value(by, 0) ? x : binary(Operation::bvlshr, x, by); }

Expression concat(Expression high, Expression low) {
  return high.table().make(Operation::concat, high.width() + low.width(), {high, low});
}

Expression extract(Expression x, int high, int low) {
  require(high >= low && low >= 0 && high < x.width(), "bits beyond a vector");
  if (low == 0 && high == x.width() - 1) return x;
  return x.table().make(Operation::extract, high - low + 1, {x}, low);
}

Expression choose(Expression condition, Expression then, Expression otherwise) {
  require(condition.width() == 1 && then.width() == otherwise.width(), "a choice of two widths");
  if (then == otherwise || is_value(condition, 1)) return then;
  if (is_value(condition, 0)) return otherwise;
  const Expressions::Node n = condition.table().node(condition);
  if (n.operation == Operation::bvnot) return choose({&condition.table(), n.argument[0]}, otherwise, then);
  return then.table().make(Operation::ite, then.width(), {condition, then, otherwise});
}

Expression equal(Expression x, Expression y) { return comparison(Operation::equal, x, y); }
Expression unsigned_below(Expression x, Expression y) { return comparison(Operation::bvult, x, y); }
Expression signed_below(Expression x, Expression y) { return comparison(Operation::bvslt, x, y); }

Expression zero_extend(Expression x, int width) {
  require(width >= x.width(), "an extension to fewer bits");
  return width == x.width() ? x : concat(x.table().constant(width - x.width(), 0), x);
}

Expression sign_extend(Expression x, int width) {
  require(width >= x.width(), "an extension to fewer bits");
  return width == x.width() ? x : x.table().make(Operation::sign_extend, width, {x});
}

Expression bit(Expression x, int place) { return extract(x, place, place); }

Expression append_zeros(Expression x, int count) { return count == 0 ? x : concat(x, x.table().constant(count, 0)); }

Expression is_zero(Expression x) { return equal(x, x.table().constant(x.width(), 0)); }
Expression any_bit(Expression x) { return ~is_zero(x); }

Expression at_most(Expression x, const Bits& most) { return ~unsigned_below(x.table().constant(x.width(), most), x); }

Expression is_between(Expression x, int64_t least, int64_t greatest) {
  return ~signed_below(x, as_number(x, least)) & ~signed_below(as_number(x, greatest), x);
}

Expression all_of(Expressions& table, const std::vector<Expression>& x) {
  Expression all = table.constant(1, 1);
  for (const Expression& one : x) all = all & one;
  return all;
}

Expression any_of(Expressions& table, const std::vector<Expression>& x) {
  Expression any = table.constant(1, 0);
  for (const Expression& one : x) any = any | one;
  return any;
}

Expression signed_greater_of(Expression x, Expression y) { return choose(signed_below(x, y), y, x); }

Expression as_number(Expression x, int64_t value) { return x.table().number(x.width(), value); }

}  // namespace mmafuzz::prove
