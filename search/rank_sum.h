// Compares two searches by their times: the two-sided rank-sum test of Wilcoxon, Mann and Whitney in its normal
// approximation, with ties and strata. It asks whether the values of one sample are smaller than those of the other.
#pragma once

#include <vector>

namespace mmafuzz {

/// Collects strata (one mutant each); values of different strata are never compared.
class RankSumTest {
 public:
  /// Adds a stratum; both samples are nonempty. Censored values are entered as equal and greater than all others.
  void add(const std::vector<double>& x, const std::vector<double>& y);

  /// Standard normal under the hypothesis that x and y have one distribution; negative where x is smaller. With one
  /// stratum it is Mann and Whitney's test without continuity correction; several have van Elteren's weights 1 / (n + m
  /// + 1). 0 if all values are equal.
  double z() const;

  /// Two-sided, of z().
  double p_value() const;

  /// Share of pairs with x < y, ties counted half (Vargha and Delaney's A), over all strata; 0.5: no difference.
  double share_smaller() const { return pairs_ > 0 ? smaller_ / pairs_ : 0.5; }

 private:
  double excess_ = 0, variance_ = 0, smaller_ = 0, pairs_ = 0;
};

}  // namespace mmafuzz
