// The requests that a device answers: its description, tiles, CUDA-core instructions, conversions, calls of cuBLAS,
// timed products of large matrices, sweeps. The CUDA backend answers in a child process; tests use others.
#pragma once

#include <memory>
#include <string>

#include "core/result.h"
#include "gpu_bridge/device/bulk_request.h"
#include "gpu_bridge/dgemm/dgemm.h"
#include "gpu_bridge/tiles/launch.h"
#include "gpu_bridge/sweep/sweep.h"

namespace mmafuzz {

struct DeviceInfo {
  char name[64] = {};
  int32_t major = 0, minor = 0;     ///< compute capability
  int32_t driver = 0, runtime = 0;  ///< CUDA versions, 1000 * major + 10 * minor
  int32_t multiprocessors = 0;
};

/// Methods throw std::runtime_error when the device fails; it is then lost for this process. Pointers are the host's.
class DeviceBackend {
 public:
  virtual ~DeviceBackend() = default;
  virtual DeviceInfo info() = 0;
  /// Runs `count` tiles with the instruction of this index in instructions(); writes their d.
  virtual void run(int instruction, const Tiles& tiles, uint64_t count, const WgmmaModifiers& modifiers) = 0;
  /// Runs the instruction of this index in core_instructions() on `count` cases; `operands` has `arity` encodings of
  /// each, case after case.
  virtual void scalar(int instruction, int arity, const uint64_t* operands, uint64_t* results, uint64_t count) = 0;
  virtual void convert(const BulkRequest& request, const uint32_t* sources, uint32_t* results, uint8_t* flags,
                       uint64_t count) = 0;
  /// `count` calls of this shape by the row of cublas_rows() with this index; operands as in BlasOperands. Declined
  /// where cuBLAS is missing or does not take the call.
  virtual Result<bool> gemm(int row, const BlasGemm& call, uint64_t count, const uint8_t* first, const uint8_t* second,
                            uint8_t* result) = 0;
  /// Declined where cuBLAS or the device's memory does not take the request.
  virtual Result<DgemmAnswer> dgemm(const DgemmRequest& request) = 0;
  virtual SweepAnswer sweep(const SweepRequest& request, const std::vector<SweepDot>& parents) = 0;
};

/// The first GPU of this machine; declined, with the reason, where the build has no CUDA or no CUDA kernels for that
/// GPU, or where there is no GPU.
Result<std::unique_ptr<DeviceBackend>> open_device();

/// Why this build has no device at all; nullptr if it has.
const char* cuda_missing();

/// "NVIDIA H200, sm_90, driver 13.0, runtime 13.0": for provenance.
std::string to_text(const DeviceInfo& info);

}  // namespace mmafuzz
