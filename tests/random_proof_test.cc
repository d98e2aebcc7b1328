// Proofs that are put together of lemmas, on random rows of narrow formats: no search finds a case against what is
// proven, and no solver that is asked the whole question at once. An argument that overlooks an order, a block, a
// padding or a rule of zeros is found here. And a question says of each case what the property says.
#include <gtest/gtest.h>

#include <iostream>
#include <sstream>

#include "arithmetic/counter_rng.h"
#include "core/case_text.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/parameters.h"
#include "oracles/properties/properties.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "prove/evaluate.h"
#include "prove/inquiry.h"
#include "prove/inquiry_parts.h"
#include "search/random_generators.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"

namespace mmafuzz::prove {
namespace {

struct RandomRow {
  Op op;
  DotModel model;
  std::string unit;
};

Format one_of(CounterRng& rng, const std::vector<const char*>& names) {
  return format(names[rng.below(static_cast<uint32_t>(names.size()))]);
}

/// A value that differs from others where the formats are narrow.
int64_t random_value(CounterRng& rng, const Parameter& p, const DotModel& m) {
  const std::string_view name = p.name;
  if (!p.words.empty()) return rng.below(static_cast<uint32_t>(p.words.size()));
  if (name == "fraction_bits") return rng.between(1, 12);
  if (name == "zero_exponent") return rng.between(-20, 4);
  if (name == "integer_bits") return rng.between(0, 6);
  if (name == "output_fraction_bits") return rng.between(1, m.d.fraction_bits);
  return p.greatest == 1 ? rng.below(2) : p.get(m);
}

/// Row `index` of a sequence; none where these parameters make no row.
std::optional<RandomRow> random_row(uint64_t index) {
  CounterRng rng(18, index);
  RandomRow row;
  Op& op = row.op;
  op.kind = OpKind::dot;
  // Those with the most lemmas more often.
  constexpr Kernel fused = Kernel::fused_sum;
  constexpr Kernel kernels[] = {fused,
                                fused,
                                fused,
                                fused,
                                Kernel::exact_sum,
                                Kernel::two_stage_sum,
                                Kernel::fma_chain,
                                Kernel::grouped_sum,
                                Kernel::emulated_fp8,
                                Kernel::ieee_tree,
                                Kernel::fma_then_add,
                                Kernel::sum_then_add,
                                Kernel::floored_sum,
                                Kernel::bulk_normalized};
  const Kernel kernel = kernels[rng.below(std::size(kernels))];
  const std::vector<const char*> narrow = {"e2m1", "e3m2", "e2m3", "e4m3", "e5m2", "e4m3fnuz", "cfloat8_1_4_3:7",
                                           "uhp"},
                                 wider = {"e5m2", "e5m2", "fp16", "tf32"};
  op.a = one_of(rng, narrow);
  op.b = rng.one_in(4) ? one_of(rng, narrow) : op.a;
  op.c = one_of(rng, wider);
  op.d = rng.one_in(4) ? one_of(rng, wider) : op.c;
  const int instruction = kernel == Kernel::emulated_fp8 ? 4 : rng.between(1, 6);
  const int block = rng.one_in(6) ? instruction + 1 : rng.between(1, std::min(3, instruction));
  op.k = rng.one_in(2) ? rng.between(1, instruction + 3) : instruction * rng.between(1, 2);
  if (kernel == Kernel::grouped_sum || (kernel == Kernel::fused_sum && rng.one_in(4))) {
    op.scale_a = op.scale_b = format("e8m0");
    op.scale_block = rng.between(1, instruction);
  }
  DotModel& m = row.model;
  m = custom_model(op);
  m.kernel = kernel;
  m.k = instruction;
  m.block = rng.one_in(4) ? instruction : block;
  m.group = rng.between(1, instruction);
  m.fraction_bits = rng.between(2, 10);
  m.zero_exponent = -16;
  for (const Parameter& p : parameters()) {
    if (!p.used_by(kernel) || !rng.one_in(4)) continue;
    const std::string_view name = p.name;
    if (name != "kernel" && name != "k" && name != "block" && name != "group") p.set(m, random_value(rng, p, m));
  }
  if (!contradiction_in(m).empty()) return std::nullopt;
  row.unit = custom_name(m, op);
  return row;
}

std::vector<Batch> random_cases(const Op& op, size_t count) {
  std::vector<Batch> batches(2);
  StructuredGenerator(op, 29).fill(0, count, batches[0]);
  RandomGenerator(op, RandomKind::uniform, 31).fill(0, count, batches[1]);
  CounterRng rng(37, 0);  // zeros decide much
  for (Column& column : batches[1].inputs())
    for (size_t i = 0; i < count; ++i)
      for (int j = 0; j < column.count(); ++j)
        if (rng.one_in(3)) column.set(i, j, rng.one_in(4) ? column.get(i, j) & ~uint64_t{1} : 0);
  return batches;
}

/// A case against a property; empty where the search finds none.
std::string case_against(const BoundProperty& property, const Unit& unit, const std::vector<Batch>& cases) {
  for (const Batch& batch : cases) {
    Outcomes base;
    unit.run(batch, base);
    std::vector<BoundProperty::Verdict> verdicts;
    property.judge(batch, base, verdicts);
    for (size_t i = 0; i < batch.size(); ++i)
      if (verdicts[i].fails) return case_line(batch, i);
  }
  return "";
}

struct Answer {
  Outcome outcome;
  Batch witness;
  bool of_every_changed_case;  ///< a witness may need a changed case that the property does not try
};

/// The whole question at once, without lemmas, stages or cuts; with a witness its case.
Answer asked_at_once(Solvers& solvers, const MakeQuestion& make, double seconds) {
  Expressions in;
  const CaseQuestion q = make(in);
  ProofOptions options;
  options.seconds = seconds;
  options.in_steps = false;
  const Proof proof = prove(solvers, q.question, {}, options);
  return {proof.outcome, proof.outcome == Outcome::witness ? case_of(q, q.operands, proof) : Batch(),
          !q.changed_samples.empty()};
}

bool are_proven(Solvers& solvers, const std::vector<MakeQuestion>& lemmas, const Op& op, double seconds) {
  return std::all_of(lemmas.begin(), lemmas.end(), [&](const MakeQuestion& lemma) {
    InquiryOptions options;
    options.proof.seconds = seconds;
    return put_question(solvers, lemma, "a lemma", op, options).proof.outcome == Outcome::proven;
  });
}

struct Tally {
  int rows = 0, questions = 0, refuted = 0, proven = 0, at_once = 0;
};

void ask_about(Solvers& solvers, const RandomRow& row, double seconds, Tally& tally) {
  const std::unique_ptr<Unit> unit = bind_or_fail(row.unit, row.op);
  const std::vector<Batch> cases = random_cases(row.op, 4000);
  for (const std::string& name : provable_properties()) {
    const Result<BoundProperty> bound = BoundProperty::bind(*find_property(name), *unit, row.op, registry());
    const Result<PropertyQuestion> question = property_question(name, row.op, row.model);
    if (!bound || !question || question->lemmas.empty()) continue;
    const std::string against = case_against(*bound, *unit, cases);
    ++tally.questions;
    tally.refuted += !against.empty();
    const bool proven = are_proven(solvers, question->lemmas, row.op, seconds);
    const auto [whole, witness, of_every_changed_case] = asked_at_once(solvers, question->whole, seconds);
    tally.proven += proven;
    tally.at_once += proven && whole == Outcome::proven;
    const std::string what = name + " of '" + row.unit + "' on '" + to_text(row.op) + "'\n" + question->argument;
    if (proven) {
      EXPECT_EQ(against, "") << "the lemmas are proven, and this is a case against " << what;
      EXPECT_NE(whole, Outcome::witness) << "the lemmas are proven, and the whole question has a witness: " << what;
    }
    if (whole == Outcome::proven) {
      EXPECT_EQ(against, "") << "the whole question is proven, and this is a case against " << what;
    }
    if (whole == Outcome::witness && !of_every_changed_case) {
      EXPECT_NE(case_against(*bound, *unit, {witness}), "") << case_line(witness, 0) << " is no case against " << what;
    }
  }
}

/// Where the whole question has the case's operands as its only variables, it is violated by the cases on which the
/// property fails, and by no others. `failures` counts those.
void expect_the_property(const BoundProperty& property, const Unit& unit, const CaseQuestion& q, const Batch& cases,
                         int& failures) {
  std::vector<Expression> asked = q.question.assumptions;
  asked.push_back(q.question.violated);
  const Evaluator evaluator(q.question.variables, asked);
  Outcomes base;
  unit.run(cases, base);
  std::vector<BoundProperty::Verdict> verdicts;
  property.judge(cases, base, verdicts);
  std::vector<uint64_t> values, answers;
  for (size_t i = 0; i < cases.size(); ++i) {
    values.clear();
    for (const Column& column : cases.inputs())
      for (int j = 0; j < column.count(); ++j) values.push_back(column.get(i, j));
    evaluator.run(values, answers);
    const bool violated = std::all_of(answers.begin(), answers.end(), [](uint64_t answer) { return answer == 1; });
    const bool assumed = std::all_of(answers.begin(), answers.end() - 1, [](uint64_t answer) { return answer == 1; });
    if (assumed) failures += verdicts[i].fails;
    ASSERT_EQ(violated, assumed && verdicts[i].fails) << case_line(cases, i);
  }
}

TEST(Questions, AreViolatedWhereThePropertyFails) {
  int failures = 0, questions = 0;
  for (uint64_t index = 0; index < case_count(150, 3000); ++index) {
    const std::optional<RandomRow> row = random_row(index);
    if (!row) continue;
    const std::unique_ptr<Unit> unit = bind_or_fail(row->unit, row->op);
    for (const std::string& name : provable_properties()) {
      const Result<BoundProperty> bound = BoundProperty::bind(*find_property(name), *unit, row->op, registry());
      const Result<PropertyQuestion> question = property_question(name, row->op, row->model);
      if (!bound || !question) continue;
      Expressions in;
      const CaseQuestion q = question->whole(in);
      if (!q.changed_samples.empty()) continue;  // it asks about every changed case, the property about one
      ++questions;
      for (const Batch& cases : random_cases(row->op, 300)) {
        expect_the_property(*bound, *unit, q, cases, failures);
        if (HasFatalFailure()) FAIL() << name << " of " << row->unit << " on '" << to_text(row->op) << "'";
      }
    }
  }
  std::cout << questions << " questions, " << failures << " failures of properties" << std::endl;
  EXPECT_GT(failures, 100);
}

/// One case as case text has it.
Batch batch_of(const Op& op, const std::string& line) {
  Batch batch(op);
  batch.resize(1);
  std::istringstream words(line);
  for (Column& column : batch.inputs()) {
    for (int i = 0; i < column.count(); ++i) {
      std::string encoding;
      words >> encoding;
      column.set(0, i, std::stoull(encoding, nullptr, 16));
    }
    std::string bar;
    words >> bar;
  }
  return batch;
}

/// The case is against the property of the unit.
struct Refuted {
  const char *property, *unit, *op, *line;
};

TEST(Lemmas, AreNotPutTogetherWhereACaseIsAgainstIt) {
  const Refuted refuted[] = {
      // A scale for three products ends inside a block of two: there are no lemmas.
      {"block_permutation", "model:custom?kernel=fused_sum,k=6,block=2,fraction_bits=8",
       "dot a=e2m1 b=e2m1 c=e5m2 d=e5m2 k=6 sa=e8m0 sb=e8m0 sblock=3",
       "2 2 2 1 9 0 | 0 0 1 1 0 0 | 02 | 82 7b | 81 7d"},
      // c is zero, but the block of zeros that follows takes another one: lemmas do not speak of a domain.
      {"zero_padding", "model:custom?kernel=fused_sum,k=4,block=4,fraction_bits=1",
       "dot a=e5m2 b=e5m2 c=fp16 d=fp16 k=4", "cb d9 cb ca | da cb da 58 | 8000"},
  };
  for (const Refuted& r : refuted) {
    const Op op = op_from_text(r.op);
    const std::unique_ptr<Unit> unit = bind_or_fail(r.unit, op);
    const Result<BoundProperty> bound = BoundProperty::bind(*find_property(r.property), *unit, op, registry());
    ASSERT_TRUE(bound);
    EXPECT_NE(case_against(*bound, *unit, {batch_of(op, r.line)}), "") << r.property;
  }
  const Refuted &scaled = refuted[0], &from_zero = refuted[1];
  const Op scaled_op = op_from_text(scaled.op);
  const Result<PropertyQuestion> asked =
      property_question(scaled.property, scaled_op, *bind_or_fail(scaled.unit, scaled_op)->model());
  ASSERT_TRUE(asked);
  EXPECT_TRUE(asked->lemmas.empty());

  std::vector<SolverCommand> found = find_solvers({});
  if (found.empty()) GTEST_SKIP() << "no SMT solver is installed (ci/setup-solvers)";
  Solvers solvers(std::move(found), SolverLimits{60, 4096});
  InquiryOptions options;
  options.op = from_zero.op;
  options.domain = "c=0";
  options.proof.seconds = 60;
  EXPECT_EQ(ask_property(solvers, from_zero.property, from_zero.unit, options).proof.outcome, Outcome::witness);
}

TEST(RandomRows, WhereLemmasAreProvenThereIsNoCaseAgainstTheProperty) {
  std::vector<SolverCommand> found = find_solvers({});
  if (found.empty()) GTEST_SKIP() << "no SMT solver is installed (ci/setup-solvers)";
  Solvers solvers(std::move(found), SolverLimits{30, 4096});
  const int rows = static_cast<int>(case_count(5, 200));
  Tally tally;
  const auto say = [&] {
    std::cout << tally.rows << " rows, " << tally.questions << " questions: " << tally.refuted
              << " refuted by search; of " << tally.proven << " the lemmas are proven, of " << tally.at_once
              << " of these the whole question, too" << std::endl;
  };
  // By day from row 20 on, where search refutes some properties: of those a proof would be false.
  for (uint64_t index = nightly() ? 0 : 20; tally.rows < rows; ++index) {
    const std::optional<RandomRow> row = random_row(index);
    if (!row) continue;
    ++tally.rows;
    ask_about(solvers, *row, nightly() ? 2 : 1, tally);
    if (tally.rows % 20 == 0) say();
  }
  say();
  EXPECT_GT(tally.proven, 0);
  EXPECT_GT(tally.refuted, 0);
}

}  // namespace
}  // namespace mmafuzz::prove
