// The Ozaki scheme II: how many products each unit sums without error, and one more; matrix_scaling; the bound is
// reached. Its results are held against the papers' text in python/tests/test_residues.py, its flaws in
// gemm_flaws_test.py.
#include "oracles/gemm/residues.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "core/function_unit.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "search/structured_generator.h"
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
                     : round_once(f, x < 0, static_cast<uint64_t>(std::abs(x)), 0, false).encoding;
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
  const char* unit;
  int products;  ///< without error
  int greatest, last;
};

class ExactProducts : public testing::TestWithParam<Limit> {};
// int32 holds 2^31 - 1; fp32 sums of FP8 hold 24 bits, Hopper's 14 (13 below the leading one); digits are 16 at most.
INSTANTIATE_TEST_SUITE_P(
    Units, ExactProducts,
    testing::Values(Limit{"ozaki2:dgemm.s8", 131071, -128, -128}, Limit{"ozaki2:dgemm.e4m3", 65536, 16, 1},
                    Limit{"ozaki2:dgemm.e4m3?on=model:hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32", 64, 16, 1}));

TEST_P(ExactProducts, AreSummedAndOneMoreIsNot) {
  const Limit& limit = GetParam();
  const auto unit = bind_or_fail(limit.unit, product("fp64", 1, 1, 4));
  // Blocks are not longer than any matrix.
  EXPECT_EQ(gemm::residues_of(*unit)->exact_products(), std::min(limit.products, max_extent));
  const auto named = gemm::named_residues(unit->name());
  ASSERT_TRUE(named);
  const Op dot_op = gemm::residue_dot(named->plan);
  const auto dot = bind_or_fail(named->on, dot_op);
  const double square = double(limit.greatest) * limit.greatest, all = square * limit.products;
  EXPECT_EQ(chained(*dot, dot_op, limit.products, limit.greatest, 0), all);
  const double last = limit.last == limit.greatest ? square : limit.last;
  EXPECT_NE(limit.last == limit.greatest ? chained(*dot, dot_op, limit.products + 1, limit.greatest, 0)
                                         : chained(*dot, dot_op, limit.products, limit.greatest, limit.last),
            all + last);
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
