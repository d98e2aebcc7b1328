// The units that an executable has, in families. Each executable adds its families explicitly, not by static
// initializers.
#pragma once

#include "core/unit.h"
#include "core/unit_name.h"

namespace mmafuzz {

class Registry {
 public:
  void add(std::unique_ptr<Family> family) { families_.push_back(std::move(family)); }

  /// Returns the unit name that a short name, such as that of a GPU, stands for on an op; any other text unchanged.
  /// Short names may stand wherever a unit is named, also in the settings and the claims of other units.
  using Alias = std::function<std::string(const std::string&, const Op&)>;
  /// Returns why a text that no family owns stands for no unit on an op, if it looks like a short name; else nullopt.
  using NoAlias = std::function<std::optional<Refusal>(const std::string&, const Op&)>;
  void set_alias(Alias alias, NoAlias no_alias) {
    alias_ = std::move(alias);
    no_alias_ = std::move(no_alias);
  }

  /// Binds a unit name or short name to an op. The refusal of an unknown name has the nearest known ones.
  Result<std::unique_ptr<Unit>> bind(const std::string& text, const Op& op) const;

  /// Whether a family owns the name, which may have settings. Short names do not count.
  bool knows(const std::string& name) const;

  /// The role of the unit of that name, also where it cannot be bound here; Role::other where no family owns the name.
  Role role_of(const std::string& name) const;

  /// Whether two names stand for units of one family that are known to compute the same on an op (Family::are_one).
  bool are_one(const std::string& x, const std::string& y, const Op& op) const;

  std::vector<UnitInfo> list() const;

  /// The units that a search compares on an op when it is told none (Family::searched_by_default) and that bind to it:
  /// exact, the IEEE orders, the CPU, for matrix products the schemes, and of the models with equal rows one, at the
  /// widest k of each instruction.
  std::vector<std::string> searched_by_default(const Op& op) const;

  /// The settings that may follow `?` in the names of each family that has settings.
  std::vector<FamilyParameters> parameters() const;

  /// All settings of a scheme of matrix products (Family::settings).
  std::vector<Setting> settings(const std::string& name) const;

  /// At most `count` of the listed names, ordered by their edit distance to `name`.
  std::vector<std::string> nearest(const std::string& name, size_t count) const;

 private:
  std::vector<std::unique_ptr<Family>> families_;
  Alias alias_ = [](const std::string& name, const Op&) { return name; };
  NoAlias no_alias_ = [](const std::string&, const Op&) { return std::nullopt; };
};

/// The unit of that name bound to an op; nullptr where that is refused.
std::unique_ptr<Unit> bound_or_null(const Registry& registry, const std::string& name, const Op& op);

}  // namespace mmafuzz
