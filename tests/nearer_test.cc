// `prove nearer`: the formulas of error-corrected products are those units, on numbers of every size and on table 5 of
// Valpey et al.; a witness is replayed; what the statement does not cover is refused.
#include <gtest/gtest.h>

#include "arithmetic/corner_encodings.h"
#include "arithmetic/counter_rng.h"
#include "core/case_text.h"
#include "oracles/models/model_rows.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "prove/evaluate.h"
#include "prove/formulas/corrected_product.h"
#include "prove/inquiry.h"
#include "tests/case_count.h"

namespace mmafuzz::prove {
namespace {

struct Machine {
  const char* row;
  int k;
};
const Machine machines[] = {{"volta/mma.m8n8k4.f32.f16.f16.f32", 4}, {"hopper/mma.m16n8k16.f32.f16.f16.f32", 16}};

std::string unit(const std::string& method, const Machine& m) {
  return "split:" + method + "unit_k=" + std::to_string(m.k) + ",on=model:" + m.row;
}

Op element(int k) { return op_from_text("gemm a=fp32 b=fp32 c=fp32 d=fp32 m=1 n=1 k=" + std::to_string(k)); }

/// The formula of a unit by its name, on k products.
class Product {
 public:
  Product(const std::string& name, const Machine& machine, int k)
      : operands_(dot_variables(in_, element(k))), evaluator_(in_case_order(operands_), {formula(name, machine)}) {}

  uint64_t operator()(const Batch& batch, size_t i) const {
    std::vector<uint64_t> values, results;
    for (const Column& column : batch.inputs())
      for (int j = 0; j < column.count(); ++j) values.push_back(column.get(i, j));
    evaluator_.run(values, results);
    return results[0];
  }

 private:
  Expression formula(const std::string& name, const Machine& machine) {
    const gemm::CorrectionPlan plan = gemm::named_correction(name)->plan;
    EXPECT_TRUE(corrected_product_covers(plan)) << name;
    return corrected_product(plan, find_model_row(machine.row)->model, split_factors(plan, operands_.a),
                             split_factors(plan, operands_.b), operands_.c)
        .result;
  }

  Expressions in_;
  Operands operands_;
  Evaluator evaluator_;
};

/// Exponents of every kind: where both parts are normal, where residuals are subnormal, beyond fp16.
Batch draw(const Op& op, size_t count, uint64_t seed) {
  const FormatFields& f = op.a.fields();
  Batch batch(op);
  batch.resize(count);
  for (size_t i = 0; i < count; ++i) {
    CounterRng rng(seed, i);
    const bool all_exponents = rng.one_in(8);
    const int spread = all_exponents ? 130 : rng.between(0, 16);
    for (Column& column : batch.inputs())
      for (int e = 0; e < column.count(); ++e) {
        const int exponent = rng.between(-spread, spread);
        const uint64_t fraction = draw_fraction(f, rng);
        const bool negative = rng.one_in(2);
        column.set(i, e, encode_near(f, negative, exponent, fraction));
      }
  }
  return batch;
}

TEST(CorrectedProduct, FormulasAreTheUnits) {
  for (const Machine& m : machines)
    for (const std::string method : {"markidis.fp16?", "ootomo.fp16?", "ootomo.fp16?residual_product=0,"})
      for (const int k : {1, m.k, m.k + 1}) {
        const std::string name = unit(method, m);
        const Op op = element(k);
        const Product formula(name, m, k);
        const Batch batch = draw(op, case_count(200, 100'000), 41);
        Outcomes outcomes;
        bind_or_fail(name, op)->run(batch, outcomes);
        for (size_t i = 0; i < batch.size(); ++i)
          ASSERT_EQ(to_hex(op.d, formula(batch, i)), to_hex(op.d, outcomes.results.get(i))) << name << "\n"
                                                                                            << case_line(batch, i);
      }
}

/// A scale that is off by one, a sum inside instead of outside.
TEST(CorrectedProduct, PlantedErrorsAreFoundByEvaluation) {
  const Machine& m = machines[0];
  for (const std::string wrong : {"ootomo.fp16?scale=12,", "markidis.fp16?"}) {
    const Op op = element(4);
    const Product formula(unit(wrong, m), m, 4);
    const Batch batch = draw(op, 2000, 43);
    Outcomes outcomes;
    bind_or_fail(unit("ootomo.fp16?", m), op)->run(batch, outcomes);
    bool found = false;
    for (size_t i = 0; i < batch.size() && !found; ++i) found = formula(batch, i) != outcomes.results.get(i);
    EXPECT_TRUE(found) << wrong;
  }
}

TEST(CorrectedProduct, FormulasShowTable5) {
  const Op op = element(4);
  const uint64_t a[] = {0x3b802000, 0x38a9c000, 0x39800000, 0x39800000},
                 b[] = {0x437fc000, 0x3c38e000, 0x39800000, 0x39800000};
  Batch batch(op);
  batch.resize(1);
  for (int i = 0; i < 4; ++i) {
    batch.inputs()[0].set(0, i, a[i]);
    batch.inputs()[1].set(0, i, b[i]);
  }
  batch.inputs()[2].set(0, 0, 0x33800000);
  EXPECT_EQ(Product(unit("markidis.fp16?", machines[0]), machines[0], 4)(batch, 0), 0x3f800001u);
  EXPECT_EQ(Product(unit("ootomo.fp16?", machines[0]), machines[0], 4)(batch, 0), 0x3f800000u);
}

class Nearer : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<SolverCommand> found = find_solvers({});
    if (found.empty()) GTEST_SKIP() << "no SMT solver is installed (ci/setup-solvers)";
    solvers_ = std::make_unique<Solvers>(std::move(found), SolverLimits{30, 4096});
  }
  Reply ask(int k, const std::string& domain, double seconds) {
    InquiryOptions options;
    options.op = op_words(element(k));
    options.domain = domain;
    options.proof.seconds = seconds;
    return ask_nearer(*solvers_, unit("ootomo.fp16?", machines[0]), unit("markidis.fp16?", machines[0]), options);
  }
  std::unique_ptr<Solvers> solvers_;
};

TEST_F(Nearer, OotomoYokotaLosesWithTwoProductsOfNarrowFactors) {
  const Reply reply = ask(2, "factors=fp16", 120);
  ASSERT_EQ(reply.proof.outcome, Outcome::witness) << reply.proof.reason;
  ASSERT_EQ(reply.results.size(), 2u);
  EXPECT_NE(reply.results[0].substr(0, 8), reply.results[1].substr(0, 8));
}

TEST_F(Nearer, OotomoYokotaDoesNotLoseWithOneSuchProduct) {
  if (!nightly()) GTEST_SKIP() << "takes minutes: nightly";
  EXPECT_EQ(ask(1, "factors=fp16", 600).proof.outcome, Outcome::proven);
}

/// Their least products are below those of numbers that are subnormal as IEEE 754 words it.
TEST_F(Nearer, LiteralSubnormalNumbersHaveTheirOwnLeastBit) {
  const std::string row = "model:custom?k=1,block=1,overflow=by_rounding,";
  InquiryOptions options;
  options.op = "dot a=cfloat8_1_4_3:12 b=cfloat8_1_4_3:12 c=e5m2 d=fp16 k=1";
  options.domain = "c=0";
  options.proof.seconds = 60;
  const Reply reply = ask_nearer(*solvers_, row + "kernel=exact_sum,output_rounding=nearest_even",
                                 row + "kernel=fused_sum,fraction_bits=4", options);
  EXPECT_EQ(reply.proof.outcome, Outcome::proven) << reply.proof.reason;
}

TEST_F(Nearer, NothingIsProvenWithoutAnAnswer) { EXPECT_EQ(ask(4, "", 0.01).proof.outcome, Outcome::unknown); }

/// One product has no easy place for a witness; the lemma about parts does not end at once.
TEST_F(Nearer, ALemmaThatIsNotProvenSaysWhyAndHowLongItTook) {
  const Reply reply = ask(1, "factors=fp16", 0.01);
  ASSERT_EQ(reply.proof.outcome, Outcome::unknown);
  EXPECT_NE(reply.proof.reason.find("no answer in"), std::string::npos) << reply.proof.reason;
  EXPECT_GT(reply.proof.seconds, 0);
}

TEST_F(Nearer, WhatTheStatementDoesNotCoverIsRefused) {
  const std::string ours = unit("ootomo.fp16?", machines[0]);
  const auto refused = [&](const std::string& other, const std::string& op, const std::string& domain) {
    InquiryOptions options;
    options.op = op;
    options.domain = domain;
    options.proof.seconds = 1;
    EXPECT_THROW(ask_nearer(*solvers_, ours, other, options), BadInput) << other << ", " << op << ", " << domain;
  };
  refused("split:markidis.fp16?scale=3", "", "");
  refused("split:ootomo.tf32", "", "");
  refused("split:nobody.fp16", "", "");
  refused("model:volta/mma.m8n8k4.f32.f16.f16.f32", "", "");
  refused(ours, "gemm a=fp32 b=fp32 c=fp32 d=fp32 m=2 n=1 k=4", "");
  refused(ours, "", "factors=bf16");
  refused(ours, "", "factors=nonsense");
  refused(ours, "", "exponents=3");
  refused(ours, "", "exponents=3..2");
}

}  // namespace
}  // namespace mmafuzz::prove
