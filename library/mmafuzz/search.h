// The search for cases on which units differ, or on which a unit breaks what it claims.
#pragma once

#include <mmafuzz/unit.h>

namespace mmafuzz::v1 {

/// One kind of divergence.
struct Finding {
  std::string property;            ///< "equal", "equals_model", or a property (mmafuzz list properties)
  std::vector<std::string> units;  ///< the two that differ, or the one that breaks the property
  std::string severity;            ///< "contract", "accuracy" or "semantic" (docs/concepts.md)
  std::string value_class;    ///< class of the differing results: "normal", "subnormal", "overflow", "special", ...
  std::uint64_t count = 0;    ///< number of divergences of this kind in the search
  std::string cause, detail;  ///< of the witness: names of parameters; a text with their values
  std::string witness;        ///< the simplest case found, as the content of a file of case text
};

/// A guided search over operands of one op. The same units, seed and number of cases give the same findings on any
/// number of threads.
class Search {
 public:
  explicit Search(const std::string& op);
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
  ~Search();

  /// Adds a unit, or the unit of mmafuzz with this name. Throws Error where it is of another op or was added before.
  Search& with(const Unit& unit);
  Search& with(const std::string& name);
  Search& seed(std::uint64_t seed);
  Search& threads(unsigned threads);  ///< 0, the default: all cores
  Search& properties(bool also);      ///< whether properties of single units are searched too (default: yes)

  /// Searches `cases` cases and minimizes each kind of divergence. `is_enough`, if given, is called after every few
  /// thousand cases; true ends the search. Throws Error where there are no units, or nothing to compare.
  std::vector<Finding> run(std::uint64_t cases, const std::function<bool()>& is_enough = {});

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace mmafuzz::v1
