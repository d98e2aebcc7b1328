// Named number formats, floating-point and integer, as run-time values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arithmetic/format_fields.h"
#include "core/result.h"

namespace mmafuzz {

class Format {
 public:
  Format() = default;
  Format(std::string name, const FormatFields& fields) : name_(std::move(name)), fields_(fields) {}

  const std::string& name() const { return name_; }
  const FormatFields& fields() const { return fields_; }
  /// Hexadecimal digits of an encoding in case text: ceil(width / 4).
  int digits() const { return (fields_.width + 3) / 4; }
  /// Bytes of an encoding in a packed column: 1, 2, 4 or 8.
  int storage_bytes() const { return fields_.width <= 8 ? 1 : fields_.width <= 16 ? 2 : fields_.width <= 32 ? 4 : 8; }

  /// Whether both have the same numbers under the same encodings; names do not count.
  friend bool operator==(const Format& x, const Format& y) { return x.fields_ == y.fields_; }

 private:
  std::string name_;
  FormatFields fields_;
};

/// Parses a format's name (docs/case-text.md), with `:<bias>` for the configurable formats and, for Tesla's, switches
/// after `?`, separated by commas (docs/cfloat.md). Refuses an unknown name or switch, and a bias outside 0..63. The
/// name `bias` is a format for scales only: the bias that the CFloat numbers of a block share.
Result<Format> parse_format(std::string_view name);

/// The same for names in code. Throws std::logic_error where parse_format() refuses.
Format format(std::string_view name);

/// The names of all formats, in the order of their table; of a configurable format the name with bias 0.
std::vector<std::string> format_names();

/// A name in the table of formats, and what may follow it.
struct FormatForms {
  std::string name;
  bool takes_bias = false;            ///< whether `:<bias>`, from 0 to greatest_bias, must follow
  std::vector<std::string> switches;  ///< "name=value" after `?`: each value that is not the default
};
inline constexpr int greatest_bias = 63;

/// The forms of every format, in the order of their table, for searches over all formats.
std::vector<FormatForms> format_forms();

/// The lowest `digits` hexadecimal digits of the value, in lower case, as in case text.
std::string to_hex(uint64_t value, int digits);
inline std::string to_hex(const Format& format, uint64_t encoding) { return to_hex(encoding, format.digits()); }

}  // namespace mmafuzz
