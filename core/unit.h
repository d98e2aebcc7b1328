// Something that evaluates an op: a model, a device, a recording, a plugin. Families bind unit names to ops.
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

/// A claim of a unit: the name of a property that it guarantees. For `equals_model`, `detail` names the unit it equals.
struct Claim {
  std::string property;
  std::string detail;
};

/// Claims of properties, for every op that the unit takes.
inline std::vector<Claim> claims_of(std::initializer_list<const char*> properties) {
  std::vector<Claim> claims;
  for (const char* property : properties) claims.push_back({property, ""});
  return claims;
}

/// What a unit is to a comparison.
///   exact, ieee   mathematics rounded once; IEEE 754's operations in a stated order
///   model, twin   a row's kernel, and its second implementation in other code
///   referee       a slow reference: MPFR or big integers
///   silicon       the CPU of this machine
///   device        a GPU of this machine, or a library on it
///   recorded      the results in a file
///   plugin        code of the user: a shared library, a process
///   hypothesis    a candidate from the literature
///   scheme        a matrix product from another unit's dots
///   other         a fast path, integer arithmetic
enum class Role { exact, ieee, model, twin, referee, silicon, device, recorded, plugin, hypothesis, scheme, other };

/// Whether only this machine can run the unit: it is a file or a device.
inline bool is_of_this_machine(Role role) {
  return role == Role::silicon || role == Role::device || role == Role::recorded || role == Role::plugin;
}

/// Evaluates cases of the op that it was bound to. run() is const and may be called from many threads at once.
class Unit {
 public:
  virtual ~Unit() = default;
  const std::string& name() const { return name_; }
  const std::vector<Claim>& claims() const { return claims_; }
  /// Its claim of a property; nullptr where it does not claim it.
  const Claim* claim(const std::string& property) const {
    for (const Claim& claim : claims_)
      if (claim.property == property) return &claim;
    return nullptr;
  }
  Role role() const { return role_; }
  void set_role(Role role) { role_ = role; }

  /// Evaluates every case of the batch (whose op is the bound one) into outcomes, resized to fit.
  virtual void run(const Batch& batch, Outcomes& outcomes) const = 0;

  /// The row of a modelled dot unit, for explanation, ablation and coverage; nullptr for black boxes.
  virtual const DotModel* model() const { return nullptr; }
  /// One batch in so many of a search is given to it: it is slower than the others. If not 1, a search compares it with
  /// the unit that it claims to equal and asks nothing else of it.
  uint64_t share() const { return share_; }
  void set_share(uint64_t share) { share_ = share; }
  bool keeps_to_its_claim() const { return share_ > 1; }
  /// How many features of its own the unit can tell of a case, as an RTL simulation its coverage; 0: none.
  virtual int features() const { return 0; }
  /// Calls `hit` with the number of a case and a feature, from 0 to features() - 1, for each that the case reaches, in
  /// the order of the cases. The same case reaches the same features, whatever was asked before.
  virtual void observe(const Batch&, const std::function<void(size_t, int)>& hit) const {}
  /// How a matrix product's unit cuts its operands; nullptr where it does not.
  virtual const Slicing* slicing() const { return nullptr; }

  void describe(std::string name, std::vector<Claim> claims) {
    name_ = std::move(name);
    claims_ = std::move(claims);
  }

 private:
  std::string name_;
  std::vector<Claim> claims_;
  Role role_ = Role::other;
  uint64_t share_ = 1;
};

/// What `list` prints of a unit.
struct UnitInfo {
  std::string name;
  std::string summary;
  std::string source;  ///< citation of the row
  std::vector<Claim> claims;
  std::string unavailable;  ///< reason why this machine cannot run it; empty: it can
};

/// What a family's units take after `?`.
struct FamilyParameters {
  struct One {
    std::string name, meaning, values;
  };
  std::string units;  ///< "model:, twin:"
  std::vector<One> parameters;
};

/// A setting of one unit with the value that it has, whether its name gives it or not; empty: none.
struct Setting {
  std::string name, value;
  std::optional<std::string> exact;  ///< the value that loses nothing, where there is one
};

class Registry;

/// A family of units: it lists names and binds a name (with its ?overrides) to an op.
class Family {
 public:
  virtual ~Family() = default;
  /// Whether `name` (without overrides) is of this family's syntax.
  virtual bool owns(std::string_view name) const = 0;
  virtual std::vector<UnitInfo> list() const = 0;
  virtual Role role(const std::string& name) const = 0;
  /// The units that a search compares on an op when it is told none: those with an arithmetic of their own.
  virtual std::vector<std::string> searched_by_default(const Op& op) const { return {}; }
  /// Whether two of its units are known to compute the same on an op, whatever they are called.
  virtual bool are_one(const std::string& x, const std::string& y, const Op&) const { return x == y; }
  /// The unit that `name` only changes (its role is that one's); empty for a unit of its own.
  virtual std::string stands_for(const std::string& name) const { return ""; }
  virtual FamilyParameters parameters() const { return {}; }
  /// All settings of a scheme of matrix products; none for other units, and for a name that does not bind.
  virtual std::vector<Setting> settings(const std::string& name) const { return {}; }
  /// The attributes of an op that the unit supports. The registry declines an op with any other attribute and names the
  /// attribute in the reason: no attribute is accepted and then ignored.
  virtual Attributes honours(const std::string& name, const Op& op) const { return {}; }
  /// A unit for the op, or a refusal with its reason. The attributes of an op that is taken are among those honoured.
  virtual Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const = 0;
  /// The same for a family whose units run on other units, which the registry binds.
  virtual Result<std::unique_ptr<Unit>> bind_over(const Registry&, const std::string& name, const Op& op) const {
    return bind(name, op);
  }
};

/// Runs one case of a dot given as encodings (tests, tools). a and b have op.k entries.
uint64_t run_one_dot(const Unit& unit, const Op& op, const std::vector<uint64_t>& a, const std::vector<uint64_t>& b,
                     uint64_t c, const std::vector<uint64_t>& scale_a = {}, const std::vector<uint64_t>& scale_b = {});

}  // namespace mmafuzz
