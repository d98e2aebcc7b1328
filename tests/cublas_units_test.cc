// cublas: units without cuBLAS: everything but the product itself. A false child computes each call element by element,
// as the BLAS define it; the oracles compute the same op as rows and columns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "arithmetic/corner_encodings.h"
#include "core/case_text.h"
#include "gpu_bridge/instructions/cublas_gemm.h"
#include "gpu_bridge/device/device_child.h"
#include "gpu_bridge/families/device_units.h"
#include "oracles/families.h"

namespace mmafuzz {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;
using Arithmetic = CublasRow::Arithmetic;

/// A registry whose cublas: units speak to a false child.
Registry cublas_registry(const std::string& mode) {
  setenv("FALSE_DEVICE", mode.c_str(), 1);
  Registry registry = oracle_registry();
  const std::string program = std::string(MMAFUZZ_BINARY_DIR) + "/tests/false_device_child";
  registry.add(make_cublas_family(
      std::make_shared<DeviceChild>(std::vector<std::string>{program}, std::chrono::milliseconds(60000))));
  return registry;
}

Op op_of(const CublasRow& row, OpKind kind, int m, int n, int k) {
  Op op = dot_op(row.operand.name(), row.result.name(), row.result.name(), k);
  op.kind = kind;
  op.m = m;
  op.n = n;
  return op;
}

/// Numbers around 1, and some specials where the format has them.
Batch drawn(const Op& op, size_t cases, bool specials = true) {
  Batch batch(op);
  batch.resize(cases);
  const std::vector<FieldShape> shapes = op.inputs();
  for (size_t i = 0; i < cases; ++i) {
    CounterRng rng(3, i);
    for (size_t field = 0; field < shapes.size(); ++field) {
      const FormatFields& f = shapes[field].format.fields();
      for (int e = 0; e < shapes[field].count; ++e) {
        uint64_t x = rng.next() & f.container_mask();
        if (!f.integer)
          x = specials && rng.one_in(64) ? draw_special(f, rng)
                                         : encode_near(f, rng.next() & 1, rng.between(-6, 6), draw_fraction(f, rng));
        batch.inputs()[field].set(i, e, x);
      }
    }
  }
  return batch;
}

Outcomes results_of(const Registry& registry, const std::string& unit, const Batch& batch) {
  const auto bound = registry.bind(unit, batch.op());
  if (!bound) throw std::runtime_error(unit + ": " + bound.refusal().reason);
  Outcomes outcomes;
  (*bound)->run(batch, outcomes);
  return outcomes;
}

void expect_same(const Batch& batch, const Outcomes& got, const Outcomes& expected, const std::string& unit) {
  for (size_t c = 0; c < batch.size(); ++c)
    for (int e = 0; e < expected.results.count(); ++e)
      ASSERT_EQ(got.results.get(c, e), expected.results.get(c, e))
          << unit << ", element " << e << ": " << case_line(batch, c);
}

TEST(CublasUnits, DotsAreTheDotsOfTheOracles) {
  const Registry registry = cublas_registry("twin");
  for (const CublasRow& row : cublas_rows()) {
    if (row.arithmetic == Arithmetic::emulated) continue;
    for (const int k : {1, 7, 16}) {
      const Batch batch = drawn(op_of(row, OpKind::dot, 1, 1, k), 11);
      const Outcomes expected = results_of(registry, row.result.fields().integer ? "integer" : "exact", batch);
      // One call for all, a whole number of calls, a dot for itself.
      for (const char* tile : {"16", "4", "1"})
        expect_same(batch, results_of(registry, "cublas:" + row.name + "?tile=" + tile, batch), expected, row.name);
    }
  }
}

TEST(CublasUnits, ProductsHaveTheirRowsAndColumns) {
  const Registry registry = cublas_registry("twin");
  for (const CublasRow& row : cublas_rows()) {
    if (row.arithmetic == Arithmetic::emulated || row.result.fields().integer) continue;
    for (const bool scaled : {false, true}) {
      Op op = op_of(row, OpKind::gemm, 3, 5, 7);
      if (scaled) {  // a little more than 1: a call with other scalars rounds to other results
        op.alpha = one_of(op.d) + 3;
        op.beta = one_of(op.d) + 5;
      }
      const Batch batch = drawn(op, 9);
      expect_same(batch, results_of(registry, "cublas:" + row.name, batch), results_of(registry, "exact", batch),
                  row.name);
    }
  }
}

TEST(CublasUnits, IntegerProductsArePaddedToMultiplesOfFour) {
  const Registry registry = cublas_registry("twin");
  const CublasRow& row = cublas_rows()[size_t(find_cublas_row("gemmex.s8"))];
  const Op op = op_of(row, OpKind::gemm, 3, 5, 6);
  const Batch batch = drawn(op, 4);
  const Outcomes got = results_of(registry, "cublas:gemmex.s8", batch);
  for (size_t c = 0; c < batch.size(); ++c)
    for (int i = 0; i < op.m; ++i)
      for (int j = 0; j < op.n; ++j) {
        uint32_t sum = static_cast<uint32_t>(batch.c().get(c, i * op.n + j));
        for (int l = 0; l < op.k; ++l)
          sum += static_cast<uint32_t>(static_cast<int8_t>(batch.a().get(c, i * op.k + l)) *
                                       static_cast<int8_t>(batch.b().get(c, l * op.n + j)));
        EXPECT_EQ(got.results.get(c, i * op.n + j), sum);
      }
}

TEST(CublasUnits, BitsThatTf32IgnoresDoNotTravel) {
  const Registry registry = cublas_registry("twin");
  const Op op = op_of(cublas_rows()[size_t(find_cublas_row("gemmex.tf32"))], OpKind::dot, 1, 1, 4);
  Batch clean = drawn(op, 5, false), dirty = clean;
  for (size_t field : {0u, 1u})
    for (size_t c = 0; c < clean.size(); ++c)
      for (int l = 0; l < op.k; ++l) dirty.inputs()[field].set(c, l, clean.inputs()[field].get(c, l) | 0x1fff);
  expect_same(clean, results_of(registry, "cublas:gemmex.tf32", dirty),
              results_of(registry, "cublas:gemmex.tf32", clean), "tf32");
}

TEST(CublasUnits, ALongerBatchThanOneRequestIsWhole) {
  const Registry registry = cublas_registry("twin");
  const Op op = op_of(cublas_rows()[0], OpKind::gemm, 2, 2, max_extent);  // half a mebibyte a call
  const Batch batch = drawn(op, 130, false);
  expect_same(batch, results_of(registry, "cublas:gemmex.fp16", batch), results_of(registry, "exact", batch),
              "two requests");
}

TEST(CublasUnits, ParametersOfTheEmulationArrive) {
  const Registry registry = cublas_registry("twin");
  const Op op = op_of(cublas_rows()[size_t(find_cublas_row("dgemm.emulated"))], OpKind::gemm, 2, 3, 4);
  const Batch finite = drawn(op, 6, false);
  const Outcomes exact = results_of(registry, "exact", finite);
  expect_same(finite, results_of(registry, "cublas:dgemm.emulated?bits=150", finite), exact,
              "bits that hold everything");
  const Outcomes coarse = results_of(registry, "cublas:dgemm.emulated?bits=12", finite);
  size_t other = 0;
  for (size_t c = 0; c < finite.size(); ++c) other += coarse.results.get(c) != exact.results.get(c);
  EXPECT_EQ(other, finite.size());

  Batch special = finite;
  for (size_t c = 0; c < special.size(); ++c) special.inputs()[0].set(c, 0, op.a.fields().encode_infinity(false));
  const Outcomes kept = results_of(registry, "cublas:dgemm.emulated", special),
                 dropped = results_of(registry, "cublas:dgemm.emulated?specials=0", special);
  for (size_t c = 0; c < special.size(); ++c) {
    EXPECT_NE(decode(op.d.fields(), kept.results.get(c)).cls, NumberClass::finite);
    EXPECT_EQ(decode(op.d.fields(), dropped.results.get(c)).cls, NumberClass::finite);
  }
}

TEST(CublasUnits, EmulationThatDoesNotRunDeclines) {
  const auto reason = [](const char* mode, const std::string& unit, const Op& op) {
    const auto bound = cublas_registry(mode).bind(unit, op);
    if (bound) return std::string("bound");
    EXPECT_EQ(bound.refusal().kind, Refusal::Kind::declined);
    return bound.refusal().reason;
  };
  for (const CublasRow& row : cublas_rows()) {
    const std::string unit = "cublas:" + row.name;
    for (const OpKind kind : {OpKind::dot, OpKind::gemm}) {
      const Op op = op_of(row, kind, 1, kind == OpKind::dot ? 1 : 2, 5);
      const bool emulated = row.arithmetic == Arithmetic::emulated, native = row.arithmetic == Arithmetic::native;
      EXPECT_EQ(reason("twin", unit, op), "bound");
      EXPECT_THAT(reason("never_emulates", unit, op), HasSubstr(emulated ? "cuBLAS did not emulate" : "bound"));
      EXPECT_THAT(reason("always_emulates", unit, op), HasSubstr(native ? "cuBLAS did not run natively" : "bound"));
      EXPECT_EQ(reason("no_cublas", unit, op), "cuBLAS cannot be loaded");
      EXPECT_EQ(reason("none", unit, op), "no CUDA device on this machine");
    }
  }
  // One product alone shares its scale with nothing: 55 bits hold it, and nothing shows.
  EXPECT_THAT(reason("twin", "cublas:dgemm.emulated", op_of(cublas_rows().back(), OpKind::dot, 1, 1, 1)),
              HasSubstr("cuBLAS did not emulate"));
}

TEST(CublasUnits, BadNamesOpsAndParameters) {
  const Registry registry = cublas_registry("twin");
  const Op dgemm = op_of(cublas_rows().back(), OpKind::gemm, 2, 2, 2), half = dot_op("fp16", "fp32", "fp32", 16);
  const auto refusal = [&](const std::string& unit, const Op& op) {
    const auto bound = registry.bind(unit, op);
    EXPECT_FALSE(bound) << unit;
    return bound ? Refusal{} : bound.refusal();
  };
  for (const char* bad :
       {"cublas:dgemm.emulated?bits=0", "cublas:dgemm.emulated?bits=201",
        "cublas:dgemm.emulated?bits=", "cublas:dgemm.emulated?bits=5x", "cublas:dgemm.emulated?specials=2",
        "cublas:dgemm.emulated?tile=4", "cublas:dgemm.emulated?bitz=5", "cublas:dgemm.emulated?bits"}) {
    EXPECT_EQ(refusal(bad, dgemm).kind, Refusal::Kind::invalid) << bad;
    EXPECT_THAT(refusal(bad, dgemm).reason, HasSubstr("expected bits=1..200 or auto, specials=0..1")) << bad;
  }
  EXPECT_THAT(refusal("cublas:dgemm?bits=50", dgemm).reason, HasSubstr("expected no parameters"));
  EXPECT_EQ(refusal("cublas:hgemm", dgemm).kind, Refusal::Kind::unknown);
  EXPECT_EQ(refusal("cublas:dgemm", half).reason, "cublas:dgemm takes 'dot or gemm a=fp64 b=fp64 c=fp64 d=fp64'");
  Op up = half;
  up.rounding = Rounding::up;
  EXPECT_THAT(refusal("cublas:gemmex.fp16", up).reason, HasSubstr("does not honour round=up"));
}

TEST(CublasUnits, ALostDeviceKeepsTheBatch) {
  const fs::path folder = fs::temp_directory_path() / ("mmafuzz-cublas-losses-" + std::to_string(getpid()));
  fs::create_directory(folder);
  setenv("MMAFUZZ_DEVICE_LOSSES", folder.c_str(), 1);
  for (const auto& [mode, finding] : {std::pair("crash_after_probe", "the device child closed the connection"),
                                      std::pair("decline_after_probe", "cuBLAS took the probe but not the batch")}) {
    const Registry registry = cublas_registry(mode);
    testing::internal::CaptureStderr();
    const Outcomes outcomes = results_of(registry, "cublas:gemmex.fp16", drawn(dot_op("fp16", "fp32", "fp32", 16), 5));
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                HasSubstr(std::string("device lost: cublas:gemmex.fp16: ") + finding));
    for (size_t i = 0; i < 5; ++i) EXPECT_FALSE(outcomes.has_answer(i));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);
  fs::remove_all(folder);
}

TEST(CublasUnits, AProbeThatLosesTheDeviceDeclines) {
  const auto unit = cublas_registry("crash").bind("cublas:dgemm", op_of(cublas_rows().back(), OpKind::gemm, 2, 2, 2));
  ASSERT_FALSE(unit);
  EXPECT_THAT(unit.refusal().reason, HasSubstr("the probe lost the device: the device child closed the connection"));
}

}  // namespace
}  // namespace mmafuzz
