// Converting a result once more changes nothing: in a source format that holds every number of the destination, a
// number of the destination converts to itself. A failure means that some encodings do not survive the way there and
// back.
#include "oracles/properties/conversions.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class Idempotent final : public Property {
 public:
  Idempotent() : Property("idempotent", "the result, as a source, converts or rounds to itself") {}
  bool applies(const Op& op, const Unit&) const override {
    if (op.kind == OpKind::scalar) return op.scalar == ScalarOperation::round_to_integral;
    return is_conversion(op) && holds_every_number(op.a.fields(), op.d.fields()) &&
           op.d.fields().subnormals != SubnormalRule::flushed;
  }

 protected:
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    const Number n = decode(of.op().d.fields(), of.result);
    if (n.cls == NumberClass::nan || (n.cls == NumberClass::infinity && of.op().saturate)) return std::nullopt;
    const bool is_scalar = of.op().kind == OpKind::scalar;  // whose results have the operands' format
    changed[0].inputs()[0].set(of.index, 0, is_scalar ? of.result : convert_number(of.op().a.fields(), n, {}).encoding);
    return Changed{};
  }
  bool holds(const Pair& pair) const override {
    return pair.before == pair.after ||
           (pair.op().d.fields().sign == SignField::ignored && same_number(pair.op(), pair.before, pair.after));
  }
};

}  // namespace

std::unique_ptr<Property> make_idempotent() { return std::make_unique<Idempotent>(); }

}  // namespace mmafuzz
