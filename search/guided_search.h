// A search that proposes cases, observes which features they reach and keeps those that reach something new: the engine
// of `fuzz`, of campaigns and of the mutant bench. Proposing and observing are pure functions of what was learned
// before, so that chunks may run on many threads; learning happens in chunk order, so that a seed decides the whole
// run.
#pragma once

#include "search/datapath_sweeps.h"
#include "search/feedback.h"
#include "search/mutator.h"
#include "search/random_generators.h"
#include "search/relatives.h"
#include "search/structured_generator.h"

namespace mmafuzz {

class GuidedSearch {
 public:
  /// A unit through which cases are looked at; each has its own map, so that one unit's corners do not hide another's.
  struct Focus {
    std::string unit;
    CornerHints hints;
    std::unique_ptr<Feedback> feedback;
    const DotModel* model = nullptr;  ///< of its row; must outlive the search
  };

  /// What one chunk reached, by the focus unit of that chunk.
  struct Observation {
    size_t focus = 0;
    std::vector<std::pair<int, uint32_t>> reached;  ///< feature, hits
    std::vector<std::pair<int, size_t>> kept;       ///< feature, position in `cases`
    Batch cases;
  };

  struct Settings {
    uint64_t earlier =
        0;  ///< cases that searches of the same op proposed before this one: the sweeps go on behind them
    // To measure what each is worth.
    bool sweeps = true, plain = true, sequences = true;
    uint32_t kept_from =
        5;  ///< of 16 kinds of cases beside relatives, those from this one on are mutants of kept cases
    /// One mutant of a kept case in so many is traced, and one in so many of the other cases: a trace costs more than
    /// most units, and a mutant of a kept case reaches something new ten times as often.
    uint32_t look_share = 4, look_share_of_others = 16;
    DotMove left_out = DotMove::none;
  };
  GuidedSearch(const Op& op, std::vector<Focus> focuses, uint64_t seed, const Settings& settings);
  GuidedSearch(const Op& op, std::vector<Focus> focuses, uint64_t seed)
      : GuidedSearch(op, std::move(focuses), seed, Settings{}) {}

  /// The cases of a chunk, which are number first .. first+count-1 of the whole search. The chunk decides the focus
  /// unit.
  void propose(uint64_t chunk, uint64_t first, size_t count, Batch& batch) const;

  /// Looks at a share of a chunk's cases, number `first` and following, through its focus unit; not at sweeps. The
  /// first `warm_up` cases of a search are not looked at: what any case reaches teaches nothing, and most differences
  /// are found before guidance can help.
  Observation observe(uint64_t chunk, uint64_t first, const Batch& batch) const;

  /// Looks at every case of a batch through one focus unit.
  Observation look(size_t focus, const Batch& batch) const;

  /// Takes an observation in; call in chunk order for reproducible runs.
  void learn(const Observation& observation);

  /// Looks at given cases through every focus unit and learns (seeds, another worker's corpus). Returns the number of
  /// cases kept.
  size_t import(const Batch& batch);

  size_t focus_count() const { return focuses_.size(); }
  const std::string& focus_unit(size_t focus) const { return focuses_[focus].unit; }
  const DotModel* focus_model(size_t focus) const { return focuses_[focus].model; }
  const DatapathSweeps& focus_sweeps(size_t focus) const { return *sweeps_[focus]; }
  /// How many cases of its walk a focus unit has seen, its own or of others that share it, after whole rounds of chunks
  /// of that many cases each.
  uint64_t walked(size_t focus, uint64_t cases, uint64_t chunk_cases) const;
  /// Features reached by one focus unit, with their hits.
  uint64_t hits(size_t focus, int feature) const { return known_[focus].hits[static_cast<size_t>(feature)]; }
  const std::vector<int>& features_reached(size_t focus) const { return known_[focus].reached; }
  /// Every kept case of all focus units, in the order in which they were found.
  const Batch& corpus() const { return corpus_; }
  /// The newest feature: focus and feature; {-1, -1} at first.
  std::pair<int, int> newest() const { return newest_; }

 private:
  static constexpr uint64_t warm_up = 1024;     ///< cases
  static constexpr size_t representatives = 4;  ///< cases kept for a feature
  static constexpr uint64_t sweep_share = 2;    ///< one case in this many is the next one of a sweep
  static constexpr int rarest_of = 4;           ///< number of features drawn; the least reached of them is taken
  /// Of so many rounds of chunks one is quiet and one holds sequences.
  static constexpr uint64_t rounds_of_kinds = 16;
  static constexpr size_t sequence_length = 16;
  struct Known {
    std::vector<uint64_t> hits;
    std::vector<int> reached;
    std::vector<std::vector<uint32_t>> cases;  ///< by feature, positions in the corpus
  };
  /// What a unit sees one after the other. Quiet: normal numbers only, as workloads run. Sequence: each case is a
  /// relative of the one before, begun anew every sequence_length cases.
  enum class Round : uint8_t { mixed, quiet, sequence };
  Round round_of(uint64_t chunk) const;
  /// How many focus units share the walk of one, itself among them.
  uint64_t sharers_of(size_t focus) const;
  /// Of so many rounds, those that sweep.
  uint64_t mixed_rounds(uint64_t rounds) const;

  /// Where a case comes from, and what is done to it.
  enum class Origin : uint8_t {
    sweep,
    fresh,
    fresh_moved,
    plain,
    relative,
    kept_moved,
    kept_crossed,
    kept_crossed_moved
  };

  /// Draws for case `number` of the whole search; the first says where it comes from.
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
  std::vector<std::shared_ptr<const DatapathSweeps>> sweeps_;
  std::vector<Known> known_;
  Batch corpus_;
  std::pair<int, int> newest_ = {-1, -1};
};

}  // namespace mmafuzz
