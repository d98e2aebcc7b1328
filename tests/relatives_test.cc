#include "search/relatives.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "arithmetic/evaluate_dot.h"
#include "core/dot_case.h"
#include "oracles/models/model_rows.h"
#include "plan/request.h"
#include "search/guided_search.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

/// Relatives of one case, drawn often: case 1 is made from case 0.
template <class Look>
void each_relative(const Op& op, const DotModel* model, int draws, const Look& look) {
  const StructuredGenerator generator(op, 5);
  const Mutator mutator(op, corner_hints(model));
  const Relatives relatives(op, model);
  for (int n = 0; n < draws; ++n) {
    Batch batch;
    generator.fill(static_cast<uint64_t>(2 * n), 2, batch);
    CounterRng rng(9, static_cast<uint64_t>(n));
    relatives.make(batch, 1, generator, static_cast<uint64_t>(2 * n + 1), mutator, rng);
    look(batch);
  }
}

/// Elements of all inputs in which case 1 is not as case 0: column and position.
std::vector<std::pair<size_t, int>> changes(const Batch& batch) {
  std::vector<std::pair<size_t, int>> changed;
  for (size_t column = 0; column < batch.inputs().size(); ++column)
    for (int i = 0; i < batch.inputs()[column].count(); ++i)
      if (batch.inputs()[column].get(0, i) != batch.inputs()[column].get(1, i)) changed.push_back({column, i});
  return changed;
}

TEST(Relatives, AreWhatLoopsRepetitionsAndSwitchesMake) {
  const ModelRow& row = *find_model_row("hopper/mma.m16n8k16.f32.f16.f16.f32");
  int same = 0, handed_on = 0, sign = 0, bit = 0, swapped = 0, held = 0;
  each_relative(row.op, &row.model, 4000, [&](const Batch& batch) {
    const auto changed = changes(batch);
    const uint64_t result = evaluate_dot(row.model, DotCase(row.op).load(batch, 0));
    const auto differ = [&](size_t column, int i) {
      return batch.inputs()[column].get(0, i) ^ batch.inputs()[column].get(1, i);
    };
    same += changed.empty();
    handed_on += batch.c().get(1) == result && batch.c().get(0) != result;
    if (changed.size() == 1) {
      const auto [column, i] = changed[0];
      const bool is_sign = differ(column, i) == (column < 2 ? 0x8000u : 0x80000000u);
      sign += is_sign;
      bit += !is_sign && (differ(column, i) & (differ(column, i) - 1)) == 0;
    }
    std::vector<uint64_t> before[2], after[2];
    for (size_t side = 0; side < 2; ++side)
      for (int i = 0; i < row.op.k; ++i) {
        before[side].push_back(batch.inputs()[side].get(0, i));
        after[side].push_back(batch.inputs()[side].get(1, i));
      }
    bool is_swap = !changed.empty() && batch.c().get(0) == batch.c().get(1);
    for (size_t side = 0; side < 2; ++side) {
      std::sort(before[side].begin(), before[side].end());
      std::sort(after[side].begin(), after[side].end());
      is_swap &= before[side] == after[side];
    }
    swapped += is_swap;
    held += changed.size() > 4 && changed.size() < 30;
  });
  for (const int count : {same, handed_on, sign, bit, swapped, held}) EXPECT_GT(count, 100);
}

TEST(Relatives, OfEveryOpAreEncodingsOfIts) {
  for (const char* text :
       {"dot a=s8 b=u8 c=s32 d=s32 k=32", "dot a=e2m1 b=e3m2 c=fp32 d=fp32 k=32 sa=e8m0 sb=e8m0 sblock=32",
        "convert from=fp32 to=e4m3", "scalar fma format=bf16", "gemm a=fp16 b=fp16 c=fp32 d=fp32 m=2 n=2 k=4"}) {
    const Op op = op_from_text(text);
    const std::vector<FieldShape> fields = op.inputs();
    size_t changed = 0;
    each_relative(op, nullptr, 500, [&](const Batch& batch) {
      changed += !changes(batch).empty();
      for (size_t column = 0; column < fields.size(); ++column)
        for (int i = 0; i < fields[column].count; ++i)
          ASSERT_EQ(batch.inputs()[column].get(1, i) & ~fields[column].format.fields().container_mask(), 0u) << text;
    });
    EXPECT_GT(changed, 250u) << text;
  }
}

TEST(Relatives, AnIntegerSumComesBackAsC) {
  const Op op = op_from_text("dot a=s8 b=s8 c=s32 d=s32 k=16");
  int handed_on = 0;
  each_relative(op, nullptr, 1000, [&](const Batch& batch) {
    int64_t sum = static_cast<int32_t>(batch.c().get(0));
    for (int i = 0; i < op.k; ++i)
      sum += static_cast<int8_t>(batch.a().get(0, i)) * static_cast<int8_t>(batch.b().get(0, i));
    handed_on += batch.c().get(1) == static_cast<uint32_t>(sum) && batch.c().get(0) != batch.c().get(1);
  });
  EXPECT_GT(handed_on, 100);
}

/// A round of chunks with nothing but normal numbers, and one in which most cases are like the one before.
TEST(GuidedSearch, HasQuietRoundsAndSequences) {
  const Op op = op_from_text("dot a=e4m3 b=e4m3 c=fp32 d=fp32 k=32");
  std::vector<GuidedSearch::Focus> focuses;
  focuses.push_back({"one", CornerHints{}, make_no_feedback()});
  const GuidedSearch search(op, std::move(focuses), 1);
  int quiet = 0, sequences = 0;
  Batch batch;
  for (uint64_t chunk = 0; chunk < 32; ++chunk) {
    search.propose(chunk, chunk * 1024, 1024, batch);
    bool plain = true;
    int near = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
      int held = 0;
      for (int lane = 0; lane < op.k; ++lane) {
        for (const Column* column : {&batch.a(), &batch.b()}) {
          const Number n = decode(op.a.fields(), column->get(i, lane));
          plain &= n.cls == NumberClass::finite && !n.subnormal;
        }
        held += i > 0 && batch.a().get(i, lane) == batch.a().get(i - 1, lane);
      }
      near += held > op.k / 2;
    }
    quiet += plain;
    sequences += near > 700;
  }
  EXPECT_EQ(quiet, 2);
  EXPECT_EQ(sequences, 2);
}

}  // namespace
}  // namespace mmafuzz
