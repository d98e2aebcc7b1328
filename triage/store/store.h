// The store: what campaigns found, as one SQLite file (docs/store.md). The folder `witnesses/` beside the file holds
// one text file per minimized witness. A store can be read without the campaign's folder. Stores can be merged in any
// order and repeatedly, with the same result.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "triage/bucket.h"
#include "triage/store/database.h"

namespace mmafuzz {

inline constexpr char not_triaged[] = "divergences are not all triaged (mmafuzz triage)";

struct CampaignRecord {
  std::string uuid;     ///< identifies the campaign; it stays the same when the campaign is resumed or triaged again
  int64_t started = 0;  ///< seconds since 1970, UTC
  double seconds = 0;   ///< how long it ran
  uint64_t cases = 0, inputs = 0, seed = 0;  ///< cases evaluated; inputs, each of which may be many cases; its seed
  std::string command, machine, version;     ///< shell command; CPU, GPU and operating system; version of mmafuzz
  /// Why nothing can be concluded from the campaign: not_triaged, or a unit answered no case. "": something can.
  std::string inconclusive = {};
};

/// The progress of a campaign at one time.
struct CampaignSample {
  std::string campaign;                       ///< uuid
  int64_t second = 0;                         ///< seconds since its start
  uint64_t cases = 0, bins = 0, buckets = 0;  ///< evaluated, reached (summed over fields) and found by then
};

/// A coverage bin that is not ruled out for a field and an op.
struct CoverageRecord {
  std::string campaign, field;  ///< uuid; the focus unit, or the target where there is none
  std::string op;               ///< label, "dot.f32.f16.f16.f32"
  std::string bin;              ///< name of docs/coverage.md: its group, a dot, ...
  uint64_t hits = 0;            ///< number of campaigns that reached the bin: 0 or 1 in a record of one campaign
};

/// On how many cases of an op a property of two units, or of one (`second_unit` empty), was checked and failed.
struct PairRecord {
  std::string campaign, op, first_unit, second_unit;
  uint64_t compared = 0, differing = 0;  ///< cases
  std::string property = "equal";
};

/// Which buckets a listing shows: those for which all members hold.
struct BucketFilter {
  std::optional<Severity> severity = {};
  std::optional<BucketStatus> status = {};
  std::string cause = "*", unit = "*", op = "*";  ///< globs with * and ?; `unit` matches any unit of a bucket
};

/// Joins two records of one bucket (same id), but for the count. Commutative, associative and idempotent: first_seen is
/// the earlier, with its seed; last_seen the later; the witness is the smaller one (fewer addends, minimized, shorter,
/// lexicographically first), with its detail; the status is that which a person set last; severity is the gravest.
Bucket joined(const Bucket& x, const Bucket& y);

/// Every error is a std::runtime_error with one line: the file, what is wrong, what to do. Where one is thrown, the
/// file is as before.
class Store {
 public:
  Store(const std::string& path, Access access);

  /// Adds a campaign. Of one that is there already, the maximum of seconds, cases and inputs is kept.
  void add_campaign(const CampaignRecord& campaign);
  /// Sets CampaignRecord::inconclusive of a campaign that has been added. `campaign` is a uuid here and below.
  void set_inconclusive(const std::string& campaign, const std::string& reason);
  /// `bucket.count`: raw divergences in this campaign so far, of which the maximum is kept. Status and note of the
  /// argument are ignored; those in the store stay. The campaign must have been added.
  void add(const Bucket& bucket, const std::string& campaign);
  // Of a record that is there already, the maximum of each number is kept, and a bin that was reached stays so.
  void add(const std::vector<CampaignSample>& samples);
  void add(const std::vector<CoverageRecord>& coverage);
  void add(const std::vector<PairRecord>& pairs);
  /// The buckets that a campaign other than this one saw.
  std::vector<Bucket> buckets_beside(const std::string& campaign) const;
  /// `id`: as for find(). `when`: seconds since 1970, UTC.
  void set_status(const std::string& id, BucketStatus status, const std::string& note, int64_t when);
  /// Adds everything of the other store, in one transaction.
  void merge_from(const Store& other);
  /// Deletes progress, coverage and pairs of campaigns that started before `before` (seconds since 1970, UTC), and
  /// texts that no bucket uses. Campaigns, buckets, counts, witnesses and decisions stay. Returns the room to the file
  /// system. Returns the number of campaigns of which something was deleted.
  size_t prune(int64_t before);
  /// All writes inside are one transaction: a kill, an exception or a full disk leaves all or none of them.
  void atomically(const std::function<void()>& writes) { database_.atomically(writes); }

  /// In the order of listed_before(); count is the sum over campaigns.
  std::vector<Bucket> buckets(const BucketFilter& filter = {}) const;
  /// The bucket with this id or prefix of an id. Throws where no bucket or several have it.
  Bucket find(const std::string& id) const;
  std::vector<CampaignRecord> campaigns() const;  ///< in the order of their starts
  // Of one campaign, or of all with "": then samples are ordered by campaign, and coverage and pairs are summed and
  // have the campaign "".
  std::vector<CampaignSample> samples(const std::string& campaign = "") const;
  std::vector<CoverageRecord> coverage(const std::string& campaign = "") const;
  std::vector<PairRecord> pairs(const std::string& campaign = "") const;
  /// By uuid of a campaign, the bins that any of its fields reached.
  std::map<std::string, std::set<std::string>> bins_of_campaigns() const;
  /// By id of a bucket, the campaigns that saw it, each with its number of divergences.
  std::map<std::string, std::vector<std::pair<std::string, uint64_t>>> counts() const;

  const std::string& path() const { return database_.path(); }
  /// Writes `witnesses/<id>.cases` beside the store for every bucket with a minimized witness whose file is missing or
  /// differs. Each file is replaced as a whole.
  void write_witnesses() const;

 private:
  Database database_;
};

}  // namespace mmafuzz
