// The units `ozaki:dgemm.<slice>` and `ozaki:sgemm.<slice>`: the Ozaki scheme bound to a gemm op, for code that needs
// more than a Unit's interface. <slice> is the format of the slices; a Slicing is how the scheme cuts the matrices into
// them: their number, and the bits of a digit (arithmetic/slicing.h).
#pragma once

#include "core/registry.h"
#include "oracles/gemm/ozaki.h"

namespace mmafuzz::gemm {

class OzakiUnit final : public Unit {
 public:
  /// `op_k`: products per element, the k of the gemm op.
  OzakiUnit(OzakiGemm engine, int op_k) : engine_(std::move(engine)), slicing_(engine_.slicing(op_k)) {}
  void run(const Batch& batch, Outcomes& outcomes) const override;
  const Slicing* slicing() const override { return &slicing_; }
  const OzakiGemm& engine() const { return engine_; }

 private:
  OzakiGemm engine_;
  Slicing slicing_;
};

/// A plan as a unit's name gives it: "slices=4,fast=1,on=<dot unit>"; `on` comes last and takes the rest.
struct NamedPlan {
  OzakiPlan plan;
  std::string dot_unit;
};

/// The plan of `ozaki:dgemm.<slice>`, `slice` being a format's name, with the parameters after `?`; a refusal says
/// which values are allowed.
Result<NamedPlan> parse_ozaki_plan(const std::string& slice, std::string_view parameters);

/// The scheme for matrices of the op's formats; its dot unit is bound for `k` products per element. The op's own sizes
/// do not matter.
Result<OzakiGemm> make_ozaki(const NamedPlan& plan, const Op& op, int64_t k, const Registry& registry);

/// The slice formats that have a default dot unit.
std::vector<std::string> ozaki_slices();

}  // namespace mmafuzz::gemm
