// A target over numbers, as its row in plan/targets.def.h describes it. It decodes an input to a case and derives
// neighbours (copies with one thing changed), traces some of them through the focus unit (the one that the input's
// header selects), runs the row's checks, and reports divergences.
#pragma once

#include <optional>
#include <set>

#include "fuzz_targets/status_file.h"
#include "fuzz_targets/target.h"
#include "core/divergence_log.h"
#include "plan/targets.h"
#include "search/byte_codec.h"
#include "search/comparison.h"
#include "search/coverage.h"
#include "search/datapath_walks.h"
#include "search/mutator.h"
#include "search/reached_bins.h"

namespace mmafuzz {

/// One op of a target, with its units, coverage and buffers.
struct Field {
  struct Focus {
    size_t unit;  ///< index in comparison.units()
    Coverage coverage;
    Mutator mutator;
    std::shared_ptr<const DatapathWalks> walks;
  };
  Field(const Op& op, const std::vector<std::string>& units, const Registry& registry,
        const Comparison::Properties& properties);

  Comparison comparison;
  size_t cases;                ///< number of cases of one input: its own, then neighbours
  std::vector<Focus> focuses;  ///< at least one
  ReachedBins reached;
  SeenClasses seen;
  uint64_t compared_batches = 0;
  /// Selects the units that run in one of many rounds only. All run in round 0, as for cases of a file.
  uint64_t round = 0;
  /// Selects the properties that are checked in turns; nullopt, for cases of a file: all are checked.
  std::optional<uint64_t> turn;
  // Reused from input to input.
  Batch batch;
  std::vector<Outcomes> outcomes;
};

class NumberTarget final : public Target {
 public:
  NumberTarget(const TargetOptions& options, const FuzzTarget& row);

  void run(const uint8_t* data, size_t size) override;
  size_t replay_cases(const std::string& path) override;
  std::vector<std::vector<uint8_t>> encode_cases(const std::string& path) override;
  std::string decode_input(const uint8_t* data, size_t size) override;
  size_t mutate(uint8_t* data, size_t size, size_t max_size, uint64_t seed) override;
  size_t cross(const uint8_t* first, size_t first_size, const uint8_t* second, size_t second_size, uint8_t* out,
               size_t max_size, uint64_t seed) override;
  size_t divergences() const override { return buckets_; }
  void finish() override;

 private:
  /// Sets `header`, and the first case of the field's batch to the input's; returns the field of its op.
  Field& load(const uint8_t* data, size_t size, EngineInput& header);
  void look(Field& field, size_t focus);
  /// The checks on field.batch. compare() needs the outcomes of all units in field.outcomes.
  void compare(Field& field, size_t focus);
  void relate(Field& field, size_t focus);
  void report(Divergence divergence, uint64_t count);
  void write_status();
  Field& field_of(const Op& op);

  TargetOptions options_;
  const FuzzTarget& row_;
  Comparison::Properties properties_;
  std::vector<std::unique_ptr<Field>> fields_;  ///< of the ops that inputs select, by number
  std::vector<std::unique_ptr<Field>> others_;  ///< of ops that occur only in replayed files
  std::unique_ptr<DivergenceLog> log_;
  std::set<std::string> printed_;
  uint64_t inputs_ = 0, cases_ = 0;
  size_t buckets_ = 0;
  StatusFile status_;
  std::string newest_bin_;
};

}  // namespace mmafuzz
