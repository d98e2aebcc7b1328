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
    if (instruction >= 0 && size_t(instruction) < table.size()) return table[size_t(instruction)];
    instruction -= static_cast<int>(table.size());
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

  void run(int instruction, const Tiles& host, uint64_t count, const WgmmaModifiers& modifiers) override {
    const TileShape& s = instructions()[static_cast<size_t>(instruction)].shape;
    const TileBytes bytes = tile_bytes(s, host.steps);
    Tiles tiles = reserve(s, host.steps, count);
    tiles.number = host.number;
    const auto send = [&](const uint8_t* device, const uint8_t* source, uint64_t size) {
      if (size) upload(const_cast<uint8_t*>(device), source, size);
    };
    send(tiles.a, host.a, bytes.a * count);
    send(tiles.b, host.b, bytes.b * count);
    send(tiles.c, host.c, bytes.c * count);
    send(tiles.scale_a, host.scale_a, bytes.scale_a * count);
    send(tiles.scale_b, host.scale_b, bytes.scale_b * count);
    check(cudaMemset(tiles.d, 0xee, bytes.d * count), "cudaMemset");  // an unwritten result is not a plausible one
    launch_of(instruction)(tiles, count, modifiers);
    finish_kernels();
    download(host.d, tiles.d, bytes.d * count);
  }

  void scalar(int instruction, int arity, const uint64_t* operands, uint64_t* results, uint64_t count) override {
    auto* in = a_.reserve<uint64_t>(count * uint64_t(arity));
    auto* out = d_.reserve<uint64_t>(count);
    upload(in, operands, count * uint64_t(arity));
    entry_of(instruction, {core_launches()})(in, arity, out, count);
    finish_kernels();
    download(results, out, count);
  }

  void convert(const BulkRequest& request, const uint32_t* sources, uint32_t* results, uint8_t* flags,
               uint64_t count) override {
    auto* in = a_.reserve<uint32_t>(count);
    auto* out = d_.reserve<uint32_t>(count);
    uint8_t* raised = c_.reserve(count);
    upload(in, sources, count);
    launch_bulk(request, in, out, raised, count);
    finish_kernels();
    download(results, out, count);
    download(flags, raised, count);
  }

  Result<bool> gemm(int row, const BlasGemm& call, uint64_t count, const uint8_t* first, const uint8_t* second,
                    uint8_t* result) override {
    return cublas_.gemm(row, call, count, first, second, result);
  }

  Result<DgemmAnswer> dgemm(const DgemmRequest& request) override { return dgemm_on_device(request, cublas_); }

  SweepAnswer sweep(const SweepRequest& whole, const std::vector<SweepDot>& parents) override {
    const TileShape& s = whole.shape;
    SweepAnswer answer;
    const ModelKernels kernels = kernels_of(whole.model);
    std::vector<uint64_t> firsts(bins::count + 1);  // of each bin; then of the first contradiction
    auto* first_of_bin = bins_.reserve<uint64_t>(firsts.size());
    auto* device_parents = parents_.reserve<SweepDot>(std::max<size_t>(1, parents.size()));
    check(cudaMemset(first_of_bin, 0xff, firsts.size() * sizeof(uint64_t)), "cudaMemset");
    if (!parents.empty()) upload(device_parents, parents.data(), parents.size());
    Mark start, stop;
    start.set();
    const uint64_t words = DivergentTile::words_of(s);
    const uint64_t found_words = 1 + (1 + words) * whole.tiles;  // `any`; `cells` and `differs` of each tile
    uint32_t *any = found_.reserve<uint32_t>(found_words), *cells = any + 1, *differs = cells + whole.tiles;
    check(cudaMemset(any, 0, found_words * sizeof(uint32_t)), "cudaMemset");
    const unsigned device_arch = arch_of_capability(info_.major, info_.minor);
    const bool in_panels = panels_of(whole.instruction)({whole, device_parents}, device_arch, info_.multiprocessors,
                                                        {cells, differs, any});
    // Tiles that did not run in panels, and those to be traced, are generated in memory, in chunks (about 16 MiB) that
    // stay in the cache of the device between generation, instruction and comparison.
    const uint64_t in_memory = in_panels ? traced_tiles(whole) : whole.tiles;
    const TileBytes bytes = tile_bytes(s, 1);
    const uint64_t chunk = std::min(in_memory, std::max<uint64_t>(1, (16u << 20) / (bytes.a + bytes.b + 2 * bytes.d)));
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
    stop.set();
    check(cudaDeviceSynchronize(), "kernel");
    answer.seconds = stop.seconds_since(start);
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
  Tiles reserve(const TileShape& s, int steps, uint64_t count) {
    const TileBytes bytes = tile_bytes(s, steps);
    return {a_.reserve(bytes.a * count),
            b_.reserve(bytes.b * count),
            c_.reserve(bytes.c * count),
            scale_a_.reserve(bytes.scale_a * count),
            scale_b_.reserve(bytes.scale_b * count),
            d_.reserve(bytes.d * count),
            steps};
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
  cudaDeviceProp properties;
  const cudaError_t usable = code == cudaSuccess ? cudaGetDeviceProperties(&properties, 0) : code;
  if (usable != cudaSuccess)
    return declined(std::string("the CUDA device cannot be used: ") + cudaGetErrorString(usable));
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
