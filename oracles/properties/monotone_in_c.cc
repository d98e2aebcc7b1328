// Raising c does not lower the result. Truncating units fail it by design: c = 1 - 2^-24 with four products 2^-24 gives
// more than c = 1 does on Volta (Fasi et al. 2021). A failure of a unit that claims it is a bug.
#include "arithmetic/decode.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

/// Encodings as integers that are ordered like the numbers; both zeros are 0.
int64_t order(const FormatFields& f, uint64_t encoding) {
  const uint64_t code = encoding >> f.ignored_low_bits;
  const int64_t magnitude = static_cast<int64_t>(code & ~f.sign_bit() & low_mask(f.exponent_bits + f.fraction_bits));
  return code & f.sign_bit() ? -magnitude : magnitude;
}

class MonotoneInC final : public Property {
 public:
  const char* name() const override { return "monotone_in_c"; }
  const char* statement() const override { return "raising c to the next number does not lower the result"; }
  bool applies(const Op& op, const Unit&) const override { return op.kind == OpKind::dot && op.c.fields().has_negative_zero(); }

 protected:
  bool transform(const Unit&, Batch& batch, size_t index) const override {
    const FormatFields& f = batch.op().c.fields();
    Column& c = batch.inputs()[2];
    const Number n = decode(f, c.get(index));
    if (n.cls == NumberClass::nan || n.cls == NumberClass::infinity) return false;
    const int64_t next = order(f, c.get(index)) + 1;
    const uint64_t code = next >= 0 ? static_cast<uint64_t>(next) : static_cast<uint64_t>(-next) | f.sign_bit();
    if (decode(f, f.in_container(code)).cls == NumberClass::nan) return false;
    c.set(index, 0, f.in_container(code));
    return true;
  }
  bool holds(const Op& op, uint64_t before, uint64_t after) const override {
    const FormatFields& f = op.d.fields();
    if (decode(f, before).cls == NumberClass::nan || decode(f, after).cls == NumberClass::nan) return true;
    return order(f, after) >= order(f, before);
  }
};

}  // namespace

std::unique_ptr<Property> make_monotone_in_c() { return std::make_unique<MonotoneInC>(); }

}  // namespace mmafuzz
