// Questions about units by name: the formula of a unit's row is asked about, and what a solver gives back is replayed
// on the units themselves before it is believed.
#pragma once

#include "prove/questions.h"

namespace mmafuzz::prove {

struct InquiryOptions {
  std::string op;      ///< an op line; empty: the op of the first unit's row
  std::string domain;  ///< restrict_to()
  ProofOptions proof;
};

/// " where c=0", the domain of a question; empty where it is about all operands.
std::string where(const InquiryOptions& options);

/// What came out of a question.
struct Reply {
  std::string question;
  Op op;
  Proof proof = {};
  Batch witness = {};                     ///< one case, where there is one
  Batch changed = {};                     ///< the changed case, where the solver chose it
  std::vector<std::string> results = {};  ///< "3f800000 model:..." on the witness
  std::string argument = {};              ///< how lemmas make the statement; empty: the queries are about all of it
};

/// Are two units the same function? Throws BadInput for what is no row, Contradiction where a witness is none.
Reply ask_equal(Solvers& solvers, const std::string& first, const std::string& second, const InquiryOptions& options);

/// Has a unit a property?
Reply ask_property(Solvers& solvers, const std::string& property, const std::string& unit,
                   const InquiryOptions& options);

/// Is the first unit's result never farther from the exact result than the second's, where operands are finite? Rows
/// without scales, or one element of error-corrected products (op gemm with m=1 n=1; by default as long as one dot).
/// Of those, the domain also takes factors=fp16: numbers of the format into which they split.
Reply ask_nearer(Solvers& solvers, const std::string& first, const std::string& second, const InquiryOptions& options);

/// The least number of integer bits with which a fused sum never wraps.
struct IntegerBits {
  int bits = 0;     ///< 0: unknown
  Reply enough;     ///< equal to the unit whose sum never wraps
  Reply one_fewer;  ///< differs from it; not asked where one bit is enough
};
IntegerBits ask_integer_bits(Solvers& solvers, const std::string& unit, const InquiryOptions& options);

/// Of the formula of so many products, a query holds megabytes.
inline constexpr int most_slice_products = 4096;

/// Does a unit sum `products` products of digits of these widths without error (docs/ozaki.md)?
Reply ask_exact_slices(Solvers& solvers, const std::string& unit, SliceWidths widths, int products,
                       const InquiryOptions& options);

/// The widths that docs/ozaki.md derives for so many products on a unit.
SliceWidths derived_widths(const std::string& unit, int products);

/// How many products of residues, or of their digits in e4m3, a unit sums without error (oracles/gemm/residues.h).
struct ResidueSums {
  int64_t products = 0;
  Reply enough;    ///< that so many are exact
  Reply one_more;  ///< a case against one more: c is the sum of so many greatest products
};
ResidueSums ask_residue_sums(Solvers& solvers, const std::string& unit, const InquiryOptions& options);

/// Which integers come back from their residues, of each number of moduli, in a sum of fp64 numbers as GEMMul8 takes it
/// (oracles/gemm/README.md, "Residues").
struct ResidueIntegers {
  int moduli;
  double product_bits, slack_bits;  ///< log2 of P, and of what is missing to P / 2
  bool all;                         ///< +-(P - 1) / 2 come back, too
};
std::vector<ResidueIntegers> residue_integers(const std::string& narrow);

/// How far a unit is from monotone in c. The products are one question, the ulps another.
struct Monotony {
  int products = 0;  ///< the least number of products of a block with which a result falls; 0: it never falls
  Reply fewer;       ///< that fewer are not enough; not asked where one product is
  Reply falls;       ///< that so many are (unless products is 0)
  int64_t ulps =
      0;  ///< of the result, by which one block lowers it, c > 0 rising to the next, the result not below that
  std::string ulp;  ///< "ulp", or "ulp of 13 fraction bits" where a result keeps fewer than its format has
  Reply no_more, most;
  bool knows_products = false, knows_ulps = false;
};
Monotony ask_monotony(Solvers& solvers, const std::string& unit, const InquiryOptions& options,
                      const std::function<void(const Reply&)>& progress);

}  // namespace mmafuzz::prove
