// A dot that runs as two shorter ones, the first's d as the second's c, gives the same number where the cut falls
// between two steps of the unit. A failure means that the unit's steps are larger than, or interleaved unlike, what its
// row says, or that it keeps more between its steps than the format of d holds.
#include "oracles/properties/split_k.h"

#include <numeric>

#include "oracles/models/model_rows.h"
#include "oracles/properties/numbers.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

/// Products that a unit takes in one step, as far as its row says: 1 without a row. With scales a multiple of
/// scale_block.
int step_of(const Op& op, std::optional<DotModel> row) {
  if (row) row->zero_operands = ZeroOperands::kept;  // it changes signs of zeros alone, which holds() ignores
  const int step = row ? products_per_call(*row) : 1;
  return op.has_scales() ? std::lcm(step, op.scale_block) : step;
}

class SplitK final : public Property {
 public:
  SplitK()
      : Property("split_k",
                 "two shorter dots, d of the first as c of the second, give the same number, except the sign of zero") {
  }
  bool applies(const Op& op, const Unit& unit) const override {
    return op.kind == OpKind::dot && split_k_cut(op, row_of(unit)) > 0;
  }

 protected:
  std::vector<Op> changed_ops(const Op& op, const Unit& unit) const override {
    Op first = op, second = op;
    first.k = split_k_cut(op, row_of(unit));
    second.k = op.k - first.k;
    second.c = op.d;
    return {first, second};
  }
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    const int cut = changed[0].op().k;
    copy(of.cases.a(), changed[0].inputs()[0], changed[1].inputs()[0], of.index, cut);
    copy(of.cases.b(), changed[0].inputs()[1], changed[1].inputs()[1], of.index, cut);
    changed[0].inputs()[2].set(of.index, 0, of.cases.c().get(of.index));
    if (of.op().has_scales())
      for (size_t column : {size_t{3}, size_t{4}})
        copy(of.cases.inputs()[column], changed[0].inputs()[column], changed[1].inputs()[column], of.index,
             cut / of.op().scale_block);
    return Changed{};
  }
  bool holds(const Pair& pair) const override { return same_number(pair.op(), pair.before, pair.after); }

 private:
  static void copy(const Column& from, Column& first, Column& second, size_t index, int cut) {
    for (int i = 0; i < from.count(); ++i)
      (i < cut ? first : second).set(index, i < cut ? i : i - cut, from.get(index, i));
  }
};

}  // namespace

int split_k_cut(const Op& op, const std::optional<DotModel>& row) {
  const int step = step_of(op, row);
  return op.k / 2 / step * step;
}

std::unique_ptr<Property> make_split_k() { return std::make_unique<SplitK>(); }

}  // namespace mmafuzz
