// Merging stores, against another implementation: sets of facts, whose union is a merge.
#include <random>
#include <set>

#include "tests/case_count.h"
#include "tests/store_fixtures.h"

namespace mmafuzz {
namespace {

using namespace store_test;

using Texts = std::vector<std::string>;

/// All that was ever said to a store. A merge is the union of two, and what a store shows follows from the set alone.
struct Facts {
  struct OfBucket {
    std::set<std::pair<int64_t, uint64_t>> seen;
    std::set<int64_t> last;
    std::set<int> severity;
    std::set<std::tuple<uint64_t, size_t, std::string, std::string>> witness;  // addends, length, text, detail
    std::set<std::tuple<int64_t, int, std::string>> decision;
    std::set<std::pair<std::string, uint64_t>> count;
  };
  std::map<std::string, OfBucket> bucket;                         // by id
  std::map<std::string, std::string> line;                        // by id
  std::set<std::pair<std::string, double>> campaign;              // uuid, seconds
  std::set<std::tuple<std::string, int64_t, uint64_t>> sample;    // campaign, second, bins
  std::set<std::tuple<std::string, std::string, uint64_t>> hit;   // campaign, bin, hits
  std::set<std::tuple<std::string, std::string, uint64_t>> pair;  // campaign, unit, differing

  void unite(const Facts& other) {
    for (const auto& [id, facts] : other.bucket) {
      OfBucket& b = bucket[id];
      b.seen.insert(facts.seen.begin(), facts.seen.end());
      b.last.insert(facts.last.begin(), facts.last.end());
      b.severity.insert(facts.severity.begin(), facts.severity.end());
      b.witness.insert(facts.witness.begin(), facts.witness.end());
      b.decision.insert(facts.decision.begin(), facts.decision.end());
      b.count.insert(facts.count.begin(), facts.count.end());
    }
    line.insert(other.line.begin(), other.line.end());
    campaign.insert(other.campaign.begin(), other.campaign.end());
    sample.insert(other.sample.begin(), other.sample.end());
    hit.insert(other.hit.begin(), other.hit.end());
    pair.insert(other.pair.begin(), other.pair.end());
  }

  Texts shown() const {
    Texts all;
    for (const auto& [id, b] : bucket) {
      std::map<std::string, uint64_t> greatest;  // sets are sorted: the last one written is the greatest
      for (const auto& [uuid, count] : b.count) greatest[uuid] = count;
      uint64_t sum = 0;
      for (const auto& [uuid, count] : greatest) sum += count;
      const auto& [addends, length, text, detail] = *b.witness.begin();
      const auto& [when, status, note] = *b.decision.rbegin();
      all.push_back(line.at(id) + "\nid " + id + "\ndetail " + detail + "\nseverity " +
                    name_of(static_cast<Severity>(*b.severity.begin())) + " " + std::to_string(sum) + " " +
                    std::to_string(b.seen.begin()->first) + " " + std::to_string(*b.last.rbegin()) + " " +
                    std::to_string(b.seen.begin()->second) + " " + std::to_string(addends) + " " +
                    std::to_string(when) + " " + name_of(static_cast<BucketStatus>(status)) + "\nnote " + note +
                    "\nwitness " + text + "\n");
    }
    std::map<std::string, std::string> rows;
    for (const auto& [uuid, seconds] : campaign) rows["campaign " + uuid] = std::to_string(seconds);
    for (const auto& [uuid, second, bins] : sample)
      rows["sample " + uuid + " " + std::to_string(second)] = std::to_string(bins);
    for (const auto& [uuid, bin, hits] : hit)  // a bin that any field names is one of every field
      if (hits) rows["hit " + uuid + " " + bin] = "1";
    for (const auto& [uuid, unit, differing] : pair) rows["pair " + uuid + " " + unit] = std::to_string(differing);
    for (const auto& [name, value] : rows) all.push_back(name + " " + value);
    std::sort(all.begin(), all.end());
    return all;
  }
};

Texts shown(const Store& store) {
  Texts all;
  for (const Bucket& b : store.buckets()) all.push_back(text_of(b));
  for (const CampaignRecord& c : store.campaigns()) {
    all.push_back("campaign " + c.uuid + " " + std::to_string(c.seconds));
    for (const CoverageRecord& r : store.coverage(c.uuid))
      if (r.hits) all.push_back("hit " + r.campaign + " " + r.bin.substr(6) + " " + std::to_string(r.hits));
    for (const PairRecord& r : store.pairs(c.uuid))
      all.push_back("pair " + r.campaign + " " + r.second_unit + " " + std::to_string(r.differing));
  }
  for (const CampaignSample& s : store.samples())
    all.push_back("sample " + s.campaign + " " + std::to_string(s.second) + " " + std::to_string(s.bins));
  std::sort(all.begin(), all.end());
  return all;
}

/// Says random things to a store and to its twin; small ranges, so that stores agree and disagree often.
Facts fill(Store& store, std::mt19937_64& random) {
  const auto up_to = [&](uint64_t limit) { return random() % limit; };
  Facts facts;
  int64_t now = 100;
  for (int step = 0; step < 12; ++step) {
    const std::string uuid = "campaign" + std::to_string(up_to(3));
    CampaignRecord campaign = some_campaign(uuid);
    campaign.seconds = static_cast<double>(up_to(5));
    store.add_campaign(campaign);
    facts.campaign.insert({uuid, campaign.seconds});

    Bucket b = some_bucket(static_cast<int>(up_to(4)));
    b.first_seen = static_cast<int64_t>(up_to(5));
    b.last_seen = static_cast<int64_t>(10 + up_to(5));
    b.seed = up_to(2) ? up_to(3) : ~up_to(3);
    if (b.seed > 10) b.seed = 11;  // ties of the time are broken by the seed
    b.severity = static_cast<Severity>(up_to(3));
    b.addends = 1 + up_to(3);
    b.witness = std::string(1 + up_to(2), static_cast<char>('a' + up_to(3)));
    b.detail = std::string(1, static_cast<char>('a' + up_to(2)));
    b.count = up_to(100);
    store.add(b, uuid);
    Facts::OfBucket& of = facts.bucket[b.id()];
    facts.line[b.id()] = b.line();
    of.seen.insert({b.first_seen, b.seed});
    of.last.insert(b.last_seen);
    of.severity.insert(static_cast<int>(b.severity));
    of.witness.insert({b.addends, b.witness.size(), b.witness, b.detail});
    of.decision.insert({0, 0, ""});
    of.count.insert({uuid, b.count});
    if (up_to(4) == 0) {
      now += static_cast<int64_t>(1 + up_to(3));
      const auto status = static_cast<BucketStatus>(up_to(4));
      const std::string note(up_to(2), static_cast<char>('a' + up_to(3)));
      store.set_status(b.id(), status, note, now);
      of.decision.insert({now, static_cast<int>(status), note});
    }

    const int64_t second = static_cast<int64_t>(up_to(3));
    const uint64_t bins = up_to(9), hits = up_to(3), differing = up_to(9);
    const std::string bin = "bin" + std::to_string(up_to(3)), unit = "unit" + std::to_string(up_to(3));
    store.add(std::vector<CampaignSample>{{uuid, second, 0, bins, 0}});
    store.add(std::vector<CoverageRecord>{{uuid, "field", "op", "group." + bin, hits}});
    store.add(std::vector<PairRecord>{{uuid, "op", "exact", unit, 10, differing}});
    facts.sample.insert({uuid, second, bins});
    facts.hit.insert({uuid, bin, hits});
    facts.pair.insert({uuid, unit, differing});
  }
  return facts;
}

TEST(StoreMerge, MergingIsAUnionOfFacts) {
  std::mt19937_64 random(20);
  const size_t rounds = case_count(10, 200);
  for (size_t round = 0; round < rounds; ++round) {
    const Folder folder;
    Facts facts[3];
    for (int i = 0; i < 3; ++i) {
      Store store(folder / std::to_string(i), Access::write);
      facts[i] = fill(store, random);
      ASSERT_EQ(shown(store), facts[i].shown()) << "round " << round;
    }
    const auto merged = [&](const std::string& name, const std::vector<std::string>& from) {
      Store store(folder / name, Access::write);
      for (const std::string& other : from) store.merge_from(Store(folder / other, Access::read));
      return shown(store);
    };
    Facts two = facts[0];
    two.unite(facts[1]);
    Facts three = two;
    three.unite(facts[2]);
    EXPECT_EQ(merged("01", {"0", "1"}), two.shown()) << "a union, round " << round;
    EXPECT_EQ(merged("10", {"1", "0"}), two.shown()) << "in any order";
    EXPECT_EQ(merged("0101", {"0", "1", "0", "01", "1"}), two.shown()) << "any number of times";
    EXPECT_EQ(merged("(01)2", {"01", "2"}), three.shown()) << "in any grouping";
    merged("12", {"1", "2"});
    EXPECT_EQ(merged("0(12)", {"0", "12"}), three.shown()) << "in any grouping";
    Store self(folder / "0", Access::write);
    self.merge_from(Store(folder / "0", Access::read));
    self.merge_from(self);
    EXPECT_EQ(shown(self), facts[0].shown()) << "with itself";
    EXPECT_EQ(shown(Store(folder / "2", Access::read)), facts[2].shown()) << "what is read does not change";
  }
}

TEST(StoreMerge, AddsUpCoverageAndPairsOfAllCampaigns) {
  const Folder folder;
  Store store(folder / "a.store", Access::write);
  for (const char* uuid : {"c", "d"}) store.add_campaign(some_campaign(uuid));
  store.add(std::vector<CoverageRecord>{{"c", "f", "o", "align.x", 3},
                                        {"c", "f", "o", "align.never", 0},
                                        {"d", "f", "o", "align.x", 4},
                                        {"d", "f", "o", "align.never", 0}});
  store.add(std::vector<PairRecord>{{"c", "o", "u", "v", 100, 1}, {"d", "o", "u", "v", 200, 2}});
  ASSERT_EQ(store.coverage().size(), 2u);
  EXPECT_EQ(store.coverage()[0].bin, "align.never");
  EXPECT_EQ(store.coverage()[0].hits, 0u);
  EXPECT_EQ(store.coverage()[1].hits, 2u) << "campaigns that reached it";
  EXPECT_EQ(store.coverage("d")[1].hits, 1u);
  ASSERT_EQ(store.pairs().size(), 1u);
  EXPECT_EQ(store.pairs()[0].compared, 300u);
  EXPECT_EQ(store.pairs()[0].differing, 3u);
}

TEST(StoreMerge, TheLaterStateOfACampaignSaysWhetherItIsConclusive) {
  const Folder folder;
  const auto make = [&](const std::string& name, double seconds, const std::string& inconclusive) {
    CampaignRecord campaign = some_campaign("c");
    campaign.seconds = seconds;
    campaign.inconclusive = inconclusive;
    Store(folder / name, Access::write).add_campaign(campaign);
  };
  make("first", 60, "");
  make("resumed", 90, not_triaged);
  make("triaged", 90, "");
  const auto merged = [&](const std::string& name, const std::vector<std::string>& from) {
    Store store(folder / name, Access::write);
    for (const std::string& other : from) store.merge_from(Store(folder / other, Access::read));
    return store.campaigns()[0].inconclusive;
  };
  EXPECT_EQ(merged("a", {"first", "resumed"}), not_triaged);
  EXPECT_EQ(merged("b", {"resumed", "first"}), not_triaged);
  EXPECT_EQ(merged("c", {"first", "resumed", "triaged"}), "");
  EXPECT_EQ(merged("d", {"triaged", "resumed", "first"}), "");
}

TEST(StoreMerge, CoverageIsOfTheBinsThatAFieldCanReach) {
  const Folder folder;
  const auto make = [&](const std::string& name, const std::string& campaign,
                        const std::vector<std::array<std::string, 2>>& fields_and_bins) {
    Store store(folder / name, Access::write);
    store.add_campaign(some_campaign(campaign));
    std::vector<CoverageRecord> records;
    for (const auto& [field, bin] : fields_and_bins)
      records.push_back({campaign, field, "op", bin, bin == "align.near"});
    store.add(records);
  };
  make("a.store", "c", {{"u1", "align.near"}, {"u1", "align.far"}, {"convert", "convert.tie"}});
  make("b.store", "d", {{"u2", "round.tie"}, {"u1", "align.far"}});  // numbers of bins are others here
  Store store(folder / "a.store", Access::write);
  store.merge_from(Store(folder / "b.store", Access::read));
  std::string seen;
  for (const CoverageRecord& c : store.coverage()) seen += c.field + " " + c.bin + " " + std::to_string(c.hits) + "\n";
  EXPECT_EQ(seen, "convert convert.tie 0\nu1 align.far 0\nu1 align.near 1\nu2 round.tie 0\n");
  EXPECT_EQ(sql(folder / "a.store", "SELECT field || ' ' || bin FROM coverage WHERE campaign = 'd' ORDER BY 1"),
            "u1 align.far\nu1 align.near\nu2 round.tie\n")
      << "the view says the same";
}

}  // namespace
}  // namespace mmafuzz
