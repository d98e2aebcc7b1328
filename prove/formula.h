// A dot product of a row as a formula over its operands: the text of the row's kernel is run with expressions instead
// of numbers (arithmetic/kernels/README.md).
#pragma once

#include <string>
#include <vector>

#include "arithmetic/dot_model.h"
#include "core/op.h"
#include "prove/expression.h"

namespace mmafuzz::prove {

/// The encodings of a dot case, in the order of the op's columns. Without scales the last two are empty.
struct Operands {
  std::vector<Expression> a, b;
  Expression c;
  std::vector<Expression> scale_a, scale_b;
};

/// An intermediate result of a formula. Two formulas of the same shape can be compared stage by stage.
struct Stage {
  std::string name;                         ///< "block 1, greatest exponent of 3"
  std::vector<Expression> points;           ///< the nodes to compare
  std::vector<Expression> invariants = {};  ///< one bit each: facts about the points, not proven yet, of use later
  std::vector<Expression> cases = {};       ///< bits for a case split (one query for 0, one for 1): "is zero"
};

struct Formula {
  Expression result;
  std::vector<Stage> stages;  ///< a stage depends only on earlier ones
};

/// The formula of a row for any number of products. More than model.k are a sequence of instructions, each of which
/// takes the result of the last one as its c. The last instruction is filled with products of +0 under scales of 1.
Formula dot_formula(const DotModel& model, const Operands& operands);

/// Variables for the operands of a dot: "a0", "b0", ..., "c", "sa0", "sb0", each with the suffix at its end. Two cases
/// of one question need different suffixes.
Operands dot_variables(Expressions& table, const Op& op, const std::string& suffix = "");

/// All operands in the order of the op's columns: a, b, c, scales of a, scales of b.
std::vector<Expression> in_case_order(const Operands& operands);

}  // namespace mmafuzz::prove
