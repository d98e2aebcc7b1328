// A row as a unit, without the registry. It claims nothing.
#pragma once

#include "arithmetic/dot_model.h"
#include "core/dot_grid.h"
#include "core/unit.h"
#include "oracles/models/aligned_sum_simd.h"
#include "oracles/models/host_float_simd.h"

namespace mmafuzz {

/// Bound to a dot op of the row's formats: in vector code where there is some, else by the scalar kernel, with the same
/// bits.
class ModelUnit final : public Unit, public GridUnit {
 public:
  ModelUnit(const DotModel& model, const Op& op) : model_(model), k_(op.k), aligned_(model), host_(model) {}

  void run(const Batch& batch, Outcomes& outcomes) const override;
  bool run_grid(const DotGrid& grid) const override { return aligned_.run_grid(k_, grid); }
  const DotModel* model() const override { return &model_; }
  /// Whether there is vector code for the row.
  bool has_vector_code() const { return aligned_.supported() || host_.supported(); }

 private:
  DotModel model_;
  int k_;
  AlignedSumSimd aligned_;
  HostFloatSimd host_;
};

}  // namespace mmafuzz
