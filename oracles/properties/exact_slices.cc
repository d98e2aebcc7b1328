// Every product of two slices is what the integers say: the assumption on which the Ozaki scheme rests. A failure on a
// unit whose widths were derived means that the derivation or the row is wrong; on a device, that it accumulates
// otherwise than its model.
#include "oracles/properties/gemm_elements.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class ExactSlices final : public Property {
 public:
  const char* name() const override { return "exact_slices"; }
  const char* statement() const override { return "the dot unit sums the products of two slices without error"; }
  bool applies(const Op& op, const Unit& unit) const override { return op.kind == OpKind::gemm && ozaki_of(unit); }

 protected:
  /// Notes whether any is inexact. The twin is the case itself.
  std::optional<Twin> transform(const Subject& of, std::vector<Batch>&) const override {
    gemm::GemmCase one(of.op());
    one.load(of.cases, of.index);
    return Twin{ozaki_of(of.unit)->inexact_slice_products(shape_of(of.op()), one.a.data(), one.b.data()) != 0};
  }
  bool holds(const Pair& pair) const override { return pair.twin.note == 0; }
};

}  // namespace

std::unique_ptr<Property> make_exact_slices() { return std::make_unique<ExactSlices>(); }

}  // namespace mmafuzz
