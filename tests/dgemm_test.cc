// FP64 products on the device, by their host twin: what is drawn, and that the scheme around cuBLAS gives the bits of
// the oracle's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "core/op.h"
#include "gpu_bridge/dgemm/drawn_matrix.h"
#include "tests/host_dgemm.h"
#include "oracles/families.h"
#include "oracles/gemm/ozaki_unit.h"

namespace mmafuzz {
namespace {

using ::testing::HasSubstr;

/// Slice products in exact integers: the digits are integers, whatever their type.
template <class Digit, class Value>
void exact_products(const BlasGemm& call, const uint8_t* first, const uint8_t* second, uint8_t* result,
                    int64_t (*integer)(Digit)) {
  const auto* x = reinterpret_cast<const Digit*>(first);
  const auto* y = reinterpret_cast<const Digit*>(second);
  for (int j = 0; j < call.columns; ++j)
    for (int i = 0; i < call.rows; ++i) {
      int64_t sum = 0;
      for (int l = 0; l < call.k; ++l) sum += integer(x[i * call.k + l]) * integer(y[j * call.k + l]);
      reinterpret_cast<Value*>(result)[int64_t{j} * call.rows + i] = static_cast<Value>(sum);
    }
}
int64_t value_of_fp16(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double magnitude = std::ldexp((bits & 1023) | (exponent ? 1024 : 0), (exponent ? exponent : 1) - 25);
  return static_cast<int64_t>(bits >> 15 ? -magnitude : magnitude);
}
int64_t value_of_s8(int8_t digit) { return digit; }

void products_of(const DgemmRequest& request, const BlasGemm& call, const uint8_t* first, const uint8_t* second,
                 uint8_t* result) {
  if (cublas_rows()[size_t(request.row)].operand == format("s8"))
    exact_products<int8_t, int32_t>(call, first, second, result, value_of_s8);
  else exact_products<uint16_t, float>(call, first, second, result, value_of_fp16);
}

Op dgemm_op() { return *parse_op("gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=1"); }

/// Every element by the oracle, of the matrices that a request draws.
std::vector<uint64_t> by_the_oracle(const DgemmRequest& r, const std::string& slice, const std::string& exact_dots) {
  const auto n = size_t(r.n);
  std::vector<uint64_t> a(n * n), b(n * n), c(n * n);
  for (size_t v = 0; v < n; ++v)
    for (size_t l = 0; l < n; ++l) {
      a[v * n + l] = drawn_element(seed_of_a(r), v * n + l, r.spread);
      b[l * n + v] = drawn_element(seed_of_b(r), v * n + l, r.spread);
    }
  const Registry registry = oracle_registry();
  gemm::NamedPlan plan = *gemm::parse_ozaki_plan(slice, "slices=" + std::to_string(r.slices.count) + ",fast=" +
                                                            std::to_string(r.slices.fast) + ",on=" + exact_dots);
  plan.plan.width_a = r.slices.widths.a;
  plan.plan.width_b = r.slices.widths.b;
  return gemm::make_ozaki(plan, dgemm_op(), r.n, registry)->multiply({r.n, r.n, r.n}, a.data(), b.data(), c.data());
}

TEST(Dgemm, HasTheBitsOfTheOracle) {
  struct Scheme {
    const char *slice, *row, *exact_dots;
  };
  for (const Scheme& scheme : {Scheme{"fp16", "gemmex.fp16", "ieee:fma"}, Scheme{"s8", "gemmex.s8", "integer"}})
    for (const int n : {4, 20, 44})
      for (const double phi : {0.0, 0.1, 3.0})
        for (const int fast : {0, 1})
          for (const int narrower : {0, 1}) {
            DgemmRequest request;
            request.row = find_cublas_row(scheme.row);
            request.n = n;
            request.seed = static_cast<uint64_t>(n);
            request.spread = spread_of(phi);
            request.slices.widths = widest_slices(cublas_rows()[size_t(request.row)], n);
            request.slices.widths.b -= narrower;
            request.slices.count = phi > 1 ? 12 : 8;
            request.slices.fast = fast;
            request.samples = 200;
            const DgemmAnswer answer =
                dgemm_on_host(request, [&](const BlasGemm& call, const uint8_t* first, const uint8_t* second,
                                           uint8_t* result) { products_of(request, call, first, second, result); });
            const std::vector<uint64_t> expected = by_the_oracle(request, scheme.slice, scheme.exact_dots);
            for (int s = 0; s < request.samples; ++s) {
              const Cell cell = sampled_cell(request, s);
              ASSERT_EQ(answer.sampled[size_t(s)], expected[size_t(cell.row) * size_t(n) + size_t(cell.column)])
                  << scheme.slice << " n=" << n << " phi=" << phi << " fast=" << fast << " row " << cell.row
                  << " column " << cell.column;
            }
          }
}

TEST(Dgemm, DigitsAddUpToTheirNumber) {
  CounterRng rng(7, 0);
  for (int i = 0; i < 20000; ++i) {
    const bool subnormal = rng.one_in(8);
    const uint64_t sign = rng.next() << 63, exponent = subnormal ? 0 : rng.between(1, 2046);
    uint64_t fraction = rng.next() & low_mask(52);
    fraction &= ~low_mask(rng.between(0, 52));
    const uint64_t x = sign | exponent << 52 | fraction;
    const double value = std::bit_cast<double>(x);
    if (value == 0) {
      EXPECT_EQ(top_of(x), top_of_zero);
      EXPECT_EQ(digit_of(x, 5, 1, 7), 0);
      continue;
    }
    const int top = top_of(x);
    ASSERT_EQ(top, std::ilogb(value) + 1);
    const int width = rng.between(1, 11), above = rng.between(0, 40);
    // Each digit is what the host's arithmetic cuts off next: exact, since a number of 53 bits loses its first ones.
    double rest = std::fabs(std::ldexp(value, -top));
    for (int p = 1; p <= 100; ++p) {
      double digit = 0;
      rest = std::modf(std::ldexp(rest, p == 1 ? width - above : width), &digit);
      ASSERT_EQ(digit_of(x, top + above, p, width), std::signbit(value) ? -digit : digit) << value << " digit " << p;
    }
  }
}

TEST(Dgemm, DigitsHaveTheEncodingsOfTheirFormats) {
  for (int digit = -2047; digit <= 2047; ++digit) ASSERT_EQ(value_of_fp16(Fp16Digit::of(digit).bits), digit);
  EXPECT_EQ(Fp16Digit::of(0).bits, 0);
  EXPECT_EQ(Fp16Digit::of(1).bits, 0x3c00);
  EXPECT_EQ(Fp16Digit::of(-2047).bits, 0xe7ff);
  for (int digit = -127; digit <= 127; ++digit) ASSERT_EQ(S8Digit::of(digit).bits, digit);
}

TEST(Dgemm, ProductsOfZeroVectorsAreZero) {
  const int32_t products[] = {0, 0};
  const SliceProducts last{{7, 7}, 1, 2, false, true};
  for (const int32_t top : {top_of_zero, 3}) {
    EXPECT_EQ(std::bit_cast<uint64_t>(add_slice_products(last, 0, products, 1, top_of_zero, top)), 0u);
    EXPECT_EQ(std::bit_cast<uint64_t>(add_slice_products(last, 0, products, 1, top, top_of_zero)), 0u);
  }
  const int32_t one[] = {1, 0};
  EXPECT_EQ(add_slice_products(last, 0, one, 1, 7, 8), 2);  // 2^(7 + 8), with weight 2^-14
}

TEST(Dgemm, MatricesAreSpreadAsTheyAreAskedToBe) {
  for (const double phi : {0.0, 0.5, 2.0}) {
    double logs = 0, squares = 0, positive = 0, below = 0;
    const int count = 200000;
    for (int i = 0; i < count; ++i) {
      const double x = std::bit_cast<double>(drawn_element(5, uint64_t(i), spread_of(phi)));
      ASSERT_TRUE(std::isnormal(x));
      const double log = std::log(2 * std::fabs(x));  // of a uniform number: mean -1, variance 1
      logs += log;
      squares += log * log;
      positive += x > 0;
      below += std::fabs(x) < 0.25;
    }
    const double mean = logs / count, variance = squares / count - mean * mean;
    EXPECT_NEAR(mean, -1, 0.01 + 0.01 * phi);
    EXPECT_NEAR(variance, 1 + phi * phi, 0.03 * (1 + phi * phi));
    EXPECT_NEAR(positive / count, 0.5, 0.005);
    if (phi == 0) {
      EXPECT_NEAR(below / count, 0.5, 0.005);
    }
  }
  EXPECT_NE(drawn_element(1, 0, 0), drawn_element(2, 0, 0));
  EXPECT_EQ(spread_of(8), greatest_spread);
}

TEST(Dgemm, WhatIsNoRequestIsDeclined) {
  DgemmRequest request;
  request.row = find_cublas_row("dgemm");
  request.n = 64;
  EXPECT_EQ(wrong_with(request), "");
  request.n = 66;
  EXPECT_THAT(wrong_with(request), HasSubstr("n = 66: expected a multiple of 4"));
  request.n = 64;
  request.slices = {{7, 7}, 8, 1};
  EXPECT_THAT(wrong_with(request), HasSubstr("dgemm does not multiply slices"));
  request.row = find_cublas_row("gemmex.s8");
  EXPECT_EQ(wrong_with(request), "");
  request.slices.widths.a = 8;
  EXPECT_THAT(wrong_with(request), HasSubstr("a slice of s8 has 1 to 7 bits"));
  request.row = find_cublas_row("gemmex.fp16");
  request.slices.widths = {11, 9};
  EXPECT_THAT(wrong_with(request), HasSubstr("64 products of digits of 11 and 9 bits do not fit in 24 bits"));
  request.slices = {};
  EXPECT_THAT(wrong_with(request), HasSubstr("gemmex.fp16 does not multiply fp64 matrices"));
}

}  // namespace
}  // namespace mmafuzz
