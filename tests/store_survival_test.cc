// A store survives what happens to files: kills, several processes, damage, older and newer versions, read-only
// folders, full disks.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
#include <random>
#include <set>

#include "tests/case_count.h"
#include "tests/store_fixtures.h"

namespace mmafuzz {
namespace {

using namespace store_test;

// ---- kills ----

/// Lets a child write until it is killed, `delay` after its first word; returns the words that it said. It says each
/// word after the commit.
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

TEST(StoreSurvival, AKilledWriterLosesNothingCommittedAndLeavesNoHalf) {
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

TEST(StoreSurvival, AKillWhileAStoreIsCreatedLeavesOneThatOpens) {
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

TEST(StoreSurvival, AMergeThatIsKilledHappenedOrDidNot) {
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

TEST(StoreSurvival, TwoWritersAndAReaderAtOnce) {
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

TEST(StoreSurvival, AnOlderVersionIsUpgradedInPlaceAndReadInMemory) {
  const char* const scripts[] = {"CREATE TABLE kept(x); INSERT INTO kept VALUES(5);",
                                 "ALTER TABLE kept ADD COLUMN y INTEGER NOT NULL DEFAULT 7;"};
  const DatabaseKind older{"notes", 0x6e6f7465, std::span(scripts, 1)}, newer{"notes", 0x6e6f7465, scripts};
  const Folder folder;
  const std::string file = folder / "a.notes";
  Database(file, Access::write, older);
  const auto before = contents_of(folder.path());
  EXPECT_EQ(Database(file, Access::read, newer).number("SELECT x + y FROM kept"), 12);
  EXPECT_EQ(contents_of(folder.path()), before) << "a reader upgrades in memory";
  EXPECT_EQ(Database(file, Access::write, newer).number("SELECT x + y FROM kept"), 12);
  EXPECT_EQ(sql(file, "PRAGMA user_version"), "2\n");
  try {
    Database(file, Access::read, older);
    FAIL() << "opened";
  } catch (const std::exception& e) {
    EXPECT_THAT(e.what(), HasSubstr("written by a newer mmafuzz (version 2 of the notes, this one knows up to 1)"));
  }
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

TEST(StoreSurvival, ANewerSchemaIsRefused) {
  const Folder folder;
  make_store(folder / "a.store", 3);
  sql(folder / "a.store", "PRAGMA user_version = 2");
  expect_refused_and_unchanged(folder, "version 2",
                               "written by a newer mmafuzz (version 2 of the mmafuzz store, this one knows up to 1)");
}

TEST(StoreSurvival, WhatIsNoStoreIsRefused) {
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

TEST(StoreSurvival, DamageIsRefusedAndTheFileStaysAsItIs) {
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
  for (const size_t size : {size_t{50}, size_t{99}})
    damaged("cut to " + std::to_string(size), whole.substr(0, size), "not a mmafuzz store");
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

TEST(StoreSurvival, DamageBesideUnfinishedWritesLeavesBothAsTheyAre) {
  const Folder folder;
  killed_after(0, [&](int to) {
    make_store(folder / "a.store", 50);
    Store store(folder / "a.store", Access::write);
    store.add(some_bucket(50), "c");
    if (write(to, "x", 1) != 1) _exit(1);
    pause();
  });
  std::string bytes = bytes_of(folder / "a.store");
  bytes.replace(4096, 4096,
                std::string(4096, '\x7f'));  // the first page of a table, which the last write did not touch
  write_bytes(folder / "a.store", bytes);
  auto before = contents_of(folder.path());
  ASSERT_FALSE(before.at("a.store-wal").empty());
  before.erase("a.store-shm");  // SQLite's index of the other, made anew by whoever opens
  for (const Access access : {Access::read, Access::write}) {
    EXPECT_THAT(error_of_opening(folder / "a.store", access), HasSubstr("the store is damaged"));
    auto after = contents_of(folder.path());
    after.erase("a.store-shm");
    EXPECT_EQ(after, before);
  }
}

TEST(StoreSurvival, ABucketUnderAnothersIdIsDamage) {
  const Folder folder;
  make_store(folder / "a.store", 1);
  sql(folder / "a.store", "UPDATE texts SET text = 'another' WHERE number = (SELECT cause FROM bucket_rows)");
  EXPECT_THAT(error_of([&] { Store(folder / "a.store", Access::read).buckets(); }), HasSubstr("has another's key"));
}

// ---- where nothing can be written ----

TEST(StoreSurvival, AReadOnlyFolderIsReadAndNotWritten) {
  const Folder folder;
  make_store(folder / "a.store", 3);
  fs::create_directory(folder / "other");
  make_store(folder / "other/a.store", 1);
  for (const std::string& inside : {folder / "", folder / "other/"}) {
    fs::permissions(inside + "a.store", fs::perms(0444));
    fs::permissions(inside, fs::perms(0555));
  }
  const auto before = contents_of(folder / "other");
  const std::string said = in_child([&] {
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return std::string("cannot become nobody");
    std::string text = std::to_string(Store(folder / "a.store", Access::read).buckets().size()) + "\n";
    text += std::to_string(Store(folder / "other/a.store", Access::read).buckets().size()) + "\n";
    for (const char* file : {"a.store", "new.store", "other/a.store"})
      text += error_of_opening(folder / file, Access::write) + "\n";
    return text + error_of([&] { Store(folder / "a.store", Access::read).write_witnesses(); });
  });
  fs::permissions(folder / "other", fs::perms::owner_all);
  const std::string denied = ": cannot be written: Permission denied; copy the store to a folder that is writable\n";
  EXPECT_EQ(said, "3\n1\n" + (folder / "a.store") + denied + (folder / "new.store") + denied +
                      (folder / "other/a.store") + denied + (folder / "witnesses") +
                      ": cannot be created: Permission denied");
  EXPECT_EQ(contents_of(folder / "other"), before);
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
  return error + "|" +
         (added > 0 && there == 3 * added ? "whole"
                                          : "added " + std::to_string(added) + ", there " + std::to_string(there));
}

TEST(StoreSurvival, AFileThatMayNotGrowKeepsWhatItHas) {
  const Folder folder;
  const std::string said = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000000, 1000000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string text = fill_up(folder / "a.store");
    const rlimit nothing{0, 0};
    setrlimit(RLIMIT_FSIZE, &nothing);
    return text + "|" + error_of_opening(folder / "new.store", Access::write);
  });
  const std::string full = ": the disk is full or refuses writes; nothing was changed: free space and try again";
  EXPECT_EQ(said, (folder / "a.store") + full + "|whole|" + (folder / "new.store") + full);
  EXPECT_FALSE(fs::exists(folder / "new.store"));
  EXPECT_EQ(Store(folder / "a.store", Access::write).buckets().size() % 3, 0u);
}

TEST(StoreSurvival, AFullDiskKeepsWhatItHas) {
  const Folder folder;
  const std::string said = in_child([&] {
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0)
      return std::string("no mounts");
    std::string text = fill_up(folder / "a.store");
    std::ofstream(folder / "rest") << std::string(2000000, 'x');
    text += "|" + error_of_opening(folder / "new.store", Access::write) +
            (fs::exists(folder / "new.store") ? "|there" : "|none");
    fs::remove(folder / "rest");
    Store again(folder / "a.store", Access::write);  // what is there is a store
    return text + "|" + std::to_string(again.buckets().size() % 3);
  });
  if (said == "no mounts") GTEST_SKIP() << "mounting is not permitted here";
  const std::string full = ": the disk is full or refuses writes; nothing was changed: free space and try again";
  EXPECT_EQ(said, (folder / "a.store") + full + "|whole|" + (folder / "new.store") + full + "|none|0");
}

}  // namespace
}  // namespace mmafuzz
