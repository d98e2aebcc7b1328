// A device child without a device, for tests: FALSE_DEVICE=twin answers by the host twins of the kernels; none has no device; the
// others fail in one way each.
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "arithmetic/evaluate_dot.h"
#include "gpu_bridge/core_instructions.h"
#include "gpu_bridge/device_protocol.h"
#include "gpu_bridge/host_sweep.h"
#include "gpu_bridge/host_twin.h"
#include "gpu_bridge/instructions.h"
#include "oracles/families.h"
#include "oracles/units/model_rows.h"

using namespace mmafuzz;

namespace {

using Evaluate = std::function<uint64_t(const DotOperands&)>;
using RunTwin = void (*)(const Tiles&, uint64_t, const Evaluate&);

template <TileShape S>
void run_twin(const Tiles& tiles, uint64_t count, const Evaluate& evaluate) {
  run_tiles_on_host<S>(tiles, count, evaluate);
}

/// WMMA fragments have no layout of ours: dots straight from memory.
template <TileShape S>
void run_wmma_twin(const Tiles& all, uint64_t count, const Evaluate& evaluate) {
  for (uint64_t tile = 0; tile < count; ++tile) {
    const Tiles t = tiles_from(S, all, tile);
    for (int cell = 0; cell < S.cells(); ++cell) {
      uint64_t a[S.k], b[S.k];
      DotOperands in;
      in.a = a;
      in.b = b;
      in.k = S.k;
      in.c = read_element(t.c, S.c_bits / 8, cell);
      for (int step = 0; step < t.steps; ++step) {
        for (int i = 0; i < S.k; ++i) {
          a[i] = read_element(t.a, S.operand_bytes(), (step * S.m + cell / S.n) * S.k + i);
          b[i] = read_element(t.b, S.operand_bytes(), (step * S.n + cell % S.n) * S.k + i);
        }
        in.c = evaluate(in);
      }
      write_element(t.d, S.d_bits / 8, cell, in.c);
    }
  }
}

const RunTwin twins[] = {
#define ROW(m, n, k, D, A, B, C, archs) run_twin<mma_shape(m, n, k, #D, #A, #B, #C)>,
    MMAFUZZ_MMA(ROW) MMAFUZZ_F8F6F4(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) run_twin<mma_shape(m, n, k, #D, #A, #B, #C, 1)>,
    MMAFUZZ_MXF8F6F4(ROW)
#undef ROW
#define SCALED(type, block, size, archs) run_twin<mma_shape(16, 8, 64, "f32", "e2m1", "e2m1", "f32", 64 / block)>,
    MMAFUZZ_MXF4NVF4(SCALED)
#undef SCALED
#define ROW(m, n, k, D, A, B, C, archs) run_twin<of_family(TileFamily::wgmma, mma_shape(m, n, k, #D, #A, #B, #C))>,
    MMAFUZZ_WGMMA(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) run_wmma_twin<of_family(TileFamily::wmma, mma_shape(m, n, k, #D, #A, #B, #C))>,
    MMAFUZZ_WMMA(ROW)
#undef ROW
};

std::string mode() {
  const char* text = std::getenv("FALSE_DEVICE");
  return text ? text : "none";
}

/// As if it were every architecture: FALSE_DEVICE_ARCH is its compute capability, 90 where unset.
class TwinBackend final : public DeviceBackend {
 public:
  DeviceInfo info() override {
    DeviceInfo info;
    std::strcpy(info.name, "host twin");
    const char* arch = std::getenv("FALSE_DEVICE_ARCH");
    const int capability = arch ? std::atoi(arch) : 90;
    info.major = capability / 10;
    info.minor = capability % 10;
    return info;
  }
  void run(int instruction, const Tiles& tiles, uint64_t count, const WgmmaModifiers&) override {
    const std::string how = mode();
    if (how == "crash") raise(SIGSEGV);
    if (how == "hang") pause();
    if (how == "fail") throw std::runtime_error("kernel: cudaErrorLaunchFailure, unspecified launch failure");
    if (how == "garbage") {
      if (send(0, "complete nonsense, and long enough to be read as the header of an answer", 72, 0) < 0) std::abort();
      pause();
    }
    if (size_t(instruction) >= sizeof twins / sizeof *twins) throw std::runtime_error("no twin");
    const Instruction& i = instructions()[size_t(instruction)];
    if (i.op.d.fields().integer) return twins[instruction](tiles, count, sweep::integer_sum);
    const DeviceInfo device = info();
    const ModelRow* row = find_model_row(claimed_model(i, arch_of_capability(device.major, device.minor)).substr(6));
    if (!row) throw std::runtime_error("no model of " + i.name);
    twins[instruction](tiles, count, [row](const DotOperands& in) { return evaluate_dot(row->model, in); });
  }
  void scalar(int instruction, int arity, const uint64_t* operands, uint64_t* results, uint64_t count) override {
    if (mode() == "crash") raise(SIGSEGV);
    const Op& op = core_instructions().at(size_t(instruction)).op;
    const Registry registry = oracle_registry();
    Batch batch(op);
    batch.resize(count);
    for (uint64_t i = 0; i < count; ++i)
      for (int j = 0; j < arity; ++j) batch.inputs()[0].set(i, j, operands[i * uint64_t(arity) + uint64_t(j)]);
    Outcomes outcomes;
    (*registry.bind("ieee", op))->run(batch, outcomes);
    for (uint64_t i = 0; i < count; ++i) results[i] = outcomes.results.get(i);
  }
  void convert(const BulkRequest& request, const uint32_t* sources, uint32_t* results, uint8_t* flags, uint64_t count) override {
    for (uint64_t i = 0; i < count; ++i) {
      const BulkResult r = convert_one(request, sources[i]);
      results[i] = r.encoding;
      flags[i] = r.flags;
    }
  }
  SweepAnswer sweep(const SweepRequest& request, const std::vector<SweepParent>& parents) override {
    return sweep_on_host(request, parents, [&](const DotOperands& in) { return sweep::claimed_result(request.model, in); });
  }
};

}  // namespace

int main() {
  if (mode() == "none") return device::serve(0, declined("no CUDA device on this machine"));
  return device::serve(0, std::unique_ptr<DeviceBackend>(std::make_unique<TwinBackend>()));
}
