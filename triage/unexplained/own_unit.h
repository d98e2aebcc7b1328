// What can be said about a unit without parameters (a plugin, a device, a recording) that differs from the model which
// it claims to equal: which other value of a parameter it follows, or where the difference stays when the case is
// changed and which stage could make it.
#pragma once

#include <optional>
#include <string>

#include "triage/unexplained/effect.h"
#include "triage/judge.h"

namespace mmafuzz {

class OwnUnit {
 public:
  /// `judge`: "equals_model" of the unit and what it claims to equal, on a dot, or that it answers. Both must outlive
  /// it.
  OwnUnit(const Judge& judge, const Registry& registry) : judge_(judge), registry_(registry) {}

  /// Whether there is something to say: the statement is as above.
  static bool speaks_of(const Judge& judge);

  /// For people: what it did where it broke. Otherwise "block (products per fused step): 16 is claimed, 4 fits ...";
  /// otherwise what sets the difference off, what could make it, and in which lanes it stays.
  std::string describe(const Batch& one) const;

  /// The same of a unit that remembers, from a sequence whose last case differs each time; empty where nothing is
  /// known.
  std::string describe_sequence(const Batch& sequence) const;

 private:
  std::string condition_and_effect(Surroundings& near, Surroundings& others,
                                   const std::vector<Variant>& variants) const;
  std::vector<Variant> variants_of_row() const;
  std::optional<std::string> fitting_parameter(const Batch& one, const std::vector<Variant>& variants) const;
  /// In which lanes; and under which changes of the whole case.
  std::string where_it_stays(const Batch& one, bool under_changes) const;

  const Judge& judge_;
  const Registry& registry_;
};

}  // namespace mmafuzz
