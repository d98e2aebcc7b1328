// A search that proposes cases, observes which features they reach and keeps those that reach something new: the engine
// of `fuzz`, of campaigns and of the mutant bench. Chunk i belongs to focus unit i modulo the number of focus units; a
// *round* is one chunk of each. Proposing and observing are pure functions of what was learned before, so that chunks
// may run on many threads; learning happens in chunk order, so that a seed decides the whole run.
#pragma once

#include "search/datapath_walks.h"
#include "search/feedback.h"
#include "search/mutator.h"
#include "search/random_generators.h"
#include "search/relatives.h"
#include "search/structured_generator.h"

namespace mmafuzz {

class GuidedSearch {
 public:
  /// A focus unit: cases are traced through its arithmetic. Each has its own map of features, so that one unit's
  /// features do not hide another's.
  struct Focus {
    std::string unit;
    CornerHints hints;
    std::unique_ptr<Feedback> feedback;
    const DotModel* model = nullptr;  ///< the unit's row, which must outlive the search; nullptr: it has none
  };

  /// What one chunk reached on the focus unit of that chunk.
  struct Observation {
    size_t focus = 0;
    std::vector<std::pair<int, uint32_t>> reached;  ///< feature, hits
    std::vector<std::pair<int, size_t>> kept;       ///< feature, position in `cases`
    Batch cases;                                    ///< those to keep
  };

  struct Settings {
    uint64_t earlier = 0;  ///< cases that earlier searches of the same op proposed: the walks continue behind them
    // Each is switched off only to measure its worth: walks, plain random cases, sequences and quiet rounds.
    bool walks = true, plain = true, sequences = true;
    uint32_t kept_from = 5;  ///< of kinds 0 to 15, drawn by cases of no walk, those from this one on mutate kept cases
    /// One case in this many is traced: of mutants of kept cases, and of other cases. A trace costs more than most
    /// units, and a mutant of a kept case reaches something new ten times as often.
    uint32_t trace_share_of_mutants = 4, trace_share_of_others = 16;
    DotMove left_out = DotMove::none;  ///< the mutator's move that is left out
  };
  GuidedSearch(const Op& op, std::vector<Focus> focuses, uint64_t seed, const Settings& settings);
  GuidedSearch(const Op& op, std::vector<Focus> focuses, uint64_t seed)
      : GuidedSearch(op, std::move(focuses), seed, Settings{}) {}

  /// Writes the cases of chunk number `chunk`, which have the numbers first .. first+count-1 in the whole search. All
  /// chunks of a search but the last have the same count.
  void propose(uint64_t chunk, uint64_t first, size_t count, Batch& batch) const;

  /// Traces a share of a chunk's cases, numbers `first` and following, through the chunk's focus unit; none of walks or
  /// quiet rounds. The first `warm_up` cases of a search are not traced: what any case reaches teaches nothing, and
  /// most differences are found before guidance can help.
  Observation observe(uint64_t chunk, uint64_t first, const Batch& batch) const;

  /// Traces every case of a batch through one focus unit.
  Observation look(size_t focus, const Batch& batch) const;

  /// Adds an observation to what the search has learned. In ascending order of chunks, runs are reproducible.
  void learn(const Observation& observation);

  /// Traces given cases (seeds, another worker's corpus) through every focus unit and learns. Returns the number of
  /// cases kept, counted once for each focus unit that keeps it.
  size_t import(const Batch& batch);

  size_t focus_count() const { return focuses_.size(); }
  const std::string& focus_unit(size_t focus) const { return focuses_[focus].unit; }
  const DotModel* focus_model(size_t focus) const { return focuses_[focus].model; }
  const DatapathWalks& focus_walks(size_t focus) const { return *walks_[focus]; }
  /// How many cases of a focus unit's walk have been proposed after `cases` cases in chunks of `chunk_cases`, to this
  /// focus unit or to others that share the walk. A round that is not whole counts nothing.
  uint64_t walked(size_t focus, uint64_t cases, uint64_t chunk_cases) const;
  /// How often a focus unit has reached a feature, as far as its cases were traced.
  uint64_t hits(size_t focus, int feature) const { return known_[focus].hits[static_cast<size_t>(feature)]; }
  const std::vector<int>& features_reached(size_t focus) const { return known_[focus].reached; }
  /// Every kept case of all focus units, in the order in which they were found.
  const Batch& corpus() const { return corpus_; }
  /// The feature that was reached last for the first time: focus unit, feature; {-1, -1} before any.
  std::pair<int, int> newest() const { return newest_; }

 private:
  static constexpr uint64_t warm_up = 1024;     ///< cases
  static constexpr size_t representatives = 4;  ///< cases kept for a feature, at most
  static constexpr uint64_t walk_share = 2;     ///< one case in this many is the next one of a walk
  static constexpr int drawn_features = 4;      ///< for each kept case; the least reached of them decides
  /// One round in this many is quiet, and one holds sequences.
  static constexpr uint64_t rounds_of_kinds = 16;
  static constexpr size_t sequence_length = 16;  ///< cases
  struct Known {
    std::vector<uint64_t> hits;                ///< by feature
    std::vector<int> reached;                  ///< features, in the order in which they were reached
    std::vector<std::vector<uint32_t>> cases;  ///< by feature: positions in corpus_
  };
  /// What the chunks of a round hold. Quiet: normal numbers only, as workloads run. Sequence: each case is a relative
  /// of the case before (search/relatives.h), begun anew every sequence_length cases. Mixed: all else.
  enum class Round : uint8_t { mixed, quiet, sequence };
  Round round_of(uint64_t chunk) const;
  /// How many focus units share the walk of `focus`, which counts as one of them.
  uint64_t sharers_of(size_t focus) const;
  /// How many of the first `rounds` rounds are mixed: only these contain cases of walks.
  uint64_t mixed_rounds(uint64_t rounds) const;

  /// Where a case comes from, and what is done to it. walk: the next case of the walk. fresh: the structured
  /// generator's. plain: random. kept: of the corpus. moved: mutated. crossed: with another kept case.
  enum class Origin : uint8_t {
    walk,
    fresh,
    fresh_moved,
    plain,
    relative,
    kept_moved,
    kept_crossed,
    kept_crossed_moved
  };

  /// The random draws for case `number` of the whole search, other ones than the generators'; origin() takes the first.
  CounterRng draws_of(uint64_t number) const { return {seed_ ^ 0x6d6d6166757a7a01u, number}; }
  Origin origin(uint64_t chunk, size_t index, CounterRng& rng) const;
  void fill_quietly(uint64_t first, size_t count, Batch& batch) const;
  size_t pick(const Known& known, CounterRng& rng) const;

  Op op_;
  uint64_t seed_;
  Settings settings_;
  StructuredGenerator generator_;
  RandomGenerator plain_, quiet_;
  std::vector<Focus> focuses_;
  std::vector<Mutator> mutators_;
  std::vector<Relatives> relatives_;
  std::vector<std::shared_ptr<const DatapathWalks>> walks_;
  std::vector<Known> known_;
  Batch corpus_;
  std::pair<int, int> newest_ = {-1, -1};
};

}  // namespace mmafuzz
