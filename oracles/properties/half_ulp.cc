// A conversion to nearest errs by at most half a unit in the last place of the source or, below the least normal
// number, of that number: what gradual underflow guarantees. The literal reading of Tesla's denormals breaks it in the
// hole below its least normal number (docs/cfloat.md).
#include "oracles/properties/conversions.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class HalfUlp final : public JudgesTheSource {
 public:
  HalfUlp() : JudgesTheSource("half_ulp", "a conversion to nearest errs by at most half a unit in the last place") {}
  bool applies(const Op& op, const Unit&) const override {
    return is_conversion(op) && !op.d.fields().integer && is_nearest(op.rounding) &&
           op.d.fields().subnormals != SubnormalRule::flushed;
  }

 protected:
  bool is_kept(const FormatFields& f, const Number& x, const Number& r, uint64_t) const override {
    const int leading =
        x.cls == NumberClass::zero ? f.emin() : larger(x.exponent + bit_length(x.significand) - 1, f.emin());
    Number ulp = one_as_number();
    ulp.exponent = leading - f.fraction_bits;
    for (const bool negative : {false, true}) {  // x <= r + ulp / 2, x >= r - ulp / 2
      ulp.negative = negative;
      Number twice = r;
      twice.exponent += 1;
      if (compare(to_exact(x), middle_of(twice, ulp)) * (negative ? -1 : 1) > 0) return false;
    }
    return true;
  }
  Severity unclaimed() const override { return Severity::accuracy; }
};

}  // namespace

std::unique_ptr<Property> make_half_ulp() { return std::make_unique<HalfUlp>(); }

}  // namespace mmafuzz
