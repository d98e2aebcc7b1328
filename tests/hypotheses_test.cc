// The `hypothesis:` units: the numbers printed in Valpey et al., "An SMT formalization of mixed-precision matrix
// multiplication", and every unit against the same steps taken one by one by the MPFR referee, as the paper's listing
// takes them.
#include <gtest/gtest.h>

#include <map>

#include "plan/registry.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"
#include "tests/named_units.h"

namespace mmafuzz {
namespace {

constexpr const char* rounding_names[] = {"nearest_even", "toward_zero", "up", "down", "nearest_away"};

// Table 1. The paper prints a subnormal's fraction behind "1." and its exponent as -15: a = 0.2587890625 * 2^-14 gives
// the exact result 1.4162635803222656 * 2^-17 that it prints, and 0.1767578125 * 2^-14 in half precision.
TEST(Hypotheses, Table1AProductThatIsNotExactInHalfPrecision) {
  const Op op = dot_op("fp16", "fp32", "fp32", 1);
  const uint64_t a = 0x0109, b = 0x3979;  // b = 1.3681640625 * 2^-1
  EXPECT_EQ(evaluate(volta, op, {a}, {b}, 0), 0x37354820u);
  EXPECT_EQ(evaluate("hypothesis:left-to-right", op, {a}, {b}, 0), 0x37354820u);
  for (const char* mode : {"nearest_even", "toward_zero", "down"}) {
    EXPECT_EQ(evaluate(std::string("hypothesis:narrow-products?rounding=") + mode, op, {a}, {b}, 0), 0x37350000u)
        << mode;
    EXPECT_EQ(evaluate(std::string("hypothesis:narrow-sums?rounding=") + mode, op, {a}, {b}, 0), 0x37350000u) << mode;
  }
}

// Table 3: a = 2^1, c = -2^-40.
TEST(Hypotheses, Table3RoundingTowardZeroIsNotTruncation) {
  const Op op = dot_op("fp16", "fp32", "fp32", 1);
  const auto result = [&](const std::string& unit) { return evaluate(unit, op, {0x4000}, {0x3c00}, 0xab800000); };
  EXPECT_EQ(result("hypothesis:left-to-right"), 0x3fffffffu) << "2 - 2^-23, the paper's default mode";
  EXPECT_EQ(result("hypothesis:left-to-right?rounding=toward_zero"), 0x3fffffffu);
  EXPECT_EQ(result("hypothesis:left-to-right?rounding=down"), 0x3fffffffu);
  EXPECT_EQ(result("hypothesis:left-to-right?rounding=nearest_even"), 0x40000000u);
  EXPECT_EQ(result("hypothesis:left-to-right?rounding=up"), 0x40000000u);
  EXPECT_EQ(result(volta), 0x40000000u) << "the tensor core's result";
}

// Section 6, after Fasi et al., D-2: 1 - 2^-24 and four times 2^-24. Normalized partial sums stay at 1; without
// normalization the error is only 2^-24, of 1 + 3 * 2^-24. Added from the other end the small ones are kept: the order
// matters too.
TEST(Hypotheses, NormalizedPartialSumsLoseWhatFollows) {
  const Op op = dot_op("fp16", "fp32", "fp32", 4);
  const std::vector<uint64_t> tiny(4, 0x0c00);  // 2^-12
  EXPECT_EQ(evaluate("hypothesis:from-c", op, tiny, tiny, 0x3f7fffff), 0x3f800000u);
  EXPECT_EQ(evaluate(volta, op, tiny, tiny, 0x3f7fffff), 0x3f800001u);
  EXPECT_EQ(evaluate("hypothesis:left-to-right", op, tiny, tiny, 0x3f7fffff), 0x3f800001u);
  EXPECT_EQ(evaluate("hypothesis:right-to-left", op, tiny, tiny, 0x3f7fffff), 0x3f800000u);
}

// Property 1: products that are no fp16 numbers (2^-25 each), whose sum is one.
TEST(Hypotheses, Property1SumsInHalfPrecisionLoseProducts) {
  const Op op = dot_op("fp16", "fp16", "fp16", 2);
  const std::vector<uint64_t> a(2, 0x0c00), b(2, 0x0800);  // 2^-12 * 2^-13
  EXPECT_EQ(evaluate("hypothesis:narrow-sums", op, a, b, 0), 0x0000u);
  EXPECT_EQ(evaluate("hypothesis:left-to-right", op, a, b, 0), 0x0001u);
}

TEST(Hypotheses, RefuseWhatThePaperDoesNotSay) {
  EXPECT_FALSE(registry().bind("hypothesis:from-c?rounding=stochastic", dot_op("fp16", "fp32", "fp32", 1)));
  EXPECT_FALSE(registry().bind("hypothesis:from-c?fraction_bits=3", dot_op("fp16", "fp32", "fp32", 1)));
  EXPECT_FALSE(registry().bind("hypothesis:from-c", dot_op("fp64", "fp64", "fp64", 1)));
  EXPECT_FALSE(registry().bind("hypothesis:from-d", dot_op("fp16", "fp32", "fp32", 1)));
}

/// Single operations by MPFR.
class Referee {
 public:
  uint64_t scalar(const std::string& operation, const char* format, const std::string& mode, uint64_t x, uint64_t y) {
    return run("scalar " + operation + " format=" + format + " round=" + mode, {x, y});
  }
  uint64_t convert(const std::string& from, const std::string& to, const std::string& mode, uint64_t x) {
    return from == to ? x : run("convert from=" + from + " to=" + to + " round=" + mode, {x});
  }

 private:
  uint64_t run(const std::string& text, const std::vector<uint64_t>& operands) {
    auto [at, fresh] = units_.try_emplace(text);
    if (fresh) {
      const Op op = *parse_op(text);
      at->second = {Batch(op), std::move(*registry().bind("exact:mpfr", op))};
      at->second.first.resize(1);
    }
    auto& [batch, unit] = at->second;
    for (size_t i = 0; i < operands.size(); ++i) batch.inputs()[0].set(0, static_cast<int>(i), operands[i]);
    Outcomes outcomes;
    unit->run(batch, outcomes);
    return outcomes.results.get(0);
  }
  std::map<std::string, std::pair<Batch, std::unique_ptr<Unit>>> units_;
};

/// A hypothesis in words: formats of products and sums, and the order of the operands of its additions (-1 is c).
struct Recipe {
  const char* name;
  const char* products;
  const char* sums;
  bool c_first, from_the_end;
};
constexpr Recipe recipes[] = {{"left-to-right", "fp32", "fp32", false, false},
                              {"right-to-left", "fp32", "fp32", true, true},
                              {"from-c", "fp32", "fp32", true, false},
                              {"narrow-products", "fp16", "fp32", false, false},
                              {"narrow-sums", "fp16", "fp16", false, false}};

uint64_t step_by_step(Referee& mpfr, const Recipe& recipe, const std::string& mode, const Op& op, const Batch& batch,
                      size_t index) {
  std::vector<uint64_t> terms;
  for (int i = 0; i < op.k; ++i) {
    const int at = recipe.from_the_end ? op.k - 1 - i : i;
    const uint64_t x = mpfr.convert("fp16", recipe.products, mode, batch.a().get(index, at));
    const uint64_t y = mpfr.convert("fp16", recipe.products, mode, batch.b().get(index, at));
    terms.push_back(mpfr.convert(recipe.products, recipe.sums, mode, mpfr.scalar("mul", recipe.products, mode, x, y)));
  }
  terms.insert(recipe.c_first ? terms.begin() : terms.end(),
               mpfr.convert(op.c.name(), recipe.sums, mode, batch.c().get(index)));
  uint64_t sum = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) sum = mpfr.scalar("add", recipe.sums, mode, sum, terms[i]);
  return mpfr.convert(recipe.sums, op.d.name(), "nearest_even", sum);
}

TEST(Hypotheses, EqualTheirStepsTakenByMpfr) {
  Referee mpfr;
  const size_t cases = case_count(200, 20000);
  for (const Recipe& recipe : recipes)
    for (const char* mode : rounding_names)
      for (const char* accumulator : {"fp32", "fp16"}) {
        if (recipe.sums == std::string("fp16") && accumulator == std::string("fp32"))
          continue;  // c would be rounded before it is added
        const Op op = dot_op("fp16", accumulator, accumulator, 3);
        Batch batch;
        StructuredGenerator(op, 11).fill(0, cases, batch);
        const std::string name = std::string("hypothesis:") + recipe.name + "?rounding=" + mode;
        Outcomes outcomes;
        (*registry().bind(name, op))->run(batch, outcomes);
        for (size_t i = 0; i < batch.size(); ++i)
          ASSERT_EQ(outcomes.results.get(i), step_by_step(mpfr, recipe, mode, op, batch, i))
              << name << ' ' << to_text(op) << " case " << i;
      }
}

}  // namespace
}  // namespace mmafuzz
