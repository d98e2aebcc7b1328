// The exact dot product four ways: the vector kernel, the fast path, the MPFR referee and the big-integer twin give the
// same bits.
#include "oracles/exact/exact_dot_simd.h"

#include <gtest/gtest.h>

#include "core/case_text.h"
#include "core/registry.h"
#include "oracles/families.h"
#include "core/function_unit.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"
#include "tests/each_vector_target.h"
#include "tests/run_one_dot.h"
#include "tests/uniform_bits.h"
#include "tests/test_names.h"

namespace mmafuzz {
namespace {

std::vector<std::string> ops() {
  std::vector<std::string> all = {"dot a=fp16 b=fp16 c=fp32 d=fp32 k=16",
                                  "dot a=bf16 b=bf16 c=fp32 d=fp32 k=16",
                                  "dot a=tf32 b=tf32 c=fp32 d=fp32 k=8",
                                  "dot a=fp16 b=fp16 c=fp16 d=fp16 k=16",
                                  "dot a=e4m3 b=e5m2 c=fp32 d=fp32 k=32",
                                  "dot a=fp32 b=fp32 c=fp32 d=fp32 k=4",
                                  "dot a=fp64 b=fp64 c=fp64 d=fp64 k=4",
                                  "dot a=e4m3fnuz b=e5m2fnuz c=fp32 d=fp32 k=16",
                                  "dot a=fp16 b=bf16 c=fp64 d=bf16 k=3",
                                  "dot a=e4m3 b=e2m1 c=fp32 d=fp32 k=32 sa=e8m0 sb=e8m0 sblock=32",
                                  "dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=64 sa=ue4m3 sb=ue4m3 sblock=16",
                                  "dot a=e5m2 b=cfloat8_1_4_3:7 c=fp16 d=fp32 k=37 sa=ue4m3 sb=e8m0 sblock=12",
                                  "dot a=fp32 b=fp32 c=fp32 d=bf16 k=64 sa=e8m0 sb=e8m0 sblock=32",
                                  "dot a=fp16 b=fp16 c=fp16 d=binary8p7se k=4 ftz=1",
                                  "dot a=fp16 b=fp16 c=fp16 d=e4m3 k=4",
                                  "dot a=fp16 b=fp16 c=fp16 d=e5m2fnuz k=4",
                                  "dot a=s8 b=s8 c=fp32 d=fp32 k=8",
                                  "dot a=e3m2 b=e2m3 c=fp32 d=e2m1 k=8",
                                  "dot a=cfloat8_1_4_3:7 b=cfloat8_1_4_3:60 c=fp32 d=cfloat8_1_4_3:30 k=8",
                                  "dot a=shp:31 b=uhp c=fp32 d=shp:31?denormal=gradual k=8",
                                  "dot a=fp16 b=fp16 c=fp32 d=uhp k=4",
                                  "dot a=fp16 b=fp16 c=fp32 d=tf32 k=4"};
  const size_t plain = all.size();
  for (size_t i = 0; i < plain; ++i)
    for (const char* mode : {"toward_zero", "up", "down", "nearest_away", "odd"})
      all.push_back(all[i] + " round=" + mode);
  all.push_back("dot a=fp16 b=fp16 c=fp16 d=e4m3 k=4 saturate=1");
  return all;
}

class ExactDot : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Ops, ExactDot, testing::ValuesIn(ops()), test_name);

/// The vector kernel's results, or the fast path's where the op or this machine has none.
Column batch_results(const Op& op, const Batch& batch) {
  Outcomes outcomes;
  const Registry registry = oracle_registry();
  (*registry.bind("exact", op))->run(batch, outcomes);
  return std::move(outcomes.results);
}

TEST_P(ExactDot, VectorKernelFastPathRefereeAndTwinAgree) {
  const Op op = *parse_op(GetParam());
  const exact::FastDot fast(op);
  Batch batch;
  DotCase one(op);
  const size_t cases = case_count(1000, 1000000 / 20);  // 95 ops: 4.7 million by night
  StructuredGenerator(op, 3).fill(0, cases, batch);
  const Column vector = batch_results(op, batch);
  for (size_t i = 0; i < batch.size(); ++i) {
    const DotOperands& in = one.load(batch, i);
    const uint64_t referee = exact::mpfr_dot(op, in);
    ASSERT_EQ(to_hex(op.d, vector.get(i)), to_hex(op.d, referee)) << case_line(batch, i);
    ASSERT_EQ(to_hex(op.d, fast(in)), to_hex(op.d, referee)) << case_line(batch, i);
    ASSERT_EQ(to_hex(op.d, exact::bigint_dot(op, in)), to_hex(op.d, referee)) << case_line(batch, i);
  }
}

TEST_P(ExactDot, VectorKernelEqualsTheFastPathOnAnyBitsAndLengths) {
  Op op = *parse_op(GetParam());
  for (const int k : {op.k, 1, 7, 33, 130}) {
    op.k = k;
    const exact::FastDot fast(op);
    DotCase one(op);
    const Batch batch = uniform_bits(op, 5, case_count(1000, 1000000 / 20) + 1);
    const Column vector = batch_results(op, batch);
    for (size_t i = 0; i < batch.size(); ++i)
      ASSERT_EQ(to_hex(op.d, vector.get(i)), to_hex(op.d, fast(one.load(batch, i)))) << to_text(op) << "\n"
                                                                                     << case_line(batch, i);
  }
}

TEST_P(ExactDot, VectorKernelEqualsTheFastPathOnEveryInstructionSet) {
  const Op op = *parse_op(GetParam());
  const exact::FastDot fast(op);
  Batch batch;
  StructuredGenerator(op, 7).fill(0, 500, batch);
  for_each_vector_target([&](const char* target) {
    const Column vector = batch_results(op, batch);
    DotCase one(op);
    for (size_t i = 0; i < batch.size(); ++i)
      ASSERT_EQ(to_hex(op.d, vector.get(i)), to_hex(op.d, fast(one.load(batch, i)))) << target << "\n"
                                                                                     << case_line(batch, i);
  });
}

TEST(ExactDotVector, ServesTheCommonDots) {
  for (const char* ab : {"fp16", "bf16", "tf32", "e4m3", "e5m2", "e2m1", "fp32"})
    EXPECT_TRUE(exact::ExactDotSimd::supports(dot_op(ab, "fp32", "fp32", 16))) << ab;
  EXPECT_TRUE(exact::ExactDotSimd::supports(dot_op("fp16", "fp16", "fp16", 16)));
  for (const char* scaled : {"dot a=e4m3 b=e2m1 c=fp32 d=fp32 k=32 sa=e8m0 sb=e8m0 sblock=32",
                             "dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=128 sa=ue4m3 sb=ue4m3 sblock=16"}) {
    EXPECT_TRUE(exact::ExactDotSimd::supports(*parse_op(scaled))) << scaled;
  }
}

TEST(ExactDotByHand, RoundsTheExactSumOnce) {
  const Op op = dot_op("fp16", "fp32", "fp32", 4);
  const Registry registry = oracle_registry();
  const auto exact = registry.bind("exact", op);
  ASSERT_TRUE(exact);
  // 2^15*2^15 + 2^-24*2^-24 - 2^30 leaves 2^-48: nothing is lost on the way.
  EXPECT_EQ(run_one_dot(**exact, op, {0x7800, 0x0001}, {0x7800, 0x0001}, 0xce800000), 0x27800000u);
  EXPECT_EQ(run_one_dot(**exact, op, {0x8000, 0x8000, 0x8000, 0x8000}, {0x3c00, 0x3c00, 0x3c00, 0x3c00}, 0x80000000),
            0x80000000u);
  EXPECT_EQ(run_one_dot(**exact, op, {0x3c00, 0xbc00}, {0x3c00, 0x3c00}, 0x80000000), 0x00000000u);
  EXPECT_EQ(run_one_dot(**exact, op, {0x7c00}, {0x0000}, 0), 0x7fc00000u);
  EXPECT_EQ(run_one_dot(**exact, op, {0x7c00}, {0x3c00}, 0xff800000), 0x7fc00000u);
  EXPECT_EQ(run_one_dot(**exact, op, {0x7c00}, {0x3c00}, 0x7f7fffff), 0x7f800000u);
}

TEST(ExactDotByHand, ASumThatCancelsOnlyWithWhatWasBelowItIsPositiveZero) {
  // 2^30 + 2^-40 - 2^30 and c = -2^-40.
  const Op op = dot_op("fp16", "fp32", "fp32", 3);
  const auto exact = oracle_registry().bind("exact", op);
  EXPECT_EQ(run_one_dot(**exact, op, {0x7800, 0x0010, 0xf800}, {0x7800, 0x0010, 0x7800}, 0xab800000), 0x00000000u);
}

TEST(ExactDotByHand, NothingIsLostBetweenDistantCancellations) {
  // 2^120 + 1 + 2^-60 - 2^120 - 1: two fp64 numbers cannot hold the third partial sum.
  const Op op = dot_op("bf16", "fp32", "fp32", 5);
  const auto exact = oracle_registry().bind("exact", op);
  EXPECT_EQ(
      run_one_dot(**exact, op, {0x5d80, 0x3f80, 0x3080, 0xdd80, 0xbf80}, {0x5d80, 0x3f80, 0x3080, 0x5d80, 0x3f80}, 0),
      0x21800000u);
}

}  // namespace
}  // namespace mmafuzz
