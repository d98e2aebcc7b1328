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
  bool holds(const Pair& pair) const override {
    const FormatFields& f = pair.op().d.fields();
    const Number x = source_of(pair.subject.cases, pair.subject.index), r = decode(f, pair.before);
    if (!is_number(r.cls)) return false;
    const Exact exact = to_exact(x);
    for (const int side : {-1, 1}) {
      uint64_t neighbour;
      if (!encode_rank(f, rank(f, pair.before) + side, neighbour)) continue;
      // The source is not beyond the middle between the result and its neighbour.
      if (compare(exact, middle_of(r, decode(f, neighbour))) * side > 0) return false;
    }
    return true;
  }
};

}  // namespace

std::unique_ptr<Property> make_nearest() { return std::make_unique<Nearest>(); }

}  // namespace mmafuzz
