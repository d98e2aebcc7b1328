// The result of any rounding mode is not below that of round=down, nor above that of round=up. If a unit claims this
// and fails, a directed mode has the wrong direction, or another mode gives a result that is not one of the two
// neighbours.
#include "oracles/properties/conversions.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class Bracketed final : public Property {
 public:
  Bracketed(const char* name, const char* statement, Rounding bound) : Property(name, statement), bound_(bound) {}
  bool applies(const Op& op, const Unit&) const override {
    if (op.flush_to_zero || op.rounding == bound_ || !keeps_order_beyond_range(op) ||
        op.d.fields().has(policy::negative_absolute | policy::clamp_positive))
      return false;
    return is_conversion(op) ||
           (op.kind == OpKind::scalar && !compares(op.scalar) && op.scalar != ScalarOperation::rem);
  }

 protected:
  std::vector<Op> changed_ops(const Op& op, const Unit&) const override {
    Op other = op;
    other.rounding = bound_;
    return {other};
  }
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    for (int i = 0; i < of.cases.inputs()[0].count(); ++i)
      changed[0].inputs()[0].set(of.index, i, of.cases.inputs()[0].get(of.index, i));
    return Changed{};
  }
  bool holds(const Pair& pair) const override {
    return bound_ == Rounding::down ? does_not_fall(pair.op(), pair.after, pair.before)
                                    : does_not_fall(pair.op(), pair.before, pair.after);
  }

 private:
  Rounding bound_;
};

}  // namespace

std::unique_ptr<Property> make_not_below_down() {
  return std::make_unique<Bracketed>("not_below_down", "the result is not below that of round=down", Rounding::down);
}
std::unique_ptr<Property> make_not_above_up() {
  return std::make_unique<Bracketed>("not_above_up", "the result is not above that of round=up", Rounding::up);
}

}  // namespace mmafuzz
