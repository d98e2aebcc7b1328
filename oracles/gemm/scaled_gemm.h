// Products of quantized matrices, as frameworks run them: a and b become narrow elements with scales, a unit sums the
// elements' products in a chain, and fp32 arithmetic applies the scales that the unit does not (docs/quantizers.md).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arithmetic/block_rule.h"
#include "core/result.h"
#include "core/unit.h"
#include "oracles/gemm/fp32.h"

namespace mmafuzz::gemm {

/// Where the blocks' scales are applied.
enum class ScaledBy : uint8_t {
  unit,      ///< the unit's dots take them
  interval,  ///< in fp32, to the sum of each block's products
  end,       ///< in fp32, to the whole sum: each row of a and each column of b has one scale
};

struct ScaledPlan {
  Format element = {}, scale = {};
  Format unit_scale = {};         ///< the format of scales in the unit's op; without name: only fp32 applies them
  int block = 0;                  ///< numbers along k that share a scale; 0: all
  int rows_a = 1;                 ///< rows of a that share a scale; 0: all
  int columns_b = 1;              ///< columns of b that share a scale; 0: all
  bool has_tensor_scale = false;  ///< each matrix has an fp32 scale of its own
  ScaledBy scaled_by = ScaledBy::unit;
  ScaleRule rule = ScaleRule::floor;
  int promote = 0;  ///< products after which the unit's sum is added to an fp32 sum beside it; 0: never
  int unit_k = 32;  ///< products of one dot of the unit

  /// Whether fp32 applies the two scales one after the other: b's and then a's at the end, a's and then b's to a
  /// block's sum. Otherwise it multiplies the two scales first.
  bool applies_scales_in_turn() const { return unit_scale.name().empty() && rows_a == 1 && columns_b == 1; }
};

struct NamedScaled {
  ScaledPlan plan;
  std::string dot_unit;
};
/// The plan of a unit of the family `scaled:`, from its name; a refusal for other names and wrong parameters.
Result<NamedScaled> named_scaled(std::string_view unit);

/// A quantized matrix whose rows run along k, padded with zeros to `length` (a multiple of the block and the dot).
struct QuantizedMatrix {
  int rows = 0, length = 0;
  std::vector<uint8_t> codes;        ///< [row][length]
  int blocks = 1;                    ///< scales of a row
  std::vector<uint32_t> scales;      ///< [row][block], encodings of the scale's format
  uint32_t tensor_scale = fp32_one;  ///< of the whole matrix

  /// An element times its scale and the matrix's scale, exactly, or an infinity.
  double number(const ScaledPlan& plan, int row, int element) const;
};

/// Quantizes `rows` rows of `length` encodings of a format; `shared` rows share a scale (0: all).
QuantizedMatrix quantized_matrix(const ScaledPlan& plan, const Format& wide, const std::vector<uint64_t>& numbers,
                                 int rows, int length, int shared);

/// The dot that the unit must be bound to.
Op scaled_dot(const ScaledPlan& plan);

/// `op` is a gemm with c and d of fp32.
std::unique_ptr<Unit> make_scaled_gemm(const ScaledPlan& plan, std::unique_ptr<Unit> dot, const Op& op);

}  // namespace mmafuzz::gemm
