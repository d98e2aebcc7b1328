// The proven error bound of the Ozaki scheme, element by element (README.md derives it).
#pragma once

#include "oracles/exact/exact_gemm.h"
#include "oracles/gemm/judged_error.h"
#include "oracles/gemm/ozaki.h"

namespace mmafuzz::gemm {

/// Whether `result` lies within the bound of its exact value. Nothing is said, and true returned, of elements with
/// infinities or NaNs and of those whose intermediate results may overflow. `record` is of the whole product, `cuts` of
/// this element; of what is judged, `judged` becomes what was found.
struct ElementCuts {
  int top_a = 0, top_b = 0;        ///< of the element's row and column
  int needed_a = 0, needed_b = 0;  ///< slices after which nothing of them is left
  double partial_sums = 0;         ///< of the element, where there are any
};
/// Those of an element of `columns` in a row.
inline ElementCuts element_cuts(const OzakiGemm::Description& d, size_t element, size_t columns) {
  const size_t i = element / columns, j = element % columns;
  return {d.top_a[i], d.top_b[j], d.needed_a[i], d.needed_b[j], d.partial_sums.empty() ? 0 : d.partial_sums[element]};
}
bool within_ozaki_bound(const OzakiGemm& engine, const OzakiRecord& record, const ElementCuts& cuts, const Element& in,
                        uint64_t result, JudgedError* judged = nullptr);

}  // namespace mmafuzz::gemm
