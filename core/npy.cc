#include "core/npy.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace mmafuzz {
namespace {

constexpr std::string_view npy_magic("\x93NUMPY", 6);
constexpr uint64_t max_npy_bytes = uint64_t{1} << 32;

[[noreturn]] void refuse_npy(const std::string& name, const std::string& why) {
  throw std::runtime_error(name + ": " + why);
}

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::string as_bytes(uint64_t value, size_t count) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

/// The header, a Python dictionary, from the value of 'key' on.
std::string_view value_in_header(const std::string& name, std::string_view header, std::string_view key) {
  const size_t start = header.find("'" + std::string(key) + "':");
  if (start == header.npos) refuse_npy(name, "the header of the array has no '" + std::string(key) + "'");
  header.remove_prefix(start + key.size() + 3);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

std::vector<size_t> parse_shape(const std::string& name, std::string_view text) {
  const size_t end = text.find(')');
  if (!text.starts_with("(") || end == text.npos) refuse_npy(name, "the shape of the array is malformed");
  text = text.substr(1, end - 1);
  std::vector<size_t> shape;
  while (!text.empty()) {
    size_t extent = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc()) refuse_npy(name, "the shape of the array is malformed");
    text.remove_prefix(static_cast<size_t>(stop - text.data()));
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
    shape.push_back(extent);
  }
  return shape;
}

/// The `size` bytes of a member of a zip archive, from its raw deflate data (-15: no zlib header).
std::string inflated(const std::string& name, std::string_view packed, size_t size) {
  std::string bytes(size, 0);
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) refuse_npy(name, "cannot inflate");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(size);
  const int code = inflate(&stream, Z_FINISH);
  const bool whole = code == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!whole) refuse_npy(name, "is damaged: its data cannot be inflated");
  return bytes;
}

/// The signatures of a zip archive's parts.
constexpr uint64_t local_header = 0x04034b50, directory_entry = 0x02014b50, directory_end = 0x06054b50;

}  // namespace

size_t NpyArray::element_bytes() const {
  size_t bytes = 0;
  std::from_chars(type.data() + 2, type.data() + type.size(), bytes);
  return bytes;
}

size_t NpyArray::elements() const {
  size_t count = 1;
  for (const size_t extent : shape) count *= extent;
  return count;
}

NpyArray parse_npy(const std::string& name, std::string_view content) {
  if (!content.starts_with(npy_magic)) refuse_npy(name, "is no .npy file: it does not begin with \\x93NUMPY");
  if (content.size() < 12) refuse_npy(name, "is truncated");
  const size_t length_bytes = content[6] == 1 ? 2 : 4;
  if (content[6] < 1 || content[6] > 3) refuse_npy(name, "is of a version of .npy that is not known");
  const uint64_t length = little_endian(content.substr(8, length_bytes));
  if (length > content.size() - 8 - length_bytes) refuse_npy(name, "is truncated");
  const std::string_view header = content.substr(8 + length_bytes, length);

  NpyArray array;
  const std::string_view type = value_in_header(name, header, "descr");
  const size_t quote = type.size() > 1 ? type.find('\'', 1) : type.npos;
  if (!type.starts_with("'") || quote == type.npos)
    refuse_npy(name, "holds structures; save one array of numbers for each field");
  array.type = type.substr(1, quote - 1);
  const bool understood = array.type.size() >= 3 && array.type.size() <= 4 &&
                          std::string_view("<>|=").find(array.type[0]) != std::string_view::npos;
  if (!understood || array.type[1] == 'O') refuse_npy(name, "holds " + array.type + ", expected an array of numbers");
  if (array.type[1] == 'c')
    refuse_npy(name, "holds " + array.type + ", complex numbers, which no format has: save x.real and x.imag");
  const size_t bytes = array.element_bytes();
  if (std::string_view("fiuV").find(array.type[1]) == std::string_view::npos || bytes == 0 || bytes > 8)
    refuse_npy(name, "holds " + array.type + ", expected an array of numbers");
  if (array.type[0] == '>' && bytes > 1)
    refuse_npy(name, "is big-endian (" + array.type + "): save x.astype(x.dtype.newbyteorder('<'))");
  if (array.type[1] == 'V') array.type[0] = '|';
  if (!value_in_header(name, header, "fortran_order").starts_with("False"))
    refuse_npy(name, "is in Fortran order: save numpy.ascontiguousarray(x)");
  array.shape = parse_shape(name, value_in_header(name, header, "shape"));
  uint64_t size = bytes;
  for (const size_t extent : array.shape)
    if (__builtin_mul_overflow(size, uint64_t{extent}, &size) || size > max_npy_bytes)
      refuse_npy(name, "is too large: 4 GiB at most");
  const std::string_view data = content.substr(8 + length_bytes + length);
  if (data.size() < size)
    refuse_npy(name, "is truncated: " + std::to_string(data.size()) + " of " + std::to_string(size) + " bytes of data");
  array.data = data.substr(0, size);
  return array;
}

std::string npy_content(const NpyArray& array) {
  std::string shape;
  for (const size_t extent : array.shape) shape += std::to_string(extent) + ", ";
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  if (array.shape.size() == 1) shape.pop_back();
  std::string header = "{'descr': '" + array.type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');  // the data begin at a multiple of 64
  header += '\n';
  return std::string(npy_magic) + "\x01" + std::string(1, 0) + as_bytes(header.size(), 2) + header + array.data;
}

std::map<std::string, NpyArray> parse_npz(const std::string& name, std::string_view content) {
  constexpr size_t end_bytes = 22, entry_bytes = 46, local_bytes = 30;
  size_t end = content.npos;
  for (size_t back = end_bytes; back <= content.size() && back < end_bytes + 65536 && end == content.npos; ++back)
    if (little_endian(content.substr(content.size() - back, 4)) == directory_end) end = content.size() - back;
  if (end == content.npos) refuse_npy(name, "is no .npz file, or is truncated: it has no directory");
  const uint64_t count = little_endian(content.substr(end + 10, 2));
  uint64_t entry_start = little_endian(content.substr(end + 16, 4));
  std::map<std::string, NpyArray> arrays;
  for (uint64_t i = 0; i < count; ++i) {
    if (entry_start > content.size() || content.size() - entry_start < entry_bytes ||
        little_endian(content.substr(entry_start, 4)) != directory_entry)
      refuse_npy(name, "is damaged: its directory is no directory");
    const std::string_view entry = content.substr(entry_start, entry_bytes);
    const uint64_t method = little_endian(entry.substr(10, 2)), checksum = little_endian(entry.substr(16, 4));
    const uint64_t packed = little_endian(entry.substr(20, 4)), size = little_endian(entry.substr(24, 4));
    const uint64_t name_bytes = little_endian(entry.substr(28, 2)), extra = little_endian(entry.substr(30, 2));
    const uint64_t comment = little_endian(entry.substr(32, 2)), local_start = little_endian(entry.substr(42, 4));
    std::string member(content.substr(entry_start + entry_bytes, name_bytes));
    entry_start += entry_bytes + name_bytes + extra + comment;
    const std::string where = name + ", array " + member;
    if (local_start > content.size() || content.size() - local_start < local_bytes ||
        little_endian(content.substr(local_start, 4)) != local_header)
      refuse_npy(where, "is damaged");
    const uint64_t start = local_start + local_bytes + little_endian(content.substr(local_start + 26, 2)) +
                           little_endian(content.substr(local_start + 28, 2));
    if (start > content.size() || content.size() - start < packed) refuse_npy(where, "is truncated");
    if (method != 0 && method != 8) refuse_npy(where, "is packed in a way that is not known");
    // Deflate makes nothing more than 1032 times smaller.
    if (size > max_npy_bytes || size > packed * 1032 + 1024) refuse_npy(where, "is damaged: its size is wrong");
    const std::string_view stored = content.substr(start, packed);
    const std::string bytes = method == 8 ? inflated(where, stored, size) : std::string(stored);
    if (crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())) != checksum)
      refuse_npy(where, "is damaged: its checksum is wrong");
    if (member.ends_with(".npy")) member.resize(member.size() - 4);
    arrays[member] = parse_npy(where, bytes);
  }
  return arrays;
}

std::string npz_content(const std::vector<std::pair<std::string, NpyArray>>& arrays) {
  std::string members, directory;
  for (const auto& [name, array] : arrays) {
    const std::string file = name + ".npy", bytes = npy_content(array);
    const uint64_t checksum = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
    // Version, flags, method (stored), time and date (1980-01-01), checksum, both sizes, length of the name, no extra.
    const std::string common = as_bytes(20, 2) + as_bytes(0, 2) + as_bytes(0, 2) + as_bytes(0, 2) + as_bytes(33, 2) +
                               as_bytes(checksum, 4) + as_bytes(bytes.size(), 4) + as_bytes(bytes.size(), 4) +
                               as_bytes(file.size(), 2) + as_bytes(0, 2);
    directory += as_bytes(directory_entry, 4) + as_bytes(20, 2) + common + as_bytes(0, 2) + as_bytes(0, 2) +
                 as_bytes(0, 2) + as_bytes(0, 4) + as_bytes(members.size(), 4) + file;
    members += as_bytes(local_header, 4) + common + file + bytes;
  }
  if (members.size() > 0xffffffff) throw std::runtime_error("an .npz file holds 4 GiB at most");
  return members + directory + as_bytes(directory_end, 4) + as_bytes(0, 2) + as_bytes(0, 2) +
         as_bytes(arrays.size(), 2) + as_bytes(arrays.size(), 2) + as_bytes(directory.size(), 4) +
         as_bytes(members.size(), 4) + as_bytes(0, 2);
}

}  // namespace mmafuzz
