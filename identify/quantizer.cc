#include "identify/quantizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/block_case.h"
#include "core/case_text.h"
#include "core/text.h"
#include "arithmetic/corner_encodings.h"
#include "core/host_number.h"
#include "core/json_text.h"
#include "core/property.h"
#include "oracles/quantizers/fp32_recipes.h"
#include "search/datapath_walks.h"
#include "search/draw_block.h"
#include "search/structured_generator.h"
#include "triage/explain/number_text.h"
#include "triage/operands.h"

namespace mmafuzz {
namespace {

/// Rules with a logarithm in fp32: just below a power of two it is rounded to the logarithm of the power.
struct LogarithmRecipe {
  ScaleRule rule;
  const char* words;
  float (*of)(float amax, float greatest, int emax);
};
constexpr LogarithmRecipe logarithm_recipes[] = {
    {ScaleRule::floor, "floor(log2(amax)) in fp32", [](float a, float, int e) { return std::floor(std::log2(a)) - e; }},
    {ScaleRule::ceil, "ceil(log2(amax)) in fp32", [](float a, float, int e) { return std::ceil(std::log2(a)) - e; }},
    {ScaleRule::rceil, "ceil(log2(amax / greatest)) in fp32",
     [](float a, float g, int) { return std::ceil(std::log2(a / g)); }},
    {ScaleRule::nearest_log2, "round(log2(amax / greatest)) in fp32",
     [](float a, float g, int) { return std::rint(std::log2(a / g)); }},
};

QuantizerReading one_rounding(const std::string& name, const std::string& meaning) {
  return {.name = name, .meaning = meaning};
}
QuantizerReading recipe_of(const std::string& name, const std::string& meaning) {
  return {.name = name, .meaning = meaning, .is_recipe = true};
}

/// A reading of the scale.
struct ScaleReading {
  QuantizerReading told;
  std::function<uint64_t(const Batch&, size_t)> of;  ///< the encoding of the scale for a case of a batch
  std::optional<ScaleStep> step = {};                ///< of a rule of powers of two, to find rules that are the same
};

std::string distance_text(int64_t moved) {
  return counted(static_cast<uint64_t>(std::abs(moved)), "step") + (moved < 0 ? " low" : " high");
}

/// The scale that is `moved` steps above `code`, within the format; a NaN stays.
uint64_t moved_scale(const FormatFields& f, uint64_t code, int64_t moved) {
  if (decode(f, code).cls == NumberClass::nan) return code;
  const auto rank = static_cast<int64_t>(scale_rank(f, code)) + moved;
  return scale_at(f, static_cast<uint64_t>(std::clamp<int64_t>(rank, 0, int64_t(greatest_scale_rank(f)))));
}

/// The divisors of a block's numbers: the block's scale and the tensor's scale (1 if there is none).
struct Scales {
  Number scale, tensor;
  uint64_t scale_code, tensor_code;

  Scales(const Op& op, uint64_t code, const Batch& batch, size_t i)
      : scale(decode(op.scale_a.fields(), code)),
        tensor(tensor_scale_of(batch, i)),
        scale_code(code),
        tensor_code(op.has_tensor_scale() ? batch.inputs()[1].get(i) : 0) {}
};

/// A reading of the codes, under the unit's own scale.
struct ElementReading {
  QuantizerReading told;
  std::function<uint64_t(uint64_t x, const Scales&)> of;  ///< the code of a number, an encoding of the op's a
  bool overflows_as_asked = true;  ///< whether numbers beyond the range become what the op's saturate= says
};

std::string_view meaning_of(ScaleRule rule, bool power_of_two) {
  switch (rule) {
    case ScaleRule::floor: return "2^(floor(log2 amax) - emax)";
    case ScaleRule::ceil: return "2^(ceil(log2 amax) - emax)";
    case ScaleRule::even: return "floor, of amax rounded to the element's fraction";
    case ScaleRule::threshold: return "floor, one step more from 1.75 * 2^n on";
    case ScaleRule::nearest_log2: return "2^round(log2(amax / greatest))";
    case ScaleRule::rceil: return "amax / greatest rounded up";
    case ScaleRule::nearest: break;
  }
  return power_of_two ? "amax / greatest to the nearest power of two" : "amax / greatest rounded to nearest even";
}

std::vector<ScaleReading> scale_readings(const Op& op) {
  std::vector<ScaleReading> all;
  const bool power_of_two = op.scale_a.fields().fraction_bits == 0;
  for (int number = 0; number < scale_rule_count; ++number) {
    const auto rule = static_cast<ScaleRule>(number);
    if (!takes_scale(rule, op.scale_a.fields())) continue;
    for (const char* via : {"", "bf16", "fp16"}) {
      Op read_op = op;
      read_op.scale_rule = rule;
      read_op.block_specials = BlockSpecials::elements;
      read_op.via = *via ? format(via) : Format();
      if (*via && (read_op.via == op.a || op.a.fields().fraction_bits < read_op.via.fields().fraction_bits)) continue;
      all.push_back({one_rounding(std::string("rule=") + name_of(rule) + (*via ? std::string(" via=") + via : ""),
                                  std::string(meaning_of(rule, power_of_two)) +
                                      (*via ? std::string(", amax rounded to ") + via + " first" : "")),
                     [block = std::make_shared<QuantizedBlock>(read_op)](const Batch& batch, size_t i) {
                       return block->scale(batch, i);
                     }});
      if (power_of_two && !*via) all.back().step = scale_step(rule, op.d.fields());
    }
  }
  if (power_of_two && is_within_fp32(op)) {
    ScaleStep ties_up = scale_step(ScaleRule::nearest, op.d.fields());
    ties_up.tie = ScaleStep::Tie::greater;
    all.push_back({one_rounding("rule=nearest with ties up", "amax / greatest to the nearest power of two"),
                   [op, ties_up](const Batch& batch, size_t i) {
                     return detail::power_of_two_scale(op.scale_a.fields(), ties_up, number_of(amax_of(op, batch, i)));
                   }});
    for (const LogarithmRecipe& recipe : logarithm_recipes)
      all.push_back({recipe_of(std::string("rule=") + name_of(recipe.rule) + " by " + recipe.words,
                               "the logarithm is rounded first"),
                     [op, recipe](const Batch& batch, size_t i) {
                       const Number greatest = greatest_element(op.d.fields());
                       const int emax = greatest.exponent + bit_length(greatest.significand) - 1;
                       const float exponent = recipe.of(amax_of(op, batch, i), greatest_of(op.d.fields()), emax);
                       const FormatFields& scale = op.scale_a.fields();
                       const auto least = static_cast<float>(least_power(scale)),
                                  most = static_cast<float>(scale.emax());
                       return scale_at(scale, static_cast<uint64_t>(std::clamp(exponent, least, most) - least));
                     }});
  }
  for (const ScaleRecipe& recipe : scale_recipes())
    for (const ScaleRule rule : {ScaleRule::nearest, ScaleRule::rceil}) {
      if (!reason_against(recipe, rule, op).empty()) continue;
      const char* way = rule == ScaleRule::rceil ? "up" : "to nearest even";
      all.push_back(
          {recipe_of(std::string("rule=") + name_of(rule) + " of " + recipe.steps_of(op),
                     std::string("rounded ") + way + " to " + op.scale_a.name()),
           [op, recipe, rule](const Batch& batch, size_t i) { return scale_by(recipe, rule, op, batch, i); }});
    }
  return all;
}

/// To nearest, and beyond the range as the op says.
RoundingRule plain_rule(const Op& op) {
  RoundingRule rule = op.rounding_rule();
  rule.rounding = Rounding::nearest_even;
  return rule;
}

std::vector<ElementReading> element_readings(const Op& op) {
  std::vector<ElementReading> all;
  const FormatFields from = op.a.fields(), element = op.d.fields();
  const RoundingRule plain = plain_rule(op);
  for (int number = 0; number < static_cast<int>(Rounding::stochastic); ++number)
    for (const bool overflows_as_asked : {true, false}) {
      if (!overflows_as_asked && (element.integer || element.specials == Specials::none)) continue;
      RoundingRule rule = plain;
      rule.rounding = static_cast<Rounding>(number);
      if (!overflows_as_asked) rule.overflow = op.elements_overflow ? Overflow::saturate : Overflow::by_rounding;
      const char* overflow = overflows_as_asked ? "" : op.elements_overflow ? " saturate=1" : " saturate=0";
      all.push_back({one_rounding(std::string("round=") + name_of(rule.rounding) + overflow, "x / scale rounded once"),
                     [from, element, rule](uint64_t x, const Scales& under) {
                       return block_element(element, decode(from, x), under.scale, under.tensor, rule).encoding;
                     },
                     overflows_as_asked});
    }
  all.push_back({one_rounding("round=nearest_toward_zero", "x / scale to nearest, ties toward zero"),
                 [from, element, plain](uint64_t x, const Scales& under) {
                   // A number just below x in magnitude: only a tie becomes another code.
                   Number less = decode(from, x);
                   if (less.cls == NumberClass::finite) {
                     less.significand = 4 * less.significand - 1;
                     less.exponent -= 2;
                   }
                   return block_element(element, less, under.scale, under.tensor, plain).encoding;
                 }});
  for (const CodeRecipe& recipe : code_recipes()) {
    if (!reason_against(recipe, op).empty()) continue;
    all.push_back({recipe_of(std::string("round=nearest_even of ") + recipe.steps_of(op),
                             "rounded in fp32, and once more to " + op.d.name()),
                   [op, recipe, plain](uint64_t x, const Scales& under) {
                     return code_by(recipe, op, x, under.scale_code, under.tensor_code, plain);
                   }});
  }
  return all;
}

/// x / scale before it is rounded; the last bit is sticky. All are finite, the scales not zero.
Number quotient_of(const Number& x, const Scales& under) {
  return detail::jammed_quotient(x, under.scale.significand * under.tensor.significand,
                                 under.scale.exponent + under.tensor.exponent);
}

/// Codes of quotients that are rounded, or cut, to `bits` bits of fraction first: as by an intermediate narrower
/// format, or by a unit that ignores the last bits.
ElementReading narrowed_reading(const Op& op, int bits, bool cut) {
  const FormatFields from = op.a.fields(), element = op.d.fields();
  const RoundingRule plain = plain_rule(op);
  const char* meaning = cut          ? "what is below them is not looked at"
                        : bits == 7  ? "as bf16 does"
                        : bits == 10 ? "as fp16 does"
                                     : "rounded twice";
  const std::string name =
      fmt::format("round=nearest_even of x / scale {} to {} bits of fraction", cut ? "cut" : "rounded", bits);
  return {recipe_of(name, meaning), [=](uint64_t code, const Scales& under) {
            const Number x = decode(from, code);
            if (x.cls != NumberClass::finite || under.scale.cls != NumberClass::finite)
              return block_element(element, x, under.scale, under.tensor, plain).encoding;
            const FormatFields narrow = ieee_fields(11, bits);
            RoundingRule rule;
            rule.rounding = cut ? Rounding::toward_zero : Rounding::nearest_even;
            const Number y = decode(narrow, convert_number(narrow, quotient_of(x, under), rule).encoding);
            return block_element(element, y, one_as_number(), one_as_number(), plain).encoding;
          }};
}

/// Codes that stay in the binade of the quotient: one that would round up to a power of two takes the code before.
ElementReading within_binade_reading(const Op& op) {
  const FormatFields from = op.a.fields(), element = op.d.fields();
  const RoundingRule rule = plain_rule(op);
  const QuantizerReading words = recipe_of("round=nearest_even within the binade",
                                           "what would round up to a power of two takes the number before it");
  return {words, [=](uint64_t code, const Scales& under) {
            const Number x = decode(from, code);
            const uint64_t plain = block_element(element, x, under.scale, under.tensor, rule).encoding;
            if (x.cls != NumberClass::finite || under.scale.cls != NumberClass::finite) return plain;
            const Number y = quotient_of(x, under), rounded = decode(element, plain);
            const int binade = y.exponent + bit_length(y.significand) - 1;
            const bool left =
                rounded.cls == NumberClass::finite && binade >= element.emin() && rounded.scale_exponent > binade;
            return left ? plain - element.in_container(1) : plain;
          }};
}

/// Blocks for every step of every rule and every rounding of an element, specials alone and beside 1, zeros, and
/// `drawn` random blocks.
Batch questions(const Op& op, uint64_t drawn, uint64_t seed) {
  Batch batch(op);
  const DatapathWalks walks(op, corner_hints(nullptr), seed);
  for (const DatapathWalks::Part& part : walks.parts()) {
    constexpr uint64_t most = uint64_t{1} << 15;
    const uint64_t passes = std::min(part.length, std::max(part.pass * 4, std::min(part.length, uint64_t{4096})));
    const size_t first = batch.size();
    batch.resize(first + std::min(passes, most));
    for (size_t i = first; i < batch.size(); ++i) walks.make(part.first + (i - first), batch, i);
  }
  const size_t first = batch.size();
  const FormatFields& from = op.a.fields();
  std::vector<uint64_t> special;
  if (from.has_infinity()) special = {from.encode_infinity(false), from.encode_infinity(true)};
  if (from.has_nan()) special.push_back(from.encode_nan());
  batch.resize(first + 2 * special.size() + 1 + drawn);
  const StructuredGenerator generator(op, seed);
  for (size_t i = 0; i < batch.size() - first; ++i) {
    const size_t at = first + i;
    generator.draw(i, batch, at);
    if (i > 2 * special.size()) continue;
    clear_block(batch, at);
    if (i == 2 * special.size()) continue;  // zeros alone
    batch.inputs()[0].set(at, 0, special[i / 2]);
    if (i % 2 && op.k > 1) batch.inputs()[0].set(at, 1, encode_near(from, false, 0, 0));
  }
  return batch;
}

class Asking {
 public:
  Asking(const Unit& unit, const Op& op, uint64_t verify, uint64_t seed)
      : unit_(unit), op_(op), cases_(op), scales_(scale_readings(op)), elements_(element_readings(op)) {
    id_.unit = unit.name();
    id_.op = op;
    ask(questions(op, verify, seed));
  }

  QuantizerIdentification run(bool every_number) {
    judge();
    if (scales_.front().told.differing) add_moved_scales();
    if (elements_.front().told.differing) add_narrowed_elements();
    if (has_best()) {
      const std::vector<Class> classes = classes_of_numbers();
      if (!classes.empty()) ask(ends_of(classes));
      judge();
      id_.one.classes = has_best() ? classes.size() : 0;
      if (has_best() && every_number && !classes.empty()) ask_every_number(classes);
    }
    note_equal_rules();
    if (scales_.front().told.differing) scales_.front().told.how = how_scales_differ(scales_.front());
    if (elements_.front().told.differing) elements_.front().told.how = how_codes_differ(elements_.front());
    add_exceptions_of_scale();
    add_exceptions_of_codes();
    add_signs_of_zeros();
    for (const ScaleReading& reading : scales_) id_.scales.push_back(reading.told);
    for (const ElementReading& reading : elements_)
      if (reading.overflows_as_asked || overflows_tell(reading)) id_.elements.push_back(reading.told);
    return std::move(id_);
  }

 private:
  /// Asks the unit, and keeps the blocks with its answers.
  void ask(const Batch& more) {
    const Outcomes outcomes = unit_.outcomes_of(more);
    const size_t first = cases_.size();
    for (size_t i = 0; i < more.size(); ++i) cases_.append(more, i);
    if (first == 0) outcomes_.results = Column(op_.result().format, op_.result().count);
    outcomes_.results.resize(cases_.size());
    std::memcpy(outcomes_.results.data() + first * outcomes_.results.stride(), outcomes.results.data(),
                more.size() * outcomes_.results.stride());
    outcomes_.answered.resize(cases_.size(), 1);
    outcomes_.failed.resize(cases_.size(), 0);
    for (size_t i = 0; i < more.size(); ++i) {
      outcomes_.answered[first + i] = outcomes.has_answer(i);
      outcomes_.failed[first + i] = outcomes.has_failed(i);
      kinds_.push_back(kind_of(first + i));
      if (!has_answer(first + i)) ++id_.unanswered;
      else ++id_.of_kind[static_cast<int>(kinds_[first + i])];
    }
    id_.asked = cases_.size();
  }

  void judge() {
    for (ScaleReading& reading : scales_) judge_scale(reading);
    for (ElementReading& reading : elements_) judge_elements(reading);
    sort_readings();
  }
  void sort_readings() {
    const auto by_differences = [](const auto& x, const auto& y) { return x.told.differing < y.told.differing; };
    std::stable_sort(scales_.begin(), scales_.end(), by_differences);
    std::stable_sort(elements_.begin(), elements_.end(), by_differences);
  }
  /// Whether a reading of each side fits every ordinary block.
  bool has_best() const {
    return scales_.front().told.compared && scales_.front().told.differing + elements_.front().told.differing == 0;
  }

  /// By how many steps of the scale's format the unit's scale is above a reading's.
  int64_t steps_above(const ScaleReading& reading, size_t i) const {
    const FormatFields& f = op_.scale_a.fields();
    return static_cast<int64_t>(scale_rank(f, given_scale(i))) -
           static_cast<int64_t>(scale_rank(f, reading.of(cases_, i)));
  }
  /// The commonest such number on ordinary blocks, and on how many of them it occurs.
  std::pair<int64_t, uint64_t> commonest_move(const ScaleReading& reading) const {
    std::map<int64_t, uint64_t> counts;
    for (size_t i = 0; i < cases_.size(); ++i)
      if (has_answer(i) && kinds_[i] == BlockKind::ordinary) ++counts[steps_above(reading, i)];
    std::pair<int64_t, uint64_t> most{0, 0};
    for (const auto& [moved, count] : counts)
      if (count > most.second) most = {moved, count};
    return most;
  }
  /// Adds the reading that, moved by 1 to 4 steps, gives the unit's scale on the most blocks, if on more than any
  /// other.
  void add_moved_scales() {
    std::optional<ScaleReading> best;
    uint64_t agreeing = scales_.front().told.compared - scales_.front().told.differing;
    for (const ScaleReading& reading : scales_) {
      const auto [moved, count] = commonest_move(reading);
      if (moved == 0 || std::abs(moved) > 4 || count <= agreeing) continue;
      agreeing = count;
      best = {one_rounding(reading.told.name + ", " + distance_text(moved), reading.told.meaning),
              [of = reading.of, moved = moved, f = op_.scale_a.fields()](const Batch& batch, size_t i) {
                return moved_scale(f, of(batch, i), moved);
              }};
    }
    if (!best) return;
    judge_scale(*best);
    scales_.push_back(std::move(*best));
    sort_readings();
  }
  /// Adds the best of the readings that lose bits of x / scale, if it is better than all others.
  void add_narrowed_elements() {
    const FormatFields& element = op_.d.fields();
    std::vector<ElementReading> family;
    if (!element.integer) family.push_back(within_binade_reading(op_));
    const int least = element.integer ? 1 : element.fraction_bits + 1;
    for (int bits = least; bits <= 23; ++bits)
      for (const bool cut : {false, true}) family.push_back(narrowed_reading(op_, bits, cut));
    uint64_t least_differing = elements_.front().told.differing;
    std::optional<ElementReading> best;
    for (ElementReading& reading : family) {
      judge_elements(reading, least_differing);
      if (reading.told.differing >= least_differing) continue;
      least_differing = reading.told.differing;
      best = reading;
    }
    if (!best) return;
    judge_elements(*best);
    elements_.push_back(std::move(*best));
    sort_readings();
  }

  /// Magnitudes (encodings without sign) from `first` to `last` that alone in a block have one scale and one code.
  struct Class {
    uint64_t first, last;
    uint64_t scale, code;
  };
  /// The class of one magnitude alone, by the readings that fit. Scale and code never fall where the magnitude rises.
  Class one_number(Batch& one, uint64_t magnitude) const {
    const FormatFields& from = op_.a.fields();
    one.inputs()[0].set(0, 0, from.in_container(magnitude));
    const uint64_t scale = scales_.front().of(one, 0);
    const uint64_t code = elements_.front().of(from.in_container(magnitude), Scales(op_, scale, one, 0));
    return {magnitude, magnitude, scale, code};
  }
  /// Appends the classes above `low` up to `high`, found by bisection. The last of `classes` is that of `low`.
  void split(Batch& one, const Class& low, const Class& high, std::vector<Class>& classes) const {
    if (classes.size() > max_classes) return;
    if (low.scale == high.scale && low.code == high.code) {
      classes.back().last = high.last;
      return;
    }
    if (low.last + 1 == high.first) {
      classes.push_back(high);
      return;
    }
    const Class middle = one_number(one, low.last + (high.first - low.last) / 2);
    split(one, low, middle, classes);
    split(one, middle, high, classes);
  }
  /// Every class of finite magnitudes; none where they are too many.
  std::vector<Class> classes_of_numbers() const {
    Batch one = empty_blocks(1);
    const Class zero = one_number(one, 0), greatest = one_number(one, op_.a.fields().greatest_magnitude());
    std::vector<Class> classes = {zero};
    split(one, zero, greatest, classes);
    if (classes.size() > max_classes) classes.clear();
    return classes;
  }
  Batch empty_blocks(size_t count) const {
    Batch blocks(op_, count);
    for (size_t i = 0; i < count; ++i) clear_block(blocks, i);
    return blocks;
  }
  /// Both ends of each class, of both signs, each class in another lane.
  Batch ends_of(const std::vector<Class>& classes) const {
    Batch blocks = empty_blocks(4 * classes.size());
    const FormatFields& from = op_.a.fields();
    for (size_t i = 0; i < blocks.size(); ++i) {
      const Class& c = classes[i / 4];
      const uint64_t sign = i % 2 ? from.sign_bit() : 0;
      if (c.first == 0 && sign && !from.has_negative_zero()) continue;  // the code of -0 is a NaN's
      blocks.inputs()[0].set(i, static_cast<int>(i / 4 % static_cast<size_t>(op_.k)),
                             from.in_container((i % 4 < 2 ? c.first : c.last) | sign));
    }
    return blocks;
  }
  /// Each magnitude of both signs, alone in a block, some blocks at a time.
  void ask_every_number(const std::vector<Class>& classes) {
    constexpr uint64_t each = 1 << 15;
    const FormatFields& from = op_.a.fields();
    const uint64_t count = from.greatest_magnitude();
    Batch blocks = empty_blocks(each);
    Outcomes outcomes;
    for (const uint64_t sign : {uint64_t{0}, from.sign_bit()}) {
      size_t c = 0;
      for (uint64_t first = sign && !from.has_negative_zero() ? 1 : 0; first <= count; first += each) {
        if (first + each > count + 1) blocks = empty_blocks(count + 1 - first);
        else if (blocks.size() != each) blocks = empty_blocks(each);
        for (size_t i = 0; i < blocks.size(); ++i) blocks.inputs()[0].set(i, 0, from.in_container((first + i) | sign));
        unit_.run(blocks, outcomes);
        for (size_t i = 0; i < blocks.size(); ++i) {
          while (classes[c].last < first + i) ++c;
          compare_one(classes[c], blocks, i, outcomes);
        }
      }
    }
    id_.one.asked_every_number = true;
  }
  void compare_one(const Class& expected, const Batch& blocks, size_t i, const Outcomes& outcomes) {
    OneLiveElement& one = id_.one;
    if (!outcomes.has_answer(i) || outcomes.has_failed(i)) return void(++one.unanswered);
    ++one.compared;
    const FormatFields &element = op_.d.fields(), &from = op_.a.fields();
    const uint64_t scale = outcomes.results.get(i, 0), code = outcomes.results.get(i, 1),
                   x = blocks.inputs()[0].get(i, 0);
    uint64_t wanted = expected.code;
    if (decode(from, x).negative)
      wanted = element.integer ? (~wanted + 1) & element.container_mask()
                               : wanted | element.in_container(element.sign_bit());
    if (element.minus_zero_is_nan() && is_zero(element, expected.code)) wanted = expected.code;
    if (same_result(op_, scale, expected.scale, 0) && same_code(code, wanted)) return;
    if (one.differing++) return;
    one.against = {decimal(op_.a, x) + " in lane 0", case_line(blocks, i),
                   number_text(op_.scale_a, scale) + ", " + number_text(op_.d, code),
                   number_text(op_.scale_a, expected.scale) + ", " + number_text(op_.d, wanted)};
  }

  /// An answer's distance from that of a reading. `value`: amax's significand, or x / scale.
  struct Placed {
    double value;
    std::optional<int64_t> moved;  ///< steps of the scale or of the code; nullopt: the same; 0: another sign
  };
  /// "1.125, 1.25"; for more than four values their range, "1.5 to 1.75".
  static std::string values_text(const std::set<double>& values) {
    std::string text;
    if (values.size() > 4) return fmt::format("{:.9g} to {:.9g}", *values.begin(), *values.rbegin());
    for (const double x : values) text += (text.empty() ? "" : ", ") + fmt::format("{:.9g}", x);
    return text;
  }
  /// A sentence that says where a unit's scale is not that of a reading: by how many steps, at which significands of
  /// amax.
  std::string how_scales_differ(const ScaleReading& reading) const {
    const FormatFields& from = op_.a.fields();
    std::vector<Placed> all;
    for (size_t i = 0; i < cases_.size(); ++i) {
      if (!has_answer(i) || kinds_[i] != BlockKind::ordinary) continue;
      double amax = 0;
      for (int lane = 0; lane < op_.k; ++lane)
        amax = std::max(amax, std::fabs(to_double(from, cases_.inputs()[0].get(i, lane))));
      int exponent;
      const double significand = 2 * std::frexp(amax, &exponent);
      const int64_t moved = steps_above(reading, i);
      all.push_back({significand, moved ? std::optional(moved) : std::nullopt});
    }
    return sentence(all, "amax's significand", distance_text);
  }
  /// The same for codes, at which quotients x / scale.
  std::string how_codes_differ(const ElementReading& reading) const {
    const FormatFields &element = op_.d.fields(), &from = op_.a.fields();
    std::vector<Placed> all;
    for (size_t i = 0; i < cases_.size(); ++i) {
      const Scales under = given_scales(i);
      if (!has_answer(i) || kinds_[i] != BlockKind::ordinary || under.scale.cls != NumberClass::finite) continue;
      const double divisor = to_double(under.scale) * to_double(under.tensor);
      for (int lane = 0; lane < op_.k; ++lane) {
        const uint64_t x = cases_.inputs()[0].get(i, lane);
        const uint64_t wanted = reading.of(x, under), given = outcomes_.results.get(i, 1 + lane);
        const bool same = same_code(wanted, given);
        // By magnitude: codes of numbers rise with them.
        const auto size = [&](uint64_t code) {
          return element.integer ? std::abs(sign_extended(element, code))
                                 : static_cast<int64_t>((code & ~element.in_container(element.sign_bit())) >>
                                                        element.ignored_low_bits);
        };
        all.push_back(
            {std::fabs(to_double(from, x)) / divisor, same ? std::nullopt : std::optional(size(given) - size(wanted))});
      }
    }
    return sentence(all, "x / scale", [](int64_t moved) {
      return moved == 0 ? std::string("another sign")
                        : counted(static_cast<uint64_t>(std::abs(moved)), "code") + (moved < 0 ? " low" : " high");
    });
  }
  template <class Moved>
  static std::string sentence(const std::vector<Placed>& all, const char* what, Moved moved_text) {
    std::map<int64_t, std::set<double>> where;
    std::map<int64_t, uint64_t> counts;
    for (const auto& [value, moved] : all)
      if (moved) where[*moved].insert(value), ++counts[*moved];
    std::vector<int64_t> order;
    for (const auto& [moved, count] : counts) order.push_back(moved);
    std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) { return counts.at(x) > counts.at(y); });
    std::string text;
    for (size_t i = 0; i < order.size() && i < 3; ++i) {
      const std::set<double>& values = where.at(order[i]);
      uint64_t beside = 0;  // other answers at these values
      for (const auto& [value, moved] : all)
        beside += moved != order[i] &&
                  (values.size() > 4 ? value >= *values.begin() && value <= *values.rbegin() : values.contains(value));
      text += fmt::format("{}it is {} where {} is {}, on {}{} there", i ? "; " : "", moved_text(order[i]), what,
                          values_text(values), beside ? fmt::format("{} of ", counts.at(order[i])) : "all ",
                          counts.at(order[i]) + beside);
    }
    if (order.size() > 3) text += fmt::format("; and otherwise in {} more ways", order.size() - 3);
    return text;
  }

  BlockKind kind_of(size_t i) const {
    const FormatFields &from = op_.a.fields(), &scale = op_.scale_a.fields();
    bool has_finite = false, has_normal = false, has_greatest = false, has_small_tensor = false;
    for (int lane = 0; lane < op_.k; ++lane) {
      const Number x = decode(from, cases_.inputs()[0].get(i, lane));
      if (!is_number(x.cls)) return BlockKind::special;
      has_finite |= x.cls == NumberClass::finite;
      has_greatest |= x.cls == NumberClass::finite && x.scale_exponent == from.emax();
      has_normal |= x.cls == NumberClass::finite && !x.subnormal;
    }
    if (op_.has_tensor_scale()) {
      const Number t = decode(op_.scale_b.fields(), cases_.inputs()[1].get(i));
      if (t.cls != NumberClass::finite || t.negative) return BlockKind::special;
      // The reciprocal of its product with a scale overflows, or its product with the greatest element.
      const FormatFields& f = op_.scale_b.fields();
      has_small_tensor = t.subnormal || t.scale_exponent + scale.emin() - scale.fraction_bits < f.emin();
      has_greatest |= t.scale_exponent + 3 > f.emax();
    }
    if (!has_finite) return BlockKind::zeros;
    if (!has_normal || has_small_tensor) return BlockKind::subnormal;
    if (has_greatest) return BlockKind::greatest_numbers;
    // Rules differ by a step: scales within a margin of the format's ends count as its ends.
    Op plain = op_;
    plain.scale_rule = scale.fraction_bits ? ScaleRule::nearest : ScaleRule::floor;
    plain.via = Format();
    const uint64_t rank = scale_rank(scale, QuantizedBlock(plain).scale(cases_, i));
    const uint64_t margin = scale.fraction_bits ? uint64_t{2} << scale.fraction_bits : 2;
    if (rank < margin) return BlockKind::least_scale;
    if (rank + margin > greatest_scale_rank(scale)) return BlockKind::greatest_scale;
    return BlockKind::ordinary;
  }
  bool has_answer(size_t i) const { return outcomes_.has_answer(i) && !outcomes_.has_failed(i); }
  uint64_t given_scale(size_t i) const { return outcomes_.results.get(i, 0); }
  Scales given_scales(size_t i) const { return Scales(op_, given_scale(i), cases_, i); }

  /// Some blocks: on how many the unit differs from what is expected, and which of these is the simplest to read.
  struct Judged {
    uint64_t compared = 0, differing = 0;
    std::optional<size_t> simplest;
  };
  /// Judges the answered blocks whose kind counts. Stops where `enough` differ; with this limit `simplest` is nullopt.
  template <class Counts, class Differs>
  Judged judged(const Counts& counts, const Differs& differs, uint64_t enough = UINT64_MAX) const {
    Judged all;
    CaseCost least;
    for (size_t i = 0; i < cases_.size() && all.differing < enough; ++i) {
      if (!has_answer(i) || !counts(kinds_[i])) continue;
      ++all.compared;
      if (!differs(i)) continue;
      ++all.differing;
      if (enough != UINT64_MAX) continue;
      const CaseCost cost = Operands(op_, cases_, i).cost();
      if (all.simplest && !(cost < least)) continue;
      all.simplest = i;
      least = cost;
    }
    return all;
  }
  static bool is_ordinary(BlockKind kind) { return kind == BlockKind::ordinary; }

  template <class Witness>
  static void tell(QuantizerReading& told, const Judged& blocks, const Witness& witness) {
    told.compared = blocks.compared;
    told.differing = blocks.differing;
    told.against = blocks.simplest ? std::optional(witness(*blocks.simplest)) : std::nullopt;
  }
  void judge_scale(ScaleReading& reading) const {
    const auto differs = [&](size_t i) { return !same_result(op_, reading.of(cases_, i), given_scale(i), 0); };
    tell(reading.told, judged(is_ordinary, differs), [&](size_t i) { return scale_witness(i, reading.of(cases_, i)); });
  }
  /// Stops where `enough` blocks differ: another reading is as near.
  void judge_elements(ElementReading& reading, uint64_t enough = UINT64_MAX) const {
    const auto differs = [&](size_t i) { return differing_lane(reading, i) >= 0; };
    tell(reading.told, judged(is_ordinary, differs, enough), [&](size_t i) { return code_witness(reading, i); });
  }

  BlockWitness scale_witness(size_t i, uint64_t expected) const {
    return {block_text(i), case_line(cases_, i), number_text(op_.scale_a, given_scale(i)),
            number_text(op_.scale_a, expected)};
  }

  /// The first lane of case `i` whose code is not the reading's; -1: none.
  int differing_lane(const ElementReading& reading, size_t i) const {
    const Scales under = given_scales(i);
    if (under.scale.cls == NumberClass::nan) return -1;
    if (under.tensor.cls != NumberClass::finite || under.tensor.negative) return -1;
    for (int lane = 0; lane < op_.k; ++lane)
      if (!same_code(reading.of(cases_.inputs()[0].get(i, lane), under), outcomes_.results.get(i, 1 + lane)))
        return lane;
    return -1;
  }
  /// Zeros of either sign count as the same: add_signs_of_zeros() compares their signs.
  bool same_code(uint64_t x, uint64_t y) const {
    const FormatFields& element = op_.d.fields();
    return same_result(op_, x, y, 1) || (is_zero(element, x) && is_zero(element, y) && !element.integer);
  }
  /// Whether a reading that overflows in another way than the op says differs from the one that does as it says.
  bool overflows_tell(const ElementReading& other) const {
    const std::string rounding = other.told.name.substr(0, other.told.name.find(' '));
    return std::none_of(elements_.begin(), elements_.end(), [&](const ElementReading& asked) {
      return asked.told.name == rounding && asked.told.differing == other.told.differing;
    });
  }
  BlockWitness code_witness(const ElementReading& reading, size_t i) const {
    const int lane = differing_lane(reading, i);
    const uint64_t x = cases_.inputs()[0].get(i, lane);
    return {fmt::format("{} in lane {} under scale {}", decimal(op_.a, x), lane, decimal(op_.scale_a, given_scale(i))),
            case_line(cases_, i), number_text(op_.d, outcomes_.results.get(i, 1 + lane)),
            number_text(op_.d, reading.of(x, given_scales(i)))};
  }

  static std::string decimal(const Format& format, uint64_t encoding) {
    const ExplainedNumber number = explained_number(format, encoding);
    return number.decimal.empty() ? number.binary : number.decimal;
  }
  static std::string number_text(const Format& format, uint64_t encoding) {
    return to_hex(format, encoding) + " (" + decimal(format, encoding) + ")";
  }
  std::string block_text(size_t i) const {
    std::string text;
    int live = 0;
    for (int lane = 0; lane < op_.k; ++lane) {
      const uint64_t x = cases_.inputs()[0].get(i, lane);
      if (is_zero(op_.a.fields(), x)) continue;
      if (++live > 3) return "a block of many numbers";
      text += (text.empty() ? "" : ", ") + decimal(op_.a, x) + fmt::format(" in lane {}", lane);
    }
    if (text.empty()) text = "zeros";
    if (op_.has_tensor_scale()) text += ", tensor's scale " + decimal(op_.scale_b, cases_.inputs()[1].get(i));
    return text;
  }

  /// Rules that step to the next power of two at the same number are one rule for this element format.
  void note_equal_rules() {
    for (ScaleReading& reading : scales_)
      for (const ScaleReading& other : scales_) {
        if (&other == &reading || !reading.step || !other.step || !reading.told.same_as.empty()) continue;
        const ScaleStep &x = *reading.step, &y = *other.step;
        if (x.significand == y.significand && x.exponent == y.exponent && x.tie == y.tie)
          reading.told.same_as = other.told.name;
      }
  }

  /// Adds an exception for each kind but ordinary in which a block differs in this part of the answer.
  template <class Differs, class Witness>
  void add_exceptions(const char* part, const Differs& differs, const Witness& witness) {
    for (int number = 1; number < block_kind_count; ++number) {
      const auto kind = static_cast<BlockKind>(number);
      add_exception(kind, part, judged([&](BlockKind k) { return k == kind; }, differs), witness);
    }
  }
  template <class Witness>
  void add_exception(BlockKind kind, const char* part, const Judged& blocks, const Witness& witness) {
    if (!blocks.simplest) return;
    id_.exceptions.push_back({kind, part, blocks.compared, blocks.differing, witness(*blocks.simplest)});
  }
  void add_exceptions_of_scale() {
    const auto expected = [&](size_t i) { return expected_scale(scales_.front(), i); };
    add_exceptions(
        "scale", [&](size_t i) { return !same_result(op_, expected(i), given_scale(i), 0); },
        [&](size_t i) { return scale_witness(i, expected(i)); });
  }
  /// The reading's scale; for a block with a special value NaN, unless the op has BlockSpecials::elements.
  uint64_t expected_scale(const ScaleReading& reading, size_t i) const {
    if (kinds_[i] != BlockKind::special || op_.block_specials == BlockSpecials::elements) return reading.of(cases_, i);
    return op_.scale_a.fields().encode_nan();
  }
  void add_exceptions_of_codes() {
    const ElementReading& best = elements_.front();
    add_exceptions(
        "codes", [&](size_t i) { return differing_lane(best, i) >= 0; },
        [&](size_t i) { return code_witness(best, i); });
  }

  /// An exception: numbers whose code is a zero of the other sign, in blocks without specials.
  void add_signs_of_zeros() {
    const FormatFields &from = op_.a.fields(), &element = op_.d.fields();
    if (!element.has_negative_zero() || element.integer) return;
    const Judged blocks = judged([](BlockKind kind) { return kind != BlockKind::special; },
                                 [&](size_t i) { return lane_of_other_zero(i) >= 0; });
    add_exception(BlockKind::ordinary, "signs of zero codes", blocks, [&](size_t i) -> BlockWitness {
      const int lane = lane_of_other_zero(i);
      const uint64_t x = cases_.inputs()[0].get(i, lane), code = outcomes_.results.get(i, 1 + lane);
      return {fmt::format("{} in lane {}", decimal(op_.a, x), lane), case_line(cases_, i), number_text(op_.d, code),
              number_text(op_.d, element.encode_zero(decode(from, x).negative))};
    });
  }
  int lane_of_other_zero(size_t i) const {
    const FormatFields &from = op_.a.fields(), &element = op_.d.fields();
    for (int lane = 0; lane < op_.k; ++lane) {
      const uint64_t code = outcomes_.results.get(i, 1 + lane);
      const Number x = decode(from, cases_.inputs()[0].get(i, lane));
      if (is_zero(element, code) && decode(element, code).negative != x.negative) return lane;
    }
    return -1;
  }

  static constexpr size_t max_classes = size_t{1} << 17;

  const Unit& unit_;
  const Op& op_;
  Batch cases_;
  Outcomes outcomes_;
  std::vector<BlockKind> kinds_;
  std::vector<ScaleReading> scales_;  ///< not empty: rule=nearest and rule=rceil take all formats of scales
  std::vector<ElementReading> elements_;
  QuantizerIdentification id_;
};

std::string readings_text(const char* part, const std::vector<QuantizerReading>& readings) {
  std::string text;
  const std::vector<const QuantizerReading*> fit = QuantizerIdentification::fitting(readings);
  if (fit.empty()) {
    const QuantizerReading& nearest = readings.front();
    text += fmt::format("{}: nothing fits; nearest is {}, which differs on {} of {} blocks\n", part, nearest.name,
                        nearest.differing, nearest.compared);
    if (!nearest.how.empty()) text += "    " + nearest.how + "\n";
  }
  for (const QuantizerReading* reading : fit) {
    if (reading->is_recipe && !fit.front()->is_recipe) {
      text += fmt::format("    or {}: no block told them apart\n", reading->name);
      continue;
    }
    text += fmt::format("{}: {}, {}\n", part, reading->name, reading->meaning);
    if (!reading->same_as.empty())
      text +=
          fmt::format("    the same as {} for this element format: both step at the same number\n", reading->same_as);
  }
  for (const QuantizerReading& reading : readings)
    if (reading.against)
      text += fmt::format("    not {}: {} gives {}, not {}\n", reading.name, reading.against->block,
                          reading.against->given, reading.against->expected);
  return text;
}

std::string one_text(const QuantizerIdentification& id) {
  const OneLiveElement& one = id.one;
  if (one.classes == 0) return "";
  const std::string classes = counted(one.classes, "class");
  if (!one.asked_every_number)
    return fmt::format("one live element: both ends asked of {} of numbers of one scale and one code{}\n", classes,
                       id.exceptions.empty() ? ", which is every number if neither falls where the number rises"
                                             : "; those below differ");
  if (one.differing == 0)
    return fmt::format("one live element: every number of {}, {} blocks in {}{}\n", id.op.a.name(), one.compared,
                       classes, one.unanswered ? fmt::format(", {} without an answer", one.unanswered) : "");
  return fmt::format("one live element: {} of {} numbers of {} differ: {} gives {}, not {}\n", one.differing,
                     one.compared, id.op.a.name(), one.against->block, one.against->given, one.against->expected);
}

nlohmann::json witness_json(const BlockWitness& w) {
  return {{"block", w.block}, {"case", w.line}, {"given", w.given}, {"expected", w.expected}};
}

nlohmann::json readings_json(const std::vector<QuantizerReading>& readings) {
  nlohmann::json list = nlohmann::json::array();
  for (const QuantizerReading& r : readings) {
    list.push_back({{"name", r.name},
                    {"meaning", r.meaning},
                    {"compared", r.compared},
                    {"differing", r.differing},
                    {"same_as", r.same_as}});
    if (r.against) list.back()["against"] = witness_json(*r.against);
    if (!r.how.empty()) list.back()["how"] = r.how;
  }
  return list;
}

}  // namespace

const char* name_of(BlockKind kind) {
  constexpr const char* names[] = {"ordinary",
                                   "of zeros",
                                   "of subnormal numbers",  // or under a small tensor's scale
                                   "at the least scales",
                                   "at the greatest scales",
                                   "with a number of the greatest binade",
                                   "with an infinity or NaN"};
  static_assert(std::size(names) == block_kind_count);
  return names[static_cast<int>(kind)];
}

std::vector<const QuantizerReading*> QuantizerIdentification::fitting(const std::vector<QuantizerReading>& readings) {
  std::vector<const QuantizerReading*> fit;
  for (const QuantizerReading& reading : readings)
    if (reading.compared > 0 && reading.differing == 0) fit.push_back(&reading);
  return fit;
}

std::string QuantizerIdentification::names_of(const std::vector<QuantizerReading>& readings) {
  std::vector<std::string> names;
  const std::vector<const QuantizerReading*> fit = fitting(readings);
  for (const QuantizerReading* reading : fit)
    if ((!reading->is_recipe || fit.front()->is_recipe) &&
        std::find(names.begin(), names.end(), reading->same_as) == names.end())
      names.push_back(reading->name);
  return joined(names, " or ");
}

bool QuantizerIdentification::has_name() const { return !fitting(scales).empty() && !fitting(elements).empty(); }

bool QuantizerIdentification::is_exact() const {
  return has_name() && exceptions.empty() && one.differing == 0 && unanswered + one.unanswered == 0;
}

QuantizerIdentification identify_quantizer(const Unit& unit, const Op& op, uint64_t verify, uint64_t seed,
                                           bool every_number) {
  const auto start = std::chrono::steady_clock::now();
  // Of a narrow format, all are fewer than the other questions.
  QuantizerIdentification id = Asking(unit, op, verify, seed).run(every_number || op.a.fields().width <= 16);
  id.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return id;
}

std::string identification_text(const QuantizerIdentification& id) {
  std::string text = id.has_too_few() ? "not enough answers"
                     : id.is_exact()  ? "identified"
                     : id.has_name()  ? "identified, with exceptions"
                                      : "no hypothesis fits";
  if (id.has_name() && !id.has_too_few())
    text += ": scale " + QuantizerIdentification::names_of(id.scales) + ", codes " +
            QuantizerIdentification::names_of(id.elements);
  text += "\n";
  text += fmt::format("  {} in {:.1f} s", counted(id.asked, "block"), id.seconds);
  for (int kind = 0; kind < block_kind_count; ++kind)
    if (id.of_kind[kind]) text += fmt::format(", {} {}", id.of_kind[kind], name_of(static_cast<BlockKind>(kind)));
  if (id.unanswered) text += fmt::format(", {} without an answer", id.unanswered);
  text += "\n\n" + readings_text("scale", id.scales) + readings_text("codes", id.elements);
  text += one_text(id);
  if (id.unanswered) text += fmt::format("except {} without an answer\n", counted(id.unanswered, "block"));
  for (const QuantizerException& e : id.exceptions)
    text += fmt::format("except the {}{}, on {} of {}: {} gives {}, not {}\n", e.part,
                        e.kind == BlockKind::ordinary ? "" : std::string(" of blocks ") + name_of(e.kind), e.differing,
                        e.compared, e.example.block, e.example.given, e.example.expected);
  return text;
}

nlohmann::json identification_json(const QuantizerIdentification& id) {
  nlohmann::json kinds = nlohmann::json::array(), exceptions = nlohmann::json::array();
  for (int kind = 0; kind < block_kind_count; ++kind)
    kinds.push_back({{"kind", name_of(static_cast<BlockKind>(kind))}, {"answered", id.of_kind[kind]}});
  for (const QuantizerException& e : id.exceptions)
    exceptions.push_back({{"blocks", name_of(e.kind)},
                          {"part", e.part},
                          {"compared", e.compared},
                          {"differing", e.differing},
                          {"example", witness_json(e.example)}});
  nlohmann::json one = {{"classes", id.one.classes},
                        {"every_number", id.one.asked_every_number},
                        {"compared", id.one.compared},
                        {"unanswered", id.one.unanswered},
                        {"differing", id.one.differing}};
  if (id.one.against) one["against"] = witness_json(*id.one.against);
  return {{"json_version", json_version},
          {"verdict", id.has_too_few() ? "not enough answers"
                      : id.is_exact()  ? "identified"
                      : id.has_name()  ? "identified with exceptions"
                                       : "no hypothesis fits"},
          {"unit", id.unit},
          {"op", to_text(id.op)},
          {"asked", id.asked},
          {"unanswered", id.unanswered},
          {"blocks", kinds},
          {"scale", readings_json(id.scales)},
          {"codes", readings_json(id.elements)},
          {"one_live_element", one},
          {"exceptions", exceptions},
          {"seconds", id.seconds}};
}

}  // namespace mmafuzz
