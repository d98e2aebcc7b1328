// Cases of one op as encodings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

/// The namespace is the version of the interface: a change that breaks existing callers becomes v2, beside v1.
namespace mmafuzz::v1 {

/// A wrong call or input; what() is one line with the mistake, its place and the remedy. Any function of this interface
/// can throw it; a fault of mmafuzz itself is a std::logic_error.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~Error() override;
};

/// A field of a case: `count` encodings of one format.
struct Field {
  std::string name;    ///< "a", "b", "c", "sa", ...
  std::string format;  ///< "fp16", "e4m3", ... (mmafuzz list formats)
  std::size_t count = 1;
  int width = 0;  ///< bits of an encoding
};

/// Cases of one op, numbered from 0. An encoding is a 64-bit integer whose low bits are those of a number in the
/// field's format; the bits above are zero.
class Batch {
 public:
  /// `op` is an op line of case text, as in "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4".
  explicit Batch(const std::string& op, std::size_t cases = 0);
  /// Reads a file of case text (`.gz` too); consecutive cases under one unit line and one op line are a batch.
  static std::vector<Batch> read(const std::string& file);
  Batch(const Batch& other);
  Batch& operator=(const Batch& other);
  Batch(Batch&& other) noexcept;
  Batch& operator=(Batch&& other) noexcept;
  ~Batch();

  const std::string& op() const;
  /// The unit line above the cases in the file; empty if there was none.
  const std::string& unit() const;
  std::size_t size() const;
  /// New cases have zero encodings and no expected result.
  void resize(std::size_t cases);

  /// Appends a case from encodings or numbers, fields separated by `|`, as in "1. 2. 1. 1. | 1. 1. 1. 0x1p-24 | 0.5".
  /// Behind its fields() may stand the expected result, and behind that the status flags of IEEE 754 that it raises.
  void add(const std::string& line);
  /// A case as a line of case text, with its expected result and flags if it has them.
  std::string line(std::size_t index) const;

  /// The fields of a case in the order of case text (for a dot a, b, c, then scales), and the field of the result.
  const std::vector<Field>& fields() const;
  const Field& result() const;
  /// One encoding: `field` is an index in fields(), `element` one in the field's encodings, both from 0. Throws Error
  /// where there is no such case, field or element; set() also where the encoding is wider than the format.
  std::uint64_t get(std::size_t index, std::size_t field, std::size_t element = 0) const;
  void set(std::size_t index, std::size_t field, std::size_t element, std::uint64_t encoding);

  /// Whether there is such a case and it has an expected result. expected() returns it, result().count encodings, or
  /// throws Error if there is none.
  bool has_expected(std::size_t index) const;
  std::vector<std::uint64_t> expected(std::size_t index) const;

 private:
  friend struct Access;
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace mmafuzz::v1
