// The fields that a search covers by default (docs/concepts.md): its ops, and which units take an op or match a
// pattern.
#pragma once

#include "core/registry.h"

namespace mmafuzz {

/// The default ops of one kind, from a fixed list.
std::vector<Op> default_ops(OpKind kind);

/// The listed units of a registry that can run on this machine. Twins are left out, because a model is always compared
/// with its twin, and so are forms of names that a list shows, as recorded:<file>: a '<' marks them.
class UnitIndex {
 public:
  explicit UnitIndex(const Registry& registry);
  /// The names of the units that bind to the op, also of models that differ only in name.
  std::vector<std::string> accepting(const Op& op) const;

 private:
  const Registry& registry_;
  std::vector<std::string> names_;  ///< of all units except models, which accepting() finds by the op's formats
};

/// The ops of all models' rows, each once.
std::vector<Op> ops_of_models();

/// The names that patterns stand for on an op, each once. A glob stands for the listed units that it matches, that can
/// run on this machine and that bind to the op. Settings behind a glob ("model:hopper/*?fraction_bits=20") are added to
/// each of these. Any other pattern is a name and is returned as it is, whether it binds or not.
std::vector<std::string> matching_units(const Registry& registry, const Op& op,
                                        const std::vector<std::string>& patterns);

/// Throws BadInput where matching_units() has no unit for a glob on any of the ops. The message says whether no name
/// matches, or why the first unit that does cannot run here or declines the first op. `ops` must not be empty.
void check_patterns(const Registry& registry, const std::vector<Op>& ops, const std::vector<std::string>& patterns);

}  // namespace mmafuzz
