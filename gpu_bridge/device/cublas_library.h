// The shared library of cuBLAS: where it may lie, which of its functions are needed for what, and their addresses.
// Knows no CUDA.
#pragma once

#include <string>

namespace mmafuzz {

class CublasFile {
 public:
  /// Loads the first candidate that loads.
  explicit CublasFile(int major);

  /// Why there is no library; empty: there is.
  const std::string& missing() const { return missing_; }
  /// The file that was loaded.
  const std::string& name() const { return name_; }
  /// Why native calls, or emulated ones, cannot be made: a function that they need is not there. Empty: they can.
  std::string lacks(bool emulation) const;
  /// The address of a function, nullptr if it is not there.
  void* find(const char* function) const;

 private:
  void* library_ = nullptr;
  std::string missing_, name_;
};

}  // namespace mmafuzz
