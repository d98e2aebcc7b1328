// The Ozaki scheme II: how many products each unit sums without error, and one more; which integers reconstruction
// finds, and one that it does not; alpha and beta; matrix_scaling; the bound is reached. Its results are held against
// the papers' text in python/tests/test_residues.py, its flaws in gemm_flaws_test.py.
#include "oracles/gemm/residues.h"

#include <gtest/gtest.h>

#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cfenv>
#include <cmath>
#include <fstream>
#include <set>

#include "arithmetic/counter_rng.h"
#include "core/function_unit.h"
#include "core/text.h"
#include "oracles/gemm/residue_constants.h"
#include "oracles/gemm/residues_simd.h"
#include "oracles/gemm/s8_product.h"
#include "oracles/lanes/host_float.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "search/mutator.h"
#include "search/structured_generator.h"
#include "tests/each_vector_target.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

using gemm::ResidueGemm;

Op product(const char* format, int m, int n, int k) {
  const std::string f = format;
  return op_from_text("gemm a=" + f + " b=" + f + " c=" + f + " d=" + f + " m=" + std::to_string(m) +
                      " n=" + std::to_string(n) + " k=" + std::to_string(k));
}

/// The sum of `count` products of `greatest` squared, and then one of `last`, in a chain of the unit's dots.
double chained(const Unit& unit, const Op& dot, int64_t count, int greatest, int last) {
  const FormatFields& f = dot.a.fields();
  const auto code = [&](int x) {
    return f.integer ? static_cast<uint64_t>(int64_t{x}) & f.container_mask()
                     : round_once(f, x < 0, static_cast<uint64_t>(std::abs(x)), 0).encoding;
  };
  Batch one(dot);
  one.resize(1);
  Outcomes outcomes;
  for (int64_t done = 0; done <= count; done += dot.k) {
    for (int i = 0; i < dot.k; ++i)
      for (const size_t side : {0, 1})
        one.inputs()[side].set(0, i,
                               code(done + i < count                 ? greatest
                                    : done + i == count && side == 0 ? last
                                                                     : done + i == count));
    unit.run(one, outcomes);
    one.inputs()[2].set(0, 0, outcomes.results.get(0));
  }
  const auto bits = static_cast<uint32_t>(outcomes.results.get(0));
  return f.integer ? static_cast<double>(static_cast<int32_t>(bits)) : double{std::bit_cast<float>(bits)};
}

struct Limit {
  std::string unit;
  int products;  ///< without error
  int greatest, last;
};

/// corpus/evidence/exact_products.tsv. Of rows that no solver proves these are the cases at the limit alone.
std::vector<Limit> limits() {
  std::ifstream file(MMAFUZZ_SOURCE_DIR "/corpus/evidence/exact_products.tsv");
  std::vector<Limit> all;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = words_of(line, '\t');
    all.push_back({cells.at(0) == "integer" ? "ozaki2:dgemm.s8" : "ozaki2:dgemm.e4m3?on=" + cells[0],
                   std::stoi(cells.at(1)), std::stoi(cells.at(2)), std::stoi(cells.at(3))});
  }
  return all;
}

class ExactProducts : public testing::TestWithParam<Limit> {};
INSTANTIATE_TEST_SUITE_P(Units, ExactProducts, testing::ValuesIn(limits()));

TEST_P(ExactProducts, AreSummedAndOneMoreIsNot) {
  const Limit& limit = GetParam();
  const auto unit = bind_or_fail(limit.unit, product("fp64", 1, 1, 4));
  // Blocks are not longer than any matrix.
  EXPECT_EQ(gemm::residues_of(*unit)->exact_products(), std::min(limit.products, max_extent));
  const auto named = gemm::named_residues(unit->name());
  ASSERT_TRUE(named);
  const Op dot_op = gemm::residue_dot(named->plan);
  const auto dot = bind_or_fail(named->dot_unit, dot_op);
  const double square = double(limit.greatest) * limit.greatest, all = square * limit.products;
  EXPECT_EQ(chained(*dot, dot_op, limit.products, limit.greatest, 0), all);
  const double last = limit.last == limit.greatest ? square : limit.last;
  EXPECT_NE(limit.last == limit.greatest ? chained(*dot, dot_op, limit.products + 1, limit.greatest, 0)
                                         : chained(*dot, dot_op, limit.products, limit.greatest, limit.last),
            all + last);
}

using boost::multiprecision::cpp_int;

TEST(Residues, AreThoseOfADivision) {
  CounterRng rng(5, 0);
  for (const char* narrow : {"s8", "e4m3"})
    for (const int p : gemm::residue_moduli(format(narrow)))
      for (int n = 0; n < 20'000; ++n) {
        const int64_t any = static_cast<int64_t>(rng.next()) >> (1 + rng.below(62)), multiple = any / p * p;
        for (const int64_t x :
             {any, multiple, multiple + p / 2, multiple - p / 2, multiple + (p + 1) / 2, multiple - 1}) {
          const int64_t r = ((x % p) + p) % p;
          ASSERT_EQ(gemm::centred(x, p), 2 * r >= p ? r - p : r) << x << " modulo " << p;
        }
      }
}

/// Integers of up to 53 bits below 2^100, among them multiples of p and what is next to their middles.
TEST(Residues, OfDoublesAreThoseOfADivisionOnEveryTarget) {
  CounterRng rng(6, 0);
  std::vector<double> x;
  for (int n = 0; n < 3'000; ++n) {
    const double any =
        std::ldexp(static_cast<double>(rng.next() >> (11 + rng.below(53))), static_cast<int>(rng.below(47)));
    x.push_back(rng.one_in(2) ? any : -any);
  }
  for (const char* narrow : {"s8", "e4m3"})
    for (const int p : gemm::residue_moduli(format(narrow))) {
      for (size_t n = 0; n < 1'000; ++n)
        x[n] = std::trunc(std::ldexp(x[n], -std::max(0, std::ilogb(x[n]) - 40)) / p) * p +
               static_cast<double>(n % 3) * p / 2;
      for (double& one : x) one = std::trunc(one);
      for_each_vector_target([&](const char* target) {
        std::vector<int> residues(x.size());
        gemm::centred_residues(x.data(), x.size(), p, residues.data());
        for (size_t n = 0; n < x.size(); ++n) {
          const auto r = static_cast<int>((cpp_int(x[n]) % p + p) % p);
          ASSERT_EQ(residues[n], 2 * r >= p ? r - p : r) << x[n] << " modulo " << p << " on " << target;
        }
        int one = 0;  // fewer than a vector holds
        gemm::centred_residues(&x[7], 1, p, &one);
        ASSERT_EQ(one, residues[7]);
      });
    }
}

TEST(Integers, AreCutToward0AndWeightedSumsHaveTheSameBitsOnEveryTarget) {
  CounterRng rng(7, 0);
  std::vector<double> x;
  std::vector<std::vector<int>> residues(15, std::vector<int>(501));
  for (int n = 0; n < 501; ++n) {
    x.push_back(std::ldexp(static_cast<double>(static_cast<int64_t>(rng.next())), rng.between(-1130, 900)));
    for (std::vector<int>& of_one : residues) of_one[size_t(n)] = rng.between(-128, 127);
  }
  std::vector<double> weights, low;
  std::vector<const int*> each;
  for (const std::vector<int>& of_one : residues) {
    weights.push_back(std::ldexp(static_cast<double>(rng.next() >> 11), 60));
    low.push_back(static_cast<double>(rng.next()));
    each.push_back(of_one.data());
  }
  const gemm::WeightedSum sum = {weights.size(), weights.data(), low.data(), 1 / 0x1.8p110, 0x1.8p110, 0x1.3p57, false};
  for_each_vector_target([&](const char* target) {
    std::vector<double> integers(x.size());
    for (const int by : {-970, -40, 0, 33, 1120}) {
      std::vector<double> below = x;
      for (double& one : below)
        if (one != 0 && std::ilogb(one) + by > 98) one = std::ldexp(one, 98 - by - std::ilogb(one));
      gemm::integers_of(below.data(), x.size(), by, integers.data());
      for (size_t n = 0; n < x.size(); ++n)
        ASSERT_EQ(integers[n], std::trunc(std::ldexp(below[n], by))) << below[n] << " by " << by << " on " << target;
    }
    gemm::weighted_sums(sum, each.data(), x.size(), integers.data());
    for (size_t n = 0; n < x.size(); ++n) {
      double high = 0, rest_of_weights = 0;
      for (size_t p = 0; p < weights.size(); ++p) {
        high = std::fma(weights[p], residues[p][n], high);
        rest_of_weights = std::fma(low[p], residues[p][n], rest_of_weights);
      }
      const double multiple = -std::nearbyint(high * sum.inverse);
      ASSERT_EQ(integers[n],
                std::fma(multiple, sum.product_low, std::fma(multiple, sum.product_high, high) + rest_of_weights))
          << target;
    }
  });
}

/// Any sizes, and any bytes: also -128 * -128, and k that is no multiple of four.
TEST(S8Product, IsTheSumModulo2To32) {
  CounterRng rng(9, 0);
  for (int n = 0; n < 200; ++n) {
    const size_t rows = 1 + rng.below(30), columns = 1 + rng.below(70), k = 1 + rng.below(n == 0 ? 140'000 : 70);
    std::vector<int8_t> a(rows * k), b(columns * k);
    const bool extreme = rng.one_in(4);
    for (std::vector<int8_t>* side : {&a, &b})
      for (int8_t& x : *side) x = extreme ? int8_t{-128} : static_cast<int8_t>(rng.next());
    std::vector<int32_t> c(rows * columns);
    gemm::s8_product(rows, columns, k, a.data(), b.data(), c.data());
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j) {
        int64_t sum = 0;
        for (size_t l = 0; l < k; ++l) sum += a[i * k + l] * b[j * k + l];
        ASSERT_EQ(c[i * columns + j], static_cast<int32_t>(static_cast<uint32_t>(sum)));
      }
  }
}

cpp_int product_of(const ResidueGemm& scheme) {
  cpp_int product = 1;
  for (const int p : scheme.moduli()) product *= p;
  return product;
}

/// Whether a scheme finds an integer from its residues, but for roundings.
bool is_found(const ResidueGemm& scheme, const cpp_int& x) {
  std::vector<int> residues;
  for (const int p : scheme.moduli()) {
    auto r = static_cast<int>((x % p + p) % p);
    if (2 * r > p || (2 * r == p && p == 256)) r -= p;  // s8 holds -128 alone
    residues.push_back(r);
  }
  const double found = std::bit_cast<double>(scheme.reconstructed(residues));
  return abs(cpp_int(found) - x) <= product_of(scheme) / 1'000'000;
}

/// Beyond the limit quotients go to the next multiple of P. The limit says of all integers below it what no case could:
/// here are those nearest to it, and of those next to P / 2 some that are lost.
TEST(Reconstruction, FindsIntegersUpToItsLimitAndNotAllBelowHalfOfTheProduct) {
  int lost = 0, lost_squares = 0;
  for (const char* narrow : {"s8", "e4m3"})
    for (const char* sum : {"fp64", "single", "exact"})
      for (int moduli = 2; moduli <= 20; ++moduli) {
        const std::string name =
            std::string("ozaki2:dgemm.") + narrow + "?moduli=" + std::to_string(moduli) + ",sum=" + sum;
        const auto unit = bind_or_fail(name, product("fp64", 1, 1, 4));
        const ResidueGemm& scheme = *gemm::residues_of(*unit);
        const cpp_int limit(scheme.greatest_integer()), half = (product_of(scheme) - 1) / 2;
        EXPECT_LE(limit, half) << name;
        EXPECT_LE(half - limit, half >> 24) << name;  // it takes nothing that matters from the scaled integers
        for (const int below : {0, 1, 2, 12345})
          for (const int sign : {-1, 1}) EXPECT_TRUE(is_found(scheme, sign * (limit - below))) << name << " " << below;
        lost += !is_found(scheme, half) || !is_found(scheme, -half);
        // The square of a number of 53 bits: the product of two matrices of one element.
        const cpp_int root = sqrt(half);
        const unsigned drop = msb(root) > 52 ? static_cast<unsigned>(msb(root)) - 52 : 0;
        const cpp_int factor = root >> drop << drop;
        lost_squares += !is_found(scheme, factor * factor);
        if (std::string(sum) == "exact") {
          EXPECT_EQ(limit, half) << name;
          EXPECT_TRUE(is_found(scheme, half) && is_found(scheme, -half)) << name;
        }
      }
  EXPECT_GT(lost, 0);
  EXPECT_GT(lost_squares, 0);
}

/// Rows and columns whose product is the greatest that scaling lets through: a = b, whose squares' sum is the limit.
TEST(Reconstruction, FindsTheGreatestProductThatScalingLetsThrough) {
  for (const char* name : {"ozaki2:dgemm.s8", "ozaki2:dgemm.e4m3", "ozaki2:dgemm.s8?moduli=6",
                           "ozaki2:dgemm.e4m3?moduli=20", "ozaki2:dgemm.s8?sum=exact"}) {
    const Op op = product("fp64", 1, 1, 16);
    const auto unit = bind_or_fail(name, op);
    const ResidueGemm& scheme = *gemm::residues_of(*unit);
    const cpp_int limit(scheme.greatest_integer());
    std::vector<uint64_t> a;
    cpp_int rest = limit;
    while (a.size() < 16) {
      cpp_int root = sqrt(rest);
      const unsigned drop = root > 0 && msb(root) > 52 ? static_cast<unsigned>(msb(root)) - 52 : 0;
      root = root >> drop << drop;
      rest -= root * root;
      a.push_back(std::bit_cast<uint64_t>(static_cast<double>(root)));
    }
    ASSERT_EQ(rest, 0) << name;
    const ResidueGemm::Scales scales = scheme.scales(a, a);
    ASSERT_EQ(scales.a[0], 0) << name;
    Batch one(op);
    one.resize(1);
    for (const uint64_t sign : {uint64_t{0}, uint64_t{1} << 63}) {
      std::vector<uint64_t> signed_a = a;
      for (uint64_t& x : signed_a) x ^= sign;
      one.inputs()[0].pack(0, signed_a.data());
      one.inputs()[1].pack(0, a.data());
      Outcomes outcomes;
      unit->run(one, outcomes);
      EXPECT_TRUE(scheme.within_bound(signed_a, a, 0, scales, 0, 0, outcomes.results.get(0))) << name;
      EXPECT_EQ(scheme.wrong_stage(one, 0), "") << name;
    }
  }
}

size_t broken(const std::string& name, const char* property, const Op& op, size_t cases, size_t& compared) {
  const auto unit = bind_or_fail(name, op);
  Batch batch;
  StructuredGenerator(op, 3).fill(0, cases, batch);
  Outcomes base;
  unit->run(batch, base);
  const auto bound = BoundProperty::bind(*find_property(property), *unit, op, registry());
  size_t failures = 0;
  compared += bound->check(batch, base, [&](const Divergence&, uint64_t count) { failures += count; });
  return failures;
}

Op scaled_product(const std::string& scalars) {
  return op_from_text("gemm a=fp64 b=fp64 c=fp64 d=fp64 m=2 n=2 k=6 " + scalars);
}

/// Moduli of one's own: the papers' by their numbers are the papers', and what cannot be a list is declined in a line.
TEST(Moduli, AreAnyCoprimeNumbersThatTheNarrowFormatHolds) {
  const Op op = op_from_text("gemm a=fp64 b=fp64 c=fp64 d=fp64 m=2 n=3 k=5");
  Batch batch(op);
  StructuredGenerator(op, 3).fill(0, 300, batch);
  size_t compared = 0;
  const auto answers = [&](const std::string& name) {
    const auto unit = bind_or_fail(name, op);
    EXPECT_EQ(broken(name, "gemm_error_bound", op, 300, compared), 0u) << name;
    Outcomes outcomes;
    unit->run(batch, outcomes);
    std::vector<uint64_t> all;
    for (size_t i = 0; i < batch.size(); ++i)
      for (int e = 0; e < 6; ++e) all.push_back(outcomes.results.get(i, e));
    return all;
  };
  EXPECT_EQ(answers("ozaki2:dgemm.s8?moduli=256+255+253+251"), answers("ozaki2:dgemm.s8?moduli=4"));
  EXPECT_EQ(answers("ozaki2:dgemm.e4m3?moduli=1089+1024+961"), answers("ozaki2:dgemm.e4m3?moduli=3"));
  answers("ozaki2:dgemm.s8?moduli=2+3");
  answers("ozaki2:dgemm.s8?moduli=127+128+125+123+121+119+113+109+107+103+101+97+89,scaling=accurate");
  answers("ozaki2:dgemm.e4m3?moduli=511+509+507+503+499+1024");
  answers("ozaki2:dgemm.e4m3?moduli=9+16+25+49+121+169,sum=exact");
  const Registry registry;
  for (const char* bad :
       {"s8?moduli=256+254", "s8?moduli=257+256", "s8?moduli=256", "s8?moduli=256+", "s8?moduli=+3+5", "s8?moduli=1+3",
        "s8?moduli=0", "s8?moduli=3+x", "e4m3?moduli=512+511", "e4m3?moduli=1156+511", "e4m3?moduli=-3+5"}) {
    const auto unit = registry.bind(std::string("ozaki2:dgemm.") + bad, op);
    ASSERT_FALSE(unit) << bad;
    EXPECT_NE(unit.refusal().reason.find("moduli"), std::string::npos) << unit.refusal().reason;
  }
}

/// A caller's rounding mode, or that it flushes subnormal numbers, changes nothing and stays as it was.
TEST(Environment, OfTheCallerIsNotRead) {
  const Op op = op_from_text("gemm a=fp64 b=fp64 c=fp64 d=fp64 m=2 n=2 k=4");
  const auto unit = bind_or_fail("ozaki2:dgemm.s8", op);
  Batch batch(op);
  StructuredGenerator(op, 11).fill(0, 2'000, batch);
  Outcomes plain, elsewhere;
  unit->run(batch, plain);
  std::fenv_t kept;
  std::fegetenv(&kept);
  std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);  // FTZ and DAZ
#endif
  unit->run(batch, elsewhere);
  const int mode = std::fegetround();
  std::fesetenv(&kept);
  EXPECT_EQ(mode, FE_UPWARD);
  for (size_t i = 0; i < batch.size(); ++i)
    for (int e = 0; e < 4; ++e) ASSERT_EQ(plain.results.get(i, e), elsewhere.results.get(i, e)) << i;
}

/// What a case reaches is the same alone and among others, and drawn cases with their moves reach most of it.
TEST(Features, AreThoseOfTheCase) {
  for (const char* name : {"ozaki2:dgemm.s8", "ozaki2:dgemm.e4m3?moduli=6,sum=exact"}) {
    const Op op = op_from_text("gemm a=fp64 b=fp64 c=fp64 d=fp64 m=2 n=2 k=8");
    const auto unit = bind_or_fail(name, op);
    Batch batch(op);
    StructuredGenerator(op, 5).fill(0, 1'000, batch);
    const Mutator mutator(op, corner_hints(nullptr, unit->slicing()));
    for (size_t i = 500; i < batch.size(); ++i) {
      CounterRng rng(8, i);
      for (int n = 0; n < 3; ++n) mutator.mutate(batch, i, rng);
    }
    std::vector<std::set<int>> of_case(batch.size());
    std::set<int> reached;
    unit->observe(batch, [&](size_t i, int feature) {
      ASSERT_TRUE(feature >= 0 && feature < unit->features());
      of_case[i].insert(feature);
      reached.insert(feature);
    });
    EXPECT_GE(reached.size(), static_cast<size_t>(unit->features()) * 3 / 4) << name;
    for (const size_t i : {0, 499, 999}) {
      Batch one(op);
      one.append(batch, i);
      std::set<int> alone;
      unit->observe(one, [&](size_t, int feature) { alone.insert(feature); });
      EXPECT_EQ(alone, of_case[i]) << name << ", case " << i;
    }
  }
}

TEST(Scalars, KeepBoundAndSpecials) {
  const char* ordinary = "alpha=bfd5555555555555 beta=4008000000000000";
  size_t compared = 0;
  for (const char* scalars :
       {ordinary, "alpha=0000000000000000 beta=3ff8000000000000", "alpha=4000000000000000 beta=0000000000000000",
        "alpha=7ff0000000000000 beta=3ff0000000000000"})
    for (const char* name : {"ozaki2:dgemm.s8", "ozaki2:dgemm.e4m3?sum=exact"})
      for (const char* property : {"gemm_error_bound", "gemm_specials"})
        EXPECT_EQ(broken(name, property, scaled_product(scalars), 300, compared), 0u)
            << name << " " << property << " " << scalars;
  EXPECT_GT(compared, 4000u);
  EXPECT_GT(broken("ozaki2:dgemm.s8?flaw=late_scale", "gemm_error_bound", scaled_product(ordinary), 300, compared), 0u);
}

TEST(MatrixScaling, FindsThatTheFastModeOf2025IsNotInvariant) {
  const Op op = product("fp64", 1, 2, 8);
  size_t compared = 0;
  EXPECT_GT(broken("ozaki2:dgemm.s8?scaling=fast2025,moduli=10", "matrix_scaling", op, 400, compared), 0u);
  EXPECT_GT(compared, 20u);
  for (const char* sound : {"fast", "accurate"})
    EXPECT_EQ(broken(std::string("ozaki2:dgemm.s8?moduli=10,scaling=") + sound, "matrix_scaling", op, 400, compared),
              0u);
}

/// All numbers just below the next integer once they are scaled: truncation loses nearly a unit of each.
TEST(Bound, IsReachedWithinAFactorOfFour) {
  for (const char* name :
       {"ozaki2:dgemm.s8?moduli=6", "ozaki2:dgemm.e4m3?moduli=5", "ozaki2:dgemm.s8?moduli=6,scaling=accurate"}) {
    const Op op = product("fp64", 1, 1, 16);
    const auto unit = bind_or_fail(name, op);
    const ResidueGemm& scheme = *gemm::residues_of(*unit);
    Batch one(op);
    one.resize(1);
    std::vector<uint64_t> a(16, std::bit_cast<uint64_t>(std::nextafter(1.0, 0.0))), b = a;
    one.inputs()[0].pack(0, a.data());
    one.inputs()[1].pack(0, b.data());
    Outcomes outcomes;
    unit->run(one, outcomes);
    const ResidueGemm::Scales scales = scheme.scales(a, b);
    const double result = std::bit_cast<double>(outcomes.results.get(0)), error = result - 16 * (1 - 0x1p-52);
    ASSERT_NE(error, 0.0);
    EXPECT_TRUE(scheme.within_bound(a, b, 0, scales, 0, 0, std::bit_cast<uint64_t>(result))) << name;
    EXPECT_FALSE(scheme.within_bound(a, b, 0, scales, 0, 0, std::bit_cast<uint64_t>(result + 3 * error))) << name;
    EXPECT_FALSE(scheme.within_bound(a, b, 0, scales, 0, 0, std::bit_cast<uint64_t>(result - 5 * error))) << name;
  }
}

}  // namespace
}  // namespace mmafuzz
