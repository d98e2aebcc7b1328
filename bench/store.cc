// mmafuzz bench store: the size of a store into which a year of nightly campaigns (nights) is merged, and the time of a
// merge, a report and trends.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "bench/bench.h"
#include "bench/measured_rows.h"
#include "triage/facts/knowledge.h"
#include "triage/facts/trends.h"
#include "triage/report/report.h"

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

constexpr int64_t first_night = 1767225600, seconds_of_a_day = 86400;  ///< the first night is 2026-01-01

struct StoreBench {
  std::string store, folder;
  unsigned nights = 365;
  unsigned samples = 256;
  MeasuredRows rows;
};

/// The content of a store of one campaign.
struct Night {
  std::vector<Bucket> buckets;
  std::vector<CampaignRecord> campaigns;
  std::vector<CoverageRecord> coverage;
  std::vector<PairRecord> pairs;
};

/// Writes a store like the given one to `file`: one in twenty buckets is missing, one in twenty bins is not hit, counts
/// are random. `number` (from 0) is the day.
void make_night(const Night& like, unsigned number, unsigned samples, const std::string& file) {
  std::mt19937_64 random(number);
  Store store(file, Access::write);
  CampaignRecord campaign = like.campaigns.front();
  campaign.uuid = fmt::format("{:032x}", number + 1);
  campaign.started = first_night + number * seconds_of_a_day;
  store.atomically([&] {
    store.add_campaign(campaign);
    for (Bucket bucket : like.buckets) {
      if (random() % 20 == 0) continue;
      bucket.count = 1 + random() % 256;
      bucket.first_seen = bucket.last_seen = campaign.started;
      store.add(bucket, campaign.uuid);
    }
    std::vector<CampaignSample> progress;
    for (unsigned i = 0; i < samples; ++i)  // about one in two minutes of a night of eight hours
      progress.push_back({campaign.uuid, int64_t{i} * 112, i * uint64_t{1000000}, i * uint64_t{30}, i});
    store.add(progress);
    std::vector<CoverageRecord> coverage = like.coverage;
    for (CoverageRecord& record : coverage) {
      record.campaign = campaign.uuid;
      if (random() % 20 == 0) record.hits = 0;
    }
    store.add(coverage);
    std::vector<PairRecord> pairs = like.pairs;
    for (PairRecord& record : pairs) record.campaign = campaign.uuid;
    store.add(pairs);
  });
}

void run(StoreBench& bench) {
  Night like;
  {
    const Store store(bench.store, Access::read);
    like = {store.buckets(), store.campaigns(), store.coverage(), store.pairs()};
  }
  if (like.campaigns.empty()) throw BadInput(bench.store + " holds no campaign");
  const std::string root = fmt::format("{}/mmafuzz-bench-store-{}", bench.folder, getpid());
  fs::create_directories(root);
  const std::string all = root + "/all.sqlite", night = root + "/night.sqlite";
  bench.rows.say(fmt::format("nights like {}: {} buckets, {} bins of fields, {} pairs, {} samples", bench.store,
                             like.buckets.size(), like.coverage.size(), like.pairs.size(), bench.samples));
  bench.rows.say(fmt::format("{:>7} {:>10} {:>13} {:>9} {:>10} {:>10}", "nights", "MB", "KB a night", "merge s",
                             "report s", "trends s"));
  double last_size = 0;
  unsigned last_night = 0;
  for (unsigned number = 0; number < bench.nights; ++number) {
    make_night(like, number, bench.samples, night);
    double merge;
    {
      Store into(all, Access::write);
      const double start = wall_seconds();
      into.merge_from(Store(night, Access::read));
      merge = wall_seconds() - start;
    }
    for (const char* end : {"", "-wal", "-shm"}) fs::remove(night + end);
    const unsigned done = number + 1;
    constexpr unsigned shown[] = {1, 7, 30, 90, 180};
    if (done != bench.nights && std::find(std::begin(shown), std::end(shown), done) == std::end(shown)) continue;
    const double start = wall_seconds();
    const std::string page = html_report(read_report_data(all), Knowledge(), registry());
    const double report = wall_seconds() - start, begin = wall_seconds();
    trends_of(Store(all, Access::read));
    const double trends = wall_seconds() - begin, size = static_cast<double>(fs::file_size(all));
    bench.rows.add({{"nights", done},
                    {"bytes", fs::file_size(all)},
                    {"merge_seconds", merge},
                    {"report_seconds", report},
                    {"trends_seconds", trends}},
                   fmt::format("{:>7} {:>10.1f} {:>13.1f} {:>9.2f} {:>10.2f} {:>10.2f}", done, size / 1e6,
                               (size - last_size) / 1e3 / (done - last_night), merge, report, trends));
    last_size = size;
    last_night = done;
  }
  Store store(all, Access::write);
  const double start = wall_seconds();
  const size_t pruned = store.prune(first_night + (int64_t{bench.nights} - 90) * seconds_of_a_day);
  bench.rows.say(fmt::format("pruned to 90 nights: {} campaigns in {:.2f} s, {:.1f} MB", pruned, wall_seconds() - start,
                             static_cast<double>(fs::file_size(all)) / 1e6));
  bench.rows.end();
  fs::remove_all(root);
}

}  // namespace

void add_bench_store(Arguments& bench, int& status) {
  auto options = std::make_shared<StoreBench>();
  options->folder = fs::temp_directory_path().string();
  Arguments* sub = bench.add_subcommand("store", "Size and times of a store into which nights are merged");
  sub->add_option("store", options->store, "store of one campaign: every night is like it")->required();
  sub->add_option("--nights", options->nights, "nights")->check(in_range(1, 10000))->capture_default_str();
  sub->add_option("--samples", options->samples, "samples of progress of a night")
      ->check(in_range(1, 100000))
      ->capture_default_str();
  sub->add_option("--folder", options->folder, "where the store is made")
      ->check(existing_path())
      ->capture_default_str();
  options->rows.add_json_flag(*sub);
  sub->footer("Example: mmafuzz bench store out/findings.sqlite --nights 365");
  sub->callback([options, &status] {
    run(*options);
    status = exit_ok;
  });
}

}  // namespace mmafuzz
