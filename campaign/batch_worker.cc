#include "campaign/batch_worker.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include "campaign/corpus.h"
#include "core/case_text.h"
#include "core/divergence_log.h"
#include "core/replace_file.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "plan/targets.h"
#include "search/coverage.h"
#include "search/focuses.h"
#include "search/reached_bins.h"

namespace mmafuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t chunk_cases = 1024;
constexpr double status_interval = 0.5, import_interval = 2;  ///< seconds
constexpr uint64_t property_share = 8;                        ///< one chunk in this many is checked for properties

volatile std::sig_atomic_t stop_requested = 0;

class BatchWorker {
 public:
  explicit BatchWorker(const WorkerOptions& options)
      : options_(options),
        target_(target_named(options.target)),
        op_(op_from_text(options.op)),
        comparison_(op_, units_of(target_, options.units, op_), registry(), properties_of(target_)),
        guided_(op_, focuses_of(comparison_), options.seed, {.earlier = options.walked_before}),
        log_(options.segment),
        corpus_(options.corpus, op_, options.writes_files) {
    for (size_t focus = 0; focus < guided_.focus_count(); ++focus) {
      const auto& units = comparison_.units();
      const auto found = std::find_if(units.begin(), units.end(),
                                      [&](const auto& unit) { return unit->name() == guided_.focus_unit(focus); });
      focus_units_.push_back(found == units.end() ? 0 : static_cast<size_t>(found - units.begin()));
    }
  }

  void run() {
    import();
    write_status();
    double next_status = status_interval, next_import = import_interval;
    Batch batch;
    for (uint64_t chunk = 0; !stop_requested && (options_.cases == 0 || cases_ < options_.cases); ++chunk) {
      search(chunk, batch);
      const double now = seconds();
      if (options_.seconds > 0 && now >= options_.seconds) break;
      if (now >= next_status) {
        write_status();
        next_status = now + status_interval;
      }
      if (!options_.is_alone && now >= next_import) {
        import();
        next_import = seconds() + import_interval;
      }
    }
    is_done_ = true;
    write_status();
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  void search(uint64_t chunk, Batch& batch) {
    const uint64_t count = options_.cases ? std::min<uint64_t>(chunk_cases, options_.cases - cases_) : chunk_cases;
    guided_.propose(chunk, cases_, static_cast<size_t>(count), batch);
    const GuidedSearch::Observation observation = guided_.observe(chunk, cases_, batch);
    check(batch, focus_units_[observation.focus], chunk);
    export_new(observation);
    guided_.learn(observation);
    cases_ += batch.size();
  }

  void check(const Batch& batch, size_t unit, uint64_t chunk) {
    const auto report = [&](Divergence d, uint64_t count) {
      comparison_.confirm(d);
      log_.add(d, count);
    };
    if (target_.compares_units()) {
      comparison_.run(batch, outcomes_, chunk);
      comparison_.examine_focus(batch, outcomes_, unit, chunk, seen_classes_, report);
      if (chunk % property_share == 0) check_properties(batch, unit, chunk, report);
    } else {
      // Every second round of chunks checks all units in turn, because a unit without a model is never the focus unit.
      const uint64_t focuses = guided_.focus_count(), round = chunk / focuses;
      const uint64_t turn = (round / 2 * focuses + chunk % focuses) % comparison_.units().size();
      check_properties(batch, round % 2 ? static_cast<size_t>(turn) : unit, round, report);
      for (size_t own = 0; chunk == 0 && own < comparison_.units().size(); ++own)  // a short search asks these, too
        if (own != unit && comparison_.units()[own]->role() == Role::plugin)
          check_properties(batch, own, round, report);
      if (target_.checks_claims(batch.op())) comparison_.examine_contracts(batch, chunk, seen_classes_, report);
    }
  }

  void check_properties(const Batch& batch, size_t unit, uint64_t round, const ReportDivergence& report) {
    if (comparison_.properties_of(unit).empty()) return;
    const Outcomes base = comparison_.units()[unit]->outcomes_of(batch);
    seen_classes_.answers[comparison_.units()[unit]->name()].add(base);
    comparison_.examine_properties(batch, base, unit, round, report);
  }

  /// Writes the first case of each feature to the shared corpus. Further cases of a feature stay in this process.
  void export_new(const GuidedSearch::Observation& observation) {
    for (const auto& [feature, index] : observation.kept)
      if (guided_.hits(observation.focus, feature) == 0) corpus_.add(observation.cases, index, observation.focus);
  }

  void import() {
    const Batch all = corpus_.read_new();
    for (size_t first = 0; first < all.size(); first += chunk_cases)
      guided_.import(all.part(first, std::min<size_t>(chunk_cases, all.size() - first)));
  }

  void write_status() {
    corpus_.flush();
    ReachedBins reached(guided_.focus_count());
    for (size_t focus = 0; focus < guided_.focus_count(); ++focus)
      for (const int feature : guided_.features_reached(focus))
        if (feature < bins::count) reached.add(focus, feature);  // others are features of a unit's own
    replace_file(options_.status + ".bins", reached.bytes());
    const auto [focus, feature] = guided_.newest();
    replace_file(
        options_.status,
        fmt::format("seconds {:.3f}\ninputs 0\ncases {}\nbins {}\ndivergences {}\ndone {:d}\n{}newest {}\n", seconds(),
                    cases_, reached.count(), log_.key_count(), is_done_, to_text(seen_classes_.answers),
                    feature < 0             ? ""
                    : feature < bins::count ? bin_name(feature)
                                            : "a feature of " + guided_.focus_unit(static_cast<size_t>(focus))));
  }

  const WorkerOptions& options_;
  const FuzzTarget& target_;
  Op op_;
  Comparison comparison_;
  GuidedSearch guided_;
  DivergenceLog log_;
  SharedCorpus corpus_;
  std::vector<size_t> focus_units_;  ///< by focus unit: position in comparison_.units(); 0 for a focus without a unit
  std::vector<Outcomes> outcomes_;
  SeenClasses seen_classes_;
  uint64_t cases_ = 0;
  bool is_done_ = false;  ///< the search has ended
  Clock::time_point start_ = Clock::now();
};

}  // namespace

void run_batch_worker(const WorkerOptions& options) {
  for (const int number : {SIGTERM, SIGINT}) std::signal(number, [](int) { stop_requested = 1; });
  BatchWorker(options).run();
}

}  // namespace mmafuzz
