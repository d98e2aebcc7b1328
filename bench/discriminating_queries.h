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
  const char* z3_again;  ///< 4.8.12 on the authors' published encoding, one core (docs/notes/2026-11-21-rates.md)
};

// Times: table 4 (AMD EPYC 7502P, 1.5 GHz, 6 hours at most), then z3 4.8.12 on pyxis-roc/tensor_core_semantics,
// smt/fp_add.py;
// "-": not measured. That file sums the significands of its carry query without aligning them, an easier question than
// ours.
inline constexpr PaperQuery exact_product_query{"Exact Multiplication", "0.55", "0.027", "1.25"};
inline constexpr PaperQuery exact_addition_query{"Exact Addition in FP16", "27.59", "0.12", "28.8"};
inline constexpr PaperQuery final_rounding_query{"Rounding of Final Result", "0.52", "0.008", "-"};
inline constexpr PaperQuery accumulator_rounding_query{"Rounding of Accumulator", "0.34", "0.017", "-"};
inline constexpr PaperQuery order_query{"Accumulation Order", "9.87", "0.25", "34.6"};
inline constexpr PaperQuery normalization_query{"Normalization", "9.63", "0.25", "33.3"};
inline constexpr PaperQuery three_carry_bits_query{"3 Carry Bits", "410.25", "72.793", "1357"};
inline constexpr PaperQuery four_carry_bits_query{"4 Carry Bits (Ampere)", "> 6 h", "> 6 h", "not tried"};

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

/// Seconds to the first input, the median of so many seeds, of the query of that line that takes the longest. Each
/// input is evaluated again. Infinity where a search finds none in `limit` seconds.
double search_seconds(const PaperQuery& line, uint64_t seeds, double limit);

}  // namespace mmafuzz
