// The dot unit sums every product of two slices (narrow parts of the matrices) without error: the Ozaki scheme rests on
// that. The scheme computes from the unit's row how wide slices may be (docs/ozaki.md). A failure means that the row or
// this computation is wrong; on a device, that it adds otherwise than its model; or that the user chose the widths.
#include "oracles/properties/gemm_elements.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class ExactSlices final : public Property {
 public:
  ExactSlices() : Property("exact_slices", "the dot unit sums the products of two slices without error") {}
  bool applies(const Op& op, const Unit& unit) const override { return op.kind == OpKind::gemm && ozaki_of(unit); }
  bool costs_a_run() const override { return true; }  // it computes the products of slices once more

 protected:
  bool judges_alone() const override { return true; }
  std::vector<int> broken_elements(const Unit& unit, const Batch& cases, const Outcomes&) const override {
    std::vector<int> broken(cases.size(), -1);
    gemm::GemmCase one(cases.op());
    constexpr size_t together = 256;
    for (size_t first = 0; first < cases.size(); first += together) {
      std::vector<gemm::OzakiGemm::Factors> factors;
      for (size_t i = first; i < std::min(first + together, cases.size()); ++i) {
        one.load(cases, i);
        factors.push_back({one.a, one.b});
      }
      const std::vector<int64_t> inexact = ozaki_of(unit)->inexact_slice_products(shape_of(cases.op()), factors);
      for (size_t i = 0; i < inexact.size(); ++i)
        if (inexact[i]) broken[first + i] = 0;  // element 0, though the wrong sum may belong to another one
    }
    return broken;
  }
};

}  // namespace

std::unique_ptr<Property> make_exact_slices() { return std::make_unique<ExactSlices>(); }

}  // namespace mmafuzz
