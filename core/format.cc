// The table of formats. Sources: IEEE 754-2019; OCP OFP8 1.0; OCP MX 1.0; PTX ISA (tf32, ue8m0, ue4m3); AMD CDNA3 ISA
// (fnuz); IEEE P3109 interim report (binary8pP, signed, extended or finite); Tesla Dojo configurable floating point
// (CFloat8, SHP, UHP).
#include "core/format.h"

#include "core/text.h"

#include <algorithm>
#include <stdexcept>

namespace mmafuzz {
namespace {

struct Row {
  const char* name;
  FormatFields fields;
  bool takes_bias;
  const char* dtype = "";  ///< its name in NumPy or ml_dtypes; "" where it has none
};

enum class FormatGroup : uint8_t { all, literal, not_flushed, with_sign, without_sign, with_nan, without_specials };

/// One reading of a point that Tesla's text leaves open (docs/cfloat.md): `name=value` sets the bits `mask` of
/// FormatFields::policy to `bits`. `formats`: those that the point concerns (concerns()).
struct Switch {
  const char* name;
  const char* value;
  uint32_t mask, bits;
  FormatGroup formats;
};

constexpr uint32_t negatives = policy::negative_zero | policy::negative_absolute;

constexpr Switch switches[] = {
    {"hole", "tie_up", policy::hole_tie_down, 0, FormatGroup::literal},
    {"hole", "tie_down", policy::hole_tie_down, policy::hole_tie_down, FormatGroup::literal},
    {"clamp", "signed", policy::clamp_positive, 0, FormatGroup::with_sign},
    {"clamp", "positive", policy::clamp_positive, policy::clamp_positive, FormatGroup::with_sign},
    {"nan", "positive", policy::nan_signed, 0, FormatGroup::without_specials},
    {"nan", "signed", policy::nan_signed, policy::nan_signed, FormatGroup::without_specials},
    {"zero", "signed", policy::zero_positive, 0, FormatGroup::with_sign},
    {"zero", "positive", policy::zero_positive, policy::zero_positive, FormatGroup::with_sign},
    {"negative", "nan", negatives, 0, FormatGroup::without_sign},
    {"negative", "zero", negatives, policy::negative_zero, FormatGroup::without_sign},
    {"negative", "absolute", negatives, policy::negative_absolute, FormatGroup::without_sign},
    {"tiny_negative", "invalid", policy::tiny_negative_flushed, 0, FormatGroup::without_sign},
    {"tiny_negative", "flushed", policy::tiny_negative_flushed, policy::tiny_negative_flushed,
     FormatGroup::without_sign},
    {"stochastic_hole", "gap", policy::hole_nearest, 0, FormatGroup::literal},
    {"stochastic_hole", "nearest", policy::hole_nearest, policy::hole_nearest, FormatGroup::literal},
    {"overflow", "after", policy::overflow_before, 0, FormatGroup::all},
    {"overflow", "before", policy::overflow_before, policy::overflow_before, FormatGroup::all},
    {"underflow", "inexact", policy::underflow_exact, 0, FormatGroup::not_flushed},
    {"underflow", "tiny", policy::underflow_exact, policy::underflow_exact, FormatGroup::not_flushed},
    {"inexact", "none", policy::no_inexact, policy::no_inexact, FormatGroup::all},
    {"inexact", "raised", policy::no_inexact, 0, FormatGroup::all},
    {"flush", "after", policy::flush_before, 0, FormatGroup::without_sign},
    {"flush", "before", policy::flush_before, policy::flush_before, FormatGroup::without_sign},
    {"conversions", "flagged", policy::conversions_silent, 0, FormatGroup::all},
    {"conversions", "silent", policy::conversions_silent, policy::conversions_silent, FormatGroup::all},
    {"infinity", "overflow", policy::infinity_invalid, 0, FormatGroup::without_specials},
    {"infinity", "invalid", policy::infinity_invalid, policy::infinity_invalid, FormatGroup::without_specials},
    {"invalid", "any_nan", policy::any_nan_invalid, policy::any_nan_invalid, FormatGroup::with_nan},
    {"invalid", "signaling_nan", policy::any_nan_invalid, 0, FormatGroup::with_nan},
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

/// A format of Tesla's text, with its default policy: nothing raises inexact, and any NaN operand is invalid.
constexpr FormatFields make_tesla(int width, int exponent_bits, int fraction_bits, int bias, Specials specials,
                                  SignField sign, SubnormalRule subnormals) {
  FormatFields f = make(width, exponent_bits, fraction_bits, bias, specials, sign, subnormals);
  f.policy = policy::no_inexact | policy::any_nan_invalid;
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
    {"fp64", ieee_fields(11, 52), false, "float64"},
    {"fp32", ieee_fields(8, 23), false, "float32"},
    {"fp16", ieee_fields(5, 10), false, "float16"},
    {"bf16", ieee_fields(8, 7), false, "bfloat16"},
    {"tf32", make(32, 8, 10, 127, Specials::ieee, signed_, SubnormalRule::gradual, 13), false},
    {"e5m2", make(8, 5, 2, 15, Specials::ieee), false, "float8_e5m2"},
    {"e4m3", make(8, 4, 3, 7, Specials::fn), false, "float8_e4m3fn"},
    {"e5m2fnuz", make(8, 5, 2, 16, Specials::fnuz), false, "float8_e5m2fnuz"},
    {"e4m3fnuz", make(8, 4, 3, 8, Specials::fnuz), false, "float8_e4m3fnuz"},
    {"binary8p2se", make(8, 6, 1, 32, Specials::top_infinity), false},
    {"binary8p3se", make(8, 5, 2, 16, Specials::top_infinity), false},
    {"binary8p4se", make(8, 4, 3, 8, Specials::top_infinity), false},
    {"binary8p5se", make(8, 3, 4, 4, Specials::top_infinity), false},
    {"binary8p6se", make(8, 2, 5, 2, Specials::top_infinity), false},
    {"binary8p7se", make(8, 1, 6, 1, Specials::top_infinity), false},
    {"binary8p2sf", make(8, 6, 1, 32, Specials::fnuz), false},
    {"binary8p3sf", make(8, 5, 2, 16, Specials::fnuz), false},
    {"binary8p4sf", make(8, 4, 3, 8, Specials::fnuz), false},
    {"binary8p5sf", make(8, 3, 4, 4, Specials::fnuz), false},
    {"binary8p6sf", make(8, 2, 5, 2, Specials::fnuz), false},
    {"binary8p7sf", make(8, 1, 6, 1, Specials::fnuz), false},
    {"e3m2", make(6, 3, 2, 3, Specials::none), false, "float6_e3m2fn"},
    {"e2m3", make(6, 2, 3, 1, Specials::none), false, "float6_e2m3fn"},
    {"e2m1", make(4, 2, 1, 1, Specials::none), false, "float4_e2m1fn"},
    {"e8m0", make(8, 8, 0, 127, Specials::top_code, unsigned_, SubnormalRule::absent), false, "float8_e8m0fnu"},
    {"ue4m3", make(8, 4, 3, 7, Specials::fn, SignField::ignored), false},
    {"cfloat8_1_4_3", make_tesla(8, 4, 3, 0, Specials::none, signed_, SubnormalRule::literal), true},
    {"cfloat8_1_5_2", make_tesla(8, 5, 2, 0, Specials::none, signed_, SubnormalRule::literal), true},
    {"shp", make_tesla(16, 5, 10, 0, Specials::none, signed_, SubnormalRule::literal), true},
    {"uhp", make_tesla(16, 6, 10, 31, Specials::ieee, unsigned_, SubnormalRule::flushed), false},
    {"s4", make_integer(4, true), false, "int4"},
    {"u4", make_integer(4, false), false, "uint4"},
    {"s8", make_integer(8, true), false, "int8"},
    {"u8", make_integer(8, false), false, "uint8"},
    {"s16", make_integer(16, true), false, "int16"},
    {"u16", make_integer(16, false), false, "uint16"},
    {"s32", make_integer(32, true), false, "int32"},
    {"u32", make_integer(32, false), false, "uint32"},
    {"s64", make_integer(64, true), false, "int64"},
    {"u64", make_integer(64, false), false, "uint64"},
};

bool is_tesla(const FormatFields& row) { return row.policy != 0; }

bool concerns(const Switch& s, const FormatFields& row) {
  switch (s.formats) {
    case FormatGroup::all: return true;
    case FormatGroup::literal: return row.subnormals == SubnormalRule::literal;
    case FormatGroup::not_flushed: return row.subnormals != SubnormalRule::flushed;
    case FormatGroup::with_sign: return row.has_sign();
    case FormatGroup::without_sign: return !row.has_sign();
    case FormatGroup::with_nan: return row.has_nan();
    case FormatGroup::without_specials: return row.specials == Specials::none;
  }
  return false;
}

/// Applies one switch, the text `name=value`, to `fields`; false where the format has no such switch or value. `row`:
/// the format's fields without switches.
bool set_switch(const FormatFields& row, std::string_view text, FormatFields& fields) {
  const bool configurable = row.subnormals == SubnormalRule::literal;
  if (configurable && (text == "denormal=gradual" || text == "denormal=literal")) {
    fields.subnormals = text == "denormal=gradual" ? SubnormalRule::gradual : SubnormalRule::literal;
    return true;
  }
  const size_t equals = text.find('=');
  if (!is_tesla(row) || equals == text.npos) return false;
  for (const Switch& s : switches) {
    if (text.substr(0, equals) != s.name || text.substr(equals + 1) != s.value || !concerns(s, row)) continue;
    fields.policy = (fields.policy & ~s.mask) | s.bits;
    return true;
  }
  return false;
}

bool concerns_literal(std::string_view name) {
  return std::any_of(std::begin(switches), std::end(switches),
                     [&](const Switch& s) { return name == s.name && s.formats == FormatGroup::literal; });
}

std::string known_switches(const FormatFields& row) {
  if (!is_tesla(row)) return "it has none";
  std::string known = row.subnormals == SubnormalRule::literal ? "denormal=literal denormal=gradual" : "";
  for (const Switch& s : switches)
    if (concerns(s, row)) known += std::string(known.empty() ? "" : " ") + s.name + "=" + s.value;
  return "known: " + known;
}

}  // namespace

Result<Format> parse_format(std::string_view text) {
  const std::string whole(text);
  std::string_view switch_texts;
  bool has_switches = false;
  if (const auto question = text.find('?'); question != text.npos) {
    switch_texts = text.substr(question + 1);
    has_switches = true;
    text = text.substr(0, question);
  }
  std::string_view bias_text;
  const auto colon = text.find(':');
  if (colon != text.npos) {
    bias_text = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  if (whole == "bias") {
    FormatFields fields = make(6, 0, 0, 0, Specials::none, SignField::absent, SubnormalRule::absent);
    fields.shared_bias = true;
    return Format(whole, fields);
  }
  for (const Row& row : rows) {
    if (text != row.name) continue;
    FormatFields fields = row.fields;
    if (row.takes_bias) {
      int bias = -1;
      if (!parse_number(bias_text, bias) || bias < 0 || bias > greatest_bias)
        return invalid("format " + in_quotes(whole) + " needs a bias of 0 to 63, as in " + row.name + ":7");
      fields.bias = static_cast<int16_t>(bias);
    } else if (colon != text.npos) {
      return invalid("format " + in_quotes(whole) + " takes no bias");
    }
    std::vector<std::string_view> switch_names;
    while (has_switches) {
      const size_t comma = switch_texts.find(',');
      const std::string_view switch_text = switch_texts.substr(0, comma),
                             name = switch_text.substr(0, switch_text.find('='));
      if (std::find(switch_names.begin(), switch_names.end(), name) != switch_names.end())
        return invalid("format " + in_quotes(whole) + " has the switch " + in_quotes(std::string(name)) + " twice");
      switch_names.push_back(name);
      if (!set_switch(row.fields, switch_text, fields))
        return invalid("format " + in_quotes(whole) + " has no switch " + in_quotes(std::string(switch_text)) + "; " +
                       known_switches(row.fields));
      has_switches = comma != switch_texts.npos;
      if (has_switches) switch_texts = switch_texts.substr(comma + 1);
    }
    for (const std::string_view name : switch_names)
      if (fields.subnormals != row.fields.subnormals && concerns_literal(name))
        return invalid("format " + in_quotes(whole) + ": " + in_quotes(std::string(name)) +
                       " is about the hole that denormal=gradual closes");
    return Format(whole, fields);
  }
  std::string known;
  for (const Row& row : rows) {
    if (!whole.empty() && whole == row.dtype)
      return unknown("unknown format " + in_quotes(whole) + "; NumPy's " + row.dtype + " is " + row.name + " here");
    known += std::string(known.empty() ? "" : " ") + row.name + (row.takes_bias ? ":<bias>" : "");
  }
  return unknown("unknown format " + in_quotes(whole) + "; known: " + known);
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

std::vector<FormatForms> format_forms() {
  std::vector<FormatForms> all;
  for (const Row& row : rows) {
    FormatForms forms{row.name, row.takes_bias, {}};
    if (row.fields.subnormals == SubnormalRule::literal) forms.switches.push_back("denormal=gradual");
    for (const Switch& s : switches)
      if (is_tesla(row.fields) && concerns(s, row.fields) && (row.fields.policy & s.mask) != s.bits)
        forms.switches.push_back(std::string(s.name) + "=" + s.value);
    all.push_back(std::move(forms));
  }
  return all;
}

std::string to_hex(uint64_t value, int digits) {
  std::string text(static_cast<size_t>(digits), '0');
  for (size_t i = text.size(); i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  return text;
}

}  // namespace mmafuzz
