#include "triage/kernel_steps.h"

#include <vector>

#include "arithmetic/decode.h"
#include "core/dot_case.h"
#include "core/row_of_unit.h"
#include "triage/facts/fact_name.h"
#include "triage/way_to_add.h"

namespace mmafuzz {
namespace {

using Additions = WayToAdd::Additions;
using Joining = WayToAdd::Joining;
using Parts = WayToAdd::Parts;

/// A decision in which two ways may differ.
struct Aspect {
  bool differs;
  void (*take)(WayToAdd& to, const WayToAdd& from);
  std::string text;  ///< "c added last against with the products"
};

std::string against(const char* what, const std::string& x, const std::string& y) {
  return std::string(what) + " " + x + " against " + y;
}

std::string additions_of(const WayToAdd& way) {
  return way.additions == Additions::once       ? "once"
         : way.additions == Additions::in_pairs ? "each, in pairs"
                                                : "each, in order";
}

std::string joining_of(const WayToAdd& way) {
  switch (way.c) {
    case Joining::with_products: return "with the products";
    case Joining::second_stage: return "in a second stage, where both are cut anew";
    case Joining::last: break;
  }
  return "last";
}

std::string parts_of(const WayToAdd& way) {
  switch (way.parts) {
    case Parts::whole: return "all together";
    case Parts::odd_and_even: return "even and odd ones apart";
    case Parts::groups: break;
  }
  return "as exact sums of " + std::to_string(way.group);
}

std::string order_of(const WayToAdd& way) {
  bool by_index = true;
  std::string text;
  for (size_t i = 0; i < way.order.size(); ++i) {
    by_index &= way.order[i] == static_cast<int>(i);
    if (i < 4) text += (i ? ", " : "") + std::to_string(way.order[i]);
  }
  return by_index ? "by index" : text + (way.order.size() > 4 ? ", ..." : "");
}

std::string second_cut_of(const WayToAdd& way) {
  const bool cuts = way.kept && way.c == Joining::second_stage;
  return !cuts                ? "nothing"
         : way.cuts_sum       ? "downwards, their sum too"
         : way.cuts_downwards ? "downwards"
                              : "toward zero";
}

std::string number_or(const std::optional<int>& number, const char* none) {
  return number ? std::to_string(*number) : none;
}

std::vector<Aspect> aspects_of(const WayToAdd& x, const WayToAdd& y) {
  const auto exactness = [](const WayToAdd& w) { return w.rounds_products ? "rounded" : "exact"; };
  const auto block = [&](const WayToAdd& w) {
    return static_cast<size_t>(w.block) >= w.order.size() ? "all" : std::to_string(w.block);
  };
  const auto flushed = [](const WayToAdd& w) {
    return w.subnormals == Subnormals::kept      ? "kept"
           : w.subnormals == Subnormals::flushed ? "flushed"
                                                 : "flushed to a zero of their sign";
  };
  const auto normalized = [](const WayToAdd& w) { return w.normalizes ? "as fp16" : "as they are"; };
  const auto zero = [](const WayToAdd& w) { return w.zero_is_positive ? "+0" : "signed as in IEEE 754"; };
  const auto beyond = [](const WayToAdd& w) {
    return w.overflow == Overflow::infinity ? "infinite" : w.overflow == Overflow::saturate ? "cut" : "rounded";
  };
  std::vector<Aspect> all = {
      {x.rounds_products != y.rounds_products,
       [](WayToAdd& to, const WayToAdd& from) { to.rounds_products = from.rounds_products; },
       against("products", exactness(x), exactness(y))},
      {x.additions != y.additions, [](WayToAdd& to, const WayToAdd& from) { to.additions = from.additions; },
       against("additions rounded", additions_of(x), additions_of(y))},
      {x.c != y.c,
       [](WayToAdd& to, const WayToAdd& from) {
         to.c = from.c;
         to.span = from.span;
         to.sums_from_zero = from.sums_from_zero;
         to.last_rounding = from.last_rounding;
       },
       against("c added", joining_of(x), joining_of(y))},
      {x.parts != y.parts || x.group != y.group,
       [](WayToAdd& to, const WayToAdd& from) {
         to.parts = from.parts;
         to.group = from.group;
       },
       against("products cut", parts_of(x), parts_of(y))},
      {x.cuts_downwards != y.cuts_downwards || x.cuts_sum != y.cuts_sum,
       [](WayToAdd& to, const WayToAdd& from) {
         to.cuts_downwards = from.cuts_downwards;
         to.cuts_sum = from.cuts_sum;
       },
       against("the second stage cuts", second_cut_of(x), second_cut_of(y))},
      {x.order != y.order, [](WayToAdd& to, const WayToAdd& from) { to.order = from.order; },
       against("order of the products", order_of(x), order_of(y))},
      {block(x) != block(y), [](WayToAdd& to, const WayToAdd& from) { to.block = from.block; },
       against("products per step", block(x), block(y))},
      {x.kept != y.kept, [](WayToAdd& to, const WayToAdd& from) { to.kept = from.kept; },
       against("bits kept below the greatest exponent", number_or(x.kept, "all"), number_or(y.kept, "all"))},
      {x.zero_reads != y.zero_reads, [](WayToAdd& to, const WayToAdd& from) { to.zero_reads = from.zero_reads; },
       against("exponent of a zero", number_or(x.zero_reads, "none"), number_or(y.zero_reads, "none"))},
      {x.normalizes != y.normalizes, [](WayToAdd& to, const WayToAdd& from) { to.normalizes = from.normalizes; },
       against("exponents of subnormal operands", normalized(x), normalized(y))},
      {x.subnormals != y.subnormals, [](WayToAdd& to, const WayToAdd& from) { to.subnormals = from.subnormals; },
       against("subnormals", flushed(x), flushed(y))},
      {x.zero_is_positive != y.zero_is_positive,
       [](WayToAdd& to, const WayToAdd& from) { to.zero_is_positive = from.zero_is_positive; },
       against("a sum that is zero", zero(x), zero(y))},
      {x.output_bits != y.output_bits, [](WayToAdd& to, const WayToAdd& from) { to.output_bits = from.output_bits; },
       against("fraction bits of a sum", std::to_string(x.output_bits), std::to_string(y.output_bits))},
      {x.overflow != y.overflow, [](WayToAdd& to, const WayToAdd& from) { to.overflow = from.overflow; },
       against("a sum beyond the greatest number", beyond(x), beyond(y))},
      {x.rounding != y.rounding,
       [](WayToAdd& to, const WayToAdd& from) {
         to.rounding = from.rounding;
         if (to.c != Joining::last) to.last_rounding = from.rounding;
       },
       against("rounding", name_of(x.rounding), name_of(y.rounding))}};
  std::erase_if(all, [](const Aspect& aspect) { return !aspect.differs; });
  return all;
}

/// A unit without parameters adds as the row does that it claims to equal.
std::optional<DotModel> row_of_unit(const Unit& unit, const Op& op, const Registry& registry) {
  const std::string name = row_name_of(unit, op, registry);
  const Result<std::unique_ptr<Unit>> row = registry.bind(name, op);
  return row && (*row)->model() ? std::optional(*(*row)->model()) : std::nullopt;
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

std::string steps_that_matter(const Judge& judge, const Batch& one, const Registry& registry) {
  const Op& op = judge.op();
  if (op.kind != OpKind::dot || op.d.fields().integer || judge.units().size() != 2) return "";
  DotCase loader(op);
  const DotOperands in = loader.load(one, 0);
  if (!is_finite_case(op, in)) return "";
  const std::optional<WayToAdd> x = way_of_unit(*judge.units()[0], op, registry),
                                y = way_of_unit(*judge.units()[1], op, registry);
  if (!x || !y) return "";
  const Verdict verdict = judge.judge(one)[0];
  if (!verdict.fails) return "";
  const auto gives = [&](const WayToAdd& way, uint64_t result) {
    const std::optional<uint64_t> given = add_in_that_way(way, op, in);
    return given && same_result(op, *given, result);
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
