#include "gpu_bridge/sweep/host_sweep.h"

#include <algorithm>
#include <chrono>

namespace mmafuzz {
namespace {

/// The sink of a trace: keeps the least number of a dot in each bin.
struct FirstOfBin {
  SweepAnswer& answer;
  uint64_t number = 0;
  void hit(int bin) { answer.first_of_bin[bin] = std::min(answer.first_of_bin[bin], number); }
  void impossible(const char*) { answer.first_impossible = std::min(answer.first_impossible, number); }
};

/// Counts a divergent tile with its `cells` divergent dots, and lists it while there is room. Tiles must come in order
/// of their numbers.
void note_divergent_tile(SweepAnswer& answer, const DivergentTile& tile, uint64_t cells) {
  answer.divergent_dots += cells;
  ++answer.divergent_tiles;
  if (answer.listed < SweepAnswer::greatest_listed) answer.tile[answer.listed++] = tile;
}

}  // namespace

void list_divergent_tiles(const SweepRequest& request, const std::vector<uint32_t>& cells, SweepAnswer& answer,
                          const std::function<void(uint64_t tile, uint32_t* to)>& read_words) {
  for (uint64_t i = 0; i < request.tiles; ++i) {
    if (cells[i] == 0) continue;
    DivergentTile tile;
    tile.tile = request.first_tile + i;
    if (answer.listed < SweepAnswer::greatest_listed) read_words(i, tile.differs);
    note_divergent_tile(answer, tile, cells[i]);
  }
}

TileBuffers generate_tiles(const SweepRequest& request, const std::vector<SweepDot>& parents) {
  const TileShape& s = request.shape;
  TileBuffers buffers(s, 1, request.tiles);
  buffers.number = request.first_tile;
  const Tiles all = buffers.view();
  const SweepSource source{request, parents.data()};
  for (uint64_t tile = request.first_tile; tile < request.first_tile + request.tiles; ++tile) {
    for (int row = 0; row < s.rows(); ++row) sweep::generate_vector(source, all, tile, /*is_a=*/true, row);
    for (int column = 0; column < s.columns(); ++column)
      sweep::generate_vector(source, all, tile, /*is_a=*/false, column);
    for (int cell = 0; cell < s.cells(); ++cell) sweep::generate_c(source, all, tile, cell);
  }
  return buffers;
}

void compare_tiles(const SweepRequest& request, TileBuffers& buffers, SweepAnswer& answer) {
  const TileShape& s = request.shape;
  const Tiles all = buffers.view();
  for (uint64_t& first : answer.first_of_bin) first = ~uint64_t{0};
  FirstOfBin sink{answer};
  for (uint64_t tile = request.first_tile; tile < request.first_tile + request.tiles; ++tile) {
    DivergentTile found;
    found.tile = tile;
    const Tiles t = tiles_from(s, all, tile - request.first_tile);
    for (int cell = 0; cell < s.cells(); ++cell) {
      const sweep::Cell operands(request, all, tile, cell);
      if (!sweep::is_as_claimed(request, read_element(t.d, s.d_bits / 8, cell),
                                sweep::claimed_result(request.model, operands.in)))
        found.mark(cell);
      if (tile - request.first_tile < traced_tiles(request) && !request.model.d.integer) {
        sink.number = tile * static_cast<uint64_t>(s.cells()) + static_cast<uint64_t>(cell);
        sweep::trace_cell(request.model, operands.in, sink);
      }
    }
    if (const int cells = found.cells()) note_divergent_tile(answer, found, static_cast<uint64_t>(cells));
  }
  answer.dots += request.tiles * static_cast<uint64_t>(s.cells());
}

SweepAnswer sweep_on_host(const SweepRequest& request, const std::vector<SweepDot>& parents,
                          const std::function<uint64_t(const DotOperands&)>& instead) {
  const auto start = std::chrono::steady_clock::now();
  const TileShape& s = request.shape;
  SweepAnswer answer;
  TileBuffers buffers = generate_tiles(request, parents);
  const Tiles all = buffers.view();
  for (uint64_t tile = request.first_tile; tile < request.first_tile + request.tiles; ++tile)
    for (int cell = 0; cell < s.cells(); ++cell) {
      const sweep::Cell operands(request, all, tile, cell);
      write_element(tiles_from(s, all, tile - request.first_tile).d, s.d_bits / 8, cell, instead(operands.in));
    }
  compare_tiles(request, buffers, answer);
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answer;
}

SweepDot dot_at(const SweepRequest& request, const Tiles& tiles, uint64_t tile, int cell) {
  SweepRequest plain = request;
  plain.modifiers = {};  // the operands as they are stored in the tile
  const sweep::Cell operands(plain, tiles, tile, cell);
  SweepDot dot{};
  std::copy_n(operands.a, request.shape.k, dot.a);
  std::copy_n(operands.b, request.shape.k, dot.b);
  std::copy_n(operands.scale_a, request.shape.scales, dot.scale_a);
  std::copy_n(operands.scale_b, request.shape.scales, dot.scale_b);
  dot.c = operands.in.c;
  return dot;
}

std::vector<SweepDot> dots_of(const SweepRequest& request, const std::vector<SweepDot>& parents,
                              const std::vector<uint64_t>& numbers) {
  const auto cells = static_cast<uint64_t>(request.shape.cells());
  std::vector<SweepDot> dots;
  SweepRequest one = request;
  one.tiles = 1;
  for (size_t i = 0; i < numbers.size();) {
    one.first_tile = numbers[i] / cells;
    TileBuffers buffers = generate_tiles(one, parents);
    for (; i < numbers.size() && numbers[i] / cells == one.first_tile; ++i)
      dots.push_back(dot_at(one, buffers.view(), one.first_tile, static_cast<int>(numbers[i] % cells)));
  }
  return dots;
}

}  // namespace mmafuzz
