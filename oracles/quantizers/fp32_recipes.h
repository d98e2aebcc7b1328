// Ways to a block's scale and to its codes in steps of IEEE single precision, as libraries take them: each step is
// rounded, where the rule's text rounds the exact quotient once.
#pragma once

#include <span>
#include <string>

#include "core/block_case.h"

namespace mmafuzz {

/// What a scale is computed from: the block's greatest magnitude, the tensor's scale (1: none), the greatest element.
struct ScaleOperands {
  float amax = 0, tensor = 1, greatest = 1;
};

template <class Function>
struct Fp32Recipe {
  const char* name;            ///< the value of a unit's `scale_by=` or `codes_by=`
  const char* steps;           ///< in words
  const char* without_tensor;  ///< the same for ops without a tensor's scale; nullptr: it takes none of them
  Function* quotient;

  const char* steps_of(const Op& op) const { return op.has_tensor_scale() ? steps : without_tensor; }
};
using ScaleRecipe = Fp32Recipe<float(const ScaleOperands&)>;
using CodeRecipe = Fp32Recipe<float(float x, float scale, float tensor)>;
std::span<const ScaleRecipe> scale_recipes();
std::span<const CodeRecipe> code_recipes();

/// Why a recipe cannot make the scales of an op under a rule; empty: it can.
std::string reason_against(const ScaleRecipe& recipe, ScaleRule rule, const Op& op);
/// Why a recipe cannot make the codes of an op; empty: it can.
std::string reason_against(const CodeRecipe& recipe, const Op& op);

/// Whether every number of the op's source format is one of fp32.
bool is_within_fp32(const Op& op);
/// The number of an encoding, rounded to fp32.
float fp32_of(const FormatFields& f, uint64_t encoding);
Number number_of(float x);
/// The greatest number of an element's format.
float greatest_of(const FormatFields& element);
/// The greatest finite magnitude of a case; the op is within fp32.
float amax_of(const Op& op, const Batch& batch, size_t index);

/// The scale's encoding: the recipe's quotient rounded to the scale's format, up under rceil, else to nearest even.
uint64_t scale_by(const ScaleRecipe& recipe, ScaleRule rule, const Op& op, const Batch& batch, size_t index);
/// The code of a number under a scale: the recipe's quotient rounded as `round` says. Under a scale of zero it is a
/// zero, as without a recipe. `x`, `scale` and `tensor` are encodings.
uint64_t code_by(const CodeRecipe& recipe, const Op& op, uint64_t x, uint64_t scale, uint64_t tensor,
                 const RoundingRule& round);

}  // namespace mmafuzz
