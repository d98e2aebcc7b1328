// identify names what a box around a row's slow twin computes, names no box outside its space, proves only what is
// true, and ends clearly where a unit does not answer.
#include "identify/identify.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <thread>

#include "arithmetic/evaluate_dot.h"
#include "bench/boxes_outside.h"
#include "core/case_text.h"
#include "core/function_unit.h"
#include "identify/order.h"
#include "identify/questionnaire.h"
#include "identify/separate.h"
#include "identify/targeted_cases.h"
#include "identify/verification.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/parameters.h"
#include "oracles/models/slow_twin.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"
#include "tests/test_names.h"

namespace mmafuzz {
namespace {

std::unique_ptr<Unit> box_around(const DotModel& model) {
  return named(make_dot_unit([model](const DotOperands& in) { return slow_twin_dot(model, in); }), "box");
}

IdentifySettings quick() {
  IdentifySettings settings;
  settings.verify = case_count(4096, 1 << 17);
  return settings;
}

/// By default rows of few kernels, among them what only one maker has: one's complements, floors of first sums,
/// rounding to odd, signalling NaNs first, negated results and negated sums. By night all.
std::vector<std::string> rows_to_identify() {
  if (case_count(0, 1) == 0)
    return {"volta/mma.m8n8k4.f32.f16.f16.f32",
            "ampere/mma.m16n8k8.f16.f16.f16.f16",
            "cdna2/mfma.32x32x4.f32.bf16.bf16.f32",
            "x86/dpbf16.k2.f32.bf16.bf16.f32",
            "hopper/mma.m8n8k4.f16.f16.f16.f16",
            "rdna3/v_dot2.1x1x2.f32.f16.f16.f32",
            "rdna4/wmma.16x16x16.f32.bf16.bf16.f32",
            "arm/bfdot.k2.f32.bf16.bf16.f32",
            "arm/fmla.k1.f32.f32.f32.f32",
            "power10/xvf32gernn.k1.f32.f32.f32.f32",
            "power10/xvbf16ger2nn.k2.f32.bf16.bf16.f32"};
  std::vector<std::string> names;
  for (const ModelRow& row : model_rows()) names.push_back(row.name());
  return names;
}

class IdentifiedRow : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Rows, IdentifiedRow, testing::ValuesIn(rows_to_identify()), test_name);

TEST_P(IdentifiedRow, ABoxAroundItsTwinIsNamed) {
  const ModelRow& row = *find_model_row(GetParam());
  const Identification id = identify(*box_around(row.model), row.op, quick());
  ASSERT_EQ(id.verdict, IdentifyVerdict::identified) << id.reason;
  const auto found = bind_or_fail(id.name, row.op);
  ASSERT_NE(found->model(), nullptr);
  Batch batch;
  StructuredGenerator(row.op, 5).fill(0, 2048, batch);
  Outcomes outcomes;
  found->run(batch, outcomes);
  DotCase one(row.op);
  for (size_t i = 0; i < batch.size(); ++i)
    ASSERT_EQ(outcomes.results.get(i), slow_twin_dot(row.model, one.load(batch, i))) << id.name;
}

/// A unit of Hopper's numbers that passes NaN operands on as x86 does: quiet, the first of c, a0, a1, ..., b0, ...
TEST(Identify, SaysWhatIsEqualButForTheNaNs) {
  const ModelRow& row = *find_model_row("hopper/mma.m16n8k16.f32.f16.f16.f32");
  const auto passes_on = [model = row.model](const DotOperands& in) -> uint64_t {
    const uint64_t result = slow_twin_dot(model, in);
    if ((in.c & 0x7fffffff) > 0x7f800000) return in.c | 0x400000;
    for (const uint64_t* factors : {in.a, in.b})
      for (int i = 0; i < in.k; ++i)
        if ((factors[i] & 0x7fff) > 0x7c00)
          return (factors[i] & 0x8000) << 16 | 0x7fc00000 | (factors[i] & 0x3ff) << 13;
    return (result & 0x7fffffff) > 0x7f800000 ? 0xffc00000 : result;
  };
  const Identification id = identify(*named(make_dot_unit(passes_on), "box"), row.op, quick());
  EXPECT_EQ(id.verdict, IdentifyVerdict::no_fit);
  EXPECT_EQ(id.reason, "equal to model:" + row.name() +
                           " but for the NaNs: a NaN operand is passed on, c before a before b, and made quiet; any "
                           "other NaN is ffc00000");
  EXPECT_LT(id.seconds, 10);
}

TEST(Identify, NamesNoBoxOutsideItsSpace) {
  const std::vector<BoxOutside> boxes = boxes_outside();
  EXPECT_EQ(boxes.size(), 20u);
  for (size_t i = 0; i < boxes.size(); i += static_cast<size_t>(case_count(40, 1))) {
    IdentifySettings settings;
    const Identification id = identify(*boxes[i].make(), boxes[i].op, settings);
    EXPECT_NE(id.verdict, IdentifyVerdict::identified) << boxes[i].name << " named " << id.name;
  }
}

/// Flaws that few cases in a million show: the walks through the datapath reach them all.
struct RareFlaw {
  const char* name;
  Op op;
  std::function<bool(const DotOperands&)> strikes;
};
std::vector<RareFlaw> rare_flaws() {
  const auto exponents = [](const DotOperands& in) {
    std::array<int, 4> all;
    for (size_t i = 0; i < 4; ++i) all[i] = static_cast<int>((in.a[i] >> 10 & 31) + (in.b[i] >> 10 & 31));
    return all;
  };
  return {{"one pair of operands in one lane", dot_op("e4m3", "fp32", "fp32", 8),
           [](const DotOperands& in) { return in.a[5] == 0x3d && in.b[5] == 0xb5; }},
          {"one pair of fractions in any lane", dot_op("fp16", "fp32", "fp32", 4),
           [](const DotOperands& in) {
             for (int i = 0; i < in.k; ++i)
               if ((in.a[i] & 1023) == 0x13c && (in.b[i] & 1023) == 0x2e9) return true;
             return false;
           }},
          {"one NaN of c", dot_op("fp16", "fp32", "fp32", 4), [](const DotOperands& in) { return in.c == 0xff800100; }},
          {"three shifts at once", dot_op("fp16", "fp32", "fp32", 4), [=](const DotOperands& in) {
             const std::array<int, 4> e = exponents(in);
             const int c = static_cast<int>(in.c >> 23 & 255) - 127 + 30;
             return in.c << 1 != 0 && c - e[0] == 7 && c - e[1] == 2 && c - e[3] == 19;
           }}};
}

TEST(Verification, ReachesRareFlaws) {
  for (const RareFlaw& flaw : rare_flaws()) {
    const DotModel m = HypothesisSpace(flaw.op).starts(Kernel::fused_sum).front();
    const auto sound = make_dot_unit([m](const DotOperands& in) { return evaluate_dot(m, in); });
    uint64_t struck = 0;
    const auto flawed = make_dot_unit([&](const DotOperands& in) {
      const bool strikes = flaw.strikes(in);
      struck += strikes;
      return evaluate_dot(m, in) ^ (strikes ? 1 : 0);
    });
    const Evidence nothing(flaw.op);
    Asker asker(*flawed, flaw.op, {600, SIZE_MAX});
    Verification verification(*sound, &m, nothing, asker, 1);
    EXPECT_EQ(verification.run(1 << 22), Verification::Result::differs) << flaw.name;
    EXPECT_LE(struck, 2u) << flaw.name << ": it is rare";
    EXPECT_GT(verification.verified().cases, 10'000u) << flaw.name;
    ASSERT_GT(verification.contradictions().size(), 0u) << flaw.name;
    DotCase one(flaw.op);
    EXPECT_TRUE(flaw.strikes(one.load(verification.contradictions(), 0))) << flaw.name;
  }
}

TEST(Verification, SaysWhatIsWhole) {
  const Op op = dot_op("fp16", "fp32", "fp32", 4);
  const DotModel m = HypothesisSpace(op).starts(Kernel::fused_sum).front();
  const auto sound = make_dot_unit([m](const DotOperands& in) { return evaluate_dot(m, in); });
  const Evidence nothing(op);
  Asker asker(*sound, op, {600, SIZE_MAX});
  Verification verification(*sound, &m, nothing, asker, 1);
  ASSERT_EQ(verification.run((1 << 17) + 20'000), Verification::Result::held);
  const Verified& verified = verification.verified();
  EXPECT_EQ(verified.guided, uint64_t{1} << 17);
  uint64_t walked = 0;
  for (const Verified::Walk& walk : verified.walks) {
    walked += walk.walked;
    if (walk.name == "ramps") {
      EXPECT_EQ(walk.walked, walk.length);
    }
    if (walk.name == "fraction pairs") {
      EXPECT_EQ(walk.walked, 0u);
    }
  }
  EXPECT_EQ(walked, 20'000u);
}

/// An op and a row: of the catalogue with three parameters changed at random, or every parameter at random; of these
/// every second with blocks and instructions that fill the op, which are rare at random.
std::pair<Op, DotModel> row_to_prove(uint64_t n, CounterRng& rng) {
  if (n % 2) {
    auto [op, m] = random_point(17, n);
    if (n % 4 == 1) {
      m.order = ProductOrder::ascending;
      for (const char* name : {"k", "block"}) {
        const Parameter& p = *find_parameter(name);
        const auto changed = with_value(m, p, std::max(1, op.k >> rng.below(4)));
        if (changed && p.used_by(m.kernel)) m = *changed;
      }
    }
    return {op, m};
  }
  const ModelRow& row = model_rows()[rng.below(static_cast<uint32_t>(model_rows().size()))];
  const HypothesisSpace space(row.op);
  DotModel m = space.starts(row.model.kernel).front();
  for (int change = 0; change < 3; ++change) {
    const auto& all = space.parameters_of(m.kernel);
    const Parameter& p = *all[rng.below(static_cast<uint32_t>(all.size()))];
    const auto& values = space.values(p);
    const int64_t value = values[rng.below(static_cast<uint32_t>(values.size()))];
    if (const auto changed = with_value(m, p, value)) m = *changed;
  }
  return {row.op, m};
}

/// Structured cases, and as many that are made for the row.
Batch cases_against_proofs(const Op& op, const DotModel& m, uint64_t seed) {
  constexpr size_t of_each = 96;
  Batch batch;
  StructuredGenerator(op, seed).fill(0, of_each, batch);
  batch.resize(2 * of_each);
  const TargetedCases targeted(op, m, seed);
  for (size_t i = of_each; i < batch.size(); ++i) targeted.make(i, batch, i);
  return batch;
}

TEST(Identify, ProvesOnlyWhatIsTrue) {
  CounterRng rng(3, 0);
  std::map<std::string, size_t> proofs;
  for (uint64_t n = 0; n < case_count(1000, 20000); ++n) {
    const auto [op, m] = row_to_prove(n, rng);
    const HypothesisSpace space(op);
    const Batch batch = cases_against_proofs(op, m, n);
    DotCase one(op);
    for (const Parameter* p : space.parameters_of(m.kernel)) {
      std::map<std::string, std::vector<int64_t>> proven;  // by reason
      for (const int64_t value : space.values(*p))
        if (value != p->get(m))
          if (const std::string why = space.why_equal(m, *p, value); !why.empty()) proven[why].push_back(value);
      for (const auto& [why, values] : proven) {
        const int64_t value = values[rng.below(static_cast<uint32_t>(values.size()))];
        ++proofs[p->name];
        for (size_t i = 0; i < batch.size(); ++i) {
          const DotOperands& in = one.load(batch, i);
          ASSERT_TRUE(same_result(op, evaluate_dot(m, in), evaluate_dot(*with_value(m, *p, value), in)))
              << to_text(op) << "\n"
              << custom_name(m, op) << " " << p->name << "=" << value_text(*p, value) << ": " << why << "\n"
              << case_line(batch, i);
        }
      }
    }
  }
  for (const char* name : {"k", "block", "order", "special_scope", "integer_bits", "c_exponent", "zero_exponent",
                           "product_overflow", "overflow_rank"})
    EXPECT_GT(proofs[name], 0u) << name;
}

/// A value that must not be called equal, and the case that tells it.
struct FalseProof {
  const char *op, *row, *change, *told_by;
};
const FalseProof false_proofs[] = {
    {"dot a=bf16 b=bf16 c=fp32 d=fp32 k=4", "kernel=fma_then_add,k=4,block=2,chain_join=summed_first", "k=2",
     "4aff 537e d07e cafe | cb80 d27e ce01 cb80 | 66800000"},
    {"dot a=bf16 b=bf16 c=fp32 d=tf32 k=4", "kernel=fma_then_add,k=4,block=2,output_rounding=nearest_even", "k=2",
     "3f80 3f80 3f80 0000 | 3f80 3980 3a00 0000 | 00000000"},
    {"dot a=bf16 b=bf16 c=fp32 d=fp32 k=1", "kernel=ieee_tree,k=1,block=1,product_overflow=none",
     "overflow_rank=below_operands", "7f00 | 7f00 | ff800000"}};

TEST(Identify, ProvesNoValueThatACaseTells) {
  for (const FalseProof& proof : false_proofs) {
    const Op op = op_from_text(proof.op);
    const DotModel m = *with_overrides(custom_model(op), proof.row), other = *with_overrides(m, proof.change);
    CaseReader reader("told by", std::string("mmafuzz-cases 1\nop ") + proof.op + "\n" + proof.told_by + "\n");
    CaseBlock block;
    ASSERT_TRUE(reader.next(block, 1)) << proof.op;
    DotCase one(op);
    const DotOperands& in = one.load(block.batch, 0);
    EXPECT_NE(evaluate_dot(m, in), evaluate_dot(other, in)) << proof.row;
    const HypothesisSpace space(op);
    for (const Parameter* p : space.parameters_of(m.kernel)) {
      if (p->get(m) == p->get(other)) continue;
      EXPECT_EQ(space.why_equal(m, *p, p->get(other)), "") << proof.row;
    }
  }
}

/// Rows that a million random cases hardly tell apart.
struct CloseRows {
  const char *op, *row, *other;
};
const CloseRows close_rows[] = {
    // A sum is inexact only where c carries into the next exponent and products stand seven bits below it; the block
    // that follows hides its rounding unless a carry runs through seven bits.
    {"dot a=bf16 b=bf16 c=fp32 d=fp32 k=16",
     "kernel=two_stage_sum,k=32,block=16,fraction_bits=16,odd_even=1,second_stage=floor31,overflow=saturate",
     "kernel=two_stage_sum,k=32,block=16,fraction_bits=16,odd_even=1,second_stage=floor31,overflow=saturate,"
     "output_rounding=toward_zero"},
    // Three groups and c are all just below the floor, and none is zero.
    {"dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=64 sa=e8m0 sb=e8m0 sblock=16",
     "kernel=grouped_sum,k=48,group=16,fraction_bits=2,zero_exponent=-61,zero_group=sum_zero,integer_bits=9",
     "kernel=grouped_sum,k=48,group=16,fraction_bits=2,zero_exponent=-61,zero_group=sum_zero,integer_bits=9,"
     "zero_rule=clamp"}};

TEST(TargetedCases, TellRowsApartThatRandomOnesHardlyTell) {
  for (const CloseRows& close : close_rows) {
    const Op op = op_from_text(close.op);
    const DotModel row = *with_overrides(custom_model(op), close.row);
    const DotModel other = *with_overrides(custom_model(op), close.other);
    for (const bool swapped : {false, true}) {
      const TargetedCases cases(op, swapped ? other : row, 1);
      Batch batch(op);
      batch.resize(1);
      DotCase one(op);
      size_t first = 0;
      for (; first < Separator::targeted_cases; ++first) {
        cases.make(first, batch, 0);
        const DotOperands& in = one.load(batch, 0);
        if (!same_result(op, evaluate_dot(row, in), evaluate_dot(other, in))) break;
      }
      EXPECT_LT(first, Separator::targeted_cases / 16) << close.other;
    }
  }
}

/// A two-stage sum whose blocks do not divide k, with few fraction bits: later blocks hide most of what an earlier one
/// does.
std::pair<Op, DotModel> hiding_row(uint64_t number) {
  CounterRng rng(39, number);
  const char* const factors = rng.one_in(2) ? "fp16" : "e5m2";
  const Op op = dot_op(factors, "fp32", "fp32", rng.between(6, 20));
  DotModel m = custom_model(op);
  m.kernel = Kernel::two_stage_sum;
  do {
    m.k = rng.between(4, 40);
    m.block = rng.between(2, 5);
  } while (m.k % m.block == 0);
  m.fraction_bits = rng.between(3, 12);
  for (const char* name : {"order", "odd_even", "second_stage", "output_rounding", "subnormals", "product"}) {
    const Parameter& p = *find_parameter(name);
    const int64_t greatest = p.words.empty() ? p.greatest : static_cast<int64_t>(p.words.size()) - 1;
    const int64_t value = rng.between(0, static_cast<int>(greatest));
    if (const std::optional<DotModel> changed = with_value(m, p, value)) m = *changed;
  }
  return {op, m};
}

TEST(Separator, TellsApartWhatManyRandomCasesDo) {
  size_t told = 0;
  for (uint64_t n = 0; n < case_count(12, 400); ++n) {
    const auto [op, row] = hiding_row(n);
    const Evidence none(op);
    for (const char* name : {"second_stage", "output_rounding", "odd_even", "product"}) {
      const Parameter& p = *find_parameter(name);
      const std::optional<DotModel> other = with_value(row, p, p.get(row) ? 0 : 1);
      ASSERT_TRUE(other);
      const Separator::Found found = Separator(row, none, 1, [] { return true; }).separate({{*other, true}});
      told += !found.cases.empty();
      if (!found.cases.empty()) {
        DotCase one(op);
        const DotOperands& in = one.load(found.cases[0], 0);
        EXPECT_NE(evaluate_dot(row, in), evaluate_dot(*other, in));
        continue;
      }
      DotCase one(op);
      Batch batch;
      StructuredGenerator(op, 5).fill(0, case_count(20'000, 300'000), batch);
      for (size_t i = 0; i < batch.size(); ++i) {
        const DotOperands& in = one.load(batch, i);
        const bool differ = !same_result(op, evaluate_dot(row, in), evaluate_dot(*other, in));
        EXPECT_FALSE(differ) << "row " << n << ", " << name << ": " << custom_name(row, op) << "\n"
                             << case_line(batch, i);
        if (differ) break;
      }
    }
  }
  EXPECT_GT(told, 0u);
}

TEST(Identify, TellsABoxFromARowThatIsNearlyTheSame) {
  for (const CloseRows& close : std::span(close_rows).first(nightly() ? std::size(close_rows) : 1)) {
    const Op op = op_from_text(close.op);
    const DotModel truth = *with_overrides(custom_model(op), close.other);
    IdentifySettings settings;
    settings.verify = 256;
    const Identification id = identify(*box_around(truth), op, settings);
    ASSERT_EQ(id.verdict, IdentifyVerdict::identified) << id.reason;
    const TargetedCases cases(op, truth, 7);
    Batch batch(op);
    batch.resize(4096);
    DotCase one(op);
    for (size_t i = 0; i < batch.size(); ++i) {
      cases.make(i, batch, i);
      const DotOperands& in = one.load(batch, i);
      ASSERT_EQ(evaluate_dot(*id.model, in), slow_twin_dot(truth, in)) << id.name;
    }
  }
}

// From what is found first, changes of two parameters do not lead to blocks of three products in swapped pairs.
TEST(Identify, FindsLengthBlocksAndOrderTogether) {
  if (!nightly()) GTEST_SKIP() << "ten seconds: nightly";
  const Op op = op_from_text("dot a=e4m3 b=e4m3 c=fp16 d=fp16 k=32");
  const DotModel truth = *with_overrides(
      custom_model(op),
      "kernel=fused_sum,k=19,block=3,order=swapped_pairs,fraction_bits=23,zero_rule=operand,product=normalized,"
      "c_exponent=c_format,output_fraction_bits=9,output_rounding=odd,zero_sign=ieee,special_scope=whole_k,"
      "subnormals=flushed");
  const Identification id = identify(*box_around(truth), op, quick());
  ASSERT_EQ(id.verdict, IdentifyVerdict::identified) << id.reason;
  EXPECT_EQ(id.model->k, 19);
  EXPECT_EQ(id.model->block, 3);
  EXPECT_EQ(id.model->order, ProductOrder::swapped_pairs);
}

// A floor and the bits below it that are both one lower, and products aligned by their format's exponents, give the
// same results where both significands of a product multiply to two or more.
TEST(Identify, TellsAMovedFloorFromNormalizedProducts) {
  if (!nightly()) GTEST_SKIP() << "a quarter of a minute: nightly";
  const Op op = op_from_text("dot a=bf16 b=bf16 c=fp32 d=fp32 k=2");
  const DotModel truth = *with_overrides(
      custom_model(op), "kernel=fused_sum,product=normalized,fraction_bits=38,zero_rule=clamp,zero_exponent=100");
  const Identification id = identify(*box_around(truth), op, quick());
  ASSERT_EQ(id.verdict, IdentifyVerdict::identified) << id.reason;
  CaseReader reader("witness", "mmafuzz-cases 1\n" + to_text(op) + "\n4980 4980 | 7f00 ff00 | 76000000\n");
  CaseBlock block;
  ASSERT_TRUE(reader.next(block, 1)) << reader.error()->message;
  DotCase one(op);
  const DotOperands& in = one.load(block.batch, 0);
  EXPECT_EQ(evaluate_dot(*id.model, in), slow_twin_dot(truth, in)) << id.name;
}

// An instruction one product longer than the dot adds +0, so that no sum of zeros is -0, whatever `zero_sign` says.
TEST(Identify, SaysWhichTwoChangesFitTogether) {
  const ModelRow& row = *find_model_row("hopper/mma.m16n8k16.f32.f16.f16.f32");
  const Identification id = identify(*box_around(row.model), row.op, quick());
  ASSERT_EQ(id.verdict, IdentifyVerdict::identified) << id.reason;
  EXPECT_TRUE(id.tried_joint_changes);
  EXPECT_TRUE(std::count(id.joint_changes.begin(), id.joint_changes.end(), "k=17 with zero_sign=ieee")) << id.name;
  DotModel both = row.model, one = row.model;
  both.k = 17;
  both.zero_sign = one.zero_sign = ZeroSign::ieee;
  Batch zeros(row.op);
  zeros.resize(1);
  for (int i = 0; i < 16; ++i) zeros.inputs()[0].set(0, i, 0x8000);
  zeros.inputs()[2].set(0, 0, 0x80000000);
  DotCase of_zeros(row.op);
  const DotOperands& in = of_zeros.load(zeros, 0);
  EXPECT_EQ(slow_twin_dot(both, in), slow_twin_dot(row.model, in));
  EXPECT_NE(slow_twin_dot(one, in), slow_twin_dot(row.model, in));
}

TEST(Identify, AUnitThatThrowsEndsWithTooFewAnswers) {
  const Op op = dot_op("fp16", "fp32", "fp32", 4);
  size_t asked = 0;
  const auto unit = make_dot_unit([&](const DotOperands& in) -> uint64_t {
    if (++asked > 40) throw std::runtime_error("it broke");
    return evaluate_dot(find_model_row("volta/mma.m8n8k4.f32.f16.f16.f32")->model, in);
  });
  const Identification id = identify(*unit, op, {});
  EXPECT_EQ(id.verdict, IdentifyVerdict::too_few);
  EXPECT_NE(id.reason.find("it broke"), std::string::npos) << id.reason;
}

TEST(Separator, WhatTheTimeLeavesOutIsNotCalledLikeTheRow) {
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=8");
  const DotModel row = *with_overrides(custom_model(op), "kernel=fused_sum,k=8,block=8,fraction_bits=25"),
                 other = *with_overrides(row, "fraction_bits=24");
  const Evidence none(op);
  const Separator::Found all = Separator(row, none, 1, [] { return true; }).separate({{other, true}, {row, true}});
  EXPECT_NE(all.case_of_other[0], SIZE_MAX);
  EXPECT_EQ(all.case_of_other[1], SIZE_MAX) << "it is the row itself";
  EXPECT_EQ(all.agreed_on[1], Separator::deep_cases);
  const Separator::Found late = Separator(row, none, 1, [] { return false; }).separate({{other, true}});
  EXPECT_EQ(late.case_of_other[0], SIZE_MAX);
  EXPECT_EQ(late.agreed_on[0], 0u);
}

TEST(Identify, ASlowUnitEndsInTimeWithWhatIsKnown) {
  const Op op = dot_op("fp16", "fp32", "fp32", 4);
  const auto unit = make_dot_unit([](const DotOperands& in) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return evaluate_dot(find_model_row("volta/mma.m8n8k4.f32.f16.f16.f32")->model, in);
  });
  IdentifySettings settings;
  settings.seconds = 0.5;
  const Identification id = identify(*unit, op, settings);
  EXPECT_EQ(id.verdict, IdentifyVerdict::too_few);
  EXPECT_FALSE(id.parameters.empty());
  EXPECT_LT(id.evidence.size(), 60u);
}

TEST(Identify, AUnitWithTwoAnswersIsNoFunction) {
  const Op op = dot_op("fp16", "fp32", "fp32", 4);
  uint64_t asked = 0;
  const auto unit = make_dot_unit([&](const DotOperands& in) {
    return evaluate_dot(find_model_row("volta/mma.m8n8k4.f32.f16.f16.f32")->model, in) ^ (++asked & 1);
  });
  EXPECT_EQ(identify(*unit, op, {}).verdict, IdentifyVerdict::no_fit);
}

TEST(Identify, TheSiliconsBf16DotIsFoundFromItsAnswers) {
  const Op op = op_from_text("dot a=bf16 b=bf16 c=fp32 d=fp32 k=8 nan=any");
  const auto unit = registry().bind("cpu:dpbf16.f32.bf16.bf16.f32", op);
  if (!unit) GTEST_SKIP() << unit.refusal().reason;
  const Identification id = identify(**unit, op, quick());
  ASSERT_EQ(id.verdict, IdentifyVerdict::identified) << id.reason;
  EXPECT_EQ(id.model->kernel, Kernel::fma_chain);
  EXPECT_EQ(id.model->order, ProductOrder::swapped_pairs);
  EXPECT_EQ(id.model->subnormals, Subnormals::flushed_signed);
  EXPECT_EQ(id.nearest, "model:x86/dpbf16.k2.f32.bf16.bf16.f32");
}

TEST(Identify, TheSiliconsTilesAreFoundFromTheirAnswers) {
  const Op op = op_from_text("dot a=bf16 b=bf16 c=fp32 d=fp32 k=40 nan=any");
  const auto unit = registry().bind("cpu:tdpbf16ps.f32.bf16.bf16.f32", op);
  if (!unit) GTEST_SKIP() << unit.refusal().reason;
  const Identification id = identify(**unit, op, quick());
  ASSERT_EQ(id.verdict, IdentifyVerdict::identified) << id.reason;
  EXPECT_EQ(id.nearest, "model:x86/tdpbf16ps.k32.f32.bf16.bf16.f32");
  EXPECT_THAT(id.nearest_differs, testing::IsEmpty());
}

TEST(Identify, X87sDotIsFoundFromItsAnswers) {
  const Op op = op_from_text("dot a=fp64 b=fp64 c=fp64 d=fp64 k=2 nan=any");
  const auto unit = registry().bind("cpu:x87.f64", op);
  if (!unit) GTEST_SKIP() << unit.refusal().reason;
  const Identification id = identify(**unit, op, quick());
  ASSERT_EQ(id.verdict, IdentifyVerdict::identified) << id.reason;
  EXPECT_EQ(id.name, "extended:serial");
}

// One product a step, in fp16: an exact sum and a fused one of many bits are the same function. The row is named.
TEST(Identify, OfKernelsThatAreOneFunctionTheRowsIsNamed) {
  const Op op = dot_op("fp16", "fp16", "fp16", 8);
  const std::unique_ptr<Unit> box = box_around(find_model_row("x86/fma.k1.f16.f16.f16.f16")->model);
  const Identification id = identify(*box, op, quick());
  EXPECT_EQ(id.verdict, IdentifyVerdict::identified);
  EXPECT_EQ(id.nearest, "model:x86/fma.k1.f16.f16.f16.f16");
  EXPECT_TRUE(id.nearest_differs.empty());
}

TEST(Questionnaire, NamesARowWithoutASecondRound) {
  // By default an op that few rows have.
  const ModelRow& row = *find_model_row(nightly() ? "volta/mma.m8n8k4.f32.f16.f16.f32" : "x86/dpps.k4.f32.f32.f32.f32");
  const Batch cases = questionnaire(row.op);
  EXPECT_LE(cases.size(), max_questions);
  Evidence evidence(row.op);
  DotCase one(row.op);
  for (size_t i = 0; i < cases.size(); ++i) evidence.add(cases, i, slow_twin_dot(row.model, one.load(cases, i)), 0);
  const Identification id = identify_from(std::move(evidence), {});
  EXPECT_EQ(id.verdict, IdentifyVerdict::identified) << id.reason;
  EXPECT_TRUE(id.nearest_differs.empty());
}

// One by one and then many at once, in an order whose places change once they were asked for.
TEST(ResultsOfRow, AreThoseOfTheTwin) {
  for (const char* name : {"volta/mma.m8n8k4.f32.f16.f16.f32", "ampere/mma.m8n8k4.f64.f64.f64.f64",
                           "rtx_blackwell/mma.kind::mxf4nvf4.block16.m16n8k64.f32.e2m1.e2m1.f32.ue4m3"}) {
    const ModelRow& row = *find_model_row(name);
    Batch batch;
    StructuredGenerator(row.op, 3).fill(0, 700, batch);
    DotCases cases(row.op);
    std::vector<uint32_t> order;
    for (size_t i = 0; i < batch.size(); ++i) {
      cases.add(batch, i);
      order.insert(order.begin(), static_cast<uint32_t>(i));
    }
    ResultsOfRow results(row.model, cases, &order);
    DotCase one(row.op);
    for (size_t place = 0; place < order.size(); ++place) {
      if (place % 11 == 10) continue;  // not asked for
      ASSERT_EQ(results.at(place), slow_twin_dot(row.model, one.load(batch, order[place]))) << name << ' ' << place;
      std::swap(order[place], order[place / 2]);
    }
  }
}

/// Answers of `integer` to as many structured cases.
Evidence integer_answers(const Op& op, size_t count) {
  Batch batch;
  StructuredGenerator(op, 3).fill(0, count, batch);
  Outcomes outcomes;
  bind_or_fail("integer", op)->run(batch, outcomes);
  Evidence evidence(op);
  for (size_t i = 0; i < count; ++i) evidence.add(batch, i, outcomes.results.get(i), 0);
  return evidence;
}

TEST(Identify, AUnitWithoutParametersIsNotNamedFromFewAnswers) {
  const Op op = op_from_text("dot a=s8 b=s8 c=s32 d=s32 k=4");
  Identification id = identify_from(integer_answers(op, 1), {});
  EXPECT_EQ(id.verdict, IdentifyVerdict::too_few);
  EXPECT_FALSE(id.name.empty()) << "what fits so far is said";
  ASSERT_TRUE(id.next_cases);
  std::set<std::string> further = {case_line(id.evidence.cases().one(0), 0)};
  for (size_t i = 0; i < id.next_cases->size(); ++i)
    EXPECT_TRUE(further.insert(case_line(*id.next_cases, i)).second) << "asked twice: " << case_line(*id.next_cases, i);
  // The further cases are enough.
  for (int round = 0; round < 4 && id.next_cases; ++round) {
    Evidence evidence(op);
    Outcomes outcomes;
    bind_or_fail("integer", op)->run(*id.next_cases, outcomes);
    for (size_t i = 0; i < id.evidence.size(); ++i)
      evidence.add(id.evidence.cases().one(i), 0, id.evidence.answer(i), 0);
    for (size_t i = 0; i < id.next_cases->size(); ++i) evidence.add(*id.next_cases, i, outcomes.results.get(i), 0);
    id = identify_from(std::move(evidence), {});
  }
  EXPECT_EQ(id.verdict, IdentifyVerdict::identified) << id.reason;
  EXPECT_EQ(id.name, "integer");
}

TEST(Identify, DotsOfIntegersThatGiveFloatsAreOfNoRow) {
  const Op op = op_from_text("dot a=s8 b=s8 c=fp32 d=fp32 k=8 nan=any");
  const Identification id = identify(*bind_or_fail("ieee:serial", op), op, quick());
  EXPECT_EQ(id.verdict, IdentifyVerdict::identified) << id.reason;
  EXPECT_EQ(id.name, "ieee:serial");
}

TEST(Identify, UnitsWithoutParametersThatFitAreAllSaid) {
  const Op op = op_from_text("dot a=fp64 b=fp64 c=fp64 d=fp64 k=2 nan=any");
  // 1 + 2^-60 - 1 and 1 - 1 + 2^-60: no row has both, `exact` and x87's 64 bits do.
  constexpr uint64_t one = 0x3ff0000000000000, minus_one = one | uint64_t{1} << 63, small = 0x3c30000000000000;
  Evidence evidence(op);
  Batch batch(op);
  batch.resize(1);
  batch.inputs()[2].set(0, 0, one);
  for (int lane : {0, 1}) {
    for (int i : {0, 1}) {
      batch.inputs()[0].set(0, i, i == lane ? minus_one : small);
      batch.inputs()[1].set(0, i, one);
    }
    evidence.add(batch, 0, small, 0);
  }
  const Identification id = identify_from(std::move(evidence), {});
  EXPECT_EQ(id.verdict, IdentifyVerdict::too_few);
  EXPECT_EQ(id.name, "exact");
  EXPECT_THAT(id.equal_units, testing::Contains("extended:serial"));
  ASSERT_TRUE(id.next_cases);
  Outcomes exact, extended;
  bind_or_fail("exact", op)->run(*id.next_cases, exact);
  bind_or_fail("extended:serial", op)->run(*id.next_cases, extended);
  bool told = false;
  for (size_t i = 0; i < id.next_cases->size(); ++i) told |= exact.results.get(i) != extended.results.get(i);
  EXPECT_TRUE(told);
}

struct KnownOrder {
  const char* unit;
  const char* folded;
};
class Orders : public testing::TestWithParam<KnownOrder> {};
INSTANTIATE_TEST_SUITE_P(Units, Orders,
                         testing::Values(KnownOrder{"ieee:serial", "chain(c 0..15)"},
                                         KnownOrder{"ieee:fma", "chain(c 0f..15f)"}));

TEST_P(Orders, AreRevealedAndReplayed) {
  const Op op = op_from_text("dot a=fp32 b=fp32 c=fp32 d=fp32 k=16 nan=any");
  OrderSettings settings;
  settings.verify = 2000;
  const RevealedOrder order = reveal_order(*bind_or_fail(GetParam().unit, op), op, settings);
  ASSERT_TRUE(order.tree) << order.reason;
  EXPECT_EQ(order.differing, 0u);
  EXPECT_EQ(folded_tree(*order.tree), GetParam().folded);
}

/// A tree drawn at random, replayed by the unit tree:, is found again.
TEST(Order, OfARandomTreeIsRevealed) {
  for (uint64_t n = 0; n < case_count(20, 500); ++n) {
    CounterRng rng(9, n);
    SummationTree tree;
    tree.op = op_from_text("dot a=fp32 b=fp32 c=fp32 d=fp32 k=" + std::to_string(2 + rng.below(60)) + " nan=any");
    tree.accumulator = tree.op.d;
    std::vector<int> parts;
    for (int leaf = 0; leaf <= tree.op.k; ++leaf) parts.push_back(tree.add_leaf(leaf));
    while (parts.size() > 1) {
      const size_t x = rng.below(static_cast<uint32_t>(parts.size()));
      std::swap(parts[x], parts.back());
      const int first = parts.back();
      parts.pop_back();
      const size_t y = rng.below(static_cast<uint32_t>(parts.size()));
      parts[y] = tree.add_sum({parts[y], first});
    }
    tree.root = parts[0];
    for (const bool one_by_one : {false, true}) {
      OrderSettings settings;
      settings.verify = 300;
      settings.asks_one_by_one = one_by_one;
      const RevealedOrder order = reveal_order(*make_tree_unit(tree), tree.op, settings);
      ASSERT_TRUE(order.tree) << order.reason << tree_file_text(tree);
      EXPECT_EQ(order.differing, 0u) << tree_file_text(tree) << tree_file_text(*order.tree);
      const Result<SummationTree> again = parse_tree_file(tree_file_text(*order.tree));
      ASSERT_TRUE(again);
      EXPECT_EQ(tree_file_text(*again), tree_file_text(*order.tree));
    }
  }
}

}  // namespace
}  // namespace mmafuzz
