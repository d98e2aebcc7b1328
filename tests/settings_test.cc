// Each value of each setting that a kernel takes is honoured, by the kernel and by its slow twin: some case shows it
// beside each other value, or no row has both.
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "arithmetic/evaluate_dot.h"
#include "core/case_text.h"
#include "core/dot_case.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/parameters.h"
#include "oracles/models/slow_twin.h"
#include "plan/request.h"
#include "tests/any_row.h"
#include "tests/case_count.h"

namespace mmafuzz {
namespace {

Batch case_of(const std::string& op, const std::string& operands) {
  CaseBlock block;
  CaseReader reader("hand", "mmafuzz-cases 1\nop " + op + "\n" + operands + "\n");
  reader.next(block, 1);
  EXPECT_EQ(block.batch.size(), 1u) << (reader.error() ? reader.error()->to_string() : "");
  return block.batch;
}

/// The first rows of one's own of each kernel, each with cases.
struct RowWithCases {
  AnyRow row;
  Batch batch;
};
const std::vector<RowWithCases>& rows_of(Kernel kernel) {
  static const auto all = [] {
    std::map<Kernel, std::vector<RowWithCases>> found;
    const auto add = [&](const char* op, const char* settings, const char* operands = nullptr) {
      AnyRow row;
      row.op = op_from_text(op);
      row.model = *with_overrides(custom_model(row.op), settings);
      Batch batch = operands ? case_of(op, operands) : cases_of(row, 7, 2000);
      found[row.model.kernel].push_back({std::move(row), std::move(batch)});
    };
    // What random rows hardly have: sums with more bits than fp32 holds; blocks enough to be dealt in turn.
    add("dot a=e2m1 b=e2m1 c=fp32 d=fp16 k=16 sa=e8m0 sb=e8m0 sblock=16",
        "kernel=grouped_sum,fraction_bits=40,output_rounding=up");
    add("dot a=fp16 b=fp16 c=fp32 d=fp32 k=8", "kernel=fma_then_add,k=8,block=2");
    // 2^-14 - 2^-27 is below the least normal number, which it rounds to.
    add("dot a=fp16 b=fp16 c=fp16 d=fp16 k=1",
        "kernel=fma_chain,k=1,output_rounding=nearest_even,subnormals=flushed_signed", "8400 | 0800 | 0400");
    for (uint64_t n = 0; n < 60'000; ++n) {
      std::optional<AnyRow> row = any_row(7, n);
      if (!row || found[row->model.kernel].size() >= 1500) continue;
      Batch batch = cases_of(*row, n, 64);
      found[row->model.kernel].push_back({std::move(*row), std::move(batch)});
    }
    return found;
  }();
  return all.at(kernel);
}

/// Two values of a setting: the first case that shows a difference, on which kernel and twin agree; or that no row has
/// both of them.
enum class Shown { no, yes, never_together };
Shown show(Kernel kernel, const Parameter& p, int64_t x, int64_t y) {
  bool together = false;
  for (const RowWithCases& r : rows_of(kernel)) {
    DotModel with_x = r.row.model, with_y = r.row.model;
    const int64_t base = p.words.empty() ? p.get(r.row.model) : 0;
    p.set(with_x, base + x);
    p.set(with_y, base + y);
    if (p.words.empty() && !p.is_nan && (base + x < p.least || base + y > p.greatest)) continue;
    if (!contradiction_in(with_x).empty() || !contradiction_in(with_y).empty()) continue;
    together = true;
    DotCase one(r.row.op);
    for (size_t i = 0; i < r.batch.size(); ++i) {
      const DotOperands& in = one.load(r.batch, i);
      if (evaluate_dot(with_x, in) == evaluate_dot(with_y, in)) continue;
      for (const DotModel& m : {with_x, with_y})
        EXPECT_EQ(to_hex(r.row.op.d, slow_twin_dot(m, in)), to_hex(r.row.op.d, evaluate_dot(m, in)))
            << custom_name(m, r.row.op) << "\n"
            << to_text(r.row.op) << "\n"
            << case_line(r.batch, i);
      return Shown::yes;
    }
  }
  return together ? Shown::no : Shown::never_together;
}

class SettingsOfAKernel : public testing::TestWithParam<uint32_t> {
 protected:
  Kernel kernel() const { return static_cast<Kernel>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Kernels, SettingsOfAKernel, testing::Range(0u, kernels));

TEST_P(SettingsOfAKernel, AreHonouredInEachValue) {
  for (const Parameter& p : parameters()) {
    if (!p.used_by(kernel()) || std::string_view(p.name) == "kernel") continue;
    const std::string& name = find_parameter("kernel")->words[GetParam()];
    if (p.words.empty()) {
      Shown shown = Shown::never_together;
      for (int64_t step = 1; shown == Shown::never_together && step <= 4; ++step) shown = show(kernel(), p, 0, step);
      EXPECT_TRUE(shown == Shown::yes) << name << " computes the same with any " << p.name;
      continue;
    }
    for (size_t y = 1; y < p.words.size(); ++y)
      for (size_t x = 0; x < y; ++x)
        EXPECT_TRUE(show(kernel(), p, int64_t(x), int64_t(y)) != Shown::no)
            << name << " computes the same with " << p.name << "=" << p.words[x] << " and " << p.words[y];
  }
}

/// Subnormal operands read as zeros, and no result is subnormal.
TEST_P(SettingsOfAKernel, FlushOperandsAndResults) {
  const Parameter& p = *find_parameter("subnormals");
  if (!p.used_by(kernel())) GTEST_SKIP() << "declined";
  size_t subnormal_without = 0;
  for (const RowWithCases& r : rows_of(kernel())) {
    const Op& op = r.row.op;
    for (const Subnormals rule :
         {Subnormals::flushed, Subnormals::flushed_signed, Subnormals::flushed_of_fp32, Subnormals::flushed_of_fp16}) {
      DotModel kept = r.row.model, flushed = r.row.model;
      kept.subnormals = Subnormals::kept;
      flushed.subnormals = rule;
      flushed.flushed = FlushedNumbers::both;
      if (!contradiction_in(flushed).empty() || !flushes(rule, op.d.fields())) continue;
      // On the cores of fma_then_add fp32 numbers are flushed, and the last conversion keeps what is subnormal in d.
      if (kernel() == Kernel::fma_then_add && (op.d.name() != "fp32" || op.a.fields().emin() != -126)) continue;
      DotCase one(op);
      for (size_t i = 0; i < r.batch.size(); i += case_count(4, 1)) {
        const DotOperands& in = one.load(r.batch, i);
        subnormal_without += decode(op.d.fields(), evaluate_dot(kept, in)).subnormal;
        for (const uint64_t result : {evaluate_dot(flushed, in), slow_twin_dot(flushed, in)})
          ASSERT_FALSE(decode(op.d.fields(), result).subnormal) << custom_name(flushed, op) << "\n"
                                                                << to_text(op) << "\n"
                                                                << case_line(r.batch, i);
      }
    }
  }
  EXPECT_GT(subnormal_without, 20u);
}

/// One bf16 product and an fp32 c, worked by hand in units of 2^-149.
struct Flushed {
  const char *operands, *kept, *flushed, *flushed_signed;
};
class FlushedResults : public testing::TestWithParam<Flushed> {};
INSTANTIATE_TEST_SUITE_P(
    Cases, FlushedResults,
    testing::Values(
        // -129 * 2^-133 times 129 * 2^-9 is -16641 * 2^7 = -0x208080 units.
        Flushed{"8081 | 3e81 | 00000000", "80208080", "80000000", "80000000"},
        // -2^-133 is read as +0 or -0, which with c = +0 gives +0.
        Flushed{"8001 | 3f80 | 00000000", "80010000", "00000000", "00000000"},
        // 255 * 2^-71 times 255 * 2^-70 is 65025 * 2^8 = 0xfe0100 units: normal, it stays.
        Flushed{"1fff | 207f | 00000000", "00fe0100", "00fe0100", "00fe0100"},
        // c = 2^-126 - 2^-149 is read as 0 beside 2^-126.
        Flushed{"0080 | 3f80 | 007fffff", "00ffffff", "00800000", "00800000"},
        // 2^-126 - 2^-150 is a tie that becomes 2^-126; 24 bits hold it, so that it is tiny (IEEE 754-2019, 7.5).
        Flushed{"a680 | 0d80 | 00800000", "00800000", "00800000", "00000000"}));

TEST_P(FlushedResults, AreThoseWorkedByHand) {
  const Op op = op_from_text("dot a=bf16 b=bf16 c=fp32 d=fp32 k=1");
  CaseBlock block;
  const std::string text =
      std::string("mmafuzz-cases 1\nop dot a=bf16 b=bf16 c=fp32 d=fp32 k=1\n") + GetParam().operands + "\n";
  CaseReader reader("hand", text);
  reader.next(block, 1);
  ASSERT_EQ(block.batch.size(), 1u) << (reader.error() ? reader.error()->to_string() : "");
  for (const std::string kernel : {"exact_sum,block=1", "two_stage_sum,block=1,fraction_bits=24", "fma_chain",
                                   "fused_sum,block=1,fraction_bits=30,zero_rule=clamp,zero_exponent=-200"})
    for (const auto& [rule, want] : {std::pair{"kept", GetParam().kept}, std::pair{"flushed", GetParam().flushed},
                                     std::pair{"flushed_signed", GetParam().flushed_signed}}) {
      const Result<DotModel> m =
          with_overrides(custom_model(op), "kernel=" + kernel + ",k=1,output_rounding=nearest_even,subnormals=" + rule);
      ASSERT_TRUE(m) << m.refusal().reason;
      DotCase one(op);
      const DotOperands& in = one.load(block.batch, 0);
      EXPECT_EQ(to_hex(op.d, evaluate_dot(*m, in)), want) << kernel << " " << rule;
      EXPECT_EQ(to_hex(op.d, slow_twin_dot(*m, in)), want) << "twin of " << kernel << " " << rule;
    }
}

/// Arm's FPCR, worked by hand from FPUnpack, FPMulAdd and FPRoundBase of the Arm ARM.
TEST(FlushedNumbers, AreThoseThatFpcrNames) {
  struct Case {
    const char *row, *op, *operands;
    std::array<const char*, 6> results;  // of no bit, FZ, FIZ, FZ with AH, FZ and FIZ with AH, FZ16
  };
  const Case cases[] = {
      // 2^-126 - 2^-151 rounds to 2^-126, with any least exponent: tiny before rounding alone.
      {"model:arm/fmla.k1.f32.f32.f32.f32",
       "dot a=fp32 b=fp32 c=fp32 d=fp32 k=1",
       "9a000000 | 19800000 | 00800000",
       {"00800000", "00000000", "00800000", "00800000", "00800000", "-"}},
      // c = -2^-149 is read as -0 where operands are flushed, and +0 joins it; elsewhere the result is.
      {"model:arm/fmla.k1.f32.f32.f32.f32",
       "dot a=fp32 b=fp32 c=fp32 d=fp32 k=1",
       "00000000 | 3f800000 | 80000001",
       {"80000001", "00000000", "00000000", "80000000", "00000000", "-"}},
      // The product 2^-24 * 1 of fp16: a is subnormal.
      {"model:arm/fmlal.k1.f32.f16.f16.f32",
       "dot a=fp16 b=fp16 c=fp32 d=fp32 k=1",
       "0001 | 3c00 | 80000001",
       {"33800000", "33800000", "33800000", "33800000", "33800000", "80000001"}},
      // Two steps: 2^-149 is the first one's result, and the second one's operand.
      {"model:arm/fmla.k1.f32.f32.f32.f32",
       "dot a=fp32 b=fp32 c=fp32 d=fp32 k=2",
       "00800000 00000000 | 34000000 3f800000 | 00000000",
       {"00000001", "00000000", "00000000", "00000000", "00000000", "-"}}};
  const char* const words[] = {"",
                               "tininess=before,subnormals=",
                               "flushed=operands,subnormals=",
                               "flushed=results,subnormals=",
                               "subnormals=",
                               "tininess=before,subnormals=flushed_of_fp16"};
  for (const Case& one : cases) {
    const Op op = op_from_text(one.op);
    const Batch batch = case_of(one.op, one.operands);
    const std::string of_fp32 = op.a.name() == "fp16" ? "flushed_of_fp32" : "flushed_signed";
    for (size_t i = 0; i < std::size(words); ++i) {
      if (one.results[i] == std::string("-")) continue;
      const std::string overrides = words[i] + (i > 0 && i < 5 ? of_fp32 : "");
      const Result<DotModel> m = with_overrides(find_model_row(std::string(one.row).substr(6))->model, overrides);
      ASSERT_TRUE(m) << m.refusal().reason;
      DotCase loaded(op);
      const DotOperands& in = loaded.load(batch, 0);
      EXPECT_EQ(to_hex(op.d, evaluate_dot(*m, in)), one.results[i])
          << one.row << " " << overrides << " " << one.operands;
      EXPECT_EQ(to_hex(op.d, slow_twin_dot(*m, in)), one.results[i]) << "twin, " << overrides << " " << one.operands;
    }
  }
}

/// A NaN of c is handed on where it has a payload. The one NaN of a binary8 or fnuz format has none, and no sign.
TEST(NansOfC, AreHandedOnWhereTheyHavePayloads) {
  for (const auto& [c, handed_on] : {std::pair{"fp32", true},
                                     {"e5m2", true},
                                     {"binary8p4se", false},
                                     {"e4m3", false},
                                     {"e5m2fnuz", false},
                                     {"ue4m3", false}}) {
    const Op op = op_from_text(std::string("dot a=fp16 b=fp16 c=") + c + " d=fp32 k=2");
    for (const bool quieted : {false, true}) {
      const Result<DotModel> m = with_overrides(
          custom_model(op), std::string("kernel=floored_sum,nan_of_c=") + (quieted ? "quieted" : "replaced"));
      EXPECT_EQ(bool(m), handed_on || !quieted) << c;
    }
  }
}

/// QNaN floating-point indefinite ([SDM] vol. 1, 4.8.3.7) is negative; of ACE's FP8 that is open (A2, docs/units.md).
TEST(NansOfX86, AreNegativeWhereTheyAreNoOperands) {
  for (const ModelRow& row : model_rows()) {
    if (row.arch != "x86" || row.instruction.starts_with("top4mx")) continue;
    EXPECT_TRUE(decode(row.model.d, row.model.nan).negative) << row.name();
  }
}

/// POWER10's forms, worked by hand from the Power ISA 3.1: those of 16-bit operands negate the rounded sum and c, those
/// of fp32 c and the rounded result; NaNs stay.
TEST(Forms, NegateWhatIsRoundedAndNoNan) {
  struct Formed {
    const char *instruction, *operands;
    std::array<const char*, 5> results;  // of the form without c, PP, PN, NP, NN
  };
  const Formed all[] = {
      // s = 1, c = 1: -(1 - 1) is -0, and -1 + 1 is +0.
      {"xvf32ger", "3f800000 | 3f800000 | 3f800000", {"3f800000", "40000000", "00000000", "80000000", "c0000000"}},
      {"xvf16ger2", "3c00 0000 | 3c00 0000 | 3f800000", {"3f800000", "40000000", "00000000", "00000000", "c0000000"}},
      // s = +0, c = +0.
      {"xvf32ger", "00000000 | 00000000 | 00000000", {"00000000", "00000000", "00000000", "80000000", "80000000"}},
      {"xvf16ger2", "0000 0000 | 0000 0000 | 00000000", {"00000000", "00000000", "00000000", "00000000", "80000000"}},
      // c is a NaN.
      {"xvf32ger", "3f800000 | 3f800000 | 7fa00001", {"3f800000", "7fe00001", "7fe00001", "7fe00001", "7fe00001"}},
      {"xvf16ger2", "3c00 0000 | 3c00 0000 | ffc00001", {"3f800000", "ffc00001", "ffc00001", "ffc00001", "ffc00001"}},
      // The products are one.
      {"xvf32ger", "ffc00002 | 3f800000 | 3f800000", {"ffc00002", "ffc00002", "ffc00002", "ffc00002", "ffc00002"}},
  };
  for (const Formed& one : all)
    for (size_t form = 0; form < 5; ++form) {
      const bool of_pairs = std::string_view(one.instruction) == "xvf16ger2";
      const std::string name = std::string("power10/") + one.instruction +
                               std::array{"", "pp", "pn", "np", "nn"}[form] +
                               (of_pairs ? ".k2.f32.f16.f16.f32" : ".k1.f32.f32.f32.f32");
      const ModelRow* row = find_model_row(name);
      ASSERT_TRUE(row) << name;
      CaseBlock block;
      const std::string text = "mmafuzz-cases 1\n" + to_text(row->op) + "\n" + one.operands + "\n";
      CaseReader reader("hand", text);
      reader.next(block, 1);
      ASSERT_EQ(block.batch.size(), 1u) << (reader.error() ? reader.error()->to_string() : "");
      DotCase dot(row->op);
      const DotOperands& in = dot.load(block.batch, 0);
      EXPECT_EQ(to_hex(row->op.d, evaluate_dot(row->model, in)), one.results[form]) << name << " " << one.operands;
      EXPECT_EQ(to_hex(row->op.d, slow_twin_dot(row->model, in)), one.results[form]) << name << " " << one.operands;
    }
}

}  // namespace
}  // namespace mmafuzz
