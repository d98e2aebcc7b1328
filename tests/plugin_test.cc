// Units from outside: `plugin:<file.so>` through the example of docs/plugins.md, and `recorded:<file>`. A failure means
// that someone's own unit is fed wrong operands, or that what cannot be evaluated passes.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "core/case_text.h"
#include "plan/request.h"
#include "plan/registry.h"
#include "oracles/units/plugin_abi.h"
#include "tests/run_one_dot.h"

namespace mmafuzz {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string example_file = MMAFUZZ_BINARY_DIR "/tests/truncating_dot.so";

/// The plugin in this process, so that sanitizers see what it is given.
std::string plugin(const std::string& file) { return "plugin:" + file + "?isolated=0"; }
const std::string example = plugin(example_file);

/// Why a unit cannot be had; empty if it can.
std::string reason(const std::string& name, const std::string& op, Refusal::Kind kind = Refusal::Kind::declined) {
  Result<std::unique_ptr<Unit>> unit = registry().bind(name, op_from_text(op));
  if (unit) return {};
  EXPECT_EQ(unit.refusal().kind, kind) << unit.refusal().reason;
  EXPECT_EQ(unit.refusal().reason.find('\n'), std::string::npos);
  return unit.refusal().reason;
}

/// A folder that goes away with the test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "plugin_test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("cannot create " + name);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const std::string dot4 = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4";

// ---- the example plugin ----

TEST(ExamplePlugin, SaysItsNameAndTheInterfaceItWasBuiltFor) {
  void* handle = dlopen(example_file.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  const auto abi = reinterpret_cast<decltype(&mmafuzz_plugin_abi)>(dlsym(handle, "mmafuzz_plugin_abi"));
  const auto name = reinterpret_cast<decltype(&mmafuzz_plugin_name)>(dlsym(handle, "mmafuzz_plugin_name"));
  ASSERT_TRUE(abi && name);
  EXPECT_EQ(abi(), MMAFUZZ_PLUGIN_ABI);
  EXPECT_STREQ(name(), "example.truncating_dot");
  dlclose(handle);
}

TEST(ExamplePlugin, IsAUnitUnderItsFullNameAndClaimsNothing) {
  const std::unique_ptr<Unit> unit = bind_or_fail(example, op_from_text(dot4));
  EXPECT_EQ(unit->name(), example);
  EXPECT_TRUE(unit->claims().empty());
  EXPECT_EQ(unit->model(), nullptr);
}

struct Golden {
  const char* claim;
  std::vector<uint64_t> a, b;
  uint64_t c, d;
};

// By hand from what the plugin documents: add in double in index order from c, then truncate to fp32.
const Golden golden[] = {
    {"one times one and two times two is five", {0x3c00, 0x4000}, {0x3c00, 0x4000}, 0x00000000, 0x40a00000},
    {"1 + 1.5 * 2^-24 truncates to 1", {0x0001}, {0x3e00}, 0x3f800000, 0x3f800000},
    {"-1 - 1.5 * 2^-24 truncates to -1", {0x8001}, {0x3e00}, 0xbf800000, 0xbf800000},
    {"1 + 2^-23 is a number", {0x0001}, {0x4000}, 0x3f800000, 0x3f800001},
    {"2 - 2^-40 truncates to the number below 2", {0x8001}, {0x0100}, 0x40000000, 0x3fffffff},
    {"-2 + 2^-40 truncates to the number above -2", {0x0001}, {0x0100}, 0xc0000000, 0xbfffffff},
    {"1024 - 2^-48 is 1024 in double", {0x8001}, {0x0001}, 0x44800000, 0x44800000},
    {"the order counts: (1024 - 2^-48) - 1024 is 0", {0x8001, 0xe400}, {0x0001, 0x3c00}, 0x44800000, 0x00000000},
    {"the order counts: (1024 - 1024) - 2^-48 is -2^-48", {0xe400, 0x8001}, {0x3c00, 0x0001}, 0x44800000, 0xa7800000},
    {"the greatest product is exact: 65504^2", {0x7bff}, {0x7bff}, 0x00000000, 0x4f7fc004},
    {"a subnormal c is kept", {0x0000}, {0x3c00}, 0x00000001, 0x00000001},
    {"a subnormal c of either sign is kept", {0x0000}, {0x3c00}, 0x807fffff, 0x807fffff},
    {"subnormal operands are kept: 2^-24 * 2^-24 is 2^-48", {0x0001}, {0x0001}, 0x00000000, 0x27800000},
    {"-0 and +0 are +0", {0x0000}, {0x3c00}, 0x80000000, 0x00000000},
    {"-0 and -0 are -0", {0x8000}, {0x3c00}, 0x80000000, 0x80000000},
    {"the greatest c swallows a product", {0x7bff}, {0x7bff}, 0x7f7fffff, 0x7f7fffff},
    {"infinity times one", {0x7c00}, {0x3c00}, 0x3f800000, 0x7f800000},
    {"infinity times minus one", {0x7c00}, {0xbc00}, 0x3f800000, 0xff800000},
    {"infinity times zero", {0x7c00}, {0x8000}, 0x00000000, 0x7fc00000},
    {"infinity minus infinity", {0x7c00}, {0x3c00}, 0xff800000, 0x7fc00000},
    {"a NaN operand", {0xfe01}, {0x3c00}, 0x00000000, 0x7fc00000},
    {"a NaN c", {0x3c00}, {0x3c00}, 0xff812345, 0x7fc00000},
};

TEST(ExamplePlugin, GivesTheResultsThatItsSemanticsSay) {
  for (const Golden& g : golden) {
    Op op = op_from_text(dot4);
    op.k = static_cast<int>(g.a.size());
    EXPECT_EQ(to_hex(op.d, run_one_dot(*bind_or_fail(example, op), op, g.a, g.b, g.c)), to_hex(op.d, g.d)) << g.claim;
  }
}

TEST(ExamplePlugin, GetsAnyLengthOfDot) {
  for (const int k : {1, 3, 16, 1000, max_extent}) {
    Op op = op_from_text(dot4);
    op.k = k;
    const std::vector<uint64_t> ones(static_cast<size_t>(k), 0x3c00);
    const float sum = static_cast<float>(k);
    uint32_t bits;
    std::memcpy(&bits, &sum, sizeof bits);
    EXPECT_EQ(run_one_dot(*bind_or_fail(example, op), op, ones, ones, 0), bits) << k;
  }
}

Batch random_batch(const Op& op, size_t cases) {
  std::mt19937_64 random(1);
  Batch batch(op);
  batch.resize(cases);
  for (Column& column : batch.inputs())
    for (size_t i = 0; i < cases; ++i)
      for (int j = 0; j < column.count(); ++j) column.set(i, j, random());
  return batch;
}

TEST(ExamplePlugin, ABatchEqualsItsCasesOneByOne) {
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=5");
  const std::unique_ptr<Unit> unit = bind_or_fail(example, op);
  const Batch batch = random_batch(op, 2000);
  Outcomes all;
  unit->run(batch, all);
  ASSERT_EQ(all.results.cases(), batch.size());
  EXPECT_TRUE(all.flags.empty());
  for (size_t i = 0; i < batch.size(); ++i) {
    ASSERT_TRUE(all.has_answer(i));
    Batch one(op);
    one.append(batch, i);
    Outcomes alone;
    unit->run(one, alone);
    ASSERT_EQ(all.results.get(i), alone.results.get(0)) << case_line(batch, i);
  }
}

TEST(ExamplePlugin, AnEmptyBatchGivesNoResults) {
  const Op op = op_from_text(dot4);
  Outcomes none;
  bind_or_fail(example, op)->run(Batch(op), none);
  EXPECT_EQ(none.results.cases(), 0u);
}

TEST(ExamplePlugin, ThreadsMayRunItAtOnce) {
  const Op op = op_from_text(dot4);
  const std::unique_ptr<Unit> unit = bind_or_fail(example, op);
  const Batch batch = random_batch(op, 5000);
  std::vector<Outcomes> outcomes(4);
  std::vector<std::thread> threads;
  for (Outcomes& each : outcomes) threads.emplace_back([&] { unit->run(batch, each); });
  for (std::thread& t : threads) t.join();
  for (const Outcomes& each : outcomes)
    for (size_t i = 0; i < batch.size(); ++i) ASSERT_EQ(each.results.get(i), outcomes[0].results.get(i));
}

TEST(ExamplePlugin, RefusesOtherOpsWithItsReason) {
  const std::string by = "example.truncating_dot: ";
  EXPECT_EQ(reason(example, "convert from=fp32 to=fp16"), by + "computes dot products only, not convert");
  EXPECT_EQ(reason(example, "scalar fma format=fp32"), by + "computes dot products only, not scalar");
  EXPECT_EQ(reason(example, "dot a=bf16 b=bf16 c=fp32 d=fp32 k=4"), by + "takes a=fp16 b=fp16 c=fp32 d=fp32, any k");
  EXPECT_EQ(reason(example, "dot a=fp16 b=fp16 c=fp16 d=fp16 k=4"), by + "takes a=fp16 b=fp16 c=fp32 d=fp32, any k");
  EXPECT_EQ(reason(example, "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4 sa=e8m0 sb=e8m0 sblock=4"), by + "knows no scales");
  EXPECT_EQ(reason(example, dot4 + " round=up"), by + "has its own rounding; the op must not ask for up");
}

TEST(Plugin, GemmIsRefusedBeforeLoading) {
  EXPECT_EQ(reason(plugin("/nowhere/none.so"), "gemm a=fp16 b=fp16 c=fp32 d=fp32 m=1 n=1 k=4"),
            "plugins evaluate dot, convert and scalar ops");
}

TEST(Plugin, AMissingFileIsDeclinedWithItsName) {
  const std::string why = reason(plugin("/nowhere/none.so"), dot4);
  EXPECT_THAT(why, StartsWith("cannot load plugin: /nowhere/none.so"));
  EXPECT_THAT(why, HasSubstr("No such file"));
}

TEST(Plugin, AFileThatIsNoLibraryIsDeclined) {
  const Folder folder;
  EXPECT_THAT(reason(plugin(folder.write("text.so", "not a library\n")), dot4),
              StartsWith("cannot load plugin: " + folder.path() + "/text.so"));
  EXPECT_THAT(reason(plugin(folder.path()), dot4, Refusal::Kind::invalid), HasSubstr(" is a folder; a plugin is a"));
}

TEST(Plugin, ALibraryThatIsNoPluginIsDeclinedWithTheSymbolItLacks) {
  void* handle = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  link_map* map = nullptr;
  ASSERT_EQ(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
  const std::string file = map->l_name;
  EXPECT_EQ(reason(plugin(file), dot4), file + " is no mmafuzz plugin: it does not export mmafuzz_plugin_abi");
  dlclose(handle);
}

TEST(Plugin, WithoutAFileNameTheUnitIsUnknown) {
  EXPECT_THAT(reason("plugin:", dot4, Refusal::Kind::unknown), HasSubstr("unknown unit 'plugin:'"));
}

/// A plugin built here from C source; empty if there is no C compiler.
std::string built(const Folder& folder, const std::string& name, const std::string& functions) {
  const std::string source = folder.write(name + ".c", "#include \"oracles/units/plugin_abi.h\"\n" + functions);
  const std::string library = folder.path() + "/" + name + ".so";
  const std::string command =
      "cc -shared -fPIC -I '" MMAFUZZ_SOURCE_DIR "' '" + source + "' -o '" + library + "' 2>/dev/null";
  return std::system(command.c_str()) == 0 ? library : "";
}

const std::string abi = "int mmafuzz_plugin_abi(void) { return MMAFUZZ_PLUGIN_ABI; }\n";
const std::string name = "const char* mmafuzz_plugin_name(void) { return \"bad\"; }\n";
const std::string supports =
    "int mmafuzz_plugin_supports(const struct mmafuzz_op* op, char* reason, size_t size) { return 1; }\n";
const std::string run =
    "int mmafuzz_plugin_run(const struct mmafuzz_op* op, const struct mmafuzz_batch* batch) { return 0; }\n";

TEST(Plugin, OfAnotherInterfaceIsDeclined) {
  const Folder folder;
  const std::string file =
      built(folder, "old", "int mmafuzz_plugin_abi(void) { return 999; }\n" + name + supports + run);
  if (file.empty()) GTEST_SKIP() << "no C compiler";
  EXPECT_EQ(reason(plugin(file), dot4),
            file + " was built for plugin interface 999, this is " + std::to_string(MMAFUZZ_PLUGIN_ABI));
}

TEST(Plugin, ThatLacksAFunctionIsDeclinedWithItsName) {
  const Folder folder;
  const std::string file = built(folder, "lacking", abi + name + supports);
  if (file.empty()) GTEST_SKIP() << "no C compiler";
  EXPECT_THAT(reason(plugin(file), dot4), EndsWith("it does not export mmafuzz_plugin_run"));
}

TEST(Plugin, MayRefuseWithoutAReasonOrWithOneThatFillsTheSpace) {
  const Folder folder;
  const std::string silent = built(
      folder, "silent",
      abi + name + run + "int mmafuzz_plugin_supports(const struct mmafuzz_op* o, char* r, size_t n) { return 0; }\n");
  if (silent.empty()) GTEST_SKIP() << "no C compiler";
  EXPECT_EQ(reason(plugin(silent), dot4), "bad: op not supported");
  const std::string long_winded =
      built(folder, "long_winded",
            abi + name + run +
                "int mmafuzz_plugin_supports(const struct mmafuzz_op* o, char* r, size_t n) "
                "{ for (size_t i = 0; i < n; ++i) r[i] = 'x'; return 0; }\n");
  EXPECT_THAT(reason(plugin(long_winded), dot4), StartsWith("bad: xxxx"));
}

TEST(Plugin, ThatFailsThrowsWithItsCode) {
  const Folder folder;
  const std::string file = built(
      folder, "failing",
      abi + name + supports +
          "int mmafuzz_plugin_run(const struct mmafuzz_op* op, const struct mmafuzz_batch* batch) { return 7; }\n");
  if (file.empty()) GTEST_SKIP() << "no C compiler";
  const Op op = op_from_text(dot4);
  const std::unique_ptr<Unit> unit = bind_or_fail(plugin(file), op);
  Outcomes outcomes;
  try {
    unit->run(random_batch(op, 3), outcomes);
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_EQ(std::string(e.what()), plugin(file) + " failed with code 7");
  }
}

/// Returns a sum of everything that the interface hands over, each at its own weight.
TEST(Plugin, GetsEveryFieldOfScaledDotsConversionsAndScalarOperations) {
  const Folder folder;
  const std::string file = built(folder, "echo", "#include <string.h>\n" + abi + name + supports + R"(
int mmafuzz_plugin_run(const struct mmafuzz_op* op, const struct mmafuzz_batch* batch) {
  for (size_t i = 0; i < batch->n; ++i) {
    uint64_t r;
    if (!strcmp(op->kind, "dot")) {
      if (strcmp(op->a, "e4m3") || strcmp(op->b, "e5m2") || strcmp(op->c, "fp32") || strcmp(op->d, "fp64")) return 1;
      if (strcmp(op->scale_a, "e8m0") || strcmp(op->scale_b, "ue4m3") || op->k != 3 || op->scale_block != 2) return 2;
      r = batch->a[i * 3 + 2] | batch->b[i * 3 + 1] << 8 | batch->scale_a[i * 2 + 1] << 16 | batch->scale_b[i * 2] << 24 | batch->c[i] << 32;
    } else if (!strcmp(op->kind, "convert")) {
      if (strcmp(op->a, "fp16") || strcmp(op->d, "fp32") || strcmp(op->rounding, "up") || batch->b || batch->c) return 3;
      r = batch->a[i] + 1;
    } else {
      if (strcmp(op->operation, "fma") || strcmp(op->a, "fp16") || strcmp(op->d, "fp16") || strcmp(op->rounding, "toward_zero")) return 4;
      r = batch->a[i * 3] ^ batch->a[i * 3 + 1] << 4 ^ batch->a[i * 3 + 2] << 8;
    }
    batch->result[i] = r;
  }
  return 0;
}
)");
  if (file.empty()) GTEST_SKIP() << "no C compiler";
  {
    const Op op = op_from_text("dot a=e4m3 b=e5m2 c=fp32 d=fp64 k=3 sa=e8m0 sb=ue4m3 sblock=2");
    const uint64_t r =
        run_one_dot(*bind_or_fail(plugin(file), op), op, {1, 2, 0xa3}, {4, 0xb5, 6}, 0xcccccccc, {7, 0xd8}, {0xe9, 10});
    EXPECT_EQ(to_hex(op.d, r), "cccccccce9d8b5a3");
  }
  const auto results = [&](const std::string& op, const std::vector<std::vector<uint64_t>>& cases) {
    Batch batch(op_from_text(op));
    batch.resize(cases.size());
    for (size_t i = 0; i < cases.size(); ++i)
      for (size_t j = 0; j < cases[i].size(); ++j) batch.inputs()[0].set(i, static_cast<int>(j), cases[i][j]);
    Outcomes outcomes;
    bind_or_fail(plugin(file), batch.op())->run(batch, outcomes);
    std::vector<uint64_t> values;
    for (size_t i = 0; i < cases.size(); ++i) values.push_back(outcomes.results.get(i));
    return values;
  };
  EXPECT_EQ(results("convert from=fp16 to=fp32 round=up", {{0x1234}, {0xffff}}),
            (std::vector<uint64_t>{0x1235, 0x10000}));
  EXPECT_EQ(results("scalar fma format=fp16 round=toward_zero", {{1, 2, 3}, {5, 6, 7}}),
            (std::vector<uint64_t>{0x321, 0x765}));
}

// ---- recordings ----

const std::string recording =
    "mmafuzz-cases 1\n"
    "unit nvidia.h100/wmma.fp32.fp16\n"
    "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=2\n"
    "3c00 4000 | 3c00 4000 | 00000000 | 40a00000\n"
    "3c00 4000 | 3c00 4000 | 3f800000 | 12345678\n"  // not what anything computes: a recording is believed
    "3c00 3c00 | 3c00 3c00 | 00000000\n"
    "op scalar add format=fp16 round=nearest_even\n"
    "3c00 3c00 | 4000\n";

TEST(Recording, AnswersExactlyTheRecordedCases) {
  const Folder folder;
  const std::string unit_name = "recorded:" + folder.write("r.cases", recording);
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=2");
  const std::unique_ptr<Unit> unit = bind_or_fail(unit_name, op);
  EXPECT_EQ(unit->name(), unit_name);
  Batch batch(op);
  batch.resize(5);
  const auto set = [&](size_t i, uint64_t a0, uint64_t a1, uint64_t c) {
    batch.inputs()[0].set(i, 0, a0);
    batch.inputs()[0].set(i, 1, a1);
    batch.inputs()[1].set(i, 0, a0);
    batch.inputs()[1].set(i, 1, a1);
    batch.inputs()[2].set(i, 0, c);
  };
  set(0, 0x3c00, 0x4000, 0x3f800000);
  set(1, 0x3c00, 0x4000, 0x3f800001);  // never recorded
  set(2, 0x3c00, 0x4000, 0x00000000);
  set(3, 0x3c00, 0x3c00, 0x00000000);  // recorded without a result
  set(4, 0x4000, 0x3c00, 0x00000000);  // the same sum, not the same case
  Outcomes outcomes;
  unit->run(batch, outcomes);
  ASSERT_EQ(outcomes.answered.size(), 5u);
  EXPECT_TRUE(outcomes.has_answer(0));
  EXPECT_FALSE(outcomes.has_answer(1));
  EXPECT_TRUE(outcomes.has_answer(2));
  EXPECT_FALSE(outcomes.has_answer(3));
  EXPECT_FALSE(outcomes.has_answer(4));
  EXPECT_EQ(outcomes.results.get(0), 0x12345678u);
  EXPECT_EQ(outcomes.results.get(2), 0x40a00000u);
}

TEST(Recording, ClaimsTheModelOfItsProvenance) {
  const Folder folder;
  const std::string file = folder.write("r.cases", recording);
  const std::unique_ptr<Unit> unit =
      bind_or_fail("recorded:" + file, op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=2"));
  ASSERT_EQ(unit->claims().size(), 1u);
  EXPECT_EQ(unit->claims()[0].property, "equals_model");
  EXPECT_EQ(unit->claims()[0].detail, "model:hopper/mma.m16n8k16.f32.f16.f16.f32");
}

TEST(Recording, OfAnUnknownMachineClaimsNothing) {
  const Folder folder;
  const std::string file =
      folder.write("r.cases", "mmafuzz-cases 1\nunit somebody.chip/dot\nop scalar add format=fp16\n3c00 3c00 | 4000\n");
  EXPECT_TRUE(bind_or_fail("recorded:" + file, op_from_text("scalar add format=fp16"))->claims().empty());
}

TEST(Recording, WithoutResultsForAnOpIsDeclined) {
  const Folder folder;
  const std::string file = folder.write("r.cases", recording);
  EXPECT_EQ(reason("recorded:" + file, "dot a=fp16 b=fp16 c=fp32 d=fp32 k=3"),
            file + " has no results for 'op dot a=fp16 b=fp16 c=fp32 d=fp32 k=3'");
}

TEST(Recording, ThatIsMissingOrMalformedIsAnErrorWithItsPlace) {
  const Folder folder;
  EXPECT_THAT(reason("recorded:/nowhere/r.cases", dot4, Refusal::Kind::invalid),
              StartsWith("/nowhere/r.cases: cannot open"));
  const std::string file = folder.write("bad.cases", recording + "3c00\n");
  EXPECT_THAT(reason("recorded:" + file, "scalar add format=fp16", Refusal::Kind::invalid),
              StartsWith(file + ":9:5: field operands"));
}

TEST(Recording, OfAGemmAnswersEveryElement) {
  const Folder folder;
  const std::string op = "gemm a=fp16 b=fp16 c=fp16 d=fp16 m=1 n=2 k=1";
  const std::string file =
      folder.write("g.cases", "mmafuzz-cases 1\nop " + op + "\n3c00 | 3c00 4000 | 0000 0000 | 3c00 4000\n");
  Batch batch(op_from_text(op));
  batch.resize(1);
  batch.inputs()[0].set(0, 0, 0x3c00);
  batch.inputs()[1].set(0, 0, 0x3c00);
  batch.inputs()[1].set(0, 1, 0x4000);
  Outcomes outcomes;
  bind_or_fail("recorded:" + file, batch.op())->run(batch, outcomes);
  EXPECT_TRUE(outcomes.has_answer(0));
  EXPECT_EQ(outcomes.results.get(0, 0), 0x3c00u);
  EXPECT_EQ(outcomes.results.get(0, 1), 0x4000u);
}

}  // namespace
}  // namespace mmafuzz
