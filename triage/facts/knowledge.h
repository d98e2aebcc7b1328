// What people know already: text files that are reviewed like code (corpus/knowledge/*.facts). One fact a line, fields
// separated by tabs, sorted by name:
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
  bool seen = true;
  std::string reason;
  std::string statement;  ///< "equal UNIT UNIT" or "PROPERTY UNIT"; empty where nothing was seen
  std::string op;         ///< "op dot ..."
  std::string one_case;   ///< its line of case text
};

class Knowledge {
 public:
  Knowledge() = default;
  /// All files of a folder; a folder that is not there knows nothing. Throws std::runtime_error with file and line.
  explicit Knowledge(const std::string& folder);

  const KnownFact* find(const std::string& name) const;
  /// Where it is written down that the fact was seen. A broken accuracy is known on the op of its witness alone: what a
  /// format explains says nothing of others.
  bool knows(const Fact& fact) const;
  const std::map<std::string, KnownFact>& facts() const { return facts_; }
  std::set<std::string> names() const;

  /// Learns a fact with its best witness. The reason must not be empty. Throws std::runtime_error.
  void accept(const Fact& fact, const std::string& reason);
  /// Writes the folder's files anew, one for each kind of fact.
  void save(const std::string& folder) const;

 private:
  std::map<std::string, KnownFact> facts_;
};

}  // namespace mmafuzz
