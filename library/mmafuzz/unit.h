// Units evaluate cases. mmafuzz has units with names; a function of the caller's can be a unit, too.
#pragma once

#include <functional>

#include <mmafuzz/batch.h>

namespace mmafuzz::v1 {

/// The results of a unit for a batch.
struct Results {
  std::size_t count = 1;                 ///< encodings of a case's result
  std::vector<std::uint64_t> encodings;  ///< case after case, `count` each
  std::vector<std::uint8_t> flags;       ///< one byte for each case (docs/case-text.md); empty if the unit reports none
  std::vector<bool> answered;  ///< by case: whether there is a result; false where the unit declined or failed
};

/// Computes the results of a batch. `results` has size() * result().count elements, case after case, and must keep that
/// size. It is called from several threads at once, with batches of any size, and must return the same result for the
/// same case. An exception passes through the call that needed the results.
using Function = std::function<void(const Batch& batch, std::vector<std::uint64_t>& results)>;

class Unit {
 public:
  /// A unit of mmafuzz by name (mmafuzz list): "exact", "model:hopper/mma.m16n8k16.f32.f16.f16.f32?fraction_bits=24",
  /// "plugin:./mine.so". Throws Error with the reason where it does not take the op.
  Unit(const std::string& name, const std::string& op);
  /// A function as a unit of the op. `name` has letters, digits and `_`; name() is "function:" and `name`. `equals`
  /// names the unit that the function claims to equal bit for bit, so that a difference is a broken claim; empty: no
  /// claim.
  Unit(const std::string& name, const std::string& op, Function function, const std::string& equals = "");
  Unit(const Unit& other);
  Unit& operator=(const Unit& other);
  ~Unit();

  const std::string& name() const;
  const std::string& op() const;
  /// Evaluates every case. May be called from several threads at once. Throws Error where the batch is of another op.
  Results run(const Batch& batch) const;

 private:
  friend struct Access;
  struct Content;
  std::shared_ptr<const Content> content_;
};

/// The names of all units that take an op; of an empty op, of all units.
std::vector<std::string> unit_names(const std::string& op = "");

/// The version of mmafuzz that this library is of, with its commit: "1.2.3 (2f1c9aa)".
std::string version();

}  // namespace mmafuzz::v1
