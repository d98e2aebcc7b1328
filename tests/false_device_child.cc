// A device child without a device, for tests: FALSE_DEVICE=twin answers by the host twins of the kernels, in sweeps
// too; none has no device; no_cublas, never_emulates and always_emulates are a cuBLAS that is missing or does not do
// what it is asked; the others have one fault each. Faults of results: wrong_bit (bit 3 of lane 5), swapped_fragments,
// stale_accumulator, flaky; of large FP64 products unwritten, no_number, coarse (rounded to fp32). Others: crash, hang,
// garbage, fail, slow, wrong_then_crash. FALSE_DEVICE_FROM=N: the first N calls that run something are answered rightly
// (wrong_then_crash: they have swapped fragments).
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "arithmetic/evaluate_dot.h"
#include "tests/host_dgemm.h"
#include "gpu_bridge/instructions/core_instructions.h"
#include "gpu_bridge/device/device_protocol.h"
#include "gpu_bridge/sweep/host_sweep.h"
#include "tests/host_twin.h"
#include "gpu_bridge/instructions/instructions.h"
#include "oracles/families.h"
#include "oracles/models/model_rows.h"

using namespace mmafuzz;

namespace {

using Evaluate = std::function<uint64_t(const DotOperands&)>;
using RunTwin = void (*)(const Tiles&, uint64_t, const Evaluate&, const WgmmaModifiers&);

template <TileShape S>
void run_twin(const Tiles& tiles, uint64_t count, const Evaluate& evaluate, const WgmmaModifiers& with) {
  run_tiles_on_host<S>(tiles, count, evaluate, with);
}

/// WMMA fragments have no layout of ours: dots straight from memory.
template <TileShape S>
void run_wmma_twin(const Tiles& all, uint64_t count, const Evaluate& evaluate, const WgmmaModifiers&) {
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
#define SCALED(kind, type, block, size, archs) run_twin<mma_shape(16, 8, 64, "f32", "e2m1", "e2m1", "f32", 64 / block)>,
            MMAFUZZ_MXF4NVF4(SCALED)
#undef SCALED
#define ROW(m, n, k, D, A, B, C, archs) run_twin<sparse_shape(mma_shape(m, n, k, #D, #A, #B, #C))>,
                MMAFUZZ_MMA_SPARSE(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) run_twin<with_family(TileFamily::wgmma, mma_shape(m, n, k, #D, #A, #B, #C))>,
                    MMAFUZZ_WGMMA(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) \
  run_twin<sparse_shape(with_family(TileFamily::wgmma, mma_shape(m, n, k, #D, #A, #B, #C)))>,
                        MMAFUZZ_WGMMA_SPARSE(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) \
  run_wmma_twin<with_family(TileFamily::wmma, mma_shape(m, n, k, #D, #A, #B, #C))>,
                            MMAFUZZ_WMMA(ROW)
#undef ROW
};

std::string mode() {
  const char* text = std::getenv("FALSE_DEVICE");
  return text ? text : "none";
}

/// Whether a fault of this name is due, in the call that runs now.
int calls_so_far = 0;
bool has_fault(const char* name) {
  const char* from = std::getenv("FALSE_DEVICE_FROM");
  const bool due = calls_so_far > (from ? std::atoi(from) : 0);
  if (mode() == "wrong_then_crash")
    return name == std::string("swapped_fragments") || (name == std::string("crash") && due);
  return mode() == name && due;
}

/// Ways not to answer a call.
void fail_if_due() {
  ++calls_so_far;
  if (has_fault("crash")) raise(SIGSEGV);
  if (has_fault("hang")) pause();
  if (has_fault("fail")) throw std::runtime_error("kernel: cudaErrorLaunchFailure, unspecified launch failure");
  if (has_fault("slow")) usleep(300000);
  if (has_fault("garbage")) {
    if (send(0, "complete nonsense, and long enough to be read as the header of an answer", 72, 0) < 0) std::abort();
    pause();
  }
}

/// Runs a twin with the fault of results that is due.
void run_with_fault(const Instruction& i, RunTwin twin, const Tiles& tiles, uint64_t count, const Evaluate& evaluate,
                    const WgmmaModifiers& with) {
  const TileShape& s = i.shape;
  const TileBytes bytes = tile_bytes(s, 1);
  if (has_fault("stale_accumulator") && s.c_bits == s.d_bits) {  // c of a tile is the d of the tile before
    static std::vector<uint8_t> last;
    for (uint64_t tile = 0; tile < count; ++tile) {
      Tiles one = tiles_from(s, tiles, tile);
      std::vector<uint8_t> c(one.c, one.c + bytes.c);
      if (last.size() == c.size()) c = last;
      one.c = c.data();
      twin(one, 1, evaluate, with);
      last.assign(one.d, one.d + bytes.d);
    }
    return;
  }
  if (has_fault("swapped_fragments")) {  // rows of a change places in pairs
    std::vector<uint8_t> a(tiles.a, tiles.a + tile_bytes(s, tiles.steps).a * count);
    const size_t row = size_t(s.k * s.operand_bytes()), rows = a.size() / row;
    for (size_t r = 0; r + 1 < rows; r += 2)
      std::swap_ranges(a.begin() + long(r * row), a.begin() + long((r + 1) * row), a.begin() + long((r + 1) * row));
    Tiles swapped = tiles;
    swapped.a = a.data();
    twin(swapped, count, evaluate, with);
    return;
  }
  twin(tiles, count, evaluate, with);
  const auto flip = [&](uint64_t tile, int cell, int bit) {
    uint8_t* d = tiles_from(s, tiles, tile).d;
    write_element(d, s.d_bits / 8, cell, read_element(d, s.d_bits / 8, cell) ^ uint64_t{1} << bit);
  };
  if (has_fault("wrong_bit") && s.family != TileFamily::wmma)
    for (uint64_t tile = 0; tile < count; ++tile) {
      const Place p = c_place(s, s.d_bits, 5, 0);
      flip(tile, p.row * s.n + p.column, 3);
    }
  if (has_fault("flaky") && calls_so_far % 2 == 0)
    for (int cell = 0; cell < s.cells(); ++cell) flip(0, cell, 0);
}

/// A dense column-major matrix of encodings, as the BLAS see it.
struct BlasMatrix {
  const uint8_t* data;
  uint64_t rows;
  uint64_t bytes;
  uint64_t at(int i, int j) const {
    uint64_t encoding = 0;
    std::memcpy(&encoding, data + (static_cast<uint64_t>(j) * rows + static_cast<uint64_t>(i)) * bytes, bytes);
    return encoding;
  }
};

/// What fixed point of `bits` significand bits below the greatest of a vector of doubles leaves of it; without support
/// for infinities and NaNs these become zeros.
void to_fixed_point(std::vector<uint64_t>& vector, const BlasGemm& call) {
  int top = -2000;
  for (const uint64_t x : vector)
    if (const double v = std::bit_cast<double>(x); v != 0 && std::isfinite(v)) top = std::max(top, std::ilogb(v));
  for (uint64_t& x : vector) {
    const double v = std::bit_cast<double>(x);
    if (std::isfinite(v))
      x = std::bit_cast<uint64_t>(std::ldexp(std::trunc(std::ldexp(v, call.bits - top)), top - call.bits));
    else if (!call.specials) x = 0;
  }
}

/// A row of cublas_gemm.def.h on one call, element by element as the BLAS define it, by `exact` and `integer`.
/// Emulation of FP64 reads fixed point, that of FP32 truncates.
void blas_twin(const CublasRow& row, const BlasGemm& call, bool emulate, const uint8_t* first, const uint8_t* second,
               uint8_t* result) {
  const Registry registry = oracle_registry();
  const auto operand_bytes = uint64_t(row.operand.storage_bytes()), result_bytes = uint64_t(row.result.storage_bytes());
  Op op = dot_op(row.operand.name(), row.result.name(), row.result.name(), call.k);
  if (!op.d.fields().integer) {
    op.kind = OpKind::gemm;
    op.alpha = call.alpha;
    op.beta = call.beta;
  } else if (call.alpha != 1 || call.beta > 1) {
    throw std::runtime_error("the twin has no scalars of integers but 0 and 1");
  }
  const bool fixed_point = emulate && row.operand == format("fp64");
  if (emulate && !fixed_point && !op.d.fields().integer) op.rounding = Rounding::toward_zero;
  const auto unit = registry.bind(op.d.fields().integer ? "integer" : "exact", op);
  const BlasMatrix left{first, uint64_t(call.k), operand_bytes}, right{second, uint64_t(call.k), operand_bytes},
      addend{result, uint64_t(call.rows), result_bytes};
  std::vector<uint64_t> a(size_t(call.k)), b(size_t(call.k));
  Batch batch(op);
  batch.resize(size_t(call.rows) * size_t(call.columns));
  for (int j = 0; j < call.columns; ++j)
    for (int i = 0; i < call.rows; ++i) {
      const size_t element = size_t(j) * size_t(call.rows) + size_t(i);
      for (int l = 0; l < call.k; ++l) {
        a[size_t(l)] = left.at(l, i);
        b[size_t(l)] = right.at(l, j);
      }
      if (fixed_point) to_fixed_point(a, call), to_fixed_point(b, call);
      batch.inputs()[0].pack(element, a.data());
      batch.inputs()[1].pack(element, b.data());
      batch.inputs()[2].set(element, 0, call.beta ? addend.at(i, j) : 0);
    }
  Outcomes outcomes;
  (*unit)->run(batch, outcomes);
  for (size_t element = 0; element < batch.size(); ++element) {
    const uint64_t encoding = outcomes.results.get(element);
    std::memcpy(result + element * result_bytes, &encoding, result_bytes);
  }
}

/// A dot with the modifiers of wgmma that change values; of integers only scale_d does.
uint64_t integer_modified(const DotOperands& in, const WgmmaModifiers& with) {
  DotOperands modified = in;
  if (!with.scale_d) modified.c = 0;
  return sweep::integer_sum(modified);
}
uint64_t evaluate_modified(const DotModel& m, const DotOperands& in, const WgmmaModifiers& with) {
  std::vector<uint64_t> a(in.a, in.a + in.k), b(in.b, in.b + in.k);
  for (uint64_t& x : a) x ^= with.negate_a ? m.a.in_container(m.a.sign_bit()) : 0;
  for (uint64_t& x : b) x ^= with.negate_b ? m.b.in_container(m.b.sign_bit()) : 0;
  DotOperands modified = in;
  modified.a = a.data();
  modified.b = b.data();
  if (!with.scale_d) modified.c = 0;
  return evaluate_dot(m, modified);
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
  void run(int instruction, const Tiles& tiles, uint64_t count, const WgmmaModifiers& with) override {
    fail_if_due();
    if (size_t(instruction) >= sizeof twins / sizeof *twins) throw std::runtime_error("no twin");
    const Instruction& i = instructions()[size_t(instruction)];
    if (i.op.d.fields().integer)
      return run_with_fault(
          i, twins[instruction], tiles, count, [&with](const DotOperands& in) { return integer_modified(in, with); },
          with);
    const DeviceInfo device = info();
    const std::string model = claimed_model(i, arch_of_capability(device.major, device.minor));
    const ModelRow* row =
        find_model_row(model.empty() ? "turing/" + i.name : model.substr(6));  // where nothing is claimed, any will do
    if (!row) throw std::runtime_error("no model of " + i.name);
    run_with_fault(
        i, twins[instruction], tiles, count,
        [row, &with](const DotOperands& in) { return evaluate_modified(row->model, in, with); }, with);
  }
  void scalar(int instruction, int arity, const uint64_t* operands, uint64_t* results, uint64_t count) override {
    fail_if_due();
    const Op& op = core_instructions().at(size_t(instruction)).op;
    const Registry registry = oracle_registry();
    Batch batch(op);
    batch.resize(count);
    for (uint64_t i = 0; i < count; ++i)
      for (int j = 0; j < arity; ++j) batch.inputs()[0].set(i, j, operands[i * uint64_t(arity) + uint64_t(j)]);
    Outcomes outcomes;
    (*registry.bind("ieee", op))->run(batch, outcomes);
    const FormatFields& d = op.d.fields();
    const bool relu = core_instructions()[size_t(instruction)].relu();
    for (uint64_t i = 0; i < count; ++i) {
      results[i] = outcomes.results.get(i);
      const Number x = decode(d, results[i]);
      if (relu && x.negative && x.cls != NumberClass::nan) results[i] = d.encode_zero(false);
    }
  }
  void convert(const BulkRequest& request, const uint32_t* sources, uint32_t* results, uint8_t* flags,
               uint64_t count) override {
    for (uint64_t i = 0; i < count; ++i) {
      const BulkResult r = convert_one(request, sources[i]);
      results[i] = r.encoding;
      flags[i] = r.flags;
    }
  }
  Result<bool> gemm(int row, const BlasGemm& call, uint64_t count, const uint8_t* first, const uint8_t* second,
                    uint8_t* result) override {
    const std::string how = mode();
    if (how == "crash") raise(SIGSEGV);
    if (how == "no_cublas") return declined("cuBLAS cannot be loaded");
    if (++calls_ > 1 && how == "crash_after_probe") raise(SIGSEGV);
    if (calls_ > 1 && how == "decline_after_probe") return declined("cublasGemmEx: CUBLAS_STATUS_NOT_SUPPORTED");
    const CublasRow& r = cublas_rows().at(size_t(row));
    const bool emulate =
        how != "never_emulates" && (r.arithmetic == CublasRow::Arithmetic::emulated || how == "always_emulates");
    const auto bytes = [](int x, int y, const Format& format) {
      return uint64_t(x) * uint64_t(y) * uint64_t(format.storage_bytes());
    };
    for (uint64_t i = 0; i < count; ++i)
      blas_twin(r, call, emulate, first + i * bytes(call.rows, call.k, r.operand),
                second + i * bytes(call.columns, call.k, r.operand),
                result + i * bytes(call.rows, call.columns, r.result));
    return true;
  }
  /// Wrong results of a product of fp64 matrices.
  static void spoil(double& element) {
    if (has_fault("unwritten")) std::memset(&element, 0xee, sizeof element);
    if (has_fault("no_number")) element = std::nan("");
    if (has_fault("coarse")) element = static_cast<float>(element);
  }
  Result<DgemmAnswer> dgemm(const DgemmRequest& request) override {
    fail_if_due();
    if (mode() == "no_cublas") return declined("cuBLAS cannot be loaded");
    if (const std::string wrong = wrong_with(request); !wrong.empty()) return declined(wrong);
    if (request.n > 256) return declined("the host twin takes no time for n above 256");
    const CublasRow& row = cublas_rows()[size_t(request.row)];
    const bool emulate = row.arithmetic == CublasRow::Arithmetic::emulated && mode() != "never_emulates";
    return dgemm_on_host(request,
                         [&](const BlasGemm& call, const uint8_t* first, const uint8_t* second, uint8_t* result) {
                           blas_twin(row, call, emulate, first, second, result);
                           if (has_fault("wrong_bit"))
                             for (int i = 0; i < call.rows * call.columns; ++i)
                               result[i * row.result.storage_bytes()] ^= 1;
                           if (row.result == format("fp64"))
                             for (int i = 0; i < call.rows * call.columns; ++i)
                               spoil(reinterpret_cast<double*>(result)[i]);
                         });
  }
  SweepAnswer sweep(const SweepRequest& request, const std::vector<SweepDot>& parents) override {
    fail_if_due();
    SweepAnswer answer;
    const auto start = std::chrono::steady_clock::now();
    TileBuffers tiles = generate_tiles(request, parents);
    run_with_fault(
        instructions().at(size_t(request.instruction)), twins[request.instruction], tiles.view(), request.tiles,
        [&](const DotOperands& in) {
          return request.model.d.integer ? integer_modified(in, request.modifiers)
                                         : evaluate_modified(request.model, in, request.modifiers);
        },
        request.modifiers);
    compare_tiles(request, tiles, answer);
    answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return answer;
  }

 private:
  int calls_ = 0;  ///< of gemm
};

}  // namespace

int main() {
  if (mode() == "none") return device::serve(0, declined("no CUDA device on this machine"));
  return device::serve(0, std::unique_ptr<DeviceBackend>(std::make_unique<TwinBackend>()));
}
