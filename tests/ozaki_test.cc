// The Ozaki scheme: slices, widths, exactness of slice products, summation, special values, independence of tiles and
// threads. Results are held against MPFR, never against another run of the scheme.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <thread>

#include "core/case_text.h"
#include "plan/request.h"
#include "arithmetic/corner_encodings.h"
#include "oracles/exact/mpfr_reference.h"
#include "oracles/families.h"
#include "plan/registry.h"
#include "oracles/exact/exact_gemm.h"
#include "oracles/gemm/ozaki_unit.h"
#include "oracles/properties/properties.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"
#include "tests/run_one_dot.h"

namespace mmafuzz {
namespace {

using namespace gemm;

Op dgemm(int m, int n, int k, const std::string& more = "") {
  return op_from_text("gemm a=fp64 b=fp64 c=fp64 d=fp64 m=" + std::to_string(m) + " n=" + std::to_string(n) +
                      " k=" + std::to_string(k) + more);
}
Op sgemm(int m, int n, int k) {
  return op_from_text("gemm a=fp32 b=fp32 c=fp32 d=fp32 m=" + std::to_string(m) + " n=" + std::to_string(n) +
                      " k=" + std::to_string(k));
}

/// Fails where a unit's results are not those of another one.
void expect_same(const std::string& name, const std::string& reference, const Op& op, uint64_t seed, size_t cases) {
  const auto unit = bind_or_fail(name, op), other = bind_or_fail(reference, op);
  Batch batch;
  StructuredGenerator(op, seed).fill(0, cases, batch);
  Outcomes got, expected;
  unit->run(batch, got);
  other->run(batch, expected);
  for (size_t i = 0; i < batch.size(); ++i) {
    const int e = first_difference(batch, got.results, expected.results, i);
    ASSERT_EQ(e, -1) << name << " gives " << to_hex(op.d, got.results.get(i, e)) << ", " << reference << " gives "
                     << to_hex(op.d, expected.results.get(i, e)) << " in element " << e << " of\n"
                     << to_text(op) << "\n"
                     << case_line(batch, i);
  }
}

uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }

/// One element, op dgemm 1x1xk.
uint64_t one_element(const std::string& name, const Op& op, const std::vector<double>& a, const std::vector<double>& b,
                     double c) {
  const auto unit = bind_or_fail(name, op);
  Batch batch(op);
  batch.resize(1);
  for (int l = 0; l < op.k; ++l) {
    batch.inputs()[0].set(0, l, bits(a[size_t(l)]));
    batch.inputs()[1].set(0, l, bits(b[size_t(l)]));
  }
  batch.inputs()[2].set(0, 0, bits(c));
  Outcomes outcomes;
  unit->run(batch, outcomes);
  return outcomes.results.get(0);
}

const char* const scalar_pairs[] = {"",
                                    " alpha=4000000000000000 beta=bff0000000000000",
                                    " alpha=bfd5555555555555 beta=0000000000000000",
                                    " alpha=0000000000000000 beta=3ff8000000000000",
                                    " alpha=8000000000000000 beta=8000000000000000",
                                    " alpha=0000000000000001 beta=7fe0000000000000",
                                    " alpha=7fefffffffffffff beta=0000000000000001",
                                    " alpha=7ff0000000000000 beta=3ff0000000000000",
                                    " alpha=3ff0000000000000 beta=7ff8000000000000"};

TEST(ExactGemm, ThreeWaysAgreeInEveryRoundingMode) {
  for (const char* scalars : scalar_pairs) {
    for (const char* rounding : {"nearest_even", "toward_zero", "up", "down", "nearest_away"}) {
      const Op op = dgemm(2, 3, 5, scalars + std::string(" round=") + rounding);
      expect_same("exact", "exact:mpfr", op, 1, case_count(300, 20000));
      expect_same("exact:bigint", "exact:mpfr", op, 2, case_count(100, 2000));
    }
  }
  expect_same("exact", "exact:mpfr", op_from_text("gemm a=fp16 b=e4m3 c=fp32 d=fp32 m=3 n=2 k=7"), 3,
              case_count(500, 20000));
}

TEST(IeeeGemm, IsTheBlasLoopOnTheHost) {
  const Op op = dgemm(2, 2, 4, " alpha=4008000000000000 beta=3fe0000000000000 nan=any");
  const auto unit = bind_or_fail("ieee:serial", op);
  Batch batch;
  StructuredGenerator(op, 5).fill(0, 2000, batch);
  Outcomes outcomes;
  unit->run(batch, outcomes);
  const auto at = [&](size_t column, size_t i, int e) {
    return std::bit_cast<double>(batch.inputs()[column].get(i, e));
  };
  for (size_t i = 0; i < batch.size(); ++i) {
    for (int e = 0; e < 4; ++e) {
      volatile double sum = 0;
      for (int l = 0; l < 4; ++l) {
        volatile const double product = at(0, i, e / 2 * 4 + l) * at(1, i, l * 2 + e % 2);
        sum = sum + product;
      }
      volatile const double scaled = 3.0 * sum, other = 0.5 * at(2, i, e);
      ASSERT_TRUE(same_result(op, outcomes.results.get(i, e), bits(scaled + other))) << case_line(batch, i);
    }
  }
}

TEST(Widths, FollowTheCondition) {
  // n * (2^wa - 1) * (2^wb - 1) <= 2^p by hand: 4 * 2047^2 = 16760836, 16 * 1023^2 = 16744464, 64 * 511^2 = 16711744 <=
  // 2^24 = 16777216; 64 * 15^2 = 14400 <= 2^14 = 16384 < 128 * 15^2.
  const auto of = [](int64_t n, int bits, int most) {
    const SliceWidths w = slice_widths(n, bits, most);
    return std::pair{w.a, w.b};
  };
  EXPECT_EQ(of(4, 24, 11), (std::pair{11, 11}));
  EXPECT_EQ(of(5, 24, 11), (std::pair{11, 10}));
  EXPECT_EQ(of(16, 24, 11), (std::pair{10, 10}));
  EXPECT_EQ(of(17, 24, 11), (std::pair{10, 9}));
  EXPECT_EQ(of(64, 24, 11), (std::pair{9, 9}));
  EXPECT_EQ(of(64, 14, 4), (std::pair{4, 4}));
  EXPECT_EQ(of(128, 14, 4), (std::pair{4, 3}));
  EXPECT_EQ(of(65536, 31, 7), (std::pair{7, 7}));
}

struct SliceUnit {
  const char* slice;
  const char* on;
};
const SliceUnit slice_units[] = {{"fp16", "model:volta/mma.m8n8k4.f32.f16.f16.f32"},
                                 {"fp16", "model:turing/mma.m16n8k8.f32.f16.f16.f32"},
                                 {"fp16", "model:ampere/mma.m16n8k16.f32.f16.f16.f32"},
                                 {"fp16", "model:ada/mma.m16n8k16.f32.f16.f16.f32"},
                                 {"fp16", "model:hopper/mma.m16n8k16.f32.f16.f16.f32"},
                                 {"fp16", "model:blackwell/mma.m16n8k16.f32.f16.f16.f32"},
                                 {"bf16", "model:ampere/mma.m16n8k16.f32.bf16.bf16.f32"},
                                 {"tf32", "model:hopper/mma.m16n8k8.f32.tf32.tf32.f32"},
                                 {"e4m3", "model:ada/mma.m16n8k32.f32.e4m3.e4m3.f32"},
                                 {"e4m3", "model:hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32"},
                                 {"s8", "integer"},
                                 {"s8", "integer:bigint"}};

/// A case whose digits are the greatest at every place: what fills the accumulator most.
Batch all_ones(const Op& op) {
  Batch batch(op);
  batch.resize(1);
  const FormatFields& f = op.a.fields();
  const uint64_t ones = uint64_t(f.bias) << f.fraction_bits | f.fraction_mask();
  for (int e = 0; e < op.m * op.k; ++e) batch.inputs()[0].set(0, e, ones);
  for (int e = 0; e < op.k * op.n; ++e) batch.inputs()[1].set(0, e, ones);
  return batch;
}

int64_t inexact(const std::string& name, const Op& op, const Batch& batch) {
  const auto unit = bind_or_fail(name, op);
  int64_t count = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    std::vector<uint64_t> a(size_t(op.m) * size_t(op.k)), b(size_t(op.k) * size_t(op.n));
    batch.a().unpack(i, a.data());
    batch.b().unpack(i, b.data());
    count += dynamic_cast<const OzakiUnit&>(*unit).engine().inexact_slice_products({op.m, op.n, op.k}, {{a, b}})[0];
  }
  return count;
}

TEST(SliceProducts, AreExactAtTheDerivedWidthOnEveryUnit) {
  for (const SliceUnit& u : slice_units) {
    for (const int k : {1, 3, 4, 5, 16, 17, 32, 64, 100, 128, 512, 4096}) {
      const Op op = dgemm(1, 1, k);
      const std::string name = std::string("ozaki:dgemm.") + u.slice + "?on=" + u.on;
      EXPECT_EQ(inexact(name, op, all_ones(op)), 0) << name << " k=" << k;
      Batch batch;
      StructuredGenerator(op, 7).fill(0, k > 100 ? 2 : 20, batch);
      EXPECT_EQ(inexact(name, op, batch), 0) << name << " k=" << k;
    }
  }
}

TEST(SliceProducts, AreNotExactAtOneBitMore) {
  for (const SliceUnit& u : slice_units) {
    if (u.slice != std::string("fp16") && u.slice != std::string("e4m3")) continue;
    for (const int k : {5, 8, 16, 32, 64, 128, 256}) {
      const bool fp16 = u.slice == std::string("fp16");
      if (!fp16 && k < 128) continue;  // e4m3's four bits hold up to n = 64
      const Op op = dgemm(1, 1, k);
      const int digits = fp16 ? 11 : 4;
      const OzakiGemm& engine =
          dynamic_cast<const OzakiUnit&>(*bind_or_fail(std::string("ozaki:dgemm.") + u.slice + "?on=" + u.on, op))
              .engine();
      const SliceWidths w = engine.widths(k);
      const SliceWidths wider = w.a == w.b ? SliceWidths{w.a + 1, w.b} : SliceWidths{w.a, w.b + 1};
      ASSERT_LE(wider.a, digits);
      // All digits the greatest, but for one product of half the factor where the sum would be even.
      Batch batch = all_ones(op);
      const std::string name = std::string("ozaki:dgemm.") + u.slice + "?slices=1,width_a=" + std::to_string(wider.a) +
                               ",width_b=" + std::to_string(wider.b) + ",on=" + u.on;
      int64_t found = inexact(name, op, batch);
      batch.inputs()[0].set(0, 0, bits(1.0));
      found += inexact(name, op, batch);
      const uint64_t one_bit = bits(std::ldexp(1.0, 1 - wider.a));  // the least digit
      batch.inputs()[0].set(0, 0, one_bit);
      batch.inputs()[1].set(0, 0, bits(std::ldexp(1.0, 1 - wider.b)));
      found += inexact(name, op, batch);
      EXPECT_GT(found, 0) << name << " k=" << k;
    }
  }
}

TEST(CorrectlyRounded, EqualsMpfrOnEveryUnit) {
  for (const SliceUnit& u : slice_units)
    expect_same(std::string("ozaki:dgemm.") + u.slice + "?sum=exact,on=" + u.on, "exact:mpfr", dgemm(2, 2, 9), 11,
                case_count(20, 1000));
  for (const char* rounding : {"toward_zero", "up", "down", "nearest_away"})
    for (const char* scalars : scalar_pairs)
      expect_same("ozaki:dgemm.fp16?sum=exact", "exact:mpfr",
                  dgemm(2, 2, 5, scalars + std::string(" round=") + rounding), 12, case_count(40, 1000));
  expect_same("ozaki:sgemm.fp16?sum=exact", "exact:mpfr", sgemm(3, 2, 40), 13, case_count(60, 3000));
  expect_same("ozaki:sgemm.s8?sum=exact,block=8,threads=3", "exact:mpfr", sgemm(3, 2, 40), 14, case_count(60, 3000));
}

/// Inner products of lengths log-uniform from 1 to 4096 whose exponents lie within `spread` of each other, some of
/// which cancel.
void expect_inner_products(int spread, size_t count, uint64_t seed) {
  const FormatFields f = format("fp64").fields();
  const auto work = [&](size_t first, size_t step) {
    for (size_t number = first; number < count; number += step) {
      CounterRng rng(seed, number);
      const int k = std::clamp(static_cast<int>(std::exp(std::log(4096.0) * rng.below(1u << 20) / (1 << 20))), 1, 4096);
      const int least_a = rng.between(f.least_bit(), f.emax() - spread),
                least_b = rng.between(f.least_bit(), f.emax() - spread);
      std::vector<uint64_t> a, b;
      for (int l = 0; l < k; ++l) {
        const bool cancels = l > 0 && rng.one_in(4);
        const size_t from = l ? rng.below(static_cast<uint32_t>(l)) : 0;
        a.push_back(cancels ? a[from] ^ f.sign_bit()
                            : encode_near(f, rng.one_in(2), least_a + rng.between(0, spread), draw_fraction(f, rng)));
        b.push_back(cancels ? b[from] ^ (rng.one_in(2) ? 1 : 0)
                            : encode_near(f, rng.one_in(2), least_b + rng.between(0, spread), draw_fraction(f, rng)));
      }
      const uint64_t c =
          rng.one_in(2)
              ? 0
              : encode_near(f, rng.one_in(2),
                            std::clamp(least_a + least_b + rng.between(0, 2 * spread), f.least_bit(), f.emax()),
                            draw_fraction(f, rng));
      const Op op = dgemm(1, 1, k);
      const Result<OzakiGemm> engine = make_ozaki(*parse_ozaki_plan("fp16", "sum=exact"), op, k, registry());
      const uint64_t got = engine->multiply({1, 1, k}, a.data(), b.data(), &c)[0];
      ASSERT_EQ(to_hex(op.d, got), to_hex(op.d, exact_element(ExactBy::mpfr, op, {a, b, c})))
          << "inner product " << number << " of length " << k;
    }
  };
  std::thread other(work, 1, 2);
  work(0, 2);
  other.join();
}

TEST(CorrectlyRounded, EqualsMpfrOnInnerProducts) { expect_inner_products(200, case_count(400, 1'000'000), 51); }

TEST(CorrectlyRounded, EqualsMpfrOnInnerProductsOverTheWholeRange) {
  expect_inner_products(2097, case_count(6, 1000), 52);
}

/// Elements (uniform - 0.5) * exp(phi * normal), as in section 5 of Mukunoki et al.
std::vector<uint64_t> spread_matrix(size_t elements, double phi, uint64_t seed) {
  CounterRng rng(seed, 0);
  const auto uniform = [&] { return (double(rng.next() >> 12) + 0.5) * 0x1p-52; };
  std::vector<uint64_t> matrix;
  while (matrix.size() < elements) {
    const double radius = std::sqrt(-2 * std::log(uniform())), angle = 2 * 3.14159265358979323846 * uniform();
    const double centred = uniform() - 0.5;
    matrix.push_back(bits(centred * std::exp(phi * radius * std::cos(angle))));
  }
  return matrix;
}

/// The greatest relative errors of a plan and of a chain of fused multiply-adds, over the elements of a product.
struct GreatestErrors {
  double of_plan = 0, of_chain = 0;
};
GreatestErrors greatest_errors(const std::string& parameters, const Shape& shape, double phi, uint64_t seed) {
  const std::vector<uint64_t> a = spread_matrix(size_t(shape.m * shape.k), phi, seed);
  const std::vector<uint64_t> b = spread_matrix(size_t(shape.k * shape.n), phi, seed + 1);
  const std::vector<uint64_t> c(size_t(shape.m * shape.n), 0);
  const Op op = dgemm(1, 1, int(shape.k));
  const Result<OzakiGemm> engine = make_ozaki(*parse_ozaki_plan("fp16", parameters), op, shape.k, registry());
  const std::vector<uint64_t> d = engine->multiply(shape, a.data(), b.data(), c.data());
  GreatestErrors greatest;
  exact::Mpfr sum(element_precision), error(element_precision);
  const auto relative_error = [&](double x) {
    mpfr_d_sub(error.get(), x, sum.get(), MPFR_RNDN);
    mpfr_div(error.get(), error.get(), sum.get(), MPFR_RNDN);
    return std::fabs(mpfr_get_d(error.get(), MPFR_RNDN));
  };
  for (size_t at = 0; at < d.size(); ++at) {
    std::vector<uint64_t> row, column;
    double chain = 0;
    for (int64_t l = 0; l < shape.k; ++l) {
      row.push_back(a[at / size_t(shape.n) * size_t(shape.k) + size_t(l)]);
      column.push_back(b[size_t(l) * size_t(shape.n) + at % size_t(shape.n)]);
      chain = std::fma(std::bit_cast<double>(row.back()), std::bit_cast<double>(column.back()), chain);
    }
    element_value(op, {row, column, 0}, sum.get());
    greatest.of_plan = std::max(greatest.of_plan, relative_error(std::bit_cast<double>(d[at])));
    greatest.of_chain = std::max(greatest.of_chain, relative_error(chain));
  }
  return greatest;
}

TEST(Estimate,
     LosesNoMoreThanAnFmaChainInFastModeEither) {  // one slice less loses 13 to 120 times as much in fast mode
  for (const char* plan : {"slices=estimated", "slices=estimated,fast=1"}) {
    for (const uint64_t seed : {1, 5, 15, 21}) {
      const GreatestErrors errors = greatest_errors(plan, {16, 16, 1024}, 2, seed);
      EXPECT_LT(errors.of_plan, 2 * errors.of_chain) << plan << ", seed " << seed;
    }
  }
}

/// The properties that the unit claims, on structured cases.
void expect_claims(const std::string& name, const Op& op, uint64_t seed, size_t cases) {
  const auto unit = bind_or_fail(name, op);
  Batch batch;
  StructuredGenerator(op, seed).fill(0, cases, batch);
  Outcomes base;
  unit->run(batch, base);
  for (const Claim& claim : unit->claims()) {
    if (claim.property == "equals_model") continue;
    const Property* property = find_property(claim.property);
    ASSERT_NE(property, nullptr) << claim.property;
    Result<BoundProperty> bound = BoundProperty::bind(*property, *unit, op, registry());
    if (!bound) continue;  // a 1x1 product has no tiles
    const size_t compared = bound->check(batch, base, [&](Divergence d, uint64_t) {
      ADD_FAILURE() << d.key.to_string() << "\n" << to_text(op) << "\n" << case_line(d.cases, 0);
    });
    EXPECT_GT(compared, 0u) << claim.property;
  }
}

TEST(OzakiUnits, KeepTheirClaims) {
  for (const char* plan : {"dgemm.fp16", "dgemm.fp16?slices=4", "dgemm.fp16?slices=4,fast=1", "dgemm.fp16?fast=1",
                           "dgemm.fp16?slices=estimated,fast=1", "dgemm.s8", "dgemm.s8?slices=7,fast=1",
                           "dgemm.e4m3?slices=14", "dgemm.bf16?slices=6,sum=exact", "dgemm.tf32?block=3,slices=5"})
    for (const char* scalars : {"", " alpha=bfd5555555555555 beta=4008000000000000"})
      expect_claims(std::string("ozaki:") + plan, dgemm(3, 2, 8, scalars), 21, case_count(60, 2000));
  for (const char* plan : {"sgemm.fp16", "sgemm.fp16?slices=3,fast=1", "sgemm.s8"})
    expect_claims(std::string("ozaki:") + plan, sgemm(2, 3, 16), 22, case_count(60, 2000));
}

TEST(OzakiUnits, DoNotDependOnThreadsDotLengthOrUnit) {
  const Op op = dgemm(7, 5, 50);
  const std::string base = "ozaki:dgemm.fp16?width_a=9,width_b=9";
  for (const char* more : {",threads=3", ",unit_k=16", ",unit_k=7", ",on=model:volta/mma.m8n8k4.f32.f16.f16.f32",
                           ",on=twin:turing/mma.m16n8k8.f32.f16.f16.f32", ",on=ieee:fma", ",on=exact"})
    expect_same(base + more, base, op, 31, 4);
}

TEST(SpecialValues, AreThoseOfTheExactSum) {
  const double inf = INFINITY, nan = NAN, huge = 0x1.fffffffffffffp1023, least = 0x1p-1074;
  const Op op = dgemm(1, 1, 2);
  const FormatFields& d = op.d.fields();
  for (const char* name : {"ozaki:dgemm.fp16", "ozaki:dgemm.s8?sum=exact", "exact", "exact:bigint"}) {
    const auto of = [&](std::vector<double> a, std::vector<double> b, double c) {
      return one_element(name, op, a, b, c);
    };
    EXPECT_EQ(of({inf, 1}, {1, 1}, 0), d.encode_infinity(false)) << name;
    EXPECT_EQ(of({-inf, 1}, {1, nan}, 0), d.encode_nan()) << name;
    EXPECT_EQ(of({inf, 1}, {0, 1}, 0), d.encode_nan()) << name;
    EXPECT_EQ(of({inf, 1}, {1, 1}, -inf), d.encode_nan()) << name;
    EXPECT_EQ(of({1, 1}, {1, 1}, -inf), d.encode_infinity(true)) << name;
    EXPECT_EQ(of({huge, huge}, {1, -1}, huge), bits(huge)) << name << ": nothing overflows on the way";
    EXPECT_EQ(of({huge, huge}, {1, 1}, 0), d.encode_infinity(false)) << name;
    EXPECT_EQ(of({-0.0, 0}, {1, -1}, -0.0), bits(-0.0)) << name;
    EXPECT_EQ(of({-0.0, 0}, {1, 1}, -0.0), bits(0.0)) << name;
    EXPECT_EQ(of({1, 1}, {1, -1}, -0.0), bits(0.0)) << name;
    EXPECT_EQ(of({least, 0}, {1, 0}, 0), bits(least)) << name;
    // A wild range inside a row: summation in fp64 loses what lies 2^-1074 below the greatest product of row and
    // column.
    EXPECT_EQ(of({least, huge}, {1, 0}, 0), bits(name == std::string("ozaki:dgemm.fp16") ? 0.0 : least)) << name;
    EXPECT_EQ(of({0x1p-900, 1}, {1, 0}, 0), bits(0x1p-900)) << name;
    EXPECT_EQ(of({least, least}, {0.5, 0.25}, 0), bits(least)) << name;
  }
}

TEST(Shapes, AreRefusedBeforeAnythingIsAllocated) {
  const auto reason = [](MatrixSize a, MatrixSize b, MatrixSize c) {
    const Result<Shape> shape = checked_shape(a, b, c, 8);
    return shape ? std::string() : shape.refusal().reason;
  };
  EXPECT_EQ(reason({2, 3}, {3, 4}, {2, 4}), "");
  EXPECT_EQ(reason({0, 3}, {3, 0}, {0, 0}), "");
  EXPECT_THAT(reason({2, 3}, {4, 4}, {2, 4}), testing::HasSubstr("as many columns as b has rows"));
  EXPECT_THAT(reason({2, 3}, {3, 4}, {4, 2}), testing::HasSubstr("a times b is 2x4"));
  EXPECT_THAT(reason({-1, 3}, {3, 4}, {-1, 4}), testing::HasSubstr("negative size: -1x3"));
  const int64_t big = int64_t{1} << 40;
  EXPECT_THAT(reason({big, big}, {big, big}, {big, big}), testing::HasSubstr("do not fit"));
  EXPECT_THAT(reason({int64_t{1} << 20, int64_t{1} << 20}, {int64_t{1} << 20, 1}, {int64_t{1} << 20, 1}),
              testing::HasSubstr("do not fit"));
}

TEST(Shapes, EmptyProductsAreSumsOfNothing) {
  Result<NamedPlan> plan = parse_ozaki_plan("fp16", "");
  Result<OzakiGemm> engine = make_ozaki(*plan, dgemm(1, 1, 1), 0, registry());
  ASSERT_TRUE(engine);
  EXPECT_TRUE(engine->multiply({0, 4, 3}, nullptr, std::vector<uint64_t>(12).data(), nullptr).empty());
  const std::vector<uint64_t> c = {bits(2.5), bits(-0.0)};
  EXPECT_EQ(engine->multiply({1, 2, 0}, nullptr, nullptr, c.data()), c);
}

TEST(IntegerDots, WrapOrSaturateOnce) {
  for (const char* line : {"dot a=s8 b=s8 c=s32 d=s32 k=16", "dot a=s8 b=u8 c=s32 d=s32 k=16 saturate=1",
                           "dot a=u8 b=u8 c=s32 d=s32 k=3 saturate=1"})
    expect_same("integer", "integer:bigint", op_from_text(line), 41, case_count(5000, 200000));
  const Op wraps = op_from_text("dot a=s8 b=s8 c=s32 d=s32 k=1"),
           saturates = op_from_text("dot a=s8 b=s8 c=s32 d=s32 k=1 saturate=1");
  EXPECT_EQ(run_one_dot(*bind_or_fail("integer", wraps), wraps, {1}, {1}, 0x7fffffff), 0x80000000u);
  EXPECT_EQ(run_one_dot(*bind_or_fail("integer", saturates), saturates, {1}, {1}, 0x7fffffff), 0x7fffffffu);
  EXPECT_EQ(run_one_dot(*bind_or_fail("integer", wraps), wraps, {0xff}, {1}, 0x80000000), 0x7fffffffu);
  EXPECT_EQ(run_one_dot(*bind_or_fail("integer", saturates), saturates, {0xff}, {1}, 0x80000000), 0x80000000u);
}

TEST(Parameters, SayWhatIsAllowed) {
  const Op op = dgemm(1, 1, 4);
  const auto reason = [&](const std::string& name) { return registry().bind(name, op).refusal().reason; };
  EXPECT_THAT(reason("ozaki:dgemm.fp16?slice=3"), testing::HasSubstr("unknown parameter 'slice'; known: slices fast"));
  EXPECT_THAT(reason("ozaki:dgemm.fp16?slices=some"), testing::HasSubstr("estimated, all or a number"));
  EXPECT_THAT(reason("ozaki:dgemm.e4m3?width_a=5"), testing::HasSubstr("at most 4 bits"));
  EXPECT_THAT(reason("ozaki:sgemm.fp16"), testing::HasSubstr("takes 'op gemm a=fp32"));
  EXPECT_THAT(reason("ozaki:dgemm.fp16?on=model:none"), testing::HasSubstr("unknown unit"));
}

}  // namespace
}  // namespace mmafuzz
