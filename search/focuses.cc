#include "search/focuses.h"

namespace mmafuzz {

std::vector<GuidedSearch::Focus> focuses_of(const Comparison& comparison) {
  std::vector<GuidedSearch::Focus> focuses;
  for (size_t i = 0; i < comparison.units().size(); ++i)
    if (const DotModel* model = comparison.model_of(i))
      focuses.push_back(
          {comparison.units()[i]->name(), corner_hints(model), make_functional_feedback(comparison.op(), model)});
  if (focuses.empty())
    focuses.push_back({"", corner_hints(nullptr), make_functional_feedback(comparison.op(), nullptr)});
  return focuses;
}

}  // namespace mmafuzz
