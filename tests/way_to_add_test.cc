// The decisions into which the kernels of rows are taken apart, put together again with MPFR. A failure means that an
// explanation speaks of an arithmetic that is not the unit's.
#include "triage/way_to_add.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/dot_case.h"
#include "core/property.h"
#include "core/case_text.h"
#include "oracles/models/model_rows.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"

namespace mmafuzz {
namespace {

using testing::IsEmpty;

/// Cases of a unit's op on which the decisions give another result than the unit; those with an infinity or a NaN are
/// no matter of sums.
std::vector<std::string> differing_cases(const std::string& name, const Op& op, size_t count) {
  const auto unit = registry().bind(name, op);
  EXPECT_TRUE(unit) << name;
  const std::optional<WayToAdd> way = way_of(**unit, (*unit)->model(), op);
  EXPECT_TRUE(way) << name;
  Batch cases(op);
  StructuredGenerator(op, 1).fill(0, count, cases);
  Outcomes outcomes;
  (*unit)->run(cases, outcomes);
  DotCase loader(op);
  std::vector<std::string> differing;
  size_t compared = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    const DotOperands in = loader.load(cases, i);
    const uint64_t result = outcomes.results.get(i);
    const NumberClass cls = decode(op.d.fields(), result).cls;
    if (!is_finite_case(op, in) || cls == NumberClass::nan || cls == NumberClass::infinity) continue;
    ++compared;
    const std::optional<uint64_t> given = add_in_that_way(*way, op, in);
    if (!given || !same_result(op, *given, result)) differing.push_back(case_line(cases, i));
  }
  EXPECT_GT(compared, count / 4) << name;
  return differing;
}

TEST(WayToAdd, GivesTheResultsOfItsRow) {
  std::set<std::string> looked_at;  // rows of one arithmetic have many names
  for (const ModelRow& row : model_rows()) {
    const std::string name = "model:" + row.name();
    const bool rounds_twice = row.model.d.width != 32;
    if (row.model.kernel == Kernel::fma_then_add && rounds_twice) continue;
    if (!looked_at.insert(function_of(row)).second) continue;
    EXPECT_THAT(differing_cases(name, row.op, case_count(1000, 100'000)), IsEmpty()) << name;
  }
  EXPECT_GT(looked_at.size(), 50u);
}

/// Chains that are added to each other first keep their places where the op has fewer or more products.
TEST(WayToAdd, GivesTheResultsOfChainsOnShortAndLongDots) {
  size_t looked_at = 0;
  for (const ModelRow& row : model_rows()) {
    if (row.model.chain_join != ChainJoin::summed_first) continue;
    for (const int k : {1, row.op.k / 2, row.op.k + 3}) {
      Op op = row.op;
      op.k = k;
      EXPECT_THAT(differing_cases("model:" + row.name(), op, case_count(300, 100'000)), IsEmpty()) << row.name() << k;
    }
    ++looked_at;
  }
  EXPECT_GE(looked_at, 4u);
}

/// What an op lacks of an instruction is zeros: RDNA3's complements count them, and -0 does not outlast them.
TEST(WayToAdd, GivesTheResultsOfAFlooredSumOnShortAndLongDots) {
  size_t looked_at = 0;
  for (const ModelRow& row : model_rows()) {
    if (row.model.kernel != Kernel::floored_sum) continue;
    for (const int k : {1, row.op.k - 1, row.op.k + 1}) {
      Op op = row.op;
      op.k = k;
      EXPECT_THAT(differing_cases("model:" + row.name(), op, case_count(300, 100'000)), IsEmpty()) << row.name() << k;
    }
    ++looked_at;
  }
  EXPECT_GE(looked_at, 22u);
}

TEST(WayToAdd, GivesTheResultsOfAReference) {
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=16");
  for (const char* name : {"exact", "ieee:serial", "ieee:fma", "ieee:pairwise"})
    EXPECT_THAT(differing_cases(name, op, 500), IsEmpty()) << name;
}

}  // namespace
}  // namespace mmafuzz
