// Panels: the steps that device code runs give the operands that tiles in memory get, and the results of the general
// kernel, for every model with a fast comparison; the generator reaches as many bins as the one that drew each dot.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "arithmetic/evaluate_dot.h"
#include "gpu_bridge/instructions/instructions.h"
#include "gpu_bridge/sweep/host_sweep.h"
#include "gpu_bridge/sweep/instruction_claims.h"
#include "gpu_bridge/sweep/panel.h"
#include "gpu_bridge/sweep/sweep_run.h"
#include "oracles/models/model_rows.h"
#include "plan/registry.h"

namespace mmafuzz {
namespace {

SweepRequest request_of(const ModelRow& row) {
  SweepRequest r;
  r.model = row.model;
  r.shape = host_sweep_shape(row.op);
  r.seed = 5;
  return r;
}

/// All dots of three panels, some near parents; one panel has infinities and NaNs.
template <class Claim, int columns = sweep::panel_side, int threads = 256>
void expect_panel_equals_tiles(const std::string& name, SweepRequest request) {
  using Panel = sweep::Panel<Claim, columns, threads>;
  request.seed = 5;
  request.tiles = 4;
  std::vector<uint64_t> numbers;
  for (uint64_t tile = 0; tile < 4; ++tile)
    for (uint64_t cell = 0; cell < 5; ++cell)
      numbers.push_back(tile * static_cast<uint64_t>(request.shape.cells()) + cell * 7);
  const std::vector<SweepDot> parents = dots_of(request, {}, numbers);
  request.parents = static_cast<uint32_t>(parents.size());
  const SweepSource source{request, parents.data()};
  const auto panel = std::make_unique<Panel>();
  const uint64_t each = static_cast<uint64_t>(sweep::tiles_of_panel(request.shape));
  for (int thread = 0; thread < Panel::threads; ++thread) panel->make_tables(request, thread);
  uint64_t special = 22;
  while (!sweep::key_of_panel(request.seed, special).special) ++special;
  for (const uint64_t number : {uint64_t{20}, uint64_t{21}, special}) {
    for (int thread = 0; thread < Panel::threads; ++thread) panel->plan(source, number, thread);
    for (int thread = 0; thread < Panel::threads; ++thread) panel->draw(source, thread);
    request.first_tile = number * each;
    request.tiles = each;
    TileBuffers buffers = generate_tiles(request, parents);
    for (uint64_t tile = request.first_tile; tile < request.first_tile + each; ++tile) {
      const sweep::PanelPlace place = sweep::place_of_tile(request.shape, tile);
      for (int cell = 0; cell < request.shape.cells(); ++cell) {
        const int row = place.first_row + cell / request.shape.n, column = place.first_column + cell % request.shape.n;
        const sweep::Cell dot(request, buffers.view(), tile, cell);
        const uint64_t flip_a =
                           request.modifiers.negate_a ? request.model.a.in_container(request.model.a.sign_bit()) : 0,
                       flip_b =
                           request.modifiers.negate_b ? request.model.b.in_container(request.model.b.sign_bit()) : 0;
        for (int i = 0; i < Claim::k; ++i) {
          ASSERT_EQ(read_element(panel->row_encodings(row), Panel::bytes, i) ^ flip_a, dot.a[i]) << name;
          ASSERT_EQ(read_element(panel->column_encodings(column), Panel::bytes, i) ^ flip_b, dot.b[i]) << name;
        }
        for (int i = 0; i < Panel::scales; ++i) {
          ASSERT_EQ(panel->row_scales(row)[i], dot.scale_a[i]) << name;
          ASSERT_EQ(panel->column_scales(column)[i], dot.scale_b[i]) << name;
        }
        const auto c = panel->c_of(source, row, column);
        const uint64_t read = request.modifiers.scale_d ? c : 0;
        ASSERT_EQ(read, dot.in.c) << name << " tile " << tile << " cell " << cell;
        ASSERT_EQ(panel->claimed(request, row, column, c), sweep::claimed_result(request.model, dot.in))
            << name << " tile " << tile << " cell " << cell << " special panel " << panel->key.special;
      }
    }
  }
}

struct Tried {
  int panels = 0;
  std::vector<std::string> without;
};

/// The rows of the instructions, in their order.
template <int index>
struct Row;
constexpr int first_row = __COUNTER__ + 1;
#define NEXT(SHAPE, TYPES)                                  \
  template <>                                               \
  struct Row<__COUNTER__ - first_row> {                     \
    static constexpr TileShape shape = SHAPE;               \
    static constexpr sweep::InstructionTypes types = TYPES; \
  };
#define ROW(m, n, k, D, A, B, C, archs) NEXT(mma_shape(m, n, k, #D, #A, #B, #C), sweep::types_of(#D, #A, #B))
MMAFUZZ_MMA(ROW)
MMAFUZZ_F8F6F4(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) \
  NEXT(mma_shape(m, n, k, #D, #A, #B, #C, 1), sweep::types_of(#D, #A, #B, "ue8m0"))
MMAFUZZ_MXF8F6F4(ROW)
#undef ROW
#define SCALED(kind, type, block, size, archs) \
  NEXT(mma_shape(16, 8, 64, "f32", "e2m1", "e2m1", "f32", 64 / block), sweep::types_of("f32", "e2m1", "e2m1", #type))
MMAFUZZ_MXF4NVF4(SCALED)
#undef SCALED
#define ROW(m, n, k, D, A, B, C, archs) \
  NEXT(sparse_shape(mma_shape(m, n, k, #D, #A, #B, #C)), sweep::types_of(#D, #A, #B))
MMAFUZZ_MMA_SPARSE(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) \
  NEXT(with_family(TileFamily::wgmma, mma_shape(m, n, k, #D, #A, #B, #C)), sweep::types_of(#D, #A, #B))
MMAFUZZ_WGMMA(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) \
  NEXT(sparse_shape(with_family(TileFamily::wgmma, mma_shape(m, n, k, #D, #A, #B, #C))), sweep::types_of(#D, #A, #B))
MMAFUZZ_WGMMA_SPARSE(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) \
  NEXT(with_family(TileFamily::wmma, mma_shape(m, n, k, #D, #A, #B, #C)), sweep::types_of(#D, #A, #B))
MMAFUZZ_WMMA(ROW)
#undef ROW
#undef NEXT
constexpr int all_rows = __COUNTER__ - first_row;

/// One instruction against the model that it claims on an architecture.
template <class I, unsigned on>
void try_instruction(const Instruction& i, Tried& tried) {
  ASSERT_EQ(i.shape, I::shape);
  if ((i.archs & on) == 0) return;
  SweepRequest request;
  request.shape = I::shape;
  const std::string model = claimed_model(i, on);
  if (!model.empty()) {
    request.model = find_model_row(model.substr(6))->model;
  } else if (I::types.d.integer) {
    request.model.a = request.model.b = I::types.a;
    request.model.c = request.model.d = I::types.d;
    request.model.k = I::shape.k;
  } else {
    return;
  }
  if (!sweep::claim_fits(on, I::shape, I::types, request.model)) {
    tried.without.push_back(i.name + " against " + model);
    return;
  }
  constexpr NarrowShape narrow = sweep::narrow_shape_on(on, I::shape, I::types);
  if constexpr (sweep::claim_kind(I::shape, I::types) != sweep::ClaimKind::fused || narrow.k != 0) {
    constexpr int columns = sweep::panel_columns(I::shape), threads = sweep::panel_threads(I::shape);
    expect_panel_equals_tiles<sweep::ClaimOf<I, narrow>, columns, threads>(i.name + " against " + model, request);
    if (I::shape.family == TileFamily::wgmma && I::shape.n == 8 && !I::types.a.integer) {
      request.modifiers = {false, true, false};
      expect_panel_equals_tiles<sweep::ClaimOf<I, narrow>, columns, threads>(i.name + "?scale_d=0,negate_a=1", request);
    }
    ++tried.panels;
  }
}
template <class I>
void try_everywhere(const Instruction& i, Tried& tried) {
  try_instruction<I, arch::sm75>(i, tried);
  try_instruction<I, arch::sm80>(i, tried);
  try_instruction<I, arch::sm89>(i, tried);
  try_instruction<I, arch::sm90>(i, tried);
  try_instruction<I, arch::sm120>(i, tried);
}

/// All instructions take a minute to compile: that is all_panels_test, by night.
#ifdef MMAFUZZ_ALL_PANELS
constexpr int each = 1;
#else
constexpr int each = 4;
#endif

TEST(Panel, EveryInstructionSweepsInPanelsWithTheOperandsOfTilesAndTheResultsOfItsModel) {
  Tried tried;
  ASSERT_EQ(instructions().size(), size_t(all_rows));
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (try_everywhere<Row<each * i>>(instructions()[size_t(each * i)], tried), ...);
  }
  (std::make_integer_sequence<int, (all_rows + each - 1) / each>{});
  EXPECT_GT(tried.panels, 150 / each);
  for (const std::string& without : tried.without)  // four matrices side by side
    EXPECT_TRUE(without.starts_with("mma.m8n8k4") && without.find("f64") == std::string::npos) << without;
}

/// An epoch in panels, as a grid of `blocks` blocks runs it, here one after the other and the last one first; with
/// another model in the place of the matrix unit.
template <class Claim, int columns, int threads>
SweepAnswer sweep_in_blocks(const SweepRequest& request, const std::vector<SweepDot>& parents, uint64_t blocks,
                            const DotModel& instead) {
  using Panel = sweep::Panel<Claim, columns, threads>;
  const TileShape& shape = request.shape;
  const SweepSource source{request, parents.data()};
  const uint64_t tiles = static_cast<uint64_t>(sweep::tiles_of_panel(shape)), end = request.first_tile + request.tiles;
  std::vector<uint32_t> cells(request.tiles), differs(request.tiles * DivergentTile::words);
  const auto panel = std::make_unique<Panel>();
  for (int thread = 0; thread < Panel::threads; ++thread) panel->make_tables(request, thread);
  for (uint64_t block = blocks; block-- > 0;) {
    const sweep::PanelsOfBlock own = sweep::panels_of_block(request, block);
    for (uint64_t number = own.first; number < own.end; number += blocks) {
      for (int thread = 0; thread < Panel::threads; ++thread) panel->plan(source, number, thread);
      for (int thread = 0; thread < Panel::threads; ++thread) panel->draw(source, thread);
      for (uint64_t tile = number * tiles; tile < (number + 1) * tiles; ++tile) {
        if (tile < request.first_tile || tile >= end) continue;
        const sweep::PanelPlace place = sweep::place_of_tile(shape, tile);
        for (int cell = 0; cell < shape.cells(); ++cell) {
          const int row = place.first_row + cell / shape.n, column = place.first_column + cell % shape.n;
          const auto c = panel->c_of(source, row, column);
          // What is kept of elements is for the claimed model; encodings are for any.
          uint64_t a[Panel::k], b[Panel::k], scale_a[Panel::k], scale_b[Panel::k];
          for (int l = 0; l < Panel::k; ++l) {
            a[l] = read_element(panel->row_encodings(row), Panel::bytes, l);
            b[l] = read_element(panel->column_encodings(column), Panel::bytes, l);
          }
          for (int l = 0; l < Panel::scales; ++l) {
            scale_a[l] = panel->row_scales(row)[l];
            scale_b[l] = panel->column_scales(column)[l];
          }
          const uint64_t got = sweep::claimed_result(instead, {a, b, c, scale_a, scale_b, Panel::k});
          if (got == panel->claimed(request, row, column, c)) continue;
          ++cells[tile - request.first_tile];
          differs[(tile - request.first_tile) * DivergentTile::words + size_t(cell / 32)] |= 1u << (cell % 32);
        }
      }
    }
  }
  SweepAnswer answer;
  std::fill_n(answer.first_of_bin, bins::count, ~uint64_t{0});
  SweepRequest traced = request;
  traced.tiles = traced_tiles(request);
  TileBuffers buffers = generate_tiles(traced, parents);
  compare_tiles(traced, buffers, answer);  // for the bins: nothing ran, so all its dots may differ
  answer.divergent_dots = answer.divergent_tiles = 0;
  answer.listed = 0;
  answer.dots = request.tiles * static_cast<uint64_t>(shape.cells());
  list_divergent_tiles(request, cells, answer, [&](uint64_t i, uint32_t* to) {
    std::copy_n(&differs[i * DivergentTile::words], DivergentTile::words, to);
  });
  return answer;
}

/// A row of the instructions with a mutant of the model that it claims in the place of the matrix unit.
template <class I, unsigned on>
void expect_same_findings_for_any_grid(const std::string& name, const std::string& mutation,
                                       const std::vector<uint64_t>& grids) {
  constexpr NarrowShape narrow = sweep::narrow_shape_on(on, I::shape, I::types);
  using Claim = sweep::ClaimOf<I, narrow>;
  constexpr int columns = sweep::panel_columns(I::shape), threads = sweep::panel_threads(I::shape);
  const Instruction& instruction = instructions()[size_t(find_instruction(name))];
  ASSERT_EQ(instruction.shape, I::shape);
  const std::string model = claimed_model(instruction, on);
  const Op op = instruction.op;
  SweepRequest request;
  request.seed = 5;
  request.shape = I::shape;
  request.model = find_model_row(model.substr(6))->model;
  ASSERT_TRUE(sweep::claim_fits(on, I::shape, I::types, request.model));
  Result<std::unique_ptr<Unit>> bound = registry().bind(model + "?" + mutation, op);
  ASSERT_TRUE(bound) << bound.refusal().reason;
  const std::unique_ptr<Unit> unit = std::move(*bound);
  const auto findings = [&](uint64_t blocks) {
    SweepRun run(
        request, op, *unit,
        [&](const SweepRequest& r, const std::vector<SweepDot>& parents) {
          return sweep_in_blocks<Claim, columns, threads>(r, parents, blocks, *unit->model());
        },
        40, 160);  // epochs begin and end inside of panels
    const uint64_t dots = 50000, cells = static_cast<uint64_t>(I::shape.cells());
    while (run.dots() < dots) run.epoch((dots - run.dots() + cells - 1) / cells);
    std::vector<uint64_t> all{run.dots(), run.divergent_dots(), run.unstable_dots(), run.bins(), run.tiles().size()};
    for (const DivergentTile& tile : run.tiles()) {
      all.push_back(tile.tile);
      all.insert(all.end(), tile.differs, tile.differs + DivergentTile::words);
    }
    for (const SweepDivergence& d : run.divergences()) all.insert(all.end(), {d.number, d.expected, d.got});
    return all;
  };
  const std::vector<uint64_t> one = findings(1);
  EXPECT_GT(one[1], 0u) << name;
  EXPECT_EQ(one[2], 0u) << name << ": the tile in memory gives other results than the panel";
  for (const uint64_t blocks : grids) EXPECT_EQ(findings(blocks), one) << name << ", " << blocks << " blocks";
}

struct Mma16 {
  static constexpr TileShape shape = mma_shape(16, 8, 16, "f32", "f16", "f16", "f32");
  static constexpr sweep::InstructionTypes types = sweep::types_of("f32", "f16", "f16");
};
struct Wgmma8 {
  static constexpr TileShape shape = with_family(TileFamily::wgmma, mma_shape(64, 8, 16, "f32", "f16", "f16", "f32"));
  static constexpr sweep::InstructionTypes types = sweep::types_of("f32", "f16", "f16");
};
struct Wgmma256 {
  static constexpr TileShape shape =
      with_family(TileFamily::wgmma, mma_shape(64, 256, 32, "f32", "e4m3", "e4m3", "f32"));
  static constexpr sweep::InstructionTypes types = sweep::types_of("f32", "e4m3", "e4m3");
};
struct Mxf4nvf4 {
  static constexpr TileShape shape = mma_shape(16, 8, 64, "f32", "e2m1", "e2m1", "f32", 4);
  static constexpr sweep::InstructionTypes types = sweep::types_of("f32", "e2m1", "e2m1", "ue4m3");
};
struct Mxf8f6f4 {
  static constexpr TileShape shape = mma_shape(16, 8, 32, "f32", "e4m3", "e2m1", "f32", 1);
  static constexpr sweep::InstructionTypes types = sweep::types_of("f32", "e4m3", "e2m1", "ue8m0");
};

TEST(Panel, TheSameSeedGivesTheSameFindingsForAnyGrid) {
  expect_same_findings_for_any_grid<Mma16, arch::sm90>("mma.m16n8k16.f32.f16.f16.f32", "fraction_bits=24",
                                                       {2, 3, 7, 132, 1000});
  expect_same_findings_for_any_grid<Wgmma8, arch::sm90>("wgmma.m64n8k16.f32.f16.f16.f32", "fraction_bits=24",
                                                        {2, 7, 1000});
  expect_same_findings_for_any_grid<Wgmma256, arch::sm90>("wgmma.m64n256k32.f32.e4m3.e4m3.f32", "fraction_bits=12",
                                                          {3, 132});
  expect_same_findings_for_any_grid<Mxf4nvf4, arch::sm120>(
      "mma.kind::mxf4nvf4.block16.m16n8k64.f32.e2m1.e2m1.f32.ue4m3", "fraction_bits=34", {2, 7, 1000});
  expect_same_findings_for_any_grid<Mxf8f6f4, arch::sm120>(
      "mma.kind::mxf8f6f4.block32.m16n8k32.f32.e4m3.e2m1.f32.ue8m0", "fraction_bits=24", {2, 7, 1000});
}

TEST(Panel, FormatsOfPtxTypesAreThoseOfTheLibrary) {
  for (const char* type :
       {"f64", "f32", "f16", "bf16", "tf32", "e5m2", "e4m3", "e3m2", "e2m3", "e2m1", "ue4m3", "ue8m0", "s8", "s32"})
    EXPECT_EQ(narrow_shapes::of_type(type), format_of_type(type).fields()) << type;
  EXPECT_EQ(narrow_shapes::of_type("none").width, 0);
}

/// Bins that 10^6 dots reached with the generator that drew each dot by itself (the better one of seeds 1 and 2 where
/// both were counted; every dot traced, epochs from 64 to 1,024 tiles); commit 1560f81.
struct BinsBefore {
  const char* row;
  size_t of_a_million;
};
constexpr BinsBefore before[] = {
    {"hopper/mma.m16n8k16.f32.f16.f16.f32", 852},
    {"hopper/mma.m16n8k16.f16.f16.f16.f16", 944},
    {"hopper/mma.m16n8k16.f32.bf16.bf16.f32", 958},
    {"hopper/mma.m16n8k8.f32.tf32.tf32.f32", 914},
    {"hopper/mma.m16n8k32.f32.e4m3.e4m3.f32", 690},
    {"hopper/mma.m16n8k32.f16.e5m2.e4m3.f16", 850},
    {"ampere/mma.m16n8k16.f32.f16.f16.f32", 821},
    {"hopper/mma.m16n8k16.f64.f64.f64.f64", 426},
    {"hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32", 737},
    {"hopper/mma.m8n8k4.f32.f16.f16.f32", 362},
    {"rtx_blackwell/mma.kind::mxf8f6f4.block32.m16n8k32.f32.e4m3.e2m1.f32.ue8m0", 733},
    {"rtx_blackwell/mma.kind::mxf4nvf4.block16.m16n8k64.f32.e2m1.e2m1.f32.ue4m3", 509},
};

size_t bins_of(const ModelRow& row, uint64_t seed, uint64_t dots) {
  SweepRequest request = request_of(row);
  request.seed = seed;
  request.trace_every = 1;
  const std::unique_ptr<Unit> unit = std::move(*registry().bind("model:" + row.name(), row.op));
  const DotModel m = row.model;
  SweepRun run(
      request, row.op, *unit,
      [m](const SweepRequest& r, const std::vector<SweepDot>& parents) {
        return sweep_on_host(r, parents, [&](const DotOperands& in) { return evaluate_dot(m, in); });
      },
      64, 1024);
  const uint64_t cells = static_cast<uint64_t>(request.shape.cells());
  while (run.dots() < dots) run.epoch((dots - run.dots() + cells - 1) / cells);
  EXPECT_EQ(run.divergent_dots(), 0u);
  return run.bins();
}

TEST(Panel, CrossedRowsAndColumnsReachNoFewerBinsThanDotsDrawnOneByOne) {
  if (!std::getenv("MMAFUZZ_NIGHTLY")) GTEST_SKIP() << "10^6 dots of 12 models: nightly";
  for (const BinsBefore& b : before)
    for (const uint64_t seed : {1u, 2u}) {
      const size_t bins = bins_of(*find_model_row(b.row), seed, 1000000);
      std::printf("%-80s seed %d: %4zu bins, %4zu before\n", b.row, int(seed), bins, b.of_a_million);
      EXPECT_GE(bins, b.of_a_million) << b.row << " seed " << seed;
    }
}

}  // namespace
}  // namespace mmafuzz
