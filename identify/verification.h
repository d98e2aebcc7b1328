// Holds a hypothesis against a black box on many cases: a guided search through the hypothesis, then the sweeps of its
// datapath (search/datapath_sweeps.h), so that what is said of the cases is more than their number.
#pragma once

#include "identify/asker.h"
#include "search/datapath_sweeps.h"

namespace mmafuzz {

/// What a hypothesis held on.
struct Verified {
  /// A sweep as far as it was walked.
  struct Sweep {
    std::string name;
    /// Cases, as in DatapathSweeps::Part; `walked` beyond the length where it was walked more than once.
    uint64_t walked = 0, pass = 0, length = 0;
  };
  /// Of the guided search and the sweeps, that the unit answered. Known cases that come again now and then are not
  /// counted.
  uint64_t cases = 0;
  uint64_t guided = 0;  ///< of these, the guided search's
  std::vector<Sweep> sweeps;
};

class Verification {
 public:
  /// Without a model the corners are typical ones. `asked`: cases whose answers are known come again now and then,
  /// since a unit with a memory answers them in another way.
  Verification(const Unit& hypothesis, const DotModel* model, const Evidence& asked, Asker& asker, uint64_t seed);

  enum class Result {
    held,     ///< until the cases or the time ended
    differs,  ///< contradictions() and their answers
    stopped,  ///< by the asker
  };
  Result run(uint64_t cases);

  const Verified& verified() const { return verified_; }
  const Batch& contradictions() const { return contradictions_; }
  const std::vector<uint64_t>& answers() const { return answers_; }

 private:
  Result guided_search(uint64_t cases);
  Result walk(uint64_t cases);
  /// The next cases of one sweep.
  Result walk_part(size_t part, uint64_t count);
  Result compare(Batch& batch);
  size_t next_size();

  const Unit& hypothesis_;
  const DotModel* model_;
  const Evidence& asked_;
  Asker& asker_;
  uint64_t seed_;
  size_t size_ = 0;  ///< of the last batch
  DatapathSweeps sweeps_;
  Verified verified_;
  Batch contradictions_;
  std::vector<uint64_t> answers_;
};

}  // namespace mmafuzz
