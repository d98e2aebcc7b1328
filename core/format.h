// Named floating-point formats: a run-time value whose masks derive from its field widths.
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

  friend bool operator==(const Format& x, const Format& y) { return x.fields_ == y.fields_; }

 private:
  std::string name_;
  FormatFields fields_;
};

/// Parses a format's name (docs/case-text.md), with `:<bias>` for the configurable formats and, for Tesla's, switches
/// after `?` separated by commas (docs/cfloat.md). An unknown name or switch or a bias outside 0..63 is refused.
/// `bias`, the bias that CFloat numbers share, is a format of scales alone.
Result<Format> parse_format(std::string_view name);

/// The format of that name; the name must be known (for constants in code).
Format format(std::string_view name);

/// One name per format; configurable formats with bias 0.
std::vector<std::string> format_names();

/// A row of the table of formats, and what may follow its name.
struct FormatForms {
  std::string name;
  bool takes_bias = false;            ///< `:<bias>`, 0 to greatest_bias
  std::vector<std::string> switches;  ///< `?name=value`: each value that is not the row's own
};
inline constexpr int greatest_bias = 63;

/// Every format with every switch, for searches that walk them all.
std::vector<FormatForms> format_forms();

/// `value` as the hexadecimal digits that case text uses for this format.
std::string to_hex(const Format& format, uint64_t encoding);

}  // namespace mmafuzz
