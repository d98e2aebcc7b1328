// The table of kernels against the kernels. A failure means that who asks it gets a wrong answer.
#include "arithmetic/kernel_table.h"

#include <gtest/gtest.h>

#include <array>

#include "arithmetic/evaluate_dot.h"
#include "core/case_text.h"
#include "core/dot_case.h"
#include "core/text.h"
#include "tests/any_row.h"

namespace mmafuzz {
namespace {

TEST(KernelTable, NamesParametersAlone) {
  std::string settings;
#define KERNEL(name, domain, products, additions, c, carried, of_kernel, does) settings += std::string(of_kernel) + " ";
#include "arithmetic/kernels.def.h"
#undef KERNEL
  for (const std::string& setting : words_of(settings)) EXPECT_TRUE(find_parameter(setting)) << setting;
}

/// The first of a row's cases on which a unit of n products gives something else, printed; empty where none does.
std::string where_calls_differ(const AnyRow& row, int n, uint64_t seed, size_t count) {
  DotModel call = row.model;
  call.k = n;
  const Batch batch = cases_of(row, seed, count);
  DotCase one(row.op);
  for (size_t i = 0; i < batch.size(); ++i)
    if (const DotOperands in = one.load(batch, i); evaluate_dot(row.model, in) != evaluate_dot(call, in))
      return custom_name(row.model, row.op) + " against k=" + std::to_string(n) + "\n" + to_text(row.op) + "\n" +
             case_line(batch, i);
  return "";
}

TEST(KernelTable, AChainOfCallsGivesWhatACallGives) {
  std::array<int, kernels> looked_at = {};
  for (uint64_t number = 0; number < 20'000; ++number) {
    std::optional<AnyRow> row = any_row(11, number);
    if (!row) continue;
    // Several steps, which random rows hardly have.
    DotModel& m = row->model;
    CounterRng rng(12, number);
    m.block = rng.between(1, 5);
    m.k = m.block * rng.between(2, 8);
    row->op.k = m.k * rng.between(1, 2);
    if (rng.one_in(2)) m.d = m.c = (row->op.d = row->op.c = format("fp32")).fields(), m.nan = 0x7fc00000;
    if (!contradiction_in(m).empty()) continue;
    const int n = products_per_call(m);
    DotModel call = m;
    call.k = n;
    if (n == m.k || !contradiction_in(call).empty()) continue;
    ++looked_at[static_cast<size_t>(m.kernel)];
    EXPECT_EQ(where_calls_differ(*row, n, number, 64), "");
  }
  for (const ModelRow& row : model_rows()) {
    const AnyRow whole = {row.op, row.model};
    if (products_per_call(row.model) == row.model.k) continue;
    EXPECT_EQ(where_calls_differ(whole, products_per_call(row.model), 1, 300), "") << row.name();
  }
  for (size_t kernel = 0; kernel < looked_at.size(); ++kernel) {
    const bool has_steps = traits_of(static_cast<Kernel>(kernel)).carried != KernelTraits::Carried::each_instruction;
    EXPECT_EQ(looked_at[kernel] > 20, has_steps) << kernel;
  }
}

/// Emulated FP8 adds c = 2^24 to the sum of both ones; apart, each is lost to a tie.
TEST(KernelTable, EmulatedFp8IsNoChainOfBlocks) {
  const ModelRow& row = *find_model_row("hopper/mma.m16n8k32.f32.e4m3.e4m3.f32");
  EXPECT_EQ(products_per_call(row.model), 32);
  DotModel half = row.model;
  half.k = 16;
  std::array<uint64_t, 32> ones = {0x38};
  ones[16] = 0x38;
  DotOperands in;
  in.a = in.b = ones.data();
  in.c = 0x4b800000;
  in.k = 32;
  EXPECT_EQ(evaluate_dot(row.model, in), 0x4b800001u);
  EXPECT_EQ(evaluate_dot(half, in), 0x4b800000u);
}

/// CDNA2 reads an instruction's c of -0 as +0, a block's it keeps (N6). c = -2^-126 - 2^-149 and a product of 2^-126
/// leave -2^-149, which is flushed to -0; the other products underflow to -0.
TEST(KernelTable, InstructionsOfCdna2AreNoChainsOfBlocks) {
  const DotModel &one = find_model_row("cdna2/mfma_1k.16x16x16.f32.bf16.bf16.f32")->model,
                 &two = find_model_row("cdna2/mfma_1k.32x32x8.f32.bf16.bf16.f32")->model;
  std::array<uint64_t, 16> a, b;
  a.fill(0x8080);
  b.fill(0x0080);
  a[0] = 0x3f80;
  DotOperands in;
  in.a = a.data();
  in.b = b.data();
  in.c = 0x80800001;
  in.k = 16;
  EXPECT_EQ(evaluate_dot(one, in), 0x80000000u);
  EXPECT_EQ(evaluate_dot(two, in), 0u);
  EXPECT_FALSE(same_arithmetic(one, two));
}

}  // namespace
}  // namespace mmafuzz
