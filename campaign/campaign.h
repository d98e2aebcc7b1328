// The campaign itself: runs workers on assignments until its time is over, reports findings as they come, and can be
// resumed. An *assignment* is one target on one op by one engine (campaign/plan.h); a worker runs it for a *slice* of
// time. Assignments of one target and op are a *field*: they share a corpus.
#pragma once

#include <list>
#include <memory>
#include <optional>

#include "search/reached_bins.h"
#include "campaign/engines.h"
#include "campaign/findings.h"
#include "campaign/live_facts.h"
#include "campaign/exchange.h"
#include "campaign/panel.h"
#include "campaign/shard.h"

namespace mmafuzz {

/// Which findings a campaign reports as they come, and where.
struct CampaignReports {
  bool has_all = false;    ///< also those that are no contract divergences or crashes
  bool to_stderr = false;  ///< on standard error, not on standard output
};

class Campaign {
 public:
  /// `folder` exists and no other process uses it; `progress` is what an earlier run left there. Facts in `knowledge`
  /// or `seen_before` are not new.
  Campaign(CampaignSettings settings, Plan plan, std::string folder, CampaignProgress progress, Knowledge knowledge,
           std::set<std::string> seen_before, CampaignReports reports);

  /// Makes the campaign a shard of the one in folder `out`; `lease` is its right to its own folder. Call before run().
  void become_shard(const std::string& out, const Shard& shard, std::unique_ptr<ShardLease> lease);

  /// Runs to the end of the time or of the cases, to --stop-on, SIGINT, SIGTERM or SIGHUP. No worker is left then.
  void run();

  /// Whether a signal ended the run, or another process took over its shard.
  bool was_stopped() const { return signals_ > 0 || is_shard_lost_; }

  const CampaignProgress& progress() const { return progress_; }
  const CampaignFindings& findings() const { return findings_; }
  const Plan& plan() const { return plan_; }

 private:
  struct Worker {
    size_t assignment;  ///< position in plan_.assignments, and in states_
    WorkerRun run;
    std::string command;
    Process process;
    double started, deadline;  ///< by elapsed()
    bool was_asked_to_end = false;
    WorkerStatus status = {};                            ///< the newest
    WorkerStatus rates_status = {};                      ///< the one up to which its rates were measured
    double cases_per_second = 0, inputs_per_second = 0;  ///< in the last interval in which it worked
  };
  /// The state of an assignment that is not kept in progress_.
  struct AssignmentState {
    unsigned workers = 0, early_deaths = 0;  ///< those that run; those in a row that died at once
    bool is_left_out = false;
  };

  double elapsed() const;
  bool is_over() const;
  bool may_start_worker(size_t assignment) const;
  void fill_slots();
  /// `position`: of the assignment. `seconds`: 0: no bound but that of the campaign.
  void start_worker(size_t position, double seconds);
  void reap();
  void book_end(Worker& worker, const ProcessEnd& end);
  static void add_work(CampaignProgress& progress, const Worker& worker);
  void end_overdue();
  void read_findings();
  void report(const CampaignFindings::Entry& entry);
  static void measure_rates(Worker& worker, const WorkerStatus& status);
  void read_status_of(Worker& worker);
  void begin_fields();
  void exchange();
  void show_life();
  void stop_all();
  void wait(double seconds);
  void append_sample() const;
  CampaignView view() const;
  CampaignProgress snapshot() const;

  CampaignSettings settings_;
  Plan plan_;
  std::string folder_;
  CampaignProgress progress_;
  CampaignReports reports_;
  CampaignFindings findings_;
  LiveFacts facts_;
  CampaignPanel panel_;
  std::vector<AssignmentState> states_;  ///< by position in plan_.assignments
  std::list<Worker> workers_;
  size_t next_assignment_ = 0;       ///< position of the next one in turn
  double started_, elapsed_before_;  ///< now() of the start; seconds that earlier runs of the campaign took
  bool must_stop_ = false;
  std::map<std::string, ReachedBins> reached_;  ///< by Assignment::field(): bins that its workers have reached together
  int signals_ = 0;
  std::unique_ptr<ShardLease> lease_;  ///< of a shard
  std::optional<Exchange> exchange_;   ///< of a shard
  double next_exchange_ = 0;
  bool exchange_fails_ = false;
  bool is_shard_lost_ = false;  ///< another process owns the shard
  std::string newest_bin_, newest_where_;
  double newest_at_ = 0;
  double cases_per_second_ = 0;  ///< of all workers together, when any of them last worked
};

}  // namespace mmafuzz
