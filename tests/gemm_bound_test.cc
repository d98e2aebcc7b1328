// Error bounds of the Ozaki schemes: no result of any shape and span is beyond them, and each is reached within a
// factor of four by a case that a search finds.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>

#include "arithmetic/corner_encodings.h"
#include "core/case_text.h"
#include "oracles/families.h"
#include "oracles/gemm/product_bound.h"
#include "oracles/models/model_rows.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "search/mutator.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"

namespace mmafuzz {
namespace {

Op product(const std::string& f, int m, int n, int k, const std::string& scalars = "") {
  return op_from_text("gemm a=" + f + " b=" + f + " c=" + f + " d=" + f + " m=" + std::to_string(m) +
                      " n=" + std::to_string(n) + " k=" + std::to_string(k) + scalars);
}

/// What campaigns ask by default, of both schemes.
std::vector<std::string> schemes() {
  const Op op = product("fp64", 1, 1, 1);
  std::vector<std::string> names = make_ozaki_family()->searched_by_default(op);
  for (const std::string& name : make_residue_family()->searched_by_default(op)) names.push_back(name);
  return names;
}
std::string format_of(const std::string& scheme) {
  return scheme.find(":sgemm") != std::string::npos ? "fp32" : "fp64";
}

/// A matrix whose exponents lie in a span of their own, some numbers zero or with few bits.
void fill_span(const FormatFields& f, Column& column, CounterRng& rng) {
  const int whole = f.emax() - f.emin() + f.precision();
  const int span = rng.one_in(3) ? rng.between(0, 8) : rng.one_in(2) ? rng.between(0, 120) : rng.between(0, whole);
  const int top = rng.between(f.least_bit() + span / 2, f.emax() - span / 8), zeros = rng.one_in(4) ? 3 : 50;
  const int bits = rng.one_in(4) ? rng.between(1, f.precision()) : f.precision();
  for (int e = 0; e < column.count(); ++e) {
    const int exponent = top - (span ? rng.between(0, span) : 0);
    const uint64_t significand = (uint64_t{1} << (bits - 1)) | (rng.next() & ((uint64_t{1} << (bits - 1)) - 1));
    const bool negative = rng.one_in(2), zero = rng.one_in(uint32_t(zeros));
    column.set(0, e,
               zero ? f.encode_zero(negative) : round_once(f, negative, significand, exponent - bits + 1).encoding);
  }
}

/// 10^5 shapes by night.
TEST(Bound, HoldsForRandomShapesAndSpans) {
  const std::vector<std::string> names = schemes();
  size_t judged = 0, elements = 0;
  for (size_t shape = 0; shape < case_count(1000, 100'000); ++shape) {
    CounterRng rng(20, shape);
    const std::string& name = names[rng.below(uint32_t(names.size()))];
    const int m = rng.between(1, 5), n = rng.between(1, 5),
              k = rng.one_in(8) ? rng.between(1, 200) : rng.between(1, 24);
    const bool scaled = rng.one_in(5), wide = format_of(name) == "fp64";
    const Op op = product(format_of(name), m, n, k,
                          !scaled ? ""
                          : wide  ? " alpha=bfd5555555555555 beta=4008000000000000"
                                  : " alpha=beaaaaab beta=40400000");
    const auto unit = bind_or_fail(name, op);
    Batch one(op);
    one.resize(1);
    for (size_t side = 0; side < 3; ++side) fill_span(op.inputs()[side].format.fields(), one.inputs()[side], rng);
    Outcomes outcomes;
    unit->run(one, outcomes);
    gemm::ProductBound bound(*unit, op);
    bound.load(one, 0);
    for (size_t e = 0; e < size_t(m) * size_t(n); ++e, ++elements) {
      gemm::JudgedError error;
      ASSERT_TRUE(bound.holds(e, outcomes.results.get(0, int(e)), error))
          << name << " " << to_text(op) << " element " << e << "\n"
          << case_line(one, 0);
      judged += error.ratio > 0;
    }
  }
  EXPECT_GT(judged * 2, elements) << "most results are rounded somewhere, and have a bound";
}

/// Whether all operands are zeros or of ordinary size: elsewhere half of the least subnormal number is a bound that is
/// easily reached.
bool is_ordinary(const Batch& batch, size_t index) {
  for (size_t side = 0; side < 3; ++side)
    for (int e = 0; e < batch.inputs()[side].count(); ++e) {
      const FormatFields& f = batch.op().inputs()[side].format.fields();
      const Number x = decode(f, batch.inputs()[side].get(index, e));
      if (x.cls == NumberClass::zero) continue;
      if (x.cls != NumberClass::finite || std::abs(leading_exponent(f, batch.inputs()[side].get(index, e))) > 30)
        return false;
    }
  return true;
}

/// Both schemes on every arithmetic of the catalogue whose results are fp32: within their bounds, or declined.
TEST(Schemes, HoldOnEveryUnitThatTheyTake) {
  const Op op = product("fp64", 1, 2, 37);
  std::set<std::string> looked_at;
  size_t held = 0, left_out = 0;
  for (const ModelRow& row : model_rows()) {
    if (!(row.op.a == row.op.b) || row.op.has_scales() || row.op.c.name() != "fp32" || row.op.d.name() != "fp32")
      continue;
    if (!looked_at.insert(custom_name(row.model, row.op) + row.op.a.name()).second) continue;
    for (const std::string& name : {"ozaki:dgemm." + row.op.a.name() + "?on=model:" + row.name(),
                                    "ozaki:dgemm." + row.op.a.name() + "?slices=3,fast=1,on=model:" + row.name(),
                                    "ozaki2:dgemm." + row.op.a.name() + "?unit_k=16,on=model:" + row.name()}) {
      SCOPED_TRACE(name);
      const auto unit = registry().bind(name, op);
      if (!unit) {
        left_out += unit.refusal().kind == Refusal::Kind::declined;
        continue;
      }
      ++held;
      gemm::ProductBound bound(**unit, op);
      CounterRng rng(71, held);
      for (uint64_t n = 0; n < case_count(20, 500); ++n) {
        Batch one(op);
        one.resize(1);
        for (size_t side = 0; side < 3; ++side) fill_span(op.inputs()[side].format.fields(), one.inputs()[side], rng);
        Outcomes outcomes;
        (*unit)->run(one, outcomes);
        bound.load(one, 0);
        gemm::JudgedError error;
        for (size_t e = 0; e < 2; ++e)
          ASSERT_TRUE(bound.holds(e, outcomes.results.get(0, int(e)), error)) << case_line(one, 0);
      }
    }
  }
  EXPECT_GT(held, 100u);
  EXPECT_EQ(left_out, 2u * 12) << "RDNA3's units of fp16 and bf16, and POWER10's forms that are no sums";
}

/// The greatest part of the bound that a search finds: structured cases, and cases near the best so far.
double greatest_ratio(const std::string& name, const Op& op, size_t cases, std::string& best) {
  const auto unit = bind_or_fail(name, op);
  gemm::ProductBound bound(*unit, op);
  const StructuredGenerator generator(op, 4);
  const Mutator mutator(op, corner_hints(nullptr, unit->slicing()));
  double greatest = 0;
  Batch batch, kept(op);
  Outcomes outcomes;
  for (size_t first = 0; first < cases; first += 64) {
    generator.fill(first, 64, batch);
    for (size_t i = 0; i < batch.size(); ++i) {
      CounterRng rng(5, first + i);
      if (i % 4 == 0) {
        for (const size_t side : {0, 1}) {
          // Of one exponent and one sign, with all bits: what is cut off adds up.
          const FormatFields& f = op.inputs()[side].format.fields();
          const bool ones = rng.one_in(2);
          for (int e = 0; e < batch.inputs()[side].count(); ++e)
            batch.inputs()[side].set(i, e,
                                     uint64_t(f.bias) << f.fraction_bits |
                                         (ones ? f.fraction_mask() - rng.below(4) : rng.next() & f.fraction_mask()));
        }
        for (int e = 0; e < batch.inputs()[2].count(); ++e) batch.inputs()[2].set(i, e, 0);
      } else if (i % 4 > 1 && kept.size() > 0) {
        copy_case(kept, 0, batch, i);
        mutator.mutate(batch, i, rng);
      }
    }
    unit->run(batch, outcomes);
    for (size_t i = 0; i < batch.size(); ++i) {
      if (!is_ordinary(batch, i)) continue;
      bound.load(batch, i);
      for (size_t e = 0; e < size_t(op.m) * size_t(op.n); ++e) {
        gemm::JudgedError error;
        bound.holds(e, outcomes.results.get(i, int(e)), error);
        if (!(error.ratio > greatest)) continue;
        greatest = error.ratio;
        kept = Batch(op);
        kept.append(batch, i);
        best = case_line(batch, i);
      }
    }
  }
  return greatest;
}

TEST(Bound, IsReachedWithinAFactorOfFour) {
  for (const std::string& name : schemes()) {
    std::string best;
    double greatest = 0;
    for (const int k : {1, 4})
      greatest =
          std::max(greatest, greatest_ratio(name, product(format_of(name), 1, 1, k), case_count(4000, 40'000), best));
    std::cout << name << " " << greatest << "\n";
    EXPECT_GE(greatest, 0.25) << name << " " << best;
    EXPECT_LE(greatest, 1) << name << " " << best;
  }
}

}  // namespace
}  // namespace mmafuzz
