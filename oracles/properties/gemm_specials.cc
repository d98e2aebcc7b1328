// Infinities and NaNs among the terms of an element decide it as they decide the exact sum, and an element whose terms
// are all zeros has the sign of that sum (docs/ozaki.md). Slices hold neither: emulations that forget it give finite
// numbers for NaN.
#include "oracles/properties/gemm_elements.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class GemmSpecials final : public Property {
 public:
  const char* name() const override { return "gemm_specials"; }
  const char* statement() const override { return "infinities, NaNs and signs of zeros are those of the exact sum"; }
  bool applies(const Op& op, const Unit& unit) const override {
    return op.kind == OpKind::gemm && op.d.fields().specials == Specials::ieee;
  }

 protected:
  /// The twin is the case itself.
  std::optional<Twin> transform(const Subject&, std::vector<Batch>&) const override { return Twin{}; }
  bool holds(const Pair& pair) const override {
    const Op& op = pair.op();
    const ElementOperands in(pair.of.cases, pair.of.index, pair.element);
    bool any_special = is_special(op.c.fields(), in.c), any_number = !is_zero(op.c.fields(), in.c);
    for (const std::optional<uint64_t>& factor : {op.alpha, op.beta})
      any_special |= factor && is_special(op.d.fields(), *factor);
    for (size_t l = 0; l < in.row.size(); ++l) {
      any_special |= is_special(op.a.fields(), in.row[l]) || is_special(op.b.fields(), in.column[l]);
      any_number |= !is_zero(op.a.fields(), in.row[l]) && !is_zero(op.b.fields(), in.column[l]);
    }
    if (!any_special && any_number) return true;
    const uint64_t expected = gemm::exact_element(gemm::ExactBy::mpfr, op, in.element());
    // Special operands that a zero alpha or beta leaves out do not decide.
    return (any_special && !is_special(op.d.fields(), expected)) || same_result(op, pair.before, expected);
  }
};

}  // namespace

std::unique_ptr<Property> make_gemm_specials() { return std::make_unique<GemmSpecials>(); }

}  // namespace mmafuzz
