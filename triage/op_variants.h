// Ways to compute a conversion, a scalar operation or a quantized block differently: another rounding mode, other
// treatment of subnormals, saturation, ... Each way is a variant: the op with one or two changes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/registry.h"

namespace mmafuzz {

/// A variant as data: its name, what the op has and the variant has instead, and its results.
struct OpChange {
  std::string name, from, to;  ///< "rounding", "round=nearest_even", "round=up"; "subnormals", "no ftz=1", "ftz=1"
  std::function<Outcomes(const Batch&)> run;
};

class OpVariants {
 public:
  /// Binds `ieee`, or for ops on blocks `quantizer:`, to the op and to each variant. The registry must outlive this.
  OpVariants(const Op& op, const Registry& registry);
  ~OpVariants();

  /// The name of the smallest change of the op under which IEEE arithmetic has the result of the deviating unit on case
  /// `index`; the other unit has the op's own result. Empty where neither unit has that, or no change fits.
  std::string name(const Batch& cases, size_t index, const Outcomes& first, const Outcomes& second) const;
  /// The same of blocks, by a quantizer. Both units may deviate, each by its own change; empty where no change fits one
  /// of them. Several changes may fit one block: the change that agrees with the unit on most drawn blocks is named.
  std::string name_of_blocks(const Batch& cases, size_t index, const Outcomes (&outcomes)[2],
                             const std::vector<std::unique_ptr<Unit>>& units);

  /// All variants, smallest first. This object must outlive them.
  std::vector<OpChange> changes() const;

  /// What a name means, for people; empty for other words.
  static std::string meaning(const std::string& name);

 private:
  struct Variant;
  void add_blocks(const Registry& registry);
  /// Indices of variants_: fewer changes first, then those that agree with the unit on most drawn blocks.
  const std::vector<size_t>& order_for(const Unit& unit);

  const Op op_;
  std::unique_ptr<Unit> op_unit_;                      ///< of the op itself; nullptr where it does not bind
  std::vector<Variant> variants_;                      ///< fewer changes first, then the order of docs/triage.md
  std::map<const Unit*, std::vector<size_t>> orders_;  ///< of each unit on blocks: order_for()
};

}  // namespace mmafuzz
