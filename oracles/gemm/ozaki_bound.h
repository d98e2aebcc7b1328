// The error bound of the Ozaki scheme, element by element (README.md derives it).
#pragma once

#include "oracles/exact/exact_gemm.h"
#include "oracles/gemm/judged_error.h"
#include "oracles/gemm/ozaki.h"

namespace mmafuzz::gemm {

/// How the row of a and the column of b of one element are cut into slices.
struct ElementCuts {
  int top_a = 0, top_b = 0;        ///< their tops (split.h)
  int needed_a = 0, needed_b = 0;  ///< the numbers of slices after which nothing of them is left
  double partial_sums = 0;         ///< of the element (OzakiGemm::Description); 0 where there are none
};
/// The cuts of element number `element`, in row-major order, of a result with `columns` columns.
inline ElementCuts element_cuts(const OzakiGemm::Description& d, size_t element, size_t columns) {
  const size_t i = element / columns, j = element % columns;
  return {d.top_a[i], d.top_b[j], d.needed_a[i], d.needed_b[j], d.partial_sums.empty() ? 0 : d.partial_sums[element]};
}
/// Whether `result` lies within the bound of its exact value. Returns true and leaves `judged` alone, as no bound is
/// known, for elements with infinities or NaNs and for those whose intermediate results can overflow. `record` is that
/// of the whole product.
bool within_ozaki_bound(const OzakiGemm& engine, const OzakiRecord& record, const ElementCuts& cuts,
                        const Element& element, uint64_t result, JudgedError* judged = nullptr);

}  // namespace mmafuzz::gemm
