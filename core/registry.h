// The units that an executable knows. Filled explicitly by each executable; no static-initializer magic.
#pragma once

#include "core/unit.h"
#include "core/unit_name.h"

namespace mmafuzz {

class Registry {
 public:
  void add(std::unique_ptr<Family> family) { families_.push_back(std::move(family)); }

  /// Short names of units, as of GPUs: what a name stands for on an op. Wherever a unit is named they may stand, in the
  /// settings and the claims of other units, too.
  using Alias = std::function<std::string(const std::string&, const Op&)>;
  /// Why a name without a family, which was to be a short one, stands for nothing on an op; nothing where it was not.
  using NoAlias = std::function<std::optional<Refusal>(const std::string&, const Op&)>;
  void set_alias(Alias alias, NoAlias no_alias) {
    alias_ = std::move(alias);
    no_alias_ = std::move(no_alias);
  }

  /// Binds a unit name to an op. An unknown name is refused with the nearest known ones.
  Result<std::unique_ptr<Unit>> bind(const std::string& text, const Op& op) const;

  /// Whether the name (with or without overrides) is known at all.
  bool knows(const std::string& name) const;

  /// What the unit of that name is, also where it cannot be bound here.
  Role role_of(const std::string& name) const;

  /// Whether two units are known to compute the same on an op, whatever they are called.
  bool are_one(const std::string& x, const std::string& y, const Op& op) const;

  std::vector<UnitInfo> list() const;

  /// Units of all families that have their own arithmetic for an op and bind to it: exact, the IEEE orders, the CPU, of
  /// matrix products the schemes, and of the models one for each different row, the widest k of each instruction.
  std::vector<std::string> searched_by_default(const Op& op) const;

  /// What may stand after `?` in the names of each family that has settings.
  std::vector<FamilyParameters> parameters() const;

  /// All settings of a scheme of matrix products (Family::settings).
  std::vector<Setting> settings(const std::string& name) const;

  /// Names closest to `name` by edit distance, best first.
  std::vector<std::string> nearest(const std::string& name, size_t count) const;

 private:
  std::vector<std::unique_ptr<Family>> families_;
  Alias alias_ = [](const std::string& name, const Op&) { return name; };
  NoAlias no_alias_ = [](const std::string&, const Op&) { return std::nullopt; };
};

}  // namespace mmafuzz
