// Systematic walks through a datapath, in the manner of TestFloat. Of a dot: every pair of significands through each
// multiplier, every pair of exponents through each adder of exponents, all tuples of alignments, each bit of the sum,
// every pair of special values. Of a conversion: every boundary of its rounding. Of a scalar operation: pairs of
// exponents and of fractions. Random search reaches single events; what waits for a conjunction of two, three or four
// is on such a walk. Each part has a stated length, and its case number n is a function of n.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/batch.h"
#include "search/mutator.h"

namespace mmafuzz {

class DatapathSweeps {
 public:
  using Make = std::function<void(Batch&, size_t, CounterRng&, uint64_t)>;
  /// One part of the datapath and the number of cases that walk through all of it.
  struct Part {
    std::string name;  ///< docs/search.md
    uint64_t length;
    uint64_t pass;       ///< after as many everything has been tried in some lane; then it moves to other lanes
    Make make = {};      ///< its case n
    uint64_t first = 0;  ///< position of its first case in the whole walk
  };

  /// Of integers dots have parts. Matrix products have none.
  DatapathSweeps(const Op& op, const CornerHints& hints, uint64_t seed);

  /// The shortest first.
  const std::vector<Part>& parts() const { return parts_; }
  uint64_t length() const { return length_; }
  /// The walk through the states of dots; of no length elsewhere.
  const Part& states() const { return states_; }

  /// The position of case n of a search: every second one is of states, the others are the other parts, the shortest
  /// first. So a short search, too, sees most pairs of states.
  uint64_t searched(uint64_t n) const;
  /// How many of a search's first n cases are of states.
  uint64_t states_among(uint64_t n) const;

  /// Writes case `position` of the walk over `index`. After the end it begins again, and draws anew what the walk
  /// leaves open: signs, fractions, what the other lanes hold.
  void make(uint64_t position, Batch& batch, size_t index) const;

 private:
  static constexpr uint64_t longest_part = uint64_t{1} << 21;  ///< longer ones are left out
  /// Of a part; without a pass of its own, that is all of it.
  struct Length {
    uint64_t all, pass;
    Length(uint64_t all, uint64_t pass) : all(all), pass(pass) {}
    Length(uint64_t all) : Length(all, all) {}
  };
  using MakeDot = std::function<void(class SweepCase&, uint64_t)>;
  void add(const char* name, Length length, Make make);
  void add_dot(const char* name, Length length, MakeDot make);
  void add_dot_parts();
  void add_states();
  void add_integer_parts();
  void add_conversion_parts();
  void add_scalar_parts();
  void add_block_parts();

  Op op_;
  CornerHints hints_;
  uint64_t seed_, length_ = 0;
  Part states_{"states", 0, 0};
  std::vector<Part> parts_;
};

/// The sweeps of one op for units of different hints, made once for each.
class SweepsOfUnits {
 public:
  SweepsOfUnits(const Op& op, uint64_t seed) : op_(op), seed_(seed) {}
  std::shared_ptr<const DatapathSweeps> of(const CornerHints& hints) {
    for (const auto& [known, sweeps] : made_)
      if (known == hints) return sweeps;
    return made_.emplace_back(hints, std::make_shared<DatapathSweeps>(op_, hints, seed_)).second;
  }

 private:
  Op op_;
  uint64_t seed_;
  std::vector<std::pair<CornerHints, std::shared_ptr<const DatapathSweeps>>> made_;
};

}  // namespace mmafuzz
