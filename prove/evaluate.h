// The value of expressions for given values of their variables.
#pragma once

#include <map>
#include <memory>

#include "prove/expression.h"

namespace mmafuzz::prove {

/// Evaluates the same expressions many times. The variables come in the order in which they are named here.
class Evaluator {
 public:
  Evaluator(const std::vector<Expression>& variables, const std::vector<Expression>& results);
  ~Evaluator();

  /// One value for each variable; each result must fit 64 bits.
  void run(const std::vector<uint64_t>& values, std::vector<uint64_t>& results) const;

 private:
  struct Program;
  std::unique_ptr<Program> program_;
};

/// The expressions that `results` are made of, arguments first.
std::vector<uint32_t> in_order(const std::vector<Expression>& results);

}  // namespace mmafuzz::prove
