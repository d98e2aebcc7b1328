// The result is the source if that is a number of the destination, else one of the two numbers around it. This holds in
// every rounding mode, and is all that stochastic rounding promises of one case. A failure means a wrong exponent, a
// lost carry, or clamping inside the range.
#include "oracles/properties/conversions.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class Faithful final : public JudgesTheSource {
 public:
  Faithful() : JudgesTheSource("faithful", "the result is the source, or one of the two numbers around it") {}
  bool applies(const Op& op, const Unit&) const override {
    return is_conversion(op) && op.d.fields().subnormals != SubnormalRule::flushed;
  }

 protected:
  bool is_kept(const FormatFields& f, const Number& x, const Number& r, uint64_t code) const override {
    const int order = compare(to_exact(x), to_exact(r));
    uint64_t beyond;
    if (order == 0 || !encode_rank(f, rank(f, code) + order, beyond)) return order == 0;
    return compare(to_exact(x), to_exact(decode(f, beyond))) * order < 0;
  }
};

}  // namespace

std::unique_ptr<Property> make_faithful() { return std::make_unique<Faithful>(); }

}  // namespace mmafuzz
