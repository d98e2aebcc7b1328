// The store: what campaigns found, as one SQLite file (docs/store.md), beside it one text file per witness in
// `witnesses/`. It can be read without the campaign's folder. Stores can be merged in any order and repeatedly, with
// the same result.
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
  double seconds = 0;
  uint64_t cases = 0, inputs = 0, seed = 0;
  std::string command, machine, version;
  /// Why nothing can be concluded from what is there: not_triaged, or a unit answered no case.
  std::string inconclusive = {};
};

/// How far a campaign was `second` seconds after its start.
struct CampaignSample {
  std::string campaign;
  int64_t second = 0;
  uint64_t cases = 0, bins = 0, buckets = 0;
};

struct CoverageRecord {
  std::string campaign, field;  ///< field: the focus unit, or the target where there is none
  std::string op;               ///< label, "dot.f32.f16.f16.f32"
  std::string bin;              ///< not ruled out for the field; name of docs/coverage.md: its group, a dot, ...
  uint64_t hits = 0;            ///< campaigns that reached it: 1 or 0 of one campaign
};

/// A property of two units, or of one (`second_unit` empty), on one op.
struct PairRecord {
  std::string campaign, op, first_unit, second_unit;
  uint64_t compared = 0, differing = 0;  ///< cases
  std::string property = "equal";
};

/// What a listing shows; globs have * and ?.
struct BucketFilter {
  std::optional<Severity> severity = {};
  std::optional<BucketStatus> status = {};
  std::string cause = "*", unit = "*", op = "*";  ///< unit: any of the bucket's
};

/// What two sources know of one bucket (same id), count aside. Commutative, associative and idempotent: first seen is
/// the earlier, with its seed; the witness is the smaller one (fewer addends, shorter, lexicographically first), with
/// its command and detail; the status is the one that a person set last; severity is the gravest.
Bucket joined(const Bucket& x, const Bucket& y);

/// Every error is a std::runtime_error with one line: the file, what is wrong, what to do. Where one is thrown, the
/// file is as before.
class Store {
 public:
  Store(const std::string& path, Access access);

  /// The same campaign again: the greater seconds, cases and inputs are kept.
  void add_campaign(const CampaignRecord& campaign);
  /// Says why nothing can be concluded from the campaign, "" where something can. It must have been added.
  void set_inconclusive(const std::string& campaign, const std::string& reason);
  /// `bucket.count`: raw divergences in this campaign so far; the greatest ever given is kept. Status and note of the
  /// argument are ignored, those of a bucket that is there stay. Its campaign must have been added.
  void add(const Bucket& bucket, const std::string& campaign);
  void add(const std::vector<CampaignSample>& samples);
  void add(const std::vector<CoverageRecord>& coverage);
  void add(const std::vector<PairRecord>& pairs);
  /// Those that a campaign other than this one saw.
  std::vector<Bucket> buckets_beside(const std::string& campaign) const;
  /// By id. `when`: seconds since 1970, UTC.
  void set_status(const std::string& id, BucketStatus status, const std::string& note, int64_t when);
  /// Everything of the other store, in one transaction.
  void merge_from(const Store& other);
  /// Of campaigns that started before `before` (seconds since 1970, UTC) progress, coverage and pairs go; the campaigns
  /// themselves, buckets, counts, witnesses and decisions stay. Texts that no bucket has any more go, too. Gives the
  /// room back to the file system. Returns of how many campaigns something went.
  size_t prune(int64_t before);
  /// All writes inside are one transaction: a kill, an exception or a full disk leaves all or none of them.
  void atomically(const std::function<void()>& writes) { database_.atomically(writes); }

  /// In the order of listed_before; count is the sum over campaigns.
  std::vector<Bucket> buckets(const BucketFilter& filter = {}) const;
  /// By id or by a beginning of it that no other has.
  Bucket find(const std::string& id) const;
  std::vector<CampaignRecord> campaigns() const;  ///< by start
  /// Of one campaign, or with "" of all: samples one campaign after the other; coverage and pairs added up, their
  /// campaign then "".
  std::vector<CampaignSample> samples(const std::string& campaign = "") const;
  std::vector<CoverageRecord> coverage(const std::string& campaign = "") const;
  std::vector<PairRecord> pairs(const std::string& campaign = "") const;
  /// Of each campaign the bins that any of its fields reached.
  std::map<std::string, std::set<std::string>> bins_of_campaigns() const;
  /// Of each bucket the campaigns that saw it, with the number of divergences.
  std::map<std::string, std::vector<std::pair<std::string, uint64_t>>> counts() const;

  const std::string& path() const { return database_.path(); }
  /// Writes `witnesses/<id>.cases` beside the store for every bucket whose file is missing or differs; each appears
  /// whole or not at all.
  void write_witnesses() const;

 private:
  Database database_;
};

}  // namespace mmafuzz
