// Panels: the steps that device code runs give the operands that tiles in memory get, and the results of the general
// kernel, for every model with a fast comparison; the generator reaches as many bins as the one that drew each dot.
#include <gtest/gtest.h>

#include <memory>

#include "arithmetic/evaluate_dot.h"
#include "gpu_bridge/kernels/narrow_shapes.def.h"
#include "gpu_bridge/sweep/host_sweep.h"
#include "gpu_bridge/sweep/panel.h"
#include "gpu_bridge/sweep/sweep_run.h"
#include "oracles/models/model_rows.h"

namespace mmafuzz {
namespace {

SweepRequest request_of(const ModelRow& row) {
  SweepRequest r;
  r.model = row.model;
  r.shape = host_sweep_shape(row.op);
  r.seed = 5;
  return r;
}

template <NarrowShape S, bool half>
void expect_panel_equals_tiles(const ModelRow& row) {
  using Panel = sweep::Panel<S, half>;
  SweepRequest request = request_of(row);
  if (sweep::panel_rows(request.shape) != Panel::side || request.shape.matrices != 1) return;
  std::vector<SweepParent> parents;
  request.tiles = 4;
  for (uint64_t tile = 0; tile < 4; ++tile)
    for (int cell = 0; cell < 5; ++cell) parents.push_back(dot_of_cell(request, {}, tile, cell * 7));
  request.parents = static_cast<uint32_t>(parents.size());
  const SweepSource source{request, parents.data()};
  const auto panel = std::make_unique<Panel>();
  const uint64_t each = static_cast<uint64_t>(sweep::tiles_of_panel(request.shape));
  for (int thread = 0; thread < Panel::threads; ++thread) panel->make_tables(request, thread);
  for (uint64_t number = 20; number < 28; ++number) {
    for (int thread = 0; thread < Panel::threads; ++thread) panel->plan(source, number, thread);
    for (int thread = 0; thread < Panel::threads; ++thread) panel->draw(source, thread);
    request.first_tile = number * each;
    request.tiles = each;
    TileBuffers buffers = generate_tiles(request, parents);
    for (uint64_t tile = request.first_tile; tile < request.first_tile + each; ++tile) {
      const sweep::PanelPlace place = sweep::place_of_tile(request.shape, tile);
      const Tiles t = tiles_from(request.shape, buffers.view(), tile - request.first_tile);
      for (int cell = 0; cell < request.shape.cells(); ++cell) {
        const int row_of = place.first_row + cell / request.shape.n,
                  column = place.first_column + cell % request.shape.n;
        const sweep::Cell dot(request, buffers.view(), tile, cell);
        for (int i = 0; i < S.k; ++i) {
          ASSERT_EQ(read_element(panel->encodings[0], Panel::bytes, row_of * S.k + i), dot.a[i]) << row.name();
          ASSERT_EQ(read_element(panel->encodings[1], Panel::bytes, column * S.k + i), dot.b[i]) << row.name();
        }
        const uint32_t c = panel->c_of(source, request.shape, row_of, column);
        ASSERT_EQ(c, dot.in.c) << row.name() << " tile " << tile << " cell " << cell;
        ASSERT_EQ(panel->claimed(request, row_of, column, c), evaluate_dot(row.model, dot.in))
            << row.name() << " tile " << tile << " cell " << cell << " special panel " << panel->key.special;
      }
      (void)t;
    }
  }
}

TEST(Panel, StepsOfTheDeviceGiveTheOperandsOfTilesAndTheModelsResults) {
  using namespace narrow_shapes;
  int rows = 0;
  const auto try_shape = [&]<NarrowShape S>(std::integral_constant<NarrowShape, S>) {
    for (const ModelRow& row : model_rows()) {
      if (!narrow_fits(S, row.model, row.op.k)) continue;
      if (row.model.d.width == 16) expect_panel_equals_tiles<S, true>(row);
      else expect_panel_equals_tiles<S, false>(row);
      ++rows;
    }
  };
#define ROW(kernel, k, block, a, b, archs) \
  try_shape(std::integral_constant<NarrowShape, NarrowShape{Kernel::kernel, k, block, a, b}>{});
  MMAFUZZ_NARROW(ROW)
#undef ROW
  EXPECT_GT(rows, 50);
}

}  // namespace
}  // namespace mmafuzz
