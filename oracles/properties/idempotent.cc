// Converting a result once more changes nothing: in a source format that holds every number of the destination, a number of the
// destination converts to itself. A failure means that some encodings do not survive the way there and back.
#include "oracles/properties/conversions.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class Idempotent final : public Property {
 public:
  const char* name() const override { return "idempotent"; }
  const char* statement() const override { return "the result, as a source, converts to itself"; }
  bool applies(const Op& op, const Unit&) const override {
    return is_conversion(op) && holds_every_number(op.a.fields(), op.d.fields()) && op.d.fields().subnormals != SubnormalRule::flushed;
  }

 protected:
  int transform(const Unit&, const Batch&, size_t, std::vector<Batch>&) const override { return false; }
  int transform_result(const Unit&, const Batch& cases, size_t index, uint64_t result, std::vector<Batch>& twin) const override {
    const Number n = decode(cases.op().d.fields(), result);
    if (n.cls == NumberClass::nan || (n.cls == NumberClass::infinity && cases.op().saturate)) return false;
    twin[0].inputs()[0].set(index, 0, convert_number(cases.op().a.fields(), n, {}).encoding);
    return true;
  }
  bool holds(const Op& op, int, uint64_t before, uint64_t after) const override {
    return before == after || (op.d.fields().sign == SignField::ignored && same_number(op, before, after));
  }
};

}  // namespace

std::unique_ptr<Property> make_idempotent() { return std::make_unique<Idempotent>(); }

}  // namespace mmafuzz
