#include "triage/kernel_steps.h"

#include <iterator>
#include <vector>

#include "arithmetic/decode.h"
#include "core/dot_case.h"
#include "core/row_of_unit.h"
#include "triage/facts/fact_name.h"
#include "triage/way_to_add.h"

namespace mmafuzz {
namespace {

using Additions = WayToAdd::Additions;
using Cuts = WayToAdd::Cuts;
using Joining = WayToAdd::Joining;
using CutParts = WayToAdd::CutParts;

/// A decision in which two ways can differ.
struct Aspect {
  bool differs;
  void (*take)(WayToAdd& to, const WayToAdd& from);  ///< replaces the decision in `to`
  std::string text;                                  ///< "c added last against with the products"
};

/// The aspect of `members`, which are replaced together. `word` describes them in one way, `what` says what they are.
/// `differs`: given where other than equal members do not differ, either.
template <auto... members, class Word>
Aspect aspect(const WayToAdd& x, const WayToAdd& y, const char* what, Word word, std::optional<bool> differs = {}) {
  return {differs.value_or(((x.*members != y.*members) || ...)),
          [](WayToAdd& to, const WayToAdd& from) { ((to.*members = from.*members), ...); },
          std::string(what) + " " + word(x) + " against " + word(y)};
}

template <size_t n, class Enum>
const char* word_of(const char* const (&words)[n], Enum value) {
  return words[static_cast<size_t>(value)];
}

std::string order_of(const WayToAdd& way) {
  constexpr size_t most = 4;  // indices shown
  bool is_by_index = true;
  std::string text;
  for (size_t i = 0; i < way.order.size(); ++i) {
    is_by_index &= way.order[i] == static_cast<int>(i);
    if (i < most) text += (i ? ", " : "") + std::to_string(way.order[i]);
  }
  return is_by_index ? "by index" : text + (way.order.size() > most ? ", ..." : "");
}

const char* second_cut_of(const WayToAdd& way) {
  const bool cuts = way.kept_bits && way.c_joins == Joining::second_stage;
  return !cuts                ? "nothing"
         : way.cuts_sum       ? "downwards, their sum too"
         : way.cuts_downwards ? "downwards"
                              : "toward zero";
}

std::string number_or(const std::optional<int>& number, const char* none) {
  return number ? std::to_string(*number) : none;
}

std::vector<Aspect> aspects_of(const WayToAdd& x, const WayToAdd& y) {
  using W = WayToAdd;
  static constexpr const char* additions[] = {"once", "each, in pairs", "each, in order"};
  static constexpr const char* joining[] = {"with the products", "in a second stage, where both are cut anew", "last"};
  static constexpr const char* subnormals[] = {"kept", "flushed", "flushed to a zero of their sign",
                                               "of fp32 flushed to a zero of their sign",
                                               "of fp16 flushed to a zero of their sign"};
  static_assert(std::size(subnormals) == size_t(Subnormals::flushed_of_fp16) + 1);
  static constexpr const char* flushed[] = {"operands and results", "operands", "results"};
  static constexpr const char* overflow[] = {"rounded", "infinite", "cut"};
  static constexpr const char* cuts[] = {"toward zero", "downwards", "to one's complements where c's sign is another",
                                         "to odd"};
  static constexpr const char* forms[] = {"s + c", "s - c", "c - s", "-s - c", "-(s - c)", "-(s + c)", "s alone"};
  static_assert(std::size(forms) == size_t(Form::s_alone) + 1);
  const auto parts = [](const W& w) -> std::string {
    if (w.cut_parts == CutParts::groups) return "as exact sums of " + std::to_string(w.group_size);
    if (w.cut_parts == CutParts::first_sums) return "in sums of " + std::to_string(w.group_size) + " first";
    return w.cut_parts == CutParts::whole ? "all together" : "even and odd ones apart";
  };
  const auto block = [](const W& w) {
    return static_cast<size_t>(w.block) >= w.order.size() ? "all" : std::to_string(w.block);
  };
  const bool joins_elsewhere = x.c_joins != y.c_joins || (x.summed_together > 0) != (y.summed_together > 0);
  std::vector<Aspect> all = {
      aspect<&W::rounds_products>(x, y, "products", [](const W& w) { return w.rounds_products ? "rounded" : "exact"; }),
      aspect<&W::additions>(x, y, "additions rounded", [](const W& w) { return word_of(additions, w.additions); }),
      aspect<&W::c_joins, &W::products_before_c, &W::summed_together, &W::sums_from_zero, &W::last_rounding>(
          x, y, "c added",
          [](const W& w) {
            return w.summed_together ? "to the sum of all chains or blocks" : word_of(joining, w.c_joins);
          },
          joins_elsewhere),
      aspect<&W::cut_parts, &W::group_size>(x, y, "products cut", parts),
      aspect<&W::cuts_downwards, &W::cuts_sum>(x, y, "the second stage cuts", second_cut_of),
      aspect<&W::order>(x, y, "order of the products", order_of),
      aspect<&W::block>(x, y, "products per step", block, block(x) != block(y)),
      aspect<&W::cuts>(x, y, "addends cut", [](const W& w) { return word_of(cuts, w.cuts); }),
      aspect<&W::kept_bits>(x, y, "bits kept below the greatest exponent",
                            [](const W& w) { return number_or(w.kept_bits, "all"); }),
      aspect<&W::zero_exponent>(x, y, "exponent of a zero",
                                [](const W& w) { return number_or(w.zero_exponent, "none"); }),
      aspect<&W::guard_of_c>(x, y, "bits kept below c beyond these",
                             [](const W& w) { return std::to_string(w.guard_of_c); }),
      aspect<&W::drops_lost_c>(x, y, "a negative c of which no bit is kept",
                               [](const W& w) { return w.drops_lost_c ? "may be zero" : "as it is cut"; }),
      aspect<&W::form>(x, y, "of a sum s and c", [](const W& w) { return word_of(forms, w.form); }),
      aspect<&W::via_fp32>(x, y, "a sum rounded", [](const W& w) { return w.via_fp32 ? "to fp32 first" : "once"; }),
      aspect<&W::reads_as_fp16>(x, y, "exponents of subnormal operands",
                                [](const W& w) { return w.reads_as_fp16 ? "as fp16" : "as they are"; }),
      aspect<&W::subnormals>(x, y, "subnormals", [](const W& w) { return word_of(subnormals, w.subnormals); }),
      aspect<&W::flushed>(x, y, "numbers that may be flushed", [](const W& w) { return word_of(flushed, w.flushed); }),
      aspect<&W::tininess>(x, y, "a result is judged as subnormal",
                           [](const W& w) { return w.tininess == Tininess::after ? "as it is rounded" : "before"; }),
      aspect<&W::reads_positive_zeros>(x, y, "an operand that is -0",
                                       [](const W& w) { return w.reads_positive_zeros ? "+0" : "as it is"; }),
      aspect<&W::zero_is_positive>(x, y, "a sum that is zero",
                                   [](const W& w) { return w.zero_is_positive ? "+0" : "signed as in IEEE 754"; }),
      aspect<&W::underflow_is_positive>(x, y, "a nonzero sum that rounds to zero",
                                        [](const W& w) { return w.underflow_is_positive ? "+0" : "keeps its sign"; }),
      aspect<&W::output_bits>(x, y, "fraction bits of a sum", [](const W& w) { return std::to_string(w.output_bits); }),
      aspect<&W::overflow>(x, y, "a sum beyond the greatest number",
                           [](const W& w) { return word_of(overflow, w.overflow); }),
      aspect<&W::rounding>(x, y, "rounding", [](const W& w) { return name_of(w.rounding); })};
  all.back().take = [](WayToAdd& to, const WayToAdd& from) {
    to.rounding = from.rounding;
    if (to.c_joins != Joining::last) to.last_rounding = from.rounding;
  };
  std::erase_if(all, [](const Aspect& aspect) { return !aspect.differs; });
  return all;
}

/// The row of a unit: its own, or that of the model which the unit claims to equal.
std::optional<DotModel> row_of_unit(const Unit& unit, const Op& op, const Registry& registry) {
  const std::unique_ptr<Unit> row = bound_or_null(registry, row_name_of(unit, op, registry), op);
  return row && row->model() ? std::optional(*row->model()) : std::nullopt;
}

std::optional<WayToAdd> way_of_unit(const Unit& unit, const Op& op, const Registry& registry) {
  const std::optional<DotModel> row = row_of_unit(unit, op, registry);
  return way_of(unit, row ? &*row : nullptr, op);
}

}  // namespace

std::string arithmetics_of(const Judge& judge, const Registry& registry) {
  std::string text;
  for (const std::unique_ptr<Unit>& unit : judge.units()) {
    const std::optional<DotModel> row = row_of_unit(*unit, judge.op(), registry);
    text += (text.empty() ? "" : " to ") + arithmetic_of(*unit, row ? &*row : nullptr);
  }
  return text;
}

std::string steps_that_matter(const Judge& judge, const Batch& single, const Registry& registry) {
  const Op& op = judge.op();
  if (op.kind != OpKind::dot || op.d.fields().integer || judge.units().size() != 2) return "";
  DotCase loader(op);
  const DotOperands in = loader.load(single, 0);
  if (!is_finite_case(op, in)) return "";
  const std::optional<WayToAdd> x = way_of_unit(*judge.units()[0], op, registry),
                                y = way_of_unit(*judge.units()[1], op, registry);
  if (!x || !y) return "";
  const Verdict verdict = judge.judge(single)[0];
  if (!verdict.fails) return "";
  const auto gives = [&](const WayToAdd& way, uint64_t result) {
    const std::optional<uint64_t> sum = add_in_that_way(way, op, in);
    return sum && same_result(op, *sum, result);
  };
  if (!gives(*x, verdict.first) || !gives(*y, verdict.second)) return "";
  const std::vector<Aspect> aspects = aspects_of(*x, *y);
  for (size_t size = 1; size <= aspects.size(); ++size)
    for (unsigned set = 1; set < 1u << aspects.size(); ++set) {
      if (static_cast<size_t>(__builtin_popcount(set)) != size) continue;
      WayToAdd changed = *x;
      std::string text;
      for (size_t i = 0; i < aspects.size(); ++i)
        if (set >> i & 1) {
          aspects[i].take(changed, *y);
          text += (text.empty() ? "" : "; ") + aspects[i].text;
        }
      if (gives(changed, verdict.second)) return text;
    }
  return "";
}

}  // namespace mmafuzz
