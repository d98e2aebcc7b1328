// Expressions over bit vectors, the theory QF_BV of SMT-LIB 2. Formulas are written in them. An expression can be
// evaluated (evaluate.h) and printed (smt_lib.h). A *node* is one subexpression in the table of an Expressions object;
// equal subexpressions of one object are one node.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace mmafuzz::prove {

/// The value of a bit vector.
using Bits = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
    640, 640, boost::multiprecision::unsigned_magnitude, boost::multiprecision::unchecked, void>>;
inline constexpr int greatest_width = 640;

/// The operations under their names in SMT-LIB 2, where `equal` is =. SMT-LIB's Bool is a vector of one bit here: the
/// result of a comparison, and the condition of ite.
enum class Operation : uint8_t {
  variable,
  constant,
  bvnot,
  bvand,
  bvor,
  bvxor,
  bvneg,
  bvadd,
  bvmul,
  bvshl,
  bvlshr,
  concat,
  extract,
  sign_extend,
  ite,
  equal,
  bvult,
  bvslt,
};

class Expressions;

/// A handle of a node. table() must outlive it. A default-constructed one is none.
class Expression {
 public:
  Expression() = default;
  Expression(Expressions* table, uint32_t index) : table_(table), index_(index) {}
  Expressions& table() const { return *table_; }
  uint32_t index() const { return index_; }
  bool is_none() const { return table_ == nullptr; }
  int width() const;
  friend bool operator==(const Expression& x, const Expression& y) {
    return x.table_ == y.table_ && x.index_ == y.index_;
  }

 private:
  Expressions* table_ = nullptr;
  uint32_t index_ = 0;
};

/// The nodes of all formulas of one question. The index of a node is above those of its arguments.
class Expressions {
 public:
  struct Node {
    Operation operation = Operation::constant;
    int width = 1;              ///< bits of the result
    uint32_t argument[3] = {};  ///< indices of the arguments, as many as arity()
    int low = 0;                ///< for extract, the lowest bit that is taken; bit 0 is the least significant
    uint32_t extra = 0;         ///< for a constant, the index of its value; for a variable, that of its name

    friend bool operator==(const Node&, const Node&) = default;
  };

  /// A new variable. The name must be unused.
  Expression variable(const std::string& name, int width);
  Expression constant(int width, const Bits& value);
  /// The constant `value` in two's complement.
  Expression number(int width, int64_t value);
  Expression make(Operation operation, int width, std::initializer_list<Expression> arguments, int low = 0);

  const Node& node(uint32_t index) const { return nodes_[index]; }
  const Node& node(Expression x) const { return nodes_[x.index()]; }
  size_t size() const { return nodes_.size(); }
  const Bits& value(const Node& constant) const { return constants_[constant.extra]; }
  const std::string& name(const Node& variable) const { return names_[variable.extra]; }
  bool is_constant(Expression x) const { return node(x).operation == Operation::constant; }

 private:
  struct Hash {
    size_t operator()(const Node& n) const;
  };
  Expression add(const Node& node);

  std::vector<Node> nodes_;
  std::vector<Bits> constants_;
  std::vector<std::string> names_;
  std::unordered_map<Node, uint32_t, Hash> index_of_node_;
  std::unordered_map<std::string, uint32_t> index_of_constant_;  ///< in constants_, by "width:value"
};

inline int Expression::width() const { return table_->node(index_).width; }

Bits ones(int width);            ///< 2^width - 1
int arity(Operation operation);  ///< the number of arguments
const char* smt_lib_name(Operation operation);

// All arguments have the same width, except for concat, extract and the condition of choose() (SMT-LIB's ite), which
// has one bit. Otherwise the functions throw Contradiction. Shifts are logical; a shift by the width or more gives 0.
Expression operator~(Expression x);
Expression operator&(Expression x, Expression y);
Expression operator|(Expression x, Expression y);
Expression operator^(Expression x, Expression y);
Expression operator-(Expression x);
Expression operator+(Expression x, Expression y);
Expression operator-(Expression x, Expression y);
Expression operator*(Expression x, Expression y);
Expression shift_left(Expression x, Expression by);
Expression shift_right(Expression x, Expression by);
Expression concat(Expression high, Expression low);
Expression extract(Expression x, int high, int low);
Expression choose(Expression condition, Expression then, Expression otherwise);
Expression equal(Expression x, Expression y);
Expression unsigned_below(Expression x, Expression y);
Expression signed_below(Expression x, Expression y);

// Compositions of the above.
Expression zero_extend(Expression x, int width);
Expression sign_extend(Expression x, int width);
Expression bit(Expression x, int place);
Expression append_zeros(Expression x, int count);
Expression is_zero(Expression x);
Expression any_bit(Expression x);                    ///< whether a bit of x is 1
Expression at_most(Expression x, const Bits& most);  ///< unsigned
/// Whether x, in two's complement, is one of least..greatest.
Expression is_between(Expression x, int64_t least, int64_t greatest);
/// One bit: all of no expressions is 1, any of none is 0.
Expression all_of(Expressions& table, const std::vector<Expression>& x);
Expression any_of(Expressions& table, const std::vector<Expression>& x);
Expression signed_greater_of(Expression x, Expression y);
Expression as_number(Expression x, int64_t value);  ///< a constant of x's width

}  // namespace mmafuzz::prove
