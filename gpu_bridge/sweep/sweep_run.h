// A sweep from its first epoch to its last: which dots become parents, which divergences are real. Depends on seed and
// number of dots alone.
#pragma once

#include <chrono>
#include <functional>

#include "core/unit.h"
#include "gpu_bridge/sweep/host_sweep.h"
#include "gpu_bridge/instructions/instructions.h"

namespace mmafuzz {

/// Runs the tiles unchanged and writes their d.
using RunTiles = std::function<void(TileBuffers& tiles)>;

/// Says in words what the differing dots of a tile have in common: a bit of a lane, exchanged rows or columns, an
/// accumulator of the tile before. This separates errors of placement and memory from different arithmetic. Runs tiles
/// `tile - 1` and `tile` (from 1 on) as they lie in the sweep. `tiles` holds the operands of both, the first having
/// number request.first_tile. Empty: the dots differ, but nothing that is known here explains all of them.
std::string diagnose_tile(const SweepRequest& request, TileBuffers& tiles, const RunTiles& run);

/// A dot on which unit and model differ, seen again one by one.
struct SweepDivergence {
  uint64_t number;  ///< of the dot in the sweep
  SweepParent dot;
  uint64_t expected, got;
};

class SweepRun {
 public:
  using Engine = std::function<SweepAnswer(const SweepRequest&, const std::vector<SweepParent>&)>;

  /// `first` holds model, shape, instruction, modifiers and seed; `unit` is what engine runs, for one-by-one
  /// reproduction.
  SweepRun(const SweepRequest& first, const Op& op, const Unit& unit, Engine engine, uint64_t first_epoch,
           uint64_t greatest_epoch);

  /// Makes the sweep run the first divergent tiles again, unchanged, and diagnose them.
  void diagnose_with(RunTiles run) { run_tiles_ = std::move(run); }
  /// After the deadline only the first few divergent tiles run again; the others count as neither stable nor unstable.
  static constexpr size_t always_reproduced = 4;
  void reproduce_until(std::chrono::steady_clock::time_point deadline) { reproduce_until_ = deadline; }
  /// What was found, each once.
  const std::vector<std::string>& diagnoses() const { return diagnoses_; }

  /// Runs the next epoch, of at most `greatest` tiles. Throws Contradiction where a trace contradicts itself.
  void epoch(uint64_t greatest);

  uint64_t dots() const { return next_tile_ * static_cast<uint64_t>(request_.shape.cells()); }
  /// Independent operand vectors (rows and columns) drawn so far; dots share them across a tile.
  uint64_t vectors() const {
    return next_tile_ * static_cast<uint64_t>(request_.shape.rows() + request_.shape.columns());
  }
  double seconds() const { return seconds_; }
  size_t bins() const { return seen_bins_; }
  uint64_t divergent_dots() const { return divergent_dots_; }
  /// Dots of the divergent tiles that differed in the sweep but not when run again, or the other way round.
  uint64_t unstable_dots() const { return unstable_dots_; }
  /// The first greatest_unstable of them.
  const std::vector<SweepParent>& unstable() const { return unstable_; }
  static constexpr size_t greatest_unstable = 100;
  /// Dots of the divergent tiles that were not answered when run again: the device was lost.
  uint64_t unanswered_dots() const { return unanswered_dots_; }
  /// The divergent tiles, the first greatest_tiles of them.
  const std::vector<DivergentTile>& tiles() const { return tiles_; }
  static constexpr size_t greatest_tiles = 64;
  /// The first greatest_kept reproduced ones.
  const std::vector<SweepDivergence>& divergences() const { return divergences_; }
  static constexpr size_t greatest_kept = 1000;
  /// A case with the dot's operands.
  void put(const SweepParent& dot, Batch& batch, size_t index) const;

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
  std::vector<SweepParent> parents_, parents_before_epoch_;
  std::vector<bool> seen_;
  size_t seen_bins_ = 0;
  double seconds_ = 0;
  uint64_t divergent_dots_ = 0, unstable_dots_ = 0, unanswered_dots_ = 0;
  std::vector<DivergentTile> tiles_;
  std::vector<SweepParent> unstable_;
  std::vector<SweepDivergence> divergences_;
};

/// The tile shape in which a sweep on the host puts an op: an instruction's, or 16 x 8 with fields as wide as the
/// formats' containers.
TileShape host_sweep_shape(const Op& op);

}  // namespace mmafuzz
