// Error-corrected SGEMM: Valpey et al.'s table 5, and both methods against their formulas written down once more, one
// element at a time: conversions by MPFR, sums in the host's fp32, dots on the slow twins.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "core/case_text.h"
#include "plan/request.h"
#include "core/property.h"
#include "plan/registry.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"
#include "tests/run_one_dot.h"

namespace mmafuzz {
namespace {

uint64_t bits(float x) { return std::bit_cast<uint32_t>(x); }
float number(uint64_t x) { return std::bit_cast<float>(static_cast<uint32_t>(x)); }

struct Machine {
  const char* arch;
  const char* on;
  int k;
};
const Machine units[] = {{"volta", "volta/mma.m8n8k4.f32.f16.f16.f32", 4},
                         {"turing", "turing/mma.m16n8k8.f32.f16.f16.f32", 8},
                         {"ampere", "ampere/mma.m16n8k16.f32.f16.f16.f32", 16},
                         {"hopper", "hopper/mma.m16n8k16.f32.f16.f16.f32", 16}};

/// Table 5 of "An SMT formalization of mixed-precision matrix multiplication", with b1's exponent as given.
uint64_t table_5(const std::string& method, const Machine& u, int b1_exponent) {
  const Op op = op_from_text("gemm a=fp32 b=fp32 c=fp32 d=fp32 m=1 n=1 k=4");
  const float a[] = {0x1.004p-8f, std::ldexp(1.326171875f, -14), 0x1p-12f, 0x1p-12f};
  const float b[] = {std::ldexp(1.998046875f, b1_exponent), std::ldexp(1.4443359375f, -7), 0x1p-12f, 0x1p-12f};
  Batch batch(op);
  batch.resize(1);
  for (int l = 0; l < 4; ++l) {
    batch.inputs()[0].set(0, l, bits(a[l]));
    batch.inputs()[1].set(0, l, bits(b[l]));
  }
  batch.inputs()[2].set(0, 0, bits(0x1p-24f));
  Outcomes outcomes;
  const std::string name =
      method == "exact" ? method : "split:" + method + ".fp16?unit_k=" + std::to_string(u.k) + ",on=model:" + u.on;
  bind_or_fail(name, op)->run(batch, outcomes);
  return outcomes.results.get(0);
}

TEST(Table5, OotomoYokotaLosesWithAnExponentOfPlus7) {
  for (const Machine& u : units) {
    EXPECT_EQ(table_5("exact", u, 7), bits(1 + 0x1p-23f));
    EXPECT_EQ(table_5("markidis", u, 7), bits(1 + 0x1p-23f)) << u.arch;
    EXPECT_EQ(table_5("ootomo", u, 7), bits(1.0f)) << u.arch;
  }
}

TEST(Table5, AsPrintedShowsNoDifference) {
  for (const Machine& u : units) EXPECT_EQ(table_5("markidis", u, -7), table_5("ootomo", u, -7)) << u.arch;
}

/// The methods' formulas (Valpey et al., section 6), k no longer than one dot.
class Twin {
 public:
  explicit Twin(const Machine& u)
      : dot_op_(op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=" + std::to_string(u.k))),
        dot_(bind_or_fail(std::string("twin:") + u.on, dot_op_)),
        k_(size_t(u.k)) {}

  uint64_t markidis(const std::vector<float>& a, const std::vector<float>& b, float c) const {
    const Parts x = parts(a, 1), y = parts(b, 1);
    return dot(x.main, y.main, dot(x.rest, y.main, dot(x.main, y.rest, dot(x.rest, y.rest, bits(c)))));
  }
  uint64_t ootomo(const std::vector<float>& a, const std::vector<float>& b, float c) const {
    const Parts x = parts(a, 0x1p11f), y = parts(b, 0x1p11f);
    volatile float squares = number(dot(x.rest, y.rest, 0)) * 0x1p-11f;
    squares = squares + number(dot(x.rest, y.main, dot(x.main, y.rest, 0)));
    squares = squares * 0x1p-11f;
    volatile float sum = number(dot(x.main, y.main, 0));
    sum = sum + squares;
    sum = sum + c;
    return bits(sum);
  }

 private:
  struct Parts {
    std::vector<uint64_t> main, rest;
  };
  static uint64_t convert(const char* from, const char* to, uint64_t x) {
    const Op op = op_from_text(std::string("convert from=") + from + " to=" + to + " round=nearest_even");
    Batch one(op);
    one.resize(1);
    one.inputs()[0].set(0, 0, x);
    Outcomes outcomes;
    bind_or_fail("exact:mpfr", op)->run(one, outcomes);
    return outcomes.results.get(0);
  }
  Parts parts(const std::vector<float>& x, float scale) const {
    Parts p{std::vector<uint64_t>(k_), std::vector<uint64_t>(k_)};
    for (size_t l = 0; l < x.size(); ++l) {
      p.main[l] = convert("fp32", "fp16", bits(x[l]));
      volatile float rest = x[l] - number(convert("fp16", "fp32", p.main[l]));
      rest = rest * scale;
      p.rest[l] = convert("fp32", "fp16", bits(rest));
    }
    return p;
  }
  uint64_t dot(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b, uint64_t c) const {
    return run_one_dot(*dot_, dot_op_, a, b, c);
  }

  Op dot_op_;
  std::unique_ptr<Unit> dot_;
  size_t k_;
};

TEST(CorrectedSgemm, IsWhatItsFormulaSays) {
  for (const Machine& u : units) {
    const Twin twin(u);
    const Op op = op_from_text("gemm a=fp32 b=fp32 c=fp32 d=fp32 m=2 n=2 k=" + std::to_string(u.k) + " nan=any");
    const std::string parameters = ".fp16?unit_k=" + std::to_string(u.k) + ",on=model:" + u.on;
    const auto markidis = bind_or_fail("split:markidis" + parameters, op),
               ootomo = bind_or_fail("split:ootomo" + parameters, op);
    Batch batch;
    StructuredGenerator(op, 3).fill(0, case_count(40, 4000), batch);
    Outcomes first, second;
    markidis->run(batch, first);
    ootomo->run(batch, second);
    for (size_t i = 0; i < batch.size(); ++i) {
      for (int e = 0; e < 4; ++e) {
        std::vector<float> a, b;
        for (int l = 0; l < u.k; ++l) {
          a.push_back(number(batch.a().get(i, e / 2 * u.k + l)));
          b.push_back(number(batch.b().get(i, l * 2 + e % 2)));
        }
        const float c = number(batch.c().get(i, e));
        ASSERT_TRUE(same_result(op, first.results.get(i, e), twin.markidis(a, b, c)))
            << u.arch << " " << case_line(batch, i);
        ASSERT_TRUE(same_result(op, second.results.get(i, e), twin.ootomo(a, b, c)))
            << u.arch << " " << case_line(batch, i);
      }
    }
  }
}

TEST(CorrectedSgemm, IsNearlySgemmWithinFp16sRange) {
  // Both methods represent an operand to 2^-22 of itself; 64 products of numbers near 1 err by well below 2^-14, where
  // fp16 alone errs by 2^-6.
  const Op op = op_from_text("gemm a=fp32 b=fp32 c=fp32 d=fp32 m=4 n=4 k=64");
  Batch batch(op);
  batch.resize(1);
  CounterRng rng(5, 0);
  for (size_t column = 0; column < 2; ++column)
    for (int e = 0; e < 256; ++e) batch.inputs()[column].set(0, e, 0x3f800000u | (rng.next() & 0x7fffff));
  Outcomes exact;
  bind_or_fail("exact", op)->run(batch, exact);
  for (const char* name : {"split:markidis.fp16", "split:ootomo.fp16", "split:ootomo.fp16?residual_product=0",
                           "split:ootomo.tf32", "split:markidis.fp16?scale=11"}) {
    Outcomes got;
    bind_or_fail(name, op)->run(batch, got);
    for (int e = 0; e < 16; ++e)
      EXPECT_NEAR(number(got.results.get(0, e)) / number(exact.results.get(0, e)), 1, 0x1p-17) << name;
  }
}

}  // namespace
}  // namespace mmafuzz
