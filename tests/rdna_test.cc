// RDNA3 and RDNA4: a matrix instruction of RDNA3 is a chain of its dot products (docs/semantics.md, 13), and what the
// mode bit FP16_OVFL does to fp16 results, worked out by hand.
#include <gtest/gtest.h>

#include "core/case_text.h"
#include "oracles/models/model_rows.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "search/structured_generator.h"
#include "tests/run_one_dot.h"

namespace mmafuzz {
namespace {

/// How many of the cases a chain of one row's calls, each with the result of the last one as its c, gives other bits
/// on than one call of another row.
size_t differing(const std::string& row_of_steps, const std::string& row, size_t count) {
  const Op& whole = find_model_row(row)->op;
  const Op& step = find_model_row(row_of_steps)->op;
  const std::unique_ptr<Unit> unit = bind_or_fail("model:" + row, whole),
                              unit_of_steps = bind_or_fail("model:" + row_of_steps, step);
  size_t found = 0;
  for (size_t first = 0; first < count; first += 10'000) {
    Batch cases, calls(step);
    StructuredGenerator(whole, 13).fill(first, 10'000, cases);
    calls.resize(cases.size());
    Outcomes expected, last;
    unit->run(cases, expected);
    for (int at = 0; at < whole.k; at += step.k) {
      for (size_t i = 0; i < cases.size(); ++i) {
        for (int j = 0; j < step.k; ++j) {
          calls.inputs()[0].set(i, j, cases.a().get(i, at + j));
          calls.inputs()[1].set(i, j, cases.b().get(i, at + j));
        }
        calls.inputs()[2].set(i, 0, at == 0 ? cases.c().get(i) : last.results.get(i));
      }
      unit_of_steps->run(calls, last);
    }
    for (size_t i = 0; i < cases.size(); ++i) found += last.results.get(i) != expected.results.get(i);
  }
  return found;
}

TEST(Rdna3, WmmaIsAChainOfDotProducts) {
  for (const std::string types : {".f32.f16.f16.f32", ".f32.bf16.bf16.f32"})
    EXPECT_EQ(differing("rdna3/v_dot2.1x1x2" + types, "rdna3/wmma.16x16x16" + types, 300'000), 0u) << types;
}

/// The cases tell: RDNA4's matrix instructions take four products in a step.
TEST(Rdna4, WmmaIsNoChainOfDotProducts) {
  for (const std::string types : {".f32.f16.f16.f32", ".f32.bf16.bf16.f32"})
    EXPECT_GT(differing("rdna4/v_dot2.1x1x2" + types, "rdna4/wmma_w64.16x16x16" + types, 10'000), 100u) << types;
}

/// In RDNA3's frame of c's sign nothing is floored: c without a bit left is zero there, and cannot be asked to be -1.
TEST(Rdna3, TakesNoFlooredC) {
  const Op& op = find_model_row("rdna3/v_dot2.1x1x2.f32.f16.f16.f32")->op;
  for (const std::string prefix : {"model:rdna3/", "twin:rdna3/"}) {
    EXPECT_FALSE(registry().bind(prefix + "v_dot2.1x1x2.f32.f16.f16.f32?lost_c=floored", op));
    EXPECT_TRUE(registry().bind(prefix + "v_dot2.1x1x2.f32.f16.f16.f32?cut=floor,lost_c=floored", op));
  }
}

/// The first operands of a dot of fp16; the others are +0.
struct SmallDot {
  std::vector<uint64_t> a, b;
  uint64_t c;
  uint64_t result, saturated;
};

std::vector<std::string> rows_of_fp16_results() {
  std::vector<std::string> names;
  for (const ModelRow& row : model_rows())
    if (row.model.kernel == Kernel::floored_sum && row.model.d == format("fp16").fields()) names.push_back(row.name());
  return names;
}

void expect(const std::vector<SmallDot>& dots) {
  const std::vector<std::string> rows = rows_of_fp16_results();
  ASSERT_EQ(rows.size(), 4u);  // RDNA3's wmma; RDNA4's in both waves, and its v_dot2
  for (const std::string& name : rows)
    for (const SmallDot& dot : dots)
      for (const char* family : {"model:", "twin:"}) {
        const Op& op = find_model_row(name)->op;
        std::vector<uint64_t> a = dot.a, b = dot.b;
        if (a.size() > static_cast<size_t>(op.k)) continue;
        a.resize(static_cast<size_t>(op.k));
        b.resize(static_cast<size_t>(op.k));
        const auto result = [&](const std::string& unit) {
          return to_hex(op.d, run_one_dot(*bind_or_fail(unit, op), op, a, b, dot.c));
        };
        const std::string what = family + name + " of " + to_hex(op.a, a[0]) + " and c " + to_hex(op.c, dot.c);
        EXPECT_EQ(result(family + name), to_hex(op.d, dot.result)) << what;
        EXPECT_EQ(result(family + name + "?overflow=saturate"), to_hex(op.d, dot.saturated)) << what;
      }
}

// 7bff is 65504, 5c00 is 256, 4c00 is 16, 4bff is 16 - 2^-7.
TEST(Fp16Overflow, IsAnInfinityOrTheGreatestNumber) {
  expect({{{0x5c00}, {0x5c00}, 0, 0x7c00, 0x7bff},                  // 2^16
          {{0xdc00}, {0x5c00}, 0, 0xfc00, 0xfbff},                  // -2^16
          {{0x7bff}, {0x3c00}, 0x4c00, 0x7c00, 0x7bff},             // 65520, a tie: to even is 2^16
          {{0xfbff, 0x8000}, {0x3c00, 0}, 0xcc00, 0xfc00, 0xfbff},  // -65520; beside it RDNA3 reads +0 as -1 unit
          {{0x7bff}, {0x3c00}, 0x4bff, 0x7bff, 0x7bff},             // just below the tie: 65504 in either mode
          {{0x7bff, 0x7bff}, {0x7bff, 0x7bff}, 0x7bff, 0x7c00, 0x7bff}});
}

TEST(Fp16Overflow, OfAStepIsTheNextOnesC) {
  // 2^16 in the first step and -2^16 in a later one: an infinity stays, and 65504 - 2^16 is -32 (d000).
  expect({{{0x5c00, 0, 0, 0, 0xdc00}, {0x5c00, 0, 0, 0, 0x5c00}, 0, 0x7c00, 0xd000}});
}

// RDNA3 ISA, MODE.FP16_OVFL: infinities that are true ones stay.
TEST(Fp16Overflow, LeavesInfinitiesOfOperands) {
  expect({{{0x7c00}, {0x3c00}, 0, 0x7c00, 0x7c00},
          {{0x3c00}, {0xfc00}, 0, 0xfc00, 0xfc00},
          {{0x3c00}, {0x3c00}, 0x7c00, 0x7c00, 0x7c00},
          {{0x3c00}, {0x3c00}, 0xfc00, 0xfc00, 0xfc00},
          {{0x5c00}, {0x5c00}, 0xfc00, 0xfc00, 0xfc00},  // a product beyond 65504 is finite until it is rounded
          {{0x7c00}, {0x0000}, 0, 0xfe00, 0xfe00},       // 0 * infinity
          {{0x7c00}, {0x3c00}, 0xfc00, 0xfe00, 0xfe00}});
}

}  // namespace
}  // namespace mmafuzz
