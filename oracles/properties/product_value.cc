// product_value: a product enters the sum by its value alone: 12 * 24 and 18 * 16 count the same. Units that align
// products before they normalize them do not keep it: 12 * 24 = 2.25 * 2^7 is aligned by 7, the sum of the exponents,
// and 18 * 16 = 1.125 * 2^8 by 8. They keep the weaker product_value_and_exponent: the value and the sum of the
// factors' exponents decide. A failure of the weaker property means that a product is rounded, or that a factor's
// significand or exponent matters by itself.
#include <bit>

#include "oracles/models/model_rows.h"
#include "oracles/properties/numbers.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

enum class ExponentSum { same, another };

class ProductValue final : public Property {
 public:
  explicit ProductValue(ExponentSum sum)
      : Property(sum == ExponentSum::same ? "product_value_and_exponent" : "product_value",
                 sum == ExponentSum::same
                     ? "other factors of the same products, with the same sum of exponents, leave the result unchanged"
                     : "other factors of the same products, with another sum of exponents, leave the result unchanged"),
        keeps_exponents_(sum == ExponentSum::same) {}
  bool applies(const Op& op, const Unit&) const override {
    return op.kind == OpKind::dot && !op.a.fields().integer && !op.b.fields().integer;
  }

 protected:
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    // Flushed subnormals have no value to keep; emulated FP8 normalizes them first (docs/semantics.md 4, 6).
    const std::optional<DotModel> m = row_of(of.unit);
    const bool takes_normal_only = of.op().flush_to_zero || (m && (flushes(*m) || traits_of(*m).widens_to_fp16()));
    bool any = false;
    for (int i = 0; i < of.op().k; ++i) any |= refactor(of.cases, of.index, i, takes_normal_only, changed[0]);
    return changed_if(any);
  }

 private:
  /// Writes other factors of product i; false where none of those tried fits the formats.
  bool refactor(const Batch& cases, size_t index, int i, bool takes_normal_only, Batch& changed) const {
    const FormatFields &a = cases.op().a.fields(), &b = cases.op().b.fields();
    const Number x = decode(a, cases.a().get(index, i)), y = decode(b, cases.b().get(index, i));
    if (x.cls != NumberClass::finite || y.cls != NumberClass::finite) return false;
    if (takes_normal_only && (x.subnormal || y.subnormal)) return false;
    const int x_zeros = std::countr_zero(x.significand), y_zeros = std::countr_zero(y.significand);
    const uint64_t x_odd = x.significand >> x_zeros, y_odd = y.significand >> y_zeros;
    const int exponent = x.exponent + x_zeros + y.exponent + y_zeros;  // product = x_odd * y_odd * 2^exponent

    const auto try_factors = [&](uint64_t p, uint64_t q) {
      if (bit_length(p) > a.precision() || bit_length(q) > b.precision()) return false;
      const int p_exponent = x.scale_exponent - (bit_length(p) - 1);  // p's leading bit gets x's exponent
      // If all factors are normal, the exponents of their leading bits decide the checks below in advance.
      const int q_leading = exponent - p_exponent + bit_length(q) - 1;
      const bool are_normal = !x.subnormal && q_leading >= b.emin();
      if (are_normal && (q_leading > b.emax() || (q_leading == y.scale_exponent) != keeps_exponents_)) return false;
      const Rounded r = round_exact(a, {NumberClass::finite, x.negative, p, p_exponent}, {});
      const Rounded s = round_exact(b, {NumberClass::finite, y.negative, q, exponent - p_exponent}, {});
      if (r.flags || s.flags) return false;
      const Number u = decode(a, r.encoding), v = decode(b, s.encoding);
      const bool same = u.scale_exponent + v.scale_exponent == x.scale_exponent + y.scale_exponent;
      if (same != keeps_exponents_ || (takes_normal_only && (u.subnormal || v.subnormal))) return false;
      changed.inputs()[0].set(index, i, r.encoding);
      changed.inputs()[1].set(index, i, s.encoding);
      return true;
    };
    for (const uint64_t factor : {3, 5, 7}) {
      if (x_odd % factor == 0 && try_factors(x_odd / factor, y_odd * factor)) return true;
      if (y_odd % factor == 0 && try_factors(x_odd * factor, y_odd / factor)) return true;
    }
    return x_odd != y_odd && try_factors(y_odd, x_odd);
  }

  bool keeps_exponents_;
};

}  // namespace

std::unique_ptr<Property> make_product_value() { return std::make_unique<ProductValue>(ExponentSum::another); }
std::unique_ptr<Property> make_product_value_and_exponent() {
  return std::make_unique<ProductValue>(ExponentSum::same);
}

}  // namespace mmafuzz
