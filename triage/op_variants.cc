#include "triage/op_variants.h"

#include <algorithm>
#include <cstring>

#include "core/property.h"
#include "core/text.h"
#include "core/unit_name.h"
#include "oracles/quantizers/fp32_recipes.h"
#include "search/structured_generator.h"
#include "core/registry.h"

namespace mmafuzz {
namespace {

struct NamedMeaning {
  const char *name, *meaning;
};
constexpr NamedMeaning meanings[] = {
    {"rounding", "another rounding mode"},
    {"subnormals", "subnormal operands or results are flushed to zero, or are kept"},
    {"saturation", "a result beyond the range becomes the greatest number, or infinity"},
    {"special_values", "NaN encodings, or NaN where the other has a number"},
    {"tininess", "underflow is detected before rounding, or after"},
    {"inexact", "the rounding to an integer raises the inexact flag, or does not"},
    {"quiet_nans", "a comparison is invalid for quiet NaNs, or is not"},
    {"double_rounding", "rounded to a wider format first"},
    {"contraction", "product and sum are rounded separately"}};

/// Result and flags of one case; flags are -1 where the unit reports none.
struct Answer {
  Column results;  ///< all elements of the one case
  int flags = -1;

  uint64_t result() const { return results.get(0); }
};

Answer answer_of(const Outcomes& outcomes, size_t index) {
  Answer answer{outcomes.results, outcomes.flags.empty() ? -1 : outcomes.flags[index]};
  answer.results.resize(1);
  const size_t stride = outcomes.results.stride();
  std::memcpy(answer.results.data(), outcomes.results.data() + index * stride, stride);
  return answer;
}

bool same(const Batch& cases, size_t index, const Answer& x, const Answer& y) {
  const bool same_flags = x.flags < 0 || y.flags < 0 || x.flags == y.flags;
  return same_flags && first_difference(cases.part(index), x.results, y.results, 0) < 0;
}

// The beginnings of names, before the name of a rule, a format, a rounding mode or a recipe.
constexpr std::string_view scale_as = "scale_as_", scale_through = "scale_through_", elements_round = "elements_round_",
                           scale_steps = "scale_by_", code_steps = "codes_by_";

/// Writes the same numbers in a format that holds them all.
void widen(const Column& from, const FormatFields& f, Column& to, const FormatFields& wider) {
  for (size_t i = 0; i < from.cases(); ++i)
    for (int at = 0; at < from.count(); ++at) {
      const Number x = decode(f, from.get(i, at));
      to.set(i, at,
             x.cls == NumberClass::nan        ? wider.encode_nan()
             : x.cls == NumberClass::infinity ? wider.encode_infinity(x.negative)
                                              : round_exact(wider, to_exact(x), RoundingRule{}).encoding);
    }
}

}  // namespace

/// One operation, or two in sequence, of which `then` takes the result of `op` as its first operand. Where `op` has
/// wider operands than the cases, it takes the same numbers.
struct OpVariants::Variant {
  std::string name;
  Op op, then = {};
  std::unique_ptr<Unit> unit;                 ///< of `op`
  std::unique_ptr<Unit> then_unit = nullptr;  ///< of `then`; nullptr where there is one operation only
  size_t changes = 1;                         ///< number of names in `name`

  Outcomes run(const Batch& cases) const {
    Batch first(op, cases.size());
    if (op.a == cases.op().a) first.inputs() = cases.inputs();
    else widen(cases.inputs()[0], cases.op().a.fields(), first.inputs()[0], op.a.fields());
    const Outcomes middle = unit->outcomes_of(first);
    if (!then_unit) return middle;
    Batch second(then, cases.size());
    const bool is_sum = second.inputs()[0].count() == 2;  // of a product and the third operand of a multiply-add
    for (size_t i = 0; i < cases.size(); ++i) {
      second.inputs()[0].set(i, 0, middle.results.get(i));
      if (is_sum) second.inputs()[0].set(i, 1, cases.inputs()[0].get(i, 2));
    }
    Outcomes last = then_unit->outcomes_of(second);
    for (size_t i = 0; i < std::min(last.flags.size(), middle.flags.size()); ++i) last.flags[i] |= middle.flags[i];
    return last;
  }
};

void OpVariants::add_blocks(const Registry& registry) {
  const bool quantizes = op_.kind == OpKind::quantize;
  const auto bound = [&](const Op& op, const std::string& settings) {
    const std::string name = std::string("quantizer:") + (quantizes ? name_of(op.scale_rule) : "back");
    return bound_or_null(registry, settings.empty() ? name : name + "?" + settings, op);
  };
  op_unit_ = bound(op_, "");
  /// A change of one part: of the op, or of the unit's settings.
  struct Change {
    std::string name;
    Op op;
    std::string settings;
  };
  std::vector<Change> scales, elements;
  for (int rule = 0; rule < scale_rule_count && quantizes; ++rule) {
    Op other = op_;
    other.scale_rule = static_cast<ScaleRule>(rule);
    if (other.scale_rule != op_.scale_rule && takes_scale(other.scale_rule, op_.scale_a.fields()))
      scales.push_back({std::string(scale_as) + name_of(other.scale_rule), other, ""});
  }
  for (const char* through : {"", "bf16", "fp16"}) {
    Op other = op_;
    other.via = *through ? format(through) : Format();
    if (quantizes && !(other.via == op_.via) && !(other.via == op_.a))
      scales.push_back({std::string(scale_through) + (*through ? through : "nothing"), other, ""});
  }
  for (int rounding = 0; rounding < static_cast<int>(Rounding::stochastic); ++rounding) {
    Op other = op_;
    other.rounding = static_cast<Rounding>(rounding);
    if (other.rounding != op_.rounding)
      elements.push_back({std::string(elements_round) + name_of(other.rounding), other, ""});
  }
  // A recipe that does not apply to the op does not bind, and add() leaves it out.
  for (const ScaleRecipe& recipe : scale_recipes())
    if (quantizes)
      scales.push_back({std::string(scale_steps) + recipe.name, op_, std::string("scale_by=") + recipe.name});
  for (const CodeRecipe& recipe : code_recipes())
    if (quantizes)
      elements.push_back({std::string(code_steps) + recipe.name, op_, std::string("codes_by=") + recipe.name});
  const auto add = [&](const std::string& name, const Op& op, const std::string& settings, size_t changes) {
    if (std::unique_ptr<Unit> unit = bound(op, settings))
      variants_.push_back({.name = name, .op = op, .unit = std::move(unit), .changes = changes});
  };
  for (const std::vector<Change>* changes : {&scales, &elements})
    for (const Change& change : *changes) add(change.name, change.op, change.settings, 1);
  Op special = op_;
  special.block_specials =
      op_.block_specials == BlockSpecials::elements ? BlockSpecials::nan_scale : BlockSpecials::elements;
  if (quantizes) add("special_values", special, "", 1);
  Op overflow = op_;
  overflow.elements_overflow = !op_.elements_overflow;
  if (quantizes) add("saturation", overflow, "", 1);
  for (const Change& scale : scales)
    for (const Change& element : elements) {
      Op both = scale.op;
      both.rounding = element.op.rounding;
      const bool both_set = !scale.settings.empty() && !element.settings.empty();
      add(scale.name + "," + element.name, both, scale.settings + (both_set ? "," : "") + element.settings, 2);
    }
}

OpVariants::OpVariants(const Op& op, const Registry& registry) : op_(op) {
  if (op.is_of_blocks()) {
    add_blocks(registry);
    return;
  }
  op_unit_ = bound_or_null(registry, "ieee", op);
  const auto add = [&](std::string name, const Op& changed) {
    if (std::unique_ptr<Unit> unit = bound_or_null(registry, "ieee", changed))
      variants_.push_back({.name = std::move(name), .op = changed, .unit = std::move(unit)});
  };
  const auto add_two = [&](const char* name, const Op& first, const Op& second) {
    std::unique_ptr<Unit> unit = bound_or_null(registry, "ieee", first), then = bound_or_null(registry, "ieee", second);
    if (unit && then) variants_.push_back({name, first, second, std::move(unit), std::move(then)});
  };
  std::vector<Op> rounded;
  for (const Rounding mode :
       {Rounding::nearest_even, Rounding::toward_zero, Rounding::up, Rounding::down, Rounding::nearest_away}) {
    if (mode == op.rounding) continue;
    rounded.push_back(op);
    rounded.back().rounding = mode;
  }
  Op flushed = op, saturated = op, tiny = op;
  flushed.flush_to_zero = !op.flush_to_zero;
  saturated.saturate = !op.saturate;
  tiny.tininess = op.tininess == Tininess::after ? Tininess::before : Tininess::after;
  // Saturation and flushing come before rounding: a mode toward zero does the same at the ends of the range only.
  add("saturation", saturated);
  add("subnormals", flushed);
  for (const Op& other : rounded) add("rounding", other);
  add("tininess", tiny);
  if (op.rounds_to_integer()) {
    Op silent = op;
    silent.signals_inexact = !op.signals_inexact;
    add("inexact", silent);
  }
  constexpr std::pair<ScalarOperation, ScalarOperation> opposites[] = {
      {ScalarOperation::equal, ScalarOperation::equal_signaling},
      {ScalarOperation::less, ScalarOperation::less_quiet},
      {ScalarOperation::less_equal, ScalarOperation::less_equal_quiet}};
  for (const auto& [one, other] : opposites) {
    if (op.kind != OpKind::scalar || (op.scalar != one && op.scalar != other)) continue;
    Op opposite = op;
    opposite.scalar = op.scalar == one ? other : one;
    add("quiet_nans", opposite);
  }
  if (op.kind == OpKind::convert) {
    for (const char* wider : {"fp64", "fp32", "tf32", "fp16", "bf16"}) {
      const Result<Format> middle = parse_format(wider);
      if (!middle || *middle == op.a || *middle == op.d) continue;
      Op first = op, second = op;
      first.d = *middle;
      second.a = *middle;
      add_two("double_rounding", first, second);
    }
  }
  if (op.kind == OpKind::scalar && !compares(op.scalar) && !op.rounds_to_integer())
    for (const char* name : {"fp32", "fp64"}) {
      const Format wider = format(name);
      if (op.a.fields().integer || op.a.fields().width >= wider.fields().width) continue;
      Op first = op, narrowing = op;
      first.a = first.d = narrowing.a = wider;
      narrowing.kind = OpKind::convert;
      add_two("double_rounding", first, narrowing);
    }
  if (op.kind == OpKind::scalar && op.scalar == ScalarOperation::fma) {
    Op product = op, sum = op;
    product.scalar = ScalarOperation::mul;
    sum.scalar = ScalarOperation::add;
    add_two("contraction", product, sum);
  }
  for (Op other : rounded) {
    other.flush_to_zero = flushed.flush_to_zero;
    add("rounding,subnormals", other);
    other.flush_to_zero = op.flush_to_zero;
    other.saturate = saturated.saturate;
    add("rounding,saturation", other);
  }
  Op both = flushed;
  both.saturate = saturated.saturate;
  add("subnormals,saturation", both);
}

OpVariants::~OpVariants() = default;

std::string OpVariants::name(const Batch& cases, size_t index, const Outcomes& first, const Outcomes& second) const {
  if (!op_unit_) return "";
  const Answer answers[2] = {answer_of(first, index), answer_of(second, index)};
  const Answer of_op = answer_of(op_unit_->outcomes_of(cases.part(index)), 0);
  const bool first_is_right = same(cases, index, answers[0], of_op);
  if (!first_is_right && !same(cases, index, answers[1], of_op)) return "";
  const Answer& deviating = answers[first_is_right ? 1 : 0];
  const auto is_nan = [&](uint64_t x) { return decode(op_.d.fields(), x).cls == NumberClass::nan; };
  if (is_nan(deviating.result()) && is_nan(of_op.result())) return "special_values";
  for (const Variant& variant : variants_)
    if (same(cases, index, answer_of(variant.run(cases.part(index)), 0), deviating)) return variant.name;
  return is_nan(deviating.result()) || is_nan(of_op.result()) ? "special_values" : "";
}

const std::vector<size_t>& OpVariants::order_for(const Unit& unit) {
  std::vector<size_t>& order = orders_[&unit];
  if (!order.empty()) return order;
  constexpr size_t drawn = 512;  // blocks
  Batch blocks(op_);
  StructuredGenerator(op_, 1).fill(0, drawn, blocks);
  Outcomes of_unit, of_variant;
  unit.run(blocks, of_unit);
  std::vector<size_t> fitting;  // by variant: the blocks on which it agrees with the unit
  for (const Variant& variant : variants_) {
    variant.unit->run(blocks, of_variant);
    size_t fits = 0;
    for (size_t i = 0; i < drawn; ++i)
      fits += of_unit.has_answer(i) && first_difference(blocks, of_unit.results, of_variant.results, i) < 0;
    fitting.push_back(fits);
    order.push_back(order.size());
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) {
    return std::pair(variants_[x].changes, drawn - fitting[x]) < std::pair(variants_[y].changes, drawn - fitting[y]);
  });
  return order;
}

std::string OpVariants::name_of_blocks(const Batch& cases, size_t index, const Outcomes (&outcomes)[2],
                                       const std::vector<std::unique_ptr<Unit>>& units) {
  if (!op_unit_) return "";
  std::string names;
  const Answer of_op = answer_of(op_unit_->outcomes_of(cases.part(index)), 0);
  for (size_t side = 0; side < 2; ++side) {
    const Answer answer = answer_of(outcomes[side], index);
    if (same(cases, index, of_op, answer)) continue;
    const std::vector<size_t>& order = order_for(*units[side]);
    const auto fits = [&](size_t i) {
      return same(cases, index, answer_of(variants_[i].run(cases.part(index)), 0), answer);
    };
    const auto found = std::find_if(order.begin(), order.end(), fits);
    if (found == order.end()) return "";
    names += (names.empty() ? "" : ",") + variants_[*found].name;
  }
  return names;
}

std::vector<OpChange> OpVariants::changes() const {
  const auto words_beside = [](const Op& op, const Op& other) {  // words of the one that the other does not have
    std::vector<std::string> words = words_of(op_words(op)), of_other = words_of(op_words(other));
    std::erase_if(words, [&](const std::string& word) {
      return std::find(of_other.begin(), of_other.end(), word) != of_other.end();
    });
    return joined(words, " ");
  };
  std::vector<OpChange> all;
  for (const Variant& variant : variants_) {
    std::string from = "one rounding",
                to = variant.op.d == op_.d ? "two roundings" : "a rounding to " + variant.op.d.name() + " first";
    if (!variant.then_unit) {
      from = words_beside(op_, variant.op);
      to = words_beside(variant.op, op_);
      if (from.empty() && to.empty()) from = "the exact quotient", to = "the quotient in these steps";  // of a recipe
      if (from.empty()) from = "no " + to;
      if (to.empty()) to = "no " + from;
    }
    all.push_back({variant.name, from, to, [&variant](const Batch& cases) { return variant.run(cases); }});
  }
  return all;
}

std::string OpVariants::meaning(const std::string& name) {
  if (name.starts_with(scale_as)) return "the scale of rule=" + name.substr(scale_as.size());
  if (name.starts_with(scale_through))
    return name.ends_with("nothing") ? "the greatest magnitude is not rounded before the scale is taken"
                                     : "the greatest magnitude is rounded to " + name.substr(scale_through.size()) +
                                           " before the scale is taken";
  for (const ScaleRecipe& recipe : scale_recipes())
    if (name == std::string(scale_steps) + recipe.name) return std::string("the scale is of ") + recipe.steps;
  for (const CodeRecipe& recipe : code_recipes())
    if (name == std::string(code_steps) + recipe.name) return std::string("codes are of ") + recipe.steps;
  if (name.starts_with(elements_round)) return "elements are rounded " + name.substr(elements_round.size());
  const NamedMeaning* found = entry_named(meanings, name);
  return found ? found->meaning : "";
}

}  // namespace mmafuzz
