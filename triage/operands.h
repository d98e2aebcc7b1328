// One case as a flat list of operands, for code that changes operands and measures how simple the case is.
#pragma once

#include <compare>
#include <vector>

#include "core/batch.h"

namespace mmafuzz {

/// How simple a case is, compared member by member in the order of the normal form: less is simpler. Cases of equal
/// cost are compared by their encodings (is_simpler).
struct CaseCost {
  int addends = 0;      ///< nonzero addends: products and c of a dot; nonzero operands of other ops
  int significand = 0;  ///< number of significand bits that are 1, the implicit bit included
  int exponents = 0;    ///< sum of the absolute unbiased exponents of finite nonzero operands and scales
  int negatives = 0;    ///< operands whose sign bit is 1
  int positions = 0;    ///< sum of the indices, from 0, of the nonzero products, or elements of a block

  friend auto operator<=>(const CaseCost&, const CaseCost&) = default;
};

/// Indices of the operands of one addend: both factors of a product, or the only one.
struct AddendOperands {
  size_t indices[2];
  size_t count;
  const size_t* begin() const { return indices; }
  const size_t* end() const { return indices + count; }
  size_t size() const { return count; }
  size_t operator[](size_t i) const { return indices[i]; }
};

/// The encodings of one case in case-text order: of a dot a[k], b[k], c, then the scales of a and of b; of a block its
/// elements, then the scales. `at` is an index into this list, `addend` a number from 0 below addends().
class Operands {
 public:
  /// Case `index` of a batch of the op. The op must outlive this object.
  Operands(const Op& op, const Batch& batch, size_t index);

  const Op& op() const { return *op_; }
  size_t size() const { return value_.size(); }
  uint64_t operator[](size_t at) const { return value_[at]; }
  uint64_t& operator[](size_t at) { return value_[at]; }
  const Format& named_format(size_t at) const { return *format_[at]; }
  const FormatFields& format(size_t at) const { return format_[at]->fields(); }

  bool is_dot() const { return op_->kind == OpKind::dot; }
  /// Number of addends. Of a dot: the k products, then c as number k. Of a block its elements, of other ops the
  /// operands.
  int addends() const { return is_dot() ? op_->k + 1 : op_->is_of_blocks() ? op_->k : static_cast<int>(value_.size()); }
  AddendOperands operands_of(int addend) const;
  bool is_zero_addend(int addend) const;
  std::vector<int> nonzero_addends() const;
  /// Sets an operand to +0; of a format without zeros to 1.
  void clear(size_t at);

  CaseCost cost() const;
  /// Writes the encodings as case `index` of a batch.
  void store(Batch& batch, size_t index) const;
  /// A batch of this case alone.
  Batch as_batch() const;

  friend bool operator==(const Operands& x, const Operands& y) { return x.value_ == y.value_; }
  friend bool operator<(const Operands& x, const Operands& y) { return x.value_ < y.value_; }

 private:
  const Op* op_;
  std::vector<uint64_t> value_;
  std::vector<const Format*> format_;
};

/// Multiplies an operand by 2^exponent, exactly. False, and nothing changed, for integers, zeros, infinities and NaNs,
/// and where the format does not hold the product.
bool scale(Operands& operands, size_t at, int exponent);

/// The same of an addend: of a product by its first factor, or where that fails by the second.
bool scale_addend(Operands& operands, int addend, int exponent);
/// The case with all operands cleared.
Operands cleared(Operands operands);
void clear_addend(Operands& operands, int addend);

/// The name of an operand: of a dot "a3", "c", "scale 0 of a"; of a scalar operation "b"; of a conversion "the source";
/// of a block "element 3", "the scale", "the tensor's scale".
std::string operand_name(const Op& op, size_t at);
/// The name of an addend: of a dot "a3*b3", "c"; of others that of the operand.
std::string addend_name(const Op& op, int addend);

/// Whether the sign bit of an encoding is 1, also of a zero or NaN.
bool is_negative(const FormatFields& f, uint64_t encoding);

/// The operand with the other sign.
void flip_sign(Operands& operands, size_t at);

/// Whether a case, given with its cost, comes before another in the order of the normal form.
inline bool is_simpler(const Operands& x, const CaseCost& x_cost, const Operands& y, const CaseCost& y_cost) {
  return x_cost != y_cost ? x_cost < y_cost : x < y;
}

}  // namespace mmafuzz
