// Proofs: expressions mean what SMT-LIB says, a solver that lies, dies or prints garbage is noticed, witnesses are
// replayed on the units, planted errors in a formula are found.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "arithmetic/evaluate_dot.h"
#include "bench/prove_tables.h"
#include "core/contradiction.h"
#include "core/dot_case.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/parameters.h"
#include "plan/request.h"
#include "prove/evaluate.h"
#include "prove/inquiry.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"
#include "tests/named_units.h"

namespace mmafuzz::prove {
namespace {

std::string false_solver(const std::string& mode) {
  return "false=python3 " MMAFUZZ_SOURCE_DIR "/tests/false_solver.py " + mode;
}

/// The solvers of this machine; none where nothing is installed.
std::unique_ptr<Solvers> real_solvers() {
  std::vector<SolverCommand> found = find_solvers({});
  return found.empty() ? nullptr : std::make_unique<Solvers>(std::move(found), SolverLimits{30, 4096});
}

#define NEEDS_SOLVERS(solvers)                             \
  const std::unique_ptr<Solvers> solvers = real_solvers(); \
  if (!solvers) GTEST_SKIP() << "no SMT solver is installed (ci/setup-solvers)"

InquiryOptions for_seconds(double seconds) {
  InquiryOptions options;
  options.proof.seconds = seconds;
  return options;
}

/// Every operation on all pairs of four-bit values, against plain integers.
TEST(Expressions, MeanWhatSmtLibSays) {
  Expressions in;
  const Expression x = in.variable("x", 4), y = in.variable("y", 4);
  const auto number = [](unsigned v) { return v & 8 ? int(v) - 16 : int(v); };
  using Value = std::function<unsigned(unsigned, unsigned)>;
  const std::vector<std::pair<Expression, Value>> all = {
      {~x, [](unsigned a, unsigned) { return ~a & 15; }},
      {x & y, [](unsigned a, unsigned b) { return a & b; }},
      {x | y, [](unsigned a, unsigned b) { return a | b; }},
      {x ^ y, [](unsigned a, unsigned b) { return a ^ b; }},
      {-x, [](unsigned a, unsigned) { return (16 - a) & 15; }},
      {-(-x), [](unsigned a, unsigned) { return a; }},
      {x + y, [](unsigned a, unsigned b) { return (a + b) & 15; }},
      {x - y, [](unsigned a, unsigned b) { return (a - b) & 15; }},
      {x * y, [](unsigned a, unsigned b) { return (a * b) & 15; }},
      {shift_left(x, y), [](unsigned a, unsigned b) { return b >= 4 ? 0 : (a << b) & 15; }},
      {shift_right(x, y), [](unsigned a, unsigned b) { return b >= 4 ? 0 : a >> b; }},
      {concat(x, y), [](unsigned a, unsigned b) { return a << 4 | b; }},
      {extract(x, 2, 1), [](unsigned a, unsigned) { return (a >> 1) & 3; }},
      {zero_extend(x, 6), [](unsigned a, unsigned) { return a; }},
      {sign_extend(x, 6), [](unsigned a, unsigned) { return a & 8 ? a | 48 : a; }},
      {choose(~equal(x, y), x, -y), [](unsigned a, unsigned b) { return a != b ? a : (16 - b) & 15; }},
      {equal(x, y), [](unsigned a, unsigned b) { return unsigned(a == b); }},
      {unsigned_below(x, y), [](unsigned a, unsigned b) { return unsigned(a < b); }},
      {signed_below(x, y), [&](unsigned a, unsigned b) { return unsigned(number(a) < number(b)); }},
      {signed_greater_of(x, y), [&](unsigned a, unsigned b) { return number(a) < number(b) ? b : a; }},
  };
  std::vector<Expression> expressions;
  for (const auto& [expression, value] : all) expressions.push_back(expression);
  const Evaluator evaluator({x, y}, expressions);
  std::vector<uint64_t> results;
  for (unsigned a = 0; a < 16; ++a)
    for (unsigned b = 0; b < 16; ++b) {
      evaluator.run({a, b}, results);
      for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(results[i], all[i].second(a, b)) << i << ": " << a << ", " << b;
    }
  NEEDS_SOLVERS(solvers);
  // The solvers agree at one place: no other values of the variables give all these results.
  evaluator.run({11, 6}, results);
  std::vector<Expression> assertions;
  for (size_t i = 0; i < all.size(); ++i)
    assertions.push_back(equal(expressions[i], in.constant(expressions[i].width(), Bits(results[i]))));
  const Answer answer = solvers->solve(assertions, "all operations");
  ASSERT_EQ(answer.verdict, Verdict::sat) << answer.reason;
  EXPECT_EQ(answer.model.at("x"), 11);
  EXPECT_EQ(answer.model.at("y"), 6);
}

TEST(SmtLib, ValuesOfOtherFormsAreRefused) {
  std::map<std::string, Bits> values;
  EXPECT_TRUE(parse_values("((a0 #x3c00)\n (b0 #b101))", values));
  EXPECT_EQ(values.at("a0"), 0x3c00);
  EXPECT_EQ(values.at("b0"), 5);
  for (const char* text : {"((a0 3))", "((a0 #x))", "((a0 #b2))", "((a0 #xg0)", "((a0))", ")("})
    EXPECT_FALSE(parse_values(text, values)) << text;
}

TEST(Solver, OneThatCannotBeTrustedIsRefused) {
  for (const char* mode : {"unsat", "sat", "garbage", "dies"}) {
    try {
      Solvers solvers(find_solvers({false_solver(mode)}), {5, 1024});
      ADD_FAILURE() << mode << " is believed";
    } catch (const std::runtime_error& e) {
      EXPECT_NE(std::string(e.what()).find("is not used"), std::string::npos) << e.what();
    }
  }
}

TEST(Solver, OneThatIsNotThereIsRefusedWithItsName) {
  try {
    Solvers solvers(find_solvers({"none=/nowhere/solver"}), {5, 1024});
    ADD_FAILURE();
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("/nowhere/solver"), std::string::npos) << e.what();
  }
}

/// It passes the known answers and then calls everything unsat. A second solver notices.
TEST(Solver, ALiarIsNoticedByTheSecondSolver) {
  if (find_solvers({}).empty() || find_solvers({"z3=z3 -in"})[0].version == "of unknown version")
    GTEST_SKIP() << "z3 is not installed";
  InquiryOptions options = for_seconds(20);
  options.proof.confirm = true;
  Solvers both(find_solvers({false_solver("later"), "z3=z3 -in"}), {20, 4096});
  ASSERT_EQ(both.count(), 2u);
  const std::string other = std::string(volta) + "?fraction_bits=22";
  try {
    const Reply reply = ask_equal(both, volta, other, options);
    ADD_FAILURE() << "outcome " << int(reply.proof.outcome) << ": the liar, who is always first, was believed";
  } catch (const Contradiction& e) {
    EXPECT_NE(std::string(e.what()).find("solvers disagree"), std::string::npos) << e.what();
  }
}

TEST(Proof, AWitnessIsReplayedAndDiffers) {
  NEEDS_SOLVERS(solvers);
  const Reply reply = ask_equal(*solvers, volta, std::string(volta) + "?fraction_bits=24", for_seconds(60));
  ASSERT_EQ(reply.proof.outcome, Outcome::witness) << reply.proof.reason;
  ASSERT_EQ(reply.results.size(), 2u);
  EXPECT_NE(reply.results[0].substr(0, 8), reply.results[1].substr(0, 8));
}

/// Products hand on NaNs of a before those of b, and rows have NaNs of their own.
TEST(Proof, WhereAnyNaNWillDoNoOtherIsAWitness) {
  NEEDS_SOLVERS(solvers);
  const std::string chain = "model:custom?kernel=fma_chain,k=1,nan=7e00", hands_on = chain + ",nan_from=a_b_c";
  InquiryOptions options = for_seconds(120);
  options.op = "dot a=fp16 b=fp16 c=fp16 d=fp16 k=1";
  EXPECT_EQ(ask_equal(*solvers, chain, hands_on, options).proof.outcome, Outcome::witness);
  EXPECT_EQ(ask_property(*solvers, "swap_operands", hands_on, options).proof.outcome, Outcome::witness);
  options.op += " nan=any";
  EXPECT_EQ(ask_equal(*solvers, chain, hands_on, options).proof.outcome, Outcome::proven);
  EXPECT_EQ(ask_property(*solvers, "swap_operands", hands_on, options).proof.outcome, Outcome::proven);
}

TEST(Proof, SignSymmetryOfVoltaIsProvenAndOfRoundingUpIsNot) {
  NEEDS_SOLVERS(solvers);
  EXPECT_EQ(ask_property(*solvers, "sign_symmetry", volta, for_seconds(60)).proof.outcome, Outcome::proven);
  const Reply up = ask_property(*solvers, "sign_symmetry", std::string(volta) + "?output_rounding=up", for_seconds(60));
  EXPECT_EQ(up.proof.outcome, Outcome::witness) << up.proof.reason;
}

/// The property tries a few other factors, and these give the same result: what differs is the solver's own choice.
TEST(Proof, OtherFactorsThatTheSolverChoseAreReplayed) {
  if (!nightly()) GTEST_SKIP() << "half a minute";
  NEEDS_SOLVERS(solvers);
  const Reply reply =
      ask_property(*solvers, "product_value", "model:rdna4/v_dot2.1x1x2.f32.f16.f16.f32", for_seconds(300));
  ASSERT_EQ(reply.proof.outcome, Outcome::witness) << reply.proof.reason;
  ASSERT_EQ(reply.results.size(), 2u);
  EXPECT_NE(reply.results[0].substr(0, 8), reply.results[1].substr(0, 8));
}

/// A result in tf32 has low bits that say nothing; a c that is a result has none of them.
TEST(Proof, BlocksOfZerosGiveBackResultsInTf32) {
  NEEDS_SOLVERS(solvers);
  InquiryOptions options = for_seconds(60);
  options.op = "dot a=e5m2 b=e5m2 c=tf32 d=tf32 k=2";
  const Reply reply =
      ask_property(*solvers, "zero_padding",
                   "model:custom?kernel=fused_sum,k=2,block=2,fraction_bits=12,zero_exponent=-200", options);
  EXPECT_EQ(reply.proof.outcome, Outcome::proven) << reply.proof.reason;
  EXPECT_FALSE(reply.argument.empty()) << "not by lemmas";
}

/// Where a block takes products that are no neighbours, to reverse neighbours moves products to other blocks.
TEST(Proof, ProductsThatChangeTheirBlockAreNotProvenExchangeable) {
  NEEDS_SOLVERS(solvers);
  const std::string ampere = "model:ampere/mma.m16n8k16.f32.f16.f16.f32";
  const auto outcome = [&](const std::string& settings, int k, double seconds = nightly() ? 60 : 1.5) {
    InquiryOptions options = for_seconds(seconds);
    options.op = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=" + std::to_string(k);
    return ask_property(*solvers, "block_permutation", ampere + settings, options).proof.outcome;
  };
  EXPECT_NE(outcome("?order=interleaved", 16), Outcome::proven);
  EXPECT_NE(outcome("?order=interleaved", 8), Outcome::proven);  // as many as a block has, dealt to two
  EXPECT_NE(outcome("?order=swapped_pairs,block=3,k=9", 9), Outcome::proven);
  for (const char* contiguous : {"?order=descending", "?order=swapped_pairs"})
    EXPECT_EQ(outcome(contiguous, 16, 60), Outcome::proven) << contiguous;
}

TEST(Proof, FiveIntegerBitsAreEnoughForVoltaAndFourAreNot) {
  NEEDS_SOLVERS(solvers);
  const IntegerBits found = ask_integer_bits(*solvers, volta, for_seconds(60));
  EXPECT_EQ(found.bits, 5);
  EXPECT_EQ(found.one_fewer.proof.outcome, Outcome::witness);
}

/// Where no sum wraps with one bit, there is no fewer to ask about.
TEST(Proof, OneIntegerBitIsEnoughForZeros) {
  NEEDS_SOLVERS(solvers);
  InquiryOptions options = for_seconds(60);
  options.domain = "products=0,c=0";
  const IntegerBits found = ask_integer_bits(*solvers, volta, options);
  EXPECT_EQ(found.bits, 1);
  EXPECT_NE(found.enough.question.find(" where products=0,c=0"), std::string::npos) << found.enough.question;
  EXPECT_EQ(found.one_fewer.question, "");
}

TEST(Proof, WhatHasNoRowHasNoFormula) {
  NEEDS_SOLVERS(solvers);
  InquiryOptions options = for_seconds(1);
  options.op = "dot a=e5m2 b=e5m2 c=fp16 d=e4m3 k=1";
  const std::string row = "model:custom?kernel=fused_sum,k=1,block=1,fraction_bits=8,overflow=";
  try {
    ask_equal(*solvers, row + "infinity", row + "saturate", options);
    FAIL() << "no kernel says what an infinity is in e4m3";
  } catch (const BadInput& e) {
    EXPECT_NE(std::string(e.what()).find("IEEE 754's infinities, not e4m3"), std::string::npos) << e.what();
  }
}

/// docs/proofs.md argues that three products are enough on Volta: what says otherwise of them would be wrong.
TEST(Proof, ThreeProductsAreNotProvenMonotoneOnVolta) {
  NEEDS_SOLVERS(solvers);
  InquiryOptions options = for_seconds(nightly() ? 120 : 3);
  options.op = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=3";
  EXPECT_NE(ask_property(*solvers, "monotone_in_c", volta, options).proof.outcome, Outcome::proven);
}

/// Blocks that are too small for what a lemma speaks of, a sum that wraps at once, units of a sum above an ulp of d.
TEST(Proof, SmallBlocksAndMutantsAreAskedOfSomeProducts) {
  NEEDS_SOLVERS(solvers);
  for (const char* settings : {"block=1", "block=2", "integer_bits=1", "fraction_bits=12"}) {
    const std::string unit = std::string(volta) + "?" + settings;
    const auto some = [](const Reply& reply) { EXPECT_GE(reply.op.k, 1) << reply.question; };
    const Monotony found = ask_monotony(*solvers, unit, for_seconds(nightly() ? 60 : 1.5), some);
    if (found.products == 1) {
      EXPECT_TRUE(found.knows_products) << unit;
    }
    EXPECT_NE(ask_property(*solvers, "monotone_in_c", unit, for_seconds(0.5)).question, "") << unit;
  }
}

TEST(Proof, NoPartOfAQuestionGetsMoreTimeThanIsLeft) {
  if (find_solvers({"z3=z3 -in"})[0].version == "of unknown version") GTEST_SKIP() << "z3 is not installed";
  Solvers slow(find_solvers({false_solver("slow")}), {20, 4096});
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  const Reply property = ask_property(slow, "monotone_in_c", volta, for_seconds(1));
  EXPECT_EQ(property.proof.outcome, Outcome::unknown);
  EXPECT_EQ(property.proof.reason, "no answer in 1 s");
  EXPECT_LT(elapsed(), 5);
  const Monotony monotony = ask_monotony(slow, volta, for_seconds(1), [](const Reply&) {});
  EXPECT_EQ(monotony.no_fall_with_fewer.proof.reason, "no answer in 1 s");
  EXPECT_LT(elapsed(), 10);
}

TEST(Solver, HandingOverAQueryKeepsTheTime) {
  if (find_solvers({"z3=z3 -in"})[0].version == "of unknown version") GTEST_SKIP() << "z3 is not installed";
  Solvers deaf(find_solvers({false_solver("deaf")}), {1, 4096});
  Expressions in;
  const auto begin = std::chrono::steady_clock::now();
  const Answer answer =
      deaf.solve({in.variable("x", 1)}, std::string(size_t{1} << 24, '-'));  // more than a socket holds
  EXPECT_EQ(answer.verdict, Verdict::unknown);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 10);
}

TEST(Proof, VoltaNeedsThreeProductsToFall) {
  if (!nightly()) GTEST_SKIP() << "takes minutes: nightly";
  NEEDS_SOLVERS(solvers);
  const Monotony found = ask_monotony(*solvers, volta, for_seconds(900), [](const Reply&) {});
  EXPECT_TRUE(found.knows_products && found.knows_ulps);
  EXPECT_EQ(found.products, 3);
  EXPECT_EQ(found.ulps, 1);
}

/// Of N products each loses one unit of the sum, 2^-F; c gains 2^(F-p) of them, and a result of p fraction bits shows
/// the difference: 15 units are 7 ulps of e8m13, 12 are 2 of fp32 beside three that are there.
TEST(Proof, FallsAreCountedInTheUlpsThatAResultKeeps) {
  NEEDS_SOLVERS(solvers);
  struct Row {
    const char* unit;
    int products;
    int64_t ulps;
  };
  if (!nightly()) GTEST_SKIP() << "takes minutes: nightly";
  for (const Row& row : {Row{"model:ada/mma.m16n8k32.f32.e4m3.e4m3.f32", 3, 7},
                         Row{"model:hopper/mma.m16n8k16.f32.f16.f16.f32", 6, 2}}) {
    const Monotony found = ask_monotony(*solvers, row.unit, for_seconds(900), [](const Reply&) {});
    EXPECT_EQ(found.products, row.products) << row.unit;
    EXPECT_EQ(found.ulps, row.ulps) << row.unit;
    EXPECT_TRUE(found.knows_products && found.knows_ulps) << row.unit;
  }
}

TEST(Solver, ANameIsOneOfThoseThatThisMachineHas) {
  EXPECT_THROW(find_solvers({"nothing"}), std::runtime_error);
  EXPECT_THROW(find_solvers({"z3="}), std::runtime_error);
  for (const SolverCommand& known : find_solvers({})) {
    const std::vector<SolverCommand> named = find_solvers({known.name});
    ASSERT_EQ(named.size(), 1u);
    EXPECT_EQ(named[0].command, known.command);
  }
}

TEST(Proof, NoCaseFallsFurtherThanIsProven) { EXPECT_TRUE(attack_falls("", 100000)); }

/// So many products of residues are summed exactly, and of one more there is a case; by night also the proof.
TEST(Proof, ResiduesAreSummedExactlyAndWithOneMoreProductNot) {
  NEEDS_SOLVERS(solvers);
  const std::pair<const char*, int64_t> units[] = {
      {"integer", 131071},
      {"model:hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32", 64},
      {"model:blackwell/tcgen05.kind::f8f6f4.m128n8k32.f32.e4m3.e4m3.f32", 65536}};
  for (const auto& [unit, products] : units) {
    const ResidueSums sums = ask_residue_sums(*solvers, unit, for_seconds(nightly() ? 1800 : 0.01));
    EXPECT_EQ(sums.products, products);
    EXPECT_EQ(sums.one_more.proof.outcome, Outcome::witness) << unit;
    EXPECT_TRUE(sums.enough.proof.outcome == Outcome::proven || !nightly()) << unit << sums.enough.proof.reason;
  }
  EXPECT_THROW(ask_residue_sums(*solvers, "model:hopper/mma.m16n8k16.f32.f16.f16.f32", for_seconds(1)), BadInput);
}

TEST(Proof, DigitsOfOneBitMoreAreNotSummedExactly) {
  NEEDS_SOLVERS(solvers);
  const std::string hopper = "model:hopper/mma.m16n8k16.f32.f16.f16.f32";
  EXPECT_EQ(derived_widths(hopper, 16), (SliceWidths{10, 10}));
  for (const SliceWidths wide : {SliceWidths{11, 10}, SliceWidths{10, 11}, SliceWidths{11, 11}}) {
    const Reply reply = ask_exact_slices(*solvers, hopper, wide, 16, for_seconds(30));
    EXPECT_EQ(reply.proof.outcome, Outcome::witness) << reply.proof.reason;
  }
  EXPECT_THROW(ask_exact_slices(*solvers, hopper, {12, 10}, 16, for_seconds(1)), BadInput);
  EXPECT_THROW(ask_exact_slices(*solvers, hopper, {2, 2}, max_slice_products + 1, for_seconds(1)), BadInput);
  if (!nightly()) return;
  EXPECT_EQ(ask_exact_slices(*solvers, hopper, {10, 10}, 16, for_seconds(900)).proof.outcome, Outcome::proven);
}

/// Mutants that search kills (corpus/mutants has a case for each hard one) are not equivalent.
TEST(Proof, KilledMutantsAreNotProvenEqual) {
  NEEDS_SOLVERS(solvers);
  std::ifstream file(MMAFUZZ_SOURCE_DIR "/bench/mutants.txt");
  const std::string those = nightly() ? "model:" : "model:volta/mma.m8n8k4.f16.f16.f16.f16";
  size_t asked = 0;
  for (std::string line; std::getline(file, line);) {
    const std::string name = line.substr(0, line.find(' '));
    const size_t settings = name.find('?');
    if (!name.starts_with(those) || settings == std::string::npos) continue;
    try {
      const Reply reply = ask_equal(*solvers, name.substr(0, settings), name, for_seconds(nightly() ? 2 : 0.5));
      EXPECT_NE(reply.proof.outcome, Outcome::proven) << name;
      ++asked;
    } catch (const BadInput&) {  // it is no row
    }
  }
  EXPECT_GE(asked, 5u);
}

TEST(Domain, ExponentsReachAsFarAsFp64) {
  for (const char* inside : {"exponents=-1074..1023", "exponents=-2000..2000"}) {
    Expressions in;
    CaseQuestion q = equal_question(in, find_model_row("ampere/mma.m8n8k4.f64.f64.f64.f64")->op,
                                    find_model_row("ampere/mma.m8n8k4.f64.f64.f64.f64")->model,
                                    find_model_row("ampere/mma.m8n8k4.f64.f64.f64.f64")->model);
    EXPECT_TRUE(restrict_to(q, inside)) << inside;
    EXPECT_FALSE(restrict_to(q, "exponents=0..2001"));
    EXPECT_FALSE(restrict_to(q, "factors=fp16"));
  }
}

TEST(Domain, ABinadeHoldsNoSubnormals) {
  const ModelRow& row = *find_model_row("blackwell/tcgen05.kind::f8f6f4.m128n8k32.f32.e2m1.e2m1.f32");
  Expressions in;
  CaseQuestion q = equal_question(in, row.op, row.model, row.model);
  const size_t others = q.question.assumptions.size();
  ASSERT_TRUE(restrict_to(q, "binade"));
  const std::vector<Expression> asked(q.question.assumptions.begin() + std::ptrdiff_t(others),
                                      q.question.assumptions.end());
  const Evaluator domain(in_case_order(q.operands), asked);
  // OCP MX: the codes of e2m1 are 0, 0.5, 1, 1.5, 2, 3, 4, 6.
  for (uint64_t code = 0; code < 8; ++code) {
    std::vector<uint64_t> values(2 * size_t(row.op.k) + 1), holds;
    values[0] = code;
    domain.run(values, holds);
    EXPECT_EQ(std::count(holds.begin(), holds.end(), 0) == 0, code == 0 || code == 2 || code == 3) << code;
  }
}

TEST(Proof, NothingIsProvenWithoutAnAnswer) {
  NEEDS_SOLVERS(solvers);
  const Reply reply = ask_property(*solvers, "monotone_in_c", volta, for_seconds(0.01));
  EXPECT_EQ(reply.proof.outcome, Outcome::unknown);
  EXPECT_FALSE(reply.proof.reason.empty());
}

/// Errors of one step in a formula: a place of a shift, a clamp that is left out, a block, a sign, a limit.
TEST(PlantedError, IsFoundByEvaluation) {
  const std::pair<const char*, const char*> planted[] = {
      {"volta/mma.m8n8k4.f32.f16.f16.f32", "fraction_bits=24"},
      {"volta/mma.m8n8k4.f32.f16.f16.f16", "c_exponent=c_format"},
      {"ampere/mma.m16n8k16.f32.bf16.bf16.f32", "zero_exponent=-126"},
      {"ampere/mma.m16n8k16.f32.f16.f16.f32", "block=16"},
      {"hopper/mma.m16n8k16.f32.f16.f16.f32", "integer_bits=4"},
      {"hopper/mma.m16n8k16.f32.bf16.bf16.f32", "overflow=by_rounding"},
      {"ada/mma.m16n8k32.f32.e4m3.e4m3.f32", "output_fraction_bits=14"},
      {"hopper/mma.m16n8k32.f16.e5m2.e5m2.f16", "fraction_bits=24"},
      {"blackwell/tcgen05.kind::mxf4nvf4.block16.m128n8k64.f32.e2m1.e2m1.f32.ue4m3", "zero_group=sum_zero"},
  };
  for (const auto& [name, wrong] : planted) {
    const ModelRow& row = *find_model_row(name);
    Expressions in;
    const Operands x = dot_variables(in, row.op);
    const Evaluator formula(in_case_order(x), {dot_formula(*with_overrides(row.model, wrong), x).result});
    Batch batch;
    StructuredGenerator(row.op, 97).fill(0, 4000, batch);
    DotCase one(row.op);
    std::vector<uint64_t> values, results;
    bool found = false;
    for (size_t i = 0; i < batch.size() && !found; ++i) {
      values.clear();
      for (const Column& column : batch.inputs())
        for (int j = 0; j < column.count(); ++j) values.push_back(column.get(i, j));
      formula.run(values, results);
      found = results[0] != evaluate_dot(row.model, one.load(batch, i));
    }
    EXPECT_TRUE(found) << name << "?" << wrong;
  }
}

TEST(Formula, AUnitWithoutARowHasNone) {
  NEEDS_SOLVERS(solvers);
  EXPECT_THROW(ask_property(*solvers, "sign_symmetry", "ieee:fma", for_seconds(1)), BadInput);
}

}  // namespace
}  // namespace mmafuzz::prove
