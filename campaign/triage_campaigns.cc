#include "campaign/triage_campaigns.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "campaign/corpus.h"
#include "campaign/deepen.h"
#include "campaign/expectations.h"
#include "campaign/extents.h"
#include "campaign/fill_holes.h"
#include "campaign/interrupt.h"
#include "campaign/plan.h"
#include "campaign/state.h"
#include "campaign/summary.h"
#include "core/case_text.h"
#include "core/divergence_log.h"
#include "core/contradiction.h"
#include "core/parallel.h"
#include "core/program.h"
#include "core/text.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "search/comparison.h"
#include "search/coverage.h"
#include "search/possible_bins.h"
#include "search/structured_generator.h"
#include "triage/store/store.h"

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

constexpr size_t pair_cases = 4096;   ///< structured cases of an op on which differences of units are counted
constexpr size_t claim_cases = 1024;  ///< of these cases, those on which claims are checked
constexpr uint64_t deepen_seed = 1;
constexpr size_t max_samples = 256;  ///< samples of a campaign's progress in a store, at most

bool is_campaign(const std::string& path) { return fs::exists(path + "/campaign.json"); }

/// Whether a file holds whole records of divergences, or nothing behind the first line yet: other case text is no
/// segment, and without records it would look as if nothing had been found.
bool is_segment(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) || line + "\n" != case_text_start) return false;
  bool has_more = false;
  for (; std::getline(file, line); has_more = true)
    if (line + "\n" == record_end) return true;
  return !has_more;
}

std::vector<std::string> segments_of(const std::string& path) {
  if (!fs::is_directory(path)) {
    if (!is_segment(path)) throw BadInput(path + " is neither a campaign's folder nor a segment");
    return {path};
  }
  std::vector<std::string> files;
  const bool of_campaign = fs::exists(path + "/segments");
  for (const fs::directory_entry& entry : fs::directory_iterator(of_campaign ? path + "/segments" : path))
    if (entry.is_regular_file() && (of_campaign || is_segment(entry.path()))) files.push_back(entry.path());
  if (files.empty() && !is_campaign(path)) throw BadInput(path + " holds neither a campaign nor segments");
  std::sort(files.begin(), files.end());
  return files;
}

/// By severity: how many findings a campaign's summary lists that no segment of it holds any more, because files were
/// damaged. `held` has the lines of those that were read.
std::map<std::string, uint64_t> lost_findings(const std::string& folder, const std::set<std::string>& held) {
  std::map<std::string, uint64_t> lost;
  std::ifstream file(folder + "/summary.json");
  if (!file) return lost;  // the campaign did not come to its end
  const nlohmann::json summary = nlohmann::json::parse(file, nullptr, false);
  if (!summary.is_object() || !summary.contains("findings"))
    throw std::runtime_error(folder + "/summary.json is damaged: it has no findings");
  for (const nlohmann::json& finding : summary["findings"])
    if (finding.at("severity") != "crash" && !held.contains(finding.at("line"))) ++lost[finding.at("severity")];
  return lost;
}

CampaignRecord record_of(const CampaignSettings& settings, const CampaignProgress& progress) {
  CampaignRecord record;
  record.uuid = settings.uuid;
  record.started = settings.started;
  record.seconds = progress.elapsed;
  for (const auto& [name, share] : progress.shares) {
    record.cases += share.cases;
    record.inputs += share.inputs;
  }
  record.seed = settings.seed;
  record.command = settings.command;
  record.machine = settings.machine;
  record.version = settings.version;
  return record;
}

std::vector<CampaignSample> samples_of(const std::string& folder, const std::string& uuid) {
  std::vector<CampaignSample> samples;
  std::ifstream file(folder + "/samples.tsv");
  for (CampaignSample sample; file >> sample.second >> sample.cases >> sample.bins >> sample.buckets;) {
    sample.campaign = uuid;
    if (samples.empty() || samples.back().second < sample.second) samples.push_back(sample);
  }
  // A night has thousands of samples; a chart shows some hundred. The last one is always kept.
  std::vector<CampaignSample> kept;
  for (size_t i = 0; i < samples.size(); ++i)
    if (i + 1 == samples.size() || i * max_samples / samples.size() != (i + 1) * max_samples / samples.size() ||
        samples.size() <= max_samples)
      kept.push_back(samples[i]);
  return kept;
}

/// The bins that the corpora of one op of the plan reach, on each unit that has bins.
std::vector<CoverageRecord> coverage_of(const std::vector<const Assignment*>& assignments, const std::string& folder,
                                        const CampaignSettings& settings) {
  std::vector<CoverageRecord> records;
  const Op& op = *assignments[0]->op;
  const Comparison comparison(op, units_of(settings.units, op), registry(), {});
  std::vector<Batch> corpora;
  std::set<std::string> read;
  for (const Assignment* assignment : assignments)
    if (read.insert(assignment->corpus_name()).second && fs::exists(folder + "/corpus/" + assignment->corpus_name()))
      corpora.push_back(SharedCorpus(folder + "/corpus/" + assignment->corpus_name(), op).read_new());
  const auto add_bins = [&](const std::string& focus, const DotModel* model) {
    Coverage coverage(op, model);
    if (!coverage.observes()) return;
    struct Sink {
      std::vector<uint64_t> hits = std::vector<uint64_t>(static_cast<size_t>(bins::count));
      void hit(int bin) { ++hits[static_cast<size_t>(bin)]; }
      void impossible(const char* what) {
        throw Contradiction(std::string("a kernel broke an invariant of its own arithmetic: ") + what);
      }
    } sink;
    for (const Batch& corpus : corpora)
      for (size_t i = 0; i < corpus.size(); ++i) coverage.observe(corpus, i, sink);
    for (const BinGroup& group : bin_groups())
      for (int bin = group.first; bin < group.first + group.count; ++bin)
        if (!ruled_out(op, model, bin))
          records.push_back({settings.uuid, focus, op_label(op), bin_name(bin), sink.hits[static_cast<size_t>(bin)]});
  };
  if (op.kind == OpKind::dot) {
    for (size_t i = 0; i < comparison.units().size(); ++i)
      if (const DotModel* model = comparison.model_of(i)) add_bins(comparison.units()[i]->name(), model);
  } else {
    add_bins(assignments[0]->target->name, nullptr);
  }
  return records;
}

/// Checks what a unit claims on given cases. A row that it claims to equal is named as the comparison's units name it.
void add_claims(const std::string& campaign, const Comparison& comparison, const Unit& unit, const Batch& batch,
                std::vector<PairRecord>& records) {
  const Op& op = batch.op();
  for (const Claim& claim : unit.claims()) {
    const bool compares = claim.property == "equals_model";
    std::vector<std::string> units = {unit.name()};
    if (compares) units.push_back(claim.detail);
    const Result<Judge> judge = Judge::bind(claim.property, units, op, registry());
    if (!judge) continue;
    uint64_t compared = 0, failing = 0;
    for (const Verdict& v : judge->judge(batch)) {
      compared += v.compared;
      failing += v.fails;
    }
    std::string second = compares ? claim.detail : "";
    for (const std::unique_ptr<Unit>& other : comparison.units())
      if (compares && other->model() && registry().are_one(other->name(), claim.detail, op)) second = other->name();
    records.push_back({campaign, op_label(op), unit.name(), second, compared, failing, claim.property});
  }
}

/// How often each two units differ on an op, and each claim fails, on structured cases, the same in every campaign.
std::vector<PairRecord> pairs_of(const Op& op, const CampaignSettings& settings) {
  std::vector<PairRecord> records;
  const Comparison comparison(op, units_of(settings.units, op), registry(), {});
  Batch batch(op);
  StructuredGenerator(op, 1).fill(0, pair_cases, batch);
  std::vector<Outcomes> outcomes;
  comparison.run(batch, outcomes);
  SpecialOperands special(batch);
  const Batch first_cases = batch.part(0, claim_cases);
  for (size_t i = 0; i < outcomes.size(); ++i) {
    for (size_t j = i + 1; j < outcomes.size(); ++j) {
      const DifferenceTally tally = tally_differences(batch, special, outcomes[i], outcomes[j]);
      uint64_t differing = 0;
      for (const uint64_t count : tally.count) differing += count;
      records.push_back({settings.uuid, op_label(op), comparison.units()[i]->name(), comparison.units()[j]->name(),
                         tally.compared, differing});
    }
    add_claims(settings.uuid, comparison, *comparison.units()[i], first_cases, records);
  }
  return records;
}

/// Adds to the store what it keeps of a campaign besides buckets: samples, coverage, pairs of units and claims.
void add_circumstances(Store& store, const std::string& folder, const CampaignSettings& settings, const Plan& plan,
                       unsigned jobs) {
  struct OpOfPlan {
    std::vector<const Assignment*> assignments;
    std::vector<CoverageRecord> coverage;
    std::vector<PairRecord> pairs;
  };
  std::map<std::string, OpOfPlan> by_text;
  for (const Assignment& assignment : plan.assignments)
    if (assignment.op) by_text[to_text(*assignment.op)].assignments.push_back(&assignment);
  std::vector<OpOfPlan*> ops;
  for (auto& [text, op] : by_text) ops.push_back(&op);
  in_parallel(jobs, ops.size(), [&](size_t i) {
    OpOfPlan& op = *ops[i];
    op.coverage = coverage_of(op.assignments, folder, settings);
    const bool compares = std::any_of(op.assignments.begin(), op.assignments.end(),
                                      [](const Assignment* a) { return a->target->compares_units(); });
    if (compares) op.pairs = pairs_of(*op.assignments[0]->op, settings);
  });
  store.add(samples_of(folder, settings.uuid));
  for (const OpOfPlan* op : ops) {
    store.add(op->coverage);
    store.add(op->pairs);
  }
}

/// Progress on standard error: a line that is overwritten on a terminal, a line every 30 seconds elsewhere.
class TriageProgress {
 public:
  explicit TriageProgress(bool is_shown) : is_shown_(is_shown), is_on_terminal_(isatty(STDERR_FILENO) != 0) {}
  ~TriageProgress() {
    if (is_on_terminal_ && has_line_) fmt::print(stderr, "\r\x1b[K");
  }
  void operator()(size_t done, size_t all) {
    const auto now = std::chrono::steady_clock::now();
    if (!is_shown_ || now - last_ < (is_on_terminal_ ? std::chrono::milliseconds(500) : std::chrono::seconds(30)))
      return;
    last_ = now;
    has_line_ = true;
    fmt::print(stderr, "{}mmafuzz: triage: {} %{}", is_on_terminal_ ? "\r" : "", 100 * done / std::max<size_t>(all, 1),
               is_on_terminal_ ? "\x1b[K" : "\n");
  }

 private:
  bool is_shown_, is_on_terminal_, has_line_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Plan plan_of(const CampaignSettings& settings) {
  return make_plan({.targets = settings.targets,
                    .ops = settings.ops,
                    .units = settings.units,
                    .engines = {"batch"},
                    .seed = settings.seed});
}

}  // namespace

TriageOutcome triage_campaigns(const TriageRequest& request) {
  TriageOutcome outcome;
  outcome.store = request.store;
  for (const std::string& path : request.paths)
    if (outcome.store.empty() && is_campaign(path)) outcome.store = path + "/findings.sqlite";
  std::optional<Store> store;
  std::set<std::string> lines_with_witness;
  std::map<std::string, Bucket> stored;  // by id
  if (!outcome.store.empty()) {
    store.emplace(outcome.store, Access::write);
    for (const Bucket& bucket : store->buckets()) {
      const bool is_done = request.minimizes_all ? is_minimized(bucket) : !bucket.witness.empty();
      if (is_done) lines_with_witness.insert(bucket.line());
      stored[bucket.id()] = bucket;
    }
  }
  const int64_t now = std::time(nullptr);
  const std::set<std::string> witnesses_of_store = lines_with_witness;
  const InterruptWatch interrupt;
  TriageProgress progress_line(request.shows_progress);
  const TriageWatch watch{[&](size_t done, size_t all) {
    progress_line(done, all);
    return !interrupt.raised();
  }};
  // A store keeps counts by campaign: each campaign is triaged by itself, files together as one.
  std::vector<std::vector<std::string>> parts;
  std::vector<std::string> files;
  for (const std::string& path : request.paths) {
    if (is_campaign(path)) parts.push_back({path});
    else files.push_back(path);
  }
  if (!files.empty()) parts.push_back(files);
  for (const std::vector<std::string>& paths : parts) {
    const std::string& folder = paths[0];
    const bool is_campaign_folder = is_campaign(folder);
    CampaignSettings settings;
    CampaignProgress progress;
    if (is_campaign_folder) {
      settings = load_settings(folder + "/campaign.json");
      progress = load_progress(folder + "/progress.json");
    } else {
      settings.uuid = "segments";
      for (const std::string& path : paths) settings.uuid += ":" + fs::absolute(path).string();
    }
    if (store) {  // this holds until everything is in its bucket, however this process ends
      store->add_campaign(record_of(settings, progress));
      store->set_inconclusive(settings.uuid, not_triaged);
    }
    lines_with_witness = witnesses_of_store;
    Triage triage(registry(), request.jobs);
    std::set<std::string> held;  // lines of the buckets that the segments hold
    for (const std::string& path : paths)
      for (const std::string& segment : segments_of(path))
        read_segment(segment, 0, [&](LoggedDivergence d) {
          triage.add(d);
          held.insert(std::move(d.key));
        });
    outcome.divergences += triage.added();   // before triage adds cases of its own
    std::map<std::string, Bucket> finished;  // by line: buckets with a witness, which need no second one
    const auto finish = [&] {
      std::vector<Bucket> buckets = triage.finish(lines_with_witness, watch, request.minimizes_all);
      if (interrupt.raised())
        throw Interrupted("triage was interrupted; what the campaign found is kept: '" + program_name() + " triage " +
                          joined(request.paths, " ") + "' does it again");
      for (Bucket& bucket : buckets) {
        if (bucket.witness.empty()) {
          const auto found = finished.find(bucket.line());
          Bucket whole = found != finished.end() ? found->second : stored.at(bucket.id());
          whole.count = bucket.count;
          bucket = std::move(whole);
        } else {
          finished[bucket.line()] = bucket;
          lines_with_witness.insert(bucket.line());
        }
      }
      return buckets;
    };
    std::vector<Bucket> buckets = finish();
    const auto goes_on = [&] { return !interrupt.raised(); };
    const Plan plan = is_campaign_folder ? plan_of(settings) : Plan{};
    const std::map<std::string, Expectation> expected = expectations_of(plan, settings.units);
    if (is_campaign_folder && fill_holes(triage, buckets, plan, settings.units, expected, request.jobs, goes_on))
      buckets = finish();
    if (request.deepen_cases && deepen(triage, buckets, request.deepen_cases, deepen_seed)) buckets = finish();
    if (is_campaign_folder) add_extents(buckets, expected, request.jobs);
    for (const auto& [reason, count] : triage.refused()) outcome.left_out[reason] += count;
    uint64_t broken_contracts = triage.refused_of_contract();
    if (is_campaign_folder) {
      for (const auto& [severity, count] : lost_findings(folder, held)) {
        outcome.left_out[folder + "/summary.json lists them, and no segment there holds them"] += count;
        if (severity == name_of(Severity::contract)) broken_contracts += count;
      }
    }
    outcome.left_out_of_contract += broken_contracts;
    const std::string silent = silence_message(answers_of(plan, progress));
    if (outcome.inconclusive.empty()) outcome.inconclusive = broken_contracts ? not_triaged : silent;
    for (Bucket& bucket : buckets) {
      bucket.seed = settings.seed;
      bucket.first_seen = bucket.last_seen = now;
    }
    if (store) {
      store->atomically([&] {
        store->set_inconclusive(settings.uuid, broken_contracts ? not_triaged : silent);
        for (const Bucket& bucket : buckets) store->add(bucket, settings.uuid);
        if (is_campaign_folder) add_circumstances(*store, folder, settings, plan, request.jobs);
      });
      store->write_witnesses();
    }
    for (Bucket& bucket : buckets) {
      if (!stored.count(bucket.id()) &&
          std::find(outcome.new_ids.begin(), outcome.new_ids.end(), bucket.id()) == outcome.new_ids.end())
        outcome.new_ids.push_back(bucket.id());
      outcome.buckets.push_back(std::move(bucket));
    }
  }
  if (store) {  // the store holds all of the buckets
    std::map<std::string, Bucket> in_store;
    for (Bucket& bucket : store->buckets()) in_store[bucket.id()] = std::move(bucket);
    for (Bucket& bucket : outcome.buckets) bucket = in_store.at(bucket.id());
  }
  std::sort(outcome.buckets.begin(), outcome.buckets.end(), listed_before);
  outcome.buckets.erase(std::unique(outcome.buckets.begin(), outcome.buckets.end(),
                                    [](const Bucket& x, const Bucket& y) { return x.id() == y.id(); }),
                        outcome.buckets.end());
  return outcome;
}

void say_left_out(const TriageOutcome& outcome) {
  for (const auto& [reason, records] : outcome.left_out)
    fmt::print(stderr, "mmafuzz: {} records left out: {}\n", records, reason);
  if (outcome.left_out_of_contract)
    fmt::print(stderr, "mmafuzz: {} of them say that a contract is broken: this is not triaged\n",
               outcome.left_out_of_contract);
}

Conclusions conclusions_of(const TriageRequest& request, const TriageOutcome& outcome, const Knowledge& knowledge) {
  std::map<std::string, Expectation> expected;
  for (const std::string& path : request.paths) {
    if (!is_campaign(path)) continue;
    const CampaignSettings settings = load_settings(path + "/campaign.json");
    const CampaignProgress progress = load_progress(path + "/progress.json");
    for (const auto& [name, expectation] : expectations_of(plan_of(settings), settings.units, progress)) {
      Expectation& known = expected[name];
      if (expectation.is_required || !known.is_required) known = expectation;
    }
  }
  Conclusions all = conclude(outcome.buckets, knowledge, expected);
  all.inconclusive = outcome.inconclusive;
  return all;
}

}  // namespace mmafuzz
