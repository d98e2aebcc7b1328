// An op: what is computed, and in which formats, sizes, scales and roundings. Its text is the op line of case text
// (docs/case-text.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arithmetic/block_rule.h"
#include "core/format.h"

namespace mmafuzz {

enum class OpKind : uint8_t { dot, convert, scalar, gemm, quantize, dequantize };
/// Names and operands are in a table of core/op.cc, in this order. Comparisons come last.
enum class ScalarOperation : uint8_t {
  add,
  sub,
  mul,
  div,
  sqrt,
  fma,
  rcp,
  rem,
  round_to_integral,
  equal,
  less,
  less_equal,
  unordered,
  equal_signaling,
  less_quiet,
  less_equal_quiet
};
inline constexpr int scalar_operation_count = 16;
/// How results are compared. exact: a NaN bit by bit, too; any: every NaN equals every NaN.
enum class NanPolicy : uint8_t { exact, any };
/// Which flags are compared: all, or the five of IEEE 754 without what the standard leaves open (same_flags()).
enum class FlagPolicy : uint8_t { all, ieee };

/// A field of a case: `count` encodings of one format.
struct FieldShape {
  const char* name;
  Format format;
  int count;
};

struct Op {
  OpKind kind = OpKind::dot;
  // By kind, the formats in use, with the number of elements. dot: a (k), b (k), c, d. gemm: a (m*k), b (k*n), c and d
  // (m*n), row-major. convert: a to d. scalar: operands and result have the format a, and d is the same. quantize: a
  // (k) to scale_a and d (k). dequantize: a (k) and scale_a to d (k). The last two may have a tensor's scale, scale_b.
  Format a, b, c, d;
  int m = 1, n = 1, k = 1;
  Format scale_a, scale_b;
  int scale_block = 0;  ///< products per scale; 0: no scales
  ScalarOperation scalar = ScalarOperation::add;
  Rounding rounding = Rounding::nearest_even;
  Tininess tininess = Tininess::after;
  NanPolicy nan = NanPolicy::exact;
  FlagPolicy flags = FlagPolicy::all;
  bool flush_to_zero = false;
  bool saturate = false;
  bool signals_inexact = true;  ///< whether a rounding to an integer raises the inexact flag
  // Of stochastic rounding alone.
  uint64_t seed = 0;
  int random_bits = 24;  ///< of each random number, 1 to max_random_bits
  Threshold threshold = Threshold::floor;
  // Of quantize alone.
  ScaleRule scale_rule = ScaleRule::floor;
  BlockSpecials block_specials = BlockSpecials::nan_scale;
  bool elements_overflow = false;       ///< saturate=0: an element beyond the range is not the greatest number
  Format via;                           ///< amax is rounded to this format first; a width of 0: it is not
  std::optional<uint64_t> alpha, beta;  ///< of gemm alone, encodings in d's format; an absent one is exactly 1

  friend bool operator==(const Op&, const Op&) = default;

  bool has_alpha_beta() const { return alpha || beta; }
  bool has_scales() const { return scale_block > 0; }
  /// Whether the formats of a, b, c, d and the scales, and the products per scale, are those of another op.
  bool has_formats_of(const Op& other) const;
  bool is_of_blocks() const { return kind == OpKind::quantize || kind == OpKind::dequantize; }
  bool has_tensor_scale() const { return is_of_blocks() && scale_b.fields().width > 0; }
  /// The number of scales of a, and of b, in a dot.
  int scales() const { return scale_block ? (k + scale_block - 1) / scale_block : 0; }
  /// Number of operands of the scalar operation: 1, 2 or 3.
  int arity() const;
  /// The input fields of one case, in case-text order.
  std::vector<FieldShape> inputs() const;
  /// The format of inputs()[field].
  const Format& input_format(size_t field) const;
  /// The result as one field: of quantize the scale as element 0 and then the codes, in the format of the wider ones.
  FieldShape result() const;
  /// The format of one element of the result.
  const Format& result_format(int element) const { return kind == OpKind::quantize && element == 0 ? scale_a : d; }
  /// The result as fields in the order of case text: of quantize the scale and the codes, of every other kind one.
  std::vector<FieldShape> results() const;
  /// Whether the op rounds to an integer, in an integer format or in the operand's own, and so may have inexact=.
  bool rounds_to_integer() const;
  /// Whether a case may carry flags after its result.
  bool has_flags() const { return kind == OpKind::convert || kind == OpKind::scalar; }

  BlockRule block_rule() const;
  /// The rule for the results, without the random number of stochastic rounding, which differs from case to case.
  RoundingRule rounding_rule() const {
    const bool saturates = kind == OpKind::quantize ? !elements_overflow : saturate;
    return {.rounding = rounding,
            .tininess = tininess,
            .overflow = saturates ? Overflow::saturate : Overflow::by_rounding,
            .threshold = threshold,
            .random_bits = static_cast<uint8_t>(random_bits)};
  }
  /// The rule for one conversion of the encoding `source`. The random number is a function of seed and source, so that
  /// a case can be replayed alone.
  RoundingRule rounding_rule_of(uint64_t source) const {
    RoundingRule rule = rounding_rule();
    if (rounding == Rounding::stochastic) rule.random = random_word(seed, source, random_bits);
    return rule;
  }
};

/// Attributes of an op besides formats and sizes: a member is true where the op asks for it, or a unit supports it.
struct Attributes {
  bool rounding = false;    ///< round= other than nearest_even and stochastic
  bool stochastic = false;  ///< round=stochastic with seed=, random_bits=, threshold=
  bool tiny = false;        ///< tiny=before
  bool ftz = false;         ///< ftz=1
  bool saturate = false;    ///< saturate=1
  bool inexact = false;     ///< inexact=0
};
/// For a unit that gets the whole op line.
inline constexpr Attributes every_attribute = {
    .rounding = true, .stochastic = true, .tiny = true, .ftz = true, .saturate = true, .inexact = true};

/// Whether an operation is a comparison, whose result is 1 or +0 of the format (IEEE 754-2019, 5.11).
inline bool compares(ScalarOperation operation) { return operation >= ScalarOperation::equal; }
/// Whether a comparison raises invalid for quiet NaNs, too (IEEE 754-2019, table 5.2 against 5.1 and 5.3).
bool signals_quiet_nans(ScalarOperation operation);

/// Whether a format has the 1 and the +0 that a comparison returns; true of every other operation.
bool can_compare(ScalarOperation operation, const FormatFields& f);

/// The attributes of the op that are not among the honoured ones: "round=up ftz=1"; "" where there is none.
std::string not_honoured(const Op& op, const Attributes& honoured);

/// The op line of case text, without its newline: "op dot a=fp16 ... k=16".
std::string to_text(const Op& op);
/// The op line without its first word, as options and parse_op() take it: "dot a=fp16 ... k=16".
std::string op_words(const Op& op);

/// Parses what follows "op " on an op line. On refusal `column` is the offset of the offending word in `text`, from 0.
Result<Op> parse_op(std::string_view text, size_t& column);
/// The same, for callers that have no use for the column.
Result<Op> parse_op(std::string_view text);

const char* name_of(OpKind kind);
const char* name_of(ScalarOperation operation);
const char* name_of(Rounding rounding);
const char* name_of(ScaleRule rule);
/// Whether a rule can be used with scales of a format. A rule that gives powers of two needs a format without fraction.
bool takes_scale(ScaleRule rule, const FormatFields& scale);

/// The maximum of k, m, n, a block and sblock: a larger one is taken for a mistake in the file.
inline constexpr int max_extent = 65536;

/// The maximum number of elements of each matrix of a gemm; its line of case text stays below the reader's limit.
inline constexpr int64_t max_elements = 262144;

/// A dot whose a and b share a format, from names in code. Throws std::logic_error for an unknown name.
Op dot_op(std::string_view ab, std::string_view c, std::string_view d, int k);

}  // namespace mmafuzz
