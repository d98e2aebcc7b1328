#include "triage/unexplained/unit_without_row.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "arithmetic/corner_encodings.h"
#include "arithmetic/decode.h"
#include "core/text.h"
#include "oracles/ieee/gemm_of_dots.h"
#include "oracles/models/parameters.h"
#include "triage/operands.h"
#include "triage/op_variants.h"
#include "triage/replacements.h"
#include "triage/unexplained/block_part.h"
#include "triage/unexplained/condition.h"
#include "triage/unexplained/effect.h"

namespace mmafuzz {
namespace {

constexpr size_t least_telling = 4;            ///< minimum number of cases that differ, for each sign of the result
constexpr char of_element_name[] = "element";  ///< of variants that are other elements of a product
constexpr char no_change[] = "no single change of an operand, a parameter, a sum or the result makes nine in ten";
// A condition is learned on some cases, and counted on others.
constexpr uint64_t learning_seed = 1, second_learning_seed = 3, learned_sequences = 288;
constexpr uint64_t counting_seed = 2, counted_sequences = 32;
constexpr size_t max_beside = 8;   ///< a complete condition holds for at most one in this many cases that agree
constexpr size_t few_beside = 32;  ///< no condition is needed if more than this many cases differ per case that agrees
constexpr uint64_t tries_of_neighbours = 4;  ///< with new numbers around an element of a product
constexpr int max_elements = 64;             ///< of products with more elements no other one is tried
constexpr int64_t few_values = 16;           ///< limit of the width of a range of which all values are tried

/// Other values of a parameter that a wrong row may have: all words, all numbers of a narrow range; else the numbers
/// one and two away, half, double, a quarter and four times the value.
std::vector<std::string> other_values(const Parameter& p, const DotModel& model) {
  std::vector<std::string> values;
  if (p.is_nan) return values;
  for (const std::string& word : p.words)
    if (word != parameter_text(p, model)) values.push_back(word);
  if (!p.words.empty()) return values;
  const int64_t current = p.get(model);
  for (int64_t value = p.least; p.greatest - p.least <= few_values && value <= p.greatest; ++value)
    if (value != current) values.push_back(std::to_string(value));
  if (!values.empty()) return values;
  for (const int64_t value :
       {current - 1, current + 1, current - 2, current + 2, current / 2, current * 2, current / 4, current * 4})
    if (value != current && value >= p.least && value <= p.greatest) values.push_back(std::to_string(value));
  return values;
}

/// The lane to which a product moves: modulo k. With scales modulo their block, and its block modulo their number.
size_t moved_lane(const Op& op, size_t lane, size_t by) {
  const size_t k = static_cast<size_t>(op.k), block = op.has_scales() ? static_cast<size_t>(op.scale_block) : k;
  return (lane / block + by / block) * block % k + (lane + by) % block;
}

/// The case with every product moved some lanes on, and its scales with it.
Operands rotated(const Operands& from, size_t lanes) {
  Operands c = from;
  const Op& op = from.op();
  const size_t k = static_cast<size_t>(op.k);
  for (size_t i = 0; i < k; ++i) {
    const size_t to = moved_lane(op, i, lanes);
    c[to] = from[i];
    if (!from.is_dot()) continue;
    c[k + to] = from[k + i];
    if (!op.has_scales()) continue;
    const size_t block = static_cast<size_t>(op.scale_block), scales = 2 * k + 1;
    for (const size_t of : {scales, scales + static_cast<size_t>(op.scales())})
      c[of + to / block] = from[of + i / block];
  }
  return c;
}

/// Increasing numbers as text: "1, 3 to 7".
std::string ranges(const std::vector<size_t>& numbers) {
  std::vector<std::string> words;
  for (size_t first = 0, last = 0; first < numbers.size(); first = ++last) {
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    const char* between = last == first + 1 ? ", " : " to ";
    words.push_back(std::to_string(numbers[first]) + (last > first ? between + std::to_string(numbers[last]) : ""));
  }
  return joined(words, ", ");
}

/// In which lanes the difference stays, for people. `moves`: of moves_of() for the witness. `lane`: the one that is
/// looked at; -1: all that are not zero.
std::string lanes_text(const Operands& witness, const std::vector<size_t>& moves, int lane = -1) {
  const size_t k = static_cast<size_t>(witness.op().k);
  std::vector<size_t> products;
  for (const int addend : witness.nonzero_addends())
    if (static_cast<size_t>(addend) < k) products.push_back(static_cast<size_t>(addend));
  if (products.empty() || k == 1) return "";
  if (lane >= 0) products = {static_cast<size_t>(lane)};
  if (moves.size() + 1 == k) return "in any lane";
  if (products.size() > 1) {
    const std::string here = "in lanes " + ranges(products);
    return moves.empty() ? here + " only" : fmt::format("{}, also with all moved on by {} lanes", here, ranges(moves));
  }
  std::vector<size_t> lanes = {products[0]};
  for (const size_t by : moves) lanes.push_back(moved_lane(witness.op(), products[0], by));
  std::sort(lanes.begin(), lanes.end());
  return (lanes.size() == 1 ? "in lane " : "in lanes ") + ranges(lanes) + " only" +
         (witness.op().has_scales() ? ", its scales moved along" : "");
}

/// The cases near and far of which condition and effect are learned. Those that differ are of two walks in turn: what
/// only those of one have in common says where it went.
Surroundings learning_cases(const Judge& judge, const Batch& starts) {
  Surroundings all = surroundings_of(judge, starts, learning_seed);
  const Surroundings other = surroundings_of(judge, starts, second_learning_seed, true);
  const std::vector<size_t> first = std::exchange(all.differ, {});
  for (size_t n = 0; n < std::max(first.size(), other.differ.size()); ++n) {
    if (n < first.size()) all.differ.push_back(first[n]);
    if (n >= other.differ.size()) continue;
    const size_t i = other.differ[n];
    all.differ.push_back(all.cases.size());
    all.cases.append(other.cases, i);
    all.of_unit.push_back(other.of_unit[i]);
    all.of_model.push_back(other.of_model[i]);
  }
  find_far_cases(all, judge, learning_seed);
  return all;
}

/// Learns condition and effect from `near` and counts on `others` how well the condition fits.
std::string condition_and_effect(const Unit& claimed, const Surroundings& near, const Surroundings& others,
                                 const std::vector<ModelVariant>& variants = {}, const std::string& lanes = "",
                                 bool in_other_lanes = false) {
  if (near.differ.empty()) return no_change;
  ConditionLearner learner(claimed, near, in_other_lanes);
  const Effects effects(near, claimed, variants);
  const bool flags_alone = std::all_of(near.differ.begin(), near.differ.end(), [&](size_t i) {
    return same_result(near.cases, i, near.of_unit[i], near.of_model[i]);
  });
  Condition condition = learner.learn(near.agree);
  Effect effect;
  std::vector<size_t> seen;      // agreeing cases on which the effect would be visible
  for (int i = 0; i < 2; ++i) {  // condition and effect depend on each other
    if (!flags_alone) effect = effects.best(condition.where);
    seen = effect.visible(near, near.agree);
    condition = learner.learn(seen);
  }
  std::vector<std::string> clauses, counts;
  if (!condition.text.empty()) {
    const std::vector<size_t> seen_of_others = effect.visible(others, others.agree);
    const size_t differ = learner.count(condition, others, others.differ);
    const size_t agree = learner.count(condition, others, seen_of_others);
    const bool complete = max_beside * agree <= seen_of_others.size();
    clauses.push_back(std::string("it differs ") + (complete ? "" : "only, but not always, ") + "where " +
                      condition.text);
    counts.push_back(fmt::format("of other cases near it, {} of {} that differ are so, and {} of {} that agree", differ,
                                 others.differ.size(), agree, seen_of_others.size()));
  } else if (!effect.text.empty() && seen.size() * few_beside < near.differ.size()) {
    clauses.push_back(seen.empty() ? "it differs wherever it can be seen"
                                   : "it differs nearly wherever it can be seen");
  }
  if (!effect.text.empty()) {
    clauses.push_back("as if " + effect.text);
    counts.push_back(fmt::format("the effect explains {} of {}", effect.fits, effect.cases));
  } else {
    clauses.push_back(flags_alone ? "its flags are others, its result is the same" : no_change);
  }
  if (!lanes.empty()) clauses.push_back(lanes);
  const auto is_parameter = [](const ModelVariant& v) {
    return !v.parameter.empty() && v.parameter != of_element_name;
  };
  if (std::any_of(variants.begin(), variants.end(), is_parameter))
    counts.push_back("no other value of one parameter fits all");
  return joined(clauses, "; ") + (counts.empty() ? "" : " (" + joined(counts, "; ") + ")");
}

/// The variants of a conversion or scalar operation. A flaw may have the result of one of them in some cases only.
std::vector<ModelVariant> variants_of(const Op& op, const Registry& registry) {
  const auto op_variants = std::make_shared<const OpVariants>(op, registry);
  std::vector<ModelVariant> variants;
  for (const OpChange& change : op_variants->changes())
    variants.push_back({Stage::result, change.name, OpVariants::meaning(change.name), change.from, change.to,
                        [op_variants, run = change.run](const Batch& cases) { return run(cases); }});
  return variants;
}

/// The variants of an op on blocks that change one attribute; of a code not those of its scale.
std::vector<ModelVariant> variants_of(const BlockPart& part, const Registry& registry) {
  std::vector<ModelVariant> variants = variants_of(part.op, registry);
  std::erase_if(variants, [&](const ModelVariant& v) {
    return v.parameter.find(',') != std::string::npos || (!part.is_scale() && v.parameter.starts_with("scale_"));
  });
  for (ModelVariant& v : variants)
    v.run = [part, run = std::move(v.run)](const Batch& cases) { return part.of(run(cases)); };
  return variants;
}

/// The variants of a model that has a row.
std::vector<ModelVariant> variants_of(const Unit& claimed, const Op& op, const Registry& registry) {
  const DotModel& model = *claimed.model();
  std::vector<ModelVariant> variants;
  for (const Parameter& p : parameters()) {
    DotModel of_other_k = model;
    of_other_k.k *= 2;  // twice, so that it stays a multiple of the block
    if (!p.used_by(model.kernel) || never_shows(p.name, model, of_other_k)) continue;
    for (const std::string& value : other_values(p, model)) {
      const std::string name = with_overrides_in_name(claimed.name(), std::string(p.name) + "=" + value);
      if (const std::shared_ptr<const Unit> unit = bound_or_null(registry, name, op))
        variants.push_back({Stage::row, p.name, p.meaning, parameter_text(p, model), value,
                            [unit](const Batch& cases) { return unit->outcomes_of(cases); }});
    }
  }
  return variants;
}

/// The other ways to add that have a name and no row.
std::vector<ModelVariant> variants_of_orders(const Op& op, const Registry& registry) {
  std::vector<ModelVariant> variants;
  for (const char* name : {"exact", "ieee:serial", "ieee:fma", "ieee:pairwise"})
    if (const std::shared_ptr<const Unit> unit = bound_or_null(registry, name, op))
      variants.push_back({Stage::result, "", "", "", std::string("the result were that of ") + name,
                          [unit](const Batch& cases) { return unit->outcomes_of(cases); }});
  return variants;
}

/// Describes the first variant that has the unit's result and flags on every case; nothing where none has.
std::optional<std::string> fitting_parameter(const Unit& unit, const Surroundings& near,
                                             const std::vector<ModelVariant>& variants) {
  const Op& op = near.cases.op();
  const FormatFields& d = op.d.fields();
  const size_t telling = near.differ.size();
  const auto is_negative = [&](size_t i) { return decode(d, near.of_unit[i]).negative; };
  const auto negative = static_cast<size_t>(std::count_if(near.differ.begin(), near.differ.end(), is_negative));
  // Few cases fit many values, and a parameter does not depend on signs: of a square root or a format without a sign
  // no result is negative.
  const bool has_signs = negative > 0 || std::any_of(near.agree.begin(), near.agree.end(), is_negative);
  if (has_signs ? std::min(negative, telling - negative) < least_telling : telling < 2 * least_telling)
    return std::nullopt;
  const std::vector<uint8_t> flags = op.has_flags() ? unit.outcomes_of(near.cases).flags : std::vector<uint8_t>();
  for (const ModelVariant& variant : variants) {
    if (variant.parameter.empty()) continue;
    const Outcomes outcomes = variant.run(near.cases);
    const bool have_flags = !flags.empty() && !outcomes.flags.empty();
    bool fits = true;
    for (size_t i = 0; fits && i < near.cases.size(); ++i)
      fits = outcomes.has_answer(i) && same_result(near.cases, i, outcomes.results.get(i), near.of_unit[i]) &&
             (!have_flags || same_flags(near.cases, i, flags[i], outcomes.flags[i]));
    if (fits)
      return fmt::format(
          "{} ({}): {} is claimed, {} fits {} cases (the witness and what is near it), {} of which tell the "
          "two apart",
          variant.parameter, variant.meaning, variant.model_value, variant.other_value, near.cases.size(), telling);
  }
  return std::nullopt;
}

/// The numbers of lanes, from 1 below k, by which all products of case 0 can move while it still differs. A move that
/// does not change the case is left out.
std::vector<size_t> moves_of(const Judge& judge, const Batch& single) {
  const Operands witness(judge.op(), single, 0);
  const size_t k = static_cast<size_t>(judge.op().k);
  Batch moved(judge.op(), k);  // the first one stays where it is
  for (size_t by = 0; by < k; ++by) rotated(witness, by).store(moved, by);
  const std::vector<Verdict> verdicts = judge.judge(moved);
  std::vector<size_t> moves;
  for (size_t by = 1; by < k; ++by)
    if (verdicts[by].fails && !(Operands(judge.op(), moved, by) == witness)) moves.push_back(by);
  return moves;
}

/// One element of matrix products as dots of its row and column; all other rows and columns are those of one product.
class ElementOf final : public Unit {
 public:
  /// The unit must outlive this one.
  ElementOf(const Unit& products, const Batch& product, int element)
      : products_(products), product_(product), element_(element) {}

  void run(const Batch& dots, Outcomes& outcomes) const override {
    const Op& op = product_.op();
    const int row = element_ / op.n, column = element_ % op.n;
    Batch all(op, dots.size());
    for (size_t at = 0; at < dots.size(); ++at) {
      copy_case(product_, 0, all, at);
      for (int i = 0; i < op.k; ++i) {
        all.inputs()[0].set(at, row * op.k + i, dots.a().get(at, i));
        all.inputs()[1].set(at, i * op.n + column, dots.b().get(at, i));
      }
      all.inputs()[2].set(at, element_, dots.c().get(at));
    }
    const Outcomes of_products = products_.outcomes_of(all);
    outcomes = of_products;
    outcomes.results = Column(op.d, 1);
    outcomes.results.resize(dots.size());
    for (size_t at = 0; at < dots.size(); ++at) outcomes.results.set(at, 0, of_products.results.get(at, element_));
  }

 private:
  const Unit& products_;
  Batch product_;
  int element_;
};

/// The product with a number, not zero, in each place that is zero and does not belong to the element, if the element
/// still differs: an operand that is read from such a place is then seen.
Batch with_neighbours(const Judge& judge, const Batch& product, int element) {
  const Op& op = product.op();
  const auto belongs = [&](size_t place, int at) {
    return place == 0 ? at / op.k == element / op.n : place == 1 ? at % op.n == element % op.n : at == element;
  };
  for (uint64_t seed = 0; seed < tries_of_neighbours; ++seed) {
    Batch filled = product;
    CounterRng rng(seed, 0);
    for (size_t place = 0; place < filled.inputs().size(); ++place) {
      Column& column = filled.inputs()[place];
      const FormatFields& f = op.input_format(place).fields();
      for (int at = 0; at < column.count() && !f.integer; ++at)
        if (!belongs(place, at) && is_zero(f, column.get(0, at)))
          column.set(0, at, encode_near(f, rng.one_in(2), rng.between(-2, 2), rng.next() & f.fraction_mask()));
    }
    const Verdict verdict = judge.judge(filled)[0];
    if (verdict.compared && verdict.fails && verdict.element == element) return filled;
  }
  return product;
}

/// The model with operands of an element read from other places of the product: all of another element, or one.
std::vector<ModelVariant> other_places(const Unit& products, const Batch& product, int element) {
  const Op& op = product.op();
  const int row = element / op.n, column = element % op.n;
  const std::shared_ptr<const Unit> model = std::make_shared<ElementOf>(products, product, element);
  std::vector<ModelVariant> others;
  if (op.m * op.n > max_elements) return others;
  const auto add = [&](Stage stage, const char* parameter, const std::string& text,
                       const std::function<void(Batch&, size_t)>& change) {
    others.push_back({stage, parameter, "another element", "its own", text, [=](const Batch& dots) {
                        Batch moved = dots;
                        for (size_t at = 0; at < dots.size(); ++at) change(moved, at);
                        return model->outcomes_of(moved);
                      }});
  };
  for (int other = 0; other < op.m * op.n; ++other)
    if (other != element)
      add(Stage::result, of_element_name, fmt::format("the result of row {} and column {}", other / op.n, other % op.n),
          [=](Batch& moved, size_t at) {
            for (int i = 0; i < op.k; ++i) {
              if (other / op.n != row) moved.inputs()[0].set(at, i, product.a().get(0, other / op.n * op.k + i));
              if (other % op.n != column) moved.inputs()[1].set(at, i, product.b().get(0, i * op.n + other % op.n));
            }
            moved.inputs()[2].set(at, 0, product.c().get(0, other));
          });
  // One operand, from the same lane or one beside it.
  for (int lane = 0; lane < op.k; ++lane)
    for (int from = std::max(0, lane - 1); from <= std::min(op.k - 1, lane + 1); ++from) {
      for (int other = 0; other < op.m; ++other)
        if (other != row)
          add(Stage::operands, "", fmt::format("a{} were read from lane {} of row {}", lane, from, other),
              [=](Batch& moved, size_t at) {
                moved.inputs()[0].set(at, lane, product.a().get(0, other * op.k + from));
              });
      for (int other = 0; other < op.n; ++other)
        if (other != column)
          add(Stage::operands, "", fmt::format("b{} were read from lane {} of column {}", lane, from, other),
              [=](Batch& moved, size_t at) {
                moved.inputs()[1].set(at, lane, product.b().get(0, from * op.n + other));
              });
    }
  for (int other = 0; other < op.m * op.n; ++other)
    if (other != element)
      add(Stage::operands, "", fmt::format("c were that of row {} and column {}", other / op.n, other % op.n),
          [=](Batch& moved, size_t at) { moved.inputs()[2].set(at, 0, product.c().get(0, other)); });
  return others;
}

/// The judge of one element of products whose other rows and columns are those of one product. The units must outlive
/// it.
Judge judge_of_element(const Judge& judge, const Op& dot_op, const Batch& product, int element) {
  return Judge::of_units(std::make_unique<ElementOf>(*judge.units()[0], product, element),
                         std::make_unique<ElementOf>(*judge.units()[1], product, element), dot_op);
}

/// Where in the product the difference stays when the element's row and column are exchanged with others, for people.
std::string places_text(const Judge& judge, const Op& dot_op, const Batch& product, const Batch& dot, int element) {
  const Op& op = judge.op();
  const int row = element / op.n, column = element % op.n;
  if (op.m * op.n > max_elements || op.m * op.n == 1) return "";
  int all = 0, in_row = 0, in_column = 0;
  for (int place = 0; place < op.m * op.n; ++place) {
    Batch moved = product;
    const int to_row = place / op.n, to_column = place % op.n;
    const auto exchanged = [](int at, int x, int y) { return at == x ? y : at == y ? x : at; };
    for (int i = 0; i < op.m; ++i)
      for (int j = 0; j < op.k; ++j)
        moved.inputs()[0].set(0, exchanged(i, row, to_row) * op.k + j, product.a().get(0, i * op.k + j));
    for (int i = 0; i < op.k; ++i)
      for (int j = 0; j < op.n; ++j)
        moved.inputs()[1].set(0, i * op.n + exchanged(j, column, to_column), product.b().get(0, i * op.n + j));
    for (int i = 0; i < op.m; ++i)
      for (int j = 0; j < op.n; ++j)
        moved.inputs()[2].set(0, exchanged(i, row, to_row) * op.n + exchanged(j, column, to_column),
                              product.c().get(0, i * op.n + j));
    if (!judge_of_element(judge, dot_op, moved, place).judge(dot)[0].fails) continue;
    ++all;
    in_row += to_row == row;
    in_column += to_column == column;
  }
  if (all == op.m * op.n) return ", as in any other place";
  if (all == 1) return ", in this place only";
  if (all == in_row) return in_row == op.n ? ", in any place of this row only" : ", in some places of this row only";
  if (all == in_column)
    return in_column == op.m ? ", in any place of this column only" : ", in some places of this column only";
  return fmt::format(", in {} of {} places", all, op.m * op.n);
}

}  // namespace

bool UnitWithoutRow::can_describe(const Judge& judge) {
  const OpKind kind = judge.op().kind;
  const bool product = kind == OpKind::gemm && !judge.op().has_alpha_beta() && judge.op().k <= max_instruction_k;
  return judge.units().size() == 2 && !judge.units()[0]->model() &&
         (kind == OpKind::dot || kind == OpKind::convert || kind == OpKind::scalar || product ||
          judge.op().is_of_blocks());
}

bool UnitWithoutRow::speaks_of(const Judge& judge) {
  return judge.is_about_answering() || (judge.property() == "equals_model" && can_describe(judge));
}

std::string UnitWithoutRow::describe(const Batch& cases) const {
  const Batch single = cases.part(0);
  if (judge_.is_about_answering()) {
    return judge_.units()[0]->outcomes_of(single).how_failed;
  }
  const Op& op = judge_.op();
  if (op.kind == OpKind::gemm) return describe_product(single);
  if (op.is_of_blocks()) return describe_block(cases);
  if (op.kind == OpKind::dot)
    return describe_dot(cases, judge_.units()[1]->model() ? variants_of(*judge_.units()[1], op, registry_)
                                                          : variants_of_orders(op, registry_));
  const std::vector<ModelVariant> variants = variants_of(op, registry_);
  const Surroundings near = learning_cases(judge_, cases);
  if (const std::optional<std::string> fit = fitting_parameter(*judge_.units()[0], near, variants)) return *fit;
  return condition_and_effect(*judge_.units()[1], near, surroundings_of(judge_, cases, counting_seed), variants);
}

std::string UnitWithoutRow::describe_dot(const Batch& cases, std::vector<ModelVariant> variants) const {
  Surroundings near = learning_cases(judge_, cases);
  if (const std::optional<std::string> fit = fitting_parameter(*judge_.units()[0], near, variants)) return *fit;
  const Batch single = cases.part(0);
  const std::vector<size_t> moves = moves_of(judge_, single);
  if (!moves.empty()) find_deciding_products(near, judge_);
  return condition_and_effect(*judge_.units()[1], near, surroundings_of(judge_, cases, counting_seed), variants,
                              lanes_text(Operands(judge_.op(), single, 0), moves), !moves.empty());
}

std::string UnitWithoutRow::describe_product(const Batch& witness) const {
  const Op& op = judge_.op();
  const Op dot_op = gemm::dot_op_of(op);
  const int element = judge_.judge(witness)[0].element, row = element / op.n, column = element % op.n;
  const Batch product = with_neighbours(judge_, witness, element);
  Batch dot(dot_op, 1);
  for (int i = 0; i < op.k; ++i) {
    dot.inputs()[0].set(0, i, product.a().get(0, row * op.k + i));
    dot.inputs()[1].set(0, i, product.b().get(0, i * op.n + column));
  }
  dot.inputs()[2].set(0, 0, product.c().get(0, element));
  const Judge of_element = judge_of_element(judge_, dot_op, product, element);
  std::vector<ModelVariant> variants = other_places(*judge_.units()[1], product, element);
  for (ModelVariant& order : variants_of_orders(dot_op, registry_)) variants.push_back(std::move(order));
  return fmt::format("of the element in row {} and column {} of {} by {}, from 0{}: {}", row, column, op.m, op.n,
                     places_text(judge_, dot_op, product, dot, element),
                     UnitWithoutRow(of_element, registry_).describe_dot(dot, std::move(variants)));
}

/// Describes the first number of the result that is another one in the first case.
std::string UnitWithoutRow::describe_block(const Batch& cases) const {
  const Batch single = cases.part(0);
  const BlockPart part = {judge_.op(), judge_.judge(single)[0].element};
  const auto judge_of = [&](const BlockPart& p) {
    return Judge::of_units(part_of(*judge_.units()[0], p), part_of(*judge_.units()[1], p), p.op_of_part());
  };
  const Judge judge = judge_of(part);
  Batch starts(judge.op(), cases.size());
  starts.inputs() = cases.inputs();
  for (size_t i = 1; i < cases.size() && part.lane() >= 0; ++i) {  // what differs comes to the same lane
    const int lane = BlockPart{judge_.op(), judge_.judge(cases.part(i))[0].element}.lane();
    if (lane >= 0)
      rotated(Operands(judge.op(), starts, i), static_cast<size_t>(part.lane() - lane + judge_.op().k))
          .store(starts, i);
  }
  std::vector<ModelVariant> variants = variants_of(part, registry_);
  for (ModelVariant& effect : effects_on_block(part)) variants.push_back(std::move(effect));
  Surroundings near = learning_cases(judge, starts);
  near.part = &part;
  std::vector<size_t> moves = moves_of(judge_, single);
  std::erase_if(moves, [&](size_t by) {  // another element differs, not the one that moved
    if (part.is_scale()) return false;
    const int lane = (part.lane() + static_cast<int>(by)) % judge_.op().k;
    const Judge of_moved = judge_of({judge_.op(), part.element + lane - part.lane()});
    return !of_moved.judge(rotated(Operands(judge.op(), starts, 0), by).as_batch())[0].fails;
  });
  const std::string lanes = lanes_text(Operands(judge_.op(), single, 0), moves, part.lane());
  if (const std::optional<std::string> fit = fitting_parameter(*judge.units()[0], near, variants))
    return "of " + part.name() + ": " + *fit + (lanes.empty() ? "" : "; " + lanes);
  const Surroundings others = surroundings_of(judge, starts, counting_seed);
  return "of " + part.name() + ": " + condition_and_effect(*judge.units()[1], near, others, variants, lanes);
}

std::string UnitWithoutRow::describe_sequence(const Batch& sequence) const {
  const Surroundings near = surroundings_after(judge_, registry_, sequence, learning_seed, learned_sequences),
                     others = surroundings_after(judge_, registry_, sequence, counting_seed, counted_sequences);
  return condition_and_effect(*judge_.units()[1], near, others);
}

}  // namespace mmafuzz
