#include "gpu_bridge/device/cublas_library.h"

#include <dlfcn.h>
#include <glob.h>

#include <cstdlib>
#include <vector>

namespace mmafuzz {
namespace {

struct Function {
  const char* name;
  bool is_for_emulation;
};
/// Every function of cuBLAS that kernels/cublas.cu calls.
constexpr Function functions[] = {
    {"cublasCreate_v2", false},
    {"cublasGetStatusName", false},
    {"cublasSetMathMode", false},
    {"cublasGemmEx", false},
    {"cublasSetEmulationStrategy", true},
    {"cublasSetEmulationSpecialValuesSupport", true},
    {"cublasSetFixedPointEmulationMantissaControl", true},
    {"cublasSetFixedPointEmulationMaxMantissaBitCount", true},
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void add_matches(const std::string& pattern, std::vector<std::string>& files) {
  glob_t found;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; ++i) files.push_back(found.gl_pathv[i]);
  globfree(&found);
}

/// Files to try, in order: where MMAFUZZ_CUBLAS is set, that file alone; else the loader's search path, the toolkit's
/// folder, and Python's site-packages, where NVIDIA's wheels install it.
std::vector<std::string> cublas_candidates(int major) {
  if (const std::string only = environment("MMAFUZZ_CUBLAS"); !only.empty()) return {only};
  const std::string file = "libcublas.so." + std::to_string(major);
  std::vector<std::string> files = {file, "/usr/local/cuda/lib64/" + file};
  std::vector<std::string> prefixes;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string prefix = environment(name); !prefix.empty()) prefixes.push_back(prefix);
  if (const std::string home = environment("HOME"); !home.empty()) prefixes.push_back(home + "/.local");
  prefixes.insert(prefixes.end(), {"/usr/local", "/usr", "/opt/*"});
  for (const std::string& prefix : prefixes)
    for (const char* packages : {"site-packages", "dist-packages"})
      add_matches(prefix + "/lib/python3*/" + packages + "/nvidia/*/lib/" + file, files);
  return files;
}

}  // namespace

CublasFile::CublasFile(int major) {
  for (const std::string& file : cublas_candidates(major)) {
    // libcublas needs libcublasLt, which a wheel has in the same folder without saying so.
    const size_t slash = file.rfind('/');
    if (slash != std::string::npos)
      dlopen((file.substr(0, slash) + "/libcublasLt.so." + std::to_string(major)).c_str(), RTLD_NOW | RTLD_LOCAL);
    library_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_) {
      name_ = file;
      missing_.clear();
      return;
    }
    if (missing_.empty())
      missing_ = "cuBLAS cannot be loaded: " + std::string(dlerror()) + "; MMAFUZZ_CUBLAS names its file";
  }
}

std::string CublasFile::lacks(bool emulation) const {
  if (!library_) return missing_;
  for (const Function& f : functions)
    if ((!f.is_for_emulation || emulation) && !find(f.name))
      return name_ + " has no " + f.name + (f.is_for_emulation ? ": it is older than cuBLAS 13.0 update 2" : "");
  return "";
}

void* CublasFile::find(const char* function) const { return library_ ? dlsym(library_, function) : nullptr; }

}  // namespace mmafuzz
