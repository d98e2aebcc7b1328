// The proven error bounds (docs/bounds.md): they hold for the models and the slow twins of every row and for the reference
// orders, they are what a person works out by hand, they catch units that are planted wrong, and witnesses show how tight they are.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "core/case_text.h"
#include "oracles/error_bound.h"
#include "oracles/families.h"
#include "oracles/properties/properties.h"
#include "oracles/units/function_unit.h"
#include "oracles/units/model_rows.h"
#include "oracles/units/slow_twin.h"
#include "search/mutator.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"

namespace mmafuzz {
namespace {

const Registry& registry() {
  static const Registry all = oracle_registry();
  return all;
}

std::unique_ptr<Unit> unit(const std::string& name, const Op& op) {
  Result<std::unique_ptr<Unit>> bound = registry().bind(name, op);
  if (!bound) throw std::runtime_error(bound.refusal().reason);
  return std::move(*bound);
}

/// Structured cases, every other one moved to a corner of the model.
Batch cases_of(const Op& op, const DotModel* model, uint64_t first, size_t count) {
  Batch batch;
  StructuredGenerator(op, 41).fill(first, count, batch);
  const Mutator mutator(op, corner_hints(model));
  for (size_t i = 0; i < count; i += 2) {
    CounterRng rng(43, first + i);
    mutator.mutate(batch, i, rng);
  }
  return batch;
}

struct Tally {
  size_t finite = 0, beyond = 0, infinite = 0;
};

/// Looks at `count` cases through a bound; the unit, and a twin if one is given, must obey it.
Tally look(const Op& op, const ErrorBounds& bounds, const Unit& tested, size_t count, const DotModel* twin = nullptr) {
  Tally tally;
  ErrorBound bound(op);
  exact::Mpfr referee(exact::sum_precision);
  DotCase one(op);
  Outcomes outcomes;
  for (size_t done = 0; done < count; done += 1000) {
    const Batch batch = cases_of(op, tested.model(), done, std::min<size_t>(1000, count - done));
    tested.run(batch, outcomes);
    for (size_t i = 0; i < batch.size(); ++i) {
      const DotOperands& in = one.load(batch, i);
      if (!ErrorBounds::speaks_about(op, in)) continue;
      bounds.evaluate(in, bound);
      if (i % 16 == 0) {
        exact::mpfr_dot_value(op, in, referee.get());
        EXPECT_TRUE(mpfr_equal_p(referee.get(), bound.exact.get())) << case_line(batch, i);
      }
      ++tally.finite;
      tally.infinite += bound.may_overflow;
      uint64_t result = outcomes.results.get(i);
      bool beyond = !bound.admits(op.d, result);
      if (twin && i % 8 == 0) beyond |= !bound.admits(op.d, result = slow_twin_dot(*twin, in));
      if (beyond && tally.beyond++ == 0 && twin) {
        ADD_FAILURE() << tested.name() << "\n" << to_text(op) << "\n" << case_line(batch, i) << "\nresult " << to_hex(op.d, result)
                      << ", exact " << mpfr_get_d(bound.exact.get(), MPFR_RNDN) << ", bound " << mpfr_get_d(bound.bound.get(), MPFR_RNDN)
                      << ", ratio " << bound.ratio(op.d, result);
      }
    }
  }
  return tally;
}

std::vector<std::string> row_names() {
  std::vector<std::string> names;
  for (const ModelRow& row : model_rows()) names.push_back(row.name());
  return names;
}

class Rows : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Rows, testing::ValuesIn(row_names()));

TEST_P(Rows, ObeyTheirBounds) {
  const ModelRow& row = *find_model_row(GetParam());
  for (const int k : {row.op.k, 2 * row.op.k + 3}) {
    Op op = row.op;
    op.k = k;
    const Result<ErrorBounds> bounds = ErrorBounds::of_model(op, row.model);
    ASSERT_TRUE(bounds) << bounds.refusal().reason;
    const size_t count = case_count(20'000, 1'000'000) / (k == row.op.k ? 1 : 20);
    const Tally tally = look(op, *bounds, *unit("model:" + row.name(), op), count, &row.model);
    EXPECT_EQ(tally.beyond, 0u);
    EXPECT_GT(tally.finite, count / 4);  // many cases hold an infinity or a NaN
    EXPECT_LT(tally.infinite, tally.finite / 2);
  }
}

}  // namespace
}  // namespace mmafuzz
