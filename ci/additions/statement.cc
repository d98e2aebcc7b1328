// A property that a stranger adds: the result does not depend on the sign of zero addends.
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class ZeroAddend final : public Property {
 public:
  ZeroAddend() : Property("zero_addend", "the other zero as c gives the same number") {}
  bool applies(const Op& op, const Unit&) const override {
    return op.kind == OpKind::dot && op.c.fields().has_negative_zero() && !op.c.fields().integer;
  }

 protected:
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    const FormatFields& c = of.op().c.fields();
    const uint64_t before = of.cases.c().get(of.index), sign = c.in_container(c.sign_bit());
    if ((before & ~sign) != 0) return std::nullopt;
    changed[0].inputs()[2].set(of.index, 0, before ^ sign);
    return Changed{};
  }
  bool holds(const Pair& pair) const override {
    const uint64_t sign = pair.op().d.fields().sign_bit();
    return (pair.before & ~sign) == (pair.after & ~sign) || same_result(pair.op(), pair.before, pair.after);
  }
};

}  // namespace

std::unique_ptr<Property> make_zero_addend() { return std::make_unique<ZeroAddend>(); }

}  // namespace mmafuzz
