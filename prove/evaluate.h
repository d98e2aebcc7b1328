// The value of expressions for given values of their variables.
#pragma once

#include "prove/expression.h"

namespace mmafuzz::prove {

/// Evaluates the same expressions for many values of their variables.
class Evaluator {
 public:
  /// Throws Contradiction where a result depends on a variable that is not among `variables`.
  Evaluator(const std::vector<Expression>& variables, const std::vector<Expression>& results);

  /// `values` has one value for each variable, `results` gets one for each result, both in the constructor's order.
  /// Each result must fit 64 bits.
  void run(const std::vector<uint64_t>& values, std::vector<uint64_t>& results) const;

 private:
  // Values are kept in slots: first those of constants and variables, then one for each step.
  struct Step {
    Operation operation;
    int width, low;
    int first_width, second_width;  ///< of the arguments
    uint32_t argument[3];           ///< slots
  };
  template <class Word>
  static Word value_of(const Step& step, const Word* slots);
  template <class Word>
  void run_with(const std::vector<uint64_t>& values, std::vector<uint64_t>& results) const;

  std::vector<uint32_t> variables_, results_;  ///< slots
  std::vector<Bits> constants_;                ///< of the slots before the steps; 0 for a variable
  std::vector<Step> steps_;
  int widest_ = 1;  ///< bits of the widest node
};

/// The indices (Expression::index()) of all nodes that `results` are made of, these included: each once, ascending, so
/// that every node comes after its arguments. Empty for no results.
std::vector<uint32_t> in_order(const std::vector<Expression>& results);

}  // namespace mmafuzz::prove
