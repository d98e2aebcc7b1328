// Generates the operands of the sweeps of requests.cc and prints a digest of their bytes: one line for each sweep.
// Compilers must agree on every line. With DEVICE_KERNELS, the kernels that tests/ptx_to_c.py made of device code
// generate them instead.
//   generate FILE [blocks threads]    the grid of those kernels: any gives the same
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "gpu_bridge/sweep/sweep_step.h"
#include "tests/operands/panel_steps.h"

using namespace mmafuzz;

#if defined(DEVICE_KERNELS)
// One thread of a kernel, with its parameters as they lie in parameter memory.
extern "C" void kernel_generate_vectors(const uint8_t* parameters, uint32_t block, uint32_t thread, uint32_t blocks,
                                        uint32_t threads);
extern "C" void kernel_generate_addends(const uint8_t* parameters, uint32_t block, uint32_t thread, uint32_t blocks,
                                        uint32_t threads);
#define KERNELS(NAME, claim)                                                                             \
  extern "C" void kernel_tables_##NAME(const uint8_t*, uint32_t block, uint32_t thread, uint32_t blocks, \
                                       uint32_t threads);                                                \
  extern "C" void kernel_plan_##NAME(const uint8_t*, uint32_t block, uint32_t thread, uint32_t blocks,   \
                                     uint32_t threads);                                                  \
  extern "C" void kernel_draw_##NAME(const uint8_t*, uint32_t block, uint32_t thread, uint32_t blocks,   \
                                     uint32_t threads);                                                  \
  extern "C" void kernel_dots_##NAME(const uint8_t*, uint32_t block, uint32_t thread, uint32_t blocks,   \
                                     uint32_t threads);
PANEL_STEPS(KERNELS)
#undef KERNELS
#endif

namespace {

uint32_t grid_blocks = 4, block_threads = 128;  // of the kernels of device code

bool read(std::ifstream& from, std::vector<uint8_t>& data) {
  uint64_t bytes = 0;
  if (!from.read(reinterpret_cast<char*>(&bytes), sizeof bytes)) return false;
  data.resize(bytes);
  return bytes == 0 || from.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(bytes));
}

uint64_t digest(const std::vector<uint8_t>& bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

void generate(const SweepSource& source, const Tiles& all) {
  const TileShape& s = source.request.shape;
#if defined(DEVICE_KERNELS)
  // The parameters of the kernels in gpu_bridge/kernels/sweep_generation.cu: source, tiles, and the extents of a tile.
  std::vector<uint8_t> parameters(sizeof(SweepSource) + sizeof(Tiles) + 8);
  std::memcpy(parameters.data(), &source, sizeof source);
  std::memcpy(parameters.data() + sizeof source, &all, sizeof all);
  const auto with = [&](int first, int second) {
    std::memcpy(parameters.data() + sizeof source + sizeof all, &first, 4);
    std::memcpy(parameters.data() + sizeof source + sizeof all + 4, &second, 4);
  };
  const uint32_t block_size = block_threads, blocks = grid_blocks;
  with(s.rows(), s.columns());
  for (uint32_t thread = 0; thread < blocks * block_size; ++thread)
    kernel_generate_vectors(parameters.data(), thread / block_size, thread % block_size, blocks, block_size);
  with(s.cells(), 0);
  for (uint32_t thread = 0; thread < blocks * block_size; ++thread)
    kernel_generate_addends(parameters.data(), thread / block_size, thread % block_size, blocks, block_size);
#else
  const SweepRequest& r = source.request;
  for (uint64_t tile = r.first_tile; tile < r.first_tile + r.tiles; ++tile) {
    for (int row = 0; row < s.rows(); ++row) sweep::generate_vector(source, all, tile, true, row);
    for (int column = 0; column < s.columns(); ++column) sweep::generate_vector(source, all, tile, false, column);
    for (int cell = 0; cell < s.cells(); ++cell) sweep::generate_c(source, all, tile, cell);
  }
#endif
}

/// One panel after the other through its steps; prints digests of what it holds, and of all c and results.
template <class Claim>
struct PanelRun {
  sweep::Panel<Claim> panel;
  std::vector<uint64_t> dots = std::vector<uint64_t>(2 * sweep::panel_side * sweep::panel_side);

#if defined(DEVICE_KERNELS)
  using Step = void (*)(const uint8_t*, uint32_t, uint32_t, uint32_t, uint32_t);
  void step(Step kernel, const SweepSource& source, uint64_t number, uint32_t threads) {
    struct {
      void* panel;
      SweepSource source;
      uint64_t number;
      uint64_t* dots;
    } parameters{&panel, source, number, dots.data()};
    for (uint32_t thread = 0; thread < threads; ++thread)
      kernel(reinterpret_cast<const uint8_t*>(&parameters), 0, thread, 1, threads);
  }
#endif

  template <class Steps>
  void run(const char* name, const SweepSource& source, const Steps& steps) {
    std::memset(static_cast<void*>(&panel), 0, sizeof panel);
    uint64_t held = 0, results = 0;
    for (uint64_t number = source.request.first_tile; number < source.request.first_tile + source.request.tiles;
         ++number) {
      steps(*this, source, number);
      const auto* bytes = reinterpret_cast<const uint8_t*>(&panel);
      // What dots read, without the unnamed bytes between members: decoded elements, encodings, zeros.
      held = held * 31 + digest({bytes, reinterpret_cast<const uint8_t*>(&panel.group)});
      results = results * 31 + digest({reinterpret_cast<const uint8_t*>(dots.data()),
                                       reinterpret_cast<const uint8_t*>(dots.data() + dots.size())});
    }
    std::printf("panel %s %016llx %016llx\n", name, static_cast<unsigned long long>(held),
                static_cast<unsigned long long>(results));
  }
};

template <class P>
void steps_here(P& run, const SweepSource& source, uint64_t number) {
  using Word = typename decltype(run.panel)::Word;
  constexpr int threads = decltype(run.panel)::threads, side = sweep::panel_side;
  for (int thread = 0; thread < threads; ++thread) run.panel.make_tables(source.request, thread);
  for (int thread = 0; thread < threads; ++thread) run.panel.plan(source, number, thread);
  for (int thread = 0; thread < threads; ++thread) run.panel.draw(source, thread);
  for (int dot = 0; dot < side * side; ++dot) {
    const uint64_t c = run.panel.c_of(source, dot / side, dot % side);
    run.dots[size_t(2 * dot)] = c;
    run.dots[size_t(2 * dot + 1)] = run.panel.claimed(source.request, dot / side, dot % side, static_cast<Word>(c));
  }
}

void run_panels(const std::string& name, const SweepSource& source) {
#if defined(DEVICE_KERNELS)
#define RUN(NAME, claim)                                                             \
  if (name == #NAME) {                                                               \
    static PanelRun<claim> of;                                                       \
    of.run(#NAME, source, [](auto& run, const SweepSource& s, uint64_t number) {     \
      run.step(kernel_tables_##NAME, s, number, 256);                                \
      run.step(kernel_plan_##NAME, s, number, 256);                                  \
      run.step(kernel_draw_##NAME, s, number, 256);                                  \
      run.step(kernel_dots_##NAME, s, number, sweep::panel_side* sweep::panel_side); \
    });                                                                              \
  }
#else
#define RUN(NAME, claim)                                                                                         \
  if (name == #NAME) {                                                                                           \
    static PanelRun<claim> of;                                                                                   \
    of.run(#NAME, source, [](auto& run, const SweepSource& s, uint64_t number) { steps_here(run, s, number); }); \
  }
#endif
  PANEL_STEPS(RUN)
#undef RUN
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) return 2;
  if (argc == 4) {
    grid_blocks = static_cast<uint32_t>(std::atoi(argv[2]));
    block_threads = static_cast<uint32_t>(std::atoi(argv[3]));
  }
  std::ifstream from(argv[1], std::ios::binary);
  std::vector<uint8_t> name, request, parents;
  while (read(from, name) && read(from, request) && read(from, parents)) {
    SweepSource source;
    if (request.size() != sizeof source.request) return 3;
    std::memcpy(&source.request, request.data(), request.size());
    std::vector<SweepDot> list(parents.size() / sizeof(SweepDot));
    std::memcpy(list.data(), parents.data(), parents.size());
    source.parents = list.data();
    const std::string title(name.begin(), name.end());
    if (title.starts_with("panel ")) {
      run_panels(title.substr(6), source);
      continue;
    }
    const TileBytes bytes = tile_bytes(source.request.shape, 1);
    const uint64_t n = source.request.tiles;
    std::vector<uint8_t> a(n * bytes.a), b(n * bytes.b), c(n * bytes.c), scale_a(n * bytes.scale_a + 8),
        scale_b(n * bytes.scale_b + 8);
    Tiles all;
    all.a = a.data();
    all.b = b.data();
    all.c = c.data();
    all.scale_a = scale_a.data();
    all.scale_b = scale_b.data();
    generate(source, all);
    std::printf("%s %016llx %016llx %016llx %016llx\n", title.c_str(), static_cast<unsigned long long>(digest(a)),
                static_cast<unsigned long long>(digest(b)), static_cast<unsigned long long>(digest(c)),
                static_cast<unsigned long long>(digest(scale_a) ^ digest(scale_b)));
  }
  return 0;
}
