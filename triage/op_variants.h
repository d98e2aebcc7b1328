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

  /// The smallest change of the op that makes IEEE arithmetic give what the deviating one of two units gave on case
  /// `index` (the other one, or both, give what the op asks for); empty where none does.
  std::string name(const Batch& cases, size_t index, const Outcomes& first, const Outcomes& second) const;

  static std::string meaning(const std::string& name);

 private:
  struct Variant;
  const Op op_;
  std::unique_ptr<Unit> ieee_;
  std::vector<Variant> variants_;  ///< smaller sets first, then in the documented order
};

}  // namespace mmafuzz
