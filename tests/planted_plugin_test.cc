// The planted wrong unit (planted_plugin/) is out of reach of random operands: its corner does not occur among
// structured ones, uniform encodings, normal values and spread exponents (10^7 of each under the label nightly).
// planted_plugin_found.py shows that a campaign gets there.
#include <gtest/gtest.h>

#include "core/dot_case.h"
#include "oracles/models/model_rows.h"
#include "search/random_generators.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"
#include "tests/planted_plugin/corner.h"

namespace mmafuzz {
namespace {

constexpr size_t chunk = 1024;

const ModelRow& hopper() { return *find_model_row("hopper/mma.m16n8k16.f32.f16.f16.f32"); }

template <class Fill>
uint64_t cases_in_the_corner(Fill fill) {
  const Op& op = hopper().op;
  Batch batch(op);
  batch.resize(chunk);
  DotCase one(op);
  uint64_t reached = 0;
  for (uint64_t first = 0; first < case_count(200000, 10000000); first += chunk) {
    fill(first, batch);
    for (size_t i = 0; i < chunk; ++i) {
      PlantedCorner corner;
      evaluate_dot(hopper().model, one.load(batch, i), corner);
      reached += corner.reached;
    }
  }
  return reached;
}

TEST(PlantedPlugin, StructuredOperandsMissItsCorner) {
  const StructuredGenerator generator(hopper().op, 1);
  EXPECT_EQ(cases_in_the_corner([&](uint64_t first, Batch& batch) { generator.fill(first, chunk, batch); }), 0u);
}

TEST(PlantedPlugin, RandomOperandsMissItsCorner) {
  for (const RandomKind kind : random_kinds) {
    const RandomGenerator generator(hopper().op, kind, 1);
    EXPECT_EQ(cases_in_the_corner([&](uint64_t first, Batch& batch) { generator.fill(first, chunk, batch); }), 0u)
        << name_of(kind);
  }
}

/// The corner exists: -1.5 units beside an exact cancellation, so that the sum is the last kept bit.
TEST(PlantedPlugin, ItsCornerIsNotEmpty) {
  // c = -1, a0*b0 = 1, greatest exponent 0, unit 2^-25: a1*b1 = -1.5 * 2^-25.
  uint64_t a[16] = {0x3c00, 0x8003}, b[16] = {0x3c00, 0x3800};  // 1*1, -3*2^-24 * 0.5 = -3 * 2^-25
  b[1] = 0x3400;                                                // -3*2^-24 * 0.25 = -1.5 * 2^-25
  DotOperands in;
  in.a = a;
  in.b = b;
  in.c = 0xbf800000;
  in.k = 16;
  PlantedCorner corner;
  const uint64_t d = evaluate_dot(hopper().model, in, corner);
  EXPECT_TRUE(corner.reached);
  EXPECT_EQ(d, 0xb3000000u) << "-2^-25";
}

}  // namespace
}  // namespace mmafuzz
