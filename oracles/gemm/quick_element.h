// Elements of a matrix product in twice the host's precision, with a bound on the error of that: it accepts nearly all
// results, so that MPFR is asked only about those near a limit. It never refuses one.
#pragma once

#include "oracles/gemm/gemm_case.h"
#include "oracles/gemm/ozaki_bound.h"

namespace mmafuzz::gemm {

/// The elements of one case at a time; reusable.
class QuickElements {
 public:
  explicit QuickElements(const Op& op);

  void load(const GemmCase& one);

  /// Whether `result` surely lies within the bound of element (i, j): then within_ozaki_bound would say so, too.
  bool surely_within(const OzakiGemm& engine, const OzakiRecord& record, const ElementCuts& cuts, int i, int j,
                     uint64_t result) const;
  /// Whether `result` surely is element (i, j) rounded once as the op says. Zeros are never sure.
  bool surely_rounded(int i, int j, uint64_t result) const;

 private:
  /// A row of a or a column of b times a power of two, so that its greatest magnitude is in 1/2..1.
  struct Line {
    int top = 0;
    bool finite = true;
    bool vanishing = false;  ///< a number of it is too small to be scaled
    double sum = 0;          ///< of magnitudes
    std::vector<double> value;
  };
  /// |result - exact value| in units of 2^(top of the row + top of the column).
  struct Distance {
    bool known = false;
    int scale = 0;                           ///< the unit is 2^-scale
    double most = 0;                         ///< what it is at most; infinite where the result is
    double products = 0;                     ///< the sum of |a * b| is at least this
    double scaled_products = 0, addend = 0;  ///< ... times |alpha|; |beta * c| is at least that
  };
  void load_line(const FormatFields& f, const uint64_t* from, size_t stride, Line& line) const;
  Distance distance(int i, int j, uint64_t result) const;

  const Op op_;
  bool usable_;
  double alpha_ = 1, beta_ = 1;
  std::vector<Line> rows_, columns_;
  std::vector<uint64_t> c_;
};

}  // namespace mmafuzz::gemm
