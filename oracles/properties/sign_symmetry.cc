// Negating every addend negates the result, but for the sign of zero and of NaN. A failure means that the unit rounds
// or aligns by direction (floor), not by magnitude: CDNA3 does.
#include <algorithm>

#include "oracles/properties/numbers.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class SignSymmetry final : public Property {
 public:
  SignSymmetry()
      : Property("sign_symmetry",
                 "negating a and c (other ops: source or operands) negates the result, except the sign of zero") {}
  bool applies(const Op& op, const Unit&) const override {
    if (op.rounding == Rounding::up || op.rounding == Rounding::down || op.rounding == Rounding::stochastic)
      return false;
    if (op.kind == OpKind::convert)
      return op.a.fields().has_sign() && !op.a.fields().integer && op.d.fields().has_nan() >= op.a.fields().has_nan() &&
             has_mirrored_results(op.d.fields());
    if (op.kind == OpKind::scalar)
      return op.a.fields().has_negative_zero() && has_mirrored_results(op.a.fields()) && !op.flush_to_zero &&
             !compares(op.scalar) && op.scalar != ScalarOperation::rem && op.scalar != ScalarOperation::sqrt;
    // A d without NaN gives a positive number in place of a NaN, whatever the signs.
    const auto any_nan = [](std::initializer_list<const Format*> formats) {
      return std::any_of(formats.begin(), formats.end(), [](const Format* f) { return f->fields().has_nan(); });
    };
    const bool scaled_nan = op.has_scales() && any_nan({&op.scale_a, &op.scale_b});
    const bool nan_stays = op.d.fields().has_nan() || !(scaled_nan || any_nan({&op.a, &op.b, &op.c}));
    return nan_stays && op.a.fields().has_sign() && op.c.fields().has_sign() && !op.a.fields().integer &&
           !op.c.fields().integer && has_mirrored_results(op.d.fields()) && op.kind == OpKind::dot;
  }

 protected:
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    const Op& op = of.op();
    if (op.kind == OpKind::scalar) {
      // add and sub: both addends. fma: one factor and the addend. Other operations: the first operand.
      const bool both = op.scalar == ScalarOperation::add || op.scalar == ScalarOperation::sub;
      const FormatFields& f = op.a.fields();
      // 0 / 0 is NaN or, in a format without NaN, the greatest number, whatever the zeros' signs.
      if (op.scalar == ScalarOperation::div && !f.has_nan() && is_zero(f, of.cases.inputs()[0].get(of.index, 0)) &&
          is_zero(f, of.cases.inputs()[0].get(of.index, 1)))
        return std::nullopt;
      const uint64_t sign = f.in_container(f.sign_bit());
      for (const int i : {0, both ? 1 : 0, op.scalar == ScalarOperation::fma ? 2 : 0})
        changed[0].inputs()[0].set(of.index, i, of.cases.inputs()[0].get(of.index, i) ^ sign);
      return Changed{};
    }
    negate(changed[0].inputs()[0], of.op().a.fields(), of.index);
    if (op.kind == OpKind::convert) return Changed{};
    negate(changed[0].inputs()[2], of.op().c.fields(), of.index);
    return Changed{};
  }
  bool holds(const Pair& pair) const override {
    const FormatFields& f = pair.op().d.fields();
    const Number x = decode(f, pair.before), y = decode(f, pair.after);
    if (x.cls == NumberClass::nan || y.cls == NumberClass::nan) return x.cls == y.cls;
    if (x.cls == NumberClass::zero || y.cls == NumberClass::zero) return x.cls == y.cls;
    return (pair.before ^ f.in_container(f.sign_bit())) == pair.after;
  }

 private:
  static void negate(Column& column, const FormatFields& f, size_t index) {
    for (int i = 0; i < column.count(); ++i) {
      const uint64_t x = column.get(index, i);
      const bool one_zero = f.minus_zero_is_nan() && (x & ~f.sign_bit()) == 0;  // flipping 0 would give NaN
      column.set(index, i, f.integer || one_zero ? x : x ^ f.in_container(f.sign_bit()));
    }
  }
};

}  // namespace

std::unique_ptr<Property> make_sign_symmetry() { return std::make_unique<SignSymmetry>(); }

}  // namespace mmafuzz
