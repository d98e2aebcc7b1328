// The random baselines draw what their names say, in every format, and any case can be recomputed alone.
#include "search/random_generators.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/case_text.h"

namespace mmafuzz {
namespace {

std::vector<Op> operations() {
  std::vector<Op> all;
  for (const char* text :
       {"dot a=fp16 b=fp16 c=fp32 d=fp32 k=16", "dot a=tf32 b=tf32 c=fp32 d=fp32 k=7",
        "dot a=e4m3 b=e3m2 c=fp16 d=fp16 k=5", "dot a=e5m2fnuz b=e4m3fnuz c=fp32 d=fp32 k=16",
        "dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=64 sa=ue4m3 sb=ue4m3 sblock=16",
        "dot a=e4m3 b=e2m1 c=fp32 d=fp32 k=32 sa=e8m0 sb=e8m0 sblock=32", "dot a=fp64 b=fp64 c=fp64 d=fp64 k=4",
        "convert from=fp32 to=fp16", "scalar fma format=bf16"}) {
    const Result<Op> op = parse_op(text);
    if (!op) throw std::logic_error(op.refusal().reason);
    all.push_back(*op);
  }
  return all;
}

/// Visits every drawn number of every field.
template <class Visit>
void each_number(const Op& op, RandomKind kind, size_t cases, Visit visit) {
  Batch batch;
  RandomGenerator(op, kind, 5).fill(0, cases, batch);
  const std::vector<FieldShape> fields = op.inputs();
  for (size_t c = 0; c < fields.size(); ++c)
    for (size_t i = 0; i < cases; ++i)
      for (int j = 0; j < fields[c].count; ++j) visit(fields[c], batch.inputs()[c].get(i, j));
}

TEST(RandomGenerators, ACaseDependsOnItsNumberAlone) {
  for (const Op& op : operations())
    for (const RandomKind kind : random_kinds) {
      Batch whole, one;
      const RandomGenerator generator(op, kind, 3);
      generator.fill(0, 50, whole);
      for (size_t i = 0; i < 50; ++i) {
        generator.fill(i, 1, one);
        ASSERT_EQ(case_line(whole, i), case_line(one, 0)) << to_text(op) << " " << name_of(kind);
      }
      RandomGenerator(op, kind, 4).fill(0, 50, one);
      EXPECT_NE(case_line(whole, 49), case_line(one, 49)) << to_text(op) << " " << name_of(kind);
    }
}

TEST(RandomGenerators, UniformReachesEveryEncodingUpTo16Bits) {
  for (const Op& op : operations()) {
    if (op.a.fields().width > 16) continue;
    std::vector<size_t> seen(size_t{1} << op.a.fields().width);
    size_t draws = 0;
    const size_t cases = 24 * seen.size() / size_t(op.inputs()[0].count) + 1;
    each_number(op, RandomKind::uniform, cases, [&](const FieldShape& field, uint64_t code) {
      ASSERT_EQ(code & ~field.format.fields().container_mask(), 0u);
      if (std::string_view(field.name) == op.inputs()[0].name) ++seen[code], ++draws;
    });
    EXPECT_GT(draws, 0u);
    for (size_t code = 0; code < seen.size(); ++code)
      EXPECT_GT(seen[code], 0u) << op.a.name() << " " << code;  // missed with e^-24 each
  }
}

TEST(RandomGenerators, SpreadIsFiniteAndReachesEveryExponentFieldAndSign) {
  for (const Op& op : operations()) {
    std::vector<size_t> seen(2 * 2048);
    const FormatFields& a = op.a.fields();
    each_number(op, RandomKind::spread, 40000, [&](const FieldShape& field, uint64_t code) {
      const FormatFields& f = field.format.fields();
      ASSERT_EQ(code & ~f.container_mask(), 0u);
      const NumberClass cls = decode(f, code).cls;
      ASSERT_TRUE(cls == NumberClass::finite || cls == NumberClass::zero) << field.format.name() << " " << code;
      if (f == a) ++seen[(code >> (f.fraction_bits + f.ignored_low_bits)) & 4095];
    });
    for (int sign = 0; sign < 2; ++sign)
      for (int e = 0; e <= a.emax() + a.bias; ++e)
        EXPECT_GT(seen[size_t(sign << a.exponent_bits | e)], 0u) << op.a.name() << " " << sign << " " << e;
  }
}

TEST(RandomGenerators, NormalHasTheMomentsAndTailsOfTheNormalDistribution) {
  size_t columns = 0;
  for (const Op& op : operations()) {
    if (op.a.fields().fraction_bits < 7) continue;  // coarse formats round the variance away
    double sum = 0, squares = 0, count = 0, beyond[5] = {};
    each_number(op, RandomKind::normal, 20000, [&](const FieldShape& field, uint64_t code) {
      const Number n = decode(field.format.fields(), code);
      ASSERT_TRUE(n.cls == NumberClass::finite || n.cls == NumberClass::zero);
      const double value = std::ldexp(double(n.significand), n.exponent) * (n.negative ? -1 : 1);
      sum += value;
      squares += value * value;
      ++count;
      for (int sigma = 1; sigma < 5; ++sigma) beyond[sigma] += std::fabs(value) > sigma;
    });
    ++columns;
    EXPECT_LT(std::fabs(sum / count), 5 / std::sqrt(count)) << to_text(op);
    EXPECT_LT(std::fabs(squares / count - 1), 8 / std::sqrt(count) + 1e-4) << to_text(op);
    for (int sigma = 1; sigma < 5; ++sigma) {
      const double expected = count * std::erfc(sigma / std::sqrt(2.0));
      // 0.004: rounding moves values across a whole sigma.
      EXPECT_LT(std::fabs(beyond[sigma] - expected), 5 * std::sqrt(expected) + 2 + 0.004 * expected)
          << to_text(op) << sigma;
    }
  }
  EXPECT_GE(columns, 4u);
}

}  // namespace
}  // namespace mmafuzz
