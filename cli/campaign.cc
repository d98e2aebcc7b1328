// mmafuzz campaign: runs search engines over targets for a limited time and keeps what they find in one folder. This
// file has the options; the campaign itself is in campaign/. A shard is a part of a campaign that several processes
// share (docs/cluster.md).
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "core/json_text.h"
#include "core/parallel.h"
#include "core/replace_file.h"
#include "core/program.h"
#include "core/text.h"
#include "campaign/minimize_corpora.h"
#include "campaign/campaign.h"
#include "campaign/gather_shards.h"
#include "campaign/shard.h"
#include "campaign/summary.h"
#include "campaign/triage_campaigns.h"
#include "cli/terminal.h"
#include "campaign/expectations.h"
#include "triage/facts/conclusions_text.h"
#include "triage/store/store.h"
#include "cli/command.h"
#include "plan/named_rows.h"

namespace mmafuzz::cli {
namespace {

namespace fs = std::filesystem;

struct CampaignOptions {
  CampaignSettings settings;
  std::string time, out, store, shard;
  std::string knowledge;
  bool resume = false, json = false, verbose = false, minimize = false, triage = true, conclude = false;
};

double parse_time(const std::string& text) {
  if (const std::optional<double> seconds = parse_duration(text)) return *seconds;
  throw BadInput("--time " + text + ": give seconds, or a number with s, m, h or d");
}

/// A lock on the campaign's folder. The system releases it when this process ends, however that happens.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : file_(open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (file_ < 0) throw BadInput("cannot write in " + folder + ": " + std::strerror(errno));
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) throw BadInput("another campaign runs in " + folder);
  }
  ~FolderLock() { close(file_); }
  FolderLock(const FolderLock&) = delete;

 private:
  int file_;
};

/// Whether a new campaign may use the folder. It may have a lock and a draft, which a campaign leaves that was killed
/// before it began, and a corpus of another campaign, from which the new one starts.
bool is_unused(const std::string& folder) {
  if (!fs::exists(folder)) return true;
  if (!fs::is_directory(folder)) return false;
  const std::set<fs::path> allowed = {"lock", "campaign.json.new", "corpus"};
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (!allowed.count(entry.path().filename())) return false;
  return true;
}

/// Throws BadInput where OUT/corpus, into which workers write, is a link or no folder.
void refuse_bad_corpus(const std::string& folder) {
  const std::string corpus = folder + "/corpus";
  const fs::file_status status = fs::symlink_status(corpus);
  if (fs::is_symlink(status))
    throw BadInput(corpus + " is a link, and this campaign would write there: copy the corpus");
  if (fs::exists(status) && !fs::is_directory(status)) throw BadInput(corpus + " is no folder of inputs");
}

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw BadInput("cannot write " + folder + ": " + error.message());
}

/// The settings of the campaign that is resumed, replaced by those that this call gives.
CampaignSettings resumed_settings(const CampaignOptions& options, const Arguments& call) {
  CampaignSettings all = load_settings(options.out + "/campaign.json");
  const CampaignSettings& given = options.settings;
  const auto take = [&](const char* option, auto& to, const auto& from) {
    if (call.count(option)) to = from;
  };
  take("--jobs", all.jobs, given.jobs);
  if (call.count("--units") || call.count("--rows")) all.units = given.units;
  take("--targets", all.targets, given.targets);
  take("--ops", all.ops, given.ops);
  take("--with", all.with, given.with);
  take("--engines", all.engine_folders, given.engine_folders);
  take("--seed", all.seed, given.seed);
  take("--cases", all.cases, given.cases);
  take("--memory", all.memory_mb, given.memory_mb);
  take("--fail-on", all.fail_on, given.fail_on);
  take("--stop-on", all.stop_on, given.stop_on);
  return all;
}

bool failed(const std::string& fail_on, const CampaignFindings& findings) {
  const FindingCounts all = findings.count();
  if (all.contract || all.crash) return true;
  if (fail_on == "new") return findings.count(FoundBy::this_run).sum() > 0;
  return (fail_on != "contract" && all.accuracy) || (fail_on == "semantic" && all.semantic);
}

/// Completes the settings of this call: splits lists, makes paths absolute and sets defaults.
void complete_settings(CampaignOptions& options) {
  CampaignSettings& settings = options.settings;
  settings.units = without_row_names(split_units(settings.units));
  settings.targets = settings.targets.empty() ? std::vector<std::string>{"*"} : split_units(settings.targets);
  settings.with = split_units(settings.with);
  for (std::string& folder : settings.engine_folders) folder = fs::absolute(folder).string();
  if (!settings.jobs) settings.jobs = hardware_threads();
  if (settings.engine_folders.empty()) settings.engine_folders = default_engine_folders();
  if (settings.cases && settings.with.empty()) settings.with = {"batch"};
  settings.time = !options.time.empty() ? parse_time(options.time) : settings.cases ? 0 : 60;
  options.out = fs::absolute(options.out).lexically_normal().string();
}

/// The plan of the whole campaign, of which each shard runs a part. `elapsed`: seconds that have run already.
Plan plan_of(const CampaignSettings& settings, double elapsed) {
  if (settings.cases && settings.with != std::vector<std::string>{"batch"})
    throw BadInput("--cases counts cases of batch searches: leave --with out");
  const double shards = std::max(1u, settings.shards);
  const double worker_seconds = settings.time > 0 ? (settings.time - elapsed) * settings.jobs * shards : 0;
  return make_plan({.targets = settings.targets,
                    .ops = settings.ops,
                    .units = settings.units,
                    .engines = settings.with,
                    .engine_folders = settings.engine_folders,
                    .worker_seconds = settings.cases ? 0 : worker_seconds,
                    .cases = settings.cases,
                    .seed = settings.seed});
}

void make_parts(const std::string& folder) {
  for (const char* part : {"segments", "artifacts", "workers", "corpus"}) make_folder(folder + "/" + part);
}

/// Ends a campaign: merges the findings into one file, triages them, writes facts and summary. Returns the exit code.
int end_campaign(const CampaignOptions& options, const CampaignSettings& settings, const Plan& plan,
                 const CampaignProgress& progress, const CampaignFindings& findings) {
  findings.merge(options.out + "/findings.cases");
  if (options.minimize) {
    const MinimizedCorpus sizes = minimize_corpora(plan, settings.units, options.out);
    fmt::print(stderr, "mmafuzz: {} of {} inputs reach every bin: {}/corpus.min\n", sizes.after, sizes.before,
               options.out);
  }
  nlohmann::json summary = campaign_summary(plan, progress, findings);
  const AnswerCounts answers = answers_of(plan, progress);
  const StateWalks walks = walks_of(plan, progress, settings.units);
  summary["walks"] = walks_json(walks);
  bool is_contradicted = false;
  std::string ending = "\n" + (options.verbose || !options.triage ? fields_text(summary) + "\n" : "");
  if (options.triage) {
    TriageOutcome outcome =
        triage_campaigns({.paths = {options.out}, .store = "", .jobs = settings.jobs, .shows_progress = true});
    std::set<std::string> seen_before;
    if (!options.store.empty())
      seen_before = merge_into_all_nights(options.store, outcome.store, settings.uuid, outcome.buckets);
    Conclusions conclusions = conclude(outcome.buckets, known_facts(options.knowledge),
                                       expectations_of(plan, settings.units, progress), seen_before);
    conclusions.inconclusive = silence_message(answers).empty() ? outcome.inconclusive : "a unit answered no case";
    say_left_out(outcome);
    const bool is_green = conclusions.is_green();
    is_contradicted = !conclusions.contradictions.empty() || outcome.left_out_of_contract;
    summary["facts"] = conclusions_json(conclusions);
    summary["buckets"] = outcome.buckets.size();
    summary["divergences"] = outcome.divergences;
    ending += conclusions_text(conclusions, {.width = terminal_width(),
                                             .max_new = is_green ? size_t{3} : 2,
                                             .max_known = is_green ? size_t{5} : 0,
                                             .seed = settings.seed,
                                             .store = outcome.store}) +
              "\n";
    if (is_green)
      ending += wrapped(what_green_means(plan, progress, settings.units, walks), terminal_width(), 0) + "\n";
  }
  replace_file(options.out + "/summary.json", json_text(summary));
  if (options.json) fmt::print("{}", json_text(summary));
  else
    fmt::print("{}{}", ending,
               summary_text(summary, options.out,
                            {.is_triaged = options.triage, .is_resumable = !settings.shards, .width = terminal_width()},
                            strangers_of(plan, settings.units)));
  return judge_answers(answers, is_contradicted || failed(settings.fail_on, findings) ? exit_divergence : exit_ok);
}

/// Runs one shard: its part of the plan, in its own folder. conclude() triages what all shards found.
int run_shard(CampaignOptions options) {
  const Shard shard = shard_from_text(options.shard);
  CampaignSettings& settings = options.settings;
  complete_settings(options);
  settings.shards = shard.count;
  settings.shard = shard.index;
  const Plan whole = plan_of(settings, 0);  // throws on a wrong call, before a folder is made
  settings.plan = plan_words(whole);
  Plan plan = part_of(whole, shard);
  set_identity(settings);
  const std::string folder = options.out + "/shards/" + shard.name();
  // --conclude writes OUT/corpus from the shards' corpora and would replace an older one.
  if (!fs::exists(options.out + "/campaign.json") && fs::exists(fs::symlink_status(options.out + "/corpus")))
    throw BadInput(options.out + "/corpus: a campaign of shards takes no corpus of another campaign; move it away");
  make_folder(options.out);
  agree(settings, options.out);
  make_folder(folder);
  auto lease = std::make_unique<ShardLease>(folder);
  save(settings, folder + "/campaign.json");
  make_parts(folder);
  CampaignProgress progress = load_progress(folder + "/progress.json");
  progress.time = settings.time;
  if (shard.index == 1)
    for (const std::string& note : plan.notes) fmt::print(stderr, "mmafuzz: {}\n", note);
  Campaign campaign(settings, std::move(plan), folder, progress, Knowledge(options.knowledge), {},
                    {.has_all = options.verbose, .to_stderr = options.json});
  campaign.become_shard(options.out, shard, std::move(lease));
  campaign.run();
  const nlohmann::json summary = campaign_summary(campaign.plan(), campaign.progress(), campaign.findings());
  if (!campaign.was_stopped()) replace_file(folder + "/summary.json", json_text(summary));  // marks the shard as done
  if (options.json) fmt::print("{}", json_text(summary));
  if (campaign.was_stopped()) {
    fmt::print(stderr, "mmafuzz: shard {} was stopped after {:.0f} s: the same command goes on\n", options.shard,
               campaign.progress().elapsed);
    return exit_interrupted;
  }
  if (!options.json)
    fmt::print("shard {}: {}, {} of divergence; when all have ended: {} campaign --conclude --out {}\n", options.shard,
               counted(summary["cases"].get<uint64_t>(), "case"), counted(campaign.findings().count().sum(), "kind"),
               program_name(), shell_word(options.out));
  return failed(settings.fail_on, campaign.findings()) ? exit_divergence : exit_ok;
}

/// Ends a campaign of shards: gathers what they found, then as end_campaign().
int conclude(CampaignOptions options, const Arguments& call) {
  options.out = fs::absolute(options.out).lexically_normal().string();
  const std::string file = options.out + "/campaign.json";
  const CampaignSettings begun = fs::exists(file) ? load_settings(file) : CampaignSettings{};
  CampaignSettings settings = begun;
  if (!begun.shards) throw BadInput(options.out + " holds no campaign of shards: --conclude ends what --shard began");
  if (call.count("--fail-on")) settings.fail_on = options.settings.fail_on;
  if (call.count("--jobs")) settings.jobs = options.settings.jobs;
  else settings.jobs = hardware_threads();
  if (!options.store.empty()) Store(options.store, Access::write);
  const FolderLock lock(options.out);
  const Plan plan = plan_of(begun, 0);
  make_parts(options.out);
  const GatheredShards shards = gather_shards(options.out, begun, plan);
  if (shards.not_begun.size() == begun.shards) throw BadInput(options.out + ": no shard has begun");
  const auto note = [&](const std::vector<std::string>& names, const char* what) {
    if (!names.empty())
      fmt::print(stderr, "mmafuzz: {} of {} shards {}: {}{}\n", names.size(), begun.shards, what, names.front(),
                 names.size() > 1 ? ", ..." : "");
  };
  note(shards.not_begun, "have not begun");
  note(shards.not_ended, "are not at their end");
  return end_campaign(options, settings, plan, shards.progress, CampaignFindings(options.out, FoundBy::this_run));
}

int run_campaign(CampaignOptions options, const Arguments& call) {
  const bool time_given = !options.time.empty();
  CampaignSettings& settings = options.settings;
  complete_settings(options);
  CampaignProgress progress;
  if (options.resume) {
    if (!fs::exists(options.out + "/campaign.json")) throw BadInput(options.out + " holds no campaign to resume");
    settings = resumed_settings(options, call);
    if (settings.shards)
      throw BadInput(fmt::format("{} holds a campaign of {} shards: give --shard I/{} or --conclude", options.out,
                                 settings.shards, settings.shards));
    progress = load_progress(options.out + "/progress.json");
    if (settings.cases && time_given)
      throw BadInput("this campaign ends after its --cases: resume it with more --cases, not with --time");
    if (time_given) settings.time = progress.elapsed + parse_time(options.time);
  } else {
    if (!is_unused(options.out))
      throw BadInput(
          options.out +
          " is not an empty folder: give --resume to go on there, or another --out (which may hold a corpus)");
    refuse_bad_corpus(options.out);
  }
  progress.time = settings.time;
  Plan plan = plan_of(settings, progress.elapsed);
  if (settings.uuid.empty()) set_identity(settings);

  if (!options.store.empty()) Store(options.store, Access::write);  // throws on a bad store, before the search
  make_folder(options.out);
  const FolderLock lock(options.out);
  save(settings, options.out + "/campaign.json");
  if (const std::string store = options.out + "/findings.sqlite"; fs::exists(store))  // from the run before --resume
    Store(store, Access::write).set_inconclusive(settings.uuid, not_triaged);
  make_parts(options.out);
  for (const std::string& note : plan.notes) fmt::print(stderr, "mmafuzz: {}\n", note);
  std::set<std::string> of_other_nights;
  if (!options.store.empty())
    for (const Fact& fact : facts_of(Store(options.store, Access::read).buckets())) of_other_nights.insert(fact.name);
  Campaign campaign(settings, std::move(plan), options.out, progress, Knowledge(options.knowledge),
                    std::move(of_other_nights), {.has_all = options.verbose, .to_stderr = options.json});
  campaign.run();
  return end_campaign(options, settings, campaign.plan(), campaign.progress(), campaign.findings());
}

}  // namespace

void add_campaign(Arguments& app, int& status) {
  auto options = std::make_shared<CampaignOptions>();
  options->settings.jobs = 0;
  options->settings.targets.clear();
  CampaignSettings& settings = options->settings;
  Arguments* sub = app.add_subcommand("campaign", "Run engines over targets for a time, resumable, into one folder");
  sub->add_option("--time", options->time,
                  "how long: seconds, or with s, m, h or d (default 60; with --cases: until they are done)");
  sub->add_option("--jobs", settings.jobs, "worker processes at a time (default: all cores)")->check(in_range(1, 4096));
  sub->add_option("--targets", settings.targets, "names and globs of targets, comma-separated (default: all)");
  sub->add_option("--units", settings.units,
                  "units to compare, names and globs, comma-separated (default: all with their own arithmetic)");
  sub->add_option("--ops", settings.ops, "op line, repeatable (default: each target's own list)")
      ->allow_extra_args(false);
  sub->add_option(
         "--out", options->out,
         "the campaign's folder: corpora, segments, artifacts, findings; a copy of OUT/corpus of another campaign may "
         "be there, except with --shard")
      ->required();
  sub->add_flag("--resume", options->resume,
                "go on in --out with its settings, for the rest of its time or for --time more");
  Argument* shard = sub->add_option(
      "--shard", options->shard,
      "I/N: run part I of N, in OUT/shards, beside other processes that share OUT, on any host; a part that was ended "
      "goes on");
  sub->add_flag("--conclude", options->conclude, "end a campaign of shards: gather what they found, triage it, report")
      ->excludes(shard);
  sub->add_option("--seed", settings.seed, "seed of all workers (default 1)")->check(unsigned_number());
  sub->add_option("--cases", settings.cases, "cases for each target and op, by batch search alone")
      ->check(positive_count());
  sub->add_option("--memory", settings.memory_mb, "MiB for each worker (default 2048)")->check(in_range(64, 1 << 20));
  sub->add_option("--with", settings.with,
                  "engines, comma-separated: batch, libfuzzer, afl (default: all that are found)")
      ->delimiter(',')
      ->check(one_of({"batch", "libfuzzer", "afl"}));
  sub->add_option("--engines", settings.engine_folders,
                  "folders with builds of the targets for engines (default: beside this executable)");
  sub->add_option("--fail-on", settings.fail_on,
                  "contract (default, always included, as contradictions are), accuracy, semantic or new")
      ->check(one_of({"contract", "accuracy", "semantic", "new"}));
  sub->add_option("--stop-on", settings.stop_on, "end at the first finding: contract, new, or never (default)")
      ->check(one_of({"contract", "new", "never"}));
  sub->add_flag("--minimize", options->minimize, "at the end write the inputs that reach every bin to OUT/corpus.min");
  sub->add_flag("!--no-triage", options->triage, "leave the divergences as they are: no OUT/findings.sqlite");
  add_knowledge_option(*sub, options->knowledge);
  sub->add_option("--store", options->store,
                  "store of all nights, into which this one is merged: its facts are not new, its decisions hold");
  sub->add_flag("-v,--verbose", options->verbose, "print accuracy and semantic findings too, not only their counts");
  sub->add_flag("--json", options->json,
                "print one JSON object at the end; findings go to standard error as they come");
  add_rows_option(*sub);
  sub->footer(
      "Divergences never stop a worker: they are recorded first and printed then; a killed campaign loses none. "
      "--resume alone runs\n"
      "the rest of the time, --resume --time T runs T more. OUT/findings.cases is case text, OUT/summary.json the "
      "summary.\n"
      "Same seed and --cases N: the same corpus and findings. With --time or engines they may differ.\n"
      "With --shard it waits for nobody and triages nothing; exit code 130: stopped before its end, call it again "
      "(docs/cluster.md).\n"
      "Example: mmafuzz campaign --time 10m --targets 'dot_*' --units 'exact,model:hopper/*' --out /tmp/hopper");
  sub->callback([options, sub, &status] {
    const auto refuse = [&](const char* with, std::initializer_list<const char*> names) {
      for (const char* name : names)
        if (sub->count(name)) throw BadInput(std::string(with) + " takes no " + name);
    };
    if (sub->count("--shard")) {
      refuse("--shard", {"--resume", "--minimize", "--store"});  // a shard resumes by itself; --conclude does the rest
      status = run_shard(*options);
    } else if (options->conclude) {
      refuse("--conclude", {"--resume", "--time", "--targets", "--units", "--rows", "--ops", "--seed", "--cases",
                            "--memory", "--with", "--engines", "--stop-on", "--no-triage"});
      status = conclude(*options, *sub);
    } else {
      status = run_campaign(*options, *sub);
    }
  });
}

}  // namespace mmafuzz::cli
