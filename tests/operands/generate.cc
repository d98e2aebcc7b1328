// Generates the operands of the sweeps of requests.cc and prints a digest of their bytes: one line for each sweep.
// Compilers must agree on every line. With DEVICE_KERNELS, the kernels that tests/ptx_to_c.py made of device code
// generate them instead.
//   generate FILE
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "gpu_bridge/sweep/sweep_step.h"

using namespace mmafuzz;

#if defined(DEVICE_KERNELS)
// One thread of a kernel, with its parameters as they lie in parameter memory.
extern "C" void kernel_generate_vectors(const uint8_t* parameters, uint32_t block, uint32_t thread, uint32_t blocks,
                                        uint32_t threads);
extern "C" void kernel_generate_sums(const uint8_t* parameters, uint32_t block, uint32_t thread, uint32_t blocks,
                                     uint32_t threads);
#endif

namespace {

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
  constexpr uint32_t block_size = 128, blocks = 4;
  with(s.rows(), s.columns());
  for (uint32_t thread = 0; thread < blocks * block_size; ++thread)
    kernel_generate_vectors(parameters.data(), thread / block_size, thread % block_size, blocks, block_size);
  with(s.cells(), 0);
  for (uint32_t thread = 0; thread < blocks * block_size; ++thread)
    kernel_generate_sums(parameters.data(), thread / block_size, thread % block_size, blocks, block_size);
#else
  const SweepRequest& r = source.request;
  for (uint64_t tile = r.first_tile; tile < r.first_tile + r.tiles; ++tile) {
    for (int row = 0; row < s.rows(); ++row) sweep::generate_vector(source, all, tile, true, row);
    for (int column = 0; column < s.columns(); ++column) sweep::generate_vector(source, all, tile, false, column);
    for (int cell = 0; cell < s.cells(); ++cell) sweep::generate_c(source, all, tile, cell);
  }
#endif
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream from(argv[1], std::ios::binary);
  std::vector<uint8_t> name, request, parents;
  while (read(from, name) && read(from, request) && read(from, parents)) {
    SweepSource source;
    if (request.size() != sizeof source.request) return 3;
    std::memcpy(&source.request, request.data(), request.size());
    std::vector<SweepParent> list(parents.size() / sizeof(SweepParent));
    std::memcpy(list.data(), parents.data(), parents.size());
    source.parents = list.data();
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
    std::printf("%s %016llx %016llx %016llx %016llx\n", std::string(name.begin(), name.end()).c_str(),
                static_cast<unsigned long long>(digest(a)), static_cast<unsigned long long>(digest(b)),
                static_cast<unsigned long long>(digest(c)),
                static_cast<unsigned long long>(digest(scale_a) ^ digest(scale_b)));
  }
  return 0;
}
