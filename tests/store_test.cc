// The store: every field, listing, witnesses, decisions of people.
#include "tests/store_fixtures.h"

namespace mmafuzz {
namespace {

using namespace store_test;

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
  EXPECT_EQ(std::tie(c.seed, c.command, c.machine, c.version),
            std::make_tuple(7u, "mmafuzz campaign", "a machine", "0.1.0"));
}

TEST(Store, IsAWalDatabaseWithItsApplicationIdAndVersion) {
  const Folder folder;
  { const Store made(folder / "a.store", Access::write); }
  EXPECT_EQ(sql(folder / "a.store", "PRAGMA journal_mode; PRAGMA application_id; PRAGMA user_version"),
            "wal\n1835884902\n1\n");
  EXPECT_EQ(bytes_of(folder / "a.store").substr(68, 4), "mmaf");
  EXPECT_EQ(contents_of(folder.path()).size(), 1u) << "the last to close leaves one file";
}

TEST(Store, ABucketOfAnUnknownCampaignIsRefusedWhole) {
  const Folder folder;
  Store store(folder / "a.store", Access::write);
  EXPECT_THAT(error_of([&] { store.add(some_bucket(1), "nobody"); }), HasSubstr("FOREIGN KEY"));
  EXPECT_TRUE(store.buckets().empty());
}

TEST(Store, AReaderCannotWrite) {
  const Folder folder;
  make_store(folder / "a.store", 2);
  Store reader(folder / "a.store", Access::read);
  EXPECT_THAT(error_of([&] { reader.set_status(some_bucket(1).id(), BucketStatus::known, "", 1); }),
              HasSubstr("cannot be opened or written"));
  EXPECT_THAT(error_of([&] { reader.add_campaign(some_campaign("d")); }), HasSubstr("cannot be opened or written"));
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
  for (const char* none : {"", "x", "%", "_", "00000000000"})
    EXPECT_THAT(error_of([&] { store.find(none); }), HasSubstr("no bucket"));
}

TEST(Store, TheSmallerWitnessStaysWithItsDetail) {
  const Bucket base = some_bucket(1);
  const auto with = [&](uint64_t addends, const std::string& witness) {
    Bucket b = base;
    b.addends = addends;
    b.witness = witness;
    b.detail = "of " + witness;
    return b;
  };
  const std::vector<Bucket> from_best = {with(1, "zzzz"), with(2, "aa"), with(2, "ab"),
                                         with(2, "aaa"),  with(3, "a"),  with(0, "")};
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

TEST(Store, AWitnessComesBackAsItWasThoughItIsStoredShort) {
  Bucket plain = some_bucket(1);
  const std::string property = "property equal exact model:u1\n";
  const std::string results = "# results 3f800000 3f800001\n", op = "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=1\n";
  const auto text = [&](const std::string& detail, const std::string& statement) {
    return "mmafuzz-cases 1\n# " + plain.line() + "\n# " + detail + "\n# severity semantic\n" + results + statement +
           op + "3c00 | 3c00 | 00000000\n";
  };
  std::vector<std::pair<std::string, bool>> texts = {
      {text(plain.detail, property), true},
      {text(plain.detail, std::string(not_minimized) + "\n" + property), true},
      {text("another detail", property), false},
      {text(plain.detail, "property equal exact model:u2\n"), false},
      {text(plain.detail, ""), false},
      {"mmafuzz-cases 1\n", false},
      {"", false}};
  for (const std::string cases : {"0000 0000 0000 0000 | 0000 0000 0000 0000 | 00000000\n",
                                  "00 00 00 00 00 | 3c 3c 3c 3c 3c | 00000000\n00 00 00 00 01 | 0 0 0 0 0\n",
                                  "0000 0000 0000", "1 1 1 1 11 111 | \n", "# a star * of somebody\n"})
    texts.emplace_back(text(plain.detail, property) + cases, cases[0] != '#');
  for (const auto& [witness, short_form] : texts) {
    const Folder folder;
    Bucket bucket = plain;
    bucket.witness = witness;
    {
      Store store(folder / "a.store", Access::write);
      store.add_campaign(some_campaign("c"));
      store.add(bucket, "c");
      EXPECT_EQ(store.find(bucket.id()).witness, witness);
    }
    EXPECT_EQ(sql(folder / "a.store", "SELECT length(witness) FROM buckets") != std::to_string(witness.size()) + "\n",
              short_form)
        << witness;
  }
  const Folder folder;
  plain.witness = text(plain.detail, property) + "0000 0000 0000 0000 | 3c00 0000 0000 | 0000\n";
  Store store(folder / "a.store", Access::write);
  store.add_campaign(some_campaign("c"));
  store.add(plain, "c");
  EXPECT_NE(sql(folder / "a.store", "SELECT witness FROM buckets").find("0000*4 | 3c00 0000*2 | 0000\n"),
            std::string::npos);
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
  Bucket again = some_bucket(1);
  again.status = BucketStatus::fixed;  // only set_status decides
  again.status_set = 9000;
  mine.add(again, "c");
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

TEST(Store, PruneDropsTextsThatNoBucketHasAnyMore) {
  const Folder folder;
  make_store(folder / "a.store", 3);
  Store store(folder / "a.store", Access::write);
  Bucket smaller = some_bucket(1);
  smaller.addends = 1;
  smaller.detail = "a sentence that goes";
  smaller.facts = {"fraction_bits=23~24"};
  store.add(smaller, "c");
  smaller.addends = 0;
  smaller.detail = "a sentence that stays";
  smaller.facts = {"fraction_bits=23~25"};
  store.add(smaller, "c");
  const auto texts_like = [&](const std::string& glob) {
    return sql(folder / "a.store", "SELECT text FROM texts WHERE text GLOB '" + glob + "' ORDER BY text");
  };
  ASSERT_EQ(texts_like("a sentence*"), "a sentence that goes\na sentence that stays\n");
  const auto buckets = [&] {
    std::string all;
    for (const Bucket& b : store.buckets())
      for (const std::string& text : {text_of(b), b.facts.empty() ? std::string("none") : b.facts[0]}) all += text;
    return all;
  };
  const std::string before = buckets();
  store.prune(0);
  EXPECT_EQ(texts_like("a sentence*"), "a sentence that stays\n");
  EXPECT_EQ(texts_like("fraction_bits=*"), "fraction_bits=23~25\n");
  EXPECT_EQ(texts_like("fraction_bits: 23*"), some_bucket(0).detail + "\n") << "another bucket has it";
  EXPECT_EQ(buckets(), before);
  EXPECT_EQ(sql(folder / "a.store", "PRAGMA foreign_key_check"), "");
}

}  // namespace
}  // namespace mmafuzz
