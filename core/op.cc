// Op lines: printing and parsing.
#include "core/op.h"

#include "core/text.h"

#include <algorithm>
#include <map>

namespace mmafuzz {
namespace {

constexpr const char* rounding_names[] = {"nearest_even", "toward_zero", "up",        "down",
                                          "nearest_away", "odd",         "stochastic"};
static_assert(std::size(rounding_names) == static_cast<size_t>(Rounding::stochastic) + 1);
constexpr const char* threshold_names[] = {"floor", "ceiling", "nearest"};
static_assert(std::size(threshold_names) == static_cast<size_t>(Threshold::nearest) + 1);

struct ScalarRow {
  const char* name;
  int operands;
  bool signals_quiet_nans = false;
};
/// In the order of ScalarOperation. IEEE 754-2019: 5.4.1; 5.3.1 remainder, roundToIntegral...; 5.6.1 and tables 5.1 to
/// 5.3, whose predicates written =, <, <= and unordered are equal, less, less_equal and unordered here.
constexpr ScalarRow scalar_rows[] = {{"add", 2},
                                     {"sub", 2},
                                     {"mul", 2},
                                     {"div", 2},
                                     {"sqrt", 1},
                                     {"fma", 3},
                                     {"rcp", 1},
                                     {"rem", 2},
                                     {"round_to_integral", 1},
                                     {"equal", 2},
                                     {"less", 2, true},
                                     {"less_equal", 2, true},
                                     {"unordered", 2},
                                     {"equal_signaling", 2, true},
                                     {"less_quiet", 2},
                                     {"less_equal_quiet", 2}};
static_assert(std::size(scalar_rows) == scalar_operation_count);
const ScalarRow& row_of(ScalarOperation operation) { return scalar_rows[static_cast<int>(operation)]; }

const char* name_in(const ScalarRow& row) { return row.name; }
const char* name_in(const char* name) { return name; }

constexpr const char* kind_names[] = {"dot", "convert", "scalar", "gemm", "quantize", "dequantize"};
static_assert(std::size(kind_names) == static_cast<size_t>(OpKind::dequantize) + 1);

constexpr const char* scale_rule_names[] = {"floor", "ceil", "even", "threshold", "nearest_log2", "rceil", "nearest"};
static_assert(std::size(scale_rule_names) == scale_rule_count);
constexpr const char* block_specials_names[] = {"nan_scale", "elements"};
static_assert(std::size(block_specials_names) == static_cast<size_t>(BlockSpecials::elements) + 1);

/// Sets `value` to the enumerator whose number is the index of the entry with the name `text`. False where none has it.
template <class Row, size_t N, class Enum>
bool find_name(const Row (&rows)[N], std::string_view text, Enum& value) {
  const auto found = std::find_if(rows, rows + N, [&](const Row& row) { return text == name_in(row); });
  if (found == rows + N) return false;
  value = static_cast<Enum>(found - rows);
  return true;
}

struct Word {
  std::string_view text;
  size_t column;
};

std::vector<Word> split(std::string_view text) {
  std::vector<Word> words;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      ++i;
      continue;
    }
    const size_t end = std::min(text.find(' ', i), text.size());
    words.push_back({text.substr(i, end - i), i});
    i = end;
  }
  return words;
}

/// Parses the attributes of one op line, from words[first] on. A call for a type (format(), count(), ...) parses the
/// attribute of a name, if the line has it, and removes it. refuse() and finish() fail on attributes that no earlier
/// call removed. The first error is kept, with the column of its word.
class AttributeWords {
 public:
  AttributeWords(const std::vector<Word>& words, size_t first, size_t& column) : column_(column) {
    for (size_t i = first; i < words.size() && ok(); ++i) {
      const size_t equals = words[i].text.find('=');
      if (equals == std::string_view::npos) {
        fail(words[i].column, "expected an attribute name=value, found " + in_quotes(words[i].text));
      } else {
        const std::string name(words[i].text.substr(0, equals));
        const Word value{words[i].text.substr(equals + 1), words[i].column};
        if (!values_.emplace(name, value).second)
          fail(words[i].column, "attribute " + in_quotes(name) + " given twice");
      }
    }
  }

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  bool has(const std::string& name) const { return values_.count(name) != 0; }

  void format(const std::string& name, Format& out, bool required = true) {
    take(name, required, [&](std::string_view text) -> std::string {
      Result<Format> parsed = parse_format(text);
      if (!parsed) return parsed.refusal().reason;
      // The format `bias` has no numbers for operands: it is the exponent bias that a block of CFloat numbers shares.
      if (parsed->fields().shared_bias && name != "scale") return name + "=bias: a shared bias is a scale";
      out = *parsed;
      return {};
    });
  }

  void count(const std::string& name, int& out, bool required = true, int maximum = max_extent) {
    take(name, required, [&](std::string_view text) -> std::string {
      uint64_t value = 0;
      if (!parse_number(text, value) || value < 1 || value > uint64_t(maximum))
        return name + "= needs a whole number from 1 to " + std::to_string(maximum);
      out = static_cast<int>(value);
      return {};
    });
  }

  void number(const std::string& name, uint64_t& out) {
    take(name, false, [&](std::string_view text) -> std::string {
      return parse_number(text, out) ? "" : name + "= needs a whole number";
    });
  }

  void encoding(const std::string& name, const Format& format, std::optional<uint64_t>& out) {
    take(name, false, [&](std::string_view text) -> std::string {
      const bool lower = text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
      uint64_t value = 0;
      if (lower && text.size() == size_t(format.digits()) && parse_number(text, value, 16) &&
          (value & ~format.fields().container_mask()) == 0) {
        out = value;
        return {};
      }
      return name + "= needs " + std::to_string(format.digits()) + " lower-case hex digits of " + format.name();
    });
  }

  void boolean(const std::string& name, bool& out) {
    take(name, false, [&](std::string_view text) -> std::string {
      if (text != "0" && text != "1") return name + "= is 0 or 1";
      out = text == "1";
      return {};
    });
  }

  template <class Enum, size_t N>
  void word(const std::string& name, const char* const (&names)[N], Enum& out) {
    take(name, false, [&](std::string_view text) -> std::string {
      if (find_name(names, text, out)) return {};
      return name + "= is " + joined(names, " | ");
    });
  }

  void fail_missing(std::string message) {
    if (ok()) fail(0, "attribute " + std::move(message));
  }

  /// An attribute that this op must not have.
  void refuse(const std::string& name, const std::string& reason) {
    take(name, false, [&](std::string_view) { return reason; });
  }

  /// Fails where an attribute is left that no call asked for.
  void finish(const std::string& kind) {
    if (ok() && !values_.empty()) {
      const auto& [name, value] = *values_.begin();
      fail(value.column, "op " + kind + " has no attribute " + in_quotes(name));
    }
  }

 private:
  /// parse(value) returns a message, "" for a good value.
  template <class Parse>
  void take(const std::string& name, bool required, Parse parse) {
    if (!ok()) return;
    const auto found = values_.find(name);
    if (found == values_.end()) {
      if (required) fail(0, "attribute " + name + "= is missing");
      return;
    }
    const std::string message = parse(found->second.text);
    if (!message.empty()) fail(found->second.column, message);
    values_.erase(found);
  }

  void fail(size_t column, std::string message) {
    column_ = column;
    error_ = std::move(message);
  }

  std::map<std::string, Word> values_;
  size_t& column_;
  std::string error_;
};

void parse_blocks(AttributeWords& attributes, Op& op) {
  attributes.format("from", op.a);
  attributes.format("to", op.d);
  attributes.count("block", op.k);
  attributes.format("scale", op.scale_a);
  attributes.format("tensor", op.scale_b, /*required=*/false);
  if (op.kind == OpKind::dequantize) return;
  // The default is floor for powers of two, as in OCP MX 1.0, 6.3, and nearest for other scales, as in NVFP4.
  op.scale_rule = op.scale_a.fields().fraction_bits == 0 ? ScaleRule::floor : ScaleRule::nearest;
  attributes.word("rule", scale_rule_names, op.scale_rule);
  if (!attributes.has("special"))
    attributes.fail_missing(
        "special= is missing: say what an infinity or NaN in a block gives, nan_scale (the scale is NaN) "
        "or elements (it converts alone)");
  attributes.word("special", block_specials_names, op.block_specials);
  bool saturates = true;
  attributes.boolean("saturate", saturates);
  op.elements_overflow = !saturates;
  attributes.format("via", op.via, /*required=*/false);
}

/// Why formats, rule and rounding of an op on blocks do not go together; empty where they do. `numbers` is the format
/// outside of the block (from= of quantize, to= of dequantize), `codes` the format of the block's elements.
std::string conflict_in_block_op(const Op& op) {
  const bool quantizes = op.kind == OpKind::quantize;
  const Format &numbers = quantizes ? op.a : op.d, &codes = quantizes ? op.d : op.a;
  const FormatFields& scale = op.scale_a.fields();
  const std::string numbers_word = quantizes ? "from=" : "to=", codes_word = quantizes ? "to=" : "from=";
  if (numbers.fields().integer || !numbers.fields().has_sign())
    return numbers_word + numbers.name() + ": the numbers of a block are of a floating-point format with a sign";
  if (codes.fields().width > 16 || (!codes.fields().integer && codes.fields().fraction_bits == 0))
    return codes_word + codes.name() + ": elements have at most 16 bits, and a fraction";
  // A switch in the name of one of Tesla's formats sets or clears bits of its policy (core/format.cc). The two default
  // bits concern flags, which blocks do not report, so a switch may clear them; a switch that sets another is refused.
  if (codes.fields().policy & ~(policy::no_inexact | policy::any_nan_invalid))
    return codes_word + codes.name() + ": elements are of a format without switches";
  if (!codes.fields().has_sign()) return codes_word + codes.name() + ": elements have a sign";
  // Of formats only Tesla's have a policy; `:0` in a name says that the format itself has no bias.
  if (scale.shared_bias && (codes.fields().policy == 0 || codes.fields().bias != 0))
    return "scale=bias is what CFloat numbers share: " + codes_word + "cfloat8_1_4_3:0, cfloat8_1_5_2:0 or shp:0";
  if (!scale.shared_bias && (scale.integer || scale.exponent_bits == 0))
    return "scale=" + op.scale_a.name() + ": a scale needs an exponent, as e8m0, e4m3 and fp32 have it";
  if (scale.fraction_bits > 23) return "scale=" + op.scale_a.name() + ": scales have at most 24 significant bits";
  if (op.has_tensor_scale()) {
    const FormatFields& tensor = op.scale_b.fields();
    if (tensor.integer || tensor.fraction_bits > 23)
      return "tensor=" + op.scale_b.name() + ": the tensor's scale is a floating-point number of at most 24 bits";
    if (scale.fraction_bits == 0)
      return "tensor= belongs to scales with a fraction, as NVFP4's e4m3; scale=" + op.scale_a.name() + " has none";
  }
  if (op.rounding == Rounding::stochastic && !quantizes) return "round=stochastic belongs to quantize";
  if (!quantizes) return "";
  if (!takes_scale(op.scale_rule, scale))
    return std::string("rule=") + name_of(op.scale_rule) + " gives powers of two, and scale=" + op.scale_a.name() +
           " has a fraction: rule=nearest or rule=rceil";
  if (op.elements_overflow && (codes.fields().integer || codes.fields().specials == Specials::none))
    return "saturate=0 needs elements with an infinity or a NaN, and " + codes.name() + " has neither";
  if (op.block_specials == BlockSpecials::nan_scale && !scale.has_nan())
    return "special=nan_scale needs a scale with a NaN, and " + op.scale_a.name() + " has none: special=elements";
  if (op.via.fields().width && (op.via.fields().integer || op.via.fields().fraction_bits > 23 ||
                                op.via.fields().specials != Specials::ieee || !op.via.fields().has_sign()))
    return "via=" + op.via.name() + ": amax passes through a narrow IEEE format, as bf16 or fp16";
  return "";
}

}  // namespace

const char* name_of(OpKind kind) { return kind_names[static_cast<int>(kind)]; }
const char* name_of(ScalarOperation operation) { return row_of(operation).name; }
bool signals_quiet_nans(ScalarOperation operation) { return row_of(operation).signals_quiet_nans; }
const char* name_of(Rounding rounding) { return rounding_names[static_cast<int>(rounding)]; }
const char* name_of(ScaleRule rule) { return scale_rule_names[static_cast<int>(rule)]; }
bool takes_scale(ScaleRule rule, const FormatFields& scale) {
  return rule >= ScaleRule::rceil || scale.fraction_bits == 0;
}

bool can_compare(ScalarOperation operation, const FormatFields& f) {
  if (!compares(operation)) return true;
  const Number one = decode(f, round_once(f, /*negative=*/false, /*significand=*/1, /*exponent=*/0).encoding);
  const Number zero = decode(f, f.encode_zero(false));
  return zero.cls == NumberClass::zero && one.cls == NumberClass::finite &&
         one.significand == uint64_t{1} << (one.exponent <= 0 ? -one.exponent : 63);
}

int Op::arity() const { return row_of(scalar).operands; }

bool Op::rounds_to_integer() const {
  if (kind == OpKind::convert) return d.fields().integer && !a.fields().integer;
  return kind == OpKind::scalar && scalar == ScalarOperation::round_to_integral && !a.fields().integer;
}

std::vector<FieldShape> Op::inputs() const {
  switch (kind) {
    case OpKind::dot: {
      std::vector<FieldShape> fields = {{"a", a, k}, {"b", b, k}, {"c", c, 1}};
      if (has_scales()) {
        fields.push_back({"sa", scale_a, scales()});
        fields.push_back({"sb", scale_b, scales()});
      }
      return fields;
    }
    case OpKind::convert: return {{"source", a, 1}};
    case OpKind::scalar: return {{"operands", a, arity()}};
    case OpKind::quantize:
    case OpKind::dequantize: {
      const bool quantizes = kind == OpKind::quantize;
      std::vector<FieldShape> fields = {{quantizes ? "source" : "codes", a, k}};
      if (!quantizes) fields.push_back({"scale", scale_a, 1});
      if (has_tensor_scale()) fields.push_back({"tensor", scale_b, 1});
      return fields;
    }
    case OpKind::gemm: break;
  }
  return {{"a", a, m * k}, {"b", b, k * n}, {"c", c, m * n}};
}

bool Op::has_formats_of(const Op& other) const {
  return a == other.a && b == other.b && c == other.c && d == other.d && scale_block == other.scale_block &&
         (!has_scales() || (scale_a == other.scale_a && scale_b == other.scale_b));
}

const Format& Op::input_format(size_t field) const {
  const Format* const sum_formats[] = {&a, &b, &c, &scale_a, &scale_b};
  if (kind == OpKind::dot || kind == OpKind::gemm) return *sum_formats[field];
  if (field == 0) return a;
  return kind == OpKind::dequantize && field == 1 ? scale_a : scale_b;
}

std::vector<FieldShape> Op::results() const {
  if (kind == OpKind::quantize) return {{"scale", scale_a, 1}, {"codes", d, k}};
  return {{"result", d, kind == OpKind::gemm ? m * n : kind == OpKind::dequantize ? k : 1}};
}

FieldShape Op::result() const {
  FieldShape all = results().back();
  if (kind != OpKind::quantize) return all;
  return {"result", scale_a.storage_bytes() > d.storage_bytes() ? scale_a : d, 1 + k};
}

BlockRule Op::block_rule() const { return {scale_rule, block_specials, via.fields(), rounding_rule()}; }

std::string not_honoured(const Op& op, const Attributes& honoured) {
  std::string words;
  const auto ask = [&](bool asked, bool granted, const std::string& word) {
    if (asked && !granted) words += (words.empty() ? "" : " ") + word;
  };
  const bool stochastic = op.rounding == Rounding::stochastic;
  ask(!stochastic && op.rounding != Rounding::nearest_even, honoured.rounding,
      std::string("round=") + name_of(op.rounding));
  ask(stochastic, honoured.stochastic, "round=stochastic");
  ask(op.tininess == Tininess::before, honoured.tiny, "tiny=before");
  ask(op.flush_to_zero, honoured.ftz, "ftz=1");
  ask(op.saturate, honoured.saturate, "saturate=1");
  ask(!op.signals_inexact, honoured.inexact, "inexact=0");
  return words;
}

std::string to_text(const Op& op) {
  std::string text = std::string("op ") + name_of(op.kind);
  switch (op.kind) {
    case OpKind::dot:
    case OpKind::gemm:
      text += " a=" + op.a.name() + " b=" + op.b.name() + " c=" + op.c.name() + " d=" + op.d.name();
      if (op.kind == OpKind::gemm) text += " m=" + std::to_string(op.m) + " n=" + std::to_string(op.n);
      text += " k=" + std::to_string(op.k);
      if (op.has_scales())
        text += " sa=" + op.scale_a.name() + " sb=" + op.scale_b.name() + " sblock=" + std::to_string(op.scale_block);
      if (op.alpha) text += " alpha=" + to_hex(op.d, *op.alpha);
      if (op.beta) text += " beta=" + to_hex(op.d, *op.beta);
      break;
    case OpKind::convert: text += " from=" + op.a.name() + " to=" + op.d.name(); break;
    case OpKind::scalar: text += std::string(" ") + name_of(op.scalar) + " format=" + op.a.name(); break;
    case OpKind::quantize:
    case OpKind::dequantize:
      text += " from=" + op.a.name() + " to=" + op.d.name() + " block=" + std::to_string(op.k) +
              " scale=" + op.scale_a.name();
      if (op.has_tensor_scale()) text += " tensor=" + op.scale_b.name();
      if (op.kind == OpKind::dequantize) break;
      text += std::string(" rule=") + name_of(op.scale_rule) +
              " special=" + block_specials_names[static_cast<int>(op.block_specials)];
      if (op.elements_overflow) text += " saturate=0";
      if (op.via.fields().width) text += " via=" + op.via.name();
      break;
  }
  const bool prints_default_rounding = op.kind != OpKind::dot && op.kind != OpKind::gemm;
  if (prints_default_rounding || op.rounding != Rounding::nearest_even)
    text += std::string(" round=") + name_of(op.rounding);
  if (op.seed) text += " seed=" + std::to_string(op.seed);
  if (op.random_bits != Op().random_bits) text += " random_bits=" + std::to_string(op.random_bits);
  if (op.threshold != Threshold::floor)
    text += std::string(" threshold=") + threshold_names[static_cast<int>(op.threshold)];
  if (op.tininess == Tininess::before) text += " tiny=before";
  if (op.nan == NanPolicy::any) text += " nan=any";
  if (op.flags == FlagPolicy::ieee) text += " flags=ieee";
  if (op.flush_to_zero) text += " ftz=1";
  if (op.saturate) text += " saturate=1";
  if (!op.signals_inexact) text += " inexact=0";
  return text;
}

std::string op_words(const Op& op) { return to_text(op).substr(3); }

Result<Op> parse_op(std::string_view text) {
  size_t column;
  return parse_op(text, column);
}

Result<Op> parse_op(std::string_view text, size_t& column) {
  column = 0;
  const std::vector<Word> words = split(text);
  Op op;
  if (words.empty() || !find_name(kind_names, words[0].text, op.kind))
    return invalid("expected an op kind: dot, convert, scalar, gemm, quantize or dequantize");
  const std::string kind(words[0].text);
  size_t first = 1;
  if (op.kind == OpKind::scalar) {
    if (words.size() < 2 || !find_name(scalar_rows, words[1].text, op.scalar)) {
      column = words.size() < 2 ? text.size() : words[1].column;
      std::string known;
      for (const ScalarRow& row : scalar_rows)
        known += std::string(known.empty() ? "" : &row == std::end(scalar_rows) - 1 ? " or " : ", ") + row.name;
      return invalid("expected a scalar operation: " + known);
    }
    first = 2;
  }
  AttributeWords attributes(words, first, column);
  switch (op.kind) {
    case OpKind::dot:
    case OpKind::gemm:
      attributes.format("a", op.a);
      attributes.format("b", op.b);
      attributes.format("c", op.c);
      attributes.format("d", op.d);
      attributes.count("k", op.k);
      if (op.kind == OpKind::gemm) {
        attributes.count("m", op.m);
        attributes.count("n", op.n);
        attributes.encoding("alpha", op.d, op.alpha);
        attributes.encoding("beta", op.d, op.beta);
      } else if (attributes.has("sa") || attributes.has("sb") || attributes.has("sblock")) {
        attributes.format("sa", op.scale_a);
        attributes.format("sb", op.scale_b);
        attributes.count("sblock", op.scale_block);
      }
      break;
    case OpKind::convert:
      attributes.format("from", op.a);
      attributes.format("to", op.d);
      break;
    case OpKind::scalar:
      attributes.format("format", op.a);
      op.d = op.a;
      break;
    case OpKind::quantize:
    case OpKind::dequantize: parse_blocks(attributes, op); break;
  }
  constexpr const char* tiny_names[] = {"after", "before"};
  constexpr const char* nan_names[] = {"exact", "any"};
  constexpr const char* flag_names[] = {"all", "ieee"};
  attributes.word("round", rounding_names, op.rounding);
  if (op.has_flags()) {
    attributes.word("tiny", tiny_names, op.tininess);
    attributes.word("flags", flag_names, op.flags);
  }
  attributes.word("nan", nan_names, op.nan);
  if (op.is_of_blocks()) {
    attributes.refuse("saturate", "an op " + kind + " has no saturate=: a number beyond the range overflows");
    attributes.refuse("ftz", "an op " + kind + " has no ftz=: subnormal numbers are numbers");
  }
  attributes.boolean("ftz", op.flush_to_zero);
  attributes.boolean("saturate", op.saturate);
  if (op.rounds_to_integer()) attributes.boolean("inexact", op.signals_inexact);
  if (op.rounding == Rounding::stochastic) {
    attributes.number("seed", op.seed);
    attributes.count("random_bits", op.random_bits, /*required=*/false, max_random_bits);
    attributes.word("threshold", threshold_names, op.threshold);
  }
  for (const char* random : {"seed", "random_bits", "threshold"})
    attributes.refuse(random, std::string(random) + "= belongs to round=stochastic, where alone something is random");
  for (const char* flag_attribute : {"tiny", "flags"})
    attributes.refuse(flag_attribute,
                      std::string(flag_attribute) + "= concerns flags, and an op " + kind + " has none");
  attributes.refuse("inexact", "inexact= belongs to conversions to integers and to round_to_integral");
  attributes.finish(kind);
  if (!attributes.ok()) return invalid(attributes.error());
  if (op.kind == OpKind::scalar && !can_compare(op.scalar, op.d.fields()))
    return invalid(std::string("scalar ") + name_of(op.scalar) + " gives 1 or +0, and " + op.d.name() +
                   " does not have both");
  if (op.is_of_blocks())
    if (const std::string why = conflict_in_block_op(op); !why.empty()) return invalid(why);
  for (const int64_t elements : {int64_t{op.m} * op.k, int64_t{op.k} * op.n, int64_t{op.m} * op.n})
    if (op.kind == OpKind::gemm && elements > max_elements)
      return invalid("a matrix of a gemm case may have at most " + std::to_string(max_elements) + " elements");
  return op;
}

Op dot_op(std::string_view ab, std::string_view c, std::string_view d, int k) {
  Op op;
  op.a = op.b = format(ab);
  op.c = format(c);
  op.d = format(d);
  op.k = k;
  return op;
}

}  // namespace mmafuzz
