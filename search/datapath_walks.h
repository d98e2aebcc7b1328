// Systematic walks through a datapath, in the manner of TestFloat. A walk is a sequence of cases that leaves nothing of
// one part of the datapath out; all walks of an op, one after the other, are its whole walk. Of a dot: every pair of
// significands through each multiplier, every pair of exponents through each adder of exponents, all tuples of
// alignments, each bit of the sum, every pair of special values. Of a conversion: every boundary of its rounding. Of a
// scalar operation: pairs of exponents and of fractions. Random search reaches single events; what waits for a
// conjunction of two, three or four is on such a walk. Each part has a stated length, and its case number n (from 0) is
// a function of n and the seed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/batch.h"
#include "search/mutator.h"

namespace mmafuzz {

class DatapathWalks {
 public:
  using Make = std::function<void(Batch&, size_t index, CounterRng&, uint64_t n)>;
  /// One walk: a part of the datapath, and the number of cases that leave nothing of it out.
  struct Part {
    std::string name;  ///< as in docs/search.md
    uint64_t length;
    uint64_t pass;  ///< cases after which everything has been tried in some lane; the next pass tries it in other lanes
    Make make = {};      ///< writes case n of the part
    uint64_t first = 0;  ///< position of its first case in the whole walk, from 0
  };

  /// Integer formats: only dots have parts. Matrix products and dequantize have none.
  DatapathWalks(const Op& op, const CornerHints& hints, uint64_t seed);

  /// The walk of states shall solve for the sums of this row, too, in turn with those of its hints and others.
  void also_solve_for(const DotModel& row);

  /// In ascending order of length.
  const std::vector<Part>& parts() const { return parts_; }
  uint64_t length() const { return length_; }
  /// The walk of states of a dot (search/state_walks.cc); its length is 0 for other ops.
  const Part& states() const { return states_; }

  /// The position in the whole walk of a search's walk case n, counted from 0: in turn one of the walk of states and
  /// one of the other parts, until either is used up. So a short search, too, meets most pairs of states.
  uint64_t searched(uint64_t n) const;
  /// How many of a search's first n walk cases belong to the walk of states.
  uint64_t states_among(uint64_t n) const;

  /// Writes case `position` of the whole walk over case `index`. From length() on, which must not be 0, the walk begins
  /// again and draws anew what it leaves open: signs, fractions, what the other lanes hold.
  void make(uint64_t position, Batch& batch, size_t index) const;

 private:
  static constexpr uint64_t longest_part = uint64_t{1} << 21;  ///< longer parts are left out
  /// The cases of a part, and of a pass of it; without a pass of its own, all of it is one pass.
  struct Length {
    uint64_t all, pass;
    Length(uint64_t all, uint64_t pass) : all(all), pass(pass) {}
    Length(uint64_t all) : Length(all, all) {}
  };
  using MakeDot = std::function<void(class WalkCase&, uint64_t n)>;
  /// Adds a part, unless it is too long.
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
  std::shared_ptr<std::vector<DotModel>> rows_;  ///< whose sums the walk of states solves for
  Part states_{"states", 0, 0};
  std::vector<Part> parts_;
};

/// The walks of one op, made once for each set of hints: units of equal hints share them.
class WalksOfUnits {
 public:
  WalksOfUnits(const Op& op, uint64_t seed) : op_(op), seed_(seed) {}
  std::shared_ptr<const DatapathWalks> of(const CornerHints& hints) {
    for (const auto& [known, walks] : made_)
      if (known == hints) {
        if (hints.row) walks->also_solve_for(*hints.row);
        return walks;
      }
    return made_.emplace_back(hints, std::make_shared<DatapathWalks>(op_, hints, seed_)).second;
  }

 private:
  Op op_;
  uint64_t seed_;
  std::vector<std::pair<CornerHints, std::shared_ptr<DatapathWalks>>> made_;
};

}  // namespace mmafuzz
