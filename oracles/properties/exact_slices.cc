// The dot unit sums every product of two slices (the narrow parts of the operands, docs/ozaki.md) as integer arithmetic
// does: the assumption on which the Ozaki scheme rests. A failure on a unit whose slice widths were derived means that
// the derivation or the row is wrong; on a device, that it accumulates otherwise than its model.
#include "oracles/properties/gemm_elements.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class ExactSlices final : public Property {
 public:
  ExactSlices() : Property("exact_slices", "the dot unit sums the products of two slices without error") {}
  bool applies(const Op& op, const Unit& unit) const override { return op.kind == OpKind::gemm && ozaki_of(unit); }
  bool costs_a_run() const override { return true; }

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
        if (inexact[i]) broken[first + i] = 0;
    }
    return broken;
  }
};

}  // namespace

std::unique_ptr<Property> make_exact_slices() { return std::make_unique<ExactSlices>(); }

}  // namespace mmafuzz
