// What a search covers when it is not told, and the units that take an op or match a pattern.
#pragma once

#include "core/registry.h"

namespace mmafuzz {

/// Ops of one kind: what the recorded GPUs do, block-scaled dots, and the CPU's silicon.
std::vector<Op> default_ops(OpKind kind);

/// The units of a registry that this machine has, to be asked which of them evaluate an op: also rows that differ from
/// others only in name. Slow twins are left out, because a model is always compared with its twin.
class UnitIndex {
 public:
  explicit UnitIndex(const Registry& registry);
  std::vector<std::string> accepting(const Op& op) const;

 private:
  const Registry& registry_;
  std::vector<std::string> names_;  ///< of all units except model rows, which are found by the op's formats
};

/// The ops of all model rows, each once.
std::vector<Op> ops_of_models();

/// The listed or named units that match a comma-separated list of globs and bind to the op; names that no list shows
/// (plugin:<file>, overrides) are taken as they are. A name that does not bind is left out if it was matched by a
/// pattern, kept (to fail with its reason) if it was named. Settings after a glob ("model:hopper/*?fraction_bits=20")
/// go to every unit that it matches.
std::vector<std::string> matching_units(const Registry& registry, const Op& op,
                                        const std::vector<std::string>& patterns);

/// Throws BadInput where a glob gives no unit for any of the ops: because no name matches, or because what matches is
/// not there or declines.
void check_patterns(const Registry& registry, const std::vector<Op>& ops, const std::vector<std::string>& patterns);

}  // namespace mmafuzz
