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

class Campaign {
 public:
  /// `folder` exists and no other process uses it; `progress` is what an earlier run left there. Facts in `knowledge`
  /// or `seen_before` are not new. `verbose`: also reports findings that are no contract divergences or crashes.
  /// `lines_to_stderr`: reports there instead of on standard output.
  Campaign(CampaignSettings settings, Plan plan, std::string folder, CampaignProgress progress, Knowledge knowledge,
           std::set<std::string> seen_before, bool verbose, bool lines_to_stderr);

  /// Makes the campaign a shard of the one in folder `out`; `lease` is its right to its own folder. Call before run().
  void share(const std::string& out, const Shard& shard, std::unique_ptr<ShardLease> lease);

  /// Runs to the end of the time or of the cases, to --stop-on, SIGINT, SIGTERM or SIGHUP. No worker is left then.
  void run();

  /// Whether a signal ended the run, or another process took over its shard.
  bool was_stopped() const { return signals_ > 0 || lost_; }

  const CampaignProgress& progress() const { return progress_; }
  const CampaignFindings& findings() const { return findings_; }
  const Plan& plan() const { return plan_; }

 private:
  struct Running {
    size_t share;  ///< position in plan_.assignments, and in shares_
    WorkerRun run;
    std::string command;
    Process process;
    double started, deadline;                 ///< by elapsed()
    bool stopping = false;                    ///< was asked to end
    WorkerStatus status = {}, measured = {};  ///< the newest, and the one up to which its rates were measured
    double cases_per_second = 0, inputs_per_second = 0;  ///< in the last interval in which it worked
  };
  /// The state of an assignment that is not kept in progress_: its workers, those in a row that died at once, and
  /// whether it is left out.
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
  size_t next_ = 0;  ///< position of the next assignment in turn
  double start_, base_elapsed_;
  bool stop_ = false;
  std::map<std::string, ReachedBins> reached_;  ///< by Assignment::field(): bins that its workers have reached together
  int signals_ = 0;
  std::unique_ptr<ShardLease> lease_;  ///< of a shard
  std::optional<Exchange> exchange_;   ///< of a shard
  double next_exchange_ = 0;
  bool exchange_fails_ = false, lost_ = false;  ///< lost_: another process owns the shard
  std::string newest_bin_, newest_where_;
  double newest_at_ = 0;
  double cases_per_second_ = 0;  ///< of all workers together, when any of them last worked
};

}  // namespace mmafuzz
