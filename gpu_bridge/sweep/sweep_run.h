// A sweep from its first epoch to its last: it chooses the parents and runs divergent dots again. Its findings depend
// on seed and number of dots alone, unless reproduce_until() sets a time.
#pragma once

#include <chrono>
#include <functional>

#include "core/unit.h"
#include "gpu_bridge/sweep/host_sweep.h"
#include "gpu_bridge/instructions/instructions.h"

namespace mmafuzz {

/// Runs the tiles on the device as they are and writes their d.
using RunTiles = std::function<void(TileBuffers& tiles)>;

/// A text that says what the differing dots of a tile have in common: a wrong bit of a lane, exchanged rows or columns,
/// the accumulator of the tile before. This distinguishes errors of placement and memory from different arithmetic.
/// `tiles` holds two tiles, the second of which is diagnosed; `run` runs both. The first one's number is
/// request.first_tile. Empty: the dots differ again, but no explanation covers all of them.
std::string diagnose_tile(const SweepRequest& request, TileBuffers& tiles, const RunTiles& run);

/// A dot on which unit and model differ when the dots of its tile run again as cases of the unit.
struct SweepDivergence {
  uint64_t number;         ///< of the dot in the sweep
  SweepDot dot;            ///< its operands
  uint64_t expected, got;  ///< encodings of the model's and the unit's result
};

class SweepRun {
 public:
  /// Runs the epoch of a request near these parents.
  using Engine = std::function<SweepAnswer(const SweepRequest&, const std::vector<SweepDot>&)>;

  /// `first` holds everything of the requests but tiles and parents. `unit` computes what `engine` does and runs
  /// divergent dots again; it must outlive the sweep. The lengths of the first and the longest epoch are in tiles.
  SweepRun(const SweepRequest& first, const Op& op, const Unit& unit, Engine engine, uint64_t first_epoch,
           uint64_t greatest_epoch);

  /// Makes the sweep diagnose the first divergent tiles.
  void diagnose_with(RunTiles run) { run_tiles_ = std::move(run); }
  /// After the deadline only the first always_reproduced divergent tiles run again; dots of the others count as neither
  /// stable nor unstable.
  static constexpr size_t always_reproduced = 4;
  void reproduce_until(std::chrono::steady_clock::time_point deadline) { reproduce_until_ = deadline; }
  /// The texts of diagnose_tile, each once.
  const std::vector<std::string>& diagnoses() const { return diagnoses_; }

  /// Runs the next epoch, of at most `greatest` tiles. Epochs double in length up to the longest. Throws Contradiction
  /// where a trace contradicts itself.
  void epoch(uint64_t greatest);

  uint64_t dots() const { return next_tile_ * static_cast<uint64_t>(request_.shape.cells()); }
  /// Number of operand vectors (rows and columns) drawn so far; the dots of a tile share them.
  uint64_t vectors() const {
    return next_tile_ * static_cast<uint64_t>(request_.shape.rows() + request_.shape.columns());
  }
  /// Seconds of all epochs, by SweepAnswer::seconds.
  double seconds() const { return seconds_; }
  /// Number of different bins that traced dots reached.
  size_t bins() const { return seen_bins_; }
  uint64_t divergent_dots() const { return divergent_dots_; }
  /// Number of dots of the divergent tiles that differed in the sweep but not when run again, or the other way round.
  uint64_t unstable_dots() const { return unstable_dots_; }
  /// The operands of the first greatest_unstable of them.
  const std::vector<SweepDot>& unstable() const { return unstable_; }
  static constexpr size_t greatest_unstable = 100;
  /// Number of dots of the divergent tiles without an answer when run again: the device was lost.
  uint64_t unanswered_dots() const { return unanswered_dots_; }
  /// The first greatest_tiles divergent tiles.
  const std::vector<DivergentTile>& tiles() const { return tiles_; }
  static constexpr size_t greatest_tiles = 64;
  /// The first greatest_kept dots that differed when run again.
  const std::vector<SweepDivergence>& divergences() const { return divergences_; }
  static constexpr size_t greatest_kept = 1000;
  /// Writes the dot's operands as case `index` of a batch of the op.
  void put(const SweepDot& dot, Batch& batch, size_t index) const;

 private:
  void learn(const SweepRequest& request, const SweepAnswer& answer);
  void reproduce(const SweepRequest& request, const DivergentTile& tile);
  void diagnose(const SweepRequest& whole, uint64_t tile);
  [[noreturn]] void report_contradiction(const SweepRequest& request, uint64_t number) const;

  SweepRequest request_;
  Op op_;
  const Unit& unit_;
  Engine engine_;
  RunTiles run_tiles_;
  std::chrono::steady_clock::time_point reproduce_until_ = std::chrono::steady_clock::time_point::max();
  std::vector<std::string> diagnoses_;
  uint64_t next_tile_ = 0, epoch_, greatest_epoch_;
  std::vector<SweepDot> parents_, parents_before_epoch_;
  std::vector<bool> seen_;
  size_t seen_bins_ = 0;
  double seconds_ = 0;
  uint64_t divergent_dots_ = 0, unstable_dots_ = 0, unanswered_dots_ = 0;
  std::vector<DivergentTile> tiles_;
  std::vector<SweepDot> unstable_;
  std::vector<SweepDivergence> divergences_;
};

/// The tile shape of a sweep of this op on the host: that of an mma.sync instruction with the op, or else 16 x 8 with
/// fields as wide as the formats' containers.
TileShape host_sweep_shape(const Op& op);

}  // namespace mmafuzz
