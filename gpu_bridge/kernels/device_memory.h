// Errors of the CUDA runtime as exceptions, and device memory that is reused.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace mmafuzz {

/// The device has too little free memory; the CUDA context is still usable.
struct OutOfDeviceMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws std::runtime_error at any other code than cudaSuccess; `what` names the call.
inline void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess)
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorName(code) + ", " + cudaGetErrorString(code));
}

/// Device memory that is kept until destruction. reserve() returns at least `bytes` bytes; a larger request than before
/// frees the old memory with its content.
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
