#include "campaign/campaign.h"

#include <fmt/core.h>

#include "campaign/corpus.h"
#include "core/fnv1a.h"
#include "core/replace_file.h"
#include "plan/corpus_folder.h"
#include "plan/registry.h"
#include "search/byte_codec.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

constexpr double step_seconds = 0.1, look_interval = 0.5, save_interval = 2;  ///< seconds between turns of run()
constexpr double cause_seconds = 0.05;         ///< seconds at each look for the causes of new findings
constexpr double least_interval = 0.25;        ///< seconds over which a rate is measured, at least
constexpr double least_first_interval = 1e-3;  ///< the same for a worker's first rate, so that one is shown soon
constexpr double least_run = 0.5;              ///< seconds; with less time left no worker is started
constexpr double grace_seconds = 5;            ///< seconds between asking a worker to end and killing it
constexpr double early_death = 2;              ///< seconds; a worker that dies sooner did not begin to work
constexpr unsigned max_early_deaths = 5;       ///< in a row, until its assignment is left out

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

uint64_t seed_for(uint64_t seed, const std::string& id, uint64_t slice, unsigned shard) {
  return fnv1a(id + "#" + std::to_string(slice), fnv1a_start ^ seed ^ uint64_t{shard} << 40);
}

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, number);
  return set;
}

/// Whether a worker was killed from outside, by the out-of-memory killer for example: that is no finding. libFuzzer
/// turns an interrupt into an exit code of its own.
bool killed_from_outside(const ProcessEnd& end) {
  constexpr int interrupted_libfuzzer = 72;
  return end.was_signaled ? end.code == SIGKILL || end.code == SIGTERM || end.code == SIGINT || end.code == SIGHUP
                          : end.code == interrupted_libfuzzer;
}

/// All earlier segments have the same beginning, because the workers did the same: the longest contains the others.
void take_over_segments(const WorkerRun& run) {
  const fs::path segment = run.segment();
  std::vector<fs::path> earlier;
  for (const fs::directory_entry& entry : fs::directory_iterator(segment.parent_path()))
    if (entry.path().extension() == ".cases" && entry.path().filename().string().starts_with(run.id + "."))
      earlier.push_back(entry);
  if (earlier.empty() || fs::exists(segment)) return;
  const auto is_shorter = [](const fs::path& x, const fs::path& y) { return fs::file_size(x) < fs::file_size(y); };
  replace_file(segment, content_of_file(*std::max_element(earlier.begin(), earlier.end(), is_shorter)));
  for (const fs::path& path : earlier) fs::remove(path);
}

/// At the first call for an assignment with --cases, notes in `progress` where it begins; at later calls, sets its
/// corpus, cases and answers back to that, so that it has the result that its seed determines, however often its worker
/// is killed. Segments of earlier processes of this shard become the segment of this process, whose records are not
/// written twice (core/divergence_log.h).
void begin_again(const WorkerRun& run, AssignmentProgress& progress) {
  const std::string inputs = run.corpus() + ".inputs";
  const bool has_inputs = fs::exists(inputs);
  if (!progress.begun) {
    progress.begun = true;
    progress.cases_before = progress.cases;
    progress.answers_before = progress.answers;
    progress.corpus_before = has_inputs ? fs::file_size(inputs) : 0;
    return;
  }
  progress.cases = progress.cases_before;
  progress.answers = progress.answers_before;
  if (has_inputs) fs::resize_file(inputs, progress.corpus_before);
  if (!run.writer.empty()) take_over_segments(run);
}

}  // namespace

Campaign::Campaign(CampaignSettings settings, Plan plan, std::string folder, CampaignProgress progress,
                   Knowledge knowledge, std::set<std::string> seen_before, CampaignReports reports)
    : settings_(std::move(settings)),
      plan_(std::move(plan)),
      folder_(std::move(folder)),
      progress_(std::move(progress)),
      reports_(reports),
      findings_(folder_),
      facts_(registry(), std::move(knowledge), std::move(seen_before)),
      states_(plan_.assignments.size()),
      started_(now()),
      elapsed_before_(progress_.elapsed) {
  for (const auto& [line, entry] : findings_.entries())
    if (!entry.is_crash) facts_.take(entry.divergence);
}

/// Fills empty corpora with the target's seeds, and reads the bins that an earlier run of this campaign reached.
void Campaign::begin_fields() {
  for (const Assignment& assignment : plan_.assignments) {
    const std::string field = assignment.corpus_name();
    if (reached_.contains(field)) continue;
    const std::string corpus = folder_ + "/corpus/" + field;
    // An empty folder is what a campaign leaves that was killed at this point.
    if (!fs::exists(corpus + ".inputs") && (!fs::exists(corpus) || fs::is_empty(corpus))) {
      const std::string seeds = default_corpus_folder() + "/" + assignment.target->name + "/seeds";
      if (assignment.op) seed_corpus(corpus, *assignment.op, seeds, plan_.needs_files(field));
      else seed_text_corpus(corpus, seeds);
    }
    reached_[field].unite(content_of_file(folder_ + "/bins/" + field));
  }
}

double Campaign::elapsed() const { return elapsed_before_ + now() - started_; }

bool Campaign::is_over() const { return must_stop_ || (progress_.time > 0 && elapsed() >= progress_.time); }

/// Whether an assignment may get another worker.
bool Campaign::may_start_worker(size_t assignment) const {
  if (states_[assignment].is_left_out) return false;
  if (!settings_.cases) return true;
  const AssignmentProgress* share = progress_.find(plan_.assignments[assignment].name());
  return states_[assignment].workers == 0 && !(share && share->has_all(plan_.assignments[assignment].cases));
}

/// Gives each free worker slot the next assignment in turn that may get a worker, first those with the fewest workers.
void Campaign::fill_slots() {
  while (workers_.size() < settings_.jobs && !is_over() &&
         (progress_.time <= 0 || progress_.time - elapsed() > least_run)) {
    const size_t n = states_.size();
    size_t best = n;
    for (size_t i = 0; i < n; ++i) {
      const size_t assignment = (next_assignment_ + i) % n;
      const bool may_start = may_start_worker(assignment);
      if (may_start && (best == n || states_[assignment].workers < states_[best].workers)) best = assignment;
    }
    if (best == n) return;
    next_assignment_ = best + 1;
    start_worker(best, settings_.cases ? 0 : plan_.assignments[best].seconds);
  }
}

void Campaign::start_worker(size_t position, double seconds) {
  const Assignment& assignment = plan_.assignments[position];
  const auto taken = [&](const std::string& id) {
    return std::any_of(workers_.begin(), workers_.end(), [&](const Worker& w) { return w.run.id == id; });
  };
  std::string id = assignment.name();
  for (int instance = 2; taken(id); ++instance) id = fmt::format("{}-{}", assignment.name(), instance);
  const double started = elapsed(), rest = progress_.time - started;
  if (progress_.time > 0) seconds = seconds > 0 ? std::min(seconds, rest) : rest;
  AssignmentProgress& progress = progress_.shares[assignment.name()];
  WorkerRun run{&assignment,
                id,
                folder_,
                seed_for(settings_.seed, id, progress.slices, settings_.shard),
                seconds,
                plan_.needs_files(assignment.corpus_name()),
                settings_.cases ? 0 : progress.walked,
                lease_ ? "." + lease_->nonce() : ""};
  if (settings_.cases) {
    begin_again(run, progress);
    save(snapshot(), folder_ + "/progress.json");  // before the worker changes what it begins with
  } else {
    ++progress.slices;
  }
  fs::remove(run.status());
  const ProcessSpec spec = worker_process(run, settings_);
  const double deadline = settings_.cases ? std::numeric_limits<double>::infinity() : started + seconds + grace_seconds;
  workers_.push_back({position, run, command_text(spec), Process(spec), started, deadline});
  ++states_[position].workers;
}

void Campaign::add_work(CampaignProgress& progress, const Worker& worker) {
  AssignmentProgress& share = progress.shares[worker.run.assignment->name()];
  share.cases += worker.status.cases;
  if (worker.run.assignment->engine == Engine::batch)
    share.walked = std::max(share.walked, worker.run.walked_before + worker.status.cases);
  share.inputs += worker.status.inputs;
  share.seconds += worker.status.seconds;
  add(share.answers, worker.status.answers);
}

/// Measures a worker's rates; intervals in which it did nothing, its start for one, do not count.
void Campaign::measure_rates(Worker& worker, const WorkerStatus& status) {
  const WorkerStatus& before = worker.rates_status;
  const double seconds = status.seconds - before.seconds;
  const bool worked = status.cases > before.cases || status.inputs > before.inputs;
  if (!worked || seconds < (before.seconds > 0 ? least_interval : least_first_interval)) return;
  worker.cases_per_second = double(status.cases - before.cases) / seconds;
  worker.inputs_per_second = double(status.inputs - before.inputs) / seconds;
  worker.rates_status = status;
}

/// Reads a worker's status file, and notes its rates and the bins that it reached.
void Campaign::read_status_of(Worker& worker) {
  const WorkerStatus status = read_status(worker.run.status());
  measure_rates(worker, status);
  const bool has_more_bins = status.bins > worker.status.bins;
  worker.status = status;
  const std::string field = worker.run.assignment->corpus_name();
  ReachedBins& reached = reached_[field];
  if (!has_more_bins || !reached.unite(content_of_file(worker.run.status() + ".bins"))) return;
  progress_.bins[field] = reached.count();
  const std::string file = folder_ + "/bins/" + field;
  fs::create_directories(fs::path(file).parent_path());
  replace_file(file, reached.bytes());
  if (worker.status.newest.empty()) return;
  newest_bin_ = worker.status.newest;
  newest_where_ = fmt::format("{} {}", worker.run.assignment->target->name, worker.run.assignment->label());
  newest_at_ = elapsed();
}

/// Books a worker's end (of its slice, a crash, or a kill from outside), and may start it again.
void Campaign::book_end(Worker& worker, const ProcessEnd& end) {
  read_status_of(worker);
  if (cases_per_second_ == 0) cases_per_second_ = worker.cases_per_second;  // it ended before the first look
  add_work(progress_, worker);
  AssignmentState& state = states_[worker.assignment];
  --state.workers;
  const Assignment& assignment = plan_.assignments[worker.assignment];
  const double ended = elapsed();
  if (assignment.engine == Engine::afl && collect_afl(worker.run) > 0)
    if (const auto* entry =
            findings_.add_crash(assignment.name(), "in an input of AFL++", worker.command, worker.run.log()))
      report(*entry);
  if (worker.was_asked_to_end) return;
  const bool cut_short = assignment.engine == Engine::batch && !worker.status.done;  // a unit may have called exit(0)
  if (!end.was_signaled && end.code == 0 && !cut_short) {
    state.early_deaths = 0;
    return;
  }
  const bool is_crash_of_target =  // afl-fuzz survives those, and fails only by itself
      assignment.engine != Engine::afl && (end.was_signaled || end.code != ProcessEnd::not_executable);
  if (is_crash_of_target && !killed_from_outside(end)) {
    if (const auto* entry = findings_.add_crash(assignment.name(), end.to_string(), worker.command, worker.run.log()))
      report(*entry);
    if (settings_.cases) ++progress_.shares[assignment.name()].slices;  // from the same seed it would crash again
  }
  ++progress_.restarts;
  state.early_deaths = ended - worker.started < early_death ? state.early_deaths + 1 : 0;
  if (state.early_deaths >= max_early_deaths) {
    state.is_left_out = true;
    panel_.clear();
    fmt::print(stderr, "mmafuzz: {} is left out: it died {} times at once, see {}\n", assignment.name(),
               max_early_deaths, worker.run.log());
    return;
  }
  const double rest = worker.deadline - grace_seconds - ended;
  if (!is_over() && (settings_.cases || rest >= 1)) start_worker(worker.assignment, settings_.cases ? 0 : rest);
}

void Campaign::reap() {
  for (auto worker = workers_.begin(); worker != workers_.end();) {
    const std::optional<ProcessEnd> end = worker->process.poll();
    const auto next = std::next(worker);
    if (end) {
      std::list<Worker> ended;  // no longer in workers_: book_end() may start another
      ended.splice(ended.begin(), workers_, worker);
      book_end(ended.front(), *end);
    }
    worker = next;
  }
}

/// Workers end their slices themselves; a worker that hangs is asked to end, then killed.
void Campaign::end_overdue() {
  for (Worker& worker : workers_) {
    const double late = elapsed() - worker.deadline;
    if (late < 0) continue;
    if (!worker.was_asked_to_end) worker.process.signal(SIGTERM);
    else if (late > grace_seconds) worker.process.signal(SIGKILL);
    worker.was_asked_to_end = true;
  }
}

/// Reports a finding that is grave, or any with --verbose, unless another shard has; ends the run where --stop-on asks
/// for it.
void Campaign::report(const CampaignFindings::Entry& entry) {
  const bool grave = entry.is_crash || entry.divergence.severity == Severity::contract;
  const bool first = !exchange_ || exchange_->claim(entry.line);  // the first of all shards to report it
  if (first && (grave || reports_.has_all)) {
    panel_.clear();
    FILE* to = reports_.to_stderr ? stderr : stdout;
    fmt::print(to, "{}\n", entry.line);
    std::fflush(to);
  }
  if (settings_.stop_on == "new" || (settings_.stop_on == "contract" && grave)) must_stop_ = true;
}

/// Takes in what workers have found since the last call.
void Campaign::read_findings() {
  for (const CampaignFindings::Entry* entry : findings_.follow()) {
    facts_.take(entry->divergence);
    report(*entry);
  }
}

/// Waits for a worker's end or a signal, less than a second.
void Campaign::wait(double seconds) {
  const sigset_t set = watched_signals();
  const timespec time = {0, static_cast<long>(seconds * 1e9)};
  const int number = sigtimedwait(&set, nullptr, &time);
  if (number == SIGINT || number == SIGTERM || number == SIGHUP) {
    must_stop_ = true;
    ++signals_;
  }
}

/// Asks all workers to end and kills those that do not end in time; a second signal kills all at once.
void Campaign::stop_all() {
  for (Worker& worker : workers_) {
    worker.was_asked_to_end = true;
    worker.process.signal(SIGTERM);
  }
  const double begin = now();
  const int signals = signals_;
  while (!workers_.empty()) {
    if (now() - begin > grace_seconds || signals_ > signals)
      for (const Worker& worker : workers_) worker.process.signal(SIGKILL);
    wait(step_seconds);
    reap();
  }
}

/// progress_ with what the running workers have done so far.
CampaignProgress Campaign::snapshot() const {
  CampaignProgress all = progress_;
  all.elapsed = elapsed();
  for (const Worker& worker : workers_) add_work(all, worker);
  return all;
}

CampaignView Campaign::view() const {
  const CampaignProgress all = snapshot();
  CampaignView view;
  view.elapsed = all.elapsed;
  view.time = all.time;
  view.restarts = all.restarts;
  for (const auto& [name, share] : all.shares) {
    view.cases += share.cases;
    view.inputs += share.inputs;
  }
  for (const auto& [name, bins] : all.bins) view.bins += bins;
  for (const Worker& worker : workers_) {
    const WorkerStatus& s = worker.status;
    view.workers.push_back({worker.run.assignment->target->name, name_of(worker.run.assignment->engine),
                            worker.run.assignment->label(), worker.cases_per_second, worker.inputs_per_second, s.bins});
  }
  view.cases_per_second = cases_per_second_;
  view.facts = facts_.counts();
  view.crashes = findings_.count().crash;
  view.newest_bin = newest_bin_;
  view.newest_where = newest_where_;
  view.newest_at = newest_at_;
  return view;
}

/// A line for plots over time: second, cases, bins, findings.
void Campaign::append_sample() const {
  const CampaignView now = view();
  std::ofstream file(folder_ + "/samples.tsv", std::ios::app);
  file << fmt::format("{:.0f}\t{}\t{}\t{}\n", now.elapsed, now.cases, now.bins, findings_.count().sum());
}

void Campaign::become_shard(const std::string& out, const Shard& shard, std::unique_ptr<ShardLease> lease) {
  lease_ = std::move(lease);
  const bool is_new = !fs::exists(folder_ + "/progress.json");
  begin_fields();
  std::vector<ExchangedField> fields;
  for (const Assignment& assignment : plan_.assignments) {
    const std::string field = assignment.corpus_name();
    if (settings_.cases || std::any_of(fields.begin(), fields.end(), [&](const auto& f) { return f.field == field; }))
      continue;  // --cases promises what does not depend on others
    fields.push_back({field, assignment.op ? encoded_bytes(*assignment.op) : 0, plan_.needs_files(field)});
  }
  exchange_.emplace(out + "/exchange", folder_, shard.name(), std::move(fields), is_new);
}

/// Gives a sign of life; stops the run where another process has taken over the shard.
void Campaign::show_life() {
  if (!lease_ || is_shard_lost_ || lease_->beat()) return;
  is_shard_lost_ = must_stop_ = true;
  panel_.clear();
  fmt::print(stderr, "mmafuzz: another process took {} over: this one ends, what it found is kept\n", folder_);
}

/// Exchanges with other shards, so seldom that it costs little of the time. A failure is reported once and tried again.
void Campaign::exchange() {
  const double begin = now();
  try {
    exchange_->run();
    exchange_fails_ = false;
  } catch (const std::runtime_error& error) {
    const auto* system = dynamic_cast<const std::system_error*>(&error);
    if (system && (system->code() == std::errc::no_space_on_device || system->code().value() == EDQUOT))
      throw;  // a full disk takes no other file either: the shard ends
    if (!exchange_fails_) {
      panel_.clear();
      fmt::print(stderr, "mmafuzz: no exchange with other shards for now: {}\n", error.what());
    }
    exchange_fails_ = true;
  }
  const double cost = now() - begin;
  next_exchange_ = now() + std::max(exchange_interval, cost / exchange_share);
}

void Campaign::run() {
  const sigset_t set = watched_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &set, &before);
  double next_look = 0, next_save = 0;
  begin_fields();
  panel_.show(view());
  while (true) {
    reap();
    fill_slots();
    end_overdue();
    if (is_over() || workers_.empty()) break;
    wait(step_seconds);
    const double at = now();
    if (at >= next_look) {
      next_look = at + look_interval;
      double sum = 0;
      for (Worker& worker : workers_) {
        read_status_of(worker);
        sum += worker.cases_per_second;
      }
      if (sum > 0) cases_per_second_ = sum;
      read_findings();
      facts_.seek_causes(cause_seconds);
      panel_.update(view());
    }
    if (exchange_ && at >= next_exchange_) exchange();
    if (at >= next_save) {
      next_save = at + save_interval;
      show_life();
      if (is_shard_lost_) break;
      append_sample();
      save(snapshot(), folder_ + "/progress.json");
    }
  }
  stop_all();
  read_findings();
  progress_.elapsed = elapsed();
  if (!is_shard_lost_) {  // otherwise another process owns the folder
    if (exchange_) exchange();
    append_sample();
    save(progress_, folder_ + "/progress.json");
  }
  panel_.show(view());
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace mmafuzz
