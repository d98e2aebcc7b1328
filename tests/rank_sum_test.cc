// The rank-sum test against a textbook, and its variance with ties against all permutations.
#include "search/rank_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mmafuzz {
namespace {

// Hollander and Wolfe, Nonparametric Statistical Methods, 1973, page 69: permeability of the human chorioamnion at term
// (x) and at 12 to 26 weeks (y). U = 35 of 50; the large-sample approximation gives z = 1.22 and p = 0.110, one-sided.
const std::vector<double> at_term = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
const std::vector<double> early = {1.15, 0.88, 0.90, 0.74, 1.21};

TEST(RankSum, GivesTheFiguresOfHollanderAndWolfe) {
  RankSumTest test;
  test.add(at_term, early);
  EXPECT_NEAR(test.z(), 1.22, 0.005);
  EXPECT_NEAR(test.p_value() / 2, 0.110, 0.0005);
  EXPECT_DOUBLE_EQ(test.share_smaller(), 15.0 / 50.0);
}

TEST(RankSum, ExchangedSamplesExchangeTheSign) {
  RankSumTest one, other;
  one.add(at_term, early);
  other.add(early, at_term);
  EXPECT_DOUBLE_EQ(one.z(), -other.z());
  EXPECT_DOUBLE_EQ(one.p_value(), other.p_value());
}

/// z from the mean and the variance of the number of pairs x > y over all ways to split the pooled values.
double z_by_enumeration(const std::vector<double>& x, const std::vector<double>& y) {
  const auto pairs_greater = [](const std::vector<double>& a, const std::vector<double>& b) {
    double u = 0;
    for (const double v : a)
      for (const double w : b) u += v > w ? 1 : v == w ? 0.5 : 0;
    return u;
  };
  std::vector<double> pooled(x);
  pooled.insert(pooled.end(), y.begin(), y.end());
  double sum = 0, squares = 0, count = 0;
  for (unsigned subset = 0; subset < 1u << pooled.size(); ++subset) {
    std::vector<double> a, b;
    for (size_t i = 0; i < pooled.size(); ++i) (subset >> i & 1 ? a : b).push_back(pooled[i]);
    if (a.size() != x.size()) continue;
    const double u = pairs_greater(a, b);
    sum += u, squares += u * u, ++count;
  }
  const double mean = sum / count;
  return (pairs_greater(x, y) - mean) / std::sqrt(squares / count - mean * mean);
}

TEST(RankSum, TiesCountAsAllPermutationsSay) {
  const std::vector<double> x = {1, 2, 2, 3, 9, 9}, y = {2, 4, 9, 9, 9};  // 9: censored
  RankSumTest test;
  test.add(x, y);
  EXPECT_NEAR(test.z(), z_by_enumeration(x, y), 1e-12);
  EXPECT_LT(test.z(), 0);
}

TEST(RankSum, EqualSamplesShowNothing) {
  RankSumTest test;
  test.add({7, 7, 7}, {7, 7});
  EXPECT_EQ(test.z(), 0);
  EXPECT_EQ(test.p_value(), 1);
  EXPECT_EQ(test.share_smaller(), 0.5);
}

TEST(RankSum, StrataAreNotComparedWithEachOther) {
  // Pooled, x and y look alike; in each stratum x is the smaller one.
  RankSumTest test;
  for (double level : {0.0, 100.0, 200.0, 300.0})
    test.add({level + 1, level + 2, level + 3}, {level + 4, level + 5, level + 6});
  EXPECT_EQ(test.share_smaller(), 1);
  EXPECT_LT(test.p_value(), 0.001);
}

}  // namespace
}  // namespace mmafuzz
