// Negating every addend negates the result, but for the sign of zero and of NaN. A failure means that the unit rounds or
// aligns by direction (floor), not by magnitude: CDNA3 does.
#include "arithmetic/decode.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class SignSymmetry final : public Property {
 public:
  const char* name() const override { return "sign_symmetry"; }
  const char* statement() const override { return "negating a and c negates the result, except the sign of zero"; }
  bool applies(const Op& op, const Unit&) const override {
    // Where d has no NaN, one that comes up becomes a positive number.
    const bool nan_stays = op.d.fields().has_nan() || !(op.a.fields().has_nan() || op.b.fields().has_nan() || op.c.fields().has_nan());
    return op.kind == OpKind::dot && nan_stays && op.a.fields().has_sign() && op.c.fields().has_sign() && op.d.fields().has_sign() &&
           (op.rounding == Rounding::nearest_even || op.rounding == Rounding::toward_zero || op.rounding == Rounding::nearest_away);
  }

 protected:
  int transform(const Unit&, const Batch& cases, size_t index, std::vector<Batch>& twin) const override {
    negate(twin[0].inputs()[0], cases.op().a.fields(), index);
    negate(twin[0].inputs()[2], cases.op().c.fields(), index);
    return true;
  }
  bool holds(const Op& op, int, uint64_t before, uint64_t after) const override {
    const FormatFields& f = op.d.fields();
    const Number x = decode(f, before), y = decode(f, after);
    if (x.cls == NumberClass::nan || y.cls == NumberClass::nan) return x.cls == y.cls;
    if (x.cls == NumberClass::zero || y.cls == NumberClass::zero) return x.cls == y.cls;
    return (before ^ f.in_container(f.sign_bit())) == after;
  }

 private:
  static void negate(Column& column, const FormatFields& f, size_t index) {
    for (int i = 0; i < column.count(); ++i) {
      const uint64_t x = column.get(index, i);
      const bool fnuz_zero = f.specials == Specials::fnuz && (x & ~f.sign_bit()) == 0;  // flipping 0 would give NaN
      column.set(index, i, f.integer || fnuz_zero ? x : x ^ f.in_container(f.sign_bit()));
    }
  }
};

}  // namespace

std::unique_ptr<Property> make_sign_symmetry() { return std::make_unique<SignSymmetry>(); }

}  // namespace mmafuzz
