// What is computed: kind, formats, sizes, scales, rounding. The op line of case text is its printed form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arithmetic/block_rule.h"
#include "core/format.h"

namespace mmafuzz {

enum class OpKind : uint8_t { dot, convert, scalar, gemm, quantize, dequantize };
/// core/op.cc has their table. Comparisons come last.
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
enum class NanPolicy : uint8_t { exact, any };  ///< any: every NaN matches an expected NaN
/// Which flags a comparison looks at. ieee: the five of IEEE 754, and of those not what the standard leaves open.
enum class FlagPolicy : uint8_t { all, ieee };

/// A field of a case: `count` encodings of one format.
struct FieldShape {
  const char* name;
  Format format;
  int count;
};

struct Op {
  OpKind kind = OpKind::dot;
  // dot: a, b (k each), c, d. gemm: a (m*k), b (k*n), c and d (m*n), row-major. convert: a -> d. scalar: a = d.
  // quantize: a (k) -> scale_a and d (k). dequantize: a (k) and scale_a -> d (k). Both may have a tensor's scale_b.
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
  bool signals_inexact = true;              ///< of a rounding to an integer: whether it raises the inexact flag
  uint64_t seed = 0;                        ///< of stochastic rounding
  int random_bits = 24;                     ///< of stochastic rounding
  Threshold threshold = Threshold::floor;   ///< of stochastic rounding
  ScaleRule scale_rule = ScaleRule::floor;  ///< of quantize
  BlockSpecials block_specials = BlockSpecials::nan_scale;  ///< of quantize
  bool elements_overflow = false;                           ///< saturate=0 of quantize
  Format via;                                               ///< of quantize: amax is rounded to it; without name: not
  std::optional<uint64_t> alpha, beta;                      ///< gemm, encodings of d; one that is absent is exactly 1

  friend bool operator==(const Op&, const Op&) = default;

  bool has_alpha_beta() const { return alpha || beta; }
  bool has_scales() const { return scale_block > 0; }
  bool is_of_blocks() const { return kind == OpKind::quantize || kind == OpKind::dequantize; }
  bool has_tensor_scale() const { return is_of_blocks() && scale_b.fields().width > 0; }
  int scales() const { return scale_block ? (k + scale_block - 1) / scale_block : 0; }
  /// Number of operands of the scalar operation: 1, 2 or 3.
  int arity() const;
  /// The input fields of one case, in case-text order.
  std::vector<FieldShape> inputs() const;
  /// The format of input field `field`, in the same order.
  const Format& input_format(size_t field) const;
  /// All elements of the result as one field: of quantize the scale and then the codes, in the wider one's format.
  FieldShape result() const;
  /// The format of one element of the result.
  const Format& result_format(int element) const { return kind == OpKind::quantize && element == 0 ? scale_a : d; }
  /// The parts of the result that a person tells apart: of quantize the scale and the codes.
  std::vector<FieldShape> results() const;
  /// Whether the result is an integer, of an integer format or as a number of the operand's format: what inexact=
  /// is about.
  bool rounds_to_integer() const;
  /// Whether a case may carry flags after its result.
  bool has_flags() const { return kind == OpKind::convert || kind == OpKind::scalar; }

  BlockRule block_rule() const;
  /// Without the random bits of stochastic rounding, which differ from case to case.
  RoundingRule rounding_rule() const {
    RoundingRule rule;
    rule.rounding = rounding;
    rule.tininess = tininess;
    const bool saturates = kind == OpKind::quantize ? !elements_overflow : saturate;
    rule.overflow = saturates ? Overflow::saturate : Overflow::by_rounding;
    rule.threshold = threshold;
    rule.random_bits = static_cast<uint8_t>(random_bits);
    return rule;
  }
  /// The rule for one conversion. A unit's random bits are those of (seed, source), so that a case can be replayed
  /// alone.
  RoundingRule rounding_rule_of(uint64_t source) const {
    RoundingRule rule = rounding_rule();
    if (rounding == Rounding::stochastic) rule.random = random_word(seed, source, random_bits);
    return rule;
  }
};

/// The attributes that an op requests besides its formats and sizes; for a unit, the attributes that it supports.
struct Attributes {
  bool rounding = false;    ///< round= other than nearest_even and stochastic
  bool stochastic = false;  ///< round=stochastic with seed=, random_bits=, threshold=
  bool tiny = false;        ///< tiny=before
  bool ftz = false;         ///< ftz=1
  bool saturate = false;    ///< saturate=1
  bool inexact = false;     ///< inexact=0
};
/// Of a unit to which the whole op line goes.
inline constexpr Attributes every_attribute = {
    .rounding = true, .stochastic = true, .tiny = true, .ftz = true, .saturate = true, .inexact = true};

/// Whether an operation compares, and so gives 1 or +0 of the format (IEEE 754-2019, 5.11).
inline bool compares(ScalarOperation operation) { return operation >= ScalarOperation::equal; }
/// Whether a comparison is invalid for quiet NaNs, too (IEEE 754-2019, table 5.2 against 5.1 and 5.3).
bool signals_quiet_nans(ScalarOperation operation);

/// Whether a format has the 1 and the +0 that a comparison gives; true of every other operation.
bool can_compare(ScalarOperation operation, const FormatFields& f);

/// The words of an op line that a unit does not honour: "round=up ftz=1"; empty: it honours all that the op asks for.
std::string not_honoured(const Op& op, const Attributes& honoured);

/// The op line of case text, without the word `op`'s newline: "op dot a=fp16 ... k=16".
std::string to_text(const Op& op);

/// Parses what follows "op " on an op line. On refusal `column` is the 0-based offset of the offending word.
Result<Op> parse_op(std::string_view text, size_t& column);

const char* name_of(OpKind kind);
const char* name_of(ScalarOperation operation);
const char* name_of(Rounding rounding);
const char* name_of(ScaleRule rule);
/// Whether a rule gives scales of a format: those of powers of two need one without a fraction.
bool takes_scale(ScaleRule rule, const FormatFields& scale);

/// Largest k, m and n that a case may have; a larger one is a mistake in the file, not a workload for this tool.
inline constexpr int max_extent = 65536;

/// Largest matrix of a gemm case; its line of case text stays below the reader's limit.
inline constexpr int64_t max_elements = 262144;

/// A dot op for code: a and b share a format.
Op dot_op(std::string_view ab, std::string_view c, std::string_view d, int k);

}  // namespace mmafuzz
