#include "oracles/models/model_unit.h"

#include "arithmetic/evaluate_dot.h"
#include "core/dot_case.h"
#include "core/dot_grid.h"
#include "oracles/models/aligned_sum_simd.h"
#include "oracles/models/host_float_simd.h"

namespace mmafuzz {
namespace {

class ModelUnit final : public Unit, public GridUnit {
 public:
  ModelUnit(const DotModel& model, const Op& op) : model_(model), k_(op.k), aligned_(model), host_(model) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    if (aligned_.run(batch, outcomes.results)) return;
    if (host_.run(batch, outcomes.results)) return;
    DotCase one(batch.op());
    for (size_t i = 0; i < batch.size(); ++i) outcomes.results.set(i, 0, evaluate_dot(model_, one.load(batch, i)));
  }

  bool run_grid(const DotGrid& grid) const override { return aligned_.run_grid(k_, grid); }

  const DotModel* model() const override { return &model_; }

 private:
  DotModel model_;
  int k_;
  AlignedSumSimd aligned_;
  HostFloatSimd host_;
};

}  // namespace

bool runs_in_vectors(const DotModel& model) {
  return AlignedSumSimd(model).supported() || HostFloatSimd(model).supported();
}

std::unique_ptr<Unit> make_model_unit(const DotModel& model, const Op& op) {
  return std::make_unique<ModelUnit>(model, op);
}

}  // namespace mmafuzz
