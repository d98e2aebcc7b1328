// The value of expressions for given values of their variables.
#pragma once

#include "prove/expression.h"

namespace mmafuzz::prove {

/// Evaluates the same expressions many times. The variables come in the order in which they are named here.
class Evaluator {
 public:
  Evaluator(const std::vector<Expression>& variables, const std::vector<Expression>& results);

  /// One value for each variable; each result must fit 64 bits.
  void run(const std::vector<uint64_t>& values, std::vector<uint64_t>& results) const;

 private:
  struct Step {
    Operation operation;
    int width, low;
    int first_width, second_width;  ///< of the arguments
    uint32_t argument[3];           ///< as places
  };
  template <class Word>
  static Word value_of(const Step& step, const Word* at);
  template <class Word>
  void run_in(const std::vector<uint64_t>& values, std::vector<uint64_t>& results) const;

  std::vector<uint32_t> variables_, results_;  ///< places
  std::vector<Bits> constants_;                ///< and variables: they stand before the steps
  std::vector<Step> steps_;
  int widest_ = 1;
};

/// The expressions that `results` are made of, arguments first.
std::vector<uint32_t> in_order(const std::vector<Expression>& results);

}  // namespace mmafuzz::prove
