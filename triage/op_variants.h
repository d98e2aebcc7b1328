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
  /// Binds `ieee`, or of blocks `quantizer:`, to the op and to each variant of it; the registry must outlive it.
  /// What a unit of `known` is named after is tried first: one case may fit several changes.
  OpVariants(const Op& op, const Registry& registry, const std::vector<std::string>& known = {});
  ~OpVariants();

  /// On case `index` one of two units deviates: the smallest change of the op with which IEEE arithmetic gives the
  /// deviating result (the other unit, or both, give what the op asks for); empty if no change does. Of blocks both may
  /// deviate, each by a change of its own.
  std::string name(const Batch& cases, size_t index, const Outcomes& first, const Outcomes& second) const;

  static std::string meaning(const std::string& name);

 private:
  struct Variant;
  void add_blocks(const Registry& registry, const std::vector<std::string>& known);
  std::string name_of_blocks(const Batch& cases, size_t index, const Column& first, const Column& second) const;

  const Op op_;
  std::unique_ptr<Unit> asked_;    ///< computes what the op asks for
  std::vector<Variant> variants_;  ///< smaller sets first, then in the documented order
};

}  // namespace mmafuzz
