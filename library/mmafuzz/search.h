// The search for cases on which units differ, or on which a unit breaks what it claims.
#pragma once

#include <mmafuzz/unit.h>

namespace mmafuzz::v1 {

/// One kind of divergence.
struct Finding {
  std::string property;            ///< "equal", "equals_model", or a property (mmafuzz list properties)
  std::vector<std::string> units;  ///< the two that differ, or the one that breaks the property
  std::string severity;            ///< "contract", "accuracy" or "semantic" (docs/concepts.md)
  std::string value_class;         ///< where the results differ: "normal", "subnormal", "overflow", "special", ...
  std::uint64_t count = 0;         ///< divergences of the kind that the search met
  std::string cause, detail;       ///< of the witness: names of parameters, and in words
  std::string witness;             ///< the simplest case that shows it, as a file of case text
};

/// A guided search over operands of one op. The same units, seed and number of cases give the same findings on any
/// number of threads.
class Search {
 public:
  explicit Search(const std::string& op);
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
  ~Search();

  /// Adds a unit. Throws Error where it is of another op, or where another unit has its name.
  Search& with(const Unit& unit);
  Search& with(const std::string& name);
  Search& seed(std::uint64_t seed);
  Search& threads(unsigned threads);  ///< 0, the default: all cores
  Search& properties(bool also);      ///< whether properties of single units are searched too (default: yes)

  /// Searches that many cases and brings what it found to its simplest form. `is_enough`, where given, is asked between
  /// some thousand cases and ends the search early.
  std::vector<Finding> run(std::uint64_t cases, const std::function<bool()>& is_enough = {});

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace mmafuzz::v1
