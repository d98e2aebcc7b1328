// The truncated fused sum by hand-made cases with known answers: what makes it differ from IEEE arithmetic.
#include <gtest/gtest.h>

#include "arithmetic/evaluate_dot.h"
#include "core/registry.h"
#include "core/recording_trace.h"
#include "plan/registry.h"
#include "oracles/models/aligned_sum_simd.h"
#include "oracles/models/model_rows.h"
#include "tests/named_units.h"

namespace mmafuzz {
namespace {

TEST(FusedSum, TruncationIsNotRoundTowardZero) {
  // Valpey et al., table 3: 2 - 2^-40 gives 2; toward zero of the exact sum would be the number below.
  const Op op = dot_op("fp16", "fp32", "fp32", 4);
  EXPECT_EQ(evaluate(volta, op, {0x4000}, {0x3c00}, 0xab800000), 0x40000000u);
  Op toward_zero = op;
  toward_zero.rounding = Rounding::toward_zero;
  EXPECT_EQ(evaluate("exact", toward_zero, {0x4000}, {0x3c00}, 0xab800000), 0x3fffffffu);
}

TEST(FusedSum, ALargerCGivesASmallerSum) {
  // Fasi et al. 2021: c = 1 - 2^-24 with four products 2^-24 gives 1 + 2^-23 on V100, c = 1 gives 1.
  const Op op = dot_op("fp16", "fp32", "fp32", 4);
  const std::vector<uint64_t> ones(4, 0x3c00), small(4, 0x0001);
  EXPECT_EQ(evaluate(volta, op, ones, small, 0x3f7fffff), 0x3f800001u);
  EXPECT_EQ(evaluate(volta, op, ones, small, 0x3f800000), 0x3f800000u);
}

TEST(FusedSum, ASumThatNeedsMoreThan31BitsIsRightInTheScalarKernel) {
  // Sixteen products 0x3fff*0x3fff and c just below 2: with F = 25 the integers add up to 2,212,495,868 > 2^31.
  // 16 * (2047/1024)^2 + 2 - 2^-23 = 65.937... ; truncated to 24 bits: 0x4283e001.
  const DotModel model = find_model_row("hopper/mma.m16n8k16.f32.f16.f16.f32")->model;
  const std::vector<uint64_t> ab(16, 0x3fff);
  RecordingTrace trace;
  DotOperands in;
  in.a = in.b = ab.data();
  in.c = 0x3fffffff;
  in.k = 16;
  EXPECT_EQ(evaluate_dot(model, in, trace), 0x4283e001u);
  ASSERT_EQ(trace.steps.size(), 1u);
  EXPECT_EQ(trace.steps[0].sum, 2212495868);
}

TEST(FusedSum, ASumThatNeedsMoreThan31BitsIsRightInTheVectorKernel) {
  const DotModel model = find_model_row("hopper/mma.m16n8k16.f32.f16.f16.f32")->model;
  ASSERT_TRUE(AlignedSumSimd(model).supported());
  const Op op = dot_op("fp16", "fp32", "fp32", 16);
  for (const bool negative : {false, true}) {
    Batch batch(op);
    batch.resize(37);  // full vectors and a remainder
    for (size_t i = 0; i < batch.size(); ++i) {
      for (int j = 0; j < 16; ++j) {
        batch.inputs()[0].set(i, j, negative ? 0xbfff : 0x3fff);
        batch.inputs()[1].set(i, j, 0x3fff);
      }
      batch.inputs()[2].set(i, 0, negative ? 0xbfffffff : 0x3fffffff);
    }
    Column results(op.d, 1);
    results.resize(batch.size());
    ASSERT_TRUE(AlignedSumSimd(model).run(batch, results));
    for (size_t i = 0; i < batch.size(); ++i) EXPECT_EQ(results.get(i), negative ? 0xc283e001u : 0x4283e001u) << i;
  }
}

TEST(FusedSum, AlignmentIsTruncatedInMagnitudeForBothSigns) {
  const Op op = dot_op("fp16", "fp32", "fp32", 4);
  EXPECT_EQ(evaluate(volta, op, {0x8001, 0x8001}, {0x3e00, 0x3e00}, 0xbf800000), 0xbf800000u);
  EXPECT_EQ(evaluate(ampere, op, {0x8001, 0x8001}, {0x3e00, 0x3e00}, 0xbf800000), 0xbf800001u);
}

TEST(FusedSum, ALongerKRunsAsTheInstructionSequence) {
  // 1 - 1 in the first block leaves 0, then 2^-15*2^-15 in the last block is kept; one block of 17 would lose it.
  std::vector<uint64_t> a(17, 0), b(17, 0);
  a[0] = 0x3c00, a[1] = 0xbc00, b[0] = b[1] = 0x3c00;
  a[16] = b[16] = 0x0200;
  const Op op17 = dot_op("fp16", "fp32", "fp32", 17);
  EXPECT_EQ(evaluate(hopper, op17, a, b, 0), 0x30800000u);
  std::swap(a[16], a[15]);
  std::swap(b[16], b[15]);
  EXPECT_EQ(evaluate(hopper, op17, a, b, 0), 0x00000000u);
}

TEST(FusedSum, WhatUnderflowsIsPositive) {
  // -2^-30, as an H200 gives it (corpus/recorded). With the other reading a second, empty block adds +0 terms to the
  // -0.
  const Op op = dot_op("fp16", "fp16", "fp16", 1);
  EXPECT_EQ(evaluate("model:hopper/mma.m16n8k8.f16.f16.f16.f16", op, {0x8200}, {0x0200}, 0), 0x0000u);
  const std::string kept = "?underflow_sign=kept";
  EXPECT_EQ(evaluate("model:ampere/mma.m16n8k8.f16.f16.f16.f16" + kept, op, {0x8200}, {0x0200}, 0), 0x8000u);
  EXPECT_EQ(evaluate("model:ampere/mma.m16n8k16.f16.f16.f16.f16" + kept, op, {0x8200}, {0x0200}, 0), 0x0000u);
}

TEST(Overrides, ChangeOneParameterAndSayWhatIsAllowed) {
  const Op op = dot_op("fp16", "fp32", "fp32", 4);
  EXPECT_EQ(evaluate(hopper, op, {0x3c00}, {0x3c00}, 0xbf7fffff), 0x33800000u);
  EXPECT_EQ(evaluate(hopper + "?fraction_bits=23", op, {0x3c00}, {0x3c00}, 0xbf7fffff), 0x34000000u);
  const auto bad = registry().bind(hopper + "?fraction_bits=99", op);
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.refusal().reason.find("0 to 45"), std::string::npos);
  EXPECT_FALSE(registry().bind(hopper + "?kernel=grouped_sum", op));
  EXPECT_FALSE(registry().bind(hopper + "?nonsense=1", op));
}

TEST(Names, AnyValidTileShapeOfAnAsynchronousInstructionFindsItsRow) {
  EXPECT_NE(find_model_row("hopper/wgmma.m64n256k16.f32.f16.f16.f32"), nullptr);
  EXPECT_NE(find_model_row("blackwell/tcgen05.kind::f16.m64n64k16.f32.f16.f16.f32"), nullptr);
  EXPECT_EQ(find_model_row("hopper/wgmma.m64n7k16.f32.f16.f16.f32"), nullptr);
}

TEST(Names, ASparseInstructionOfHopperFindsTheRowOfAsManyProducts) {
  const auto row_of = [](const char* name) {
    const ModelRow* row = find_model_row(name);
    return row ? row->name() : "";
  };
  EXPECT_EQ(row_of("hopper/mma.sp.m16n8k32.f32.f16.f16.f32"), "hopper/mma.m16n8k16.f32.f16.f16.f32");
  EXPECT_EQ(row_of("hopper/mma.sp.m16n8k8.f32.tf32.tf32.f32"), "hopper/mma.m16n8k4.f32.tf32.tf32.f32");
  EXPECT_EQ(row_of("hopper/mma.sp.m16n8k64.f32.e4m3.e5m2.f32"), "hopper/mma.m16n8k32.f32.e4m3.e5m2.f32");
  EXPECT_EQ(row_of("hopper/wgmma.sp.m64n128k64.f16.e5m2.e5m2.f16"), "hopper/wgmma.m64n8k32.f16.e5m2.e5m2.f16");
  for (const char* none : {"hopper/mma.sp.m16n8k32.f32.e4m3.e4m3.f32", "hopper/mma.sp.m16n8k64.f16.e4m3.e4m3.f16",
                           "hopper/mma.sp.m16n8k8.f64.f64.f64.f64", "hopper/mma.sp.m8n8k8.f32.f16.f16.f32",
                           "hopper/mma.sp.m16n8k33.f32.f16.f16.f32", "ampere/mma.sp.m16n8k32.f32.f16.f16.f32"})
    EXPECT_EQ(row_of(none), "") << none;
}

TEST(Provenance, MapsEveryRecordedInstructionToItsModel) {
  EXPECT_EQ(*model_of_provenance("nvidia.h100/wmma.fp32.fp16"), hopper);
  EXPECT_EQ(*model_of_provenance("nvidia.ada/mma.fp16.e5m2"), "model:ada/mma.m16n8k32.f16.e5m2.e5m2.f16");
  EXPECT_EQ(*model_of_provenance("nvidia.h100/wgmma.fp32.e4m3"), "model:hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32");
  EXPECT_EQ(*model_of_provenance("nvidia.a30/wmma.fp32.tf32"), "model:ampere/mma.m16n8k4.f32.tf32.tf32.f32");
  EXPECT_EQ(*model_of_provenance("nvidia.h200/mma.m16n8k8.f32.f16.f16.f32"),
            "model:hopper/mma.m16n8k8.f32.f16.f16.f32");
  EXPECT_EQ(*model_of_provenance("nvidia.h200/wgmma.m64n64k8.f32.tf32.tf32.f32"),
            "model:hopper/wgmma.m64n8k8.f32.tf32.tf32.f32");
  EXPECT_EQ(*model_of_provenance("nvidia.h200/wgmma.sp.m64n64k64.f32.e4m3.e4m3.f32"),
            "model:hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32");
  EXPECT_FALSE(model_of_provenance("nvidia.k80/wmma.fp32.fp16"));
  EXPECT_FALSE(model_of_provenance("nvidia.v100/wgmma.fp32.fp16"));
}

}  // namespace
}  // namespace mmafuzz
