#include "oracles/gemm/product_bound.h"

#include "oracles/gemm/ozaki_bound.h"

namespace mmafuzz::gemm {

bool ProductBound::knows(const Unit& unit) { return dynamic_cast<const OzakiUnit*>(&unit) || residues_of(unit); }

ProductBound::ProductBound(const Unit& unit, const Op& op)
    : op_(op), slices_(dynamic_cast<const OzakiUnit*>(&unit)), residues_(residues_of(unit)), matrices_(op) {}

void ProductBound::load(const Batch& batch, size_t index) {
  matrices_.load(batch, index);
  if (slices_)
    cuts_ = slices_->engine().describe({op_.m, op_.n, op_.k}, matrices_.a.data(), matrices_.b.data(),
                                       OzakiGemm::PartialSums::computed);
  else scales_ = residues_->scales(matrices_.a, matrices_.b);
}

bool ProductBound::holds(size_t element, uint64_t result, JudgedError& judged) {
  judged = {};
  const auto n = size_t(op_.n);
  if (residues_)
    return residues_->within_bound(matrices_.a, matrices_.b, matrices_.c[element], scales_, int(element / n),
                                   int(element % n), result, &judged);
  element_.load(op_, matrices_, element);
  return within_ozaki_bound(slices_->engine(), cuts_.record, element_cuts(cuts_, element, n), element_, result,
                            &judged);
}

}  // namespace mmafuzz::gemm
