// What can be said about a unit without parameters (a plugin, a device, a recording) that differs from the model which
// it claims to equal: which other value of a parameter it follows, or where the difference stays when the case is
// changed and which stage could make it.
#pragma once

#include <string>

#include "triage/judge.h"

namespace mmafuzz {

class OwnUnit {
 public:
  /// `judge`: "equals_model" of the unit and what it claims to equal, on a dot, or that it answers. Both must outlive
  /// it.
  OwnUnit(const Judge& judge, const Registry& registry) : judge_(judge), registry_(registry) {}

  /// Whether there is something to say: the statement is as above.
  static bool speaks_of(const Judge& judge);

  /// `cases`: a witness, and others that differ. For people: what it did where it broke. Otherwise "block (products per
  /// fused step): 16 is claimed, 4 fits ..."; otherwise what sets the difference off, what could make it, and in which
  /// lanes it stays.
  std::string describe(const Batch& cases) const;

  /// The same of a unit that remembers, from a sequence whose last case differs each time; empty where nothing is
  /// known.
  std::string describe_sequence(const Batch& sequence) const;

 private:
  const Judge& judge_;
  const Registry& registry_;
};

}  // namespace mmafuzz
