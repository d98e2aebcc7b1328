// What a sweep of a device unit compares: the unit, the model that it claims or another, and the epochs that the device
// runs.
#pragma once

#include "gpu_bridge/device/device_child.h"
#include "gpu_bridge/sweep/sweep_run.h"

namespace mmafuzz {

struct SweepSubject {
  Op op;
  std::unique_ptr<Unit> unit, reference;  ///< no reference: sums of integers
  SweepRequest request;
  SweepRun::Engine engine;
  RunTiles run_tiles;                                ///< for diagnosis
  uint64_t first_epoch = 64, greatest_epoch = 4096;  ///< tiles; fixed, so that findings depend on seed and cases alone
};

/// `unit` is a cuda: unit with what may stand after its `?`; without a `reference`, the model that the instruction
/// claims is meant. The child is the one that the registry's device units use.
Result<SweepSubject> device_sweep(const Registry& registry, const std::shared_ptr<DeviceChild>& child,
                                  const std::string& unit, const std::string& reference);

/// Model and formats of the request, from the subject's reference or its op; refused where the reference has no row of
/// parameters.
Result<bool> set_sweep_model(SweepSubject& subject);

}  // namespace mmafuzz
