// No other number of the destination lies nearer to the source than the result. A failure means that a conversion
// rounds the wrong way, rounds twice, or drops subnormals.
#include "oracles/properties/conversions.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class Nearest final : public JudgesTheSource {
 public:
  Nearest() : JudgesTheSource("nearest", "no other number of the destination is nearer to the source") {}
  bool applies(const Op& op, const Unit&) const override {
    return is_conversion(op) && is_nearest(op.rounding) && op.d.fields().subnormals != SubnormalRule::flushed;
  }

 protected:
  bool is_kept(const FormatFields& f, const Number& x, const Number& r, uint64_t code) const override {
    for (const int side : {-1, 1}) {
      uint64_t neighbour;
      if (!encode_rank(f, rank(f, code) + side, neighbour)) continue;
      // The source is not beyond the middle between the result and its neighbour.
      if (compare(to_exact(x), middle_of(r, decode(f, neighbour))) * side > 0) return false;
    }
    return true;
  }
};

}  // namespace

std::unique_ptr<Property> make_nearest() { return std::make_unique<Nearest>(); }

}  // namespace mmafuzz
