// A dot product of a row as a formula over its operands: what its kernel's text computes where numbers are expressions
// (arithmetic/kernels/README.md).
#pragma once

#include <string>
#include <vector>

#include "arithmetic/dot_model.h"
#include "core/op.h"
#include "prove/expression.h"

namespace mmafuzz::prove {

/// The fields of a dot case.
struct Operands {
  std::vector<Expression> a, b;
  Expression c;
  std::vector<Expression> scale_a, scale_b;
};

/// A place where two formulas of the same shape can be compared: "block 1: greatest exponent". Of what holds there for
/// all operands, `invariants` says what later stages may need.
struct Stage {
  std::string name;
  std::vector<Expression> points;
  std::vector<Expression> invariants = {};
  std::vector<Expression> cases = {};  ///< bits whose two values may be looked at one after the other
};

struct Formula {
  Expression result;
  std::vector<Stage> stages;  ///< in the order in which they depend on each other
};

/// The formula of a row on any number of products: a longer dot is a sequence of instructions, a shorter one is padded
/// with +0 (scales: 1).
Formula dot_formula(const DotModel& model, const Operands& operands);

/// Variables for the fields of a dot: "a0", "b0", ..., "c", "sa0", "sb0". A suffix keeps the variables of two cases
/// apart.
Operands dot_variables(Expressions& in, const Op& op, const std::string& suffix = "");

/// The variables in the order a, b, c, scales of a, scales of b.
std::vector<Expression> in_case_order(const Operands& operands);

}  // namespace mmafuzz::prove
