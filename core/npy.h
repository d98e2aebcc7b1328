// NumPy's files: one array (.npy), or several with names in a zip archive (.npz).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mmafuzz {

/// An array in C order, little-endian.
struct NpyArray {
  std::string type;  ///< numpy's: "<f2", "|u1", "|V1"
  std::vector<size_t> shape;
  std::string data;

  size_t element_bytes() const;
  size_t elements() const;
};

/// Reads the content of a .npy file; `name` stands in messages. Throws std::runtime_error, which says what to do, where
/// it is none, or one of another kind: big-endian, in Fortran order, of objects or structures, truncated.
NpyArray parse_npy(const std::string& name, std::string_view content);
std::string npy_content(const NpyArray& array);

/// The arrays of a .npz file by name, without ".npy". Throws std::runtime_error.
std::map<std::string, NpyArray> parse_npz(const std::string& name, std::string_view content);
std::string npz_content(const std::vector<std::pair<std::string, NpyArray>>& arrays);

}  // namespace mmafuzz
