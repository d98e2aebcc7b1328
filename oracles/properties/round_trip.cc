// A number converted to a format that holds it, and back, is the number. A failure means that the widening conversion
// or the way back loses something: subnormals, the sign of zero.
#include "oracles/properties/conversions.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class RoundTrip final : public Property {
 public:
  RoundTrip() : Property("round_trip", "converted to a wider format and back, a number is itself") {}
  bool applies(const Op& op, const Unit&) const override {
    return is_conversion(op) && holds_every_number(op.d.fields(), op.a.fields()) &&
           op.a.fields().subnormals != SubnormalRule::flushed && op.a.fields().sign != SignField::ignored &&
           !op.a.fields().ignored_low_bits && op.rounding != Rounding::stochastic;
  }

 protected:
  std::vector<Op> changed_ops(const Op& op, const Unit&) const override {
    Op back = op;
    std::swap(back.a, back.d);
    return {back};
  }
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    const Number n = decode(of.op().a.fields(), of.cases.inputs()[0].get(of.index));
    changed[0].inputs()[0].set(of.index, 0, of.result);
    return changed_if(is_number(n.cls));
  }
  bool holds(const Pair& pair) const override {
    return pair.after == pair.subject.cases.inputs()[0].get(pair.subject.index);
  }
};

}  // namespace

std::unique_ptr<Property> make_round_trip() { return std::make_unique<RoundTrip>(); }

}  // namespace mmafuzz
