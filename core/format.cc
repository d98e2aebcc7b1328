// The table of formats. Sources: IEEE 754-2019; OCP OFP8 1.0; OCP MX 1.0; PTX ISA (tf32, ue8m0, ue4m3); AMD CDNA3 ISA
// (fnuz); Tesla Dojo configurable floating point (CFloat8, SHP, UHP).
#include "core/format.h"

#include "core/quoted.h"

#include <charconv>
#include <stdexcept>

namespace mmafuzz {
namespace {

struct Row {
  const char* name;
  FormatFields fields;
  bool takes_bias;
};

constexpr FormatFields make(int width, int exponent_bits, int fraction_bits, int bias, Specials specials,
                            SignField sign = SignField::present, SubnormalRule subnormals = SubnormalRule::gradual,
                            int ignored_low_bits = 0) {
  FormatFields f;
  f.width = static_cast<uint8_t>(width);
  f.exponent_bits = static_cast<uint8_t>(exponent_bits);
  f.fraction_bits = static_cast<uint8_t>(fraction_bits);
  f.bias = static_cast<int16_t>(bias);
  f.specials = specials;
  f.sign = sign;
  f.subnormals = subnormals;
  f.ignored_low_bits = static_cast<uint8_t>(ignored_low_bits);
  return f;
}

constexpr FormatFields make_integer(int width, bool has_sign) {
  FormatFields f;
  f.width = static_cast<uint8_t>(width);
  f.sign = has_sign ? SignField::present : SignField::absent;
  f.specials = Specials::none;
  f.integer = true;
  return f;
}

constexpr auto signed_ = SignField::present;
constexpr auto unsigned_ = SignField::absent;

constexpr Row rows[] = {
    {"fp64", ieee_fields(11, 52), false},
    {"fp32", ieee_fields(8, 23), false},
    {"fp16", ieee_fields(5, 10), false},
    {"bf16", ieee_fields(8, 7), false},
    {"tf32", make(32, 8, 10, 127, Specials::ieee, signed_, SubnormalRule::gradual, 13), false},
    {"e5m2", make(8, 5, 2, 15, Specials::ieee), false},
    {"e4m3", make(8, 4, 3, 7, Specials::fn), false},
    {"e5m2fnuz", make(8, 5, 2, 16, Specials::fnuz), false},
    {"e4m3fnuz", make(8, 4, 3, 8, Specials::fnuz), false},
    {"e3m2", make(6, 3, 2, 3, Specials::none), false},
    {"e2m3", make(6, 2, 3, 1, Specials::none), false},
    {"e2m1", make(4, 2, 1, 1, Specials::none), false},
    {"e8m0", make(8, 8, 0, 127, Specials::top_code, unsigned_, SubnormalRule::absent), false},
    {"ue4m3", make(8, 4, 3, 7, Specials::fn, SignField::ignored), false},
    {"cfloat8_1_4_3", make(8, 4, 3, 0, Specials::none, signed_, SubnormalRule::literal), true},
    {"cfloat8_1_5_2", make(8, 5, 2, 0, Specials::none, signed_, SubnormalRule::literal), true},
    {"shp", make(16, 5, 10, 0, Specials::none, signed_, SubnormalRule::literal), true},
    {"uhp", make(16, 6, 10, 31, Specials::ieee, unsigned_, SubnormalRule::flushed), false},
    {"s8", make_integer(8, true), false},
    {"u8", make_integer(8, false), false},
    {"s32", make_integer(32, true), false},
};

}  // namespace

Result<Format> parse_format(std::string_view text) {
  const std::string whole(text);
  std::string_view switches;
  bool has_switches = false;
  if (const auto question = text.find('?'); question != text.npos) {
    switches = text.substr(question + 1);
    has_switches = true;
    text = text.substr(0, question);
  }
  std::string_view bias_text;
  const auto colon = text.find(':');
  if (colon != text.npos) {
    bias_text = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  for (const Row& row : rows) {
    if (text != row.name) continue;
    FormatFields fields = row.fields;
    if (row.takes_bias) {
      int bias = -1;
      const auto parsed = std::from_chars(bias_text.data(), bias_text.data() + bias_text.size(), bias);
      if (bias_text.empty() || parsed.ec != std::errc{} || parsed.ptr != bias_text.data() + bias_text.size() || bias < 0 ||
          bias > 63)
        return invalid("format " + quoted(whole) + " needs a bias of 0 to 63, as in " + row.name + ":7");
      fields.bias = static_cast<int16_t>(bias);
    } else if (colon != text.npos) {
      return invalid("format " + quoted(whole) + " takes no bias");
    }
    if (has_switches) {
      const bool configurable = fields.subnormals == SubnormalRule::literal;
      if (configurable && switches == "denormal=gradual") {
        fields.subnormals = SubnormalRule::gradual;
      } else if (!(configurable && switches == "denormal=literal")) {
        return invalid("format " + quoted(whole) + " has no switch " + quoted(switches));
      }
    }
    return Format(whole, fields);
  }
  std::string known;
  for (const Row& row : rows) known += std::string(known.empty() ? "" : " ") + row.name + (row.takes_bias ? ":<bias>" : "");
  return unknown("unknown format " + quoted(whole) + "; known: " + known);
}

Format format(std::string_view name) {
  Result<Format> parsed = parse_format(name);
  if (!parsed) throw std::logic_error(parsed.refusal().reason);
  return *parsed;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(std::string(row.name) + (row.takes_bias ? ":0" : ""));
  return names;
}

std::string to_hex(const Format& format, uint64_t encoding) {
  std::string text(static_cast<size_t>(format.digits()), '0');
  for (size_t i = text.size(); i-- > 0; encoding >>= 4) text[i] = "0123456789abcdef"[encoding & 15];
  return text;
}

}  // namespace mmafuzz
