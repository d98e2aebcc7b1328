// The campaign itself: workers over assignments until the time is over, findings told as they come, all of it
// resumable.
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

class Campaign {
 public:
  /// `folder` exists and is this process's alone; progress is what an earlier run left there. What is
  /// in `knowledge` or `seen_before` is no new fact.
  Campaign(CampaignSettings settings, Plan plan, std::string folder, CampaignProgress progress, Knowledge knowledge,
           std::set<std::string> seen_before, bool verbose, bool lines_to_stderr);

  /// Makes it a shard of the campaign in the folder above: `lease` is its right to the folder.
  void share(const std::string& out, const Shard& shard, std::unique_ptr<ShardLease> lease);

  /// Runs to the end of the time, of the cases, to --stop-on, or to SIGINT, SIGTERM or SIGHUP; no worker is left when
  /// it returns.
  void run();

  /// Whether a signal ended it, or another process that took its shard over.
  bool was_stopped() const { return signals_ > 0 || lost_; }

  const CampaignProgress& progress() const { return progress_; }
  const CampaignFindings& findings() const { return findings_; }
  const Plan& plan() const { return plan_; }

 private:
  struct Running {
    size_t share;  ///< of plan_.assignments
    WorkerRun run;
    std::string command;
    Process process;
    double started, deadline;  ///< elapsed seconds
    bool stopping = false;
    WorkerStatus status = {}, measured = {};             ///< the newest, and where its rates end
    double cases_per_second = 0, inputs_per_second = 0;  ///< in its last interval that worked
  };
  /// What this run, unlike progress_, knows of an assignment.
  struct Share {
    unsigned running = 0, early_deaths = 0;
    bool set_aside = false;
  };

  double elapsed() const;
  bool over() const;
  bool open(size_t share) const;
  void fill_slots();
  void start(size_t share, double seconds);
  void reap();
  void ended(Running& worker, const ProcessEnd& end);
  static void add_worker(CampaignProgress& to, const Running& worker);
  void end_overdue();
  void follow();
  void tell(const CampaignFindings::Entry& entry);
  static void measure(Running& worker, const WorkerStatus& status);
  void note_bins(Running& worker);
  void begin_fields();
  void exchange();
  void show_life();
  void stop_all();
  void wait(double seconds);
  void sample() const;
  CampaignView view() const;
  CampaignProgress snapshot() const;

  CampaignSettings settings_;
  Plan plan_;
  std::string folder_;
  CampaignProgress progress_;
  bool verbose_, lines_to_stderr_;
  CampaignFindings findings_;
  LiveFacts facts_;
  CampaignPanel panel_;
  std::vector<Share> shares_;
  std::list<Running> workers_;
  size_t next_ = 0;  ///< of the rotation
  double start_, base_elapsed_;
  bool stop_ = false;
  std::map<std::string, ReachedBins> reached_;  ///< by Assignment::field(): the union of its workers'
  int signals_ = 0;
  std::unique_ptr<ShardLease> lease_;  ///< of a shard
  std::optional<Exchange> exchange_;   ///< of a shard
  double next_exchange_ = 0;
  bool exchange_fails_ = false, lost_ = false;
  std::string newest_bin_, newest_where_;
  double newest_at_ = 0;
  double cases_per_second_ = 0;  ///< of all workers, when some last worked
};

}  // namespace mmafuzz
