// IEEE 754 operations of the unit `ieee` against MPFR, value and flags, in every IEEE format and rounding mode; and
// against the CPU's silicon where it has the operation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/case_text.h"
#include "core/property.h"
#include "core/registry.h"
#include "plan/registry.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"

namespace mmafuzz {
namespace {

/// Every divergence between two units on structured operands, values and flags; NaN payloads as the op says.
std::vector<std::string> compare(const Op& op, const std::string& first, const std::string& second, size_t cases) {
  std::vector<std::string> failures;
  auto x = registry().bind(first, op), y = registry().bind(second, op);
  if (!x || !y) return {(x ? y : x).refusal().reason};
  size_t compared = 0;
  for (size_t done = 0; done < cases && failures.size() < 3; done += 4096) {
    Batch batch;
    StructuredGenerator(op, 5).fill(done, std::min<size_t>(4096, cases - done), batch);
    Outcomes rx, ry;
    (*x)->run(batch, rx);
    (*y)->run(batch, ry);
    EXPECT_FALSE(rx.flags.empty());
    EXPECT_EQ(ry.flags.empty(), second == "cpu:cvt.f32.f16") << "only vcvtph2ps reports no flags";
    compared += compare_units(
        "equals_model", Severity::contract, batch, first, rx, second, ry, [&](const Divergence& d, uint64_t) {
          failures.push_back(to_text(op) + "\n" + case_line(d.cases, 0) + " " + to_hex(op.d, d.results[0]) +
                             " against " + to_hex(op.d, d.results[1]) + " " + d.key.value_class);
        });
  }
  EXPECT_EQ(compared, cases);
  return failures;
}

struct Operation {
  ScalarOperation scalar;
  const char* format;
  Rounding rounding;
};

std::vector<Operation> operations() {
  std::vector<Operation> all;
  for (const ScalarOperation scalar :
       {ScalarOperation::add, ScalarOperation::sub, ScalarOperation::mul, ScalarOperation::fma, ScalarOperation::div,
        ScalarOperation::sqrt, ScalarOperation::rcp, ScalarOperation::rem, ScalarOperation::equal,
        ScalarOperation::less, ScalarOperation::less_equal, ScalarOperation::unordered})
    for (const char* name : {"fp16", "bf16", "fp32", "fp64"})
      for (const Rounding mode :
           {Rounding::nearest_even, Rounding::toward_zero, Rounding::up, Rounding::down, Rounding::nearest_away})
        all.push_back({scalar, name, mode});
  return all;
}

class IeeeOperation : public testing::TestWithParam<Operation> {
 protected:
  static Op op() {
    Op op;
    op.kind = OpKind::scalar;
    op.scalar = GetParam().scalar;
    op.a = op.d = format(GetParam().format);
    op.rounding = GetParam().rounding;
    return op;
  }
};
INSTANTIATE_TEST_SUITE_P(All, IeeeOperation, testing::ValuesIn(operations()), [](const auto& info) {
  return std::string(name_of(info.param.scalar)) + "_" + info.param.format + "_" + name_of(info.param.rounding);
});

TEST_P(IeeeOperation, EqualsMpfrInValueAndFlags) {
  for (const Tininess tininess : {Tininess::after, Tininess::before}) {
    Op op = this->op();
    op.tininess = tininess;
    EXPECT_THAT(compare(op, "ieee", "exact:mpfr", case_count(3000, tininess == Tininess::after ? 10000000 : 1000000)),
                testing::IsEmpty());
  }
}

TEST_P(IeeeOperation, FlushToZeroEqualsMpfr) {
  Op op = this->op();
  op.flush_to_zero = true;
  EXPECT_THAT(compare(op, "ieee", "exact:mpfr", case_count(1000, 100000)), testing::IsEmpty());
}

/// What x86 has: fp32 and fp64, the four modes of MXCSR, no reciprocal.
std::vector<Operation> silicon_operations() {
  std::vector<Operation> all = operations();
  std::erase_if(all, [](const Operation& o) {
    return format(o.format).fields().width < 32 || o.rounding == Rounding::nearest_away ||
           o.scalar == ScalarOperation::rcp || o.scalar == ScalarOperation::rem;
  });
  return all;
}

class SiliconOperation : public IeeeOperation {};
INSTANTIATE_TEST_SUITE_P(All, SiliconOperation, testing::ValuesIn(silicon_operations()), [](const auto& info) {
  return std::string(name_of(info.param.scalar)) + "_" + info.param.format + "_" + name_of(info.param.rounding);
});

TEST_P(SiliconOperation, EqualsIeeeInValueAndFlags) {
  Op op = this->op();
  op.nan = NanPolicy::any;
  const std::string unit = std::string("cpu:") + name_of(op.scalar) + ".f" + op.a.name().substr(2);
  const auto bound = registry().bind(unit, op);
  if (!bound) GTEST_SKIP() << bound.refusal().reason;
  EXPECT_THAT(compare(op, "ieee", unit, case_count(50000, 10000000)), testing::IsEmpty());
}

TEST(Conversions, HalfEqualsF16cInValueAndFlagsInEveryMode) {
  for (const Rounding mode : {Rounding::nearest_even, Rounding::toward_zero, Rounding::up, Rounding::down}) {
    for (const bool widen : {false, true}) {
      Op op;
      op.kind = OpKind::convert;
      op.a = format(widen ? "fp16" : "fp32");
      op.d = format(widen ? "fp32" : "fp16");
      op.rounding = mode;
      op.nan = NanPolicy::any;
      const std::string unit = widen ? "cpu:cvt.f32.f16" : "cpu:cvt.f16.f32";
      const auto bound = registry().bind(unit, op);
      if (!bound) GTEST_SKIP() << bound.refusal().reason;
      EXPECT_THAT(compare(op, "ieee", unit, case_count(200000, 2000000)), testing::IsEmpty());
    }
  }
}

TEST(WhitePaper, TheFmaExampleKeepsWhatMultiplyThenAddLoses) {
  // Whitehead and Fit-Florea, 2.3: a*a + b with a = 0x3f800001, b = 0xbf800002 is 2^-46 fused and 0 in two steps.
  Op op = dot_op("fp32", "fp32", "fp32", 1);
  EXPECT_EQ(run_one_dot(**registry().bind("ieee:fma", op), op, {0x3f800001}, {0x3f800001}, 0xbf800002), 0x28800000u);
  EXPECT_EQ(run_one_dot(**registry().bind("ieee:serial", op), op, {0x3f800001}, {0x3f800001}, 0xbf800002), 0x00000000u);
}

TEST(WhitePaper, TheOrdersAreTheDocumentedOnes) {
  // 2^24 + 1 + 1 + ... in fp32: the serial sum loses every 1, the pairwise sum keeps pairs.
  Op op = dot_op("fp32", "fp32", "fp32", 4);
  const std::vector<uint64_t> ones(4, 0x3f800000);
  const uint64_t large = 0x4b800000;  // 2^24
  EXPECT_EQ(run_one_dot(**registry().bind("ieee:serial", op), op, ones, ones, large), 0x4b800000u);
  EXPECT_EQ(run_one_dot(**registry().bind("ieee:fma", op), op, ones, ones, large), 0x4b800000u);
  EXPECT_EQ(run_one_dot(**registry().bind("ieee:pairwise", op), op, ones, ones, large), 0x4b800002u);
}

}  // namespace
}  // namespace mmafuzz
