// Zero products add nothing: neither how many there are nor their other factor matters. In the changed case every zero
// product of the case becomes +0 * +0, and k more zero products follow, whose other factors are the greatest numbers
// and whose scales are those of the case. A failure means that a zero product's other factor enters the greatest
// exponent (MMA-Sim 2025's reading, `zero_rule=operand`), that a result changes when it passes a step of zeros, or that
// the number of products decides the order of additions.
#include "oracles/properties/numbers.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class ZeroPadding final : public Property {
 public:
  ZeroPadding()
      : Property(
            "zero_padding",
            "more zero products, or other factors beside zero factors, leave the number unchanged, except the sign of "
            "zero") {}
  bool applies(const Op& op, const Unit&) const override {
    const auto has_zero = [](const Format& f) { return f.fields().subnormals != SubnormalRule::absent; };
    return op.kind == OpKind::dot && has_zero(op.a) && has_zero(op.b) && has_zero(op.d) && 2 * op.k <= max_extent;
  }

 protected:
  std::vector<Op> changed_ops(const Op& op, const Unit&) const override {
    Op longer = op;
    longer.k = 2 * op.k;
    return {longer};
  }
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    const Op& op = of.op();
    // Under an infinite scale the zero products would be NaNs; under a NaN they are NaNs more, which a d without NaN
    // may show.
    for (size_t column = 3; column < of.cases.inputs().size(); ++column)
      for (int i = 0; i < of.cases.inputs()[column].count(); ++i)
        if (is_special(op.input_format(column).fields(), of.cases.inputs()[column].get(of.index, i)))
          return std::nullopt;
    Column& a = changed[0].inputs()[0];
    Column& b = changed[0].inputs()[1];
    changed[0].inputs()[2].set(of.index, 0, of.cases.c().get(of.index));
    for (int i = 0; i < op.k; ++i) {
      const uint64_t x = of.cases.a().get(of.index, i), y = of.cases.b().get(of.index, i);
      const NumberClass x_class = decode(op.a.fields(), x).cls, y_class = decode(op.b.fields(), y).cls;
      const bool is_zero = exact_product({x_class}, {y_class}).cls == NumberClass::zero;
      a.set(of.index, i, is_zero ? 0 : x);
      b.set(of.index, i, is_zero ? 0 : y);
      a.set(of.index, op.k + i, i % 2 ? op.a.fields().encode_greatest(false) : 0);
      b.set(of.index, op.k + i, i % 2 ? 0 : op.b.fields().encode_greatest(false));
    }
    for (size_t column = 3; column < of.cases.inputs().size(); ++column) {
      const Column& scales = of.cases.inputs()[column];
      Column& longer = changed[0].inputs()[column];
      for (int i = 0; i < longer.count(); ++i) longer.set(of.index, i, scales.get(of.index, i % scales.count()));
    }
    return Changed{};
  }
  bool holds(const Pair& pair) const override { return same_number(pair.op(), pair.before, pair.after); }
};

}  // namespace

std::unique_ptr<Property> make_zero_padding() { return std::make_unique<ZeroPadding>(); }

}  // namespace mmafuzz
