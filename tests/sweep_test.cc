// The sweep on the host: the generator's operands are functions of seed and number, planted mutants are found, equal
// units are not reported, unstable divergences are.
#include <gtest/gtest.h>

#include <functional>

#include "arithmetic/evaluate_dot.h"
#include "core/contradiction.h"
#include "gpu_bridge/sweep/narrow_shapes.def.h"
#include "gpu_bridge/sweep/sweep_run.h"
#include "oracles/families.h"
#include "plan/registry.h"
#include "oracles/models/model_rows.h"
#include "tests/named_units.h"

namespace mmafuzz {
namespace {

struct Sweep {
  std::unique_ptr<Unit> unit;
  std::unique_ptr<SweepRun> run;

  /// `unit_name` in place of the tensor core, against the row that it overrides.
  explicit Sweep(const std::string& unit_name, uint64_t seed = 1) {
    const std::string plain = unit_name.substr(0, unit_name.find('?'));
    const ModelRow* row = find_model_row(plain.substr(6));
    unit = std::move(*registry().bind(unit_name, row->op));
    SweepRequest request;
    request.model = row->model;
    request.shape = host_sweep_shape(row->op);
    request.seed = seed;
    request.trace_every = 4;
    const DotModel instead = *unit->model();
    run = std::make_unique<SweepRun>(
        request, row->op, *unit,
        [instead](const SweepRequest& r, const std::vector<SweepDot>& parents) {
          return sweep_on_host(r, parents, [&](const DotOperands& in) { return evaluate_dot(instead, in); });
        },
        16, 128);
  }
  void epochs(int n) {
    for (int i = 0; i < n; ++i) run->epoch(UINT64_MAX);
  }
};

TEST(Sweep, EqualUnitsAreNotReported) {
  for (const char* unit :
       {hopper.c_str(), "model:hopper/mma.m16n8k8.f32.tf32.tf32.f32", "model:hopper/mma.m16n8k32.f32.e4m3.e4m3.f32",
        "model:rtx_blackwell/mma.kind::mxf8f6f4.block32.m16n8k32.f32.e4m3.e2m1.f32.ue8m0",
        "model:ampere/mma.m8n8k4.f64.f64.f64.f64"}) {
    Sweep s(unit);
    s.epochs(2);
    EXPECT_EQ(s.run->divergent_dots(), 0u) << unit;
    EXPECT_GT(s.run->bins(), 100u) << unit;
  }
}

TEST(Sweep, PlantedMutantsAreFoundAndReproduced) {
  for (const char* change :
       {"?fraction_bits=24", "?fraction_bits=26", "?block=15", "?product=normalized", "?integer_bits=4",
        "?output_rounding=nearest_even", "?nan=7fc00000", "?zero_sign=any_negative"}) {
    Sweep s(std::string(hopper) + change);
    s.epochs(4);
    EXPECT_GT(s.run->divergent_dots(), 0u) << change;
    EXPECT_EQ(s.run->unstable_dots(), 0u) << change;
    ASSERT_FALSE(s.run->divergences().empty()) << change;
    for (const SweepDivergence& d : s.run->divergences()) EXPECT_NE(d.expected, d.got);
  }
}

TEST(Sweep, SameSeedSameFindings) {
  Sweep x(std::string(hopper) + "?fraction_bits=24", 7), y(std::string(hopper) + "?fraction_bits=24", 7),
      other(std::string(hopper) + "?fraction_bits=24", 8);
  for (Sweep* s : {&x, &y, &other}) s->epochs(3);
  ASSERT_EQ(x.run->divergences().size(), y.run->divergences().size());
  for (size_t i = 0; i < x.run->divergences().size(); ++i)
    EXPECT_EQ(x.run->divergences()[i].number, y.run->divergences()[i].number);
  EXPECT_EQ(x.run->bins(), y.run->bins());
  EXPECT_NE(x.run->divergent_dots(), other.run->divergent_dots());
}

/// Dots of a model on which the narrow sum of the shape gives something else, of all that its generator draws.
template <NarrowShape S>
void expect_narrow_equals(const ModelRow& row) {
  SweepRequest request;
  request.model = row.model;
  request.shape = host_sweep_shape(row.op);
  request.seed = 5;
  request.tiles = 48;
  TileBuffers buffers = generate_tiles(request, {});
  for (uint64_t tile = 0; tile < request.tiles; ++tile)
    for (int cell = 0; cell < request.shape.cells(); ++cell) {
      const sweep::Cell dot(request, buffers.view(), tile, cell);
      uint32_t a[S.k], b[S.k];
      std::copy_n(dot.a, S.k, a);
      std::copy_n(dot.b, S.k, b);
      int scale = 0;
      if (S.scale.width) {
        const Number x = decode(S.scale, dot.scale_a[0]), y = decode(S.scale, dot.scale_b[0]);
        if (x.cls == NumberClass::nan || y.cls == NumberClass::nan) continue;  // who calls the sum looks for those
        scale = x.scale_exponent + y.scale_exponent;
      }
      ASSERT_EQ(narrow_fused_sum<S>(row.model, a, b, static_cast<uint32_t>(dot.in.c), scale),
                evaluate_dot(row.model, dot.in))
          << row.name() << " tile " << tile << " cell " << cell;
    }
}

TEST(NarrowSum, GivesWhatTheGeneralKernelGives) {
  using namespace narrow_shapes;
  int rows = 0;
  const auto try_shape = [&]<NarrowShape S>(std::integral_constant<NarrowShape, S>) {
    int found = 0;
    for (const ModelRow& row : model_rows())
      if (narrow_fits(S, row.model, row.op.k)) {
        expect_narrow_equals<S>(row);
        ++found;
      }
    EXPECT_GT(found, 0) << "no model has this shape: k=" << S.k << " block=" << S.block;
    rows += found;
  };
#define ROW(kernel, k, block, a, b, scale, archs) \
  try_shape(std::integral_constant<NarrowShape, NarrowShape{Kernel::kernel, k, block, a, b, scale}>{});
  MMAFUZZ_NARROW(ROW)
#undef ROW
  EXPECT_GT(rows, 50);
}

TEST(Sweep, ATileDoesNotDependOnItsEpoch) {
  const ModelRow* row = find_model_row(hopper.substr(6));
  SweepRequest whole;
  whole.model = row->model;
  whole.shape = host_sweep_shape(row->op);
  whole.seed = 3;
  whole.tiles = 5;
  SweepRequest part = whole;
  part.first_tile = 3;
  part.tiles = 2;
  const TileBuffers all = generate_tiles(whole, {}), some = generate_tiles(part, {});
  const TileBytes bytes = tile_bytes(whole.shape, 1);
  EXPECT_TRUE(std::equal(some.a.begin(), some.a.end(), all.a.begin() + long(3 * bytes.a)));
  EXPECT_TRUE(std::equal(some.b.begin(), some.b.end(), all.b.begin() + long(3 * bytes.b)));
  EXPECT_TRUE(std::equal(some.c.begin(), some.c.end(), all.c.begin() + long(3 * bytes.c)));
}

struct Flaky {
  Sweep s{hopper};
  SweepRequest request;
  SweepRun run;

  static SweepRequest request_of(const std::string& unit) {
    const ModelRow* row = find_model_row(unit.substr(6));
    SweepRequest r;
    r.model = row->model;
    r.shape = host_sweep_shape(row->op);
    return r;
  }
  explicit Flaky(SweepRun::Engine engine, const Unit* unit = nullptr)
      : request(request_of(hopper)),
        run(request, find_model_row(hopper.substr(6))->op, unit ? *unit : *s.unit, std::move(engine), 16, 16) {}
};

/// A right unit, but for the second case of each batch.
class SecondIsWrong final : public Unit {
 public:
  explicit SecondIsWrong(const Unit& right) : right_(right) { describe("second_is_wrong", {}); }
  void run(const Batch& batch, Outcomes& outcomes) const override {
    right_.run(batch, outcomes);
    if (batch.size() > 1) outcomes.results.set(1, 0, outcomes.results.get(1) ^ 1);
  }

 private:
  const Unit& right_;
};

TEST(Sweep, UnstableComparesCellsAndNotCounts) {
  Sweep right(hopper);
  const SecondIsWrong second(*right.unit);
  // The sweep finds cell 99 of the first tile, the second look cell 1: one dot each time, and nothing was seen twice.
  Flaky flaky(
      [](const SweepRequest& r, const std::vector<SweepDot>& parents) {
        return sweep_on_host(
            r, parents, [&, n = 0](const DotOperands& in) mutable { return evaluate_dot(r.model, in) ^ (++n == 100); });
      },
      &second);
  flaky.run.epoch(16);
  EXPECT_EQ(flaky.run.divergent_dots(), 1u);
  EXPECT_EQ(flaky.run.unstable_dots(), 2u);
}

TEST(Sweep, ATraceThatContradictsItselfIsNoFindingButAContradiction) {
  Flaky broken([](const SweepRequest& r, const std::vector<SweepDot>& parents) {
    SweepAnswer answer = sweep_on_host(r, parents, [&](const DotOperands& in) { return evaluate_dot(r.model, in); });
    answer.first_impossible = 5;
    return answer;
  });
  try {
    broken.run.epoch(16);
    FAIL() << "nothing thrown";
  } catch (const Contradiction& e) {
    EXPECT_NE(std::string(e.what()).find("dot 5 of " + std::string(hopper)), std::string::npos) << e.what();
  }
}

TEST(Sweep, AnyNanIsAsClaimedOnlyWhereTheSourceDoesNotSay) {
  SweepRequest request = Flaky::request_of("model:hopper/mma.m8n8k4.f64.f64.f64.f64");
  const uint64_t claimed = 0x7ff8000000000000, other = 0x7fffffffffffffff, one = 0x3ff0000000000000;
  EXPECT_FALSE(sweep::is_as_claimed(request, other, claimed));
  request.any_nan = true;
  EXPECT_TRUE(sweep::is_as_claimed(request, other, claimed));
  EXPECT_FALSE(sweep::is_as_claimed(request, one, claimed));
  EXPECT_FALSE(sweep::is_as_claimed(request, other, one));
}

TEST(NarrowSum, IsNotTakenForSeveralInstructions) {
  using namespace narrow_shapes;
  const ModelRow* row = find_model_row("hopper/mma.m16n8k4.f32.tf32.tf32.f32");
  const NarrowShape four{Kernel::fused_sum, 4, 4, tf32, tf32};
  EXPECT_TRUE(narrow_fits(four, row->model, 4));
  EXPECT_FALSE(narrow_fits(four, row->model, 8));
}

/// Faults of places and memory, played on tiles as they lie in a sweep.
TEST(Diagnosis, NamesFaultsOfPlacesAndMemory) {
  SweepRequest request = Flaky::request_of(hopper);
  request.first_tile = 6;
  request.tiles = 2;
  const TileShape s = request.shape;
  TileBuffers tiles = generate_tiles(request, {});
  const auto claimed = [&](uint64_t tile, int cell) {
    return sweep::claimed_result(request.model, sweep::Cell(request, tiles.view(), request.first_tile + tile, cell).in);
  };
  const auto found = [&](const std::function<uint64_t(uint64_t tile, int cell)>& result) {
    return diagnose_tile(request, tiles, [&](TileBuffers& to) {
      for (uint64_t tile = 0; tile < 2; ++tile)
        for (int cell = 0; cell < s.cells(); ++cell)
          write_element(tiles_from(s, to.view(), tile).d, s.d_bits / 8, cell, result(tile, cell));
    });
  };
  const Place lane5 = c_place(s, s.d_bits, 5, 0);
  EXPECT_EQ(found([&](uint64_t tile, int cell) {
              return claimed(tile, cell) ^ (cell == lane5.row * s.n + lane5.column ? 8u : 0u);
            }),
            "wrong bit 3 of d in lane 5");
  EXPECT_EQ(found([&](uint64_t tile, int cell) { return claimed(tile, (cell / s.n ^ 8) * s.n + cell % s.n); }),
            "swapped fragments of d: rows and their number xor 8");
  EXPECT_EQ(found([&](uint64_t tile, int cell) {
              sweep::Cell x(request, tiles.view(), request.first_tile + tile, cell);
              if (tile == 1) x.in.c = claimed(0, cell);
              return sweep::claimed_result(request.model, x.in);
            }),
            "stale accumulator: c is the d of the tile before");
  EXPECT_EQ(found(claimed), "not seen when the tile ran again");
  DotModel other = request.model;
  other.fraction_bits = 24;
  EXPECT_EQ(found([&](uint64_t tile, int cell) {
              return evaluate_dot(other, sweep::Cell(request, tiles.view(), request.first_tile + tile, cell).in);
            }),
            "");
}

TEST(Sweep, WhatIsNotSeenAgainIsUnstable) {
  Sweep s(hopper);
  const ModelRow* row = find_model_row(hopper.substr(6));
  SweepRequest request;
  request.model = row->model;
  request.shape = host_sweep_shape(row->op);
  SweepRun flaky(
      request, row->op, *s.unit,
      [](const SweepRequest& r, const std::vector<SweepDot>& parents) {
        int n = 0;  // the 100th dot comes out wrong, once
        return sweep_on_host(
            r, parents, [&, n](const DotOperands& in) mutable { return evaluate_dot(r.model, in) ^ (++n == 100); });
      },
      16, 16);
  flaky.epoch(16);
  EXPECT_EQ(flaky.divergent_dots(), 1u);
  EXPECT_EQ(flaky.unstable_dots(), 1u);
  EXPECT_TRUE(flaky.divergences().empty());
}

}  // namespace
}  // namespace mmafuzz
