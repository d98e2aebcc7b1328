#include "search/rank_sum.h"

#include <algorithm>
#include <cmath>

namespace mmafuzz {

void RankSumTest::add(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<std::pair<double, bool>> all;  // value, whether it is of x
  for (const double v : x) all.emplace_back(v, true);
  for (const double v : y) all.emplace_back(v, false);
  std::sort(all.begin(), all.end());
  const double n = double(x.size()), m = double(y.size()), total = n + m;
  double rank_sum = 0, ties = 0;
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin, from_x = 0;
    for (; end < all.size() && all[end].first == all[begin].first; ++end) from_x += all[end].second;
    const double count = double(end - begin);
    rank_sum += double(from_x) * (double(begin) + (count + 1) / 2);  // tied values share the middle rank
    ties += count * count * count - count;
    begin = end;
  }
  const double u = rank_sum - n * (n + 1) / 2;  // number of pairs with x > y, ties counted half
  const double weight = 1 / (total + 1);
  excess_ += weight * (u - n * m / 2);
  variance_ += weight * weight * n * m / 12 * (total + 1 - ties / (total * (total - 1)));
  smaller_ += n * m - u;
  pairs_ += n * m;
}

double RankSumTest::z() const { return variance_ > 1e-12 ? excess_ / std::sqrt(variance_) : 0; }

double RankSumTest::p_value() const { return std::erfc(std::fabs(z()) / std::sqrt(2.0)); }

}  // namespace mmafuzz
