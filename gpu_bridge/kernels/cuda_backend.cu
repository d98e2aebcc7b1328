// The backend of a device child: the CUDA runtime, the launch tables, memory. It throws at any failure, after which the
// child ends, because a CUDA context does not survive a failed launch.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "gpu_bridge/sweep/host_sweep.h"
#include "gpu_bridge/instructions/instructions.h"
#include "gpu_bridge/device/device_backend.h"
#include "gpu_bridge/kernels/core_kernels.h"
#include "gpu_bridge/kernels/dgemm.h"
#include "gpu_bridge/kernels/device_memory.h"
#include "gpu_bridge/kernels/sweep_kernels.h"

namespace mmafuzz {
namespace {

/// The entry of instruction number `instruction` in the concatenation of the families' tables, whose order is that of
/// instructions().
template <class Table>
auto entry_of(int instruction, std::initializer_list<Table> tables) {
  for (const Table& table : tables) {
    if (instruction < table.count) return table.first[instruction];
    instruction -= table.count;
  }
  throw std::runtime_error("no such instruction");
}
LaunchTiles launch_of(int instruction) {
  return entry_of(instruction, {mma_launches(), f8f6f4_launches(), block_scaled_launches(), sparse_launches(),
                                wgmma_launches(), wmma_launches()});
}
LaunchPanels panels_of(int instruction) {
  return entry_of(instruction, {mma_panels(), f8f6f4_panels(), block_scaled_panels(), sparse_panels(), wgmma_panels(),
                                wmma_panels()});
}

ModelKernels kernels_of(const DotModel& model) {
  if (model.d.integer) return integer_kernels();
  switch (model.kernel) {
#define KERNEL(name) \
  case Kernel::name: return name##_kernels();
    MMAFUZZ_SWEPT(KERNEL)
#undef KERNEL
    default: throw std::runtime_error("the model has a kernel that is not built for devices");
  }
}

class CudaBackend final : public DeviceBackend {
 public:
  explicit CudaBackend(const DeviceInfo& info) : info_(info) {}

  DeviceInfo info() override { return info_; }

  void run(int instruction, const Tiles& from, uint64_t count, const WgmmaModifiers& modifiers) override {
    const TileShape& s = instructions()[static_cast<size_t>(instruction)].shape;
    const TileBytes bytes = tile_bytes(s, from.steps);
    Tiles tiles = reserve(s, from.steps, count);
    tiles.number = from.number;
    const auto upload = [&](const uint8_t* to, const uint8_t* source, uint64_t size) {
      if (size) check(cudaMemcpy(const_cast<uint8_t*>(to), source, size, cudaMemcpyHostToDevice), "copy to the device");
    };
    upload(tiles.a, from.a, bytes.a * count);
    upload(tiles.b, from.b, bytes.b * count);
    upload(tiles.c, from.c, bytes.c * count);
    upload(tiles.scale_a, from.scale_a, bytes.scale_a * count);
    upload(tiles.scale_b, from.scale_b, bytes.scale_b * count);
    check(cudaMemset(tiles.d, 0xee, bytes.d * count), "cudaMemset");  // an unwritten result is not a plausible one
    launch_of(instruction)(tiles, count, modifiers);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    check(cudaMemcpy(from.d, tiles.d, bytes.d * count, cudaMemcpyDeviceToHost), "copy from the device");
  }

  void scalar(int instruction, int arity, const uint64_t* operands, uint64_t* results, uint64_t count) override {
    const CoreTable table = core_launches();
    if (instruction < 0 || instruction >= table.count) throw std::runtime_error("no such instruction");
    auto* in = reinterpret_cast<uint64_t*>(a_.reserve(count * uint64_t(arity) * sizeof(uint64_t)));
    auto* out = reinterpret_cast<uint64_t*>(d_.reserve(count * sizeof(uint64_t)));
    check(cudaMemcpy(in, operands, count * uint64_t(arity) * sizeof(uint64_t), cudaMemcpyHostToDevice),
          "copy to the device");
    table.first[instruction](in, arity, out, count);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    check(cudaMemcpy(results, out, count * sizeof(uint64_t), cudaMemcpyDeviceToHost), "copy from the device");
  }

  void convert(const BulkRequest& request, const uint32_t* sources, uint32_t* results, uint8_t* flags,
               uint64_t count) override {
    auto* in = reinterpret_cast<uint32_t*>(a_.reserve(count * sizeof(uint32_t)));
    auto* out = reinterpret_cast<uint32_t*>(d_.reserve(count * sizeof(uint32_t)));
    uint8_t* raised = c_.reserve(count);
    check(cudaMemcpy(in, sources, count * sizeof(uint32_t), cudaMemcpyHostToDevice), "copy to the device");
    launch_bulk(request, in, out, raised, count);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    check(cudaMemcpy(results, out, count * sizeof(uint32_t), cudaMemcpyDeviceToHost), "copy from the device");
    check(cudaMemcpy(flags, raised, count, cudaMemcpyDeviceToHost), "copy from the device");
  }

  Result<bool> gemm(int row, const BlasGemm& call, uint64_t count, const uint8_t* first, const uint8_t* second,
                    uint8_t* result) override {
    return cublas_.gemm(row, call, count, first, second, result);
  }

  Result<DgemmAnswer> dgemm(const DgemmRequest& request) override { return dgemm_on_device(request, cublas_); }

  SweepAnswer sweep(const SweepRequest& whole, const std::vector<SweepParent>& parents) override {
    const TileShape& s = whole.shape;
    SweepAnswer answer;
    const ModelKernels kernels = kernels_of(whole.model);
    std::vector<uint64_t> firsts(bins::count + 1);  // of each bin; then of the first contradiction
    auto* first_of_bin = reinterpret_cast<uint64_t*>(bins_.reserve(firsts.size() * sizeof(uint64_t)));
    auto* device_parents =
        reinterpret_cast<SweepParent*>(parents_.reserve(std::max<size_t>(1, parents.size()) * sizeof(SweepParent)));
    check(cudaMemset(first_of_bin, 0xff, firsts.size() * sizeof(uint64_t)), "cudaMemset");
    if (!parents.empty())
      check(cudaMemcpy(device_parents, parents.data(), parents.size() * sizeof(SweepParent), cudaMemcpyHostToDevice),
            "copy to the device");
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start), "cudaEventCreate");
    check(cudaEventCreate(&stop), "cudaEventCreate");
    check(cudaEventRecord(start), "cudaEventRecord");
    const uint64_t words = DivergentTile::words_of(s);
    auto* any = reinterpret_cast<uint32_t*>(found_.reserve((1 + (1 + words) * whole.tiles) * sizeof(uint32_t)));
    uint32_t *cells = any + 1, *differs = cells + whole.tiles;
    check(cudaMemset(any, 0, (1 + (1 + words) * whole.tiles) * sizeof(uint32_t)), "cudaMemset");
    const unsigned on = arch_of_capability(info_.major, info_.minor);
    const bool in_panels =
        panels_of(whole.instruction)({whole, device_parents}, on, info_.multiprocessors, {cells, differs, any});
    // Tiles that did not run in panels, and those to be traced, are generated in memory, in chunks (about 16 MiB) that
    // stay in the cache of the device between generation, instruction and comparison.
    const uint64_t in_memory = in_panels ? traced_tiles(whole) : whole.tiles;
    const uint64_t chunk = std::min(
        in_memory,
        std::max<uint64_t>(1, (16u << 20) / (tile_bytes(s, 1).a + tile_bytes(s, 1).b + 2 * tile_bytes(s, 1).d)));
    Tiles tiles = reserve(s, 1, chunk);
    for (uint64_t done = 0; done < in_memory; done += chunk) {
      SweepSource source{whole, device_parents};
      tiles.number = source.request.first_tile = whole.first_tile + done;
      source.request.tiles = std::min(chunk, in_memory - done);
      launch_generation(source, tiles);
      if (!in_panels) {
        launch_of(whole.instruction)(tiles, source.request.tiles, whole.modifiers);
        kernels.compare(source, tiles, cells + done, differs + words * done, any);
      }
      if (kernels.trace && done < traced_tiles(whole)) {
        source.request.tiles = std::min(source.request.tiles, traced_tiles(whole) - done);
        kernels.trace(source, tiles, first_of_bin);
      }
      check(cudaGetLastError(), "launch");
    }
    check(cudaEventRecord(stop), "cudaEventRecord");
    check(cudaDeviceSynchronize(), "kernel");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, stop), "cudaEventElapsedTime");
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    answer.seconds = milliseconds / 1e3;
    answer.dots = whole.tiles * static_cast<uint64_t>(s.cells());
    download(firsts.data(), first_of_bin, firsts.size());
    std::copy_n(firsts.begin(), bins::count, answer.first_of_bin);
    answer.first_impossible = firsts.back();
    uint32_t diverged = 0;
    download(&diverged, any, 1);
    if (!diverged) return answer;
    std::vector<uint32_t> found(whole.tiles);
    download(found.data(), cells, found.size());
    list_divergent_tiles(whole, found, answer,
                         [&](uint64_t i, uint32_t* to) { download(to, differs + words * i, words); });
    return answer;
  }

 private:
  template <class T>
  static void download(T* to, const T* from, uint64_t count) {
    check(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyDeviceToHost), "copy from the device");
  }

  Tiles reserve(const TileShape& s, int steps, uint64_t count) {
    const TileBytes bytes = tile_bytes(s, steps);
    Tiles t;
    t.steps = steps;
    t.a = a_.reserve(bytes.a * count);
    t.b = b_.reserve(bytes.b * count);
    t.c = c_.reserve(bytes.c * count);
    t.d = d_.reserve(bytes.d * count);
    t.scale_a = scale_a_.reserve(bytes.scale_a * count);
    t.scale_b = scale_b_.reserve(bytes.scale_b * count);
    return t;
  }

  DeviceInfo info_;
  DeviceBytes a_, b_, c_, d_, scale_a_, scale_b_, found_, bins_, parents_;
  Cublas cublas_;
};

}  // namespace

const char* cuda_missing() { return nullptr; }

Result<std::unique_ptr<DeviceBackend>> open_device() {
  int count = 0;  // not written where the driver is missing or too old
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaErrorInsufficientDriver) {
    int driver = 0;
    cudaDriverGetVersion(&driver);
    return declined(driver == 0 ? "no CUDA driver on this machine"
                                : "the CUDA driver (" + std::to_string(driver / 1000) + "." +
                                      std::to_string(driver % 1000 / 10) + ") is too old for this build");
  }
  if (code == cudaErrorNoDevice || (code == cudaSuccess && count == 0))
    return declined("no CUDA device on this machine");
  if (code != cudaSuccess) return declined(std::string("the CUDA device cannot be used: ") + cudaGetErrorString(code));
  cudaDeviceProp properties;
  if (const cudaError_t e = cudaGetDeviceProperties(&properties, 0); e != cudaSuccess)
    return declined(std::string("the CUDA device cannot be used: ") + cudaGetErrorString(e));
  DeviceInfo info;
  std::strncpy(info.name, properties.name, sizeof info.name - 1);
  info.major = properties.major;
  info.minor = properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  cudaDriverGetVersion(&info.driver);
  cudaRuntimeGetVersion(&info.runtime);
  if (arch_of_capability(info.major, info.minor) == 0)
    return declined(std::string(info.name) + " has compute capability " + std::to_string(info.major) + "." +
                    std::to_string(info.minor) + "; kernels are built for 7.5, 8.0, 8.6, 8.9, 9.0, 10.0 and 12.0");
  return std::unique_ptr<DeviceBackend>(std::make_unique<CudaBackend>(info));
}

}  // namespace mmafuzz
