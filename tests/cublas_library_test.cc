// Where libcublas is looked for, and that a library without emulation still computes natively.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include "gpu_bridge/device/cublas_library.h"

namespace mmafuzz {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string library(const char* name) { return std::string(MMAFUZZ_BINARY_DIR) + "/tests/" + name; }

TEST(CublasLibrary, WithoutEmulationComputesNatively) {
  setenv("MMAFUZZ_CUBLAS", library("old_cublas.so").c_str(), 1);
  const CublasFile old(13);
  EXPECT_EQ(old.missing(), "");
  EXPECT_EQ(old.lacks(false), "");
  EXPECT_THAT(old.lacks(true), HasSubstr("has no cublasSetEmulationStrategy: it is older than cuBLAS 13.0 update 2"));
  setenv("MMAFUZZ_CUBLAS", library("new_cublas.so").c_str(), 1);
  const CublasFile fresh(13);
  EXPECT_EQ(fresh.lacks(false), "");
  EXPECT_EQ(fresh.lacks(true), "");
}

TEST(CublasLibrary, IsFoundInSitePackages) {
  unsetenv("MMAFUZZ_CUBLAS");
  const fs::path environment = fs::temp_directory_path() / ("mmafuzz-venv-" + std::to_string(getpid()));
  const fs::path folder = environment / "lib/python3.11/site-packages/nvidia/cublas/lib";
  fs::create_directories(folder);
  fs::copy_file(library("new_cublas.so"), folder / "libcublas.so.97");  // a version that no machine has
  setenv("VIRTUAL_ENV", environment.c_str(), 1);
  const CublasFile found(97);
  EXPECT_EQ(found.missing(), "");
  EXPECT_EQ(found.name(), (folder / "libcublas.so.97").string());
  fs::remove_all(environment);
}

TEST(CublasLibrary, ThatIsNowhereSaysHowToNameIt) {
  unsetenv("MMAFUZZ_CUBLAS");
  unsetenv("VIRTUAL_ENV");
  const CublasFile none(98);
  EXPECT_THAT(none.missing(), HasSubstr("MMAFUZZ_CUBLAS names its file"));
  EXPECT_EQ(none.lacks(false), none.missing());
  EXPECT_EQ(none.find("cublasGemmEx"), nullptr);
}

}  // namespace
}  // namespace mmafuzz
