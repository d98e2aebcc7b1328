#include "triage/operands.h"

#include <bit>
#include <cstdlib>

#include "arithmetic/corner_encodings.h"

namespace mmafuzz {

Operands::Operands(const Op& op, const Batch& batch, size_t index) : op_(&op) {
  const std::vector<FieldShape> fields = op_->inputs();
  for (size_t f = 0; f < fields.size(); ++f) {
    for (int i = 0; i < fields[f].count; ++i) {
      value_.push_back(batch.inputs()[f].get(index, i));
      format_.push_back(&op_->input_format(f));
    }
  }
}

AddendOperands Operands::operands_of(int addend) const {
  const size_t at = static_cast<size_t>(addend), k = static_cast<size_t>(op_->k);
  if (!is_dot()) return {{at, 0}, 1};
  return at < k ? AddendOperands{{at, k + at}, 2} : AddendOperands{{2 * k, 0}, 1};
}

bool Operands::is_zero_addend(int addend) const {
  bool has_zero = false;
  for (const size_t at : operands_of(addend)) {
    const FormatFields& f = format(at);
    if (is_special(f, value_[at])) return false;
    has_zero = has_zero || is_zero(f, value_[at]) ||
               (f.subnormals == SubnormalRule::flushed && decode(f, value_[at]).cls == NumberClass::zero);
  }
  return has_zero;
}

std::vector<int> Operands::nonzero_addends() const {
  std::vector<int> list;
  for (int i = 0; i < addends(); ++i)
    if (!is_zero_addend(i)) list.push_back(i);
  return list;
}

void Operands::clear(size_t at) {
  const FormatFields& f = format(at);
  value_[at] = f.subnormals == SubnormalRule::absent ? encode_near(f, false, 0, 0) : 0;
}

CaseCost Operands::cost() const {
  CaseCost cost;
  for (int i = 0; i < addends(); ++i) {
    if (is_zero_addend(i)) continue;
    ++cost.addends;
    if ((is_dot() || op_->is_of_blocks()) && i < op_->k) cost.positions += i;
  }
  for (size_t at = 0; at < value_.size(); ++at) {
    if (value_[at] == 0) continue;
    const FormatFields& f = format(at);
    const Number n = decode(f, value_[at]);
    const uint64_t fraction = value_[at] >> f.ignored_low_bits & f.fraction_mask();
    // The bits of an infinity or NaN are its payload and one more, so that a number is simpler; those of a zero are its
    // fraction, which is not 0 in a number that the format flushes.
    const uint64_t bits = n.cls == NumberClass::finite ? n.significand
                          : n.cls == NumberClass::zero ? fraction
                                                       : fraction << 1 | 1;
    cost.significand += std::popcount(bits) + std::popcount(value_[at] & low_mask(f.ignored_low_bits));
    if (n.cls == NumberClass::finite) cost.exponents += std::abs(leading_exponent(f, value_[at]));
    cost.negatives += is_negative(f, value_[at]);
  }
  return cost;
}

void Operands::store(Batch& batch, size_t index) const {
  size_t at = 0;
  for (Column& column : batch.inputs())
    for (int i = 0; i < column.count(); ++i) column.set(index, i, value_[at++]);
}

Batch Operands::as_batch() const {
  Batch batch(*op_, 1);
  store(batch, 0);
  return batch;
}

bool scale(Operands& c, size_t at, int exponent) {
  const FormatFields& f = c.format(at);
  const Number before = decode(f, c[at]);
  if (before.cls != NumberClass::finite || f.integer) return false;
  const int scaled_exponent = leading_exponent(f, c[at]) + exponent;
  if (scaled_exponent < f.emin() || scaled_exponent > f.emax()) return false;
  const uint64_t scaled = with_exponent(f, c[at], scaled_exponent);
  const Number after = decode(f, scaled);
  if (after.cls != NumberClass::finite) return false;
  const uint64_t x = before.significand, y = after.significand;  // equal bits: nothing was rounded
  if (x << (63 - bit_length(x)) != y << (63 - bit_length(y))) return false;
  c[at] = scaled;
  return true;
}

bool scale_addend(Operands& c, int addend, int exponent) {
  const AddendOperands operands = c.operands_of(addend);
  return scale(c, operands[0], exponent) || (operands.size() > 1 && scale(c, operands[1], exponent));
}

Operands cleared(Operands c) {
  for (size_t at = 0; at < c.size(); ++at) c.clear(at);
  return c;
}

void clear_addend(Operands& c, int addend) {
  for (const size_t at : c.operands_of(addend)) c.clear(at);
}

std::string operand_name(const Op& op, size_t at) {
  const size_t k = static_cast<size_t>(op.k);
  if (op.is_of_blocks()) {
    if (at < k) return "element " + std::to_string(at);
    return op.kind == OpKind::dequantize && at == k ? "the scale" : "the tensor's scale";
  }
  if (op.kind != OpKind::dot) return op.kind == OpKind::convert ? "the source" : std::string(1, "abc"[at]);
  const size_t scales = static_cast<size_t>(op.scales());
  if (at < 2 * k) return (at < k ? "a" : "b") + std::to_string(at % k);
  if (at == 2 * k) return "c";
  const size_t scale = at - 2 * k - 1;
  return "scale " + std::to_string(scale % scales) + (scale < scales ? " of a" : " of b");
}

std::string addend_name(const Op& op, int addend) {
  if (op.kind != OpKind::dot) return operand_name(op, static_cast<size_t>(addend));
  const std::string number = std::to_string(addend);
  return addend == op.k ? "c" : "a" + number + "*b" + number;
}

bool is_negative(const FormatFields& f, uint64_t encoding) { return (encoding & travelling_sign(f)) != 0; }

void flip_sign(Operands& c, size_t at) { c[at] ^= travelling_sign(c.format(at)); }

}  // namespace mmafuzz
