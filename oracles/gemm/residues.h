// The Ozaki scheme II: a matrix product from products of residues. Rows of a and columns of b (their *lines*) become
// integers by powers of two; residues of these modulo several numbers are multiplied by a narrow unit without error;
// the Chinese remainder theorem yields the integers' product, the *reconstruction* (Ozaki, Uchino, Imamura, arXiv
// 2504.08009; on FP8 units arXiv 2603.10634). README.md derives its limits and its error bound.
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

/// How the powers of two are chosen.
enum class ResidueScaling : uint8_t {
  fast,      ///< by Cauchy and Schwarz (arXiv 2606.29129)
  accurate,  ///< by a product of the leading six bits, rounded up (arXiv 2504.08009)
  fast2025,  ///< GEMMul8's fast mode of 2025, which is not invariant under scaling
  fast2026,  ///< GEMMul8's fast mode of March 2026: scaled by half a bit less
};
/// How weights times residues are summed.
enum class ResidueSum : uint8_t {
  fp64,    ///< in pairs of fp64 numbers, as in GEMMul8's DGEMM; in single ones for up to 6 moduli (e4m3: 5)
  single,  ///< in single fp64 numbers, as in GEMMul8's SGEMM
  exact,   ///< in integers, rounded once
};
/// Flaws, planted for searches to find.
enum class ResidueFlaw : uint8_t {
  none,
  one_bit_more,        ///< the integers of rows of a have a bit more than fits
  greatest_only,       ///< a line's greatest number is used for its norm; accurate: leading bits are not rounded up
  last_left_out,       ///< the last number of a line is missing in its norm
  wrong_power,         ///< the power of two of an integer's last bit is taken modulo the next modulus
  unsigned_residue,    ///< a factor's residue of -p/2 becomes p/2 - 1
  lost_modulus,        ///< all residues of the last modulus are zero
  digits_swapped,      ///< FP8: the product of the low digits is left out
  truncated_quotient,  ///< the multiple of the moduli's product is truncated, not rounded
  one_weight,          ///< the low halves of the weights are left out
  late_scale,          ///< the row's scale is undone twice, the column's not at all
};

struct ResiduePlan {
  Format narrow = {};
  int moduli = 0;                    ///< the number of moduli
  std::vector<int> own_moduli = {};  ///< empty: the first ones of residue_moduli()
  ResidueScaling scaling = ResidueScaling::fast;
  ResidueSum sum = ResidueSum::fp64;
  int unit_k = 64;  ///< products of one dot of the unit
  int block = 0;    ///< products along k that one chain of dots sums; 0: as many as the unit sums without error
  ResidueFlaw flaw = ResidueFlaw::none;
};
struct NamedResidues {
  ResiduePlan plan;
  std::string dot_unit;
};
/// The plan of a unit of the family `ozaki2:`, from its name; a refusal for other names and wrong parameters.
Result<NamedResidues> named_residues(std::string_view unit);

/// The 20 moduli that the papers list for a narrow format: pairwise coprime, greatest first.
const std::vector<int>& residue_moduli(const Format& narrow);
/// The reason why these numbers cannot be a scheme's moduli; empty where they can.
std::string reason_against_moduli(const std::vector<int>& moduli, const Format& narrow);
/// How many products of matrices the unit computes for each modulus: 1 of s8; 3 of FP8's digits.
int products_of_modulus(const Format& narrow);

/// The greatest magnitude of a factor that the unit multiplies.
int greatest_residue_factor(const Format& narrow);
/// How many products of two such factors the unit sums without error.
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
  /// Rows of a or columns of b in fp64, one after the other. An infinity or NaN is 0 in `number` and marks its line in
  /// `special`.
  struct Lines {
    size_t count = 0, length = 0;
    std::vector<double> number;
    std::vector<uint8_t> special;  ///< by line

    const double* numbers_of(size_t line) const { return number.data() + line * length; }
  };

  /// Whether a result lies within the scheme's error bound of the exact value: what truncation to integers loses, and
  /// the roundings of reconstruction. True, with `judged` left alone, for elements with an infinity or NaN among their
  /// operands, and for those whose bound overflows.
  bool within_bound(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b, uint64_t c, const Scales& scales,
                    int row, int column, uint64_t result, JudgedError* judged = nullptr) const;

  /// The stage of the scheme that first goes wrong on a product: "scaling" where the scaled integers' product can be
  /// beyond what reconstruction finds, "residues" where a product's residue is not that of the integers' product,
  /// "reconstruction" where a result is not within the bound although both are right; empty where no stage goes wrong.
  std::string wrong_stage(const Batch& batch, size_t index) const;

  /// The greatest magnitude of an integer that reconstruction surely finds from its residues, in decimal.
  std::string greatest_integer() const;
  /// Whether reconstruction finds +-(P - 1) / 2, the greatest integers that residues determine (P: the moduli's
  /// product).
  bool finds_all_integers() const;
  /// The integer with these residues, one for each modulus, as an encoding of the result's format.
  uint64_t reconstructed(const std::vector<int>& residues) const;

  const ResiduePlan& plan() const { return plan_; }
  const std::vector<int>& moduli() const { return moduli_; }
  /// How many products along k one chain of dots sums: without error, and at most plan().block.
  int exact_products() const { return exact_products_; }

 private:
  /// The intermediate results of one product, up to its residues.
  struct Stages;
  Stages stages(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) const;
  void multiply(const Batch& batch, size_t index, Column& results) const;
  Lines rows_of(const std::vector<uint64_t>& a) const;
  Lines columns_of(const std::vector<uint64_t>& b) const;
  Scales scales(const Lines& a, const Lines& b) const;
  /// Two matrices of digits or residues that the unit multiplies.
  struct Factors {
    std::vector<int> a, b;
  };
  /// Appends what the unit multiplies for a modulus: residues, or for FP8 their digits.
  void add_factors(const Lines& a, const Lines& b, size_t modulus_index, std::vector<Factors>& factors) const;
  std::vector<int> residues(const Lines& integers, size_t modulus_index) const;
  /// The sums of a product of residues in s8, computed by this CPU.
  std::vector<int64_t> host_sums(const Factors& factors) const;
  /// The sums of all products: [product][element].
  std::vector<std::vector<int64_t>> sums(const std::vector<Factors>& factors) const;
  /// The residues of a * b for a modulus, from the sums of its products.
  std::vector<int> product_modulo(size_t modulus_index, const std::vector<int64_t>* sums) const;
  /// Whether each weight is two fp64 numbers: for more moduli than ResidueSum::fp64 sums in single ones.
  bool uses_pairs() const;
  using Residues = std::vector<std::vector<int>>;  ///< [modulus][element]
  /// The integer with the residues of an element, times 2^exponent, rounded once.
  uint64_t exactly_reconstructed(const Residues& residues, size_t element, int exponent) const;
  /// The integers of elements in fp64, as README.md, "Residues", bounds their error.
  std::vector<double> weighted(const Residues& residues, size_t count) const;

  ResiduePlan plan_;
  std::unique_ptr<Unit> dot_;
  Op dot_op_, op_;
  bool multiplies_here_;  ///< the unit is `integer`, whose sums host_sums() computes
  int exact_products_;
  std::vector<int> moduli_;
  struct Constants;
  std::shared_ptr<const Constants> constants_;
};

/// The unit as a ResidueGemm, or null for other units.
const ResidueGemm* residues_of(const Unit& unit);

}  // namespace mmafuzz::gemm
