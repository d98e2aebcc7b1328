// What kernels/cublas.cu asks of cuBLAS: a libcublas that computes on the host gets its calls and gives what they mean.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "tests/host_dgemm.h"
#include "gpu_bridge/kernels/cublas.h"

namespace mmafuzz {
namespace {

class CublasCalls : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("MMAFUZZ_CUBLAS", (std::string(MMAFUZZ_BINARY_DIR) + "/tests/host_cublas.so").c_str(), 1);
  }
  Cublas cublas_;
};

BlasGemm call_of(const char* row, int rows, int columns, int k) {
  BlasGemm call;
  call.rows = rows;
  call.columns = columns;
  call.k = k;
  call.alpha = one_of(cublas_rows()[size_t(find_cublas_row(row))].result);
  return call;
}

TEST_F(CublasCalls, AreTheProductOfTheirOperands) {
  const int rows = 8, columns = 12, k = 20;
  std::vector<double> first(rows * k), second(columns * k), result(rows * columns, 1000);
  for (size_t i = 0; i < first.size(); ++i) first[i] = double(i % 17) - 8;
  for (size_t i = 0; i < second.size(); ++i) second[i] = double(i % 23) - 4;
  BlasGemm call = call_of("dgemm", rows, columns, k);
  call.beta = call.alpha;
  const auto taken = cublas_.on_device(find_cublas_row("dgemm"), call, first.data(), second.data(), result.data());
  ASSERT_TRUE(taken) << taken.refusal().reason;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      double sum = 1000;
      for (int l = 0; l < k; ++l) sum += first[size_t(i * k + l)] * second[size_t(j * k + l)];
      EXPECT_EQ(result[size_t(j * rows + i)], sum) << i << ", " << j;
    }
}

TEST_F(CublasCalls, OfSlicesMakeTheScheme) {
  for (const char* row : {"gemmex.fp16", "gemmex.s8"}) {
    DgemmRequest request;
    request.row = find_cublas_row(row);
    request.n = 24;
    request.slices = {widest_slices(cublas_rows()[size_t(request.row)], request.n), 9, 1};
    request.samples = 500;
    const DgemmAnswer scheme =
        dgemm_on_host(request, [&](const BlasGemm& call, const uint8_t* first, const uint8_t* second, uint8_t* result) {
          const auto taken = cublas_.on_device(request.row, call, first, second, result);
          if (!taken) throw std::runtime_error(taken.refusal().reason);
        });
    request.row = find_cublas_row("dgemm");
    request.slices = {};
    const DgemmAnswer native =
        dgemm_on_host(request, [&](const BlasGemm& call, const uint8_t* first, const uint8_t* second, uint8_t* result) {
          ASSERT_TRUE(cublas_.on_device(request.row, call, first, second, result));
        });
    for (size_t s = 0; s < native.sampled.size(); ++s) {
      double got, expected;
      std::memcpy(&got, &scheme.sampled[s], sizeof got);
      std::memcpy(&expected, &native.sampled[s], sizeof expected);
      EXPECT_NEAR(got, expected, 1e-14) << row;
    }
  }
}

TEST_F(CublasCalls, EmulateWithTheBitsThatAreAskedFor) {
  std::vector<double> zeros(16), result(16);
  for (const int bits : {55, 47}) {
    BlasGemm call = call_of("dgemm.emulated", 4, 4, 4);
    call.bits = bits;
    ASSERT_TRUE(cublas_.on_device(find_cublas_row("dgemm.emulated"), call, zeros.data(), zeros.data(), result.data()));
    EXPECT_EQ(result[5], bits);
    ASSERT_TRUE(cublas_.on_device(find_cublas_row("dgemm"), call, zeros.data(), zeros.data(), result.data()));
    EXPECT_EQ(result[5], 0);  // emulation stays with its own handle
  }
}

TEST_F(CublasCalls, ThatAreRefusedSayWhich) {
  std::vector<uint8_t> bytes(64);
  const auto taken = cublas_.on_device(find_cublas_row("gemmex.s8"), call_of("gemmex.s8", 4, 4, 3), bytes.data(),
                                       bytes.data(), bytes.data());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.refusal().reason, "cublasGemmEx: CUBLAS_STATUS_INVALID_VALUE for gemmex.s8 of 4 x 4 x 3");
}

}  // namespace
}  // namespace mmafuzz
