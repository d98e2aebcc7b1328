// Each element is the exact sum of its terms rounded once: what an Ozaki plan with all slices and an exact summation
// promises. A failure means that a slice product was rounded, or that slices, scaling or the accumulator lost a bit.
#include "oracles/properties/gemm_elements.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class CorrectlyRounded final : public Property {
 public:
  const char* name() const override { return "correctly_rounded"; }
  const char* statement() const override {
    return "each element of a matrix product is the exact sum of its terms, rounded once";
  }
  bool applies(const Op& op, const Unit& unit) const override {
    const gemm::OzakiGemm* scheme = op.kind == OpKind::gemm ? ozaki_of(unit) : nullptr;
    return scheme && gemm::rounds_correctly(scheme->plan());
  }

 protected:
  /// The twin is the case itself.
  std::optional<Twin> transform(const Subject&, std::vector<Batch>&) const override { return Twin{}; }
  bool holds(const Pair& pair) const override {
    const ElementOperands in(pair.of.cases, pair.of.index, pair.element);
    return same_result(pair.op(), pair.before, gemm::exact_element(gemm::ExactBy::mpfr, pair.op(), in.element()));
  }
};

}  // namespace

std::unique_ptr<Property> make_correctly_rounded() { return std::make_unique<CorrectlyRounded>(); }

}  // namespace mmafuzz
