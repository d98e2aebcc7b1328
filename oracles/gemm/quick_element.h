// Elements of a matrix product in twice the host's precision, with a bound on the error of that: accepts nearly all
// correct results, so that MPFR decides only about those near a limit. A result that is not accepted here can be right.
#pragma once

#include "oracles/gemm/gemm_case.h"
#include "oracles/gemm/ozaki_bound.h"

namespace mmafuzz::gemm {

/// The elements of one case at a time; reusable.
class QuickElements {
 public:
  explicit QuickElements(const Op& op);

  void load(const GemmCase& matrices);

  /// Whether `result` surely lies within the bound of element (i, j), so that within_ozaki_bound returns true, too.
  bool surely_within(const OzakiGemm& engine, const OzakiRecord& record, const ElementCuts& cuts, int i, int j,
                     uint64_t result) const;
  /// Whether `result` surely is element (i, j) rounded once as the op says; false for zeros.
  bool surely_rounded(int i, int j, uint64_t result) const;

 private:
  /// A row of a or a column of b times a power of two, so that its greatest magnitude is in 1/2..1.
  struct Line {
    int top = 0;
    bool finite = true;
    bool vanishing = false;  ///< a nonzero number became zero as it was scaled
    double sum = 0;          ///< the sum of the magnitudes
    std::vector<double> value;
  };
  /// |result - exact value| in units of 2^(top of the row + top of the column).
  struct Distance {
    bool known = false;
    int scale = 0;                           ///< the unit is 2^-scale
    double upper_bound = 0;                  ///< infinite if the result is infinite or NaN
    double products = 0;                     ///< a lower bound on the sum of |a * b|
    double scaled_products = 0, addend = 0;  ///< lower bounds on |alpha| times that sum, and on |beta * c|
  };
  void load_line(const FormatFields& f, const uint64_t* numbers, size_t stride, Line& line) const;
  Distance distance(int i, int j, uint64_t result) const;

  const Op op_;
  bool usable_;
  double alpha_ = 1, beta_ = 1;
  std::vector<Line> rows_, columns_;
  std::vector<uint64_t> c_;
};

}  // namespace mmafuzz::gemm
