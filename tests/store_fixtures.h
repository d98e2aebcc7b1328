// What the tests of the store share: folders, bytes, processes of their own, SQL behind the store's back, and some
// contents.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "triage/store/store.h"

namespace mmafuzz::store_test {

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

inline std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Names and contents of all files.
inline std::map<std::string, std::string> contents_of(const std::string& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::directory_iterator(folder)) all[entry.path().filename()] = bytes_of(entry.path());
  return all;
}

template <class Body>
inline std::string error_of(const Body& body) {
  try {
    body();
  } catch (const std::runtime_error& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    return what;
  }
  return "no error";
}
inline std::string error_of_opening(const std::string& path, Access access) {
  return error_of([&] { Store(path, access); });
}

/// Runs the body in a process of its own and returns its text; a test stays in one piece whatever happens there.
template <class Body>
inline std::string in_child(const Body& body) {
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
    if (::write(ends[1], text.data(), text.size()) < 0) _exit(1);
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
inline std::string sql(const std::string& path, const std::string& text) {
  sqlite3* connection = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &connection), SQLITE_OK);
  std::string result;
  const auto collect = [](void* to, int columns, char** values, char**) {
    for (int i = 0; i < columns; ++i)
      *static_cast<std::string*>(to) += std::string(values[i] ? values[i] : "NULL") + (i + 1 < columns ? "|" : "\n");
    return 0;
  };
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(connection, text.c_str(), collect, &result, &error), SQLITE_OK) << error;
  sqlite3_close(connection);
  return result;
}

inline Bucket some_bucket(int number) {
  Bucket b;
  b.key = {"equal", "dot.f32.f16.f16.f32", {"exact", "model:u" + std::to_string(number)}, "normal"};
  b.cause = "fraction_bits";
  b.detail = "fraction_bits: 23 against 24";
  b.count = 5;
  b.first_seen = 1000;
  b.last_seen = 2000;
  b.seed = 7;
  b.witness = "mmafuzz-cases 1\n# case " + std::to_string(number) + "\n";
  b.addends = 2;
  return b;
}

inline CampaignRecord some_campaign(const std::string& uuid) {
  return {uuid, 1000, 60.5, 10, 20, 7, "mmafuzz campaign", "a machine", "0.1.0"};
}

inline std::string text_of(const Bucket& b) {
  std::string text = b.line() + "\nid " + b.id() + "\ndetail " + b.detail + "\nseverity " + name_of(b.severity);
  for (const uint64_t number : {b.count, static_cast<uint64_t>(b.first_seen), static_cast<uint64_t>(b.last_seen),
                                b.seed, b.addends, static_cast<uint64_t>(b.status_set)})
    text += " " + std::to_string(number);
  return text + " " + name_of(b.status) + "\nnote " + b.note + "\nwitness " + b.witness + "\n";
}

inline void make_store(const std::string& path, int buckets) {
  Store store(path, Access::write);
  store.add_campaign(some_campaign("c"));
  for (int i = 0; i < buckets; ++i) store.add(some_bucket(i), "c");
}

}  // namespace mmafuzz::store_test
