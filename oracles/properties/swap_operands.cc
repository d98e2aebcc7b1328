// Multiplication commutes: exchanging a and b changes nothing. A failure means that the unit treats its operands
// differently, or that an operand layout is wrong.
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
    exchange(inputs[0], inputs[1], of.index);
    if (of.op().has_scales()) exchange(inputs[3], inputs[4], of.index);
    return Changed{};
  }

 private:
  static void exchange(Column& x, Column& y, size_t index) {
    for (int i = 0; i < x.count(); ++i) {
      const uint64_t value = x.get(index, i);
      x.set(index, i, y.get(index, i));
      y.set(index, i, value);
    }
  }
};

}  // namespace

std::unique_ptr<Property> make_swap_operands() { return std::make_unique<SwapOperands>(); }

}  // namespace mmafuzz
