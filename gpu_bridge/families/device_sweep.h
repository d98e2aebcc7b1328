// What a sweep of a device unit needs: the unit, the model that it is compared with, and the requests for the device.
// An epoch is the run of tiles of one request.
#pragma once

#include "gpu_bridge/device/device_child.h"
#include "gpu_bridge/sweep/sweep_run.h"

namespace mmafuzz {

struct SweepSubject {
  Op op;
  std::unique_ptr<Unit> unit, reference;  ///< reference nullptr: exact integer sums
  SweepRequest request;
  SweepRun::Engine engine;
  RunTiles run_tiles;                                ///< runs given tiles on the device, for diagnosis
  uint64_t first_epoch = 64, greatest_epoch = 4096;  ///< lengths in tiles; they depend on the instruction alone, so
                                                     ///< that findings depend on seed and number of dots alone
};

/// `unit` names a cuda: unit, with parameters if any; an empty `reference` means the model that the instruction claims.
/// `child` must be the one of the registry's device units. Refused where there is no such unit, device or reference.
Result<SweepSubject> device_sweep(const Registry& registry, const std::shared_ptr<DeviceChild>& child,
                                  const std::string& unit, const std::string& reference);

/// Sets the request's model: the reference's, or, without a reference, the formats and k of the op. Refused where the
/// reference has no row of parameters.
Result<bool> set_sweep_model(SweepSubject& subject);

}  // namespace mmafuzz
