// Units: what evaluates cases. Those of mmafuzz have names; a function of yours is a unit too.
#pragma once

#include <functional>

#include <mmafuzz/batch.h>

namespace mmafuzz::v1 {

/// What a unit made of a batch.
struct Results {
  std::size_t count = 1;                 ///< encodings of a case's result
  std::vector<std::uint64_t> encodings;  ///< case after case, `count` each
  std::vector<std::uint8_t> flags;       ///< one byte a case (docs/case-text.md); empty where the unit reports none
  std::vector<bool> answered;            ///< whether the unit has an answer for the case
};

/// Computes the results of a batch: `results` has size() * result().count places, case after case. It may be called
/// from several threads at once, with batches of any size. The same case must give the same result. What it throws ends
/// the call that needed the results.
using Function = std::function<void(const Batch& batch, std::vector<std::uint64_t>& results)>;

class Unit {
 public:
  /// A unit of mmafuzz by name (mmafuzz list): "exact", "model:hopper/mma.m16n8k16.f32.f16.f16.f32?fraction_bits=24",
  /// "plugin:./mine.so". Throws Error with the reason where it does not take the op.
  Unit(const std::string& name, const std::string& op);
  /// A function as a unit of the op. It is called `name`: letters, digits, `_`. `equals`: the unit that it claims to
  /// equal bit for bit; a difference is then a broken claim. Empty: it claims nothing.
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
