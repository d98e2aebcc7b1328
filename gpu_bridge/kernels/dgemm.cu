// Products of random fp64 matrices: CUDA kernels that draw, split and sum around calls of cuBLAS. Threads do not
// cooperate.
#include "gpu_bridge/kernels/dgemm.h"

#include <algorithm>
#include <bit>

#include "gpu_bridge/dgemm/drawn_matrix.h"

namespace mmafuzz {
namespace {

constexpr unsigned block = 256;

__global__ void draw_matrix(uint64_t seed, uint32_t spread, uint32_t elements, uint64_t* to) {
  const uint32_t e = blockIdx.x * block + threadIdx.x;
  if (e < elements) to[e] = drawn_element(seed, e, spread);
}

/// Finds the top of each vector, one block of threads for each. `tops` must start as bytes of 0x80, which is
/// top_of_zero.
__global__ void find_tops(const uint64_t* matrix, int length, int32_t* tops) {
  const uint64_t* vector = matrix + uint64_t(blockIdx.x) * uint64_t(length);
  int32_t top = top_of_zero;
  for (int l = int(threadIdx.x); l < length; l += int(block)) top = larger(top, top_of(vector[l]));
  atomicMax(&tops[blockIdx.x], top);
}

template <class Digit>
__global__ void split_matrix(const uint64_t* matrix, uint32_t elements, uint32_t length, const int32_t* tops, int width,
                             int count, Digit* to) {
  const uint32_t e = (blockIdx.x * block + threadIdx.x) * elements_at_once;
  if (e < elements) split_elements(matrix + e, tops[e / length], width, count, to + e, elements);
}

template <class Value>
__global__ void add_products(SliceProducts which, const Value* products, uint32_t elements, uint32_t n,
                             const int32_t* tops_a, const int32_t* tops_b, double* sums) {
  const uint32_t e = blockIdx.x * block + threadIdx.x;
  if (e >= elements) return;
  sums[e] = add_slice_products(which, which.first ? 0 : sums[e], products + e, elements, which.last ? tops_a[e % n] : 0,
                               which.last ? tops_b[e / n] : 0);
}

unsigned blocks_for(uint64_t threads) { return unsigned((threads + block - 1) / block); }

/// Thrown where cuBLAS does not take a call; the device stays usable.
struct NotTaken {
  Refusal why;
};

/// Both matrices, the result and the scheme's buffers in device memory: the Machine of multiply_in_slices.
template <class Digit, class Value>
class DeviceMachine {
 public:
  DeviceMachine(const DgemmRequest& request, Cublas& cublas)
      : request_(request), cublas_(cublas), elements_(uint32_t(request.n) * uint32_t(request.n)) {
    const uint64_t count = uint64_t(request.slices.count);
    d_ = memory_[0].reserve<double>(elements_);
    products_ = memory_[1].reserve<Value>(elements_ * count);
    for (int i = 0; i < 2; ++i) {
      Side& side = sides_[i];
      side.matrix = side.memory[0].template reserve<uint64_t>(elements_);
      side.digits = side.memory[1].template reserve<Digit>(elements_ * count);
      side.tops = side.memory[2].template reserve<int32_t>(uint64_t(request.n));
      draw_matrix<<<blocks_for(elements_), block>>>(i == 0 ? seed_of_a(request) : seed_of_b(request), request.spread,
                                                    elements_, side.matrix);
      check(cudaGetLastError(), "launch");
    }
    check(cudaMemset(d_, 0xee, elements_ * sizeof(double)),
          "cudaMemset");  // an unwritten result is not a plausible one
  }

  /// Computes the whole product once, asynchronously.
  void run() {
    if (request_.slices.count == 0) blas(1, sides_[0].matrix, sides_[1].matrix, d_);
    else multiply_in_slices(request_.slices, *this);
  }

  void split() {
    for (Side& side : sides_) {
      const int width = &side == sides_ ? request_.slices.widths.a : request_.slices.widths.b;
      check(cudaMemsetAsync(side.tops, 0x80, uint64_t(request_.n) * sizeof(int32_t)), "cudaMemset");
      find_tops<<<unsigned(request_.n), block>>>(side.matrix, request_.n, side.tops);
      split_matrix<<<blocks_for(elements_ / elements_at_once), block>>>(
          side.matrix, elements_, uint32_t(request_.n), side.tops, width, request_.slices.count, side.digits);
    }
    pass(&DgemmTimes::split);
  }
  void multiply(int p, int partners) {
    blas(partners, sides_[0].digits + uint64_t(p - 1) * elements_, sides_[1].digits, products_);
    pass(&DgemmTimes::products);
  }
  void add(const SliceProducts& which) {
    add_products<<<blocks_for(elements_), block>>>(which, products_, elements_, uint32_t(request_.n), sides_[0].tops,
                                                   sides_[1].tops, d_);
    pass(&DgemmTimes::sums);
  }

  /// Runs once more and adds the seconds of each part to `times`.
  void profile(DgemmTimes& times) {
    Mark start;
    start.set();
    last_ = &start;
    times_ = &times;
    run();
    last_ = nullptr;
    times_ = nullptr;
  }

  uint64_t element(Cell cell) const {
    double value = 0;
    download(&value, d_ + uint64_t(cell.column) * uint64_t(request_.n) + uint64_t(cell.row), 1);
    return std::bit_cast<uint64_t>(value);
  }

 private:
  struct Side {
    DeviceBytes memory[3];
    uint64_t* matrix;
    Digit* digits;
    int32_t* tops;
  };

  void blas(int partners, const void* first, const void* second, void* result) {
    const Result<bool> taken = cublas_.on_device(request_.row, call_for(request_, partners), first, second, result);
    if (!taken) throw NotTaken{taken.refusal()};
  }
  /// Ends a part: checks its launches, and during profile() adds the seconds since the last part to `part`.
  void pass(double DgemmTimes::*part) {
    check(cudaGetLastError(), "launch");
    if (!times_) return;
    Mark now;
    now.set();
    times_->*part += now.seconds_since(*last_);
    last_->set();
  }

  const DgemmRequest& request_;
  Cublas& cublas_;
  uint32_t elements_;
  DeviceBytes memory_[2];
  Side sides_[2];
  double* d_;
  Value* products_;
  Mark* last_ = nullptr;
  DgemmTimes* times_ = nullptr;
};

template <class Digit, class Value>
DgemmAnswer time_products(const DgemmRequest& request, Cublas& cublas) {
  DeviceMachine<Digit, Value> machine(request, cublas);
  DgemmAnswer answer;
  machine.run();  // loads kernels, makes cuBLAS choose and allocate
  check(cudaDeviceSynchronize(), "kernel");
  Mark start, stop;
  std::vector<double> seconds;
  double total = 0;
  do {
    start.set();
    machine.run();
    stop.set();
    seconds.push_back(stop.seconds_since(start));
    total += seconds.back();
  } while (total < request.seconds && seconds.size() < 1000);
  std::sort(seconds.begin(), seconds.end());
  answer.times.runs = int32_t(seconds.size());
  answer.times.least = seconds.front();
  answer.times.median = seconds[seconds.size() / 2];
  if (request.slices.count) machine.profile(answer.times);
  for (int i = 0; i < request.samples; ++i) answer.sampled.push_back(machine.element(sampled_cell(request, i)));
  return answer;
}

}  // namespace

Result<DgemmAnswer> dgemm_on_device(const DgemmRequest& request, Cublas& cublas) {
  if (const std::string wrong = wrong_with(request); !wrong.empty()) return declined(wrong);
  size_t available = 0, all = 0;
  check(cudaMemGetInfo(&available, &all), "cudaMemGetInfo");
  if (memory_of(request) > available)
    return declined("takes " + std::to_string(memory_of(request) >> 20) + " MiB of device memory; " +
                    std::to_string(available >> 20) + " MiB are free");
  try {
    const bool integers = cublas_rows()[size_t(request.row)].operand.fields().integer;
    return integers ? time_products<S8Digit, int32_t>(request, cublas)
                    : time_products<Fp16Digit, float>(request, cublas);
  } catch (const NotTaken& refused) {
    check(cudaDeviceSynchronize(), "cublasGemmEx");
    return refused.why;
  } catch (const OutOfDeviceMemory& lack) {  // cuBLAS's handles and workspaces are counted nowhere
    check(cudaDeviceSynchronize(), "kernel");
    return declined(std::string("takes more device memory than is free: ") + lack.what());
  }
}

}  // namespace mmafuzz
