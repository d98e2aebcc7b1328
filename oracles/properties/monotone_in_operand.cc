// A greater source, radicand or addend does not give a smaller result. Every rounding is a function that does not fall;
// a failure means that a conversion or operation reverses the order of neighbouring values.
#include "oracles/properties/conversions.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class MonotoneInOperand final : public Property {
 public:
  MonotoneInOperand()
      : Property("monotone_in_operand",
                 "raising the source, the radicand or an addend to the next number does not lower the result") {}
  bool applies(const Op& op, const Unit&) const override {
    if (op.flush_to_zero || op.rounding == Rounding::stochastic || !has_rising_results(op.d.fields()) ||
        !keeps_order_beyond_range(op))
      return false;
    if (op.kind == OpKind::convert) return is_conversion(op);
    return op.kind == OpKind::scalar && (op.scalar == ScalarOperation::add || op.scalar == ScalarOperation::sub ||
                                         op.scalar == ScalarOperation::sqrt || op.scalar == ScalarOperation::fma ||
                                         op.scalar == ScalarOperation::round_to_integral);
  }

 protected:
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    const Op& op = of.op();
    const FormatFields& f = op.a.fields();
    const int operand = op.kind == OpKind::scalar && op.scalar == ScalarOperation::fma ? 2 : 0;
    const uint64_t x = of.cases.inputs()[0].get(of.index, operand);
    const Number n = decode(f, x);
    // The root of a negative number is NaN or, in a format without NaN, the greatest number.
    if (op.kind == OpKind::scalar && op.scalar == ScalarOperation::sqrt && n.negative && !f.has_nan())
      return std::nullopt;
    uint64_t next;
    if (!is_number(n.cls) || f.ignored_low_bits || !encode_rank(f, rank(f, x) + 1, next)) return std::nullopt;
    changed[0].inputs()[0].set(of.index, operand, next);
    return Changed{};
  }
  bool holds(const Pair& pair) const override { return does_not_fall(pair.op(), pair.before, pair.after); }
};

}  // namespace

std::unique_ptr<Property> make_monotone_in_operand() { return std::make_unique<MonotoneInOperand>(); }

}  // namespace mmafuzz
