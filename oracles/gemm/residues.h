// The Ozaki scheme II: a matrix product from products of residues. Rows of a and columns of b become integers by powers
// of two; residues of these modulo several numbers are multiplied by a narrow unit without error; the Chinese remainder
// theorem gives the integers' product (Ozaki, Uchino, Imamura, arXiv 2504.08009; on FP8 units arXiv 2603.10634).
// README.md derives what may go wrong.
#pragma once

#include <cstdint>  // first: MPFR declares its functions of intmax_t only then

#include <mpfr.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/unit.h"
#include "oracles/gemm/judged_error.h"

namespace mmafuzz::gemm {

enum class ResidueScaling : uint8_t {
  fast,      ///< by Cauchy and Schwarz (arXiv 2606.29129)
  accurate,  ///< by a product of the leading six bits, rounded up (arXiv 2504.08009)
  fast2025,  ///< GEMMul8's fast mode of 2025, which is not invariant under scaling
  fast2026,  ///< and of March 2026: half a bit more careful
};
enum class ResidueSum : uint8_t {
  fp64,    ///< in pairs of fp64 numbers, as GEMMul8 does for DGEMM; of up to 6 moduli (e4m3: 5) in single ones
  single,  ///< in single ones, as it does for SGEMM
  exact,   ///< in integers, rounded once
};
/// Flaws that a search must find.
enum class ResidueFlaw : uint8_t {
  none,
  one_bit_more,        ///< the scaled integers have a bit more than fits
  greatest_only,       ///< the greatest number of a row stands for their norm; of leading bits: not rounded up
  last_left_out,       ///< the last number of a row is missing in its norm
  wrong_power,         ///< the power of two of an integer's last bit is that of the next modulus
  unsigned_residue,    ///< half the modulus is left positive, where the narrow format has no room for it
  lost_modulus,        ///< the last modulus counts as one with residue zero
  digits_swapped,      ///< of FP8: the low digits' product is left out
  truncated_quotient,  ///< the multiple of the moduli's product is truncated, not rounded
  one_weight,          ///< the low halves of the weights are left out
  late_scale,          ///< the scale of the row alone is undone
};

struct ResiduePlan {
  Format narrow;
  int moduli = 0;                ///< so many of the papers' list
  std::vector<int> others = {};  ///< or these
  ResidueScaling scaling = ResidueScaling::fast;
  ResidueSum sum = ResidueSum::fp64;
  int unit_k = 64;
  int block = 0;  ///< products along k that one chain sums; 0: as many as the unit sums without error
  ResidueFlaw flaw = ResidueFlaw::none;
};
struct NamedResidues {
  ResiduePlan plan;
  std::string on;
};
/// What a unit of the family `ozaki2:` is by its name.
Result<NamedResidues> named_residues(std::string_view unit);

/// Pairwise coprime, greatest first, as the papers list them; at most 20.
const std::vector<int>& residue_moduli(const Format& narrow);
/// Why some numbers cannot be a scheme's moduli; empty where they can.
std::string reason_against_moduli(const std::vector<int>& moduli, const Format& narrow);
/// Products of the unit that one product of residues takes: 1 of s8; 3 of FP8's digits.
int products_of_modulus(const Format& narrow);

/// The greatest magnitude of what the unit multiplies, and how many products of two such it sums without error.
int greatest_residue_factor(const Format& narrow);
int64_t exact_residue_products(const Op& dot, const Unit& unit);

/// The dot that the unit must be bound to.
Op residue_dot(const ResiduePlan& plan);

class ResidueGemm final : public Unit {
 public:
  /// `op` is a gemm of fp64 or fp32 matrices.
  ResidueGemm(const ResiduePlan& plan, std::unique_ptr<Unit> dot, const Op& op);

  void run(const Batch& batch, Outcomes& outcomes) const override;
  int features() const override;
  void observe(const Batch& batch, const std::function<void(size_t, int)>& hit) const override;

  /// The powers of two by which rows of a and columns of b are multiplied.
  struct Scales {
    std::vector<int> a, b;
  };
  Scales scales(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) const;
  /// Rows of a or columns of b in fp64. What is not finite is 0 there, and marks its line.
  struct Lines {
    size_t count = 0, length = 0;
    std::vector<double> number;
    std::vector<uint8_t> special;

    const double* of(size_t line) const { return number.data() + line * length; }
  };

  /// Whether a result lies within the scheme's error bound of the exact value: what truncation to integers leaves, and
  /// the roundings of reconstruction. True of elements with an infinity or NaN among their operands, and of those whose
  /// bound overflows; of others `judged` becomes what was found.
  bool within_bound(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b, uint64_t c, const Scales& scales,
                    int row, int column, uint64_t result, JudgedError* judged = nullptr) const;

  /// The stage of the scheme that first goes wrong on a product: "scaling" where the scaled integers' product may be
  /// beyond what reconstruction finds, "residues" where a product's residue is not that of the integers' product,
  /// "reconstruction" where a result is not within the bound although both are right; empty: none.
  std::string wrong_stage(const Batch& batch, size_t index) const;

  /// The greatest magnitude of an integer that reconstruction surely finds from its residues, in decimal.
  std::string greatest_integer() const;
  /// Whether it finds those of the greatest magnitude that differ in their residues, +-(P - 1) / 2.
  bool finds_all_integers() const;
  /// The integer of some residues, one for each modulus, rounded to the result's format.
  uint64_t reconstructed(const std::vector<int>& residues) const;

  const ResiduePlan& plan() const { return plan_; }
  const std::vector<int>& moduli() const { return moduli_; }
  /// Dots of the unit that sum without error: products along k.
  int exact_products() const { return block_; }

 private:
  /// What becomes of one product before its elements are put together.
  struct Stages;
  Stages stages(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) const;
  void one_product(const Batch& batch, size_t index, Column& results) const;
  Lines rows_of(const std::vector<uint64_t>& a) const;
  Lines columns_of(const std::vector<uint64_t>& b) const;
  Scales scales(const Lines& a, const Lines& b) const;
  /// Two matrices of digits or residues that the unit multiplies.
  struct Factors {
    std::vector<int> a, b;
  };
  /// What the unit multiplies for one modulus: residues, or of FP8 their digits.
  void add_factors(const Lines& a, const Lines& b, size_t at, std::vector<Factors>& factors) const;
  std::vector<int> residues(const Lines& integers, size_t at) const;
  /// A product of residues in s8, on this CPU.
  std::vector<int64_t> host_sums(const Factors& factors) const;
  /// Of each product the exact sums, one for each element.
  std::vector<std::vector<int64_t>> sums(const std::vector<Factors>& factors) const;
  /// The residues of a * b modulo one modulus, from its products' sums.
  std::vector<int> product_modulo(size_t at, const std::vector<int64_t>* sums) const;
  bool in_pairs() const;
  /// The integer of some residues times 2^exponent, rounded once.
  uint64_t exactly_reconstructed(const int* const* residues, size_t element, int exponent) const;
  /// The integers of elements in fp64, as README.md, "Residues", bounds their error.
  std::vector<double> weighted(const int* const* residues, size_t count) const;

  ResiduePlan plan_;
  std::unique_ptr<Unit> dot_;
  Op dot_op_, op_;
  bool multiplies_here_;  ///< the unit is `integer`, whose sums this CPU gives
  int block_;
  std::vector<int> moduli_;
  struct Constants;
  std::shared_ptr<const Constants> constants_;
};

/// A unit of the family, or null.
const ResidueGemm* residues_of(const Unit& unit);

}  // namespace mmafuzz::gemm
