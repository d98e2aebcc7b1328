// Errors of the CUDA runtime as exceptions, copies, times on the device, and device memory that is reused.
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

/// Waits for the CUDA kernels that were launched, and throws std::runtime_error where one failed.
inline void finish_kernels() {
  check(cudaGetLastError(), "launch");
  check(cudaDeviceSynchronize(), "kernel");
}

template <class T>
void upload(T* device, const T* host, uint64_t count) {
  check(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice), "copy to the device");
}
template <class T>
void download(T* host, const T* device, uint64_t count) {
  check(cudaMemcpy(host, device, count * sizeof(T), cudaMemcpyDeviceToHost), "copy from the device");
}

/// A mark on the stream; seconds_since() waits for it.
class Mark {
 public:
  Mark() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  Mark(const Mark&) = delete;
  ~Mark() { cudaEventDestroy(event_); }
  void set() { check(cudaEventRecord(event_), "cudaEventRecord"); }
  double seconds_since(const Mark& earlier) const {
    float milliseconds = 0;
    check(cudaEventSynchronize(event_), "kernel");
    check(cudaEventElapsedTime(&milliseconds, earlier.event_, event_), "cudaEventElapsedTime");
    return milliseconds / 1e3;
  }

 private:
  cudaEvent_t event_;
};

/// Device memory that is kept until destruction. reserve() returns room for at least `count` objects; a larger request
/// than before frees the old memory with its content.
class DeviceBytes {
 public:
  ~DeviceBytes() { cudaFree(data_); }
  template <class T = uint8_t>
  T* reserve(size_t count) {
    const size_t bytes = count * sizeof(T);
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
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace mmafuzz
