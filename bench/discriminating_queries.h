// The questions of Valpey et al. ("An SMT formalization of mixed-precision matrix multiplication", section 4, table 4):
// pairs of hypotheses about a matrix unit, each with an input that tells them apart.
#pragma once

#include <string>
#include <vector>

#include "arithmetic/dot_model.h"
#include "core/op.h"

namespace mmafuzz {

/// A line of table 4: seconds, or the word printed instead of them.
struct PaperQuery {
  const char* name;
  const char* z3;        ///< 4.8.9, the paper's
  const char* cvc5;      ///< 1.0.2, the paper's
  const char* z3_again;  ///< 4.8.12 on the authors' published encoding, one core like that of docs/performance.md
};

struct Query {
  std::string name;
  const PaperQuery* paper;
  std::string op;
  std::string first, second;  ///< units, one for each hypothesis
  bool (*admits)(const Op&,
                 const DotOperands&);  ///< what the paper asks of the input; operands and results are always finite
  bool first_is_exact = false;         ///< what `exact:mpfr` says is then the first unit's result
};

const std::vector<Query>& discriminating_queries();

}  // namespace mmafuzz
