// Cases of one op as encodings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

/// The namespace is the version of the interface: what an existing caller would notice comes as v2, beside v1.
namespace mmafuzz::v1 {

/// A wrong call or input: one line that says what, where, and what to do. Every function of this interface may throw
/// it; what mmafuzz finds wrong with itself is a std::logic_error.
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

/// Cases of one op. An encoding is a 64-bit integer: the bits of a number of the field's format, the lowest bits first,
/// zero above.
class Batch {
 public:
  /// `op` is an op line of case text, as in "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4".
  explicit Batch(const std::string& op, std::size_t cases = 0);
  /// The cases of a file of case text (`.gz` too), a batch for each stretch of one unit line and one op line.
  static std::vector<Batch> read(const std::string& file);
  Batch(const Batch& other);
  Batch& operator=(const Batch& other);
  Batch(Batch&& other) noexcept;
  Batch& operator=(Batch&& other) noexcept;
  ~Batch();

  const std::string& op() const;
  /// The unit line above the cases of a file; empty elsewhere.
  const std::string& unit() const;
  std::size_t size() const;
  /// New cases are zeros.
  void resize(std::size_t cases);

  /// Appends a case: encodings or numbers, fields between `|`, as in "1. 2. 1. 1. | 1. 1. 1. 0x1p-24 | 0.5". A further
  /// field is the expected result.
  void add(const std::string& line);
  /// A case as a line of case text.
  std::string line(std::size_t index) const;

  /// The fields of a case in their order, and the field of the result.
  const std::vector<Field>& fields() const;
  const Field& result() const;
  /// `field` counts fields(), `element` the encodings of a field. Throws Error where there is none such, or where an
  /// encoding is wider than its format.
  std::uint64_t get(std::size_t index, std::size_t field, std::size_t element = 0) const;
  void set(std::size_t index, std::size_t field, std::size_t element, std::uint64_t encoding);

  /// Whether the case has an expected result, and that result: result().count encodings.
  bool has_expected(std::size_t index) const;
  std::vector<std::uint64_t> expected(std::size_t index) const;

 private:
  friend struct Access;
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace mmafuzz::v1
