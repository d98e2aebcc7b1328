// An element of an Ozaki product is no farther from the exact value than slices left out and roundings of the summation
// allow (docs/ozaki.md). A failure means that a slice or a pair of slices is missing or wrong, or that a slice product
// was rounded.
#include "oracles/gemm/ozaki_bound.h"
#include "oracles/properties/gemm_elements.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class GemmErrorBound final : public Property {
 public:
  const char* name() const override { return "gemm_error_bound"; }
  const char* statement() const override {
    return "each element lies within the scheme's proven error bound of the exact value";
  }
  bool applies(const Op& op, const Unit& unit) const override { return op.kind == OpKind::gemm && ozaki_of(unit); }

 protected:
  /// The twin is the case itself.
  std::optional<Twin> transform(const Subject&, std::vector<Batch>&) const override { return Twin{}; }
  bool holds(const Pair& pair) const override {
    const gemm::OzakiGemm& scheme = *ozaki_of(pair.of.unit);
    gemm::GemmCase one(pair.op());
    one.load(pair.of.cases, pair.of.index);
    const auto d = scheme.describe(shape_of(pair.op()), one.a.data(), one.b.data());
    const auto i = static_cast<size_t>(pair.element / pair.op().n), j = static_cast<size_t>(pair.element % pair.op().n);
    const ElementOperands operands(pair.of.cases, pair.of.index, pair.element);
    return gemm::within_ozaki_bound(scheme, d.record, {d.top_a[i], d.top_b[j], d.needed_a[i], d.needed_b[j]},
                                    operands.element(), pair.before);
  }
  Severity unclaimed() const override { return Severity::accuracy; }
};

}  // namespace

std::unique_ptr<Property> make_gemm_error_bound() { return std::make_unique<GemmErrorBound>(); }

}  // namespace mmafuzz
