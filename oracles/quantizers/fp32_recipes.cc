#include "oracles/quantizers/fp32_recipes.h"

#include <bit>
#include <cmath>

namespace mmafuzz {
namespace {

using Scale = const ScaleOperands&;
constexpr ScaleRecipe scale_recipe_rows[] = {
    {"divisions", "(amax / greatest) / tensor in fp32", "amax / greatest in fp32",
     [](Scale s) { return s.amax / s.greatest / s.tensor; }},
    {"reciprocal_of_greatest", "(amax * (1 / greatest)) / tensor in fp32", "amax * (1 / greatest) in fp32",
     [](Scale s) { return s.amax * (1.0f / s.greatest) / s.tensor; }},
    {"reciprocal_of_tensor", "(amax / greatest) * (1 / tensor) in fp32", nullptr,
     [](Scale s) { return s.amax / s.greatest * (1.0f / s.tensor); }},
    {"reciprocals", "(amax * (1 / greatest)) * (1 / tensor) in fp32", nullptr,
     [](Scale s) { return s.amax * (1.0f / s.greatest) * (1.0f / s.tensor); }},
    {"product", "amax / (greatest * tensor) in fp32", nullptr,
     [](Scale s) { return s.amax / (s.greatest * s.tensor); }},
    {"tensor_first", "(amax / tensor) / greatest in fp32", nullptr,
     [](Scale s) { return s.amax / s.tensor / s.greatest; }},
};

constexpr CodeRecipe code_recipe_rows[] = {
    {"product", "x / (scale * tensor) in fp32", "x / scale in fp32",
     [](float x, float s, float t) { return x / (s * t); }},
    {"reciprocal_of_product", "x * (1 / (scale * tensor)) in fp32", "x * (1 / scale) in fp32",
     [](float x, float s, float t) { return x * (1.0f / (s * t)); }},
    {"reciprocal_over_scale", "x * ((1 / tensor) / scale) in fp32", nullptr,
     [](float x, float s, float t) { return x * (1.0f / t / s); }},
    {"tensor_first", "(x / tensor) / scale in fp32", nullptr, [](float x, float s, float t) { return x / t / s; }},
    {"scale_first", "(x / scale) / tensor in fp32", nullptr, [](float x, float s, float t) { return x / s / t; }},
    {"reciprocals", "(x * (1 / tensor)) * (1 / scale) in fp32", nullptr,
     [](float x, float s, float t) { return x * (1.0f / t) * (1.0f / s); }},
    {"product_of_reciprocals", "x * ((1 / tensor) * (1 / scale)) in fp32", nullptr,
     [](float x, float s, float t) { return x * ((1.0f / t) * (1.0f / s)); }},
};

}  // namespace

std::span<const ScaleRecipe> scale_recipes() { return scale_recipe_rows; }
std::span<const CodeRecipe> code_recipes() { return code_recipe_rows; }

std::string reason_against(const ScaleRecipe& recipe, ScaleRule rule, const Op& op) {
  if (rule != ScaleRule::rceil && rule != ScaleRule::nearest)
    return std::string("rule=") + name_of(rule) + " divides nothing: scale_by= belongs to rule=rceil and rule=nearest";
  if (!is_within_fp32(op)) return "scale_by= takes numbers of fp32, and " + op.a.name() + " has others";
  if (!recipe.steps_of(op))
    return std::string("scale_by=") + recipe.name + " is about the tensor's scale, and the op has no tensor=";
  return "";
}

std::string reason_against(const CodeRecipe& recipe, const Op& op) {
  if (op.scale_a.fields().fraction_bits == 0)
    return "scales of " + op.scale_a.name() + " are powers of two: codes_by= belongs to scales with a fraction";
  if (!is_within_fp32(op)) return "codes_by= takes numbers of fp32, and " + op.a.name() + " has others";
  if (!recipe.steps_of(op))
    return std::string("codes_by=") + recipe.name + " is about the tensor's scale, and the op has no tensor=";
  return "";
}

bool is_within_fp32(const Op& op) { return op.a.fields().fraction_bits <= 23 && op.a.fields().exponent_bits <= 8; }

float fp32_of(const FormatFields& f, uint64_t encoding) {
  return std::bit_cast<float>(static_cast<uint32_t>(convert_number(fp32_fields, decode(f, encoding), {}).encoding));
}

Number number_of(float x) { return decode(fp32_fields, std::bit_cast<uint32_t>(x)); }

float greatest_of(const FormatFields& element) {
  const Number greatest = greatest_element(element);
  return std::ldexp(static_cast<float>(greatest.significand), greatest.exponent);
}

float amax_of(const Op& op, const Batch& batch, size_t index) {
  float amax = 0;
  for (int lane = 0; lane < op.k; ++lane) {
    const float x = std::fabs(fp32_of(op.a.fields(), batch.inputs()[0].get(index, lane)));
    if (std::isfinite(x)) amax = std::max(amax, x);
  }
  return amax;
}

uint64_t scale_by(const ScaleRecipe& recipe, ScaleRule rule, const Op& op, const Batch& batch, size_t index) {
  ScaleOperands operands{amax_of(op, batch, index), 1, greatest_of(op.d.fields())};
  if (op.has_tensor_scale()) operands.tensor = fp32_of(op.scale_b.fields(), batch.inputs()[1].get(index));
  const Number quotient = number_of(recipe.quotient(operands));
  const bool rounds_up = rule == ScaleRule::rceil;
  const FormatFields& scale = op.scale_a.fields();
  if (scale.fraction_bits == 0) {
    // The scale is 1 from just above 1/2 on or, rounded to nearest, from 3/4 on with ties to even.
    using Tie = ScaleStep::Tie;
    const ScaleStep step =
        rounds_up ? detail::scale_step_at(1, -1, Tie::lesser) : detail::scale_step_at(3, -2, Tie::to_even);
    return quotient.cls == NumberClass::finite ? detail::power_of_two_scale(scale, step, quotient) : 0;
  }
  RoundingRule to_scale;
  to_scale.rounding = rounds_up ? Rounding::up : Rounding::nearest_even;
  to_scale.overflow = Overflow::saturate;
  return convert_number(scale, quotient, to_scale).encoding;
}

uint64_t code_by(const CodeRecipe& recipe, const Op& op, uint64_t x, uint64_t scale, uint64_t tensor,
                 const RoundingRule& round) {
  const float t = op.has_tensor_scale() ? fp32_of(op.scale_b.fields(), tensor) : 1.0f;
  const float s = fp32_of(op.scale_a.fields(), scale);
  const float y = s == 0 ? 0 * fp32_of(op.a.fields(), x) : recipe.quotient(fp32_of(op.a.fields(), x), s, t);
  return block_element(op.d.fields(), number_of(y), one_as_number(), one_as_number(), round).encoding;
}

}  // namespace mmafuzz
