// Content of NumPy's files: one array (.npy), or several named arrays in a zip archive (.npz).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mmafuzz {

/// An array in C order (the last index varies fastest), little-endian.
struct NpyArray {
  std::string type;  ///< NumPy's description: "<f2", "|u1", "|V1"; its digit is the number of bytes of an element
  std::vector<size_t> shape;
  std::string data;

  size_t element_bytes() const;
  size_t elements() const;
};

/// The array in the content of a .npy file; messages name it `name`. Throws std::runtime_error, which says what to do,
/// where the content is no .npy file, is truncated, or is big-endian, in Fortran order, or of objects or structures.
NpyArray parse_npy(const std::string& name, std::string_view content);
std::string npy_content(const NpyArray& array);

/// The arrays of a .npz file by their names without ".npy". Throws std::runtime_error as parse_npy() does.
std::map<std::string, NpyArray> parse_npz(const std::string& name, std::string_view content);
std::string npz_content(const std::vector<std::pair<std::string, NpyArray>>& arrays);

}  // namespace mmafuzz
