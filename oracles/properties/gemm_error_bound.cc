// An element of an Ozaki product is no farther from the exact value than slices left out, or bits cut off, and
// roundings of the summation allow (docs/ozaki.md). A failure means that a slice, a pair of slices or a residue is
// missing or wrong, or that a narrow product was rounded.
#include "oracles/gemm/cublas_emulation.h"
#include "oracles/gemm/ozaki_bound.h"
#include "oracles/gemm/quick_element.h"
#include "oracles/gemm/residues.h"
#include "oracles/properties/gemm_elements.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class GemmErrorBound final : public Property {
 public:
  GemmErrorBound()
      : Property("gemm_error_bound", "each element lies within the scheme's error bound of the exact value") {}
  bool applies(const Op& op, const Unit& unit) const override {
    return op.kind == OpKind::gemm && (ozaki_of(unit) || gemm::residues_of(unit) || gemm::cublas_emulation_of(unit));
  }

 protected:
  bool judges_alone() const override { return true; }
  std::vector<int> broken_elements(const Unit& unit, const Batch& cases, const Outcomes& base) const override {
    const Op& op = cases.op();
    if (const gemm::ResidueGemm* residues = gemm::residues_of(unit)) {
      gemm::ResidueGemm::Scales scales;
      return first_broken(cases, base, [&](const gemm::GemmCase& one, int element, uint64_t result) {
        if (element == 0) scales = residues->scales(one.a, one.b);
        return residues->within_bound(one.a, one.b, one.c[size_t(element)], scales, element / op.n, element % op.n,
                                      result);
      });
    }
    if (const gemm::CublasEmulation* cublas = gemm::cublas_emulation_of(unit)) {
      std::optional<gemm::CublasEmulation::Cut> cut;
      return first_broken(cases, base, [&](const gemm::GemmCase& one, int element, uint64_t result) {
        if (element == 0) cut = cublas->cut(one.a, one.b);
        return !cut || cublas->within_bound(one, *cut, element / op.n, element % op.n, result);
      });
    }
    const gemm::OzakiGemm& scheme = *ozaki_of(unit);
    gemm::QuickElements quick(op);
    gemm::OzakiGemm::Description d;
    return first_broken(cases, base, [&](const gemm::GemmCase& one, int element, uint64_t result) {
      if (element == 0) {
        d = scheme.describe(shape_of(op), one.a.data(), one.b.data(), gemm::OzakiGemm::PartialSums::computed);
        quick.load(one);
      }
      const gemm::ElementCuts cuts = gemm::element_cuts(d, size_t(element), size_t(op.n));
      return quick.surely_within(scheme, d.record, cuts, element / op.n, element % op.n, result) ||
             gemm::within_ozaki_bound(scheme, d.record, cuts, gemm::element_of(op, one, size_t(element)), result);
    });
  }
  Severity unclaimed() const override { return Severity::accuracy; }
};

}  // namespace

std::unique_ptr<Property> make_gemm_error_bound() { return std::make_unique<GemmErrorBound>(); }

}  // namespace mmafuzz
