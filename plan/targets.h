// The fuzz targets, which are kinds of search with a question and ops of their own (docs/concepts.md). Their table is
// plan/targets.def.h.
#pragma once

#include <string>
#include <vector>

#include "core/op.h"
#include "core/property.h"

namespace mmafuzz {

/// What a target checks; plan/targets.def.h explains the words.
enum class LooksAt { units, one_unit, own };
enum class InCampaigns { never, asked, always };

struct FuzzTarget {
  const char* name;
  LooksAt looks_at;
  std::vector<Op> (*ops)();    ///< returns its ops; engines' inputs name an op by its number in this order
  const char* format;          ///< the format that a must have; "": any
  const char* properties;      ///< globs of the properties that it checks, separated by commas
  const char* not_properties;  ///< globs of the properties that it leaves out of these
  InCampaigns in_campaigns;
  const char* contract;  ///< what a contract failure means

  /// Whether its inputs are cases of known ops.
  bool has_ops() const { return looks_at != LooksAt::own; }
  bool compares_units() const { return looks_at == LooksAt::units; }
  /// Whether units of an op are held to the units that they claim to equal.
  bool checks_claims(const Op& op) const { return compares_units() || op.kind == OpKind::gemm; }
};

const std::vector<FuzzTarget>& fuzz_targets();

/// The units that the target searches on an op: units_of(patterns, op). Where there are no patterns, a target of single
/// units leaves out those of the roles plugin and device, which QEMU or a GPU runs slowly: each claims to equal a row,
/// whose properties are checked.
std::vector<std::string> units_of(const FuzzTarget& target, const std::vector<std::string>& patterns, const Op& op);

/// The target of that name. Throws BadInput with the known names.
const FuzzTarget& target_named(const std::string& name);

/// The names of the targets for which `which` is true.
std::vector<std::string> target_names(bool (*which)(const FuzzTarget&));

/// The default ops of an engine's build of the target.
std::vector<Op> ops_of(const FuzzTarget& target);

/// The default ops of the target in a campaign: default_ops() of their kinds, which are few.
std::vector<Op> campaign_ops_of(const FuzzTarget& target);

/// Whether the target can be given this op: one of its kinds and format.
bool takes(const FuzzTarget& target, const Op& op);

std::vector<const Property*> properties_of(const FuzzTarget& target);

/// The first target that finds failures of `property` (equal, equals_model or a property's name) on this op. Throws
/// BadInput where there is none.
const FuzzTarget& target_of(const std::string& property, const Op& op);

}  // namespace mmafuzz
