// Describes a unit without parameters (a plugin, a device, a recording) that differs from the model which it claims to
// equal: which other value of a parameter fits it, or else on which cases it differs (condition.h), what it does there
// (effect.h), and in which lanes the difference stays.
#pragma once

#include <string>
#include <vector>

#include "triage/judge.h"
#include "triage/unexplained/effect.h"

namespace mmafuzz {

class UnitWithoutRow {
 public:
  /// `judge`: can_describe() or speaks_of() is true of it. Both must outlive this object.
  UnitWithoutRow(const Judge& judge, const Registry& registry) : judge_(judge), registry_(registry) {}

  /// Whether the judge compares a unit without a row with another one, on a dot, conversion, scalar operation,
  /// block, or matrix product without alpha and beta.
  static bool can_describe(const Judge& judge);
  /// The same where the first unit claims to equal the other one; or the judge's statement is that a unit answers.
  static bool speaks_of(const Judge& judge);

  /// For people. `cases`: a witness, then other cases that differ. Of a unit that broke: how. Of another: "block
  /// (products per fused step): 16 is claimed, 4 fits ...", or else the condition, the effect and the lanes.
  std::string describe(const Batch& cases) const;

  /// The condition and the effect of a unit with memory, from a sequence whose last case differs each time.
  std::string describe_sequence(const Batch& sequence) const;

 private:
  std::string describe_product(const Batch& witness) const;
  std::string describe_dot(const Batch& cases, std::vector<ModelVariant> variants) const;
  std::string describe_block(const Batch& cases) const;

  const Judge& judge_;
  const Registry& registry_;
};

}  // namespace mmafuzz
