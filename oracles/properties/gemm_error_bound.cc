// An element of an Ozaki product is no farther from the exact value than slices left out and roundings of the summation allow
// (docs/ozaki.md). A failure means that a slice or a pair of slices is missing or wrong, or that a slice product was rounded.
#include "oracles/gemm/ozaki_bound.h"
#include "oracles/properties/gemm_elements.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class GemmErrorBound final : public Property {
 public:
  const char* name() const override { return "gemm_error_bound"; }
  const char* statement() const override { return "each element lies within the scheme's proven error bound of the exact value"; }
  bool applies(const Op& op, const Unit& unit) const override { return op.kind == OpKind::gemm && ozaki_of(unit); }

 protected:
  /// The twin is the case itself.
  int transform(const Unit&, const Batch&, size_t, std::vector<Batch>&) const override { return 1; }
  bool holds(const Op&, int, uint64_t, uint64_t) const override { return true; }
  bool holds_at(const Unit& unit, const Batch& cases, size_t index, int element, int, uint64_t result, uint64_t) const override {
    const gemm::OzakiGemm& scheme = *ozaki_of(unit);
    gemm::GemmCase one(cases.op());
    one.load(cases, index);
    const auto d = scheme.describe(shape_of(cases.op()), one.a.data(), one.b.data());
    const auto i = static_cast<size_t>(element / cases.op().n), j = static_cast<size_t>(element % cases.op().n);
    const ElementOperands operands(cases, index, element);
    return gemm::within_ozaki_bound(scheme, d.record, {d.top_a[i], d.top_b[j], d.needed_a[i], d.needed_b[j]}, operands.element(), result);
  }
  Severity unclaimed() const override { return Severity::accuracy; }
};

}  // namespace

std::unique_ptr<Property> make_gemm_error_bound() { return std::make_unique<GemmErrorBound>(); }

}  // namespace mmafuzz
