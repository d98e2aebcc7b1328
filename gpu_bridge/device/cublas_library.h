// The shared library of cuBLAS: possible paths of its file, which functions native and emulated calls need, and their
// addresses. Compiles without CUDA.
#pragma once

#include <string>

namespace mmafuzz {

class CublasFile {
 public:
  /// Tries the possible files of this major version of cuBLAS in order and keeps the first that loads. Never throws.
  explicit CublasFile(int major);

  /// Why no file could be loaded; empty if one was.
  const std::string& missing() const { return missing_; }
  /// The file that was loaded; empty if none was.
  const std::string& name() const { return name_; }
  /// Why native calls (with `emulation`, emulated ones) are impossible: no library, or the first function that it
  /// lacks. Empty: they are possible.
  std::string lacks(bool emulation) const;
  /// The address of a function; nullptr if there is no library or no such function.
  void* find(const char* function) const;

 private:
  void* library_ = nullptr;
  std::string missing_, name_;
};

}  // namespace mmafuzz
