// One way to add a dot product, as a list of decisions that a reader can check: products exact or rounded, what is cut
// below the greatest exponent, when c joins, how many products at once, how each sum is rounded. The kernels of rows
// and the orders of IEEE steps are such ways; others lie between two of them.
#pragma once

#include <optional>
#include <vector>

#include "arithmetic/kernel_table.h"
#include "core/unit.h"

namespace mmafuzz {

struct WayToAdd {
  enum class Additions { once, in_pairs, in_order };
  using Joining = KernelTraits::Joining;
  /// What is cut below one greatest exponent.
  enum class Parts { whole, odd_and_even, groups, first_sums };
  /// What a cut makes of an addend: as `Cut` of a row, or less in magnitude.
  enum class Cuts { toward_zero, downwards, as_complement, to_odd };

  bool rounds_products = false;
  Additions additions = Additions::once;
  Parts parts = Parts::whole;
  int group = 1;  ///< products whose exact sum is one addend, of Parts::groups, or whose cut sum, of first_sums
  std::vector<int> order;  ///< of all products; those that the op lacks are +0
  int block = 0;           ///< products per step
  Joining c = Joining::with_products;
  int span = 0;                              ///< products before c joins last
  int together = 0;                          ///< products whose sums are added to each other before c joins; 0: none
  bool sums_from_zero = false;               ///< what c joins last starts from +0, not from its first product
  std::optional<int> kept;                   ///< bits kept below the greatest exponent; nothing: all
  std::optional<int> zero_reads;             ///< the exponent of a zero addend; nothing: it has none
  Cuts cuts = Cuts::toward_zero;             ///< of addends that are cut at once
  int guard_of_c = 0;                        ///< bits kept below c's own exponent beyond those below a product's
  bool drops_lost_c = false;                 ///< a negative c that is cut downwards, and leaves no bit, may be zero
  bool normalizes = false;                   ///< subnormal operands, as fp16, before their exponents count
  bool cuts_downwards = false;               ///< in the second stage; elsewhere toward zero
  bool cuts_sum = false;                     ///< of the second stage, once more below its own leading bit
  Subnormals subnormals = Subnormals::kept;  ///< operands, and results of a step
  FlushedNumbers flushed = FlushedNumbers::both;
  Tininess tininess = Tininess::after;
  bool reads_positive_zeros = false;   ///< of a, b and c
  bool zero_is_positive = false;       ///< an exactly zero sum is +0 whatever it sums
  bool underflow_is_positive = false;  ///< a nonzero sum that rounds to zero is +0
  bool via_fp32 = false;               ///< each sum is rounded to fp32 first, to nearest even
  Form form = Form::s_plus_c;          ///< what c and the sum before it make, or c and each product in order
  int output_bits = 0;                 ///< fraction bits of each rounded sum
  Rounding rounding = Rounding::nearest_even;
  Rounding last_rounding = Rounding::nearest_even;  ///< of the addition of a c that joins last
  Overflow overflow = Overflow::by_rounding;
};

/// How a unit adds the products of an op; nothing where it is not made of such decisions.
std::optional<WayToAdd> way_of(const Unit& unit, const DotModel* row, const Op& op);

/// Whether no operand is an infinity or a NaN.
bool is_finite_case(const Op& op, const DotOperands& in);

/// The result's encoding of one case without infinities and NaNs; nothing where the decisions do not go together: only
/// exact products that are added at once can be cut, only with c downwards, and a form has a sum before c or one
/// product.
std::optional<uint64_t> add_in_that_way(const WayToAdd& way, const Op& op, const DotOperands& in);

}  // namespace mmafuzz
