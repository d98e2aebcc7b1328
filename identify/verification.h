// Compares a hypothesis with a black box on many cases: those of a guided search through the hypothesis, then walks
// through its datapath (search/datapath_walks.h), so that more can be said of the cases than their number.
#pragma once

#include "identify/asker.h"
#include "search/datapath_walks.h"

namespace mmafuzz {

/// The cases on which a hypothesis held.
struct Verified {
  /// A walk through one part of the datapath.
  struct Walk {
    std::string name;
    /// Numbers of cases: those that were walked, and DatapathWalks::Part::pass and length. `walked` may be above
    /// `length`: the walk then began again.
    uint64_t walked = 0, pass = 0, length = 0;
  };
  uint64_t cases = 0;   ///< that the unit answered, of the guided search and the walks
  uint64_t guided = 0;  ///< of these, those of the guided search
  std::vector<Walk> walks;
};

class Verification {
 public:
  /// `model`: the row of the hypothesis, for which the cases are made; nullptr: they are made for typical values. Cases
  /// of `asked` are asked again now and then, to detect a unit with a memory.
  Verification(const Unit& hypothesis, const DotModel* model, const Evidence& asked, Asker& asker, uint64_t seed);

  enum class Result {
    held,     ///< no answer differed until the cases or the time ended
    differs,  ///< contradictions() has the cases, answers() the unit's answers to them
    stopped,  ///< the asker has stopped
  };
  Result run(uint64_t cases);  ///< cases: the maximum of Verified::cases

  const Verified& verified() const { return verified_; }
  const Batch& contradictions() const { return contradictions_; }
  const std::vector<uint64_t>& answers() const { return answers_; }

 private:
  Result guided_search(uint64_t cases);
  Result walk(uint64_t cases);
  /// The next `count` cases of one walk.
  Result walk_part(size_t part, uint64_t count);
  /// Appends some cases of asked_ to the batch, asks the unit, and compares its answers with the hypothesis.
  Result compare(Batch& batch);
  size_t next_size();  ///< of a batch

  const Unit& hypothesis_;
  const DotModel* model_;
  const Evidence& asked_;
  Asker& asker_;
  uint64_t seed_;
  size_t size_ = 0;  ///< of the last batch
  DatapathWalks walks_;
  Verified verified_;
  Batch contradictions_;
  std::vector<uint64_t> answers_;
};

}  // namespace mmafuzz
