// The store: round trips, kills, damage, full disks, and merging against an independent twin: sets of facts, whose union is a merge.
#include "triage/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "tests/case_count.h"

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "store_test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() {
    fs::permissions(path_, fs::perms::owner_all);
    fs::remove_all(path_);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

void write_bytes(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

/// Names and contents of all files.
std::map<std::string, std::string> contents_of(const std::string& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::directory_iterator(folder)) all[entry.path().filename()] = bytes_of(entry.path());
  return all;
}

template <class Body>
std::string error_of(const Body& body) {
  try {
    body();
  } catch (const std::runtime_error& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    return what;
  }
  return "no error";
}
std::string error_of_opening(const std::string& path, Access access) {
  return error_of([&] { Store(path, access); });
}

/// Runs the body in a process of its own and returns its text; a test stays in one piece whatever happens there.
template <class Body>
std::string in_child(const Body& body) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    std::string text;
    try {
      text = body();
    } catch (const std::exception& error) {
      text = std::string("thrown: ") + error.what();
    }
    if (write(ends[1], text.data(), text.size()) < 0) _exit(1);
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? text : "child died with status " + std::to_string(status);
}

/// SQL on a file behind the store's back.
std::string sql(const std::string& path, const std::string& text) {
  sqlite3* connection = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &connection), SQLITE_OK);
  std::string result;
  const auto collect = [](void* to, int columns, char** values, char**) {
    for (int i = 0; i < columns; ++i) *static_cast<std::string*>(to) += std::string(values[i] ? values[i] : "NULL") + (i + 1 < columns ? "|" : "\n");
    return 0;
  };
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(connection, text.c_str(), collect, &result, &error), SQLITE_OK) << error;
  sqlite3_close(connection);
  return result;
}

Bucket some_bucket(int number) {
  Bucket b;
  b.key = {"equal", "dot.f32.f16.f16.f32", {"exact", "model:u" + std::to_string(number)}, "normal"};
  b.cause = "fraction_bits";
  b.detail = "fraction_bits: 23 against 24";
  b.count = 5;
  b.first_seen = 1000;
  b.last_seen = 2000;
  b.seed = 7;
  b.command = "mmafuzz explain";
  b.witness = "mmafuzz-cases 1\n# case " + std::to_string(number) + "\n";
  b.addends = 2;
  return b;
}

CampaignRecord some_campaign(const std::string& uuid) { return {uuid, 1000, 60.5, 10, 20, 7, "mmafuzz campaign", "a machine", "0.1.0"}; }

std::string text_of(const Bucket& b) {
  std::string text = b.line() + "\nid " + b.id() + "\ndetail " + b.detail + "\nseverity " + name_of(b.severity);
  for (const uint64_t number : {b.count, static_cast<uint64_t>(b.first_seen), static_cast<uint64_t>(b.last_seen), b.seed, b.addends, static_cast<uint64_t>(b.status_set)})
    text += " " + std::to_string(number);
  return text + " " + name_of(b.status) + "\nnote " + b.note + "\ncommand " + b.command + "\nwitness " + b.witness + "\n";
}

TEST(Store, KeepsEveryFieldOfABucket) {
  const Folder folder;
  Bucket b = some_bucket(1);
  b.severity = Severity::accuracy;
  b.seed = ~uint64_t{0};
  b.first_seen = -5;
  b.detail = "it's \"quoted\", two lines\nand \xc3\xa9";
  b.witness = std::string(100000, 'x') + "\n";
  Bucket one_unit = some_bucket(2);
  one_unit.key.units = {"model:alone?block=8,fraction_bits=24"};
  one_unit.key.property = "monotone_in_c";
  {
    Store store(folder / "a.store", Access::write);
    store.add_campaign(some_campaign("c"));
    store.add(b, "c");
    store.add(one_unit, "c");
  }
  const Store store(folder / "a.store", Access::read);
  EXPECT_EQ(text_of(store.find(b.id())), text_of(b));
  EXPECT_EQ(text_of(store.find(one_unit.id().substr(0, 6))), text_of(one_unit));
  ASSERT_EQ(store.campaigns().size(), 1u);
  const CampaignRecord c = store.campaigns()[0];
  EXPECT_EQ(std::tie(c.uuid, c.started, c.seconds, c.cases, c.inputs), std::make_tuple("c", 1000, 60.5, 10u, 20u));
  EXPECT_EQ(std::tie(c.seed, c.command, c.machine, c.version), std::make_tuple(7u, "mmafuzz campaign", "a machine", "0.1.0"));
}

TEST(Store, IsAWalDatabaseWithItsApplicationIdAndVersion) {
  const Folder folder;
  Store(folder / "a.store", Access::write);
  EXPECT_EQ(sql(folder / "a.store", "PRAGMA journal_mode; PRAGMA application_id; PRAGMA user_version"), "wal\n1835884902\n2\n");
  EXPECT_EQ(bytes_of(folder / "a.store").substr(68, 4), "mmaf");
  EXPECT_EQ(contents_of(folder.path()).size(), 1u) << "the last to close leaves one file";
}

TEST(Store, ABucketOfAnUnknownCampaignIsRefusedWhole) {
  const Folder folder;
  Store store(folder / "a.store", Access::write);
  EXPECT_THAT(error_of([&] { store.add(some_bucket(1), "nobody"); }), HasSubstr("FOREIGN KEY"));
  EXPECT_TRUE(store.buckets().empty());
}

TEST(Store, ListsUnexplainedFirstAndFilters) {
  const Folder folder;
  Store store(folder / "a.store", Access::write);
  store.add_campaign(some_campaign("c"));
  Bucket contract = some_bucket(1), unknown = some_bucket(2), flaky = some_bucket(3), plain = some_bucket(0);
  contract.severity = Severity::contract;
  unknown.cause = unexplained;
  flaky.cause = unstable;
  for (const Bucket& b : {plain, flaky, unknown, contract}) store.add(b, "c");
  std::string order;
  for (const Bucket& b : store.buckets()) order += b.key.units[1].back();
  EXPECT_EQ(order, "1230");
  const auto count = [&](const BucketFilter& filter) { return store.buckets(filter).size(); };
  EXPECT_EQ(count({.severity = Severity::contract}), 1u);
  EXPECT_EQ(count({.cause = "un*"}), 2u);
  EXPECT_EQ(count({.unit = "*u2"}), 1u);
  EXPECT_EQ(count({.unit = "exact"}), 4u);
  EXPECT_EQ(count({.op = "dot.f16.*"}), 0u);
  store.set_status(plain.id(), BucketStatus::expected, "as published", 3000);
  EXPECT_EQ(count({.status = BucketStatus::expected}), 1u);
  EXPECT_EQ(count({.status = BucketStatus::new_bucket}), 3u);
}

TEST(Store, FindNamesWhatIsMissingOrAmbiguous) {
  const Folder folder;
  Store store(folder / "a.store", Access::write);
  store.add_campaign(some_campaign("c"));
  for (int i = 0; i < 40; ++i) store.add(some_bucket(i), "c");  // more than there are hexadecimal digits
  std::string twice;
  std::map<char, int> begins;
  for (const Bucket& b : store.buckets())
    if (++begins[b.id()[0]] == 2) twice = b.id().substr(0, 1);
  EXPECT_THAT(error_of([&] { store.find(twice); }), HasSubstr("give more digits"));
  for (const char* none : {"", "x", "%", "_", "00000000000"}) EXPECT_THAT(error_of([&] { store.find(none); }), HasSubstr("no bucket"));
}

TEST(Store, TheSmallerWitnessStaysWithItsCommand) {
  const Bucket base = some_bucket(1);
  const auto with = [&](uint64_t addends, const std::string& witness) {
    Bucket b = base;
    b.addends = addends;
    b.witness = witness;
    b.command = "replay " + witness;
    return b;
  };
  const std::vector<Bucket> from_best = {with(1, "zzzz"), with(2, "aa"), with(2, "ab"), with(2, "aaa"), with(3, "a"), with(0, "")};
  for (size_t x = 0; x < from_best.size(); ++x) {
    for (size_t y = 0; y < from_best.size(); ++y) {
      const Folder folder;
      Store store(folder / "a.store", Access::write);
      store.add_campaign(some_campaign("c"));
      store.add(from_best[x], "c");
      store.add(from_best[y], "c");
      EXPECT_EQ(text_of(store.find(base.id())), text_of(from_best[std::min(x, y)])) << x << " then " << y;
    }
  }
}

TEST(Store, ADecisionSurvivesTriageAndTheLaterOfTwoWins) {
  const Folder folder;
  Store mine(folder / "mine.store", Access::write), theirs(folder / "theirs.store", Access::write);
  const std::string id = some_bucket(1).id();
  for (Store* store : {&mine, &theirs}) {
    store->add_campaign(some_campaign("c"));
    store->add(some_bucket(1), "c");
  }
  mine.set_status(id, BucketStatus::known, "mine", 5000);
  mine.add(some_bucket(1), "c");
  mine.merge_from(theirs);
  EXPECT_EQ(mine.find(id).status, BucketStatus::known) << "over new, by triage and by merge";
  theirs.set_status(id, BucketStatus::fixed, "theirs", 5001);
  mine.merge_from(theirs);
  EXPECT_EQ(mine.find(id).note, "theirs");
  mine.set_status(id, BucketStatus::new_bucket, "not so", 5001);  // in the same second, but after
  mine.merge_from(theirs);
  EXPECT_EQ(mine.find(id).status, BucketStatus::new_bucket);
  theirs.merge_from(mine);
  EXPECT_EQ(theirs.find(id).note, "not so");
  EXPECT_EQ(theirs.find(id).count, 5u);
}

// ---- merging, against sets of facts ----

using Texts = std::vector<std::string>;

/// All that was ever said to a store. A merge is the union of two, and what a store shows follows from the set alone.
struct Facts {
  struct OfBucket {
    std::set<std::pair<int64_t, uint64_t>> seen;
    std::set<int64_t> last;
    std::set<int> severity;
    std::set<std::tuple<uint64_t, size_t, std::string, std::string, std::string>> witness;  // addends, length, text, command, detail
    std::set<std::tuple<int64_t, int, std::string>> decision;
    std::set<std::pair<std::string, uint64_t>> count;
  };
  std::map<std::string, OfBucket> bucket;                        // by id
  std::map<std::string, std::string> line;                       // by id
  std::set<std::pair<std::string, double>> campaign;             // uuid, seconds
  std::set<std::tuple<std::string, int64_t, uint64_t>> sample;   // campaign, second, bins
  std::set<std::tuple<std::string, std::string, uint64_t>> hit;  // campaign, bin, hits
  std::set<std::tuple<std::string, std::string, uint64_t>> pair; // campaign, unit, differing

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
      const auto& [addends, length, text, command, detail] = *b.witness.begin();
      const auto& [when, status, note] = *b.decision.rbegin();
      all.push_back(line.at(id) + "\nid " + id + "\ndetail " + detail + "\nseverity " + name_of(static_cast<Severity>(*b.severity.begin())) + " " +
                    std::to_string(sum) + " " + std::to_string(b.seen.begin()->first) + " " + std::to_string(*b.last.rbegin()) + " " +
                    std::to_string(b.seen.begin()->second) + " " + std::to_string(addends) + " " + std::to_string(when) + " " +
                    name_of(static_cast<BucketStatus>(status)) + "\nnote " + note + "\ncommand " + command + "\nwitness " + text + "\n");
    }
    std::map<std::string, std::string> rows;
    for (const auto& [uuid, seconds] : campaign) rows["campaign " + uuid] = std::to_string(seconds);
    for (const auto& [uuid, second, bins] : sample) rows["sample " + uuid + " " + std::to_string(second)] = std::to_string(bins);
    for (const auto& [uuid, bin, hits] : hit) rows["hit " + uuid + " " + bin] = std::to_string(hits);
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
    for (const CoverageRecord& r : store.coverage(c.uuid)) all.push_back("hit " + r.campaign + " " + r.bin + " " + std::to_string(r.hits));
    for (const PairRecord& r : store.pairs(c.uuid)) all.push_back("pair " + r.campaign + " " + r.second_unit + " " + std::to_string(r.differing));
  }
  for (const CampaignSample& s : store.samples()) all.push_back("sample " + s.campaign + " " + std::to_string(s.second) + " " + std::to_string(s.bins));
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
    b.command = std::string(1, static_cast<char>('a' + up_to(2)));
    b.detail = std::string(1, static_cast<char>('a' + up_to(2)));
    b.count = up_to(100);
    store.add(b, uuid);
    Facts::OfBucket& of = facts.bucket[b.id()];
    facts.line[b.id()] = b.line();
    of.seen.insert({b.first_seen, b.seed});
    of.last.insert(b.last_seen);
    of.severity.insert(static_cast<int>(b.severity));
    of.witness.insert({b.addends, b.witness.size(), b.witness, b.command, b.detail});
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
    store.add(std::vector<CoverageRecord>{{uuid, "field", "op", "group", bin, hits}});
    store.add(std::vector<PairRecord>{{uuid, "op", "exact", unit, 10, differing}});
    facts.sample.insert({uuid, second, bins});
    facts.hit.insert({uuid, bin, hits});
    facts.pair.insert({uuid, unit, differing});
  }
  return facts;
}

TEST(Store, MergingIsAUnionOfFacts) {
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

TEST(Store, AddsUpCoverageAndPairsOfAllCampaigns) {
  const Folder folder;
  Store store(folder / "a.store", Access::write);
  for (const char* uuid : {"c", "d"}) store.add_campaign(some_campaign(uuid));
  store.add(std::vector<CoverageRecord>{{"c", "f", "o", "align", "x", 3}, {"c", "f", "o", "align", "never", 0}, {"d", "f", "o", "align", "x", 4}, {"d", "f", "o", "align", "never", 0}});
  store.add(std::vector<PairRecord>{{"c", "o", "u", "v", 100, 1}, {"d", "o", "u", "v", 200, 2}});
  ASSERT_EQ(store.coverage().size(), 2u);
  EXPECT_EQ(store.coverage()[0].bin, "never");
  EXPECT_EQ(store.coverage()[0].hits, 0u);
  EXPECT_EQ(store.coverage()[1].hits, 7u);
  EXPECT_EQ(store.coverage("d")[1].hits, 4u);
  ASSERT_EQ(store.pairs().size(), 1u);
  EXPECT_EQ(store.pairs()[0].compared, 300u);
  EXPECT_EQ(store.pairs()[0].differing, 3u);
}

// ---- kills ----

/// Lets a child write until it is killed, `delay` after its first word; returns the words that it said. It says each word after
/// the commit.
template <class Body>
std::string killed_after(useconds_t delay, const Body& body) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    body(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  std::string said(1, '\0');
  EXPECT_EQ(read(ends[0], said.data(), 1), 1);
  usleep(delay);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  char buffer[65536];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) said.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  return said;
}

TEST(Store, AKilledWriterLosesNothingCommittedAndLeavesNoHalf) {
  std::mt19937_64 random(5);
  const Folder folder;
  size_t committed = 0;
  const size_t rounds = case_count(15, 200);
  for (size_t round = 0; round < rounds; ++round) {
    const std::string said = killed_after(static_cast<useconds_t>(random() % 20000), [&](int to) {
      Store store(folder / "a.store", Access::write);
      store.add_campaign(some_campaign("c"));
      for (size_t i = committed;; ++i) {
        store.atomically([&] {
          store.add(some_bucket(static_cast<int>(2 * i)), "c");
          store.add(some_bucket(static_cast<int>(2 * i + 1)), "c");
        });
        if (write(to, "x", 1) != 1) _exit(1);
      }
    });
    const Store store(folder / "a.store", round % 2 ? Access::read : Access::write);
    const size_t pairs = store.buckets().size();
    EXPECT_EQ(pairs % 2, 0u) << "both or none";
    EXPECT_GE(pairs / 2, committed + said.size()) << "what was said is there";
    EXPECT_LE(pairs / 2, committed + said.size() + 1);
    committed = pairs / 2;
  }
  EXPECT_GT(committed, rounds);
}

TEST(Store, AKillWhileAStoreIsCreatedLeavesOneThatOpens) {
  std::mt19937_64 random(6);
  const size_t rounds = case_count(30, 500);
  for (size_t round = 0; round < rounds; ++round) {
    const Folder folder;
    killed_after(static_cast<useconds_t>(random() % 6000), [&](int to) {
      if (write(to, "x", 1) != 1) _exit(1);
      Store store(folder / "a.store", Access::write);
    });
    Store store(folder / "a.store", Access::write);
    store.add_campaign(some_campaign("c"));
    EXPECT_EQ(store.campaigns().size(), 1u);
  }
}

TEST(Store, AMergeThatIsKilledHappenedOrDidNot) {
  std::mt19937_64 random(7);
  const Folder folder;
  {
    Store from(folder / "from.store", Access::write);
    from.add_campaign(some_campaign("c"));
    from.atomically([&] {
      for (int i = 0; i < 300; ++i) from.add(some_bucket(i), "c");
    });
  }
  const size_t rounds = case_count(10, 100);
  for (size_t round = 0; round < rounds; ++round) {
    fs::remove(folder / "into.store");
    killed_after(static_cast<useconds_t>(random() % 30000), [&](int to) {
      Store into(folder / "into.store", Access::write);
      if (write(to, "x", 1) != 1) _exit(1);
      into.merge_from(Store(folder / "from.store", Access::read));
    });
    Store into(folder / "into.store", Access::write);
    const size_t found = into.buckets().size();
    EXPECT_TRUE(found == 0 || found == 300) << found;
    into.merge_from(Store(folder / "from.store", Access::read));
    EXPECT_EQ(into.buckets().size(), 300u);
    EXPECT_EQ(into.find(some_bucket(7).id()).count, 5u);
  }
}

TEST(Store, TwoWritersAndAReaderAtOnce) {
  const Folder folder;
  const auto writer = [&](int begin) {
    return [&folder, begin] {
      Store store(folder / "a.store", Access::write);
      store.add_campaign(some_campaign("c"));
      for (int i = begin; i < begin + 50; ++i) {
        store.add(some_bucket(i), "c");
        Store(folder / "a.store", Access::read).buckets();
      }
      return std::string("done");
    };
  };
  const pid_t child = fork();
  if (child == 0) {
    write_bytes(folder / "other", in_child(writer(0)));
    _exit(0);
  }
  EXPECT_EQ(in_child(writer(50)), "done");
  waitpid(child, nullptr, 0);
  EXPECT_EQ(bytes_of(folder / "other"), "done");
  EXPECT_EQ(Store(folder / "a.store", Access::read).buckets().size(), 100u);
}

// ---- files that are not what they should be ----

// The schema as version 1 had it: files of it exist, whatever the code says today.
constexpr const char version_1_store[] = R"sql(
CREATE TABLE campaigns(
  uuid TEXT PRIMARY KEY, started INTEGER NOT NULL, seconds REAL NOT NULL, cases INTEGER NOT NULL, inputs INTEGER NOT NULL,
  seed INTEGER NOT NULL, command TEXT NOT NULL, machine TEXT NOT NULL, version TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE buckets(
  id TEXT PRIMARY KEY, property TEXT NOT NULL, op TEXT NOT NULL, first_unit TEXT NOT NULL, second_unit TEXT NOT NULL,
  value_class TEXT NOT NULL, cause TEXT NOT NULL, detail TEXT NOT NULL,
  severity TEXT NOT NULL CHECK(severity IN ('contract', 'accuracy', 'semantic')),
  first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL, seed INTEGER NOT NULL, command TEXT NOT NULL,
  witness TEXT NOT NULL, addends INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'new' CHECK(status IN ('new', 'known', 'expected', 'fixed')));
CREATE TABLE counts(
  bucket TEXT NOT NULL REFERENCES buckets(id), campaign TEXT NOT NULL REFERENCES campaigns(uuid), count INTEGER NOT NULL,
  PRIMARY KEY(bucket, campaign)) WITHOUT ROWID;
CREATE TABLE samples(
  campaign TEXT NOT NULL REFERENCES campaigns(uuid), second INTEGER NOT NULL, cases INTEGER NOT NULL, bins INTEGER NOT NULL,
  buckets INTEGER NOT NULL, PRIMARY KEY(campaign, second)) WITHOUT ROWID;
CREATE TABLE coverage(
  campaign TEXT NOT NULL REFERENCES campaigns(uuid), field TEXT NOT NULL, op TEXT NOT NULL, bin_group TEXT NOT NULL,
  bin TEXT NOT NULL, hits INTEGER NOT NULL, PRIMARY KEY(campaign, field, op, bin_group, bin)) WITHOUT ROWID;
PRAGMA application_id = 1835884902;
PRAGMA user_version = 1;
PRAGMA journal_mode = wal;
)sql";

void make_version_1(const std::string& path) {
  const Bucket b = some_bucket(1);
  sql(path, std::string(version_1_store) + "INSERT INTO campaigns VALUES('c', 1000, 60.5, 10, 20, 7, 'x', 'y', 'z');" +
                "INSERT INTO buckets VALUES('" + b.id() + "', 'equal', 'dot.f32.f16.f16.f32', 'exact', 'model:u1', 'normal', 'fraction_bits', '', " +
                "'semantic', 1000, 2000, 7, '', 'witness', 2, 'expected'); INSERT INTO counts VALUES('" + b.id() + "', 'c', 9);");
}

TEST(Store, Version1IsUpgradedInPlaceAndKeepsItsDecisions) {
  const Folder folder;
  make_version_1(folder / "a.store");
  const auto before = contents_of(folder.path());
  {
    const Store reader(folder / "a.store", Access::read);
    EXPECT_EQ(reader.buckets().at(0).count, 9u);
    EXPECT_TRUE(reader.pairs().empty());
  }
  EXPECT_EQ(contents_of(folder.path()), before) << "a reader upgrades in memory";
  Store fresh(folder / "fresh.store", Access::write);
  {
    Store store(folder / "a.store", Access::write);
    const Bucket b = store.buckets().at(0);
    EXPECT_EQ(b.status, BucketStatus::expected);
    EXPECT_EQ(b.status_set, 1) << "at an unknown time, before all others";
    EXPECT_EQ(b.note, "");
    fresh.merge_from(store);
  }
  EXPECT_EQ(sql(folder / "a.store", "PRAGMA user_version"), "2\n");
  const std::string tables = "SELECT name, sql FROM sqlite_master ORDER BY name";
  EXPECT_EQ(sql(folder / "a.store", tables), sql(folder / "fresh.store", tables)) << "as if it had been created today";
  EXPECT_EQ(fresh.buckets().at(0).status, BucketStatus::expected);
}

void make_store(const std::string& path, int buckets) {
  Store store(path, Access::write);
  store.add_campaign(some_campaign("c"));
  for (int i = 0; i < buckets; ++i) store.add(some_bucket(i), "c");
}

void expect_refused_and_unchanged(const Folder& folder, const std::string& what, const std::string& because) {
  const auto before = contents_of(folder.path());
  for (const Access access : {Access::read, Access::write}) {
    const std::string error = error_of_opening(folder / "a.store", access);
    EXPECT_THAT(error, HasSubstr(folder / "a.store")) << what;
    EXPECT_THAT(error, HasSubstr(because)) << what;
    EXPECT_EQ(contents_of(folder.path()), before) << what << (access == Access::read ? ", read" : ", write");
  }
}

TEST(Store, ANewerSchemaIsRefused) {
  const Folder folder;
  make_store(folder / "a.store", 3);
  sql(folder / "a.store", "PRAGMA user_version = 3");
  expect_refused_and_unchanged(folder, "version 3", "written by a newer mmafuzz (version 3 of the mmafuzz store, this one knows up to 2)");
}

TEST(Store, WhatIsNoStoreIsRefused) {
  {
    const Folder folder;
    write_bytes(folder / "a.store", "mmafuzz-cases 1\n" + std::string(5000, '#'));
    expect_refused_and_unchanged(folder, "text", "not a mmafuzz store");
  }
  {
    const Folder folder;
    write_bytes(folder / "a.store", "short");
    expect_refused_and_unchanged(folder, "short text", "not a mmafuzz store");
  }
  {
    const Folder folder;
    sql(folder / "a.store", "CREATE TABLE theirs(x)");
    expect_refused_and_unchanged(folder, "another program's database", "not a mmafuzz store");
  }
  {
    const Folder folder;
    fs::create_directory(folder / "a.store");
    EXPECT_THAT(error_of_opening(folder / "a.store", Access::write), HasSubstr("is a folder"));
  }
  const Folder folder;
  EXPECT_THAT(error_of_opening(folder / "none.store", Access::read), HasSubstr("no such store"));
  EXPECT_THAT(error_of_opening(folder / "none/a.store", Access::write), HasSubstr("its folder does not exist"));
  EXPECT_THAT(error_of_opening("", Access::write), HasSubstr("empty"));
  write_bytes(folder / "empty.store", "");
  EXPECT_THAT(error_of_opening(folder / "empty.store", Access::read), HasSubstr("is empty, no store"));
  EXPECT_EQ(contents_of(folder.path()).size(), 1u);
}

TEST(Store, DamageIsRefusedAndTheFileStaysAsItIs) {
  const Folder original;
  make_store(original / "a.store", 200);
  const std::string whole = bytes_of(original / "a.store");
  const size_t page = 4096;
  ASSERT_GT(whole.size(), 10 * page);
  const auto damaged = [&](const std::string& what, const std::string& bytes, const std::string& because) {
    const Folder folder;
    write_bytes(folder / "a.store", bytes);
    expect_refused_and_unchanged(folder, what, because);
  };
  for (const size_t size : {size_t{50}, size_t{99}}) damaged("cut to " + std::to_string(size), whole.substr(0, size), "not a mmafuzz store");
  for (const size_t size : {size_t{100}, page - 1, page, 3 * page, whole.size() - page, whole.size() - 1})
    damaged("cut to " + std::to_string(size), whole.substr(0, size), "damaged (truncated");
  for (const size_t at : {size_t{0}, size_t{15}, size_t{68}}) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    damaged("header byte " + std::to_string(at), bytes, "not a mmafuzz store");
  }
  damaged("header of zeros", std::string(100, '\0') + whole.substr(100), "not a mmafuzz store");
  for (size_t number = 1; number < whole.size() / page; ++number) {
    std::string bytes = whole;
    bytes.replace(number * page, page, std::string(page, '\x7f'));
    damaged("page " + std::to_string(number), bytes, "the store is damaged");
  }
}

TEST(Store, ABucketUnderAnothersIdIsDamage) {
  const Folder folder;
  make_store(folder / "a.store", 1);
  sql(folder / "a.store", "UPDATE buckets SET cause = 'another'");
  EXPECT_THAT(error_of([&] { Store(folder / "a.store", Access::read).buckets(); }), HasSubstr("has another's key"));
}

// ---- where nothing can be written ----

TEST(Store, AReadOnlyFolderIsReadAndNotWritten) {
  const Folder folder;
  make_store(folder / "a.store", 3);
  fs::create_directory(folder / "old");
  make_version_1(folder / "old/a.store");
  for (const std::string& inside : {folder / "", folder / "old/"}) {
    fs::permissions(inside + "a.store", fs::perms(0444));
    fs::permissions(inside, fs::perms(0555));
  }
  const auto before = contents_of(folder / "old");
  const std::string said = in_child([&] {
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return std::string("cannot become nobody");
    std::string text = std::to_string(Store(folder / "a.store", Access::read).buckets().size()) + "\n";
    text += std::to_string(Store(folder / "old/a.store", Access::read).buckets().size()) + "\n";
    for (const char* file : {"a.store", "new.store", "old/a.store"}) text += error_of_opening(folder / file, Access::write) + "\n";
    return text + error_of([&] { Store(folder / "a.store", Access::read).write_witnesses(); });
  });
  fs::permissions(folder / "old", fs::perms::owner_all);
  const std::string denied = ": cannot be written: Permission denied; copy the store to a folder that is writable\n";
  EXPECT_EQ(said, "3\n1\n" + (folder / "a.store") + denied + (folder / "new.store") + denied + (folder / "old/a.store") + denied +
                      (folder / "witnesses") + ": cannot be created: Permission denied");
  EXPECT_EQ(contents_of(folder / "old"), before);
  EXPECT_FALSE(fs::exists(folder / "new.store"));
}

/// Fills the store until it cannot grow; then everything that was added before is there, and nothing of the last.
std::string fill_up(const std::string& path) {
  size_t added = 0;
  std::string error = "never full";
  try {
    Store store(path, Access::write);
    store.add_campaign(some_campaign("c"));
    for (; added < 1000; ++added) {
      store.atomically([&] {
        for (int part = 0; part < 3; ++part) {
          Bucket b = some_bucket(static_cast<int>(added) * 3 + part);
          b.witness = std::string(20000, 'w');
          store.add(b, "c");
        }
      });
    }
  } catch (const std::runtime_error& full) {
    error = full.what();
  }
  const size_t there = Store(path, Access::read).buckets().size();
  return error + "|" + (added > 0 && there == 3 * added ? "whole" : "added " + std::to_string(added) + ", there " + std::to_string(there));
}

TEST(Store, AFileThatMayNotGrowKeepsWhatItHas) {
  const Folder folder;
  const std::string said = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000000, 1000000};
    setrlimit(RLIMIT_FSIZE, &limit);
    return fill_up(folder / "a.store");
  });
  EXPECT_EQ(said, (folder / "a.store") + ": the disk is full or refuses writes; nothing was changed: free space and try again|whole");
  EXPECT_EQ(Store(folder / "a.store", Access::write).buckets().size() % 3, 0u);
}

TEST(Store, AFullDiskKeepsWhatItHas) {
  const Folder folder;
  const std::string said = in_child([&] {
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0)
      return std::string("no mounts");
    std::string text = fill_up(folder / "a.store");
    std::ofstream(folder / "rest") << std::string(2000000, 'x');
    text += "|" + error_of_opening(folder / "new.store", Access::write) + (fs::exists(folder / "new.store") ? "|there" : "|none");
    fs::remove(folder / "rest");
    Store again(folder / "a.store", Access::write);  // what is there is a store
    return text + "|" + std::to_string(again.buckets().size() % 3);
  });
  if (said == "no mounts") GTEST_SKIP() << "mounting is not permitted here";
  const std::string full = ": the disk is full or refuses writes; nothing was changed: free space and try again";
  EXPECT_EQ(said, (folder / "a.store") + full + "|whole|" + (folder / "new.store") + full + "|none|0");
}

// ---- witnesses as files ----

TEST(Store, EachWitnessIsAFileBesideTheStore) {
  const Folder folder;
  make_store(folder / "a.store", 3);
  Store store(folder / "a.store", Access::write);
  Bucket without = some_bucket(3);
  without.witness.clear();
  store.add(without, "c");
  store.write_witnesses();
  EXPECT_EQ(contents_of(folder / "witnesses").size(), 3u);
  const std::string file = folder / ("witnesses/" + some_bucket(2).id() + ".cases");
  EXPECT_EQ(bytes_of(file), some_bucket(2).witness);
  const auto written = fs::last_write_time(file);
  Bucket smaller = some_bucket(1);
  smaller.addends = 1;
  smaller.witness = "mmafuzz-cases 1\n";
  store.add(smaller, "c");
  store.write_witnesses();
  EXPECT_EQ(bytes_of(folder / ("witnesses/" + smaller.id() + ".cases")), smaller.witness);
  EXPECT_EQ(fs::last_write_time(file), written) << "what is right is left alone";
}

}  // namespace
}  // namespace mmafuzz
