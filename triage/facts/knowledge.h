// Known facts: text files that are reviewed like code (corpus/knowledge/*.facts). One fact a line, fields separated by
// tabs, sorted by name:
//
//   name  seen    reason  property and units  op line  case    a witness that a test replays
//   name  unseen  reason                                       the rows imply it, but no operands can show it
#pragma once

#include <map>
#include <set>
#include <string>

#include "triage/facts/facts.h"

namespace mmafuzz {

struct KnownFact {
  std::string name;
  bool is_seen = true;  ///< false: the rows imply the fact, but no operands can show it
  std::string reason;
  std::string statement;  ///< "equal UNIT UNIT" or "PROPERTY UNIT"; empty if not `is_seen`
  std::string op;         ///< "op dot ..."
  std::string one_case;   ///< the witness's line of case text
};

class Knowledge {
 public:
  Knowledge() = default;
  /// Reads all *.facts files of a folder, if it exists. Throws std::runtime_error with file and line.
  explicit Knowledge(const std::string& folder);

  const KnownFact* find(const std::string& name) const;
  /// Whether a file says that the fact was seen. A broken accuracy is known on the op of its witness alone, because the
  /// reason may be the format.
  bool knows(const Fact& fact) const;
  const std::map<std::string, KnownFact>& facts() const { return facts_; }
  std::set<std::string> names() const;

  /// Adds a fact with its best witness, or replaces it. Throws std::runtime_error where the reason is empty or has a
  /// tab or line end, or where there is no witness.
  void accept(const Fact& fact, const std::string& reason);
  /// Replaces the folder's files, one for each kind of fact. Throws std::runtime_error where it cannot be created.
  void save(const std::string& folder) const;

 private:
  std::map<std::string, KnownFact> facts_;  ///< by name
};

}  // namespace mmafuzz
