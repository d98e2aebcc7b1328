// What every caller of the CUDA runtime needs: failures thrown, memory kept.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace mmafuzz {

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
      check(cudaMalloc(&data_, bytes), "cudaMalloc");
      size_ = bytes;
    }
    return static_cast<uint8_t*>(data_);
  }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace mmafuzz
