// The queries of Valpey et al. ("An SMT formalization of mixed-precision matrix multiplication", section 4, table 4).
// Each asks for an input on which two hypotheses about a matrix unit have different results.
#pragma once

#include <string>
#include <vector>

#include "arithmetic/dot_model.h"
#include "core/op.h"

namespace mmafuzz {

/// A line of table 4, with times as text: seconds, "> 6 h" beyond the paper's limit, "-" or "not tried" without a
/// measurement.
struct PaperQuery {
  const char* name;
  const char* z3;        ///< time of Z3 4.8.9, from the paper
  const char* cvc5;      ///< time of cvc5 1.0.2, from the paper
  const char* z3_again;  ///< time of Z3 4.8.12 on the authors' encoding, measured here (docs/notes/2026-11-21-rates.md)
};

// The paper's machine is an AMD EPYC 7502P at 1.5 GHz, its limit 6 hours. The authors' encoding is smt/fp_add.py of
// pyxis-roc/tensor_core_semantics; Z3 4.8.12 ran it on one core. In smt/fp_add.py the carry query adds significands
// without aligning them, which is an easier question than the queries of this file.
inline constexpr PaperQuery exact_product_query{"Exact Multiplication", "0.55", "0.027", "1.25"};
inline constexpr PaperQuery exact_addition_query{"Exact Addition in FP16", "27.59", "0.12", "28.8"};
inline constexpr PaperQuery final_rounding_query{"Rounding of Final Result", "0.52", "0.008", "-"};
inline constexpr PaperQuery accumulator_rounding_query{"Rounding of Accumulator", "0.34", "0.017", "-"};
inline constexpr PaperQuery order_query{"Accumulation Order", "9.87", "0.25", "34.6"};
inline constexpr PaperQuery normalization_query{"Normalization", "9.63", "0.25", "33.3"};
inline constexpr PaperQuery three_carry_bits_query{"3 Carry Bits", "410.25", "72.793", "1357"};
inline constexpr PaperQuery four_carry_bits_query{"4 Carry Bits (Ampere)", "> 6 h", "> 6 h", "not tried"};

/// One pair of hypotheses. An answer is an input that `admits` accepts, with finite operands, and finite results that
/// differ by more than the sign of a zero.
struct Query {
  std::string name;         ///< as in --query
  const PaperQuery* paper;  ///< the line of table 4, which several queries can share
  std::string op;
  std::string first, second;  ///< names of the units that compute as the hypotheses say
  /// Whether an input satisfies the conditions that the paper sets for this query, besides finiteness.
  bool (*admits)(const Op&, const DotOperands&);
  bool first_is_exact = false;  ///< the first hypothesis is the exact result, so that `exact:mpfr` must equal its unit
};

const std::vector<Query>& discriminating_queries();

/// Seconds that the guided search takes for a line of table 4: of each of its queries the median over the seeds 1 to
/// `seeds`, of these medians the maximum. search_seconds() evaluates each found input again, by both units, slow twins
/// and, for first_is_exact, MPFR. Returns infinity as soon as one search finds no input within `limit` seconds, or an
/// evaluation disagrees.
double search_seconds(const PaperQuery& line, uint64_t seeds, double limit);

}  // namespace mmafuzz
