// What every caller of the CUDA runtime needs: failures thrown, memory kept.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace mmafuzz {

/// The device has not that much free memory; nothing else is wrong.
struct OutOfDeviceMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess)
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorName(code) + ", " + cudaGetErrorString(code));
}

/// Memory of the device that grows and is kept.
class DeviceBytes {
 public:
  ~DeviceBytes() { cudaFree(data_); }
  uint8_t* reserve(size_t bytes) {
    if (bytes > size_) {
      check(cudaFree(data_), "cudaFree");
      data_ = nullptr;
      size_ = 0;
      const cudaError_t code = cudaMalloc(&data_, bytes);
      if (code == cudaErrorMemoryAllocation) {
        cudaGetLastError();  // or the next launch would seem to have failed
        throw OutOfDeviceMemory("cudaMalloc of " + std::to_string(bytes >> 20) + " MiB: " + cudaGetErrorName(code));
      }
      check(code, "cudaMalloc");
      size_ = bytes;
    }
    return static_cast<uint8_t*>(data_);
  }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace mmafuzz
