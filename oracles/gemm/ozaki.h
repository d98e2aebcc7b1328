// The Ozaki scheme: a matrix product in wide floating point from products of narrow slices that a dot unit sums without
// error (Mukunoki, Ozaki, Ogita, Imamura: "DGEMM using tensor cores, and its accurate and reproducible versions",
// 2020). Any unit that evaluates dots of the slice format can be used: a model, a device, an integer unit.
// docs/ozaki.md derives widths, bound and specials. Slices, digits and tops: split.h. A slice product is the product of
// slice p of a and slice q of b; both count from 1, and greater ones weigh less.
#pragma once

#include <memory>

#include "oracles/gemm/gemm_case.h"
#include "oracles/gemm/shape.h"
#include "oracles/gemm/slice_dots.h"
#include "oracles/gemm/split.h"
#include "oracles/gemm/width.h"

namespace mmafuzz::gemm {

/// How slice products are added.
enum class Summation : uint8_t {
  fp64,   ///< in the host's fp64, in a fixed order
  exact,  ///< in a fixed-point accumulator, rounded once with alpha and beta: correctly rounded if all slices are used
};

/// Values of OzakiPlan::slices: all that the matrices need, or as many as estimate_slices() returns.
inline constexpr int all_slices = 0, estimated_slices = -1;

struct OzakiPlan {
  Format slice;             ///< the format of digits
  int slices = all_slices;  ///< the number for each of a and b
  /// Leave out pairs p + q > OzakiRecord::wanted_slices + 1 of slices p of a and q of b.
  bool fast = false;
  Summation sum = Summation::fp64;
  int width_a = 0, width_b = 0;  ///< bits of a digit; 0: the widest that the unit sums exactly
  int block = 0;    ///< products along k that one slice product sums; 0: all, if digits of one bit allow that many
  int unit_k = 64;  ///< products of one dot of the unit; a longer slice product is a chain of them through c
  int threads = 1;  ///< rows of a in parallel; the result does not depend on it
  // Flaws that implementations have had, planted for searches to find.
  int extra_width = 0;  ///< bits added to the derived widths
  int skip_slice = 0;   ///< this slice of a is left out
  SubnormalReading subnormals = SubnormalReading::kept;
  bool drop_specials = false;  ///< infinities and NaNs of a and b read as zeros
};

/// Whether results under a plan without flaws are the exact ones, rounded once.
inline bool rounds_correctly(const OzakiPlan& plan) {
  return plan.sum == Summation::exact && plan.slices == all_slices && !plan.fast;
}

/// How one product was computed.
struct OzakiRecord {
  SliceWidths widths;
  int slices_a = 0, slices_b = 0;
  int wanted_slices = 0;       ///< asked for or estimated; for all_slices the greater of a's and b's
  int bits = 0;                ///< exact_integer_bits of the unit
  int64_t slice_products = 0;  ///< the number of slice products, those of each block along k counted
};

class OzakiGemm {
 public:
  /// The dot of the plan's slices that the unit must be bound to.
  static Op dot_op(const OzakiPlan& plan, int k);

  /// `op` gives the formats, the rounding and the scalars, not the sizes. `dot` is bound to dot_op(plan, dot_k).
  OzakiGemm(const OzakiPlan& plan, const Op& op, std::unique_ptr<Unit> dot, int dot_k);

  const OzakiPlan& plan() const { return plan_; }
  const Op& op() const { return op_; }
  const Unit& dot_unit() const { return *dot_; }

  /// Widths for products of length k.
  SliceWidths widths(int64_t k) const;
  /// The widths, and the plan's other numbers of slices.
  Slicing slicing(int64_t k) const;

  /// d = alpha * a * b + beta * c on row-major encodings of the op's formats, of any shape; returns d. Throws
  /// std::runtime_error where the unit has no answer to a dot.
  std::vector<uint64_t> multiply(const Shape& shape, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                                 OzakiRecord* record = nullptr) const;

  struct Factors {
    std::vector<uint64_t> a, b;
  };
  /// One of several products of a shape: its operands, and, after multiply_all(), its result.
  struct Product : Factors {
    std::vector<uint64_t> c, d;
    bool answered = true;  ///< the unit had an answer to every dot
  };
  /// Multiplies many products, whose dots the unit runs together. Does not throw where the unit has no answer.
  void multiply_all(const Shape& shape, std::vector<Product>& products) const;

  /// The record of these matrices, and how rows and columns are cut.
  struct Description {
    OzakiRecord record;
    std::vector<int> top_a, top_b, needed_a, needed_b;  ///< by row of a and by column of b (SlicedRows)
    /// By element, if the slice products are added in fp64: the sum, over the additions, of the magnitudes of all
    /// digits' products that are added until then, in units of 2^(top of the row + top of the column); its relative
    /// error is at most 2^-20. Fast mode counts products of slices that it leaves out, too.
    std::vector<double> partial_sums;
  };
  enum class PartialSums : uint8_t { left_out, computed };
  /// Multiplies nothing.
  Description describe(const Shape& shape, const uint64_t* a, const uint64_t* b,
                       PartialSums sums = PartialSums::left_out) const;

  /// For each product the number of dots whose result differs from the sum of the digits' products in integers: 0 if
  /// the unit sums products of the plan's widths exactly. Of dots whose products are all zero, only one for each slice
  /// of a row is run.
  std::vector<int64_t> inexact_slice_products(const Shape& shape, const std::vector<Factors>& products) const;

 private:
  struct Slices {
    SlicedRows a, b;
    InnerCut cut;
    int wanted = 0;  ///< OzakiRecord::wanted_slices
  };
  /// What finish() needs of Slices.
  struct RowInfo {
    explicit RowInfo(const Slices& s)
        : top_a(s.a.top), top_b(s.b.top), special_a(s.a.special), special_b(s.b.special) {}
    std::vector<int> top_a, top_b;
    std::vector<uint8_t> special_a, special_b;
  };
  struct Accumulators;
  /// The matrices of one product, row-major.
  struct Matrices {
    const Shape& shape;
    const uint64_t *a, *b, *c;
  };
  /// What dots are run for: the product, or a comparison with sums in integers. For a comparison also one dot of zeros
  /// for each slice of a row is run, and the exact sum of each dot is computed.
  enum class Purpose : uint8_t { product, comparison };

  Slices slice(const Shape& shape, const uint64_t* a, const uint64_t* b, bool with_digits = true) const;
  /// Products along k that one slice product sums.
  int64_t block_of(int64_t k) const;
  /// The last slice of b that slice p of a is multiplied with; 0 if there is none.
  int last_partner(const Slices& s, int p) const;
  OzakiRecord record_of(const Slices& s) const;
  std::vector<double> partial_sums(const Slices& s) const;
  /// Calls add(i, p, block, j, q) for every dot (slice p of row i of a, slice q of column j of b) of rows first_row to
  /// last_row - 1 that has a nonzero product; for one element in the order in which results are summed.
  template <class Add>
  void each_dot(const Slices& s, const EncodedSlices& b, int first_row, int last_row, Purpose purpose,
                const Add& add) const;
  /// Puts the dots of each_dot() into the queue; elements are numbered from first_element on, row by row.
  void queue_dots(const Slices& s, int first_row, int last_row, Purpose purpose, DotQueue& queue,
                  size_t first_element = 0) const;
  void accumulate(std::span<const DotQueue::Dot> dots, const Outcomes& outcomes, Accumulators& sums) const;
  /// The result of an element, in row-major order, from the sum of its slice products: number sum_index of `sums`.
  uint64_t finish(const Matrices& in, const RowInfo& rows, size_t element, const Accumulators& sums,
                  size_t sum_index) const;

  OzakiPlan plan_;
  Op op_, dot_op_;
  std::unique_ptr<Unit> dot_;
  DigitCodes codes_;
  Scalars scalars_;
  int bits_;  ///< exact_integer_bits of the unit
};

/// The least d for which slice d of a and of b contributes no more than the expected rounding errors of a dot in the
/// result's precision: sqrt(k) * u (Higham and Mary 2019), measured on the vector of ones (Mukunoki et al.,
/// section 3.2, algorithm 3, whose formulas the available text lacks; docs/ozaki.md says how it is read here). Slice d
/// is among the d that are used, so that fast mode drops only what weighs less than slice d.
int estimate_slices(const RowSplitter& a, const RowSplitter& b, double unit_roundoff);

}  // namespace mmafuzz::gemm
