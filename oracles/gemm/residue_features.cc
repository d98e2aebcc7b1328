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
  headroom,
  shift_a,
  shift_b,
  cut_a,
  cut_b,
  factor_residue,
  product_residues,
  quotient,
  cancelled,
  undone,
  groups
};
constexpr int classes[groups] = {8, 4, 4, 3, 3, 3 * 4, 3 * 4, 6, 8, 5};
constexpr int first_of(int group) {
  int first = 0;
  for (int g = 0; g < group; ++g) first += classes[g];
  return first;
}

/// 0, 1, 2, 3 to 4, 5 to 8, and so on.
int doubling_class(double bits, int most) {
  if (!(bits > 0)) return 0;
  return bits < 1 ? 1 : std::min(most, 2 + static_cast<int>(std::log2(bits)));
}
/// Class 0 to 2 of a modulus: the first, the last, or another.
int place_class(size_t at, size_t moduli) { return at == 0 ? 0 : at + 1 == moduli ? 1 : 2; }
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
  GemmCase in(op_);
  for (size_t index = 0; index < batch.size(); ++index) {
    const auto reach = [&](Group group, int of_group) { hit(index, first_of(group) + of_group); };
    in.load(batch, index);
    const Lines x = rows_of(in.a), y = columns_of(in.b);
    const Stages s = stages(in.a, in.b);
    const auto of_integers = [&](const Lines& numbers, const Lines& whole, const std::vector<int>& by, Group shift,
                                 Group cut) {
      for (size_t at = 0; at < whole.number.size(); ++at) {
        const double integer = whole.number[at];
        if (numbers.number[at] == 0) continue;
        // The length of the integer in bits, and what truncation loses.
        reach(shift, integer == 0 ? 0 : std::ilogb(integer) < 53 ? 1 : std::ilogb(integer) < 61 ? 2 : 3);
        const double rest = std::fabs(std::ldexp(numbers.number[at], by[at / k])) - std::fabs(integer);
        reach(cut, rest == 0 ? 0 : rest < 0.5 ? 1 : 2);
      }
    };
    of_integers(x, s.a, s.by.a, shift_a, cut_a);
    of_integers(y, s.b, s.by.b, shift_b, cut_b);
    for (size_t p = 0; p < moduli_.size(); ++p) {
      for (const Lines* side : {&s.a, &s.b})
        for (const int residue : residues(*side, p))
          reach(factor_residue, 4 * place_class(p, moduli_.size()) + residue_class(residue, moduli_[p]));
      for (const int residue : s.residues[p])
        reach(product_residues, 4 * place_class(p, moduli_.size()) + residue_class(residue, moduli_[p]));
    }
    std::vector<const int*> each;
    for (const std::vector<int>& all : s.residues) each.push_back(all.data());
    const std::vector<double> integers = weighted(each.data(), in.c.size());
    for (size_t at = 0; at < in.c.size(); ++at) {
      const size_t i = at / n, j = at % n;
      if (s.a.special[i] || s.b.special[j]) continue;
      double magnitudes = 0, weights = 0;
      for (size_t l = 0; l < k; ++l) magnitudes += std::fabs(s.a.of(i)[l] * s.b.of(j)[l]);
      for (size_t p = 0; p < moduli_.size(); ++p) weights = std::fma(constants_->whole[p], s.residues[p][at], weights);
      if (magnitudes > 0) reach(headroom, doubling_class(constants_->limit_log - std::log2(magnitudes), 7));
      const double multiple = weights * constants_->inverse, off = std::fabs(multiple - std::nearbyint(multiple));
      reach(quotient, off < 0.25 ? 0 : off < 0.375 ? 1 : off < 0.4375 ? 2 : off < 0.46875 ? 3 : off < 0.484375 ? 4 : 5);
      reach(cancelled, integers[at] == 0 ? 0 : doubling_class(std::log2(magnitudes / std::fabs(integers[at])), 7));
      const double number = std::ldexp(integers[at], -(s.by.a[i] + s.by.b[j]));
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
