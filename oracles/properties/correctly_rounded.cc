// Each element is the exact sum of its terms rounded once: what an Ozaki plan with all slices and an exact summation
// promises. A failure means that a slice product was rounded, or that slices, scaling or the accumulator lost a bit.
#include "oracles/gemm/quick_element.h"
#include "oracles/properties/gemm_elements.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class CorrectlyRounded final : public Property {
 public:
  CorrectlyRounded()
      : Property("correctly_rounded", "each element of a matrix product is the exact sum of its terms, rounded once") {}
  bool applies(const Op& op, const Unit& unit) const override {
    const gemm::OzakiGemm* scheme = op.kind == OpKind::gemm ? ozaki_of(unit) : nullptr;
    return scheme && gemm::rounds_correctly(scheme->plan());
  }

 protected:
  bool judges_alone() const override { return true; }
  std::vector<int> broken_elements(const Unit&, const Batch& cases, const Outcomes& base) const override {
    const Op& op = cases.op();
    gemm::QuickElements quick(op);
    return first_broken(cases, base, [&](const gemm::GemmCase& one, int element, uint64_t result) {
      if (element == 0) quick.load(one);
      return quick.surely_rounded(element / op.n, element % op.n, result) ||
             same_result(op, result, exact_by_mpfr(op, one, element));
    });
  }
};

}  // namespace

std::unique_ptr<Property> make_correctly_rounded() { return std::make_unique<CorrectlyRounded>(); }

}  // namespace mmafuzz
