// The Ozaki scheme: a matrix product in wide floating point from products of narrow slices that a dot unit sums without
// error (Mukunoki, Ozaki, Ogita, Imamura: "DGEMM using tensor cores, and its accurate and reproducible versions",
// 2020). Any unit that evaluates dots of the slice format does: a model, a device, an integer unit. docs/ozaki.md
// derives widths, bound and specials.
#pragma once

#include <memory>

#include "oracles/gemm/gemm_case.h"
#include "oracles/gemm/shape.h"
#include "oracles/gemm/slice_dots.h"
#include "oracles/gemm/split.h"
#include "oracles/gemm/width.h"

namespace mmafuzz::gemm {

enum class Summation : uint8_t {
  fp64,   ///< of slice products in the host's fp64, in a fixed order
  exact,  ///< in a fixed-point accumulator, rounded once with alpha and beta: correctly rounded if all slices are there
};

/// Slices as the plan asks for them: all that are needed, or as many as fp64-equivalent accuracy is estimated to need.
inline constexpr int all_slices = 0, estimated_slices = -1;

struct OzakiPlan {
  Format slice;             ///< of the digits
  int slices = all_slices;  ///< of a and of b
  bool fast =
      false;  ///< leave out pairs p + q > d + 1 of slices p of a and q of b, d being the greater number of slices
  Summation sum = Summation::fp64;
  int width_a = 0, width_b = 0;  ///< bits of a digit; 0: the widest that the unit sums exactly
  int block = 0;    ///< products along k that one slice product sums; 0: all, if digits of one bit allow that many
  int unit_k = 64;  ///< products of one dot of the unit; a longer slice product is a chain of them through c
  int threads = 1;  ///< rows of a in parallel; the result does not depend on it
  // Flaws that implementations have had: what a search must find.
  int extra_width = 0;  ///< bits added to the derived widths
  int skip_slice = 0;   ///< this slice of a is left out
  SubnormalReading subnormals = SubnormalReading::kept;
  bool drop_specials = false;  ///< infinities and NaNs of a and b read as zeros
};

/// Whether a plan means to give the exact product rounded once.
inline bool rounds_correctly(const OzakiPlan& plan) {
  return plan.sum == Summation::exact && plan.slices == all_slices && !plan.fast;
}

/// What one product came to.
struct OzakiRecord {
  SliceWidths widths;
  int slices_a = 0, slices_b = 0;
  int d = 0;                   ///< of fast mode
  int bits = 0;                ///< exact_integer_bits of the unit
  int64_t slice_products = 0;  ///< pairs of slices, of every block along k
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
  /// The same with what else the plan says of slices.
  Slicing slicing(int64_t k) const;

  /// d = alpha * a * b + beta * c on row-major encodings of the op's formats, of any shape. Throws std::runtime_error
  /// where the unit has no answer to a dot.
  std::vector<uint64_t> multiply(const Shape& shape, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                                 OzakiRecord* record = nullptr) const;

  struct Factors {
    std::vector<uint64_t> a, b;
  };
  /// One of several products of a shape: its operands, and its result once they are multiplied.
  struct Product : Factors {
    std::vector<uint64_t> c, d;
    bool answered = true;  ///< by the unit
  };
  /// The same for many products: their slice products go to the unit together.
  void multiply_all(const Shape& shape, std::vector<Product>& products) const;

  /// The widths, slices and number of slice products of these matrices, and how rows and columns are cut.
  struct Description {
    OzakiRecord record;
    std::vector<int> top_a, top_b, needed_a, needed_b;  ///< by row of a and by column of b
    /// By element, where the slice products are added in fp64: the sum, over the additions, of the magnitudes of all
    /// that is added until then, in units of 2^(top of the row + top of the column); up to 2^-20 of it too great or too
    /// small.
    std::vector<double> partial_sums;
  };
  Description describe(const Shape& shape, const uint64_t* a, const uint64_t* b, bool with_partial_sums = false) const;

  /// Of each product the number of dots of slices that differ from the sum of their digits' products in integers: 0 if
  /// the unit sums products of the plan's widths exactly. Dots whose products are all zero are not run, but for one of
  /// each slice of a row.
  std::vector<int64_t> inexact_slice_products(const Shape& shape, const std::vector<Factors>& products) const;

 private:
  struct Slices {
    SlicedRows a, b;
    InnerCut cut;
    int d = 0;  ///< the greater number of slices
  };
  /// What is needed of slices once their dots are run.
  struct RowInfo {
    explicit RowInfo(const Slices& s)
        : top_a(s.a.top), top_b(s.b.top), special_a(s.a.special), special_b(s.b.special) {}
    std::vector<int> top_a, top_b;
    std::vector<uint8_t> special_a, special_b;
  };
  struct Accumulators;

  Slices slice(const Shape& shape, const uint64_t* a, const uint64_t* b, bool with_digits = true) const;
  /// Products along k that one slice product sums.
  int64_t block_of(int64_t k) const;
  /// The last slice of b that slice p of a is multiplied with; 0 if there is none.
  int last_partner(const Slices& s, int p) const;
  OzakiRecord record_of(const Slices& s) const;
  std::vector<double> partial_sums(const Slices& s) const;
  /// add(i, p, block, j, q) for every dot of some rows that has a product of two digits that are not zero; of one
  /// element in the order in which the results are summed. `one_unmet`: also one dot of zeros for each slice of a row.
  template <class Add>
  void each_dot(const Slices& s, const EncodedSlices& b, int first_row, int last_row, bool one_unmet,
                const Add& add) const;
  /// Puts these dots into the queue; elements are numbered from first_element on, row by row.
  void queue_dots(const Slices& s, int first_row, int last_row, size_t first_element, bool with_integers,
                  DotQueue& queue) const;
  void accumulate(std::span<const DotQueue::Dot> dots, const Outcomes& outcomes, Accumulators& sums) const;
  uint64_t finish(const Shape& shape, const RowInfo& rows, const Accumulators& sums, size_t at, const uint64_t* a,
                  const uint64_t* b, const uint64_t* c, int i, int j) const;
  uint64_t round_fp64(double value) const;

  OzakiPlan plan_;
  Op op_, dot_op_;
  std::unique_ptr<Unit> dot_;
  DigitCodes codes_;
  Scalars scalars_;
  int bits_;  ///< exact_integer_bits of the unit
};

/// The least d for which slice d of a and of b contributes no more than the rounding errors of a dot in the result's
/// precision may be expected to: sqrt(k) * u (Higham and Mary 2019), measured on the vector of ones (Mukunoki et al.,
/// section 3.2, algorithm 3, whose formulas our source lost; docs/ozaki.md says how we read it). Slice d is among the d
/// that are used, so that fast mode drops only what weighs less than it.
int estimate_slices(const RowSplitter& a, const RowSplitter& b, double unit_roundoff);

}  // namespace mmafuzz::gemm
