// Units, which evaluate ops (a model, a device, a recording, a plugin), and families of units, which bind names to ops.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "arithmetic/slicing.h"
#include "arithmetic/trace.h"
#include "core/batch.h"

namespace mmafuzz {

/// A claim of a unit: the name of a property that it guarantees. Where the property is `equals_model`, `detail` is the
/// name of the unit that it equals, a model or any other unit; otherwise "".
struct Claim {
  std::string property;
  std::string detail;
};

/// Claims of these properties.
inline std::vector<Claim> claims_of(std::initializer_list<const char*> properties) {
  std::vector<Claim> claims;
  for (const char* property : properties) claims.push_back({property, ""});
  return claims;
}

/// Claims with the one to equal another unit.
inline std::vector<Claim> with_equal(std::vector<Claim> claims, std::string unit) {
  claims.push_back({"equals_model", std::move(unit)});
  return claims;
}

/// What a unit is to a comparison.
///   exact, ieee   mathematics rounded once; IEEE 754's operations in a stated order
///   model, twin   a row's kernel, and its second implementation in other code
///   referee       a slow reference for the exact result: MPFR or big integers
///   silicon       the CPU of this machine
///   device        a GPU of this machine, or a library on it
///   recorded      the results in a file
///   plugin        code of the user: a shared library, a process
///   hypothesis    arithmetic that a matrix unit might follow, but is not known to follow
///   scheme        an algorithm that makes a matrix product of other dots or products (docs/ozaki.md)
///   other         none of these: a fast path, integer arithmetic
enum class Role { exact, ieee, model, twin, referee, silicon, device, recorded, plugin, hypothesis, scheme, other };

/// Whether the unit is the CPU, a device, a recording or code of the user, which other machines may not have.
inline bool is_of_this_machine(Role role) {
  return role == Role::silicon || role == Role::device || role == Role::recorded || role == Role::plugin;
}

/// Evaluates cases of the op that it was bound to. run() is const and may be called from many threads at once.
class Unit {
 public:
  virtual ~Unit() = default;
  const std::string& name() const { return name_; }
  const std::vector<Claim>& claims() const { return claims_; }
  /// The unit's claim of a property; nullptr where it does not claim the property.
  const Claim* claim(const std::string& property) const {
    for (const Claim& claim : claims_)
      if (claim.property == property) return &claim;
    return nullptr;
  }
  Role role() const { return role_; }
  void set_role(Role role) { role_ = role; }

  /// Evaluates every case of the batch (whose op is the bound one) into outcomes, resized to fit.
  virtual void run(const Batch& batch, Outcomes& outcomes) const = 0;
  /// The same, into fresh outcomes.
  Outcomes outcomes_of(const Batch& batch) const {
    Outcomes outcomes;
    run(batch, outcomes);
    return outcomes;
  }

  /// The row of a model or twin, for explanations, causes and coverage; nullptr for every other unit.
  virtual const DotModel* model() const { return nullptr; }
  /// n, where a search runs the unit on every n-th batch only, because it is slower than others. If n is not 1, a
  /// search compares the unit with the one that it claims to equal and checks nothing else of it.
  uint64_t every_nth_batch() const { return every_nth_batch_; }
  void set_every_nth_batch(uint64_t n) { every_nth_batch_ = n; }
  bool is_checked_only_against_its_claim() const { return every_nth_batch_ > 1; }
  /// The number of coverage features that the unit itself reports, as an RTL simulation does; 0 where it reports none.
  virtual int features() const { return 0; }
  /// Calls hit(case, feature) for each feature, from 0 to features() - 1, that each case of the batch reaches, in the
  /// order of the cases. A case reaches the same features whatever was evaluated before.
  virtual void observe(const Batch&, const std::function<void(size_t, int)>& hit) const {}
  /// How a unit of matrix products cuts its operands into slices; nullptr where it does not.
  virtual const Slicing* slicing() const { return nullptr; }

  /// Sets name and claims: a family does so in bind(), and the registry after it, to replace aliases in claims.
  void describe(std::string name, std::vector<Claim> claims) {
    name_ = std::move(name);
    claims_ = std::move(claims);
  }

 private:
  std::string name_;
  std::vector<Claim> claims_;
  Role role_ = Role::other;
  uint64_t every_nth_batch_ = 1;
};

/// What `list` prints of a unit.
struct UnitInfo {
  std::string name;
  std::string summary;
  std::string source = "";  ///< the citation that its arithmetic rests on; may be ""
  std::vector<Claim> claims = {};
  std::string unavailable = "";  ///< why this machine cannot run the unit; "" where it can
};

/// Which settings a family's units take after `?` (of a model: the parameters of its row, which a setting overrides).
struct FamilyParameters {
  struct Description {
    std::string name, meaning, values;
  };
  std::string units;  ///< how the names of the units begin: "model:, twin:"
  std::vector<Description> parameters;
};

/// A setting of one unit, with its value, whether the unit's name gives the value or it is the default.
struct Setting {
  std::string name, value;
  std::optional<std::string> exact;  ///< the value with which the setting loses no bits, where there is one
};

class Registry;

/// Whether something follows the prefix in a unit's name: `owns` of a family whose names have paths or other names.
inline bool has_more_after(std::string_view prefix, std::string_view name) {
  return name.starts_with(prefix) && name.size() > prefix.size();
}

/// A family of units, which lists names and binds a name to an op. Names have their settings (`?...`) where a function
/// does not say otherwise.
class Family {
 public:
  virtual ~Family() = default;
  /// Whether `name`, without settings, has the syntax of this family.
  virtual bool owns(std::string_view name) const = 0;
  virtual std::vector<UnitInfo> list() const = 0;
  /// The role of the unit of that name, without settings.
  virtual Role role(const std::string& name) const = 0;
  /// The units, each with an arithmetic of its own, that a search compares on an op when it is told none.
  virtual std::vector<std::string> searched_by_default(const Op& op) const { return {}; }
  /// Whether two units of this family are known to compute the same on an op, though their names may differ.
  virtual bool are_one(const std::string& x, const std::string& y, const Op&) const { return x == y; }
  /// The unit that `name` adapts ("cuda:..." of "relu:cuda:..."), whose role `name` has, too; "" where there is none.
  virtual std::string stands_for(const std::string& name) const { return ""; }
  virtual FamilyParameters parameters() const { return {}; }
  /// All settings of one scheme (Role::scheme) with values; empty for other units, and for a name that does not bind.
  virtual std::vector<Setting> settings(const std::string& name) const { return {}; }
  /// The attributes of an op that the unit supports. After bind() the registry declines an op with any other attribute
  /// and names the attribute in the reason: no attribute is accepted and then ignored.
  virtual Attributes honours(const std::string& name, const Op& op) const { return {}; }
  /// A unit for the op, or a refusal with its reason. The registry checks honours() afterwards.
  virtual Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const = 0;
  /// The same for a family whose units run other units, which the registry binds. The registry calls this one.
  virtual Result<std::unique_ptr<Unit>> bind_over(const Registry&, const std::string& name, const Op& op) const {
    return bind(name, op);
  }
};

}  // namespace mmafuzz
