// Questions about units by name. A question is about the formula of the unit's row; a witness that a solver finds
// is believed only after the units themselves have shown it. Each ask_...() throws BadInput for units or options that
// it does not take, and Contradiction where the units do not show what the solver's witness says.
#pragma once

#include "prove/questions.h"

namespace mmafuzz::prove {

struct InquiryOptions {
  std::string op;      ///< an op line; empty: the op of the first unit's row
  std::string domain;  ///< words of restrict_to() (questions.h); empty: all operands
  ProofOptions proof;
};

/// The domain as it ends a question's text, " where c=0"; empty where the question is about all operands.
std::string domain_clause(const InquiryOptions& options);

/// A question with its answer.
struct Reply {
  std::string question;  ///< the statement that is proven or refuted
  Op op;
  Proof proof = {};
  Batch witness = {};                     ///< the case that refutes the statement; without cases where there is none
  Batch changed = {};                     ///< the witness's changed case where the solver chose it; else without cases
  std::vector<std::string> results = {};  ///< what the units give on the witness: "3f800000 model:..."
  std::string argument = {};  ///< why the lemmas imply the statement; empty: the queries are about all of it
};

/// Are two units the same function?
Reply ask_equal(Solvers& solvers, const std::string& first, const std::string& second, const InquiryOptions& options);

/// Has a unit a property?
Reply ask_property(Solvers& solvers, const std::string& property, const std::string& unit,
                   const InquiryOptions& options);

/// Is the first unit's result never farther from the exact result than the second's, where operands are finite? A unit
/// is a row without scales, or an error-corrected product of one element (op gemm with m=1 n=1; the default k is that
/// of one dot). For two such products that split into fp16, the domain may say factors=fp16: a and b are fp16 numbers.
Reply ask_nearer(Solvers& solvers, const std::string& first, const std::string& second, const InquiryOptions& options);

/// The least number of integer bits of a fused sum that give the same results as the unit: with fewer a sum wraps.
struct IntegerBits {
  int bits = 0;     ///< 0: unknown
  Reply enough;     ///< proof that the unit with `bits` integer bits equals the unit; empty where bits is 0
  Reply one_fewer;  ///< a witness against one bit fewer, or unknown; empty where bits is 1
};
IntegerBits ask_integer_bits(Solvers& solvers, const std::string& unit, const InquiryOptions& options);

/// The maximum of `products` below: a query about so many products has megabytes.
inline constexpr int max_slice_products = 4096;

/// Does a unit sum `products` products of digits of these widths (in bits) without error (docs/ozaki.md)?
Reply ask_exact_slices(Solvers& solvers, const std::string& unit, SliceWidths widths, int products,
                       const InquiryOptions& options);

/// The greatest widths with which a unit sums so many products without error, by the formula of docs/ozaki.md.
SliceWidths derived_widths(const std::string& unit, int products);

/// How many products of residues, or of their digits in e4m3, a unit sums without error (oracles/gemm/residues.h).
struct ResidueSums {
  int64_t products = 0;  ///< the maximum
  Reply enough;          ///< about the statement that sums of `products` products are exact
  Reply one_more;        ///< a witness against one product more: its c is the sum of `products` greatest products
};
/// The unit is `integer`, or multiplies e4m3.
ResidueSums ask_residue_sums(Solvers& solvers, const std::string& unit, const InquiryOptions& options);

/// Which integers GEMMul8 finds from their residues by its sum of fp64 numbers (oracles/gemm/README.md, "Residues").
/// P is the product of the moduli, M the greatest magnitude up to which all integers are found.
struct ResidueIntegers {
  int moduli;                       ///< their number
  double product_bits, slack_bits;  ///< log2(P), and log2(P / 2 - M)
  bool all;                         ///< whether +-(P - 1) / 2 are found, too
};
/// One entry for each number of moduli, from 2 to 20. `narrow` is the format of the products: "s8" or "e4m3".
std::vector<ResidueIntegers> residue_integers(const std::string& narrow);

/// How far a unit is from monotone in c. First the least number of products is sought; only where that is known and not
/// 0, the ulps are: by how much at most a result of one block falls where a c > 0 rises to the next number and the new
/// result is not below this number.
struct Monotony {
  int products = 0;  ///< the least number of products of a block with which a result falls; 0: no such case was found
  Reply no_fall_with_fewer;  ///< about one product fewer; for 0, about a whole block; for 1 it is not asked
  Reply fall_with_fewest;    ///< a witness with `products` products, unless that is 0
  int64_t ulps = 0;          ///< the greatest fall that was found
  std::string ulp;  ///< its unit: "ulp", or "ulp of 13 fraction bits" where a result keeps fewer than its format has
  Reply no_greater_fall, greatest_fall;  ///< that no result falls by more than `ulps`; a witness that falls by `ulps`
  bool knows_products = false, knows_ulps = false;  ///< whether `products`, `ulps` are proven to be the least, greatest
};
/// `progress` is called with each reply, as soon as it is known. The options may not name a domain.
Monotony ask_monotony(Solvers& solvers, const std::string& unit, const InquiryOptions& options,
                      const std::function<void(const Reply&)>& progress);

}  // namespace mmafuzz::prove
