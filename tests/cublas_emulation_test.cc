// The error bound of ozaki:dgemm.cublas: it holds of the unit's own results, and refuses those of a unit with fewer
// bits. The bits themselves stand in python/tests/test_cublas_products.py.
#include "oracles/gemm/cublas_emulation.h"

#include <gtest/gtest.h>

#include <bit>

#include "core/case_text.h"
#include "plan/request.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

Op product(int m, int n, int k) {
  return op_from_text("gemm a=fp64 b=fp64 c=fp64 d=fp64 m=" + std::to_string(m) + " n=" + std::to_string(n) +
                      " k=" + std::to_string(k));
}

/// How many elements of a batch lie beyond the bound that one unit has, as another computes them.
size_t beyond(const std::string& bound_of, const std::string& computed_by, const Batch& batch) {
  const Op& op = batch.op();
  const auto judge = bind_or_fail(bound_of, op), unit = bind_or_fail(computed_by, op);
  const gemm::CublasEmulation& scheme = *gemm::cublas_emulation_of(*judge);
  Outcomes outcomes;
  unit->run(batch, outcomes);
  gemm::GemmCase one(op);
  size_t count = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!outcomes.has_answer(i)) continue;
    one.load(batch, i);
    const auto cut = scheme.cut(one.a, one.b);
    for (int e = 0; cut && e < op.m * op.n; ++e)
      count += !scheme.within_bound(one, *cut, e / op.n, e % op.n, outcomes.results.get(i, e));
  }
  return count;
}

TEST(CublasEmulation, ItsBoundHoldsAndRefusesFewerBits) {
  const Op op = product(3, 2, 8);
  Batch batch;
  StructuredGenerator(op, 3).fill(0, 400, batch);
  for (const char* bits : {"7", "31", "55", "79", "auto"}) {
    const std::string unit = std::string("ozaki:dgemm.cublas?bits=") + bits;
    EXPECT_EQ(beyond(unit, unit, batch), 0u) << unit;
  }
  EXPECT_GT(beyond("ozaki:dgemm.cublas?bits=55", "ozaki:dgemm.cublas?bits=31", batch), 100u);
  EXPECT_GT(beyond("ozaki:dgemm.cublas?bits=55", "ozaki:dgemm.cublas?bits=47", batch), 10u);
}

TEST(CublasEmulation, ItsBoundCountsTheRoundingOfEachPart) {
  // 32 parts of 0.9 * 2^-53 are each lost beside a c of one.
  const Op op = product(1, 1, 4096);
  Batch batch(op);
  batch.resize(1);
  for (int l = 0; l < op.k; ++l) {
    batch.inputs()[0].set(0, l, l % 128 == 0 ? std::bit_cast<uint64_t>(0x1.8p-30 * 1.2) : 0);
    batch.inputs()[1].set(0, l, std::bit_cast<uint64_t>(0x1p-24));
  }
  batch.inputs()[2].set(0, 0, std::bit_cast<uint64_t>(1.0));
  const std::string unit = "ozaki:dgemm.cublas";
  Outcomes outcomes;
  bind_or_fail(unit, op)->run(batch, outcomes);
  EXPECT_EQ(outcomes.results.get(0, 0), std::bit_cast<uint64_t>(1.0));
  EXPECT_EQ(beyond(unit, unit, batch), 0u);
}

}  // namespace
}  // namespace mmafuzz
