// The features of a product that a scheme of residues reports to a search: how near its stages came to their limits.
#include <algorithm>
#include <cmath>

#include "core/batch.h"
#include "oracles/gemm/gemm_case.h"
#include "oracles/gemm/residue_constants.h"
#include "oracles/lanes/host_float.h"

namespace mmafuzz::gemm {
namespace {

/// Groups of features, which are numbered one group after the other; classes[] has the number of each group's.
enum Group : int {
  headroom,          ///< bits between the sum of the products' magnitudes and the greatest that reconstruction finds
  shift_a,           ///< the length of an integer of a
  shift_b,           ///< of b
  cut_a,             ///< how much of a number of a truncation to an integer loses
  cut_b,             ///< of b
  factor_residue,    ///< a factor's residue, and the place of its modulus
  product_residues,  ///< the same of a product
  quotient,          ///< how far the quotient of reconstruction is from the integer next to it
  cancelled,         ///< bits that the sum of the products loses by cancellation
  undone,            ///< where the result lies in its format after the scales are undone
  groups             ///< their number
};
constexpr int classes[groups] = {8, 4, 4, 3, 3, 3 * 4, 3 * 4, 6, 8, 5};
constexpr int first_of(int group) {
  int first = 0;
  for (int g = 0; g < group; ++g) first += classes[g];
  return first;
}

/// The class of a number of bits: none, below 1, below 2, below 4, below 8, and so on up to class `last`.
int doubling_class(double bits, int last) {
  if (!(bits > 0)) return 0;
  return bits < 1 ? 1 : std::min(last, 2 + static_cast<int>(std::log2(bits)));
}
/// Class 0 to 2 of a modulus: the first, the last, or another.
int place_class(size_t index, size_t moduli) { return index == 0 ? 0 : index + 1 == moduli ? 1 : 2; }
/// Class 0 to 3 of a residue: zero, p/2 of an even p, the greatest magnitude below p/2, or another.
int residue_class(int residue, int p) {
  const int left = (p - 1) / 2 - std::abs(residue);
  return residue == 0 ? 0 : left < 0 ? 1 : left == 0 ? 2 : 3;
}

}  // namespace

int ResidueGemm::features() const { return first_of(groups); }

void ResidueGemm::observe(const Batch& batch, const std::function<void(size_t, int)>& hit) const {
  const DefaultFloatEnvironment environment;
  const auto n = size_t(op_.n), k = size_t(op_.k);
  GemmCase matrices(op_);
  for (size_t index = 0; index < batch.size(); ++index) {
    const auto reach = [&](Group group, int feature) { hit(index, first_of(group) + feature); };
    matrices.load(batch, index);
    const Lines x = rows_of(matrices.a), y = columns_of(matrices.b);
    const Stages s = stages(matrices.a, matrices.b);
    const auto reach_of_factors = [&](const Lines& numbers, const Lines& integers, const std::vector<int>& scales,
                                      Group shift, Group cut) {
      for (size_t element = 0; element < integers.number.size(); ++element) {
        const double integer = integers.number[element];
        if (numbers.number[element] == 0) continue;
        // The length of the integer in bits, and what truncation loses.
        reach(shift, integer == 0 ? 0 : std::ilogb(integer) < 53 ? 1 : std::ilogb(integer) < 61 ? 2 : 3);
        const double rest = std::fabs(std::ldexp(numbers.number[element], scales[element / k])) - std::fabs(integer);
        reach(cut, rest == 0 ? 0 : rest < 0.5 ? 1 : 2);
      }
    };
    reach_of_factors(x, s.a, s.scales.a, shift_a, cut_a);
    reach_of_factors(y, s.b, s.scales.b, shift_b, cut_b);
    for (size_t p = 0; p < moduli_.size(); ++p) {
      for (const Lines* factors : {&s.a, &s.b})
        for (const int residue : residues(*factors, p))
          reach(factor_residue, 4 * place_class(p, moduli_.size()) + residue_class(residue, moduli_[p]));
      for (const int residue : s.residues[p])
        reach(product_residues, 4 * place_class(p, moduli_.size()) + residue_class(residue, moduli_[p]));
    }
    const std::vector<double> integers = weighted(s.residues, matrices.c.size());
    for (size_t element = 0; element < matrices.c.size(); ++element) {
      const size_t i = element / n, j = element % n;
      if (s.a.special[i] || s.b.special[j]) continue;
      double magnitudes = 0, weights = 0;
      for (size_t l = 0; l < k; ++l) magnitudes += std::fabs(s.a.numbers_of(i)[l] * s.b.numbers_of(j)[l]);
      for (size_t p = 0; p < moduli_.size(); ++p)
        weights = std::fma(constants_->whole[p], s.residues[p][element], weights);
      if (magnitudes > 0) reach(headroom, doubling_class(constants_->log_of_greatest - std::log2(magnitudes), 7));
      const double multiple = weights * constants_->inverse, off = std::fabs(multiple - std::nearbyint(multiple));
      reach(quotient, off < 0.25 ? 0 : off < 0.375 ? 1 : off < 0.4375 ? 2 : off < 0.46875 ? 3 : off < 0.484375 ? 4 : 5);
      reach(cancelled,
            integers[element] == 0 ? 0 : doubling_class(std::log2(magnitudes / std::fabs(integers[element])), 7));
      const double number = std::ldexp(integers[element], -(s.scales.a[i] + s.scales.b[j]));
      const FormatFields& d = op_.d.fields();
      const int exponent = number == 0 ? 0 : std::isinf(number) ? d.emax() + 1 : std::ilogb(number);
      reach(undone, number == 0               ? 0
                    : exponent > d.emax()     ? 1
                    : exponent > d.emax() - 2 ? 2
                    : exponent < d.emin()     ? 3
                                              : 4);
    }
  }
}

}  // namespace mmafuzz::gemm
