// How a conversion or scalar operation may be computed differently: another rounding mode, other subnormals,
// saturation, ...
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/registry.h"

namespace mmafuzz {

class OpVariants {
 public:
  /// Binds `ieee` to the op and to each variant of it; the registry must outlive it.
  OpVariants(const Op& op, const Registry& registry);
  ~OpVariants();

  /// On case `index` one of two units deviates: the smallest change of the op with which IEEE arithmetic gives the
  /// deviating result (the other unit, or both, give what the op asks for); empty if no change does.
  std::string name(const Batch& cases, size_t index, const Outcomes& first, const Outcomes& second) const;

  static std::string meaning(const std::string& name);

 private:
  struct Variant;
  const Op op_;
  std::unique_ptr<Unit> ieee_;
  std::vector<Variant> variants_;  ///< smaller sets first, then in the documented order
};

}  // namespace mmafuzz
