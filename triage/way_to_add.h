// One way to add a dot product, as a list of decisions that a reader can check: products exact or rounded, what is cut
// below the greatest exponent, when c is added ("joins"), how many products at once, how each sum is rounded. To cut is
// to drop the bits of an addend below a weight before it is added. The kernels of rows and the orders of IEEE steps are
// such ways; others lie between two of them.
#pragma once

#include <optional>
#include <vector>

#include "arithmetic/kernel_table.h"
#include "core/unit.h"

namespace mmafuzz {

struct WayToAdd {
  /// Which additions are rounded: only the sum of a step, each of a tree that halves the products, or each in order.
  enum class Additions { once, in_pairs, in_order };
  using Joining = KernelTraits::Joining;
  /// Which products are cut below one greatest exponent: all of a step, those with odd and with even index apart, exact
  /// sums of groups, or first those of a group and then the groups' sums.
  enum class CutParts { whole, odd_and_even, groups, first_sums };
  /// How an addend is cut: toward zero, as a `Cut` of a row, or toward zero with a sticky last bit (cut_to_odd).
  enum class Cuts { toward_zero, downwards, as_complement, to_odd };

  bool rounds_products = false;
  Additions additions = Additions::once;
  CutParts cut_parts = CutParts::whole;
  int group_size = 1;      ///< products per group, of CutParts::groups and first_sums
  std::vector<int> order;  ///< indices of all products as they are added; those from the op's k on are +0
  int block = 0;           ///< products per step
  Joining c_joins = Joining::with_products;
  int products_before_c = 0;         ///< products that are summed before c joins last
  int summed_together = 0;           ///< products whose sums are added to each other before c joins; 0: none
  bool sums_from_zero = false;       ///< a sum that c joins last starts from +0, not its first product
  std::optional<int> kept_bits;      ///< bits kept below the greatest exponent; nothing: all
  std::optional<int> zero_exponent;  ///< the exponent of a zero addend; nothing: it has none
  Cuts cuts = Cuts::toward_zero;     ///< of addends that are cut in one stage
  int guard_of_c = 0;                ///< bits kept below c's own exponent beyond those below a product's
  bool drops_lost_c = false;         ///< a negative c that is cut downwards, and keeps no bit, can become 0
  bool reads_as_fp16 = false;        ///< exponents of subnormal operands are those of fp16 when they are compared
  bool cuts_downwards = false;       ///< the second stage cuts toward minus infinity, not toward zero
  bool cuts_sum = false;             ///< cuts the second stage's sum again, below its leading bit
  Subnormals subnormals = Subnormals::kept;  ///< of operands and of results of a step
  FlushedNumbers flushed = FlushedNumbers::both;
  Tininess tininess = Tininess::after;
  bool reads_positive_zeros = false;   ///< operands that are -0 count as +0
  bool zero_is_positive = false;       ///< a sum that is exactly zero is +0
  bool underflow_is_positive = false;  ///< a nonzero sum that rounds to zero is +0
  bool via_fp32 = false;               ///< each sum is rounded to fp32 first, to nearest even
  Form form = Form::s_plus_c;          ///< of c and the sum s that it joins, or each product s in order
  int output_bits = 0;                 ///< fraction bits of each rounded sum
  Rounding rounding = Rounding::nearest_even;
  Rounding last_rounding = Rounding::nearest_even;  ///< of the addition of a c that joins last
  Overflow overflow = Overflow::by_rounding;
};

/// How a unit adds the products of an op; nothing where such decisions do not describe it. `row`: may be nullptr.
std::optional<WayToAdd> way_of(const Unit& unit, const DotModel* row, const Op& op);

/// Whether no operand is an infinity or a NaN.
bool is_finite_case(const Op& op, const DotOperands& in);

/// The encoding of the result on one case without infinities and NaNs; nothing where decisions contradict each other.
/// Bits are cut only of exact products that are added at once. Other cuts than toward zero, and guard bits of c, exist
/// only where c and products are cut in one stage. Other forms than s + c need c to join last or additions that are
/// rounded each. A sum of fewer bits than d is truncated only.
std::optional<uint64_t> add_in_that_way(const WayToAdd& way, const Op& op, const DotOperands& in);

}  // namespace mmafuzz
