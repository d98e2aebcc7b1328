// A number converted to a format that holds it, and back, is the number. A failure means that the widening conversion or the way back
// loses something: subnormals, the sign of zero.
#include "oracles/properties/conversions.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class RoundTrip final : public Property {
 public:
  const char* name() const override { return "round_trip"; }
  const char* statement() const override { return "converted to a wider format and back, a number is itself"; }
  bool applies(const Op& op, const Unit&) const override {
    return is_conversion(op) && holds_every_number(op.d.fields(), op.a.fields()) && op.a.fields().subnormals != SubnormalRule::flushed &&
           op.a.fields().sign != SignField::ignored && !op.a.fields().ignored_low_bits && op.rounding != Rounding::stochastic;
  }

 protected:
  std::vector<Op> twin_ops(const Op& op, const Unit&) const override {
    Op back = op;
    std::swap(back.a, back.d);
    return {back};
  }
  int transform(const Unit&, const Batch&, size_t, std::vector<Batch>&) const override { return false; }
  int transform_result(const Unit&, const Batch& cases, size_t index, uint64_t result, std::vector<Batch>& twin) const override {
    const Number n = decode(cases.op().a.fields(), cases.inputs()[0].get(index));
    twin[0].inputs()[0].set(index, 0, result);
    return n.cls == NumberClass::finite || n.cls == NumberClass::zero;
  }
  bool holds(const Op&, int, uint64_t, uint64_t) const override { return true; }
  bool holds_on(const Unit&, const Batch& cases, size_t index, int, uint64_t, uint64_t after) const override {
    return after == cases.inputs()[0].get(index);
  }
};

}  // namespace

std::unique_ptr<Property> make_round_trip() { return std::make_unique<RoundTrip>(); }

}  // namespace mmafuzz
