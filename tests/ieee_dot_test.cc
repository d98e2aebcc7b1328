// The dot products in the host's floating point give the bits of those in integers, for every format that they serve.
#include <gtest/gtest.h>

#include "core/case_text.h"
#include "oracles/ieee/ieee_dot_simd.h"
#include "core/function_unit.h"
#include "oracles/lanes/host_float.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"
#include "tests/each_vector_target.h"
#include "tests/uniform_bits.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif
#include "tests/test_names.h"

namespace mmafuzz {
namespace {

std::vector<std::string> ops() {
  std::vector<std::string> all = {"dot a=fp64 b=fp64 c=fp64 d=fp64 k=4",
                                  "dot a=fp64 b=fp64 c=fp64 d=fp64 k=11",
                                  "dot a=e4m3 b=fp16 c=bf16 d=fp32 k=9",
                                  "dot a=fp32 b=e2m1 c=fp32 d=fp32 k=16",
                                  "dot a=cfloat8_1_5_2:63?denormal=gradual b=shp:0?denormal=gradual c=fp16 d=fp32 k=8",
                                  "dot a=cfloat8_1_4_3:7 b=cfloat8_1_5_2:31 c=shp:15 d=fp32 k=16",
                                  "dot a=e4m3 b=e2m1 c=fp32 d=fp32 k=32 sa=e8m0 sb=e8m0 sblock=32",
                                  "dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=64 sa=ue4m3 sb=ue4m3 sblock=16",
                                  "dot a=e5m2 b=cfloat8_1_4_3:7 c=fp16 d=fp32 k=37 sa=ue4m3 sb=e8m0 sblock=12",
                                  "dot a=fp16 b=fp16 c=fp16 d=fp16 k=16",
                                  "dot a=cfloat8_1_4_3:7 b=e4m3 c=fp16 d=fp16 k=9"};
  for (const std::string& name : format_names())
    if (fits_fp32(format(name).fields())) all.push_back("dot a=" + name + " b=" + name + " c=fp32 d=fp32 k=16");
  return all;
}

Op op_of(const std::string& text) { return *parse_op(text); }

/// Whether the vector kernel ran; if so, on every case as in integers.
bool expect_equal(const Batch& batch, DotOrder order) {
  const Op& op = batch.op();
  Column results(op.d, 1);
  results.resize(batch.size());
  if (!IeeeDotSimd(op, order).run(batch, results)) return false;
  const IeeeDot reference(op, order);
  DotCase one(op);
  for (size_t i = 0; i < batch.size(); ++i) {
    const std::string expected = to_hex(op.d, reference(one.load(batch, i)));
    EXPECT_EQ(to_hex(op.d, results.get(i)), expected) << to_text(op) << " order " << int(order) << "\n"
                                                      << case_line(batch, i);
    if (testing::Test::HasFailure()) break;
  }
  return true;
}

constexpr DotOrder orders[] = {DotOrder::serial, DotOrder::fma, DotOrder::pairwise};

class HostIeeeDot : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const Op op = op_of("dot a=fp16 b=fp16 c=fp32 d=fp32 k=1");
    Column results(op.d, 1);
    if (!IeeeDotSimd(op, DotOrder::fma).run(Batch(op), results)) GTEST_SKIP() << "no fused multiply-add here";
  }
};
INSTANTIATE_TEST_SUITE_P(Ops, HostIeeeDot, testing::ValuesIn(ops()), test_name);

TEST_P(HostIeeeDot, EqualsTheIntegerEvaluation) {
  const Op op = op_of(GetParam());
  ASSERT_TRUE(IeeeDotSimd::supports(op));
  const size_t cases = case_count(8000, 1000000);
  Batch structured;
  StructuredGenerator(op, 29).fill(0, cases, structured);
  const Batch uniform = uniform_bits(op, 31, cases);
  for (const DotOrder order : orders) {
    EXPECT_TRUE(expect_equal(structured, order));
    EXPECT_TRUE(expect_equal(uniform, order));
  }
}

TEST_P(HostIeeeDot, EqualsTheIntegerEvaluationForAnyLengthAndNumberOfDots) {
  Op op = op_of(GetParam());
  for (op.k = 1; op.k <= 2 * max_instruction_k + 1; op.k += op.k < 70 ? 1 : 13) {
    ASSERT_TRUE(IeeeDotSimd::supports(op));
    Batch batch;
    StructuredGenerator(op, 37).fill(0, 1 + size_t(op.k) % 37, batch);
    for (const DotOrder order : orders) EXPECT_TRUE(expect_equal(batch, order));
  }
}

TEST_P(HostIeeeDot, EqualsTheIntegerEvaluationOnEveryInstructionSet) {
  const Op op = op_of(GetParam());
  Batch batch;
  StructuredGenerator(op, 41).fill(0, 500, batch);
  size_t ran = 0;
  for_each_vector_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const DotOrder order : orders) ran += expect_equal(batch, order);
  });
  EXPECT_GE(ran, std::size(orders));
}

TEST(HostIeeeDotSupport, OtherArithmeticStaysInIntegers) {
  for (const char* text :
       {"dot a=fp16 b=fp16 c=fp32 d=fp16 k=4", "dot a=bf16 b=bf16 c=fp16 d=fp16 k=4",
        "dot a=cfloat8_1_4_3:7?zero=positive b=e4m3 c=fp32 d=fp32 k=4",
        "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4 round=toward_zero", "dot a=fp16 b=fp16 c=fp64 d=fp32 k=4",
        "dot a=uhp b=uhp c=fp32 d=fp32 k=4", "dot a=s8 b=s8 c=fp32 d=fp32 k=4",
        "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4 saturate=1",
        "dot a=fp32 b=fp32 c=fp32 d=fp32 k=32 sa=ue4m3 sb=ue4m3 sblock=16", "dot a=fp16 b=fp16 c=fp64 d=fp64 k=4"})
    EXPECT_FALSE(IeeeDotSimd::supports(op_of(text))) << text;
}

#if defined(__x86_64__)
TEST(HostIeeeDotSupport, AThreadThatRoundsOrFlushesOtherwiseIsNotTrusted) {
  const Op op = op_of("dot a=fp16 b=fp16 c=fp32 d=fp32 k=1");
  Column results(op.d, 1);
  const unsigned before = _mm_getcsr();
  for (const unsigned changed :
       {0x2000u, 0x4000u, 0x6000u, 0x8000u, 0x0040u}) {  // rounding modes, flush to zero, denormals are zero
    _mm_setcsr(before | changed);
    const bool ran = IeeeDotSimd(op, DotOrder::fma).run(Batch(op), results);
    _mm_setcsr(before);
    EXPECT_FALSE(ran) << std::hex << changed;
  }
}
#endif

}  // namespace
}  // namespace mmafuzz
