// Each element is the exact sum of its terms rounded once: what an Ozaki plan with all slices and an exact summation promises. A
// failure means that a slice product was rounded, or that slices, scaling or the accumulator lost a bit.
#include "oracles/properties/gemm_elements.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class CorrectlyRounded final : public Property {
 public:
  const char* name() const override { return "correctly_rounded"; }
  const char* statement() const override { return "each element of a matrix product is the exact sum of its terms, rounded once"; }
  bool applies(const Op& op, const Unit& unit) const override {
    const gemm::OzakiGemm* scheme = op.kind == OpKind::gemm ? ozaki_of(unit) : nullptr;
    return scheme && gemm::rounds_correctly(scheme->plan());
  }

 protected:
  /// The twin is the case itself.
  int transform(const Unit&, const Batch&, size_t, std::vector<Batch>&) const override { return 1; }
  bool holds(const Op&, int, uint64_t, uint64_t) const override { return true; }
  bool holds_at(const Unit&, const Batch& cases, size_t index, int element, int, uint64_t result, uint64_t) const override {
    const ElementOperands in(cases, index, element);
    return same_result(cases.op(), result, gemm::exact_element(gemm::ExactBy::mpfr, cases.op(), in.element()));
  }
};

}  // namespace

std::unique_ptr<Property> make_correctly_rounded() { return std::make_unique<CorrectlyRounded>(); }

}  // namespace mmafuzz
