#include "search/focuses.h"

#include <algorithm>
#include <utility>

namespace mmafuzz {

std::vector<GuidedSearch::Focus> focuses_of(const Comparison& comparison) {
  std::vector<GuidedSearch::Focus> focuses;
  for (size_t i = 0; i < comparison.units().size(); ++i)
    if (const DotModel* model = comparison.model_of(i);
        model && !comparison.units()[i]->is_checked_only_against_its_claim())
      focuses.push_back({comparison.units()[i]->name(), corner_hints(model),
                         make_functional_feedback(comparison.op(), model), model});
  // Of matrix products: every unit that cuts its operands into slices, with its own slicing, and the first unit that
  // does not, with the reference's.
  bool unsliced = false;
  for (size_t i = 0; comparison.op().kind == OpKind::gemm && i < comparison.units().size(); ++i) {
    const Unit& unit = *comparison.units()[i];
    if (!unit.slicing() && std::exchange(unsliced, true)) continue;
    focuses.push_back({unit.name(), corner_hints(nullptr, unit.slicing()),
                       make_functional_feedback(comparison.op(), nullptr, unit.slicing())});
  }
  if (focuses.empty())
    focuses.push_back({"", corner_hints(nullptr), make_functional_feedback(comparison.op(), nullptr)});
  // A unit's own features belong to its focus; those of a unit that is no focus belong to the first one.
  for (const std::unique_ptr<Unit>& unit : comparison.units()) {
    if (unit->features() == 0) continue;
    auto focus = std::find_if(focuses.begin(), focuses.end(), [&](const auto& f) { return f.unit == unit->name(); });
    if (focus == focuses.end()) focus = focuses.begin();
    focus->feedback = make_feedback_with_unit(std::move(focus->feedback), *unit);
  }
  return focuses;
}

std::vector<EngineFocus> engine_focuses(const Comparison& comparison) {
  std::vector<EngineFocus> focuses;
  for (size_t i = 0; i < comparison.units().size(); ++i) {
    const Unit& unit = *comparison.units()[i];
    if (unit.is_checked_only_against_its_claim()) continue;
    if (const DotModel* model = comparison.model_of(i); model || comparison.op().kind == OpKind::gemm)
      focuses.push_back({i, model, unit.slicing()});
  }
  if (focuses.empty()) focuses.push_back({});
  return focuses;
}

}  // namespace mmafuzz
