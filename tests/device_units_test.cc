// Device units without a device: everything but the instruction itself. A false child runs the host twins of the
// kernels behind the real protocol, or fails in each way that a device can.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "arithmetic/corner_encodings.h"
#include "core/case_text.h"
#include "gpu_bridge/instructions/core_instructions.h"
#include "gpu_bridge/kernels/core_cases.h"
#include "gpu_bridge/families/device_units.h"
#include "gpu_bridge/device/device_child.h"
#include "oracles/families.h"
#include "oracles/models/model_rows.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

const unsigned all_archs[] = {arch::sm75, arch::sm80, arch::sm86, arch::sm89, arch::sm90, arch::sm100, arch::sm120};
constexpr const char* capabilities[] = {"75", "80", "86", "89", "90", "100", "120"};

/// A registry whose cuda: units speak to a false child.
Registry registry_with(const std::string& mode, const std::string& capability = "90", int patience = 20000) {
  setenv("FALSE_DEVICE", mode.c_str(), 1);
  setenv("FALSE_DEVICE_ARCH", capability.c_str(), 1);
  Registry registry = oracle_registry();
  const std::string program = std::string(MMAFUZZ_BINARY_DIR) + "/tests/false_device_child";
  const auto child =
      std::make_shared<DeviceChild>(std::vector<std::string>{program}, std::chrono::milliseconds(patience));
  registry.add(make_core_family(child));
  registry.add(make_device_family(child));
  registry.add(make_except_nan_family());
  registry.add(make_relu_family());
  return registry;
}

Batch structured(const Op& op, size_t cases) {
  Batch batch;
  StructuredGenerator(op, 5).fill(0, cases, batch);
  return batch;
}

TEST(Instructions, EveryClaimedModelIsARow) {
  size_t claims = 0;
  for (const Instruction& i : instructions())
    for (const unsigned on : all_archs) {
      const std::string model = claimed_model(i, on);
      if (model.empty()) continue;
      ++claims;
      const ModelRow* row = find_model_row(model.substr(6));
      ASSERT_NE(row, nullptr) << i.name << " claims " << model;
      EXPECT_EQ(row->op.a, i.op.a) << model;
      EXPECT_EQ(row->op.b, i.op.b) << model;
      EXPECT_EQ(row->op.c, i.op.c) << model;
      EXPECT_EQ(row->op.d, i.op.d) << model;
      EXPECT_EQ(row->op.scale_block, i.op.scale_block) << model;
    }
  EXPECT_GT(claims, 100u);
}

TEST(Instructions, NamesAreUnique) {
  for (size_t i = 0; i < instructions().size(); ++i)
    EXPECT_EQ(find_instruction(instructions()[i].name), static_cast<int>(i));
}

TEST(DeviceUnits, TheHostTwinOfEveryKernelGivesTheModelsResults) {
  size_t units = 0;
  for (size_t at = 0; at < std::size(all_archs); ++at) {
    const Registry registry = registry_with("twin", capabilities[at]);
    for (const Instruction& i : instructions()) {
      const std::string claimed = claimed_model(i, all_archs[at]);
      if (claimed.empty()) continue;
      Op op = i.op;
      for (const int k : {i.op.k, i.op.k - 1, 2 * i.op.k, 2 * i.op.k + 1}) {  // whole, padded, in steps
        if (k > i.op.k && !(op.c == op.d)) continue;
        if (i.shape.family == TileFamily::wmma && k % i.op.k != 0) continue;  // declined
        op.k = k;
        const auto unit = registry.bind("cuda:" + i.name, op), model = registry.bind(claimed, op);
        ASSERT_TRUE(unit) << unit.refusal().reason;
        ASSERT_TRUE(model) << model.refusal().reason;
        const Batch batch = structured(op, 61);  // not a whole number of tiles
        Outcomes got, expected;
        (*unit)->run(batch, got);
        (*model)->run(batch, expected);
        for (size_t c = 0; c < batch.size(); ++c)
          ASSERT_EQ(got.results.get(c), expected.results.get(c))
              << i.name << " on sm_" << capabilities[at] << ": " << case_line(batch, c);
        ++units;
      }
    }
  }
  EXPECT_GT(units, 300u);
}

/// Operands of scalar operations and conversions: specials, and numbers around one.
Batch corners(const Op& op, size_t cases) {
  Batch batch(op);
  batch.resize(cases);
  Column& operands = batch.inputs()[0];
  for (size_t i = 0; i < cases; ++i) {
    CounterRng rng(11, i);
    for (int j = 0; j < operands.count(); ++j)
      operands.set(i, j,
                   rng.one_in(4) ? draw_special(op.a.fields(), rng)
                                 : encode_near(op.a.fields(), rng.next() & 1 && op.a.fields().has_sign(),
                                               rng.between(-20, 20), draw_fraction(op.a.fields(), rng)));
  }
  return batch;
}

TEST(CoreUnits, EveryRowIsAskedWhatItsOpSays) {
  const Registry registry = registry_with("twin", "120");
  for (const CoreInstruction& i : core_instructions()) {
    Op op = i.op;
    op.nan = NanPolicy::any;
    const bool relu = i.relu();
    const auto unit = registry.bind("cuda:" + i.unit, op), model = registry.bind(relu ? "relu:ieee" : "ieee", op);
    ASSERT_TRUE(unit) << i.unit << ": " << unit.refusal().reason;
    ASSERT_TRUE(model) << model.refusal().reason;
    const bool keeps_result = op.flush_to_zero && op.kind == OpKind::convert && op.d.name() == "fp16";  // docs/gpu.md
    EXPECT_EQ((*unit)->claims().empty(), i.claim == IeeeClaim::none || keeps_result) << i.unit;
    const Batch batch = corners(op, 100);
    Outcomes got, expected;
    (*unit)->run(batch, got);
    (*model)->run(batch, expected);
    for (size_t c = 0; c < batch.size(); ++c) {
      ASSERT_TRUE(expected.has_answer(c)) << i.ptx << ": " << case_line(batch, c);
      ASSERT_EQ(got.results.get(c), expected.results.get(c)) << i.ptx << ": " << case_line(batch, c);
    }
  }
}

/// Takes two cases of one operand; its results tell which case stood where.
struct TakesPairs {
  static constexpr uint64_t cases = 2;
  static void run(const uint64_t* in, uint64_t* out) {
    out[0] = 10 * in[0] + 1;
    out[1] = 10 * in[1] + 2;
    ASSERT_EQ(in[2], 0u);
  }
};

TEST(CoreUnits, PackedCasesKeepTheirPlaceAndAnOddLastOneIsAlone) {
  for (const uint64_t count : {1, 2, 3, 6, 7}) {
    std::vector<uint64_t> operands(count + 1), results(count + 1, 999);  // one more than there are
    std::iota(operands.begin(), operands.end(), 1);
    for (uint64_t i = 0; i * TakesPairs::cases < count; ++i)
      run_cases<TakesPairs>(i, operands.data(), 1, results.data(), count);
    for (uint64_t j = 0; j < count; ++j) EXPECT_EQ(results[j], 10 * operands[j] + 1 + j % 2) << count;
    EXPECT_EQ(results[count], 999u);
  }
}

TEST(CoreUnits, WhatNoSourceDescribesClaimsNothing) {
  const Registry registry = registry_with("twin", "120");
  Op op;
  op.kind = OpKind::convert;
  op.d = format("e2m1");
  op.saturate = true;
  op.nan = NanPolicy::any;
  for (const char* form : {"cuda:cvt.e2m1.", "cuda:cvt.relu.e2m1."})
    for (const auto& [name, source, claims] : {std::tuple{"f16", "fp16", 0u}, {"f32", "fp32", 1u}}) {
      op.a = format(source);
      const auto unit = registry.bind(std::string(form) + name, op);
      ASSERT_TRUE(unit) << unit.refusal().reason;
      EXPECT_EQ((*unit)->claims().size(), claims) << form << name;
    }
}

TEST(CoreUnits, ReluLeavesNoNegativeNumberAndNoMinusZero) {
  const Registry registry = registry_with("twin", "120");
  Op op;
  op.kind = OpKind::convert;
  op.a = format("fp32");
  op.d = format("fp16");
  op.nan = NanPolicy::any;
  const auto unit = registry.bind("cuda:cvt.relu.f16x2.f32", op);
  ASSERT_TRUE(unit) << unit.refusal().reason;
  ASSERT_EQ((*unit)->claims().size(), 1u);
  const auto reference = registry.bind((*unit)->claims()[0].detail, op);
  ASSERT_TRUE(reference) << reference.refusal().reason;
  struct Row {
    uint64_t source, result;
  };
  const Row rows[] = {{0x3f800000, 0x3c00}, {0xbf800000, 0}, {0xff800000, 0}, {0x7f800000, 0x7c00}, {0, 0},
                      {0x80000000, 0},      {0x80000001, 0}, {0xb3800001, 0}};  // the last but one rounds to -0
  Batch batch(op);
  batch.resize(std::size(rows));
  for (size_t c = 0; c < std::size(rows); ++c) batch.inputs()[0].set(c, 0, rows[c].source);
  Outcomes expected;
  (*reference)->run(batch, expected);
  for (size_t c = 0; c < std::size(rows); ++c) {
    ASSERT_TRUE(expected.has_answer(c)) << std::hex << rows[c].source;
    EXPECT_EQ(expected.results.get(c), rows[c].result) << std::hex << rows[c].source;
  }
  Batch nan(op);
  nan.resize(1);
  nan.inputs()[0].set(0, 0, 0xffc00000);
  Outcomes of_nan;
  (*reference)->run(nan, of_nan);
  EXPECT_TRUE(of_nan.has_answer(0) && (of_nan.results.get(0) & 0x7fff) > 0x7c00);
}

TEST(CoreUnits, RowsOfAUnitDifferInWhatAnOpAsksFor) {
  for (size_t i = 0; i < core_instructions().size(); ++i)
    EXPECT_EQ(find_core_instruction(core_instructions()[i].unit, core_instructions()[i].op), static_cast<int>(i));
}

TEST(CoreUnits, ARoundingThatNoInstructionHasIsDeclined) {
  Op op = core_instructions()[size_t(0)].op;
  op.rounding = Rounding::nearest_away;
  const auto unit = registry_with("twin").bind("cuda:add.f32", op);
  ASSERT_FALSE(unit);
  EXPECT_EQ(unit.refusal().kind, Refusal::Kind::declined);
  EXPECT_THAT(unit.refusal().reason, HasSubstr("round=up"));
}

TEST(CoreUnits, BulkConvertsAsTheHostDoes) {
  const Registry registry = registry_with("twin");
  for (const char* source : {"fp32", "bf16"})
    for (const char* to : {"e4m3", "cfloat8_1_4_3:7", "fp16"})
      for (const Rounding rounding : {Rounding::nearest_even, Rounding::down, Rounding::stochastic}) {
        Op op;
        op.kind = OpKind::convert;
        op.a = format(source);
        op.d = format(to);
        op.rounding = rounding;
        op.seed = 7;
        const Batch batch = corners(op, 300);
        Outcomes got, expected;
        (*registry.bind("cuda:bulk", op))->run(batch, got);
        (*registry.bind("ieee", op))->run(batch, expected);
        for (size_t c = 0; c < batch.size(); ++c) {
          ASSERT_EQ(got.results.get(c), expected.results.get(c)) << to_text(op) << ": " << case_line(batch, c);
          ASSERT_EQ(got.flags[c], expected.flags[c]) << to_text(op) << ": " << case_line(batch, c);
        }
      }
}

TEST(CoreUnits, ALostDeviceKeepsTheBatch) {
  const fs::path folder = fs::temp_directory_path() / ("mmafuzz-core-losses-" + std::to_string(getpid()));
  fs::create_directory(folder);
  setenv("MMAFUZZ_DEVICE_LOSSES", folder.c_str(), 1);
  const Registry registry = registry_with("crash");
  const Op op = core_instructions()[0].op;
  Outcomes outcomes;
  testing::internal::CaptureStderr();
  (*registry.bind("cuda:add.f32", op))->run(corners(op, 5), outcomes);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("device lost: cuda:add.f32: the device child closed the connection"));
  for (size_t i = 0; i < 5; ++i) EXPECT_FALSE(outcomes.has_answer(i));
  EXPECT_FALSE(fs::is_empty(folder));
  fs::remove_all(folder);
}

TEST(DeviceUnits, PlacementChangesPlacesButNotResults) {
  const Registry registry = registry_with("twin");
  for (const char* name :
       {"mma.m16n8k16.f32.f16.f16.f32", "wgmma.m64n8k16.f32.f16.f16.f32", "mma.m8n8k4.f64.f64.f64.f64"}) {
    const Instruction& i = instructions()[size_t(find_instruction(name))];
    const Batch batch = structured(i.op, 100);
    Outcomes first, second;
    (*registry.bind(std::string("cuda:") + name, i.op))->run(batch, first);
    (*registry.bind(std::string("cuda:") + name + "?placement=7", i.op))->run(batch, second);
    size_t moved = 0;
    for (size_t c = 0; c < batch.size(); ++c) {
      EXPECT_EQ(first.results.get(c), second.results.get(c));
      const Slot x = slot_of_case(i.shape, c, 0), y = slot_of_case(i.shape, c, 7);
      moved += x.row != y.row || x.column != y.column;
    }
    EXPECT_GT(moved, batch.size() / 2);
  }
}

/// Wherever wgmma reads its operands from, the results are the model's; what has no form is declined.
TEST(DeviceUnits, OperandsOfWgmmaMayLieInSharedMemoryTransposed) {
  const Registry registry = registry_with("twin");
  const std::string f16 = "wgmma.m64n256k16.f32.f16.f16.f32", s8 = "wgmma.m64n64k32.s32.s8.s8.s32";
  const auto op_of = [](const std::string& name) { return instructions()[size_t(find_instruction(name))].op; };
  const Batch batch = structured(op_of(f16), 100);
  Outcomes plain;
  (*registry.bind("model:hopper/" + f16, op_of(f16)))->run(batch, plain);
  for (const char* form :
       {"", "?shared_a=1", "?transpose_b=1", "?shared_a=1,transpose_a=1", "?shared_a=1,transpose_a=1,transpose_b=1"}) {
    Outcomes got;
    (*registry.bind("cuda:" + f16 + form, op_of(f16)))->run(batch, got);
    for (size_t c = 0; c < batch.size(); ++c) ASSERT_EQ(got.results.get(c), plain.results.get(c)) << form;
  }
  EXPECT_FALSE(registry.bind("cuda:" + f16 + "?transpose_a=1", op_of(f16)));
  EXPECT_FALSE(registry.bind("cuda:" + s8 + "?transpose_b=1", op_of(s8)));
  EXPECT_FALSE(registry.bind("cuda:" + s8 + "?negate_a=1", op_of(s8)));
  EXPECT_TRUE(registry.bind("cuda:" + s8 + "?shared_a=1", op_of(s8)));
}

TEST(DeviceUnits, CasesOfATileHaveRowsAndColumnsOfTheirOwn) {
  for (const Instruction& i : instructions())
    for (uint64_t tile = 0; tile < 8; ++tile) {
      std::vector<bool> rows(size_t(i.shape.rows())), columns(size_t(i.shape.columns()));
      for (uint64_t c = 0; c < uint64_t(i.shape.slots()); ++c) {
        const Slot slot = slot_of_case(i.shape, tile * uint64_t(i.shape.slots()) + c, 3);
        EXPECT_EQ(slot.tile, tile);
        EXPECT_EQ(slot.b_column, i.shape.b_column(slot.row, slot.column));
        EXPECT_FALSE(rows[size_t(slot.row)] || columns[size_t(slot.b_column)]) << i.name;
        rows[size_t(slot.row)] = columns[size_t(slot.b_column)] = true;
      }
    }
}

struct Loss {
  const char* mode;
  const char* finding;
};
class DeviceLosses : public ::testing::TestWithParam<Loss> {};

TEST_P(DeviceLosses, EndTheChildAndKeepTheBatch) {
  const fs::path folder = fs::temp_directory_path() / ("mmafuzz-losses-" + std::to_string(getpid()));
  fs::remove_all(folder);
  fs::create_directory(folder);
  setenv("MMAFUZZ_DEVICE_LOSSES", folder.c_str(), 1);
  const Registry registry = registry_with(GetParam().mode, "90", 700);
  const Op op = dot_op("fp16", "fp32", "fp32", 16);
  const auto unit = registry.bind("cuda:mma.m16n8k16.f32.f16.f16.f32", op);
  ASSERT_TRUE(unit) << unit.refusal().reason;
  const Batch batch = structured(op, 20);
  Outcomes outcomes;
  testing::internal::CaptureStderr();
  (*unit)->run(batch, outcomes);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(GetParam().finding));
  for (size_t i = 0; i < batch.size(); ++i) EXPECT_FALSE(outcomes.has_answer(i));
  size_t kept = 0;
  for (const auto& file : fs::directory_iterator(folder)) {
    CaseReader reader(file.path());
    CaseBlock block;
    while (reader.next(block, 4096)) kept += block.batch.size();
    EXPECT_FALSE(reader.error());
  }
  EXPECT_EQ(kept, batch.size());
  setenv("FALSE_DEVICE", "twin", 1);  // the device is back: a new child answers
  (*unit)->run(batch, outcomes);
  EXPECT_TRUE(outcomes.has_answer(0));
  setenv("FALSE_DEVICE", GetParam().mode, 1);
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Ways, DeviceLosses,
                         ::testing::Values(Loss{"crash", "Segmentation fault"}, Loss{"hang", "gave no answer in time"},
                                           Loss{"garbage", "sent what is no answer"},
                                           Loss{"fail", "unspecified launch failure"}),
                         [](const auto& info) { return info.param.mode; });

TEST(DeviceLosses, TheThreadThatStartedTheChildMayEnd) {
  setenv("FALSE_DEVICE", "twin", 1);
  DeviceChild child({std::string(MMAFUZZ_BINARY_DIR) + "/tests/false_device_child"}, std::chrono::milliseconds(20000));
  std::thread([&] { ASSERT_TRUE(child.info()); }).join();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // for a signal to arrive
  const CoreInstruction& i = core_instructions()[0];
  EXPECT_EQ(child.scalar(0, std::vector<uint64_t>(size_t(i.op.arity())), 1).size(), 1u);
  EXPECT_EQ(child.starts(), 1u);
  EXPECT_EQ(child.losses(), 0u);
}

/// Processes whose parent is `pid` or whose command line names this file and whose environment holds `mark`.
size_t children_with(const std::string& mark) {
  size_t found = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    std::ifstream text(entry.path() / "environ", std::ios::binary);
    const std::string environment((std::istreambuf_iterator<char>(text)), {});
    found += environment.find(mark) != std::string::npos;
  }
  return found;
}

TEST(DeviceLosses, AHungChildEndsWhenItsParentIsKilled) {
  const std::string mark = "FALSE_DEVICE_MARK=" + std::to_string(getpid());
  const pid_t parent = fork();
  if (parent == 0) {
    putenv(strdup(mark.c_str()));
    setenv("FALSE_DEVICE", "hang", 1);
    DeviceChild child({std::string(MMAFUZZ_BINARY_DIR) + "/tests/false_device_child"},
                      std::chrono::milliseconds(60000));
    const CoreInstruction& i = core_instructions()[0];
    child.scalar(0, std::vector<uint64_t>(size_t(i.op.arity())), 1);
    _exit(0);
  }
  const auto wait_until = [&](size_t count) {
    for (int i = 0; i < 500 && children_with(mark) != count; ++i) usleep(20000);
    return children_with(mark);
  };
  ASSERT_EQ(wait_until(1), 1u);  // the child alone was started with this environment
  usleep(200000);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_EQ(wait_until(0), 0u);
}

TEST(DeviceLosses, ACallIsGivenUpAtTheDeadline) {
  setenv("FALSE_DEVICE", "hang", 1);
  DeviceChild child({std::string(MMAFUZZ_BINARY_DIR) + "/tests/false_device_child"}, std::chrono::milliseconds(60000));
  ASSERT_TRUE(child.info());
  const auto start = std::chrono::steady_clock::now();
  child.give_up_at(start + std::chrono::milliseconds(300));
  EXPECT_THROW(child.scalar(0, std::vector<uint64_t>(size_t(core_instructions()[0].op.arity())), 1), DeviceLost);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 20.0);
  EXPECT_THAT(child.last_loss(), HasSubstr("gave no answer in time"));
}

TEST(Instructions, WmmaOfTf32ClaimsTwoStepsOfFour) {
  const Instruction& wmma = instructions()[size_t(find_instruction("wmma.m16n16k8.f32.tf32.tf32.f32"))];
  EXPECT_EQ(wmma.op.k, 8);
  for (const unsigned on : all_archs) {
    if ((wmma.archs & on) == 0) continue;
    EXPECT_TRUE(claimed_model(wmma, on).ends_with("/mma.m16n8k4.f32.tf32.tf32.f32")) << claimed_model(wmma, on);
  }
}

TEST(Instructions, EmulatedFp8OfSixteenProductsHasAModel) {
  const Instruction& mma = instructions()[size_t(find_instruction("mma.m16n8k16.f32.e4m3.e5m2.f32"))];
  EXPECT_EQ(claimed_model(mma, arch::sm90), "model:hopper/mma.m16n8k16.f32.e4m3.e5m2.f32");
  EXPECT_EQ(claimed_model(mma, arch::sm100), "model:blackwell/mma.m16n8k16.f32.e4m3.e5m2.f32");
}

TEST(CoreUnits, AClaimThatExcludesNansSaysNothingOfThem) {
  const Registry registry = registry_with("twin");
  Op op;
  op.kind = OpKind::convert;
  op.a = format("fp32");
  op.d = format("tf32");
  op.rounding = Rounding::nearest_away;
  op.nan = NanPolicy::any;
  const auto unit = registry.bind("cuda:cvt.tf32.f32", op);
  ASSERT_TRUE(unit) << unit.refusal().reason;
  ASSERT_EQ((*unit)->claims().size(), 1u);
  const auto reference = registry.bind((*unit)->claims()[0].detail, op);
  ASSERT_TRUE(reference) << reference.refusal().reason;
  Batch batch(op);
  batch.resize(3);
  for (const auto& [index, source] : {std::pair(0, 0x7f800001u), std::pair(1, 0x7f800000u), std::pair(2, 0x3f801000u)})
    batch.inputs()[0].set(size_t(index), 0, source);
  Outcomes expected;
  (*reference)->run(batch, expected);
  EXPECT_FALSE(expected.has_answer(0));  // the instruction makes an infinity of this NaN
  EXPECT_TRUE(expected.has_answer(1));
  EXPECT_TRUE(expected.has_answer(2));
  EXPECT_EQ(expected.results.get(2), 0x3f802000u);
}

TEST(DeviceUnits, OzakiProductsOfABatchGoToTheDeviceTogether) {
  setenv("FALSE_DEVICE", "twin", 1);
  const auto child = std::make_shared<DeviceChild>(
      std::vector<std::string>{std::string(MMAFUZZ_BINARY_DIR) + "/tests/false_device_child"},
      std::chrono::milliseconds(60000));
  Registry registry = oracle_registry();
  registry.add(make_device_family(child));
  const Op op = *parse_op("gemm a=fp64 b=fp64 c=fp64 d=fp64 m=2 n=2 k=16");
  const auto unit = registry.bind("ozaki:dgemm.fp16?sum=exact,on=cuda:mma.m16n8k16.f32.f16.f16.f32", op),
             exact = registry.bind("exact", op);
  ASSERT_TRUE(unit) << unit.refusal().reason;
  const Batch batch = structured(op, 8);
  const uint64_t before = child->calls();
  Outcomes got, expected;
  (*unit)->run(batch, got);
  (*exact)->run(batch, expected);
  EXPECT_LE(child->calls() - before, 2u);  // one alone took dozens
  for (size_t c = 0; c < batch.size(); ++c)
    for (int e = 0; e < 4; ++e) EXPECT_EQ(got.results.get(c, e), expected.results.get(c, e)) << case_line(batch, c);
}

TEST(DeviceUnits, AnOzakiProductOfALostDeviceHasNoAnswer) {
  const fs::path folder = fs::temp_directory_path() / ("mmafuzz-ozaki-losses-" + std::to_string(getpid()));
  fs::create_directory(folder);
  setenv("MMAFUZZ_DEVICE_LOSSES", folder.c_str(), 1);
  const Registry registry = registry_with("twin");
  const Op op = *parse_op("gemm a=fp64 b=fp64 c=fp64 d=fp64 m=2 n=2 k=16");
  setenv("FALSE_DEVICE_FROM", "1", 1);  // binding asks the unit how far it sums exactly
  const auto unit = registry.bind("ozaki:dgemm.s8?sum=exact,on=cuda:mma.m16n8k32.s32.s8.s8.s32", op);
  setenv("FALSE_DEVICE", "crash", 1);
  ASSERT_TRUE(unit) << unit.refusal().reason;
  const Registry crashing = registry_with("crash");
  unsetenv("FALSE_DEVICE_FROM");
  const auto lost = crashing.bind("ozaki:dgemm.s8?sum=exact,on=cuda:mma.m16n8k32.s32.s8.s8.s32", op);
  ASSERT_TRUE(lost) << lost.refusal().reason;
  Outcomes outcomes;
  testing::internal::CaptureStderr();
  (*lost)->run(structured(op, 3), outcomes);
  testing::internal::GetCapturedStderr();
  for (size_t c = 0; c < 3; ++c) EXPECT_FALSE(outcomes.has_answer(c));
  fs::remove_all(folder);
}

TEST(DeviceUnits, ClaimWhichNanAnFp64UnitGives) {
  const Registry registry = registry_with("twin");
  const Instruction& i = instructions()[size_t(find_instruction("mma.m8n8k4.f64.f64.f64.f64"))];
  EXPECT_EQ(i.op.nan, NanPolicy::exact);
  EXPECT_EQ((*registry.bind("cuda:" + i.name, i.op))->claims().size(), 1u);
}

TEST(DeviceUnits, DeclineWithTheReason) {
  const Op op = dot_op("fp16", "fp32", "fp32", 16);
  const auto none = registry_with("none").bind("cuda:mma.m16n8k16.f32.f16.f16.f32", op);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.refusal().kind, Refusal::Kind::declined);
  EXPECT_EQ(none.refusal().reason, "no CUDA device on this machine");
  const auto old = registry_with("twin", "75").bind("cuda:mma.m16n8k16.f32.f16.f16.f32", op);
  ASSERT_FALSE(old);
  EXPECT_THAT(old.refusal().reason, HasSubstr("sm_75 (host twin) does not have this instruction"));
  const auto parameter = registry_with("twin").bind("cuda:mma.m16n8k16.f32.f16.f16.f32?scale_d=0", op);
  ASSERT_FALSE(parameter);
  EXPECT_EQ(parameter.refusal().kind, Refusal::Kind::invalid);
  const auto missing = DeviceChild(std::vector<std::string>{"/nowhere/child"}, std::chrono::milliseconds(2000)).info();
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.refusal().reason, HasSubstr("cannot run"));
}

}  // namespace
}  // namespace mmafuzz
