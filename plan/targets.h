// The fuzz targets as everything else knows them (plan/targets.def.h is the table).
#pragma once

#include <string>
#include <vector>

#include "core/op.h"
#include "core/property.h"

namespace mmafuzz {

enum class LooksAt { units, one_unit, own };

struct FuzzTarget {
  const char* name;
  LooksAt looks_at;
  std::vector<Op> (*ops)();    ///< an engine's input names one of them by number, in this order
  const char* format;          ///< of the matrices of its ops; "": any
  const char* properties;      ///< globs of the properties checked, comma-separated
  const char* not_properties;  ///< and of those left out
  bool in_campaigns;
  const char* contract;  ///< what a contract failure means

  /// Whether its inputs are cases of ops().
  bool has_ops() const { return looks_at != LooksAt::own; }
  bool compares_units() const { return looks_at == LooksAt::units; }
};

const std::vector<FuzzTarget>& fuzz_targets();

/// The units that it searches on an op (units_of). Slow ones that nobody asked for, which QEMU or a GPU runs, are
/// compared with others and left out where single units are looked at: each claims to equal a row, whose properties
/// are looked at.
std::vector<std::string> units_of(const FuzzTarget& target, const std::vector<std::string>& patterns, const Op& op);

/// Throws BadInput with the known names.
const FuzzTarget& target_named(const std::string& name);

/// The names of the targets that `which` picks.
std::vector<std::string> target_names(bool (*which)(const FuzzTarget&));

/// The ops that an engine's build of the target takes when it is told none.
std::vector<Op> ops_of(const FuzzTarget& target);

/// The ops that a campaign gives to the target when it is told none: of conversions and scalar operations a few.
std::vector<Op> campaign_ops_of(const FuzzTarget& target);

/// Whether the target's inputs can be cases of the op.
bool takes(const FuzzTarget& target, const Op& op);

std::vector<const Property*> properties_of(const FuzzTarget& target);

/// The target that looks at such a failure: `property` is equal, equals_model or a property's name. Throws BadInput.
const FuzzTarget& target_of(const std::string& property, const Op& op);

}  // namespace mmafuzz
