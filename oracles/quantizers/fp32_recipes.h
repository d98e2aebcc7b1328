// Ways to a block's scale and to its codes in steps of IEEE single precision, as libraries take them: each step is
// rounded, where the rule's text rounds the exact quotient once.
#pragma once

#include <span>
#include <string>

#include "core/block_case.h"

namespace mmafuzz {

/// The numbers that a scale follows from.
struct ScaleOperands {
  float amax = 0, tensor = 1, greatest = 1;
};

template <class Of>
struct Fp32Recipe {
  const char* name;            ///< what `scale_by=` or `codes_by=` of a unit says
  const char* steps;           ///< in words
  const char* without_tensor;  ///< the same where the op has no tensor's scale; null: it is about that scale
  Of* of;

  const char* steps_of(const Op& op) const { return op.has_tensor_scale() ? steps : without_tensor; }
};
using ScaleRecipe = Fp32Recipe<float(const ScaleOperands&)>;
using CodeRecipe = Fp32Recipe<float(float x, float scale, float tensor)>;
std::span<const ScaleRecipe> scale_recipes();
std::span<const CodeRecipe> code_recipes();

/// Why an op's scales or codes are no recipe's; empty where they may be.
std::string reason_against(const ScaleRecipe& recipe, ScaleRule rule, const Op& op);
std::string reason_against(const CodeRecipe& recipe, const Op& op);

/// Whether a number of the op's source is one of fp32.
bool is_within_fp32(const Op& op);
/// The number of an encoding in fp32, and back.
float fp32_of(const FormatFields& f, uint64_t encoding);
Number number_of(float x);
/// The greatest number of an element's format.
float greatest_of(const FormatFields& element);
/// The greatest finite magnitude of a case, of an op within fp32.
float amax_of(const Op& op, const Batch& batch, size_t index);

/// The scale's encoding: what the recipe gives, rounded up or to nearest even to the scale's format.
uint64_t scale_by(const ScaleRecipe& recipe, ScaleRule rule, const Op& op, const Batch& batch, size_t index);
/// The code of a number under a scale: what the recipe gives, rounded as `round` says. Under a scale of zero it is a
/// zero, as without a recipe.
uint64_t code_by(const CodeRecipe& recipe, const Op& op, uint64_t x, uint64_t scale, uint64_t tensor,
                 const RoundingRule& round);

}  // namespace mmafuzz
