// How a conversion or scalar operation may be computed differently: another rounding mode, other subnormals,
// saturation, ...
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/registry.h"

namespace mmafuzz {

class OpVariants {
 public:
  /// Binds `ieee`, or of blocks `quantizer:`, to the op and to each variant of it; the registry must outlive it.
  OpVariants(const Op& op, const Registry& registry);
  ~OpVariants();

  /// On case `index` one of two units deviates: the smallest change of the op with which IEEE arithmetic gives the
  /// deviating result (the other unit, or both, give what the op asks for); empty if no change does.
  std::string name(const Batch& cases, size_t index, const Outcomes& first, const Outcomes& second) const;
  /// The same of blocks. Both units may deviate, each by a change of its own. One block may fit several changes, as a
  /// rule of its own and a detour: the one that gives what the unit gives on most of some drawn blocks counts.
  std::string name_of_blocks(const Batch& cases, size_t index, const Outcomes (&outcomes)[2],
                             const std::vector<std::unique_ptr<Unit>>& units);

  static std::string meaning(const std::string& name);

 private:
  struct Variant;
  void add_blocks(const Registry& registry);
  const std::vector<size_t>& order_for(const Unit& unit);

  const Op op_;
  std::unique_ptr<Unit> asked_;                        ///< computes what the op asks for
  std::vector<Variant> variants_;                      ///< smaller sets first, then in the documented order
  std::map<const Unit*, std::vector<size_t>> orders_;  ///< of variants, for units on blocks
};

}  // namespace mmafuzz
