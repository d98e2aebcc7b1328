// Multiplication commutes: exchanging a and b changes nothing. A failure means that the unit treats its operands
// differently, or that an operand layout is wrong.
#include <algorithm>

#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class SwapOperands final : public Property {
 public:
  SwapOperands() : Property("swap_operands", "exchanging a and b, and their scales, leaves the result unchanged") {}
  bool applies(const Op& op, const Unit&) const override {
    return op.kind == OpKind::dot && op.a == op.b && (!op.has_scales() || op.scale_a == op.scale_b);
  }

 protected:
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    std::vector<Column>& inputs = changed[0].inputs();
    const auto exchange = [&](Column& x, Column& y) {
      uint8_t* const values = x.data() + of.index * x.stride();
      std::swap_ranges(values, values + x.stride(), y.data() + of.index * y.stride());
    };
    exchange(inputs[0], inputs[1]);
    if (of.op().has_scales()) exchange(inputs[3], inputs[4]);
    return Changed{};
  }
};

}  // namespace

std::unique_ptr<Property> make_swap_operands() { return std::make_unique<SwapOperands>(); }

}  // namespace mmafuzz
