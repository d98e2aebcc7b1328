// The order of products inside one fused block does not matter. A failure means that the unit adds one after the other,
// rounds inside the block, or splits the block elsewhere than its row says.
#include <algorithm>

#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class BlockPermutation final : public Property {
 public:
  BlockPermutation()
      : Property("block_permutation", "reversing the products of every fused block leaves the result unchanged") {}
  bool applies(const Op& op, const Unit& unit) const override {
    return op.kind == OpKind::dot && unit.model() != nullptr;
  }

 protected:
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    const DotModel& m = *of.unit.model();
    for (const size_t operand : {0, 1}) {
      Column& values = changed[0].inputs()[operand];
      for (int step = 0; step < values.count(); step += m.k) {
        const int step_end = std::min(step + m.k, values.count());
        for (int first = step; first < step_end; first += m.block)
          for (int i = first, j = std::min(first + m.block, step_end) - 1; i < j; ++i, --j)
            swap_elements(values, of.index, i, j);
      }
    }
    return Changed{};
  }
};

}  // namespace

std::unique_ptr<Property> make_block_permutation() { return std::make_unique<BlockPermutation>(); }

}  // namespace mmafuzz
